"""What is kept for so many days and no longer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.erasure import Retention
from memspan.testing import FakeClock

if TYPE_CHECKING:
    from pathlib import Path

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_what_is_older_goes_and_the_rest_stays(tmp_path: Path) -> None:
    clock = FakeClock(START)
    with memspan.open(tmp_path / "s", clock=clock) as engine:
        user = engine.user("u-42")
        user.remember("Met the auditors on Tuesday", kind="episodic")
        user.remember("Is allergic to peanuts", kind="constraint")
        user.session("old", "gpt-4o").add({"role": "user", "content": "Featherstonehaugh"})
        clock.advance(timedelta(days=60))
        user.remember("Met the bank today", kind="episodic")
        user.session("new", "gpt-4o").add({"role": "user", "content": "hello"})
        clock.advance(timedelta(days=40))
        kept = engine.maintain(retention=Retention(sessions_days=101, kinds={"episodic": 101}))
        assert (kept.sessions_deleted, kept.memories_forgotten) == (0, 0)
        done = engine.maintain(compact=True, retention=Retention(sessions_days=90, kinds={"episodic": 90}))
        assert (done.sessions_deleted, done.memories_forgotten) == (1, 1)
        assert [memory.text for memory in user.memories()] == ["Is allergic to peanuts", "Met the bank today"]
        assert [info.id for info in user.sessions()] == ["new"]
        assert engine.check().sound
    stored = b"".join(file.read_bytes() for file in (tmp_path / "s").rglob("*") if file.is_file())
    assert b"auditors" not in stored
    assert b"Featherstonehaugh" not in stored
    assert b"the bank" in stored, "the control"


def test_a_superseded_value_goes_so_many_days_after_it_was_superseded(tmp_path: Path) -> None:
    clock, keep = FakeClock(START), Retention(kinds={"profile": 30})
    with memspan.open(tmp_path / "s", clock=clock) as engine:
        user = engine.user("u-42")
        user.remember("Lives in Lisbon, Rua X 5", "profile", slot="home")
        clock.advance(timedelta(days=100))
        user.remember("Lives in Porto", "profile", slot="home")
        clock.advance(timedelta(days=29))
        assert engine.maintain(retention=keep).memories_forgotten == 0
        assert [memory.text for memory in user.memories(states="all")] == ["Lives in Lisbon, Rua X 5", "Lives in Porto"]
        user.remember("Lives in Faro", "profile", slot="home")
        clock.advance(timedelta(days=2))
        assert engine.maintain(retention=keep, compact=True).memories_forgotten == 1, "31 days after it was superseded"
        assert [memory.text for memory in user.memories(states="all")] == ["Lives in Porto", "Lives in Faro"]
        assert not any("Lisbon" in hit.text for hit in user.recall("Where does she live?", known_at=START + timedelta(days=1)))
        assert engine.check().sound
    stored = b"".join(file.read_bytes() for file in (tmp_path / "s").rglob("*") if file.is_file())
    assert b"Lisbon" not in stored
    assert b"Porto" in stored, "the control"


def test_a_superseded_value_goes_when_its_own_time_is_over(tmp_path: Path) -> None:
    """Its text stayed on disk for ever, where no retention named its kind: only what was current expired."""
    clock = FakeClock(START)
    with memspan.open(tmp_path / "s", clock=clock) as engine:
        user = engine.user("u-42")
        first = user.remember("Sleeps at Rua Featherstonehaugh 5", "profile", slot="home", ttl_seconds=86_400, id="first").memory
        user.remember("Sleeps at Elm Street", "profile", slot="home")
        user.remember("The code of the door is 4711", "profile", slot="code")
        user.remember("The code of the door is 1234", "profile", slot="code")
        assert engine.maintain().expired == 0
        clock.advance(timedelta(days=2))
        before = user.history("first")
        assert engine.maintain(compact=True).expired == 1
        assert engine.maintain().expired == 0
        assert [(one.state, one.text) for one in user.history("first")] == [("expired", "")]
        assert [(one.state, one.known_until) for one in user.history("first")] == [(one.state, one.known_until) for one in before]
        assert {one.text[:8] for one in user.memories(states="all")} == {"Sleeps a", "The code"}
        assert len(list(user.memories(states="all"))) == 3
        assert user.remember(first.text, "profile", slot="home", id="first").action == "rejected"
        assert engine.check().sound
    stored = b"".join(file.read_bytes() for file in (tmp_path / "s").rglob("*") if file.is_file())
    assert b"Featherstonehaugh" not in stored
    assert b"Elm Street" in stored, "the control"
    assert b"4711" in stored, "it has no time to live"


def test_earlier_texts_stay_with_a_memory_that_was_revised_lately(tmp_path: Path) -> None:
    clock = FakeClock(START)
    with memspan.open(tmp_path / "s", clock=clock) as engine:
        user = engine.user("u-42")
        memory = user.remember("payments-api listens on port 8443").memory
        clock.advance(timedelta(days=100))
        user.revise(memory.id, "payments-api listens on port 9443")
        assert engine.maintain(retention=Retention(kinds={"semantic": 30})).memories_forgotten == 0
        clock.advance(timedelta(days=31))
        assert engine.maintain(retention=Retention(kinds={"semantic": 30})).memories_forgotten == 1
        assert not list(user.memories(states="all"))
        assert engine.check().sound


def test_what_waits_for_approval_goes_too(tmp_path: Path) -> None:
    clock = FakeClock(START)
    with memspan.open(tmp_path / "s", clock=clock) as engine:
        user = engine.user("u-42")
        user.learn([{"role": "user", "content": "My boss said we never deploy on Fridays."}])
        kinds = [memory.kind for memory in user.quarantined()]
        assert kinds, "somebody else's words wait"
        keep = Retention(kinds=dict.fromkeys(kinds, 30))
        clock.advance(timedelta(days=29))
        assert engine.maintain(retention=keep).memories_forgotten == 0
        clock.advance(timedelta(days=2))
        assert engine.maintain(retention=keep).memories_forgotten == len(kinds)
        assert not user.quarantined()
        assert not list(user.memories(states="all"))
        assert engine.check().sound


@pytest.mark.parametrize(
    "wrong",
    [
        {"sessions_days": -1},
        {"sessions_days": "90"},
        {"kinds": {"episode": 3}},
        {"kinds": {"episodic": float("nan")}},
        {"kinds": {"episodic": None}},
        {"kinds": 7},
    ],
)
def test_what_is_no_retention_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(memspan.InvalidInput):
        Retention(**wrong)


def test_maintain_takes_a_retention_alone(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "s") as engine, pytest.raises(memspan.InvalidInput):
        engine.maintain(retention=90)  # type: ignore[arg-type]


def test_what_is_resumed_or_removed_while_old_sessions_go_is_left_as_it_is(tmp_path: Path) -> None:
    """A session that was resumed lost what was added. One that was deleted, or erased with its scope, ended the call with NotFound."""
    clock = FakeClock(START)
    looks = 0
    armed = False

    def now() -> datetime:
        nonlocal looks
        looks += armed
        if armed and looks == 2:  # the retention's own time was asked for: now the sessions go
            user.session("back").add({"role": "user", "content": "My new address is Elm Street 5"})
            user.session("gone").delete()
            engine.user("u-43").erase()
        return clock()

    with memspan.open(tmp_path / "s", clock=now) as engine:
        user = engine.user("u-42")
        for scope, name in ((user, "old"), (user, "back"), (user, "gone"), (engine.user("u-43"), "other"), (engine.user("u-44"), "last")):
            scope.session(name, "gpt-4o").add({"role": "user", "content": "hello"})
        clock.advance(timedelta(days=400))
        armed = True
        assert engine.maintain(retention=Retention(sessions_days=365)).sessions_deleted == 2
        armed = False
        assert looks > 2, "the control"
        assert [info.id for info in user.sessions()] == ["back"]
        assert [message.text for message in user.session("back").messages] == ["hello", "My new address is Elm Street 5"]
        assert not list(engine.user("u-44").sessions())
        assert engine.check().sound


def test_several_maintain_at_once(tmp_path: Path) -> None:
    """The second raised NotFound for a session that the first had deleted, and skipped everything behind it."""
    clock = FakeClock(START)
    with memspan.open(tmp_path / "s", clock=clock, durability="relaxed") as engine:
        user = engine.user("u-42")
        for number in range(60):
            user.session(f"s-{number}", "gpt-4o").add({"role": "user", "content": "hello"})
        clock.advance(timedelta(days=400))
        with ThreadPoolExecutor(3) as pool:
            running = [pool.submit(engine.maintain, retention=Retention(sessions_days=365)) for _ in range(3)]
        assert sum(one.result().sessions_deleted for one in running) == 60
        assert not list(user.sessions())


def test_a_clock_near_the_first_day_keeps_everything(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "s", clock=lambda: datetime(1970, 1, 2, tzinfo=UTC)) as engine:
        user = engine.user("u-42")
        user.remember("Met the auditors on Tuesday", kind="episodic")
        user.session("s", "gpt-4o").add({"role": "user", "content": "hello"})
        done = engine.maintain(retention=Retention(sessions_days=36_500, kinds={"episodic": 36_500}))
        assert (done.sessions_deleted, done.memories_forgotten) == (0, 0)
