"""Newest first: what replaces what where no slot says it, and what stands beside it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.testing import FakeClock

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def engine(store: Path, clock: FakeClock) -> Any:
    with memspan.open(store, clock=clock) as opened:
        yield opened


def told(user: memspan.Scope, clock: FakeClock, *texts: str, kind: str = "semantic") -> None:
    for text in texts:
        user.remember(text, kind)
        clock.advance(timedelta(days=9))


def marked(user: memspan.Scope, question: str) -> bool:
    """Whether a prompt marks any memory as replaced."""
    session = user.session("asked", model="gpt-4o")
    session.add({"role": "user", "content": question})
    return "newer_on" in str(session.assemble().messages)


@pytest.mark.parametrize(
    ("fact", "other", "question"),
    [
        ("My blood group is A.", "My father's blood group is O.", "What is my blood group?"),
        ("I weigh 82 kilos.", "My uncle weighs 95 kilos.", "How much do I weigh?"),
        ("The user's ring size is 54", "The user's daughter has ring size 47", "what is my ring size?"),
        ("My front door code is 2580.", "My garage door code is 8642.", "What is my front door code?"),
        ("My upper denture was fitted in 2018.", "My lower bridge was fitted in 2021.", "When was my upper denture fitted?"),
        ("My licence expires in May.", "My visa expires in August.", "When does my licence expire?"),
        ("Anna's violin lesson is on Tuesday.", "Anna's piano lesson is on Friday.", "When is Anna's violin lesson?"),
        ("The upload limit is 20 MB.", "The download limit is 200 MB.", "What is the upload limit?"),
    ],
)
def test_a_newer_fact_of_another_thing_replaces_nothing(
    engine: memspan.Engine, clock: FakeClock, fact: str, other: str, question: str
) -> None:
    user = engine.user("u")
    told(user, clock, fact, other)
    assert user.recall(question)[0].text == fact
    assert not marked(user, question)


@pytest.mark.parametrize(
    ("facts", "question"),
    [
        (("My front door code is 2580.", "My front door code changed to 1379."), "What is my front door code?"),
        (("My wife's phone is a Pixel.", "My wife's new phone is a Moto."), "Which phone does my wife have?"),
        (("mail-relay2 accepts 200 connections.", "mail-relay2 accepts 350 connections."), "How many connections does mail-relay2 accept?"),
        (("The upload limit is 20 MB.", "The upload limit was raised to 50 MB."), "What is the upload limit?"),
        (("Retro is at 15:00.", "Retro is at 16:30."), "When is retro?"),
        (("My daughter Lea takes violin lessons on Mondays", "Lea's violin lesson moved to Fridays"), "when is Lea's violin lesson?"),
    ],
)
def test_a_newer_value_of_the_same_thing_comes_first(
    engine: memspan.Engine, clock: FakeClock, facts: tuple[str, str], question: str
) -> None:
    user = engine.user("u")
    told(user, clock, *facts)
    assert [hit.text for hit in user.recall(question)] == [*reversed(facts)]
    assert marked(user, question)


def test_what_the_question_does_not_speak_for_stands_behind_what_it_replaces(engine: memspan.Engine, clock: FakeClock) -> None:
    user = engine.user("u")
    told(user, clock, "I drive a blue Skoda Octavia, plate 1-ABC-234", "I switched to a Volvo EX30, plate 2-XYZ-987")
    told(user, clock, "My gym is Basic-Fit", "My bank is KBC", "I lent my drill to Tom", "I hate coriander", "My boss is Pieter")
    assert [hit.text[:12] for hit in user.recall("what car do I drive?")] == ["I drive a bl", "I switched t"]
    assert marked(user, "what car do I drive?")


def test_of_equal_scores_what_holds_is_newest_first_and_events_are_as_told(engine: memspan.Engine, clock: FakeClock) -> None:
    question, texts = "кто мой стоматолог?", ("Мой стоматолог — доктор Иванов", "Мой стоматолог — доктор Петров")
    told(engine.user("facts"), clock, *texts)
    told(engine.user("events"), clock, *texts, kind="episodic")
    facts = [hit.text for hit in engine.user("facts").recall(question)]
    assert facts == [*reversed(texts)]
    events = [hit.text for hit in engine.user("events").recall(question)]
    assert events in ([*texts], [*reversed(texts)])


def test_fewer_answers_are_the_first_of_more_where_scores_are_equal(engine: memspan.Engine, clock: FakeClock) -> None:
    user = engine.user("u")
    told(user, clock, *(f"payments-api listens on port {port}" for port in range(8441, 8449)))
    many = user.recall("which port does payments-api listen on?", limit=10)
    few = user.recall("which port does payments-api listen on?", limit=3)
    assert [hit.memory.id for hit in few] == [hit.memory.id for hit in many][:3]
    assert many[0].text.endswith("8448")


@pytest.mark.parametrize("template", ["I owe {} {} euros", "I lent {} the {}", "Call {} for me at {} pm"])
def test_a_name_is_one_in_small_letters_too(engine: memspan.Engine, clock: FakeClock, template: str) -> None:
    user = engine.user("u")
    told(user, clock, template.format("Omar", 20), template.format("Priya", 35))
    question = {"I owe {} {} euros": "how much do i owe omar?", "I lent {} the {}": "what did i lend omar?"}.get(
        template, "when do i call omar?"
    )
    assert "Omar" in user.recall(question)[0].text
    assert not marked(user, question)


@pytest.mark.parametrize(
    ("now", "then", "question"),
    [
        ("I live in Porto", "I used to live in Madrid", "Where do I live?"),
        ("I take 10 mg of lisinopril", "I used to take 20 mg of lisinopril", "How much lisinopril do I take?"),
        ("My boss is Priya", "My former boss was Omar", "Who is my boss?"),
        ("I work at Acme", "I worked at Initech before Acme", "Where do I work?"),
        ("Our rent is 900 euros", "Until 2023 our rent was 700 euros", "How much is our rent?"),
    ],
)
def test_what_was_is_nothing_newer_though_it_is_told_later(
    engine: memspan.Engine, clock: FakeClock, now: str, then: str, question: str
) -> None:
    user = engine.user("u")
    told(user, clock, now, then)
    assert not marked(user, question)
    assert not any(one.raised for one in user.recall(question).explain())
    user = engine.user("told in order")
    told(user, clock, then, now)
    assert user.recall(question)[0].text == now


@pytest.mark.parametrize(
    ("fact", "other", "question"),
    [
        (
            "The phone extension of Zo\u00eb is 4411",
            "The phone extension of Chlo\u00e9 is 4412",
            "What is the phone extension of Zo\u00eb?",
        ),
        ("The phone extension of Zo\u00eb is 4411", "The phone extension of Bob is 4412", "What is the phone extension of Zo\u00eb?"),
        ("The office in K\u00f6ln has 40 desks", "The office in Bonn has 20 desks", "How many desks does the office in K\u00f6ln have?"),
        ("Die Durchwahl von J\u00fcrgen ist 4411", "Die Durchwahl von G\u00fcnter ist 4412", "Wie ist die Durchwahl von J\u00fcrgen?"),
    ],
)
def test_a_name_with_an_accent_is_nobody_elses(engine: memspan.Engine, clock: FakeClock, fact: str, other: str, question: str) -> None:
    user = engine.user("u")
    told(user, clock, fact, other)
    assert user.recall(question)[0].text == fact
    assert not marked(user, question)


@pytest.mark.parametrize(
    ("first", "then", "question"),
    [
        ("I live in Graz", "I travel to Vienna every month", "which city do I live in?"),
        ("I earn 4,200 a month", "I spend 300 a month on books", "how much do I earn?"),
        ("I drink oat milk", "I like tea", "which milk do I drink?"),
        ("I wear size 43 shoes", "I bought hiking socks", "what shoe size do I wear?"),
        ("My boss is Petra Lang", "Kofi laughed at my boss", "who is my boss?"),
        ("I eat oatmeal for breakfast", "I don't eat gluten any more", "what do I eat for breakfast?"),
        ("I swim at Kerkpolder", "I no longer surf", "where do I swim?"),
    ],
)
def test_what_is_near_in_meaning_marks_nothing(engine: memspan.Engine, clock: FakeClock, first: str, then: str, question: str) -> None:
    user = engine.user("u-42")
    told(user, clock, first, then)
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": question})
    shown = str(session.assemble().to_openai()["messages"])
    assert first in shown
    assert "newer_on" not in shown


def test_nothing_is_marked_in_another_language(engine: memspan.Engine, clock: FakeClock) -> None:
    user = engine.user("u")
    told(
        user,
        clock,
        "Mein Hund frisst nur Huhn.",
        "Meine Katze frisst nur Fisch.",
        "Der Kredit endet im Mai.",
        "Der Mietvertrag endet im Juni.",
        "Das Abo endet im Juli.",
        "Meine Tochter ist in der dritten Klasse.",
        "Mein Sohn ist in der ersten Klasse.",
    )
    for question in ("Was frisst mein Hund?", "Wann endet der Kredit?", "In welcher Klasse ist meine Tochter?"):
        assert not marked(user, question), question
