"""The parts of `memspan.Engine`, by what a caller does with a whole store: `engine` puts them together."""
