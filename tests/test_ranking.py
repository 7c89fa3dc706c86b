"""Ranking: the time a question asks about, age, importance, use, what says the same, and how sure an answer is. See docs/ranking.md."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

import memspan
from memspan.testing import FakeClock, temporary_engine

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = datetime(2025, 6, 18, 12, tzinfo=UTC)


PLACES = (
    *("Alfama", "Baixa", "Chiado", "Damaia", "Estrela", "Foz", "Graca", "Higiene", "Ilha"),
    *("Junqueira", "Kew", "Lapa", "Mouraria", "Nova", "Olivais", "Prata", "Quinta", "Rato"),
)
TOWNS = ("Aveiro", "Braga", "Coimbra", "Douro", "Evora")


@pytest.fixture
def diary() -> Any:
    """What somebody did every day of this June, and once a month before, told in the same words: nothing but the time tells them apart."""
    with temporary_engine(clock=FakeClock(NOW), embedder=None) as engine:
        user = engine.user("u")
        for day, place in enumerate(PLACES, 1):
            user.remember(f"Walked the dog to {place}", "episodic", occurred_at=datetime(2025, 6, day, 9, tzinfo=UTC))
        for month, town in enumerate(TOWNS, 1):
            user.remember(f"Walked the dog to {town}", "episodic", occurred_at=datetime(2025, month, 10, 9, tzinfo=UTC))
        yield user


def first(recall: memspan.Answer[memspan.Recalled]) -> str:
    return recall[0].memory.text.removeprefix("Walked the dog to ")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("where was the dog walked yesterday?", PLACES[16]),
        ("who walked the dog 3 days ago?", PLACES[14]),
        ("who walked the dog on 7 June?", PLACES[6]),
        ("who walked the dog last Sunday?", PLACES[14]),
        ("who walked the dog on 2025-06-02?", PLACES[1]),
        ("who walked the dog in March?", TOWNS[2]),
        ("who walked the dog before February 2025?", TOWNS[0]),
    ],
)
def test_what_happened_then_comes_first(diary: memspan.Scope, question: str, answer: str) -> None:
    recall = diary.recall(question, limit=5)
    assert first(recall) == answer
    assert len(recall) == 5, "a preference, no filter"
    assert recall[0].explain().time == 1 > recall[4].explain().time >= 0.5


def test_an_explanation_names_the_time_that_was_read(diary: memspan.Scope) -> None:
    why = diary.recall("who walked the dog yesterday?")[0].explain()
    assert why.time_range == (datetime(2025, 6, 17, tzinfo=UTC), datetime(2025, 6, 18, tzinfo=UTC))
    assert "2025-06-17..2025-06-18" in str(why)
    assert diary.recall("who walked the dog since May?")[0].explain().time_range == (datetime(2025, 5, 1, tzinfo=UTC), None)
    assert diary.recall("who walked the dog?")[0].explain().time_range is None


def test_the_caller_s_own_limits_of_time_come_before_the_question_s(diary: memspan.Scope) -> None:
    recall = diary.recall("who walked the dog yesterday?", until=datetime(2025, 6, 3, tzinfo=UTC), since=datetime(2025, 6, 1, tzinfo=UTC))
    assert {first(recall[:1]), first(recall[1:])} == set(PLACES[:2])
    assert recall[0].explain().time_range is None
    for option in ("since", "until", "valid_at", "known_at"):
        limited: dict[str, Any] = {option: NOW}
        assert all(hit.explain().time_range is None for hit in diary.recall("the dog yesterday", **limited))


def test_a_time_of_which_nothing_is_changes_nothing(diary: memspan.Scope) -> None:
    plain, asked = diary.recall("who walked the dog", limit=3), diary.recall("who walked the dog before 1990", limit=3)
    assert len(asked) == len(plain) == 3
    assert all(hit.explain().time < 0.51 for hit in asked)


@pytest.mark.parametrize(
    ("zone", "since"),
    [
        (None, datetime(2025, 3, 29, tzinfo=UTC)),
        ("UTC", datetime(2025, 3, 29, tzinfo=UTC)),
        ("Europe/Berlin", datetime(2025, 3, 29, 23, tzinfo=UTC)),
        (ZoneInfo("America/New_York"), datetime(2025, 3, 29, 4, tzinfo=UTC)),
        (timezone(timedelta(hours=5, minutes=30)), datetime(2025, 3, 29, 18, 30, tzinfo=UTC)),
    ],
)
def test_days_are_those_of_the_zone(zone: Any, since: datetime) -> None:
    """Half past eleven in the evening in UTC; in Berlin, where yesterday had 23 hours, the 31st has begun."""
    with temporary_engine(clock=FakeClock(datetime(2025, 3, 30, 23, 30, tzinfo=UTC))) as engine:
        user = engine.user("u")
        user.remember("Drank tea", occurred_at=since)
        user.remember("Drank tea with milk", occurred_at=since - timedelta(days=60))
        recall = user.recall("who drank tea yesterday", timezone=zone)
        why = recall[0].explain()
        assert why.time_range is not None
        assert why.time_range[0] == since
        hours = {"Europe/Berlin": 23}.get(str(zone), 24)
        assert why.time_range[1] == since + timedelta(hours=hours)
        assert (recall[0].memory.text, why.time) == ("Drank tea", 1.0)


@pytest.mark.parametrize("zone", ["Europe/Nowhere", "", "../etc/passwd", 5, b"UTC", "x" * 300, "a\0b"])
def test_a_zone_that_cannot_be(user: memspan.Scope, zone: Any) -> None:
    with pytest.raises(memspan.InvalidInput, match="timezone"):
        user.recall("tea yesterday", timezone=zone)


def test_newer_events_come_first_and_facts_do_not_age() -> None:
    with temporary_engine(clock=FakeClock(NOW), embedder=None) as engine:
        events, facts = engine.user("events"), engine.user("facts")
        for user, kind in ((events, "episodic"), (facts, "semantic")):
            user.remember_many(
                {"text": f"Met Ann in {place}", "kind": kind, "occurred_at": NOW - timedelta(days=days)}
                for place, days in (("Porto", 400), ("Lisbon", 100), ("Braga", 2))
            )
        found = events.recall("Ann")
        assert [hit.memory.text[11:] for hit in found] == ["Braga", "Lisbon", "Porto"]
        why = found[1].explain()
        assert why.half_life_days == 30
        assert math.isclose(why.recency, 1 - 0.1 * (1 - 2 ** (-100 / 30)), rel_tol=1e-12)
        assert {(hit.explain().recency, hit.explain().half_life_days) for hit in facts.recall("Ann")} == {(1.0, None)}
        assert all(hit.score == hit.explain().relevance for hit in facts.recall("Ann", limit=1))


def test_importance_decides_among_equals_and_facts_have_none() -> None:
    with temporary_engine(clock=FakeClock(NOW), embedder=None) as engine:
        for kind, order in (("preference", ["jazz", "rock"]), ("semantic", ["rock", "jazz"])):
            user = engine.user(kind)
            user.remember("Likes jazz", kind, importance=0.9)
            user.remember("Likes rock", kind, importance=0.2)  # the newer, which is first of equals
            assert [hit.memory.text[6:] for hit in user.recall("likes")] == order


def test_use_counts_from_when_it_is_stored() -> None:
    with temporary_engine(clock=FakeClock(NOW), embedder=None) as engine:
        user = engine.user("u")
        user.remember_many({"text": f"Likes {what}", "kind": "preference"} for what in ("jazz", "rock"))
        for _ in range(3):
            user.recall("jazz")
        before = user.recall("likes")
        assert [hit.memory.text for hit in before] == ["Likes rock", "Likes jazz"]
        assert before[0].explain().recalls == 0
        engine.maintain()
        after = user.recall("likes")
        assert [hit.memory.text for hit in after] == ["Likes jazz", "Likes rock"]
        assert (after[0].explain().recalls, after[1].explain().recalls) == (4, 1)
        assert math.isclose(after[0].explain().usage, 1 + 0.03 * math.log2(5) / 6, rel_tol=1e-12)


def test_every_number_of_a_score_is_there(diary: memspan.Scope) -> None:
    diary.remember("The dog is walked by Ann", "constraint", importance=0.9)
    diary.remember("The dog weighs 30 kg")
    for question in ("who walked the dog yesterday?", "the dog"):
        for hit in diary.recall(question, limit=10):
            why = hit.explain()
            further = sum(value * weight for value, weight in why.further.values())
            relevance = why.lexical_weight * why.lexical_normalised + why.cosine_weight * why.cosine_normalised + further
            assert math.isclose(relevance, why.relevance, rel_tol=1e-12)
            score = relevance * (why.time * why.recency * why.importance * why.usage * why.certainty) / why.highest_prior + why.raised
            assert math.isclose(score, hit.score, abs_tol=2e-9)
            assert math.isclose(why.score, why.relevance, abs_tol=2e-9) or "relevance" in str(why)


def test_what_says_the_same_is_said_once() -> None:
    with temporary_engine(clock=FakeClock(NOW)) as engine:
        user = engine.user("u")
        user.remember_many(["Prefers green tea", "prefers the green tea.", "Prefers black tea"])
        user.remember("Prefers green tea", slot="drink", id="slot")
        recall = user.recall("which tea? green tea", limit=3)
        texts = [hit.memory.text for hit in recall]
        assert len(recall) == 3, "one of the duplicates makes room"
        assert sum(text.lower().rstrip(".").replace("the ", "") == "prefers green tea" for text in texts) == 2, "a slot is a meaning"
        assert "Prefers black tea" in texts
        left_out = [(hit.memory.id, hit.explain().duplicates) for hit in recall if hit.explain().duplicates]
        [(stays, [gone])] = left_out
        assert {stays, gone} == {"mem-1", "mem-2"}
        assert f"says the same as {gone}" in str(next(hit for hit in recall if hit.memory.id == stays).explain())
        assert user.get(gone).text, "left out of the answer, not out of the store"


def test_the_newest_value_of_a_slot_is_the_one_that_is_found() -> None:
    clock = FakeClock(NOW)
    with temporary_engine(clock=clock) as engine:
        user = engine.user("u")
        for port in (8443, 9443, 7443):
            user.remember(f"payments-api listens on port {port}", slot="port")
            clock.advance(days=1)
        assert [hit.memory.text[-4:] for hit in user.recall("which port does payments-api use?")] == ["7443"]
        assert [hit.memory.text[-4:] for hit in user.recall("payments-api port", valid_at=NOW)] == ["8443"]


def test_confidence_is_the_mean_of_words_and_meaning() -> None:
    with temporary_engine() as engine:
        user = engine.user("u")
        user.remember_many(["Walked the dog to the river", "Prefers tea"])
        recall = user.recall("walked the dog")
        cosine = recall[0].explain().cosine
        assert cosine is not None
        assert math.isclose(recall.confidence, (1 + cosine) / 2, abs_tol=1e-9), "it has every word of the question"
        assert user.recall("quarterly revenue of the bakery").confidence < 0.3 < recall.confidence
    with temporary_engine(embedder=None) as engine:
        user = engine.user("u")
        user.remember_many(["The dogs of the neighbour", "Prefers tea"])
        assert user.recall("dog").confidence == 0.5, "another form of the word counts half"


@pytest.fixture
def by_meaning() -> Iterator[memspan.Engine]:
    with temporary_engine(clock=FakeClock(NOW)) as engine:
        yield engine


def told(engine: memspan.Engine, *texts: str, kind: str = "semantic") -> memspan.Scope:
    """A scope with these, each said a month after the one before it."""
    user = engine.user(f"told-{len(texts)}-{kind}-{'-'.join(texts)[:200]}")
    for month, text in enumerate(texts):
        user.remember(text, kind=kind, occurred_at=NOW - timedelta(days=400 - 30 * month))
    return user


def best_of(user: memspan.Scope, question: str) -> str:
    return user.recall(question)[0].memory.text


def test_the_newest_of_what_is_said_of_one_thing_comes_first(by_meaning: memspan.Engine) -> None:
    user = told(by_meaning, "My employer is Acme.", "I like jazz.", "I switched jobs and my new employer is Globex.")
    [newest, older, *_] = user.recall("who is my employer?")
    assert (newest.memory.text[-7:], older.memory.text) == ("Globex.", "My employer is Acme.")
    assert newest.score >= older.score
    why = newest.explain()
    assert (why.raised > 0) == ("raised by" in str(why))
    assert (
        best_of(told(by_meaning, "My car is a Golf.", "I sold my car and got a new car, a Clio."), "What car do I drive?")[-5:] == "Clio."
    )


@pytest.mark.parametrize(
    ("texts", "question", "expected"),
    [
        (("Anna's employer is Acme.", "Bob's employer is Globex."), "Who is Anna's employer?", "Acme"),
        (("My employer is Acme.", "Anna's employer is Globex."), "Who is my employer?", "Acme"),
        (("My employer is Acme.", "My dentist is Dr. Silva."), "Who is my employer?", "Acme"),
        (("The staging server listens on 8443.", "The production server listens on 9443."), "What port has the staging server?", "8443"),
        (("payments-api listens on 8443", "billing-api listens on 9443"), "which port does payments-api use?", "8443"),
    ],
)
def test_what_is_newer_of_another_thing_stays_behind(
    by_meaning: memspan.Engine, texts: tuple[str, ...], question: str, expected: str
) -> None:
    assert expected in best_of(told(by_meaning, *texts), question)


def test_what_is_newer_of_another_thing_does_not_hide_what_is_newer(by_meaning: memspan.Engine) -> None:
    """The newest alone was raised. Where it was of another thing, the new value stayed behind the old one."""
    user = by_meaning.user("landlords")
    told_on = ("Bob's landlord is called Petra Okafor.", "Bob has a landlord called Ivan now.", "Bob's new roommate is called Olga.")
    for month, text in enumerate(told_on):
        user.remember(text, occurred_at=NOW - timedelta(days=400 - 30 * month))
    found = [hit.memory.text for hit in user.recall("Who is Bob's landlord?")]
    assert found.index(told_on[1]) < found.index(told_on[0])


@pytest.mark.parametrize(("values", "raised"), [(2, 1), (3, 2), (13, 2), (14, 1)])
def test_of_many_that_say_the_like_only_the_newest_is_raised(by_meaning: memspan.Engine, values: int, raised: int) -> None:
    """Turns of a dialogue all say something near the question: to raise every newer one is to order them by time."""
    texts = [f"My employer is {name}." for name in ("Acme", "Globex", "Initech", "Hooli", "Umbrella", "Stark", "Wayne", "Tyrell")]
    texts += [f"My employer is {name}." for name in ("Cyberdyne", "Soylent", "Wonka", "Oceanic", "Massive", "Dunder")]
    user = told(by_meaning, *texts[:values])
    hits = user.recall("who is my employer?", limit=20)
    assert len(hits) == values
    newest_first = sorted(hits, key=lambda hit: hit.memory.occurred_at, reverse=True)
    assert [hit.memory for hit in hits][:raised] == [hit.memory for hit in newest_first][:raised]
    above = [hit.explain().raised for hit in newest_first]
    assert sum(one > 0.001 for one in above) <= raised, "what is shown as equal is made equal"


def test_what_nobody_vouches_for_replaces_nothing(by_meaning: memspan.Engine) -> None:
    user = by_meaning.user("trust")
    user.remember("My employer is Acme.", occurred_at=NOW - timedelta(days=30))
    user.remember("I switched jobs and my new employer is Globex.", occurred_at=NOW - timedelta(days=1), trust=0)
    assert all(hit.explain().raised == 0 for hit in user.recall("who is my employer?"))


def test_what_asks_for_the_past_is_answered_as_it_ranks(by_meaning: memspan.Engine) -> None:
    user = told(by_meaning, "My employer is Acme.", "I like jazz.", "I switched jobs and my new employer is Globex.")
    assert any(hit.explain().raised > 0 for hit in user.recall("who is my employer?"))
    assert all(hit.explain().raised == 0 for hit in user.recall("who was my employer before?"))


def test_events_are_ranked_with_what_was_told_beside_them(by_meaning: memspan.Engine) -> None:
    user = by_meaning.user("beside")
    for day, turns in enumerate((("Ann: How was the violin concert?", "Bob: The crowd loved it."), ("Ann: I am tired.", "Bob: Me too."))):
        user.remember_many({"text": text, "kind": "episodic", "occurred_at": NOW - timedelta(days=9 - day)} for text in turns)
    texts = [hit.memory.text for hit in user.recall("how was the violin concert", limit=2)]
    assert texts == ["Ann: How was the violin concert?", "Bob: The crowd loved it."]


def test_an_answer_about_somebody_else_is_less_sure(by_meaning: memspan.Engine) -> None:
    user = by_meaning.user("sure")
    user.remember_many(["Anna: I adopted a puppy called Rex.", "Bob: The invoice is due in April.", "Bob: I moved to Porto last year."])
    anna, bob = (user.recall(f"Which puppy did {name} adopt?") for name in ("Anna", "Bob"))
    assert anna.confidence > 0.5 > bob.confidence


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Deine Aufgabe: Bericht schreiben bis Freitag", "Was ist meine Aufgabe?"),
        ("El perro come a las 8", "\u00bfCu\u00e1nto cuesta el pero?"),
        ("Anja's flight is booked", "Is the flight of Tanja booked?"),
    ],
)
def test_a_word_of_another_language_and_another_name_are_not_misspelt(user: memspan.Scope, text: str, question: str) -> None:
    user.remember(text)
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": question})
    assert "read it as" not in str(session.assemble().explain())
