"""What was said later of the same as a prompt recalls: a word that few messages have leads from the one to the other."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

import memspan
from memspan import Recalls
from memspan.testing import FakeClock

if TYPE_CHECKING:
    from pathlib import Path

TOWNS = ("Oslo", "Porto", "Lyon", "Ghent", "Turin", "Graz", "Vigo", "Bergen", "Lugano", "Aarhus")
TALK = (
    "I need a table for {} people in {} at seven in the evening, near the station please",
    "Find me a hotel in {1} for {0} nights with breakfast and parking included",
    "I am looking for a film about {0} friends who walk from {1} to the sea",
)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(datetime(2026, 3, 2, 8, tzinfo=UTC))


@pytest.fixture
def user(tmp_path: Path, clock: FakeClock) -> memspan.Scope:
    return memspan.open(f"{tmp_path}/store", clock=clock, durability="relaxed").user("u-42")


def _say(user: memspan.Scope, clock: FakeClock, text: str, reply: str = "Noted.", *, learns: bool = False) -> memspan.Session:
    session = user.session(f"at-{clock().isoformat()}", model="gpt-4o")
    session.add({"role": "user", "content": text})
    session.add({"role": "assistant", "content": reply})
    if learns:
        user.learn(session)
    clock.advance(days=1)
    return session


def _talk_of_others(user: memspan.Scope, clock: FakeClock) -> None:
    """More than a prompt has room for, so that it holds what is recalled and no more."""
    for number in range(60):
        _say(user, clock, TALK[number % 3].format(2 + number % 7, TOWNS[number % 10]))


def _asked(user: memspan.Scope, question: str, recalls: Recalls | None = None) -> str:
    session = user.session("asking", model="gpt-4o", recalls=recalls, budget=memspan.Budget(max_input_tokens=700))
    session.add({"role": "user", "content": question})
    prompt = json.dumps(session.assemble().to_openai()["messages"], ensure_ascii=False)
    session.delete()
    return prompt


@pytest.mark.parametrize(
    ("first", "later", "question"),
    [
        ("my agent is Tobias Frell, he takes 15 percent", "fired tobias. well, we parted ways", "do I have an agent?"),
        (
            "i draw everything in procreate on an old tablet",
            "ive dumped procreate, its Clip Studio for all",
            "what app do i draw in?",
        ),
        ("our cat is called Biscuit and she is 14", "biscuit went in her sleep, we are gutted", "do we still have a cat?"),
        ("The release is called tariff-cache and is due in May", "tariff-cache slipped, the end of June it is", "when is the release due?"),
    ],
)
def test_what_was_said_later_of_the_same_stands_beside_it(
    user: memspan.Scope, clock: FakeClock, first: str, later: str, question: str
) -> None:
    _say(user, clock, first)
    _talk_of_others(user, clock)
    _say(user, clock, later)
    prompt = _asked(user, question)
    assert first in prompt
    assert later in prompt


def test_what_was_said_before_is_not_later(user: memspan.Scope, clock: FakeClock) -> None:
    _say(user, clock, "the keeper tobias saved two penalties against the blues on sunday, what a match at the fair ground")
    _talk_of_others(user, clock)
    _say(user, clock, "my agent is Tobias Frell, he takes 15 percent")
    assert "at the fair" not in _asked(user, "do I have an agent?")


def test_questions_replies_and_thanks_are_not_what_was_said_later(user: memspan.Scope, clock: FakeClock) -> None:
    _say(user, clock, "my agent is Tobias Frell, he takes 15 percent")
    _talk_of_others(user, clock)
    _say(user, clock, "is tobias any good at contracts?", reply="Tobias is known for his contracts in film.")
    prompt = _asked(user, "do I have an agent?")
    assert "Tobias Frell" in prompt
    assert "contracts" not in prompt


def test_a_word_that_many_messages_have_leads_nowhere(user: memspan.Scope, clock: FakeClock) -> None:
    _say(user, clock, "my agent is Tobias Frell, he takes 15 percent")
    for number in range(20):
        _say(user, clock, f"Note {number} for the minutes of Tobias, page {number} of {number + 3}")
    _talk_of_others(user, clock)
    assert "for the minutes" not in _asked(user, "do I have an agent?")


@pytest.mark.parametrize(
    "recalls", [Recalls(other_sessions=False), Recalls(messages=0), Recalls(min_confidence=0.9), Recalls(roles=("tool",))]
)
def test_what_a_session_does_not_recall_is_not_followed_to(user: memspan.Scope, clock: FakeClock, recalls: Recalls) -> None:
    _say(user, clock, "my agent is Tobias Frell, he takes 15 percent", learns=True)
    _talk_of_others(user, clock)
    _say(user, clock, "fired tobias. well, we parted ways")
    assert "fired tobias" in _asked(user, "do I have an agent?")
    assert "fired tobias" not in _asked(user, "do I have an agent?", recalls)


def test_the_copy_of_a_message_in_the_window_is_not_shown_again(user: memspan.Scope, clock: FakeClock) -> None:
    _say(user, clock, "my agent is Tobias Frell, he takes 15 percent")
    _talk_of_others(user, clock)
    later = _say(user, clock, "fired tobias. well, we parted ways")
    for session in (later.fork("copy"), later):
        session.add({"role": "user", "content": "do I have an agent?"})
        assert json.dumps(session.assemble().to_openai()["messages"]).count("fired tobias") == 1


def test_a_memory_with_its_day_stands_in_place_of_the_message_that_taught_it(user: memspan.Scope, clock: FakeClock) -> None:
    _say(user, clock, "my agent is Tobias Frell, he takes 15 percent", learns=True)
    _talk_of_others(user, clock)
    _say(user, clock, "Tobias Frell quit as my agent on Friday, so I have none", learns=True)
    assert "on Friday (2026-05-01)" in _asked(user, "do I have an agent?")


def test_of_a_long_message_the_part_with_the_word_is_shown(user: memspan.Scope, clock: FakeClock) -> None:
    _say(user, clock, "my agent is Tobias Frell, he takes 15 percent")
    _talk_of_others(user, clock)
    _say(user, clock, "The minutes of the day. " * 40 + "\nWe let Tobias go.\n" + "Nothing else was said. " * 40)
    prompt = _asked(user, "do I have an agent?")
    assert "We let Tobias go." in prompt
    assert prompt.count("The minutes of the day.") + prompt.count("Nothing else was said.") < 15


def test_what_was_forgotten_follows_nothing(user: memspan.Scope, clock: FakeClock) -> None:
    _say(user, clock, "my agent is Tobias Frell, he takes 15 percent")
    _talk_of_others(user, clock)
    session = user.session("to-be-deleted", model="gpt-4o")
    session.add({"role": "user", "content": "fired tobias. well, we parted ways"})
    assert "fired tobias" in _asked(user, "do I have an agent?")
    session.delete()
    assert "fired tobias" not in _asked(user, "do I have an agent?")


def test_a_change_of_a_change_is_shown(user: memspan.Scope, clock: FakeClock) -> None:
    _say(user, clock, "we bank with Halden Mutual, they have a branch on the corner")
    _talk_of_others(user, clock)
    _say(user, clock, "closed everything at halden, the money sits at Fennimore now")
    _say(user, clock, "fennimore wanted 12 a month so off to Pebble")
    assert "off to Pebble" in _asked(user, "which bank am I with?")


@pytest.mark.parametrize("most", [2, 3, 5])
def test_what_is_followed_to_takes_half_of_the_messages_that_a_session_wants(user: memspan.Scope, clock: FakeClock, most: int) -> None:
    _say(user, clock, "my agent is Tobias Frell, he takes 15 percent")
    _talk_of_others(user, clock)
    _say(user, clock, "fired tobias")
    session = user.session("asking", model="gpt-4o", recalls=Recalls(messages=most), budget=memspan.Budget(max_input_tokens=700))
    session.add({"role": "user", "content": "do I have an agent?"})
    prompt = session.assemble()
    text = json.dumps(prompt.to_openai()["messages"])
    assert "fired tobias" in text
    assert text.count("<item by=") <= most


def test_the_session_itself_is_followed_where_others_are_not_read(user: memspan.Scope, clock: FakeClock) -> None:
    session = user.session("long", model="gpt-4o", recalls=Recalls(other_sessions=False), budget=memspan.Budget(max_input_tokens=700))
    _say(user, clock, "tobias is on the radio")

    def say(text: str) -> None:
        session.add({"role": "user", "content": text})
        session.add({"role": "assistant", "content": "Noted."})
        clock.advance(days=1)

    say("my agent is Tobias Frell, he takes 15 percent")
    say("fired tobias")
    for number in range(60):
        say(TALK[number % 3].format(2 + number % 7, TOWNS[number % 10]))
    session.add({"role": "user", "content": "do I have an agent?"})
    prompt = json.dumps(session.assemble().to_openai()["messages"])
    assert "fired tobias" in prompt
    assert "on the radio" not in prompt


def _is_followed(user: memspan.Scope, message: str, session: memspan.Session | None = None) -> bool:
    """Whether a message has the score of the best. One that is found by itself has less."""
    asking = session or user.session("asking", model="gpt-4o", budget=memspan.Budget(max_input_tokens=700))
    asking.add({"role": "user", "content": "do I have an agent?"})
    scores = {row.id: row.score or 0.0 for row in asking.assemble().explain() if row.section == "recalled"}
    return scores.get(message, 0.0) == max(scores.values())


@pytest.mark.parametrize(
    "request_not_to_keep_it",
    [
        "off the record: tobias drinks",
        "Off The Record: tobias drinks",
        "dont save this: tobias drinks",
        "DON'T STORE THIS: tobias drinks",
        "Do NOT save this: tobias drinks",
        "don\u2019t record this: tobias drinks",
        "off the record: tobias was a crook",
        "off the record, I walked home through the rain. " * 9 + "By the way, tobias drinks. " + "It rained. " * 20,
    ],
)
def test_what_is_off_the_record_is_not_followed_to(user: memspan.Scope, clock: FakeClock, request_not_to_keep_it: str) -> None:
    _say(user, clock, "my agent is Tobias Frell, he takes 15 percent")
    _talk_of_others(user, clock)
    assert not _is_followed(user, f"{_say(user, clock, request_not_to_keep_it).id}#0")


def test_messages_that_are_left_out_take_no_places(user: memspan.Scope, clock: FakeClock) -> None:
    """Results of tools name Tobias in fewer words than the user does, and nothing of a tool is followed to."""
    _say(user, clock, "my agent is Tobias Frell, he takes 15 percent")
    _talk_of_others(user, clock)
    for number in range(4):
        session = user.session(f"tool-{number}", model="gpt-4o")
        session.add({"role": "user", "content": "look it up"})
        call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
        session.add({"role": "assistant", "content": None, "tool_calls": [call]})
        session.add({"role": "tool", "tool_call_id": "c1", "content": f"tobias {number}"})
        session.add({"role": "assistant", "content": "Done."})
        clock.advance(days=1)
    said = _say(user, clock, "in the end I fired tobias because of the fees")
    assert _is_followed(user, f"{said.id}#0")


def test_other_sessions_take_no_places_of_ones_own(user: memspan.Scope, clock: FakeClock) -> None:
    own = user.session("own", model="gpt-4o", recalls=Recalls(other_sessions=False), budget=memspan.Budget(max_input_tokens=700))
    own.add_many([{"role": "user", "content": "my agent is Tobias Frell, he takes 15 percent"}, {"role": "assistant", "content": "Noted."}])
    for number in range(4):
        _say(user, clock, f"tobias {number}")
    own.add_many([{"role": "user", "content": "in the end I fired tobias because of the fees"}, {"role": "assistant", "content": "Oh."}])
    for number in range(60):
        text = TALK[number % 3].format(2 + number % 7, TOWNS[number % 10])
        own.add_many([{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}])
    assert _is_followed(user, "own#2", own)


def test_the_model_leads_nowhere_under_a_name(user: memspan.Scope, clock: FakeClock) -> None:
    session = user.session("named", model="gpt-4o")
    session.add({"role": "user", "content": "who could be my agent?"})
    session.add({"role": "assistant", "name": "researcher", "content": "Your agent could be Tobias Frell, who has an office here"})
    clock.advance(days=1)
    _talk_of_others(user, clock)
    said = _say(user, clock, "lent tobias the lawnmower")
    assert not _is_followed(user, f"{said.id}#0")
