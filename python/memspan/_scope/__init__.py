"""The parts of `memspan.Scope`, by what a caller wants of a memory: `long_term` puts them together."""
