"""A backup is a store, and one that other people's tools can read: py-lmdb, msgpack and zlib alone find every memory."""

from __future__ import annotations

import struct
import subprocess
import sys
import threading
import zlib
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.testing import FakeEmbedder

lmdb = pytest.importorskip("lmdb")
msgpack = pytest.importorskip("msgpack")

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MEMORY, HISTORY, SCOPE_BY_NUMBER = 0x20, 0x40, 0x04
KINDS = ["episodic", "semantic", "preference", "decision", "constraint", "task_outcome", "profile"]
CONTINUES = 0x80


def values(folder: Path) -> Iterator[tuple[bytes, int, int, bytes]]:
    """Every value of a store: key, schema, codec, body. The checksum is that of docs/format.md, computed here anew."""
    [generation] = folder.glob("gen-*")
    environment = lmdb.open(str(generation), readonly=True, lock=False, max_dbs=8)
    try:
        with environment.begin() as txn:
            names = [bytes(name) for name, _ in txn.cursor()]
            databases = (
                [environment.open_db(name, txn=txn, create=False) for name in names]
                if len(names) < 8 and all(n.isascii() and n.isalpha() for n in names)
                else [None]
            )
            for database in databases:
                for key, value in txn.cursor(database) if database else txn.cursor():
                    schema, codec, key_id, checksum = struct.unpack_from("<BBHI", value)
                    assert zlib.crc32(key + value[:4] + value[8:]) == checksum, key.hex()
                    assert key_id == 0
                    yield bytes(key), schema, codec, bytes(value[8:])
    finally:
        environment.close()


def records(folder: Path, table: int) -> dict[tuple[int, bytes], list[Any]]:
    """The MessagePack arrays of a chunked table by partition and the key's rest, chunks joined."""
    bodies: dict[tuple[int, bytes], bytes] = {}
    for key, _, codec, body in values(folder):
        if key[4] == table:
            assert codec & ~CONTINUES == 0  # MessagePack
            place = (int.from_bytes(key[:4], "big"), key[5:-2])
            bodies[place] = bodies.get(place, b"") + body
    return {place: msgpack.unpackb(body) for place, body in bodies.items()}


def scopes(folder: Path) -> dict[int, tuple[str | None, int, str]]:
    return {
        int.from_bytes(key[5:9], "big"): tuple(msgpack.unpackb(body))
        for key, _, _, body in values(folder)
        if key[:5] == bytes([0, 0, 0, 0, SCOPE_BY_NUMBER])
    }


def fill(engine: memspan.Engine) -> None:
    user, acme = engine.user("u-42", tenant="t"), engine.shared("acme")
    user.remember("Prefers Python", "preference", slot="scripting-language")
    user.remember("Prefers Go", "preference", slot="scripting-language", importance=0.8, id="go", metadata={"why": ["fast", 1, None]})
    user.remember("x" * 300_000)
    user.remember_many(f"fact {number}" for number in range(1_200))
    acme.remember("Never deploy on a Friday", "constraint")
    acme.forget(acme.remember("A secret that was a mistake").memory.id)


