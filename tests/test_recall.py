"""Recall: what is found, in which order, and that every number of an explanation adds up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import memspan
from memspan.testing import FakeClock, FakeEmbedder, temporary_engine

if TYPE_CHECKING:
    from pathlib import Path

FACTS = [
    "payments-api listens on port 8443 in prod-eu-west-1",
    "payments-api listens on port 9443 in staging",
    "The runbook is docs/runbooks/payments.md",
    "Ticket #4521 is branch fix/auth-timeout",
    "Prefers tea in the morning",
    "Änderungen am Café-Menü sind naïve",
    "会議は東京で行われます",
    "Never deploy on a Friday",
]


@pytest.fixture
def full(user: memspan.Scope) -> memspan.Scope:
    user.remember_many(FACTS)
    return user


def texts(recall: Iterable[memspan.Recalled]) -> list[str]:
    return [hit.memory.text for hit in recall]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which port does payments-api use in prod-eu-west-1?", 0),
        ("9443", 1),
        ("payments.md", 2),
        ("what is #4521 about?", 3),
        ("fix/auth-timeout", 3),
        ("cafe menu", 5),
        ("東京", 6),
        ("deploying", 7),
    ],
)
def test_the_right_memory_is_the_first(full: memspan.Scope, question: str, answer: int) -> None:
    assert full.recall(question)[0].memory.text == FACTS[answer]


def test_the_answer_is_a_frozen_sequence(full: memspan.Scope) -> None:
    recall = full.recall("listens on port", limit=3)
    hits = list(recall)
    assert isinstance(recall, Sequence)
    assert len(recall) == len(hits) == 2
    assert (recall[0], recall[-1], recall[1:], recall[::-1][0]) == (hits[0], hits[-1], recall[1:], hits[-1])
    assert isinstance(recall[:1], memspan.Answer)
    assert list(recall[5:]) == []
    assert list(reversed(recall)) == hits[::-1]
    others: list[object] = ["x"]
    assert (hits[1] in recall, others[0] in recall, recall.index(hits[1]), recall.count(hits[0])) == (
        True,
        False,
        1,
        1,
    )
    assert hash(recall[0]) == hash(hits[0])
    for wrong in (2, -3):
        with pytest.raises(IndexError):
            recall[wrong]
    with pytest.raises(TypeError):
        recall["x"]  # type: ignore[call-overload]
    with pytest.raises(ValueError):  # noqa: PT011  what Sequence says
        recall.index("x")
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert bool(full.recall("xyzzy")) is False


def test_an_explanation_adds_up(full: memspan.Scope) -> None:
    for hit in full.recall("payments-api port 8443 prod", limit=8):
        why = hit.explain()
        assert why.score == hit.score
        assert math.isclose(sum(term.score for term in why.terms), why.lexical, abs_tol=1e-8)
        total = why.lexical_weight * why.lexical_normalised + why.cosine_weight * why.cosine_normalised
        assert math.isclose(total, why.score, abs_tol=2e-9)
        assert (why.cosine, why.lexical_weight) == (None, 1.0)
        assert all(term.count > 0 and term.frequency > 0 and term.idf > 0 for term in why.terms)
        assert all(term.text in str(why) for term in why.terms)
        assert repr(why).startswith("Explanation(score=")
        assert all(f"({term.frequency} of the scope's memories)" in str(why) for term in why.terms)


def test_an_answer_has_the_best_that_its_repr_shows(full: memspan.Scope) -> None:
    answer = full.recall("payments-api port")
    assert answer.best is not None
    assert answer.best == answer[0]
    assert f"best={answer.best!r})" in repr(answer)
    assert answer[1:].best == answer[1]
    assert answer[:0].best is None
    assert "best" not in repr(answer[:0])


def test_a_hybrid_explanation_has_the_cosine_that_numpy_has() -> None:
    embedder = FakeEmbedder(dimensions=48)
    with temporary_engine(embedder=embedder) as engine:
        user = engine.user("u")
        user.remember_many(FACTS)
        question = "payments-api port in the morning"
        recall = user.recall(question, limit=8)
        assert (recall.mode, recall.degraded, recall.degraded_reason) == ("hybrid", False, None)
        [asked] = embedder.embed([question])
        for hit in recall:
            why = hit.explain()
            [stored] = embedder.embed([hit.memory.text])
            assert why.cosine is not None
            assert math.isclose(why.cosine, float(np.dot(asked.astype(np.float64), stored.astype(np.float64))), abs_tol=1e-5)
            total = why.lexical_weight * why.lexical_normalised + why.cosine_weight * why.cosine_normalised
            total += sum(value * weight for value, weight in why.further.values()) + why.raised
            assert math.isclose(total, hit.score, abs_tol=2e-9)


def test_tokens_are_exact_and_bound_the_answer(full: memspan.Scope) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    try:
        encoding = tiktoken.get_encoding("o200k_base")
    except Exception:  # noqa: BLE001  its vocabulary is a download, which a test may not need
        counted = {FACTS[0]: 15}
    else:
        counted = {text: len(encoding.encode_ordinary(text)) for text in FACTS}
    recall = full.recall("payments-api listens runbook", limit=8)
    for hit in recall:
        assert hit.tokens == counted.get(hit.memory.text, hit.tokens) > 0
    total = sum(hit.tokens for hit in recall)
    assert texts(full.recall("payments-api listens runbook", limit=8, max_tokens=total)) == texts(recall)
    assert texts(full.recall("payments-api listens runbook", limit=8, max_tokens=total - 1)) == texts(recall)[:-1]
    assert len(full.recall("payments-api", max_tokens=0)) == 0


def test_limits_and_floors(full: memspan.Scope) -> None:
    assert len(full.recall("payments-api", limit=1)) == 1
    assert len(full.recall("payments-api", limit=0)) == 0
    assert len(full.recall("listens", limit=2**62)) == 2
    best = full.recall("payments-api port 8443")[0].score
    assert all(hit.score >= best for hit in full.recall("payments-api port 8443", min_score=best))


def test_filters(user: memspan.Scope) -> None:
    user.remember("tea one", "preference", metadata={"project": "x", "n": 1, "list": [1]})
    user.remember("tea two", "constraint", metadata={"project": "y", "n": 2.0, "flag": True}, source="assistant")
    user.remember("tea three", metadata={"project": None})
    user.remember("tea four")

    def found(**options: Any) -> set[str]:
        return {text.removeprefix("tea ") for text in texts(user.recall("tea", limit=10, **options))}

    assert found(where={"project": "x"}) == {"one"}
    assert (
        found(where={"project": ["x", "y"]})
        == found(where={"project": {"x", "y"}})
        == found(where={"project": ("y", "x")})
        == {"one", "two"}
    )
    assert found(where={"project": None}) == {"three"}
    assert found(where={"project": "x", "n": 2}) == set()
    assert found(where={"n": 1.0}) == {"one"}
    assert found(where={"n": 2}) == {"two"}
    assert found(where={"flag": True}) == {"two"}
    assert found(where={"flag": 1}) == found(where={"n": True}) == set()
    assert found(where={"project": []}) == set()
    assert found(where={}) == {"one", "two", "three", "four"}
    assert found(kinds="preference") == {"one"}
    assert found(kinds=["preference", "constraint"]) == {"one", "two"}
    assert found(min_trust=2) == {"one", "three", "four"}


def test_other_scopes_are_searched_along(memspan_engine: memspan.Engine) -> None:
    user, acme, other = memspan_engine.user("u"), memspan_engine.shared("acme"), memspan_engine.user("v")
    user.remember("Prefers tea")
    acme.remember("The tea kitchen is on floor 3")
    other.remember("Secretly hates tea")
    recall = user.recall("tea", also=[acme])
    assert {(hit.memory.text, hit.scope) for hit in recall} == {("Prefers tea", user), ("The tea kitchen is on floor 3", acme)}
    assert recall[0].scope in (user, acme)
    assert texts(memspan_engine.user("new").recall("tea", also=(acme,))) == ["The tea kitchen is on floor 3"]
    for wrong in ([user], [acme, acme], ["acme"], [None]):
        with pytest.raises(memspan.InvalidInput):
            user.recall("tea", also=wrong)  # type: ignore[arg-type]
    with pytest.raises(memspan.InvalidInput, match="several scopes"):
        user.recall("tea", also=acme)  # type: ignore[arg-type]  # callers without types
    with temporary_engine() as elsewhere, pytest.raises(memspan.InvalidInput, match="another"):
        user.recall("tea", also=[elsewhere.user("u")])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"limit": -1}, "limit"),
        ({"limit": 2**70}, "limit"),
        ({"limit": 1.5}, "limit"),
        ({"limit": True}, "limit"),
        ({"kinds": "opinion"}, "one of episodic"),
        ({"kinds": ["semantic", "opinion"]}, "one of episodic"),
        ({"kinds": []}, "at least one kind"),
        ({"kinds": 5}, "kinds"),
        ({"where": "x"}, "where"),
        ({"where": {1: 2}}, "key of where"),
        ({"where": {"k": object()}}, "a value is"),
        ({"min_score": 1.5}, "min_score"),
        ({"min_score": float("nan")}, "min_score"),
        ({"min_score": "high"}, "min_score"),
        ({"min_trust": 4}, "min_trust"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"also": [5]}, "also"),
    ],
)
def test_options_that_cannot_be(full: memspan.Scope, options: dict[str, Any], says: str) -> None:
    with pytest.raises(memspan.InvalidInput, match=says):
        full.recall("listens", **options)
    assert len(full.recall("listens")) == 2


@pytest.mark.parametrize(
    "question",
    [
        "",
        "   ",
        "???",
        "\0",
        "\0\0 8443",
        "AND OR NOT *",
        '"',
        "a" * 100_000,
        "word " * 200_000,
        "\u202e8443",
        "%s {} \\",
        "\x1b[31m 8443",
        "🤷" * 500,
    ],
)
def test_any_question_has_an_answer(full: memspan.Scope, question: str) -> None:
    recall = full.recall(question)
    assert all(hit.memory.text in FACTS for hit in recall)
    assert not recall.degraded
    if "8443" in question:
        assert recall[0].memory.text == FACTS[0]


@pytest.mark.parametrize("question", [None, 5, b"8443", ["8443"], "\ud800"])
def test_a_question_is_a_text(full: memspan.Scope, question: Any) -> None:
    with pytest.raises(memspan.InvalidInput, match="query"):
        full.recall(question)


def test_a_long_word_is_found_by_itself(user: memspan.Scope) -> None:
    word = "x" * 100_000
    user.remember(word)
    assert len(user.recall(word)) == 1


def test_an_answer_about_another_thing_or_person_is_doubted(user: memspan.Scope) -> None:
    for text in (
        "station B: tagged 14 limpets",
        "station C: tagged 31 limpets",
        "the first workshop made 420",
        "the second workshop made 510",
    ):
        user.remember(text)
    for text in (
        "my sister Tess is allergic to penicillin",
        "Tess drives a blue Skoda",
        "took Abe to the zoo yesterday",
        "I met will at noon",
    ):
        user.remember(text)
    for right, other in (
        ("how many limpets at station B?", "how many limpets at station D?"),
        ("what did the first workshop make?", "what did the fourth workshop make?"),
        ("what is tess allergic to?", "what is abe allergic to?"),
    ):
        assert user.recall(other).confidence < 0.7 * user.recall(right).confidence, other


def test_confidence_says_how_much_of_the_question_was_met(full: memspan.Scope) -> None:
    sure = full.recall("payments-api listens on port 8443")
    unsure = full.recall("which tea does the colleague from the fourth floor drink at weddings")
    assert 0 <= unsure.confidence < 0.5 < sure.confidence <= 1
    assert full.recall("xyzzy").confidence == 0


def test_a_scope_that_was_never_written_to_finds_nothing(memspan_engine: memspan.Engine) -> None:
    stranger = memspan_engine.user("stranger")
    assert len(stranger.recall("tea")) == 0
    assert (list(stranger.memories()), list(stranger.slots)) == ([], [])
    assert list(memspan_engine.users()) == []


def test_a_scope_above_the_attached_limit_still_answers() -> None:
    with temporary_engine(durability="relaxed") as engine:
        user = engine.user("u")
        user.remember_many(f"fact number {number} about thing-{number % 977}" for number in range(20_500))
        assert texts(user.recall("fact 12345 thing-621", limit=1)) == ["fact number 12345 about thing-621"]
        assert len(list(user.memories("preference"))) == 0


def test_a_clock_of_another_zone_changes_nothing() -> None:
    moment = datetime(2025, 6, 1, 12, tzinfo=UTC)
    with temporary_engine(clock=FakeClock(moment)) as engine:
        user = engine.user("u")
        user.remember("tea", occurred_at=moment.replace(tzinfo=None))
        assert len(user.recall("tea", since=moment)) == 1


def test_few_answers_are_the_first_of_many(store: Path) -> None:
    subjects = ("Ana", "Boris", "Chen", "Dana", "Emil", "Fatima")
    facts = ("drinks tea in the garden", "sells old clocks", "walked to the harbour", "repairs radios", "dreams of a garden by the sea")
    with memspan.open(store) as engine:
        user = engine.user("u-1")
        user.remember_many([f"{who} {what} in {year}" for who in subjects for what in facts for year in (2021, 2023)])
        for question in ("who has a garden?", "Where did Chen walk?", "clocks and radios of Emil", "sea 2023"):
            many = [(hit.memory.id, hit.score) for hit in user.recall(question, limit=10)]
            assert len(many) == 10
            for limit in range(1, 10):
                assert [(hit.memory.id, hit.score) for hit in user.recall(question, limit=limit)] == many[:limit]


def test_memories_that_say_the_same_leave_no_answer_short(store: Path) -> None:
    """They were merged behind the last candidate: from 26 on they were all that there was to answer with."""
    question = "which port does payments-api use?"
    with memspan.open(store) as engine:
        for copies in (26, 200):
            user = engine.user(f"u-{copies}")
            user.remember("payments-api listens on port 7000", id="answer")
            for number in range(copies):
                user.remember(question, "episodic", id=f"q-{number}")
            found = user.recall(question)
            assert texts(found) == [question, "payments-api listens on port 7000"]
            assert len(found.explain()[0].duplicates) == copies - 1
