"""Remembering and revising: what is stored is what was said, a retry is harmless, a correction keeps its past."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any

import pytest

import memspan

if TYPE_CHECKING:
    from pathlib import Path

    from memspan.testing import FakeClock


def test_every_field_comes_back(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    lisbon = timezone(timedelta(hours=1))
    done = user.remember(
        "Decided to keep PostgreSQL",
        "decision",
        slot="Billing-Database",
        importance=0.9,
        confidence=0.75,
        trust=1,
        source="tool",
        id="d-1",
        ttl_seconds=90.5,
        occurred_at=datetime(2024, 12, 24, 9, 30, 0, 123456, tzinfo=lisbon),
        metadata={"project": "billing"},
    )
    memory = done.memory
    assert (done.action, done.reason) == ("added", None)
    assert memory.to_dict() == {
        "id": "d-1",
        "text": "Decided to keep PostgreSQL",
        "kind": "decision",
        "slot": "billing-database",
        "importance": 0.9,
        "confidence": 0.75,
        "trust": 1,
        "source": "tool",
        "revision": 1,
        "sequence": 1,
        "created_at": memspan_clock(),
        "known_from": memspan_clock(),
        "known_until": None,
        "occurred_at": datetime(2024, 12, 24, 8, 30, 0, 123456, tzinfo=UTC),
        "valid_until": None,
        "expires_at": memspan_clock() + timedelta(seconds=90.5),
        "metadata": {"project": "billing"},
        "state": "current",
        "reason": None,
        "supersedes": None,
        "superseded_by": None,
        "session": None,
        "message": None,
        "writer": None,
        "derived_from": [],
        "disputes": [],
        "reinforced": 0,
        "last_seen": datetime(2024, 12, 24, 8, 30, 0, 123456, tzinfo=UTC),
    }
    assert all(getattr(memory, name) == value for name, value in memory.to_dict().items())
    assert user.get("d-1") == memory
    assert hash(user.get("d-1")) == hash(memory)
    assert memory.created_at.tzinfo is UTC


def test_defaults_and_trust_by_source(user: memspan.Scope) -> None:
    memory = user.remember("Prefers tea").memory
    assert (memory.kind, memory.importance, memory.confidence, memory.source, memory.id) == ("semantic", 0.5, 1.0, "user", "mem-1")
    assert [user.remember(f"{who} says", source=who).memory.trust for who in ("user", "tool", "assistant", "rumour")] == [3, 2, 1, 0]


def test_a_memory_is_frozen(user: memspan.Scope) -> None:
    memory = user.remember("Prefers tea", metadata={"a": [1]}).memory
    with pytest.raises(AttributeError):
        memory.text = "Prefers coffee"  # type: ignore[misc]
    memory.metadata["a"].append(2)
    assert memory.metadata == {"a": [1]}


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        0,
        -1,
        127,
        128,
        -129,
        2**63 - 1,
        -(2**63),
        2**64 - 1,
        0.0,
        -0.5,
        1e300,
        float("inf"),
        "",
        "naïve ✓ \x00",
        b"",
        b"\xff\x00",
        [],
        [1, [2, [3]]],
        {},
        {"a": {"b": [None, True]}},
        Colour.RED,
        Level.HIGH,
        "x" * 40000,
        list(range(7000)),
    ],
)
def test_metadata_comes_back_equal(user: memspan.Scope, value: object) -> None:
    memory = user.remember("Prefers tea", metadata={"key": value, "": 1}).memory
    assert memory.metadata == user.get(memory.id).metadata == {"key": value, "": 1}
    assert [type(item) for item in memory.metadata.values()] == [
        str if isinstance(value, str) else int if isinstance(value, Level) else type(value),
        int,
    ]


def test_metadata_keeps_its_order_and_tuples_become_lists(user: memspan.Scope) -> None:
    memory = user.remember("Prefers tea", metadata={"z": (1, 2), "a": float("nan"), "m": 1}).memory
    assert list(memory.metadata) == ["z", "a", "m"]
    assert memory.metadata["z"] == [1, 2]
    assert memory.metadata["a"] != memory.metadata["a"]  # NaN is a float like any other


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"in": value}
    return value


@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        ({"key": object()}, "a value is"),
        ({"key": {1, 2}}, "a value is"),
        ({"key": 2**64}, "64 bits"),
        ({"key": -(2**63) - 1}, "64 bits"),
        ({1: "x"}, "every key must be a str"),
        ({"key": {None: 1}}, "every key must be a str"),
        ({"key": "\ud800"}, "lone surrogate"),
        ({"\ud800": 1}, "lone surrogate"),
        (deep(32), "32 deep"),
        (["not", "a", "mapping"], "must be a dict"),
        ({"key": "x" * 65_536}, "at most 65536 bytes"),
    ],
)
def test_metadata_that_cannot_be_stored(user: memspan.Scope, metadata: Any, says: str) -> None:
    with pytest.raises(memspan.InvalidInput, match=says):
        user.remember("Prefers tea", metadata=metadata)
    assert user.remember("Prefers tea", metadata=deep(31)).action == "added"


def test_metadata_that_holds_itself_is_refused(user: memspan.Scope) -> None:
    loop: dict[str, object] = {}
    loop["self"] = loop
    with pytest.raises(memspan.InvalidInput, match="32 deep"):
        user.remember("Prefers tea", metadata=loop)


def test_a_naive_time_is_utc(user: memspan.Scope) -> None:
    memory = user.remember("Prefers tea", occurred_at=datetime(1815, 6, 18, 11, 35)).memory  # noqa: DTZ001  the point of the test
    assert memory.occurred_at == datetime(1815, 6, 18, 11, 35, tzinfo=UTC)
    first = datetime(1, 1, 1, tzinfo=UTC)
    last = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    assert user.remember("The first moment", occurred_at=first).memory.occurred_at == first
    assert user.remember("The last moment", occurred_at=last).memory.occurred_at == last


def test_the_same_id_is_a_retry_or_a_conflict_or_rejected(user: memspan.Scope) -> None:
    first = user.remember("Prefers tea", id="tea")
    again = user.remember("Prefers tea", id="tea")
    assert (first.action, again.action, again.memory) == ("added", "duplicate", first.memory)
    with pytest.raises(memspan.IdConflict) as caught:
        user.remember("Prefers coffee", id="tea")
    assert caught.value.fields["id"] == "tea"
    assert user.forget("tea")
    rejected = user.remember("Prefers tea", id="tea")
    assert (rejected.action, rejected.memory.state, rejected.memory.text) == ("rejected", "forgotten", "")
    assert rejected.reason == 'the memory with id "tea" was forgotten, and an id is not used twice'
    assert list(user.memories()) == []


def test_an_exact_duplicate_is_recognised_and_case_is_meaning(user: memspan.Scope) -> None:
    first = user.remember("Prefers tea").memory
    assert user.remember(" Prefers tea\n").action == "duplicate"
    assert user.remember("prefers tea").action == "added"
    assert user.remember("Prefers tea", "preference").action == "added"  # another kind is another memory
    assert user.remember("Prefers tea").memory == first


def test_a_generated_id_that_was_taken_is_skipped(user: memspan.Scope) -> None:
    user.remember("First", id="mem-1")
    assert user.remember("Second").memory.id != "mem-1"
    assert user.get("mem-1").text == "First"


def test_revise_keeps_the_id_and_the_past(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    memory = user.remember("payments-api listens on port 8443", metadata={"a": 1}).memory
    memspan_clock.advance(days=1)
    done = user.revise(memory.id, "payments-api listens on port 9443", importance=1.0, slot="port", reason="it moved")
    revised = done.memory
    assert (done.action, done.reason) == ("updated", "it moved")
    assert (revised.id, revised.revision, revised.importance, revised.slot, revised.metadata) == (memory.id, 2, 1.0, "port", {"a": 1})
    assert (revised.created_at, revised.known_from) == (memory.created_at, memspan_clock())
    old, new = user.history(memory.id)
    assert new == revised == user.get(memory.id)
    assert (old.text, old.state, old.known_until, old.reason) == (memory.text, "revised", memspan_clock(), "it moved")
    assert len(user.recall("8443")) == 0
    assert user.recall("9443")[0].memory == revised
    assert user.revise(memory.id, metadata={}).memory.metadata == {}


def test_only_a_current_memory_is_revised(user: memspan.Scope) -> None:
    old = user.remember("Lives in Lisbon", slot="home").memory
    user.remember("Lives in Porto", slot="home")
    with pytest.raises(memspan.InvalidInput, match="superseded"):
        user.revise(old.id, "Lives in Faro")
    with pytest.raises(memspan.NotFound):
        user.revise("nobody", "x")
    with pytest.raises(memspan.InvalidInput, match="at least one of"):
        user.revise(old.id)


@pytest.mark.parametrize(
    "change", [{"text": ""}, {"text": "x" * (1 << 21)}, {"slot": ""}, {"importance": 2}, {"metadata": {"a": "x" * 70_000}}, {"reason": ""}]
)
def test_a_revision_that_breaks_a_rule_says_that_it_was_one(user: memspan.Scope, change: dict[str, Any]) -> None:
    """It said "remembering"."""
    memory = user.remember("Prefers tea").memory
    with pytest.raises(memspan.InvalidInput, match=r"^revising a memory: "):
        user.revise(memory.id, **{"text": "Prefers coffee"} | change)


def test_a_memory_expires(user: memspan.Scope, memspan_engine: memspan.Engine, memspan_clock: FakeClock) -> None:
    memory = user.remember("The door code is 4711", ttl_seconds=60, slot="code").memory
    memspan_clock.advance(seconds=59)
    assert user.recall("4711")[0].memory == memory
    memspan_clock.advance(seconds=1)
    assert len(user.recall("4711")) == 0
    assert list(user.memories()) == []
    assert "code" not in user.slots
    with pytest.raises(memspan.NotFound):
        user.get(memory.id)
    assert memspan_engine.maintain().expired == 1
    assert memspan_engine.maintain().expired == 0
    [tombstone] = user.history(memory.id)
    assert (tombstone.state, tombstone.text) == ("expired", "")


def test_the_id_of_a_memory_that_expired_stays_used(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    user.remember("It rains in Ghent", id="weather", ttl_seconds=60)
    memspan_clock.advance(seconds=61)
    again = user.remember("It rains in Ghent", id="weather", ttl_seconds=60)
    assert (again.action, again.memory.state) == ("rejected", "expired")
    assert again.reason == 'the memory with id "weather" has expired, and an id is not used twice'
    [row] = user.remember_many([{"text": "It is sunny in Ghent", "id": "weather"}])
    assert (row.action, row.reason) == ("rejected", again.reason)


def test_memories_are_paged_and_filtered(user: memspan.Scope) -> None:
    kinds = ["semantic", "preference", "constraint"]
    user.remember_many([{"text": f"fact {number}", "kind": kinds[number % 3]} for number in range(700)])
    assert [memory.text for memory in user.memories()] == [f"fact {number}" for number in range(700)]
    assert [memory.text for memory in user.memories("constraint")] == [f"fact {number}" for number in range(2, 700, 3)]
    assert len(list(user.memories(["preference", "constraint"]))) == 466


def test_iterating_goes_on_while_others_write(user: memspan.Scope) -> None:
    user.remember_many([f"fact {number}" for number in range(600)])
    seen = []
    for memory in user.memories():
        seen.append(memory.text)
        if len(seen) % 100 == 0:
            user.forget(memory.id)
            user.remember(f"new {len(seen)}")
    assert [text for text in seen if text.startswith("fact")] == [f"fact {number}" for number in range(600)]


def test_export_writes_every_current_memory_as_json(user: memspan.Scope, tmp_path: Path) -> None:
    user.remember("Prefers tea\nand ✓", metadata={"raw": b"\xff", "nan": float("nan"), "inf": float("-inf"), "list": [1.5]})
    user.remember("Lives in Lisbon", slot="home")
    user.remember("Lives in Porto", slot="home")
    target = tmp_path / "memories.jsonl"
    target.write_text("old")
    assert user.export(target) == 2
    first, second = [json.loads(line, parse_constant=pytest.fail) for line in target.read_text("utf-8").splitlines()]
    assert first["text"] == "Prefers tea\nand ✓"
    assert first["metadata"] == {"raw": "/w==", "nan": "NaN", "inf": "-Infinity", "list": [1.5]}
    assert datetime.fromisoformat(second["created_at"]).tzinfo == UTC
    assert (second["text"], second["supersedes"]) == ("Lives in Porto", "mem-2")
    assert [path.name for path in tmp_path.iterdir()] == ["memories.jsonl"]


def test_an_export_that_fails_leaves_the_old_file(user: memspan.Scope, tmp_path: Path) -> None:
    user.remember("Prefers tea")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        user.export(tmp_path / "folder")
    with pytest.raises(memspan.StoreIo, match="No such file or directory"):
        user.export(tmp_path / "missing" / "x.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("kind", ["episodic", "task_outcome"])
def test_an_event_that_happens_again_is_another_memory(user: memspan.Scope, kind: str) -> None:
    first, again = datetime(2024, 1, 1, 9, tzinfo=UTC), datetime(2024, 6, 1, 9, tzinfo=UTC)
    done = [user.remember("Had a migraine", kind, occurred_at=at) for at in (first, again, first + timedelta(hours=14), again)]
    assert [one.action for one in done] == ["added", "added", "duplicate", "duplicate"]
    assert [one.memory.id for one in done[2:]] == [one.memory.id for one in done[:2]]
    assert [hit.memory.occurred_at for hit in user.recall("migraine", since=datetime(2024, 5, 1, tzinfo=UTC))] == [again]
    rows = user.remember_many([{"text": "Had a fever", "kind": kind, "occurred_at": at} for at in (first, again, again)])
    assert [one.action for one in rows] == ["added", "added", "duplicate"]


def test_a_fact_is_a_fact_on_every_day(user: memspan.Scope) -> None:
    days = [datetime(2024, month, 1, tzinfo=UTC) for month in (1, 6)]
    assert [user.remember("Has migraines", occurred_at=day).action for day in days] == ["added", "duplicate"]
    assert [user.remember("Likes tea", "preference", occurred_at=day).action for day in days] == ["added", "duplicate"]


def test_an_event_that_is_told_on_another_day_is_learnt_again(user: memspan.Scope) -> None:
    told = [
        {"role": "user", "content": "My flight to Lisbon was delayed by 3 hours.", "created_at": datetime(2024, month, 1, tzinfo=UTC)}
        for month in (1, 6)
    ]
    again = user.learn(told)
    assert {memory.occurred_at.month for memory in user.memories("episodic")} == {1, 6}, [one.action for one in again]
    before = len(list(user.memories()))
    assert {one.action for one in user.learn(told)} <= {"reinforced", "duplicate"}
    assert len(list(user.memories())) == before


@pytest.mark.parametrize("limit", [-5, True, 1.5, 1 << 63, "3"])
def test_a_limit_of_a_listing_is_a_whole_number(user: memspan.Scope, limit: Any) -> None:
    user.remember("Prefers tea")
    with pytest.raises(memspan.InvalidInput, match="listing memories: limit must be a whole number, 0 or more, or None"):
        user.memories(limit=limit)
    assert [list(user.memories(limit=0)), len(list(user.memories(limit=1)))] == [[], 1]


@pytest.mark.parametrize("number", [-1, True, 1.5, "2", None])
def test_limits_of_summaries_and_profiles_are_whole_numbers(user: memspan.Scope, number: Any) -> None:
    with pytest.raises(memspan.InvalidInput, match="listing summaries: limit must be a whole number, 0 or more, and it is"):
        user.summaries(limit=number)
    with pytest.raises(memspan.InvalidInput, match="making a profile: max_tokens must be a whole number, 0 or more, and it is"):
        user.profile(max_tokens=number)
    assert (user.summaries(limit=0), user.profile(max_tokens=0).text) == ((), "")


@pytest.mark.parametrize(
    ("given", "stays"),
    [
        ({"metadata": {"src": "crm"}, "importance": 0.9}, "; its metadata and importance stay as they were: revise() changes them"),
        ({"metadata": {"src": "crm"}}, "; its metadata stays as it was: revise() changes it"),
        ({"importance": 0.9}, "; its importance stays as it was: revise() changes it"),
        ({"confidence": 0.9}, "; its confidence stays as it was"),
        ({"metadata": {"src": "mail"}, "importance": 0.2, "confidence": 0.3}, ""),
        ({}, ""),
    ],
)
def test_a_duplicate_says_which_arguments_it_ignores(user: memspan.Scope, given: dict[str, Any], stays: str) -> None:
    known = user.remember("Invoice 77 is paid", metadata={"src": "mail"}, importance=0.2, confidence=0.3).memory
    again = user.remember("Invoice 77 is paid", **given)
    assert (again.action, again.reason, again.memory) == ("duplicate", f"{known.id} says the same{stays}", known)


@pytest.mark.parametrize("slot", [None, "invoice"])
def test_what_takes_the_place_of_the_same_text_keeps_what_its_call_does_not_give(user: memspan.Scope, slot: str | None) -> None:
    fields: dict[str, Any] = {} if slot is None else {"slot": slot}
    user.remember("Invoice 77 is paid", metadata={"src": "mail"}, importance=0.9, ttl_seconds=9000, **fields)
    kept = user.remember("Invoice 77 is paid", **fields)
    assert (kept.action, kept.memory.metadata, kept.memory.importance) == ("superseded", {"src": "mail"}, 0.9)
    user.remember("Invoice 78 is paid", metadata={"src": "mail"}, importance=0.9, ttl_seconds=9000)
    given = user.remember("Invoice 78 is paid", metadata={"src": "crm"}, importance=0.2).memory
    assert (given.metadata, given.importance) == ({"src": "crm"}, 0.2)


def test_a_revision_mends_the_time_of_a_memory(user: memspan.Scope) -> None:
    wrong, right = datetime(2024, 5, 1, tzinfo=UTC), datetime(2023, 5, 1)  # noqa: DTZ001
    user.remember("Ran a marathon in Ghent", "episodic", id="run", occurred_at=wrong)
    revised = user.revise("run", occurred_at=right).memory
    assert (revised.occurred_at, revised.revision) == (right.replace(tzinfo=UTC), 2)
    assert [hit.memory.id for hit in user.recall("marathon", until=datetime(2024, 1, 1, tzinfo=UTC))] == ["run"]
    assert [hit.memory.id for hit in user.recall("marathon", since=datetime(2024, 1, 1, tzinfo=UTC))] == []
    assert [(one.state, one.occurred_at.year) for one in user.history("run")] == [("revised", 2024), ("current", 2023)]
    user.remember("Lives in Ghent", slot="home", id="home")
    with pytest.raises(memspan.InvalidInput, match="occurred_at of a memory that has a slot"):
        user.revise("home", occurred_at=right)
    with pytest.raises(memspan.InvalidInput, match="occurred_at"):
        user.revise("run", slot="sport", occurred_at=wrong)
    user.revise("home", occurred_at=user.get("home").occurred_at, importance=0.9)


def test_a_relation_that_two_memories_state_holds_since_the_earlier_one(user: memspan.Scope) -> None:
    first = datetime(2024, 3, 1, tzinfo=UTC)

    def since(**days: int) -> datetime | None:
        for name, day in days.items():
            user.revise(name, occurred_at=first + timedelta(days=day))
        [relation] = user.relations()
        return relation.since

    user.remember("billing-api runs on host-7", id="a", occurred_at=first + timedelta(days=9))
    user.remember("The billing-api runs on host-7.", id="b", occurred_at=first + timedelta(days=5))
    assert since() == first + timedelta(days=5)
    assert since(b=2) == first + timedelta(days=2)
    assert since(b=20) == first + timedelta(days=9)
    assert since(a=30) == first + timedelta(days=20)
    assert since(a=1) == first + timedelta(days=1)
