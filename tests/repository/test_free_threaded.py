"""A free-threaded Python has no stable ABI before 3.15: its build leaves out the feature `abi3`, and must compile."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
CONFIG = """implementation=CPython
version=3.14
shared=true
target_abi=CPython-free_threaded-3.14
pointer_width=64
build_flags=Py_GIL_DISABLED
suppress_build_script_link_lines=true
"""


@pytest.mark.timeout(900)  # checks every crate anew, for another Python
def test_a_free_threaded_build_compiles() -> None:
    # No such Python is needed: pyo3 is told what one would say of itself. The path stays the same, so that cargo checks once.
    target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "free-threaded"
    target.mkdir(parents=True, exist_ok=True)
    config = target / "pyo3.config"
    if not config.exists():
        config.write_text(CONFIG)
    environment = os.environ | {"PYO3_CONFIG_FILE": str(config), "CARGO_TARGET_DIR": str(target)}
    command = ["cargo", "check", "--quiet", "--locked", "--package", "memspan-python", "--no-default-features"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
