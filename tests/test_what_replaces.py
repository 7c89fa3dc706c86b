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
        ("My boss is Tom.", "My new boss is strict.", "Tom"),
        ("My wife is a nurse.", "My wife's name is Clara.", "nurse"),
        ("My office is in Leeds.", "My New York office is on 5th Avenue.", "Leeds"),
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
        ("My email is a@example.org", "My new email is c@example.org", ["The user's email is c@example.org."]),
        ("My current boss is Tom.", "My new boss is Eve.", ["The user's boss is Eve."]),
        ("My favorite food is pizza.", "My new favorite food is sushi.", ["The user's favorite food is sushi."]),
        ("Our database is MySQL.", "Our new database is Postgres.", ["Our database is Postgres."]),
        ("The deadline is May 3.", "The new deadline is May 10.", ["The new deadline is May 10 (2025-05-10)."]),
        (
            "The API base URL is https://a.example",
            "The new API base URL is https://b.example",
            ["The new API base URL is https://b.example."],
        ),
        ("My wife's name is Clara.", "My wife is called Clare.", ["The user's wife is called Clare."]),
        ("I work at Siemens.", "I left Siemens and joined Bosch.", ["The user works for Bosch."]),
        ("I work at Siemens, that's in Munich.", "I quit Siemens to work for Bosch.", ["The user works for Bosch."]),
        ("My mom lives in Kyiv.", "My mom moved to Warsaw.", ["The user's mom lives in Warsaw."]),
        ("My sister works at IBM.", "My sister works at Google now.", ["The user's sister works for Google."]),
        ("My rent is 900 euros.", "My rent went up to 950 euros.", ["The user's rent is 950 euros."]),
        ("Always answer in French.", "Please switch to English from now on.", ["Please switch to English from now on."]),
        ("Always answer in French.", "Could you answer in English from now on?", ["Answer in English from now on."]),
        ("Always answer in French.", "Switch back to English please.", ["Switch back to English please."]),
        ("Always answer in French.", "Let's speak English from now on.", ["Let's speak English from now on."]),
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


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My name is Ana.", "In my novel, my name is Zed."),
        ("My name is Ana.", "For the test account, my name is Tester."),
        ("My name is Ana.", "Call me an idiot."),
        ("I work for Acme Corp.", "I work for a living."),
        ("My budget is $500.", "My budget is tight."),
        ("My budget is $500.", "My budget is not important."),
        ("My timezone is CET.", "My timezone is irrelevant."),
        ("My favorite color is blue.", "My favorite color is a secret."),
    ],
)
def test_tales_trials_idioms_and_states_take_no_slot(user: memspan.Scope, first: str, second: str) -> None:
    told = talked(user, first)
    talked(user, second)
    assert [memory.text for memory in user.memories() if memory.kind == "profile" or memory.slot is not None] == told


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Always answer in French.", "From now on answer in English."),
        ("Always answer in French.", "I want all answers in English from now on."),
        ("Answer in French, please.", "Please answer in English instead."),
        ("Always use metric units.", "Always use imperial units."),
        ("Never use emojis.", "Always use emojis."),
        ("Always answer in French.", "Stop answering in French."),
        ("Always answer in German.", "Please stop replying in German."),
        ("Never use emojis.", "You can use emojis again from now on."),
        ("Never deploy on Fridays.", "You can deploy on Fridays again."),
        ("Never deploy on Fridays.", "You can deploy on Fridays now."),
        ("Always add tests.", "You don't have to add tests any more."),
        ("Always cite your sources.", "You can stop citing your sources."),
    ],
)
def test_a_newer_order_takes_the_place_of_the_older(user: memspan.Scope, first: str, second: str) -> None:
    assert talked(user, first, second) == [second]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Always answer in French.", "Answer in English, please."),
        ("Always answer in French.", "Answer in English just this once."),
        ("Always answer in French.", "Stop answering in German."),
        ("Always answer in French.", "Always use metric units."),
        ("Never use emojis.", "You can use my laptop again."),
        ("Never use emojis.", "Stop using emojis."),
        ("Never deploy on Fridays.", "You can deploy on Mondays again."),
    ],
)
def test_an_order_stands_beside_what_does_not_end_it(user: memspan.Scope, first: str, second: str) -> None:
    assert first in talked(user, first, second)
    assert [memory.kind for memory in user.memories() if memory.text == first] == ["constraint"]


def test_a_permission_of_what_nobody_forbade_is_not_stored(user: memspan.Scope) -> None:
    assert talked(user, "You can use emojis again.") == []
    assert list(user.quarantined()) == []


def test_an_allergy_that_nobody_knew_of_is_not_over(user: memspan.Scope) -> None:
    assert talked(user, "I'm not allergic to peanuts anymore.") == []
    assert [memory.text for memory in user.quarantined()] == ["The user is not allergic to peanuts."]


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
