"""Lists of what a scope has: memories and sessions by time and metadata, relations, tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import memspan

if TYPE_CHECKING:
    from memspan.testing import FakeClock


def test_lists_are_limited_by_time_and_metadata(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    times = []
    for number in range(4):
        times.append(memspan_clock.advance(days=1))
        metadata = {"project": f"p-{number % 2}", "tags": ["x", number]}
        user.remember(f"fact {number}", metadata=metadata)
        user.session(f"s-{number}", model="gpt-4o", metadata=metadata).add({"role": "user", "content": "hi"})
    middle = {"since": times[1], "until": times[3]}

    def listed(**given: Any) -> tuple[list[str], list[str]]:
        found = [memory.text[-1] for memory in user.memories(**given)], [info.id[-1] for info in user.sessions(**given)]
        assert found[0] == found[1]
        return found

    assert listed(**middle)[0] == ["1", "2"]
    assert listed(**middle, newest_first=True)[0] == ["2", "1"]
    assert listed(until=times[1].replace(tzinfo=None))[0] == ["0"]
    assert listed(where={"project": "p-1"})[0] == ["1", "3"]
    assert listed(where={"project": "p-1"}, until=times[3])[0] == ["1"]
    assert listed(where={"tags": [0, 3.0]})[0] == ["0", "3"]
    assert listed(where={"tags": "y"})[0] == listed(where={"none": 1})[0] == []
    assert len(listed(where={})[0]) == 4
    for wrong in ({"where": {"$gt": 1}}, {"where": [1]}, {"until": "today"}):
        with pytest.raises(memspan.InvalidInput):
            list(user.memories(**wrong))
        with pytest.raises(memspan.InvalidInput):
            list(user.sessions(**wrong))


def test_a_list_that_skips_much_has_all_that_is_wanted(user: memspan.Scope) -> None:
    user.remember_many([{"text": f"fact {n}", "metadata": {"n": n % 300}} for n in range(900)])
    assert [memory.text for memory in user.memories(where={"n": 299})] == ["fact 299", "fact 599", "fact 899"]
    assert [memory.text for memory in user.memories(where={"n": 7}, newest_first=True, limit=2)] == ["fact 607", "fact 307"]


def test_relations_are_listed_with_those_that_ended(user: memspan.Scope) -> None:
    assert list(user.relations()) == []
    for number in range(600):
        user.relate(f"host-{number}", "runs", "nginx")
    user.relate("host-7", "runs", "nginx", holds=False)
    found = list(user.relations())
    assert [one.subject for one in found] == [f"host-{number}" for number in range(600)]
    assert [one.subject for one in found if one.until is not None] == ["host-7"]


def test_a_session_knows_its_tasks(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    session = user.session("s-1", model="gpt-4o")
    assert list(session.tasks) == []
    session.task("review").set("a", 1)
    session.task("deploy", ttl_seconds=60).set("b", 2)
    assert list(session.tasks) == ["deploy", "review"]
    memspan_clock.advance(seconds=61)
    assert list(session.tasks) == ["review"]
