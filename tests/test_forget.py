"""Forgetting: the words are gone from every answer, and what stays says that there was something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import memspan

if TYPE_CHECKING:
    from pathlib import Path

    from memspan.testing import FakeClock


def test_what_is_forgotten_is_found_nowhere(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    memory = user.remember("The badge number is xyzzy-4711", slot="badge", metadata={"k": "v"}).memory
    user.revise(memory.id, "The badge number is xyzzy-4712")
    before = memspan_clock()
    memspan_clock.advance(days=1)
    assert user.forget(memory.id, reason="asked to") is True
    assert user.forget(memory.id) is False
    assert len(user.recall("badge xyzzy-4711")) == len(user.recall("xyzzy-4712", known_at=before)) == 0
    assert list(user.memories()) == []
    with pytest.raises(memspan.NotFound):
        user.get(memory.id)
    [tombstone] = user.history(memory.id)
    assert (tombstone.text, tombstone.metadata, tombstone.slot) == ("", {}, None)
    assert (tombstone.state, tombstone.reason, tombstone.known_until) == ("forgotten", "asked to", memspan_clock())


def test_a_superseded_memory_can_be_forgotten(user: memspan.Scope) -> None:
    old = user.remember("Lives in Lisbon", slot="home").memory
    user.remember("Lives in Porto", slot="home")
    assert user.forget(old.id)
    assert user.slots["home"].text == "Lives in Porto"
    assert [memory.text for memory in user.history(old.id)] == [""]


def test_compacting_overwrites_the_bytes(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "s.memspan") as engine:
        user = engine.user("u")
        memory = user.remember("The badge number is xyzzy-4711").memory
        user.remember("Prefers tea")
        assert holds(engine.path, b"xyzzy-4711")
        user.forget(memory.id)
        report = engine.maintain(compact=True)
        assert report.compacted
        assert not holds(engine.path, b"xyzzy-4711")
        assert holds(engine.path, b"Prefers tea")
        assert [hit.memory.text for hit in user.recall("tea")] == ["Prefers tea"]
        assert engine.metrics()["generation"] == 2


def holds(folder: Path, needle: bytes) -> bool:
    return any(needle in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_an_unknown_id_is_not_found(user: memspan.Scope) -> None:
    with pytest.raises(memspan.NotFound) as caught:
        user.forget("nobody")
    assert caught.value.fields["id"] == "nobody"
    for look in (user.get, user.history):
        with pytest.raises(KeyError):
            look("mem-7")


def test_what_is_stale_is_forgotten_and_what_is_used_or_matters_stays(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    user.remember("Likes tea", importance=0.2)
    user.remember("Likes jazz", importance=0.2)
    user.remember("Is allergic to nuts", "constraint", importance=0.1)
    user.remember("Works at Northwind", "profile", importance=0.1)
    user.remember("Owns the payments runbook", importance=0.9)
    memspan_clock.advance(days=100)
    assert user.recall("jazz")
    user.remember("Likes rain", importance=0.2)
    would = user.forget_stale(dry_run=True)
    assert len(list(user.memories())) == 6
    # A dry run names what the call removes: what was recalled just now counts, though it is not on disk yet.
    assert {memory.text for memory in would} == {"Likes tea"}
    assert [memory.text for memory in user.forget_stale()] == ["Likes tea"]
    assert {memory.text for memory in user.memories()} == {
        "Likes jazz",
        "Is allergic to nuts",
        "Works at Northwind",
        "Owns the payments runbook",
        "Likes rain",
    }


def test_more_than_one_step_of_stale_memories(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    user.remember_many([{"text": f"fact {number}", "importance": 0.1} for number in range(600)])
    memspan_clock.advance(days=91)
    assert len(user.forget_stale()) == 600
    assert list(user.memories()) == []


@pytest.mark.parametrize(("options"), [{"unused_days": -1}, {"unused_days": float("nan")}, {"max_importance": 2}, {"unused_days": "x"}])
def test_options_that_cannot_be(user: memspan.Scope, options: dict[str, float]) -> None:
    with pytest.raises(memspan.InvalidInput):
        user.forget_stale(**options)  # type: ignore[arg-type]
