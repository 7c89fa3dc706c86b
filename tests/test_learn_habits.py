"""A habit of now is stored, and takes the place of another one of its kind: "I drive a Tesla now" that of "I drive a Golf"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.talks import learnt

if TYPE_CHECKING:
    import memspan


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I drive a Golf.", "I drive a Tesla now."),
        ("We deploy on Fridays.", "We deploy on Tuesdays now."),
        ("I commute by car.", "I commute by train now."),
        ("I'm on the free plan now.", "I'm on the Pro plan now."),
        ("I work in the Ghent office.", "I work from home now."),
        ("I use VS Code for everything.", "I switched from VS Code to Zed."),
    ],
)
def test_the_newer_takes_the_place_of_the_older(user: memspan.Scope, older: str, newer: str) -> None:
    assert learnt(user, older, newer) == [newer]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I work in IT.", "I work from home now."),
        ("I play the piano on Sundays now.", "I play the cello now."),
        ("The standup is at 9:15.", "The standup got moved."),
    ],
)
def test_what_may_both_be_so_stands_beside(user: memspan.Scope, older: str, newer: str) -> None:
    assert learnt(user, older, newer) == [older, newer]


@pytest.mark.parametrize(
    "texts",
    [
        ["I no longer use Vim, I use Emacs instead.", "I no longer use Chrome, I use Firefox instead."],
        ["I no longer use Vim.", "I no longer use Emacs.", "I no longer use Nano."],
        ["We no longer use Jira.", "We no longer use Trello."],
    ],
)
def test_what_is_given_up_takes_the_place_of_nothing_else(user: memspan.Scope, texts: list[str]) -> None:
    assert learnt(user, *texts) == texts


@pytest.mark.parametrize("text", ["I work from home.", "I play the cello.", "We ship on Wednesdays.", "I go to the gym on Mondays."])
def test_a_habit_needs_no_now(user: memspan.Scope, text: str) -> None:
    assert learnt(user, text) == [text]
    assert [memory.kind for memory in user.memories()] == ["semantic"]


def test_a_message_that_told_a_habit_of_before_is_marked(user: memspan.Scope) -> None:
    for name, text in [("a", "We deploy on Fridays."), ("b", "We deploy on Tuesdays now.")]:
        session = user.session(name, model="gpt-4o")
        session.add({"role": "user", "content": text})
        user.learn(session)
    session = user.session("c", model="gpt-4o")
    session.add({"role": "user", "content": "When do we deploy?"})
    lines = session.assemble().text.splitlines()
    assert ["newer_on" in line for line in lines if "on Fridays" in line] == [True]


@pytest.mark.parametrize(
    "text",
    ["I'm leaving now.", "I have to go now.", "I understand now.", "It works now.", "I see it now.", "I'm busy now.", "I run a test now."],
)
def test_what_passes_is_not_stored(user: memspan.Scope, text: str) -> None:
    assert learnt(user, text) == []
