"""docs/format.md is true: its program, which knows nothing of memspan, prints every memory of a backup, and every message of a session."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import memspan

lmdb = pytest.importorskip("lmdb")
msgpack = pytest.importorskip("msgpack")

FORMAT = (Path(__file__).parent.parent.parent / "docs" / "format.md").read_text()
GOLDEN = Path(__file__).parent.parent / "golden" / "format-3"
LONG = "wörd " * 4000  # several chunks
MESSAGE_PACK = 0
COLLECTION_TABLES = {0x60, 0x61, 0x62, 0x63, 0x65, 0x66}  # all but the parts of texts, and what is unfinished
SESSION_TABLES = {*range(0x50, 0x59), 0x5A, 0x5B}  # all but the chunks of blobs


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


def test_the_program_prints_every_message_of_the_golden_store(tmp_path: Path) -> None:
    store = shutil.copytree(GOLDEN / "store", tmp_path / "store")
    lines = (GOLDEN / "conversation.txt").read_text(encoding="utf-8").splitlines()
    messages = [line.split(" ", 2) for line in lines if '{"model":' not in line and '"role":' in line]
    expected = [f"None\tu-42\ts-1\t{index}\t{given}" for index, _, given in messages]
    assert any("[redacted]" in line for line in expected)
    assert any("data:image/png;base64," in line for line in expected)
    done = subprocess.run([sys.executable, "-c", program(), str(store)], capture_output=True, text=True, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.count("\t") > 3] == expected


def test_every_body_is_one_whole_value(tmp_path: Path) -> None:
    """The header of a body promised more fields than there were: our own reader takes what it knows, and others refuse all of it."""
    store = shutil.copytree(GOLDEN / "store", tmp_path / "store")
    seen: set[int] = set()
    body, goes_on = b"", False
    with lmdb.open(str(store / "gen-1"), readonly=True, lock=False) as environment, environment.begin() as transaction:
        for key, value in transaction.cursor():
            codec = value[1]
            if codec & 0x7F != MESSAGE_PACK:
                continue
            body = (body if goes_on else b"") + value[8:]
            goes_on = bool(codec & 0x80)
            if not goes_on:
                assert isinstance(msgpack.unpackb(body, strict_map_key=False), list), key.hex()
                seen.add(key[4])
    assert seen >= SESSION_TABLES | COLLECTION_TABLES


def test_the_program_notices_a_damaged_byte(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "store") as engine:
        engine.user("u-1").remember("payments-api listens on port 8443")
        engine.backup(tmp_path / "backup")
    data = tmp_path / "backup" / "gen-1" / "data.mdb"
    data.write_bytes(data.read_bytes().replace(b"port 8443", b"port 8444"))
    done = subprocess.run([sys.executable, "-c", program(), str(tmp_path / "backup")], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "damaged" in done.stderr
