#!/usr/bin/env python3
"""Write the reference of the Python package: `python scripts/reference.py FOLDER`."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pdoc
import pdoc.render

import memspan

MODULES = ("memspan", "memspan.cache", "memspan.detectors", "memspan.embedders", "memspan.providers", "memspan.testing")
"""The package, whose names are those of its own modules, and the modules that a program names."""


def main() -> None:
    """Write it."""
    # What the package imports when somebody first asks for it, pdoc would look for among the modules.
    for name in memspan.__all__:
        setattr(memspan, name, getattr(memspan, name))
    # Of a class of the engine there is no Python source that pdoc could read annotations from. It takes them as they are written.
    warnings.filterwarnings("ignore", message="Cannot determine where|Error parsing type annotation", category=UserWarning)
    pdoc.render.configure(docformat="google")
    pdoc.pdoc(*MODULES, "!memspan[.]_", output_directory=Path(sys.argv[1]))


if __name__ == "__main__":
    main()