def test_every_memory_is_found_without_memspan(store: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    with memspan.open(store, embedder=FakeEmbedder(16)) as engine:
        fill(engine)
        assert engine.backup(copy) > 1_200
        expected: dict[tuple[str | None, str, str, str], dict[str, Any]] = {
            (scope.tenant, scope.type, scope.id, memory.id): memory.to_dict() for scope in engine.scopes() for memory in scope.memories()
        }
        superseded = [memory.text for memory in engine.user("u-42", tenant="t").history("go")][:-1]
    names = scopes(copy)
    found: dict[tuple[str | None, str, str, str], list[Any]] = {}
    for (partition, number), record in records(copy, MEMORY).items():
        tenant, scope_type, scope_id = names[partition]
        memory_id = record[0] or f"mem-{int.from_bytes(number, 'big')}"
        found[tenant, ["user", "shared"][scope_type], scope_id, memory_id] = record
    assert set(found) == set(expected)
    for name, record in found.items():
        memory = expected[name]
        assert record[1] == memory["text"]
        assert KINDS[record[2]] == memory["kind"]
        assert (record[3], record[4], record[5], record[6], record[7]) == (
            memory["slot"],
            memory["importance"],
            memory["confidence"],
            memory["trust"],
            memory["source"],
        )
        assert record[10] == round(memory["created_at"].timestamp() * 1_000_000)
        assert (record[14] or {}) == memory["metadata"]
    history = [record[1] for record in records(copy, HISTORY).values()]
    assert sorted(history) == sorted([*superseded, ""])
    assert b"A secret" not in next(copy.glob("gen-*/data.mdb")).read_bytes()


def test_a_backup_is_a_store(store: Path, tmp_path: Path) -> None:
    with memspan.open(store) as engine:
        fill(engine)
        engine.backup(tmp_path / "copy")
        before = {(scope, memory.id, memory.text) for scope in ("u-42",) for memory in engine.user(scope, tenant="t").memories()}
    with memspan.open(tmp_path / "copy") as engine:
        user = engine.user("u-42", tenant="t")
        assert {("u-42", memory.id, memory.text) for memory in user.memories()} == before
        assert user.slots["scripting-language"].text == "Prefers Go"
        assert user.remember("Goes on").action == "added"


def test_a_backup_under_a_writer_is_one_moment(store: Path, tmp_path: Path) -> None:
    with memspan.open(store) as engine:
        user, stop = engine.user("u"), threading.Event()

        def write() -> None:
            number = 0
            while not stop.is_set():
                user.remember(f"fact {number}", id=f"f-{number}")
                number += 1

        thread = threading.Thread(target=write)
        thread.start()
        for number in range(3):
            engine.backup(tmp_path / f"copy-{number}")
        stop.set()
        thread.join()
    for number in range(3):
        with memspan.open(tmp_path / f"copy-{number}", read_only=True) as engine:
            ids = [memory.id for memory in engine.user("u").memories()]
            assert ids == [f"f-{at}" for at in range(len(ids))]  # no hole


def test_a_damaged_value_stops_a_backup(store: Path, tmp_path: Path) -> None:
    with memspan.open(store) as engine:
        engine.user("u").remember("Prefers tea in the morning")
    [data] = store.glob("gen-*/data.mdb")
    data.write_bytes(data.read_bytes().replace(b"tea in the", b"tee in the"))
    with memspan.open(store, read_only=True) as engine, pytest.raises(memspan.StoreCorrupt, match="checksum"):
        engine.backup(tmp_path / "copy")
    with pytest.raises(memspan.Error):
        memspan.open(tmp_path / "copy", read_only=True)


def test_reading_with_two_copies_of_lmdb_in_one_process_is_what_these_tests_avoid(tmp_path: Path, store: Path) -> None:
    # The copy is closed before py-lmdb opens it; a live environment is never opened by both. Another process may read it.
    with memspan.open(store) as engine:
        fill(engine)
        engine.backup(tmp_path / "copy")
    code = "import lmdb, sys; e = lmdb.open(sys.argv[1], readonly=True, lock=False); print(e.stat()['entries'] > 0, lmdb.version()[:2])"
    [generation] = (tmp_path / "copy").glob("gen-*")
    done = subprocess.run([sys.executable, "-c", code, str(generation)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("True (0, 9)"), done.stdout


def test_a_backup_that_was_killed_is_no_empty_store(tmp_path: Path) -> None:
    """It opened as a store without a memory, and whoever went back to the backup found nothing."""
    with memspan.open(tmp_path / "store") as engine:
        engine.user("u").remember_many([f"Fact {number} of {'words ' * 40}" for number in range(3_000)])
    # The process dies while it copies.
    program = f"""
import memspan, os, threading
engine = memspan.open({str(tmp_path / "store")!r})
def watch():
    while not os.path.exists({str(tmp_path / "copy" / "gen-1.copy")!r}):
        pass
    os.kill(os.getpid(), 9)
threading.Thread(target=watch, daemon=True).start()
engine.backup({str(tmp_path / "copy")!r})
"""
    killed = subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=False, capture_output=True)
    assert killed.returncode == -9, killed.stderr
    assert [path.name for path in (tmp_path / "copy").glob("gen-*")] == ["gen-1.copy"], "the control"
    with pytest.raises(memspan.StoreCorrupt, match=r"holds a copy of a store .* remove the folder and make the copy again"):
        memspan.open(tmp_path / "copy")
    with memspan.open(tmp_path / "store") as engine, pytest.raises(memspan.InvalidInput, match="it holds something"):
        engine.backup(tmp_path / "copy")
