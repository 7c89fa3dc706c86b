"""A process dies behind the commit that retires a generation and before that is in the log, and another one has followed it by then."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING

import memspan

if TYPE_CHECKING:
    from pathlib import Path

HOLDER = """
import sys, memspan
engine = memspan.open(sys.argv[1])
print(engine.user("u").get("mem-1").text, flush=True)
sys.stdin.read()
"""
LAST, FLAGS, SUM = 32, 28, 4  # places in `progress`


def announced(progress: bytes) -> bytes:
    """The record of a closed generation, once a writer has announced its next transaction."""
    record = bytearray(progress)
    last, next_one = struct.unpack_from("<QQ", record, LAST)
    assert last == next_one
    record[FLAGS] = 0
    struct.pack_into("<Q", record, LAST + 8, last + 1)
    struct.pack_into("<I", record, SUM, zlib.crc32(record[8:]))
    return bytes(record)


def test_what_is_written_behind_a_retirement_that_was_not_logged_stays(tmp_path: Path) -> None:
    root, kept = tmp_path / "a.memspan", tmp_path / "kept"
    with memspan.open(root) as engine:
        engine.user("u").remember("The first lives in gen-1")
    old = root / "gen-1"
    log, progress = (old / "log").read_bytes(), announced((old / "progress").read_bytes())
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline()
        shutil.copytree(old, kept, copy_function=os.link)  # the same files, which stay when gen-1 is swept
        with memspan.open(root) as engine:
            engine.maintain(compact=True)

        def begin_at_the_old_one() -> None:
            if not old.is_dir():
                shutil.copytree(kept, old, copy_function=os.link)
            (root / "CURRENT").write_text("gen-1\n")

        begin_at_the_old_one()
        for name, content in (("log", log), ("progress", progress)):
            with (old / name).open("r+b") as file:
                file.write(content)
        with memspan.open(root) as engine:
            engine.user("u").remember("The second was written to gen-2")
    finally:
        holder.kill()
        holder.communicate()
    begin_at_the_old_one()  # as where CURRENT could not be written
    with memspan.open(root) as engine:
        texts = {memory.text for memory in engine.user("u").memories()}
        assert texts == {"The first lives in gen-1", "The second was written to gen-2"}
        assert not engine.check().findings
