"""Two times: what held (`valid_at`) and what the store knew (`known_at`), against a model that keeps every fact."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

import memspan
import memspan.testing

if TYPE_CHECKING:
    from memspan.testing import FakeClock


def texts(recall: memspan.Answer[memspan.Recalled]) -> list[str]:
    return [hit.memory.text for hit in recall]


def test_valid_at_finds_what_held_then(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    for year, city in ((2010, "Lisbon"), (2015, "Oslo"), (2020, "Porto")):
        user.remember(f"Home is {city}", slot="home", occurred_at=datetime(year, 1, 1, tzinfo=UTC))
        memspan_clock.advance(days=1)
    for year, cities in ((2012, ["Lisbon"]), (2015, ["Oslo"]), (2019, ["Oslo"]), (2024, ["Porto"]), (2009, [])):
        assert texts(user.recall("home", valid_at=datetime(year, 6, 1, tzinfo=UTC))) == [f"Home is {city}" for city in cities]
    assert texts(user.recall("home")) == ["Home is Porto"]


@pytest.mark.parametrize("passes", [0, -3600], ids=["a clock that stands", "a clock that went back"])
def test_valid_at_asks_no_clock(user: memspan.Scope, memspan_clock: FakeClock, passes: int) -> None:
    for year, firm in ((2020, "Acme"), (2023, "Beta"), (2018, "Old")):
        user.remember(f"Works at {firm}", slot="job", occurred_at=datetime(year, 1, 1, tzinfo=UTC))
    memspan_clock.advance(seconds=passes)
    held = {year: texts(user.recall("works at", valid_at=datetime(year, 6, 1, tzinfo=UTC))) for year in (2017, 2019, 2021, 2024)}
    assert held == {2017: [], 2019: ["Works at Old"], 2021: ["Works at Acme"], 2024: ["Works at Beta"]}


def test_known_at_finds_what_the_store_believed_then(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    before = memspan_clock()
    memspan_clock.advance(days=1)
    memory = user.remember("payments-api listens on port 8443").memory
    first = memspan_clock()
    memspan_clock.advance(days=1)
    user.revise(memory.id, "payments-api listens on port 9443")
    second = memspan_clock()
    memspan_clock.advance(days=1)
    assert texts(user.recall("payments-api", known_at=before)) == []
    assert texts(user.recall("payments-api", known_at=first)) == ["payments-api listens on port 8443"]
    assert texts(user.recall("payments-api", known_at=second)) == ["payments-api listens on port 9443"]
    assert texts(user.recall("payments-api", known_at=second - timedelta(microseconds=1))) == ["payments-api listens on port 8443"]


def test_a_slot_of_several_values_held_all_of_them(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    user.slots.declare("pet", multi=True)
    pets = [user.remember(f"The user has a {pet}", slot="pet").memory for pet in ("cat Tom", "dog Rex")]
    memspan_clock.advance(days=1)
    then = memspan_clock()
    memspan_clock.advance(days=1)
    for pet in pets:
        user.revise(pet.id, f"{pet.text}, 5 years old")
    assert sorted(texts(user.recall("which pets does the user have?", known_at=then))) == [
        "The user has a cat Tom",
        "The user has a dog Rex",
    ]


def test_a_correction_is_not_believed_for_the_past_either(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    memory = user.remember("The meeting is in room 5", occurred_at=datetime(2024, 1, 1, tzinfo=UTC)).memory
    memspan_clock.advance(days=1)
    user.revise(memory.id, "The meeting is in room 7")
    assert texts(user.recall("meeting", valid_at=datetime(2024, 6, 1, tzinfo=UTC))) == ["The meeting is in room 7"]


def test_both_times_together(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    user.remember("Home is Lisbon", slot="home", occurred_at=datetime(2010, 1, 1, tzinfo=UTC))
    known = memspan_clock()
    memspan_clock.advance(days=1)
    user.remember("Home is Porto", slot="home", occurred_at=datetime(2020, 1, 1, tzinfo=UTC))
    # Before it heard of Porto, the store believed that Lisbon still held in 2024.
    in_2024 = datetime(2024, 1, 1, tzinfo=UTC)
    assert texts(user.recall("home", valid_at=in_2024, known_at=known)) == ["Home is Lisbon"]
    assert texts(user.recall("home", valid_at=in_2024)) == ["Home is Porto"]


def test_since_and_until_are_half_open(user: memspan.Scope) -> None:
    days = [datetime(2024, 1, day, tzinfo=UTC) for day in (1, 2, 3)]
    for day in days:
        user.remember(f"Deployed on day {day.day}", "episodic", occurred_at=day)
    assert sorted(texts(user.recall("deployed", since=days[1]))) == ["Deployed on day 2", "Deployed on day 3"]
    assert texts(user.recall("deployed", since=days[1], until=days[2])) == ["Deployed on day 2"]
    assert texts(user.recall("deployed", until=days[0])) == []


def test_transaction_times_never_go_back(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    first = user.remember("First").memory
    memspan_clock.advance(days=-10)
    second = user.remember("Second").memory
    assert second.known_from > first.known_from
    assert second.sequence == first.sequence + 1


@pytest.mark.parametrize("name", ["since", "until", "valid_at", "known_at"])
@pytest.mark.parametrize("value", ["2024-01-01", 1704067200, datetime.min.replace(tzinfo=UTC).date()])
def test_a_time_must_be_a_datetime(user: memspan.Scope, name: str, value: object) -> None:
    with pytest.raises(memspan.InvalidInput, match=name):
        user.recall("x", **{name: value})  # type: ignore[arg-type]  # callers without types


def test_a_time_beyond_the_years_is_refused(user: memspan.Scope) -> None:
    from datetime import timezone

    with pytest.raises(memspan.InvalidInput, match="1 and 9999"):
        user.remember("x", occurred_at=datetime.min.replace(tzinfo=timezone(timedelta(hours=1))))


@pytest.mark.parametrize("order", ["as it was said", "backwards", "by conversation"])
def test_imported_messages_are_found_by_their_time_in_whatever_order_they_come(order: str) -> None:
    begin, count = datetime(2024, 1, 1, tzinfo=UTC), 4_400  # more than are all looked at
    said = [begin + timedelta(hours=2 * number) for number in range(count)]
    numbers = list(range(count))
    if order == "backwards":
        numbers.reverse()
    elif order == "by conversation":
        numbers.sort(key=lambda number: number % 7)
    with memspan.testing.temporary_engine() as engine:
        user = engine.user("u")
        session = user.session("s", model="gpt-4o")
        for first in range(0, count, 1_100):
            rows = numbers[first : first + 1_100]
            session.add_many(
                [memspan.NewMessage({"role": "user", "content": f"I moved box {at} to the cellar."}, created_at=said[at]) for at in rows]
            )
        found = {hit.text for hit in user.search_transcripts("What did I say in March 2024?", limit=1_000)}
        assert found == {f"I moved box {at} to the cellar." for at in range(count) if (said[at].year, said[at].month) == (2024, 3)}
        assert engine.check().sound
