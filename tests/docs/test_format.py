"""docs/format.md is true: its program, which knows nothing of memspan, prints every memory of a backup."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import memspan

pytest.importorskip("lmdb")
pytest.importorskip("msgpack")

FORMAT = (Path(__file__).parent.parent.parent / "docs" / "format.md").read_text()
LONG = "wörd " * 4000  # several chunks


def program() -> str:
    """The last block: it takes a path from the command line, so it is not one of the examples that run in this process."""
    blocks: list[str] = re.findall(r"^```py\n(.*?)^```", FORMAT, re.DOTALL | re.MULTILINE)
    return blocks[-1]


def test_the_program_of_the_format_prints_every_memory_of_a_backup(tmp_path: Path) -> None:
    expected = set()
    with memspan.open(tmp_path / "store") as engine:
        for scope in (engine.user("u-1"), engine.user("u-1", tenant="t"), engine.shared("acme")):
            for number in range(30):
                memory = scope.remember(
                    f"memory {number} of {scope.id} {LONG if number == 7 else ''}".strip(), id=f"id-{number}" if number % 3 else None
                ).memory
                expected.add(f"{scope.tenant}\t{scope.id}\t{memory.id}\t{memory.text}")
            gone = scope.remember("not to be found")
            scope.forget(gone.memory.id)
        engine.backup(tmp_path / "backup")
    done = subprocess.run(
        [sys.executable, "-c", program(), str(tmp_path / "backup")], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.splitlines()) == expected


def test_the_program_notices_a_damaged_byte(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "store") as engine:
        engine.user("u-1").remember("payments-api listens on port 8443")
        engine.backup(tmp_path / "backup")
    data = tmp_path / "backup" / "gen-1" / "data.mdb"
    data.write_bytes(data.read_bytes().replace(b"port 8443", b"port 8444"))
    done = subprocess.run([sys.executable, "-c", program(), str(tmp_path / "backup")], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "damaged" in done.stderr
