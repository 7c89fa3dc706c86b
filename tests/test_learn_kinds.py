"""A value that takes the place of another one keeps its kind, so that prompts go on to show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.talks import learnt, pinned

if TYPE_CHECKING:
    import memspan


@pytest.mark.parametrize(
    ("told", "changed", "text", "kind"),
    [
        ("My name is Ana.", "Please change my name to Anna.", "The user's name is Anna.", "profile"),
        ("My email is ana@x.org.", "My email changed to ana@y.org.", "The user's email is ana@y.org.", "profile"),
        ("My phone number is 555-0101.", "Update my phone number to 555-0102.", "The user's phone number is 555-0102.", "profile"),
        ("My address is 5 High Street.", "Change my address to 7 Low Street.", "The user's address is 7 Low Street.", "profile"),
        ("My timezone is CET.", "Set my timezone to PST.", "The user's timezone is PST.", "profile"),
        ("My name is Ana.", "I'd like my name to be Anna.", "The user's name is Anna.", "profile"),
        ("I prefer Vim as my editor.", "Change my editor to Emacs.", "The user's editor is Emacs.", "preference"),
        ("I prefer Vim as my editor.", "My editor is Emacs.", "The user's editor is Emacs.", "preference"),
        ("I prefer dark mode.", "Change the theme to light.", "The theme is light.", "preference"),
        ("Always use imperial units.", "Set the units to metric.", "The units are metric.", "constraint"),
        (
            "Please always answer in Portuguese.",
            "Change the answer language to English.",
            "Change the answer language to English.",
            "constraint",
        ),
        ("Please always answer in Portuguese.", "Set the reply language to English.", "Set the reply language to English.", "constraint"),
    ],
)
def test_a_changed_value_is_of_the_kind_of_the_one_before(user: memspan.Scope, told: str, changed: str, text: str, kind: str) -> None:
    assert learnt(user, told, changed) == [text]
    assert [memory.kind for memory in user.memories()] == [kind]
    assert text in user.profile().text


def test_every_prompt_goes_on_to_show_a_changed_value(user: memspan.Scope) -> None:
    shown = pinned(user, "Write a closing line for my letter.", "My name is Ana.", "Please change my name to Anna.")
    assert "Anna" in shown
    assert "Ana." not in shown


def test_a_value_of_a_thing_at_hand_disputes_that_of_the_profile(user: memspan.Scope) -> None:
    assert set(learnt(user, "My city is Lisbon.", "Change the city to Paris.")) == {"The user's city is Lisbon.", "The city is Paris."}
    own, other = sorted(user.memories(), key=lambda memory: memory.kind)
    assert (own.text, own.kind, own.disputes, other.disputes) == ("The user's city is Lisbon.", "profile", [other.id], [own.id])


def test_what_no_order_says_has_the_kind_of_none(user: memspan.Scope) -> None:
    user.remember("Never order from anybody but Acme", "constraint", slot="supplier")
    user.learn([{"role": "user", "content": "Our supplier is Initech."}])
    assert {memory.text: memory.kind for memory in user.memories()}["Our supplier is Initech."] == "semantic"


@pytest.mark.parametrize("told", ["Change the answer to English.", "Change the response time to 200 ms.", "My job should be easier."])
def test_what_changes_neither_the_user_nor_all_answers_stands_in_no_prompt(user: memspan.Scope, told: str) -> None:
    learnt(user, told)
    assert user.profile().text == ""
