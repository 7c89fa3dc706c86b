"""kill -9 at random points while two processes write: what was acknowledged is there, whole, and nothing is half there.

Not tested here: the loss of power, which a process cannot stage for itself. The engine's own tests fill the disk and damage the files.
"""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import memspan

if TYPE_CHECKING:
    from collections.abc import Iterator

WRITER = Path(__file__).with_name("writer.py")
ROUNDS = 10  # on one store, with two kills each
LONGER = 25  # times as many of the long form: 10,000 kills


@dataclass
class State:
    """What a writer's memories should be: by id its text, `None` once forgotten; by slot the id that holds it."""

    texts: dict[str, str | None] = field(default_factory=dict)
    slots: dict[str, str] = field(default_factory=dict)
    slot_of: dict[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    documents: dict[str, str] = field(default_factory=dict)
    plan: str | None = None

    def copy(self) -> State:
        return copy.deepcopy(self)

    def apply(self, operation: list[Any]) -> None:
        match operation:
            case ["remember", rows]:
                for row in rows:
                    self.texts[row["id"]] = row["text"]
                    if "slot" in row:
                        self.slot_of[row["id"]] = row["slot"]
                        self.slots[row["slot"]] = row["id"]
            case ["revise", memory_id, text]:
                slot = self.slot_of.get(memory_id)
                if slot is None or self.slots.get(slot) == memory_id:  # only what is current is revised
                    self.texts[memory_id] = text
            case ["forget", memory_id]:
                self.texts[memory_id] = None
                self.slots = {slot: holder for slot, holder in self.slots.items() if holder != memory_id}
            case _:
                self.apply_beside(operation)

    def apply_beside(self, operation: list[Any]) -> None:
        """What a write to a session, a document or a task does."""
        match operation:
            case ["say", text]:
                self.said.append(text)
            case ["redact", index]:
                self.said[index] = ""
            case ["document", document_id, text]:
                self.documents[document_id] = text
            case ["delete", document_id]:
                del self.documents[document_id]
            case ["task", text]:
                self.plan = text
            case _:
                pass

    def current(self) -> dict[str, str]:
        """The texts that a recall may find, by id: not forgotten, and not superseded in a slot."""
        held = set(self.slots.values())
        return {key: text for key, text in self.texts.items() if text is not None and (key not in self.slot_of or key in held)}


def read_log(log: Path) -> tuple[State, State, int]:
    """The state that was acknowledged, that with the operation under way added, and how many were acknowledged."""
    acknowledged, count = State(), 0
    pending: list[Any] | None = None
    for line in log.read_text().split("\n")[:-1]:  # what has no end was cut by the kill: what it announces was not begun
        match json.loads(line):
            case ["begin", operation]:
                pending = operation
            case ["done"]:
                assert pending is not None
                acknowledged.apply(pending)
                pending, count = None, count + 1
    perhaps = acknowledged.copy()
    if pending is not None:
        perhaps.apply(pending)
    return acknowledged, perhaps, count


def stored(scope: memspan.Scope, name: str, ids: set[str]) -> State:
    """What the store says of a writer's memories."""
    state = State()
    for memory_id in ids:
        try:
            memory = scope.get(memory_id)
        except memspan.NotFound:
            continue
        state.texts[memory_id] = memory.text
        assert [one.text for one in scope.history(memory_id) if one.id == memory_id][-1] == memory.text
    state.slots = {slot: scope.slots[slot].id for slot in scope.slots if slot.startswith(f"{name} ")}
    session, documents = scope.session(name, "gpt-4o"), scope.collection("documents")
    state.said = ["" if message.redacted else message.text for message in session.messages]
    state.documents = {one.id: documents.get(one.id).text for one in documents.documents() if one.id.startswith(f"{name}-")}
    state.plan = session.task("work").get("plan")
    return state


def matches(found: State, expected: State) -> bool:
    texts = {key: text for key, text in expected.texts.items() if text is not None}
    beside = (found.said, found.documents, found.plan) == (expected.said, expected.documents, expected.plan)
    return found.texts == texts and found.slots == expected.slots and beside


def verify(store: Path, logs: dict[str, Path], chance: random.Random) -> None:
    """Fails unless the store holds what its writers were told that it does."""
    with memspan.open(store) as engine:
        report = engine.check()
        assert report.sound, report.findings
        scope = engine.user("everyone")
        current = {memory.id: memory.text for memory in scope.memories()}
        expected: dict[str, str] = {}
        for name, log in logs.items():
            acknowledged, perhaps, _ = read_log(log)
            found = stored(scope, name, set(perhaps.texts))
            which = next((state for state in (acknowledged, perhaps) if matches(found, state)), None)
            lost = {key: text for key, text in acknowledged.texts.items() if found.texts.get(key) != text}
            beside = [(one.said, one.documents, one.plan) for one in (found, acknowledged)]
            assert which is not None, f"{name}: neither what was acknowledged nor that and the last operation; differs in {lost}, {beside}"
            expected |= which.current()
        assert current == expected
        for memory_id in chance.sample(sorted(expected), min(20, len(expected))):
            text = expected[memory_id]
            assert scope.recall(text.split()[0], limit=1)[0].memory.text == text


class Rounds:
    """Rounds of writing and killing on one store, whose logs add up."""

    def __init__(self, parent: Parent, folder: Path, seed: int, conduct: str = "honest") -> None:
        self.parent = parent
        self.store = folder / "a.memspan"
        self.folder = folder
        self.chance = random.Random(seed)  # noqa: S311
        self.conduct = conduct
        self.logs: dict[str, Path] = {}
        memspan.open(self.store).close()

    def kill_one_round(self, number: int) -> None:
        writers = {f"{letter}{number}": self.start(f"{letter}{number}") for letter in "ab"}
        self.logs |= {name: self.folder / f"{name}.log" for name in writers}
        wait_for_lines([self.logs[name] for name in writers], 4)
        for writer in self.chance.sample(list(writers.values()), len(writers)):
            time.sleep(self.chance.uniform(0.001, 0.05))
            os.kill(writer, signal.SIGKILL)
            assert self.parent.ask("wait", writer) == signal.SIGKILL, "it was to die of the signal, not of an error"

    def rounds(self, count: int) -> None:
        for number in range(count):
            self.kill_one_round(number)
            verify(self.store, self.logs, self.chance)

    def start(self, name: str) -> int:
        return self.parent.ask(str(self.store), str(self.folder / f"{name}.log"), name, self.chance.randrange(1 << 30), self.conduct)


class Parent:
    """A process that has imported memspan, and forks those that write."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, WRITER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )

    def ask(self, *request: str | int) -> int:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(request) + "\n")
        stdin.flush()
        return int(stdout.readline())


@pytest.fixture(scope="module")
def parent() -> Iterator[Parent]:
    parent = Parent()
    yield parent
    with parent.process:
        os.killpg(parent.process.pid, signal.SIGKILL)  # and whoever still writes


def wait_for_lines(logs: list[Path], lines: int) -> None:
    deadline = time.monotonic() + 30
    while not all(log.exists() and log.read_bytes().count(b"\n") >= lines for log in logs):
        assert time.monotonic() < deadline, "the writers do not write: they wait for something that never comes"
        time.sleep(0.001)


@pytest.mark.timeout(7200)
def test_no_acknowledged_write_is_lost(tmp_path: Path, rounds: int, parent: Parent) -> None:
    acknowledged = 0
    for first in range(
        0, LONGER * rounds if rounds > ROUNDS else rounds, ROUNDS
    ):  # a store for every ten, so that looking at all of it stays quick
        folder = tmp_path / str(first)
        folder.mkdir()
        run = Rounds(parent, folder, seed=first)
        for number in range(ROUNDS):
            run.kill_one_round(number)
            verify(run.store, run.logs, run.chance)
        acknowledged += sum(read_log(log)[2] for log in run.logs.values())
        shutil.rmtree(folder)
    assert acknowledged > 5 * rounds


@pytest.mark.parametrize("conduct", ["behind", "forgetful"])
def test_a_writer_that_lies_is_found_out(tmp_path: Path, conduct: str, parent: Parent) -> None:
    """The control: the same harness, and writers whose acknowledgements are not true."""
    run = Rounds(parent, tmp_path, seed=3, conduct=conduct)
    with pytest.raises(AssertionError, match=r"differs in|current == expected|neither"):
        run.rounds(20)  # one that only forgets to forget may be killed before it was to


def test_one_acknowledged_write_that_is_gone_is_found_out(tmp_path: Path, parent: Parent) -> None:
    """The control's other half: honest writers, and one memory too few in the store."""
    run = Rounds(parent, tmp_path, seed=4)
    run.kill_one_round(0)
    verify(run.store, run.logs, run.chance)
    with memspan.open(run.store) as engine:
        scope = engine.user("everyone")
        scope.forget(next(iter(scope.memories())).id)
    with pytest.raises(AssertionError):
        verify(run.store, run.logs, run.chance)
