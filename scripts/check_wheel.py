"""Installs the wheel into an environment that has nothing else, and looks at what a user gets.

Usage: python scripts/check_wheel.py WHEEL PYTHON_OF_THE_CLEAN_ENVIRONMENT
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

USE = """
import sys
import memspan
with memspan.open(sys.argv[1]) as engine:
    user = engine.user("u-42")
    user.remember("payments-api listens on port 8443")
    [hit] = user.recall("which port?")
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "which port does payments-api use?"})
    assert "8443" in session.assemble().text
print("memspan", memspan.__version__, "remembers")
"""


def check_contents(wheel: Path) -> None:
    """Every licence text travels along, and nothing is needed beside the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
        needed = [
            line for line in archive.read(metadata).decode().splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line
        ]
    folder = metadata.removesuffix("METADATA") + "licenses/"
    wanted = ["LICENSE", "NOTICE", *(f"licenses/{file.name}" for file in sorted((ROOT / "licenses").iterdir()))]
    missing = [name for name in wanted if folder + name not in names]
    if missing or needed:
        sys.exit(f"{wheel.name}: missing licence texts {missing}, run-time dependencies {needed}")


def check_use(wheel: Path, python: str) -> None:
    """It installs without the network, imports, remembers, and its command runs."""
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--force-reinstall", wheel], check=True)
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "a.memspan")
        subprocess.run([python, "-I", "-c", USE, store], cwd=folder, check=True)
        subprocess.run([python, "-I", "-m", "memspan.cli", "users", store], cwd=folder, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    check_contents(Path(sys.argv[1]))
    check_use(Path(sys.argv[1]), sys.argv[2])
    print(f"{Path(sys.argv[1]).name}: {Path(sys.argv[1]).stat().st_size / 1e6:.1f} MB, clean")
