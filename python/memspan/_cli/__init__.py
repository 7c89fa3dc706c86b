"""The commands of `memspan`, by what a user wants: `memspan.cli` has the parser, and runs them."""

from __future__ import annotations

EXIT_DAMAGED = 1
EXIT_ERROR = 2
