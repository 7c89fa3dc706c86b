"""The parts of `memspan.Session`, by what a caller does with a conversation: `short_term` puts them together."""
