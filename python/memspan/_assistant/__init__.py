"""The parts of `memspan.Assistant`: its arguments, one turn, and the values that come of it. `assistant` puts them together."""
