"""A clock that was ahead for one write (NTP, a machine that resumes) says nothing false of what is written after it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

import memspan
from memspan import Retention
from memspan.testing import FakeClock, openai_response

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

START = datetime(2025, 7, 1, 9, tzinfo=UTC)
AHEAD = datetime(2030, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


class Life:
    """A store that was written to while its clock was ahead, and its clock, which is right again."""

    def __init__(self, path: Path) -> None:
        self.path, self.clock = path, FakeClock(START)
        self.engine = memspan.open(path, clock=self.clock)
        self.user.remember("Lives in Lisbon", slot="home")
        self.session.add({"role": "user", "content": "Hello there"})
        self.clock.set(AHEAD)
        self.user.remember("Lives in Rome", slot="home")
        self.user.remember("Bought a red bicycle", "episodic")
        self.session.add({"role": "user", "content": "I bought a red bicycle"})
        self.clock.set(START + DAY)

    @property
    def user(self) -> memspan.Scope:
        return self.engine.user("u-42")

    @property
    def session(self) -> memspan.Session:
        return self.user.session("s", "gpt-4o")

    def reopen(self) -> None:
        self.engine.close()
        self.engine = memspan.open(self.path, clock=self.clock)


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    life = Life(tmp_path / "s")
    yield life
    assert life.engine.check().sound
    life.engine.close()


def texts(answer: memspan.Answer[memspan.Recalled]) -> list[str]:
    return [hit.text for hit in answer]


def test_an_event_has_the_time_of_the_clock(life: Life) -> None:
    memory = life.user.remember("Ran a marathon", "episodic").memory
    now = life.clock()
    assert memory.occurred_at == now
    assert texts(life.user.recall("marathon", since=now - DAY, until=now + DAY)) == ["Ran a marathon"]
    assert "Ran a marathon" in texts(life.user.recall("What did I do today?"))
    assert texts(life.user.recall("marathon", valid_at=now)) == ["Ran a marathon"]
    life.reopen()
    life.engine.export(life.path.parent / "out.jsonl")
    with memspan.open(life.path.parent / "other", clock=life.clock) as other:
        other.load(life.path.parent / "out.jsonl")
        assert texts(other.user("u-42").recall("marathon", since=now - DAY, until=now + DAY)) == ["Ran a marathon"]
        assert texts(other.user("u-42").recall("marathon", known_at=now)) == ["Ran a marathon"]
        assert other.check().sound


def test_what_is_known_is_found_by_the_time_of_the_clock(life: Life) -> None:
    memory = life.user.remember("The port is 8443").memory
    first = life.clock()
    life.clock.advance(days=1)
    life.user.revise(memory.id, "The port is 9443")
    life.clock.advance(days=1)
    life.reopen()
    old, new = ["The port is 8443"], ["The port is 9443"]
    for at, found in ((START, []), (first, old), (first + DAY, new), (life.clock(), new)):
        assert texts(life.user.recall("port", known_at=at)) == found, at
    assert texts(life.user.recall("bicycle", known_at=life.clock())) == ["Bought a red bicycle"], "what was ahead is known, too"
    assert texts(life.user.recall("bicycle", known_at=START)) == []


def test_the_order_of_writes_stays(life: Life) -> None:
    first = life.user.remember("One").memory
    life.clock.advance(hours=-3)
    second = life.user.remember("Two").memory
    assert first.known_from < second.known_from
    assert first.sequence + 1 == second.sequence
    assert texts(life.user.recall("one two", known_at=first.known_from)) == ["One"], "a time that a memory shows"
    added = [message.added_at for message in life.session.messages]
    life.session.add({"role": "user", "content": "more"})
    assert life.session.messages[-1].added_at > max(added)


def test_a_message_has_the_time_of_the_clock(life: Life) -> None:
    life.session.add({"role": "user", "content": "I ran a marathon"})
    now, life_before = life.clock(), life.session.messages[0]
    assert life_before.created_at is None, "the clock was right"
    assert life.session.messages[-1].created_at == now
    assert life.session.last_added_at == now
    assert [hit.text for hit in life.user.search_transcripts("marathon", since=now - DAY, until=now + DAY)] == ["I ran a marathon"]
    fork = life.session.fork("fork")
    assert fork.last_added_at == now
    life.reopen()
    new = life.user.session("n", "gpt-4o")
    new.add({"role": "user", "content": "tell me about my marathon"})
    lines = [line for line in new.assemble().text.splitlines() if "I ran a marathon" in line]
    assert lines
    assert not any("2030" in line for line in lines), lines
    assert life.user.session("fork", "gpt-4o").messages[-1].created_at == now


def test_what_is_learnt_happened_by_then(life: Life) -> None:
    life.session.add({"role": "user", "content": "My dog is called Rex"})
    assert len(life.user.learn(life.session)) > 0, "the control"
    learnt = {memory.text: memory.occurred_at for memory in life.user.memories() if memory.writer is not None}
    assert any("Rex" in text for text in learnt), learnt
    assert max(learnt.values()) <= life.clock(), learnt
    assert len(life.user.learn(life.session)) == 0, "once"


def test_the_newest_value_takes_the_slot(life: Life) -> None:
    done = life.user.remember("Lives in Oslo", slot="home")
    assert (done.action, life.user.slots["home"].text) == ("superseded", "Lives in Oslo")
    life.clock.advance(days=1)
    done = life.user.remember("Lives in Bergen", slot="home", occurred_at=life.clock())
    assert (done.action, life.user.slots["home"].text) == ("superseded", "Lives in Bergen")
    life.clock.advance(hours=-1)
    assert life.user.remember("Lives in Turku", slot="home").action == "superseded", "an hour back"
    assert life.user.remember("Lived in Tromso", slot="home", occurred_at=START - DAY).action == "added", "an older value stays history"
    assert life.user.slots["home"].text == "Lives in Turku"
    at = START + DAY + timedelta(hours=1)
    assert texts(life.user.recall("home lives", valid_at=at)) == ["Lives in Oslo"]


def test_a_value_with_its_honest_date_takes_the_slot_of_one_that_was_ahead(life: Life) -> None:
    life.engine.maintain(retention=Retention(kinds={"semantic": 3650}))
    yesterday = life.clock() - timedelta(hours=5)
    done = life.user.remember("Lives in Oslo", slot="home", occurred_at=yesterday)
    assert (done.action, life.user.slots["home"].text) == ("superseded", "Lives in Oslo")


def test_a_value_from_before_does_not_take_the_slot_of_one_that_was_ahead(life: Life) -> None:
    assert life.user.remember("Lived in Paris", slot="home", occurred_at=datetime(2010, 1, 1, tzinfo=UTC)).action == "added"
    assert life.user.slots["home"].text == "Lives in Rome"
    assert life.user.remember("Moves to Porto", slot="home", occurred_at=AHEAD + 90 * DAY).action == "superseded"
    assert life.user.remember("Lives in Oslo", slot="home").action == "added", "a date that was given lies in the future on purpose"


def test_retention_counts_by_the_clock(life: Life) -> None:
    life.session.add({"role": "user", "content": "I ran a marathon"})
    life.user.remember("Ran a marathon", "episodic")
    keep = Retention(sessions_days=30, kinds={"episodic": 30, "semantic": 30})
    life.clock.advance(days=29)
    done = life.engine.maintain(retention=keep)
    assert (done.sessions_deleted, done.memories_forgotten) == (0, 0)
    life.reopen()
    life.clock.advance(days=2)
    done = life.engine.maintain(retention=keep)
    assert (done.sessions_deleted, done.memories_forgotten) == (1, 4)
    assert not list(life.user.memories(states="all"))


def test_what_nothing_was_written_after_counts_from_the_first_maintenance(life: Life) -> None:
    keep = Retention(sessions_days=30, kinds={"episodic": 30, "semantic": 30})
    life.clock.advance(days=100)
    done = life.engine.maintain(retention=keep)
    assert (done.sessions_deleted, done.memories_forgotten) == (0, 0), "nobody knows when it was"
    life.clock.advance(days=29)
    life.reopen()
    assert life.engine.maintain(retention=keep).memories_forgotten == 0
    life.clock.advance(days=2)
    done = life.engine.maintain(retention=keep)
    assert (done.sessions_deleted, done.memories_forgotten) == (1, 3)


def test_maintenance_with_a_clock_that_is_behind_deletes_nothing_later(tmp_path: Path) -> None:
    clock, keep = FakeClock(START), Retention(sessions_days=30, kinds={"episodic": 30})
    with memspan.open(tmp_path / "s", clock=clock) as engine:
        user = engine.user("u-42")
        user.remember("Ran a marathon", "episodic")
        user.session("s", "gpt-4o").add({"role": "user", "content": "hello"})
        clock.set(datetime(1970, 1, 2, tzinfo=UTC))
        assert engine.maintain(retention=keep).memories_forgotten == 0
        user.remember("Ran another marathon", "episodic")
        user.session("t", "gpt-4o").add({"role": "user", "content": "hello"})
        clock.set(START + 29 * DAY)
        assert len(list(user.memories(since=START))) == 2
        done = engine.maintain(retention=keep)
        assert (done.sessions_deleted, done.memories_forgotten) == (1, 0), "only the session that was made in 1970 seems that old"
        clock.set(START + 31 * DAY)
        done = engine.maintain(retention=keep)
        assert (done.sessions_deleted, done.memories_forgotten) == (1, 2)


def test_forgetting_by_origin_and_for_staleness_count_by_the_clock(life: Life) -> None:
    life.user.remember("From a page", source="web")
    life.clock.advance(days=10)
    life.user.remember("From another page", source="web")
    gone = life.user.forget_from(source="web", since=life.clock() - DAY, dry_run=True)
    assert [memory.text for memory in gone] == ["From another page"]
    life.clock.advance(days=100)
    stale = life.user.forget_stale(unused_days=105, max_importance=1, dry_run=True)
    assert "From a page" in [memory.text for memory in stale]
    assert "From another page" not in [memory.text for memory in stale]


def test_a_session_that_was_ahead_does_not_expire_memories(life: Life) -> None:
    """Its prompts counted by the session's own time, and forgetting by a redaction wrote that time into the scope."""
    other = life.engine.user("u-43")
    life.clock.set(AHEAD)
    session = other.session("s", "gpt-4o")
    session.add({"role": "user", "content": "My cat is called Tom"})
    life.clock.set(START + DAY)
    other.learn(session)
    other.remember("Answer in French", "constraint", ttl_seconds=30 * 86_400)
    session.add({"role": "user", "content": "hello"})
    session.add_response(openai_response("bonjour"))
    session.compact()
    session.add({"role": "user", "content": "hello again"})
    assert "Answer in French" in session.assemble().text
    session.redact(0)
    assert "Tom" not in " ".join(memory.text for memory in other.memories())
    assert other.remember("Runs").memory.known_from < AHEAD


def test_a_document_shows_the_time_of_the_clock(life: Life) -> None:
    notes = life.user.collection("notes")
    life.clock.set(AHEAD)
    notes.add("a", "The harbour opens at six.")
    life.clock.set(START + DAY)
    notes.add("b", "The harbour closes at ten.")
    assert notes.get("b").updated_at == START + DAY
