"""`python -m memspan` is the command `memspan`."""

import sys

from memspan.cli import main

if __name__ == "__main__":
    sys.exit(main())
