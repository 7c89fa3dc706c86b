"""Power cuts: what a process wrote and synced is recorded, and a disk is made of it that was cut off at every point.

A cut keeps what was synced, and of the rest any part: none of a write, all of it, or some of its pages; of the names in a folder that were
not synced, the first few. Each such disk must open to what was acknowledged, or to that and the operation under way. With relaxed
durability the last operation that was acknowledged may be missing. The control forgets the syncs, and must fail.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from zlib import crc32

import pytest

import memspan

RECORDER = Path(__file__).with_name("record_writes.c")
PAGE = 4096
RECORD_BYTES = 96  # of the file `progress`

WRITER = """
import json, os, sys
import memspan
folder = sys.argv[1]
with open(sys.argv[2]) as given:
    operations = json.load(given)
acknowledged = os.open(folder + "/acknowledged", os.O_WRONLY | os.O_CREAT, 0o600)
engine = memspan.open(folder + "/store", durability=sys.argv[3])
user = engine.user("u")
session = None
for operation, *given in operations:
    if operation == "remember":
        user.remember(given[1], id=given[0])
    elif operation == "revise":
        user.revise(given[0], given[1])
    elif operation == "forget":
        user.forget(given[0])
    elif operation == "say":
        session = session or user.session("s", model="gpt-4o")
        session.add({"role": "user", "content": given[0]})
    else:
        engine.maintain(compact=True)
    os.write(acknowledged, b"x")
