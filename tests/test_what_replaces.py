"""What a learnt claim takes the place of: a value of its kind, what it corrects, what it denies. A passing remark replaces nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import memspan


def talked(user: memspan.Scope, *texts: str) -> list[str]:
    """What is current after a session in which the user said that, learnt from message by message."""
    session = user.session("s-1", model="gpt-4o")
    for text in texts:
        session.add({"role": "user", "content": text})
        user.learn(session)
        session.add({"role": "assistant", "content": "Noted."})
    return [memory.text for memory in user.memories()]


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [
        ("My son is allergic to eggs.", "My son is 7.", "eggs"),
        ("My flight is TP1234.", "My flight is delayed.", "TP1234"),
        ("My flight is TP1234.", "My flight is at 14:20.", "TP1234"),
        ("Our staging cluster is eu-2.", "Our staging cluster is down.", "eu-2"),
        ("My wife is Joana.", "My wife is pregnant.", "Joana"),
        ("My dog is a labrador called Rex.", "My dog is sick.", "Rex"),
        ("My car is a Golf.", "My car is in the garage.", "Golf"),
        ("My name is Maria Silva.", "My name is spelled with an i.", "Silva"),
        ("I live in Porto.", "I live in fear of spiders.", "Porto"),
        ("I live in Porto.", "I don't like Porto any more.", "lives in Porto"),
        ("I work at Novartis.", "I work at night.", "Novartis"),
        ("I work at Siemens.", "I don't trust Siemens anymore.", "works for Siemens"),
    ],
)
def test_a_remark_about_a_thing_leaves_what_the_thing_is(user: memspan.Scope, first: str, second: str, word: str) -> None:
    current = talked(user, first, second)
    assert len(current) == 2
    assert any(word in text for text in current)


@pytest.mark.parametrize(
    ("first", "second", "current"),
    [
        ("My flight is TP1234.", "My flight is TP999.", ["The user's flight is TP999."]),
        ("My son is 7.", "My son is 8.", ["The user's son is 8."]),
        ("My favourite colour is green.", "My favorite color is blue now.", ["The user's favorite color is blue."]),
        ("I live in Porto.", "We moved to Lisbon last week.", ["The user lives in Lisbon."]),
        ("I live in Porto.", "Sorry, I meant Lisbon.", ["The user lives in Lisbon."]),
        ("My anniversary is on June 12.", "It's June 21, sorry.", ["The user's anniversary is on June 21."]),
        ("My flight is at 14:20.", "My flight was moved to 16:45.", ["The user's flight is 16:45."]),
        ("I take 20 mg of Lisinopril every morning.", "The doctor changed it to 10 mg.", ["I take 10 mg of Lisinopril every morning."]),
        ("I work as a nurse.", "I got a new job as a teacher.", ["The user works as a teacher."]),
        ("I'm vegetarian.", "I'm not vegetarian anymore.", ["I'm not vegetarian anymore."]),
        ("I'm allergic to nuts.", "I'm not allergic to nuts after all.", ["The user is not allergic to nuts."]),
        ("I'm allergic to nuts.", "I'm not allergic to nuts.", ["The user is not allergic to nuts."]),
        ("I live in Porto.", "I don't live in Porto.", ["I don't live in Porto."]),
        ("I work at Siemens.", "I no longer work at Siemens.", ["I no longer work at Siemens."]),
    ],
)
def test_another_value_of_its_kind_takes_the_place(user: memspan.Scope, first: str, second: str, current: list[str]) -> None:
    assert talked(user, first, second) == current


def test_a_denial_of_what_nobody_said_waits(user: memspan.Scope) -> None:
    assert talked(user, "I'm allergic to eggs.", "I'm not allergic to nuts.") == ["The user is allergic to eggs."]
    assert len(list(user.quarantined())) == 1


def test_what_a_model_says_ends_no_constraint(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "I'm allergic to nuts."})
    session.add({"role": "assistant", "content": "You are not allergic to nuts, Dr Ana Perez found on 3 March 2025."})
    session.add({"role": "user", "content": "Yes, that's right."})
    user.learn(session)
    assert "The user is allergic to nuts." in [memory.text for memory in user.memories()]
