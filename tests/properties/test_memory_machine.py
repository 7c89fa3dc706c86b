"""Every operation of long-term memory in any order, against dicts: with reopening, forks and a second process among the steps."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

import memspan
from memspan.testing import FakeClock, FakeEmbedder

sys.path.insert(0, str(Path(__file__).parent))
from memory_model import LEFT, OVER, Model, Slot  # beside this file, which pytest imports by its path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  a sync costs nothing there, and every run has a folder of its own
KINDS = ["semantic", "preference", "episodic", "constraint"]
SLOTS = ["language", "city", "allergy"]
IDS = [f"id-{number}" for number in range(8)]

kinds = st.sampled_from(KINDS)
slots = st.sampled_from(SLOTS)
fractions = st.sampled_from([0.0, 0.3, 0.9])


def all_they_say(messages: list[dict[str, str]], **_options: Any) -> str:
    """A model: the words of all notes that no other has, and what they all say."""
    notes = messages[1]["content"].split("\n")
    own = [word for note in notes for word in note.split() if word.startswith("marker")]
    return " ".join([*dict.fromkeys(own), "is what this one says"])


class SecondProcess:
    """One for all runs: starting a Python for each step would take most of the time."""

    def __init__(self) -> None:
        script = Path(__file__).with_name("second_process.py")
        self.process = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, path: Path, now: str, do: str, **arguments: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"path": str(path), "now": now, "do": do, **arguments}) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer


second: SecondProcess


class MemoryMachine(RuleBasedStateMachine):
    @initialize(embed=st.booleans())
    def start(self, embed: bool) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None))
        self.path = self.folder / "a.memspan"
        self.clock = FakeClock()
        self.embedder = FakeEmbedder(dimensions=32) if embed else None
        self.model = Model()
        self.words = count()
        self.gone: list[str] = []
        self.open()

    def open(self) -> None:
        self.engine = memspan.open(self.path, clock=self.clock, embedder=self.embedder)
        self.scope = self.engine.user("everyone")

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            try:
                self.look()
            finally:  # each store that stays open takes a terabyte of addresses
                self.engine.close()
                second.ask(self.path, self.clock().isoformat(), "close")
                shutil.rmtree(self.folder)

    def text(self) -> str:
        """A text with a word that no other has."""
        return f"marker{next(self.words)} is what this one says"

    def tick(self) -> Any:
        now = self.clock.advance(milliseconds=5)
        self.model.expire(now)
        return now

    def some(self, number: int, among: dict[str, Any]) -> str:
        ordered = list(among)
        return ordered[number % len(ordered)]

    def row(self, options: dict[str, Any], again: int | None) -> dict[str, Any]:
        """A row for `remember`; `again` chooses a text that is there already."""
        row = {key: value for key, value in options.items() if value is not None}
        known = self.model.entries.get(row.get("id", ""))
        soon = self.clock() + timedelta(seconds=1)
        ends = known and known.state in {"superseded", OVER} and known.expires_at is not None and known.expires_at <= soon
        if known and (ends or known.state == LEFT):
            del row["id"]  # it is a conflict until maintenance has forgotten that value, and is rejected from then on
        current = self.model.current()
        repeated = again is not None and len(current) > 0
        row["text"] = current[self.some(again or 0, current)].text if repeated else self.text()
        if "days_ago" in row:
            row["occurred_at"] = self.clock() - timedelta(days=row.pop("days_ago"))
        return row

    rows = st.fixed_dictionaries(
        {},
        optional={
            "kind": kinds,
            "slot": slots,
            "id": st.sampled_from(IDS),
            "importance": fractions,
            "source": st.sampled_from(["user", "assistant"]),
            "ttl_seconds": st.sampled_from([0.02, 60.0, 1e6]),
            "days_ago": st.integers(0, 3),
            "metadata": st.just({"k": [1, "zwei", None]}),
        },
    )
    repeats = st.none() | st.none() | st.integers(0, 50)

    @contextmanager
    def raises_as(self, expected: type[memspan.Error] | None) -> Iterator[None]:
        if expected is None:
            yield
        else:
            with pytest.raises(expected):
                yield

    # --- writes

    @rule(options=rows, again=repeats)
    def remember(self, options: dict[str, Any], again: int | None) -> None:
        row, now = self.row(options, again), self.tick()
        self.write_one(row, now, lambda: self.scope.remember(**row))

    def write_one(self, row: dict[str, Any], now: Any, write: Callable[[], Any]) -> None:
        after = self.model.copy()
        try:
            action, memory_id = after.remember(row, now)
        except memspan.IdConflict:
            with pytest.raises(memspan.IdConflict):
                write()
            return
        done = write()
        self.model = after
        assert (done.action, done.memory.id) == (action, memory_id), done

    @rule(batch=st.lists(st.tuples(rows, repeats), max_size=12))
    def remember_many(self, batch: list[tuple[dict[str, Any], int | None]]) -> None:
        rows = [self.row(options, again) for options, again in batch]
        after, now = self.model.copy(), self.tick()
        after.expire(now)
        try:
            expected = [after.remember(row, now) for row in rows]
        except memspan.IdConflict:
            with pytest.raises(memspan.IdConflict):
                self.scope.remember_many(rows)
            return
        done = self.scope.remember_many(rows)
        self.model = after
        assert [(one.action, one.memory.id) for one in done] == expected

    @precondition(lambda self: self.model.entries)
    @rule(number=st.integers(0, 50), new_text=st.booleans(), slot=st.none() | slots, importance=st.none() | fractions)
    def revise(self, number: int, new_text: bool, slot: str | None, importance: float | None) -> None:
        memory_id, now = self.some(number, self.model.entries), self.tick()
        text = self.text() if new_text else None
        if not new_text and slot is None and importance is None:
            importance = 0.5
        entry = self.model.entries[memory_id]
        if entry.state != "current" or not self.model.may_take(entry, slot):
            with pytest.raises(memspan.InvalidInput):
                self.scope.revise(memory_id, text, slot=slot, importance=importance)
            return
        if new_text:
            self.gone.append(self.model.entries[memory_id].text.split()[0])
        done = self.scope.revise(memory_id, text, slot=slot, importance=importance, reason="a correction")
        self.model.revise(memory_id, now, text, slot, importance)
        entry = self.model.entries[memory_id]
        assert (done.action, done.memory.text, done.memory.revision) == ("updated", entry.text, len(entry.revisions))

    @precondition(lambda self: self.model.entries)
    @rule(number=st.integers(0, 50))
    def forget(self, number: int) -> None:
        memory_id = self.some(number, self.model.entries)
        self.tick()
        entry = self.model.entries[memory_id]
        if entry.state in {OVER, LEFT}:
            return  # its words are not yet removed; forgetting it is harmless and answers either way
        if entry.text:
            self.gone.append(entry.text.split()[0])
        assert self.scope.forget(memory_id, reason="asked to") == self.model.forget(memory_id)

    @rule(days=st.sampled_from([0.0, 1.0, 30.0]), importance=fractions, dry_run=st.booleans())
    def forget_stale(self, days: float, importance: float, dry_run: bool) -> None:
        now = self.tick()
        after = self.model.copy()
        stale = after.forget_stale(now - timedelta(days=days), importance)
        assert {memory.id for memory in self.scope.forget_stale(days, importance, dry_run=dry_run)} == stale
        if not dry_run:
            self.model = after

    @rule(kind=st.sampled_from(["preference", "constraint"]), slot=st.none() | slots, approved=st.booleans())
    def wait_for_approval(self, kind: str, slot: str | None, approved: bool) -> None:
        self.tick()
        row = {"text": self.text(), "kind": kind} | ({} if slot is None else {"slot": slot})
        assert self.scope.remember(**row, source="web").action == "quarantined"  # type: ignore[arg-type]
        self.model.numbers += 1
        [waiting] = self.scope.quarantined()
        now = self.tick()
        if approved:
            self.write_one(row | {"occurred_at": waiting.occurred_at}, now, lambda: self.scope.approve(waiting.id))
        else:
            assert self.scope.reject(waiting.id)
            self.gone.append(row["text"].split()[0])
        assert self.scope.quarantined() == ()

    @precondition(lambda self: self.embedder is not None)
    @rule(options=rows, by_model=st.booleans())
    def consolidate(self, options: dict[str, Any], by_model: bool) -> None:
        """Some memories that nothing tells apart but a word, or an id, and what becomes of them and the others."""
        alike = {name: value for name, value in options.items() if name not in {"slot", "id"}}
        unused = [key for key in IDS if key not in self.model.entries]
        text = self.text()
        for place in range(3 if by_model else min(2, len(unused))):
            row, now = self.row(alike, None), self.tick()
            row |= {} if by_model else {"text": text, "id": unused[place]}
            self.write_one(row, now, partial(self.scope.remember, **row))
        now = self.tick()
        done = self.scope.consolidate(llm=all_they_say if by_model else None, closeness=0.5)
        for cluster in done:
            assert cluster.memory is not None
            self.model.merge([memory.id for memory in cluster.originals], cluster.memory, now)

    @rule(name=slots, multi=st.booleans())
    def declare(self, name: str, multi: bool) -> None:
        self.tick()
        self.engine.maintain()
        slot = self.model.slots.get(name)
        several = slot is not None and slot.multi and not multi and len(slot.holders) > 1
        with self.raises_as(memspan.InvalidInput if several else None):
            self.scope.slots.declare(name, multi=multi)
        if not several:
            self.model.slots.setdefault(name, Slot()).multi = multi

    # --- time and upkeep

    @rule(days=st.sampled_from([0.0001, 0.5, 2.0, 40.0]))
    def time_passes(self, days: float) -> None:
        self.clock.advance(days=days)
        self.tick()

    @rule()
    def maintain(self) -> None:
        now = self.tick()
        report = self.engine.maintain()
        self.model.swept(now)
        assert report.vectors_pending == 0

    @rule()
    def compact(self) -> None:
        now = self.tick()
        assert self.engine.maintain(compact=True).compacted
        self.model.swept(now)

    @rule()
    def reopen(self) -> None:
        self.engine.close()
        with pytest.raises(memspan.Closed):
            self.scope.remember("too late")
        self.open()

    @rule()
    def backup_and_compare(self) -> None:
        copy = self.folder / f"backup-{next(self.words)}"
        self.engine.backup(copy)
        with memspan.open(copy, clock=self.clock, read_only=True) as engine:
            assert engine.check().sound
            assert list(engine.user("everyone").memories()) == list(self.scope.memories())
            assert {name: engine.user("everyone").slots[name] for name in self.scope.slots} == dict(self.scope.slots)

    # --- other processes

    @rule(options=rows)
    def a_child_writes(self, options: dict[str, Any]) -> None:
        row, now = self.row(options, None), self.tick()
        child = fork()
        if child == 0:
            code = 3
            try:
                signal.alarm(20)  # a lock that is never given back must not hang the test
                code = {"added": 10, "superseded": 11, "duplicate": 12, "rejected": 13}[self.scope.remember(**row).action]
            except memspan.IdConflict:
                code = 14
            finally:
                os._exit(code)
        after = self.model.copy()
        try:
            action, _ = after.remember(row, now)
        except memspan.IdConflict:
            action = "conflict"
        else:
            self.model = after
        status = os.waitpid(child, 0)[1]
        expected = {"added": 10, "superseded": 11, "duplicate": 12, "rejected": 13, "conflict": 14}[action]
        assert os.waitstatus_to_exitcode(status) == expected

    @rule(options=rows)
    def a_second_process_writes(self, options: dict[str, Any]) -> None:
        row, now = self.row(options, None), self.tick()
        row.pop("occurred_at", None)
        if row.get("id") in self.model.entries:
            del row["id"]
        action, _ = self.model.remember(row, now)
        assert second.ask(self.path, now.isoformat(), "remember", row=row) == {"action": action}

    @precondition(lambda self: self.model.current())
    @rule(number=st.integers(0, 50))
    def a_second_process_forgets(self, number: int) -> None:
        now = self.tick()
        if current := self.model.current():
            memory_id = self.some(number, current)
            self.gone.append(current[memory_id].text.split()[0])
            self.model.forget(memory_id)
            assert second.ask(self.path, now.isoformat(), "forget", id=memory_id) == {"forgotten": True}

    @rule()
    def a_second_process_reads(self) -> None:
        now = self.tick()
        seen = second.ask(self.path, now.isoformat(), "memories")
        assert seen == {key: entry.text for key, entry in self.model.current().items()}

    # --- reads

    @rule(number=st.integers(0, 50))
    def recall(self, number: int) -> None:
        """Every current memory is found by its own word, and nothing that is not current is found by any."""
        now = self.tick()
        current = self.model.current()
        if current:
            text = current[self.some(number, current)].text
            hits = self.scope.recall(text.split()[0], limit=50)
            expected = {key for key, entry in current.items() if entry.text == text}
            # By words alone they come first; a vector that is still pending may cost a memory its place, but never its candidacy.
            best = hits if self.embedder else hits[: len(expected)]
            # Of those that say the same, of one slot and with equal metadata, one stands for all.
            assert expected <= {memory_id for hit in best for memory_id in (hit.memory.id, *hit.explain().duplicates)}
            self.found(hits, now)
        if self.gone and (word := self.gone[number % len(self.gone)]):
            hits = self.scope.recall(word, limit=50)
            assert all(word != hit.memory.text.split()[0] or hit.memory.id in current for hit in hits)
            self.found(hits, now)

    def found(self, hits: Any, now: Any) -> None:
        current = self.model.current()
        for hit in hits:
            assert hit.memory.text == current[hit.memory.id].text
            entry = current[hit.memory.id]
            entry.used_at = max(entry.used_at, now.replace(microsecond=0))

    @rule(chosen=st.sets(kinds, min_size=1))
    def list_by_kind(self, chosen: set[str]) -> None:
        self.tick()
        assert [memory.id for memory in self.scope.memories(kinds=chosen)] == list(self.model.current(chosen))

    @precondition(lambda self: self.model.entries)
    @rule(number=st.integers(0, 50))
    def history(self, number: int) -> None:
        self.tick()
        memory_id = self.some(number, self.model.entries)
        entry = self.model.entries[memory_id]
        own = [memory for memory in self.scope.history(memory_id) if memory.id == memory_id]
        assert own[-1] is not None
        if entry.state in {"current", "superseded"}:
            assert [memory.text for memory in own] == entry.revisions
        if entry.state == "forgotten":
            assert [memory.text for memory in own] == [""]

    @invariant()
    def look(self) -> None:
        """After each step: what is current, what can be read, what the slots hold."""
        if not hasattr(self, "engine"):
            return
        self.model.expire(self.clock())
        memories = {memory.id: memory for memory in self.scope.memories()}
        assert {key: (one.text, one.kind, one.slot, one.importance, one.metadata) for key, one in memories.items()} == {
            key: (one.text, one.kind, one.slot, one.importance, one.metadata) for key, one in self.model.current().items()
        }
        for memory_id in [known.id for known in self.model.entries.values() if known.state != LEFT]:
            entry = self.model.readable(memory_id)
            with self.raises_as(None if entry else memspan.NotFound):
                memory = self.scope.get(memory_id)
                assert entry is not None
                assert (memory.text, memory.state) == (entry.text, entry.state)
        for name in SLOTS:
            holders = self.model.slots[name].holders if name in self.model.slots else []
            assert [memory.id for memory in self.scope.slots.all(name)] == holders

    @invariant()
    def the_doctor_finds_nothing(self) -> None:
        if hasattr(self, "engine"):
            assert self.engine.check().findings == ()


def fork() -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12 on, where the process has threads: what is tested
        return os.fork()


@pytest.mark.timeout(7200)
def test_memory_is_what_the_dicts_say(request: pytest.FixtureRequest) -> None:
    global second  # noqa: PLW0603  one process for all runs
    second = SecondProcess()
    soak = request.config.getoption("--soak")
    try:
        chosen = settings(max_examples=1500 if soak else 25, stateful_step_count=120 if soak else 40)
        run_state_machine_as_test(MemoryMachine, settings=settings(parent=chosen, deadline=None))
    finally:
        second.process.kill()
        second.process.communicate()  # waits, and closes the pipes