engine.close()
"""

State = tuple[dict[str, str], list[str]]


def operations(seed: int, count: int) -> list[list[str]]:
    """What the writer does, always the same."""
    chance = random.Random(seed)  # noqa: S311
    made: list[str] = []
    done: list[list[str]] = []
    for number in range(count):
        what = chance.choice(["remember"] * 5 + ["say", "say", "revise", "forget", "compact"])
        if what == "say":
            done.append(["say", f"message {number} " + "and so on " * chance.randrange(300)])
        elif what == "compact" and number % 3 == 0:
            done.append(["compact"])
        elif what in {"revise", "forget"} and made:
            one = chance.choice(made)
            done.append([what, one, f"fact {number} is corrected"][: 3 if what == "revise" else 2])
            if what == "forget":
                made.remove(one)
        else:
            made.append(f"m{number}")
            done.append(["remember", f"m{number}", f"fact {number}: " + "words of some length " * chance.randrange(200)])
    return done


def states(done: list[list[str]]) -> list[State]:
    """What the store says before and behind each operation."""
    texts: dict[str, str] = {}
    messages: list[str] = []
    found: list[State] = [({}, [])]
    for what, *given in done:
        if what in {"remember", "revise"}:
            texts[given[0]] = given[1]
        elif what == "forget":
            del texts[given[0]]
        elif what == "say":
            messages.append(given[0])
        found.append((dict(texts), list(messages)))
    return found


@dataclass
class Stored:
    """A file: the bytes that are on disk, and what was written since the last sync."""

    synced: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def commit(self) -> None:
        self.synced = self.after(self.pending)
        self.pending = []

    def after(self, writes: list[tuple[int, bytes | None]]) -> bytearray:
        content = bytearray(self.synced)
        for at, data in writes:
            if data is None:
                del content[at:]
                content.extend(bytes(at - len(content)))
            else:
                content.extend(bytes(max(0, at - len(content))))
                content[at : at + len(data)] = data
        return content

    def cut_off(self, chance: random.Random) -> bytearray:
        """The file with any part of what was not synced."""
        kept: list[tuple[int, bytes | None]] = []
        for at, data in self.pending:
            how = chance.randrange(3)
            if how == 0:
                kept.append((at, data))
            elif how == 1 and data is not None:
                pages = [(at + start, data[start : start + PAGE]) for start in range(0, len(data), PAGE)]
                kept.extend(page for page in pages if chance.random() < 0.5)
        return self.after(kept)


Names = dict[str, Stored | None]


def rename(names: Names, old: str, new: str) -> None:
    moved = {path: names.pop(path) for path in list(names) if path == old or path.startswith(f"{old}/")}
    if moved:
        for path in [path for path in names if path == new or path.startswith(f"{new}/")]:
            del names[path]
    names.update({new + path[len(old) :]: stored for path, stored in moved.items()})


@dataclass
class Disk:
    """Files by their names, on disk and as the process sees them; and the changes of names that are not on disk yet."""

    now: Names = field(default_factory=dict)
    synced: Names = field(default_factory=dict)
    pending: list[tuple[str, str, str, Stored | None]] = field(default_factory=list)
    keeps_syncs: bool = True
    acknowledged: int = 0

    def apply(self, what: str, path: str, other: str, at: int, data: bytes) -> None:
        if path == "acknowledged":
            self.acknowledged += what == "write"
            return
        if what in {"make", "empty"} and path not in self.now:
            self.name("link", path, "", Stored())
        elif what == "mkdir":
            self.name("link", path, "", None)
        elif what in {"rename", "unlink"}:
            self.name(what, path, other, None)
        elif what == "sync" and self.keeps_syncs:
            self.sync(path)
        stored = self.now.get(path)
        if stored is not None and what in {"write", "synced", "cut", "empty"}:
            stored.pending.append((at, data if what in {"write", "synced"} else None))
            if what == "synced" and self.keeps_syncs:
                write = stored.pending.pop()
                stored.synced = stored.after([write])

    def name(self, what: str, path: str, other: str, stored: Stored | None) -> None:
        change = (what, path, other, stored)
        self.change(self.now, *change)
        self.pending.append(change)

    @staticmethod
    def change(names: Names, what: str, path: str, other: str, stored: Stored | None) -> None:
        if what == "link":
            names[path] = stored
        elif what == "unlink":
            names.pop(path, None)
        else:
            rename(names, path, other)

    def sync(self, path: str) -> None:
        stored = self.now.get(path)
        if stored is not None:
            return stored.commit()
        own = "" if path == "." else path
        is_own = [str(PurePosixPath(one)).rpartition("/")[0] == own for _, one, _, _ in self.pending]
        for change, own_change in zip(list(self.pending), is_own, strict=True):
            if own_change:
                self.change(self.synced, *change)
        self.pending = [change for change, own_change in zip(self.pending, is_own, strict=True) if not own_change]
        return None

    def names_cut_off(self, chance: random.Random) -> Names:
        names, ends = dict(self.synced), {}
        for what, path, other, stored in self.pending:
            folder = path.rpartition("/")[0]
            if folder not in ends:
                ends[folder] = chance.randrange(4) == 0
            if not ends[folder]:
                self.change(names, what, path, other, stored)
                ends[folder] = chance.randrange(4) == 0
        return names

    def write(self, folder: Path, chance: random.Random | None) -> None:
        """The disk as it is after a cut; with all that was written where there is no chance."""
        names = self.now if chance is None else self.names_cut_off(chance)
        for path in sorted(names):
            stored, target = names[path], folder / path
            if not target.parent.is_dir():
                continue  # its folder was never on disk
            if stored is None:
                target.mkdir()
            else:
                target.write_bytes(stored.after(stored.pending) if chance is None else stored.cut_off(chance))
        for progress in folder.rglob("progress"):
            start_the_machine_again(progress)


def start_the_machine_again(progress: Path) -> None:
    """The files are those that were there, under their inodes, and the machine has started anew: what `progress` compares them by.

    Without this they are a copy that is read as a whole, or, where an inode happens to be given again, the files of a machine that
    never stopped.
    """
    record, data = bytearray(progress.read_bytes()), progress.with_name("data.mdb")
    if len(record) != RECORD_BYTES or not data.exists() or record[4:8] != crc32(record[8:]).to_bytes(4, "little"):
        return  # torn
    record[56:64] = data.stat().st_ino.to_bytes(8, "little")
    record[64:80] = b"another boot ..."
    record[4:8] = crc32(record[8:]).to_bytes(4, "little")
    progress.write_bytes(record)


def read_record(path: Path) -> list[tuple[str, str, str, int, bytes]]:
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        end = data.index(b"\n", at)
        what, name, other, offset, size = data[at:end].decode().split("\t")
        at = end + 1 + int(size)
        found.append((what, name, other, int(offset), data[end + 1 : at]))
    return found


def record(tmp_path: Path, done: list[list[str]], durability: str = "full") -> list[tuple[str, str, str, int, bytes]]:
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs a C compiler and LD_PRELOAD")
    recorder, folder = tmp_path / "record.so", tmp_path / "recorded"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", recorder, RECORDER, "-ldl", "-lpthread"], check=True)
    folder.mkdir()
    environment = os.environ | {
        "LD_PRELOAD": str(recorder),
        "MEMSPAN_RECORD_FOLDER": str(folder),
        "MEMSPAN_RECORD_LOG": str(tmp_path / "log"),
    }
    (tmp_path / "operations").write_text(json.dumps(done))
    subprocess.run([sys.executable, "-c", WRITER, folder, tmp_path / "operations", durability], check=True, env=environment)
    return read_record(tmp_path / "log")


def look(store: Path) -> State:
    with memspan.open(store) as engine:
        assert engine.check().sound
        user = engine.user("u")
        texts = {memory.id: memory.text for memory in user.memories()}
        messages = [message.text for one in user.sessions() for message in user.session(one.id).messages]
        return texts, messages


def wrong(disk: Disk, folder: Path, chance: random.Random | None, known: list[State], undone: int) -> str | None:
    """What a cut lost, broke or made up; so many acknowledged operations may be undone."""
    folder.mkdir()
    disk.write(folder, chance)
    try:
        found = look(folder / "store")
    except (memspan.Error, AssertionError) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(folder)
    if found in known[max(disk.acknowledged - undone, 0) : disk.acknowledged + 2]:
        return None
    return f"{disk.acknowledged} operations were acknowledged, and {len(found[0])} memories and {len(found[1])} messages are there"


def cuts(
    tmp_path: Path, log: list[tuple[str, str, str, int, bytes]], known: list[State], count: int, *, keeps_syncs: bool, undone: int = 0
) -> list[str]:
    """What is wrong after cuts at `count` places, each once with all that was written and once with a part of it."""
    chance = random.Random(5)  # noqa: S311
    chosen = set(chance.sample(range(len(log) + 1), min(count, len(log))))
    disk, found = Disk(keeps_syncs=keeps_syncs), []
    for number in range(len(log) + 1):
        if number in chosen:
            for part in (None, chance):
                fault = wrong(disk, tmp_path / "cut", part, known, undone)
                if fault is not None:
                    found.append(f"cut {number} of {len(log)}{'' if part is None else ', in part'}: {fault}")
        if number < len(log):
            disk.apply(*log[number])
    return found


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("durability", "undone"), [("full", 0), ("relaxed", 1)])
def test_every_cut_opens_to_what_was_acknowledged(tmp_path: Path, request: pytest.FixtureRequest, durability: str, undone: int) -> None:
    soak = request.config.getoption("--soak")
    done = operations(3, 400 if soak else 40)
    log = record(tmp_path, done, durability)
    known = states(done)
    assert sum(name == "acknowledged" and what == "write" for what, name, *_ in log) == len(done)
    assert {"write", "sync", "rename", "mkdir"} <= {what for what, *_ in log}
    assert cuts(tmp_path, log, known, 5_000 if soak else 60, keeps_syncs=True, undone=undone) == []


def test_cuts_of_a_disk_that_forgets_syncs_are_found_out(tmp_path: Path) -> None:
    """The control."""
    done = operations(3, 20)
    log = record(tmp_path, done)
    assert len(cuts(tmp_path, log, states(done), 30, keeps_syncs=False)) > 5
