"""A taste or a habit that is taken back: "I hate coffee now" ends "I love coffee", "I eat meat again" that the user does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.talks import learnt

if TYPE_CHECKING:
    import memspan


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I love coffee.", "I hate coffee now."),
        ("I hate jazz.", "I love jazz now."),
        ("I love coffee.", "I don't like coffee any more."),
        ("I enjoy running.", "I can't stand running."),
    ],
)
def test_a_taste_ends_its_contrary(user: memspan.Scope, older: str, newer: str) -> None:
    assert learnt(user, older, newer) == [newer]


def test_a_taste_is_taken_back_in_one_session(user: memspan.Scope) -> None:
    user.learn([{"role": "user", "content": text} for text in ("I love coffee.", "I have a dog.", "I hate coffee now.")])
    assert sorted(memory.text for memory in user.memories()) == ["I hate coffee now.", "I have a dog."]


@pytest.mark.parametrize("newer", ["I hate tea now.", "I hate instant coffee."])
def test_a_taste_of_another_thing_stands_beside(user: memspan.Scope, newer: str) -> None:
    assert learnt(user, "I love coffee.", newer) == ["I love coffee.", newer]


@pytest.mark.parametrize(
    ("older", "newer", "stored"),
    [
        ("I don't eat meat.", "I eat meat again.", "The user eats meat."),
        ("I don't play tennis any more.", "I play tennis again.", "I play tennis again."),
    ],
)
def test_what_is_done_again_ends_that_it_is_not(user: memspan.Scope, older: str, newer: str, stored: str) -> None:
    assert learnt(user, older, newer) == [stored]


@pytest.mark.parametrize(("older", "newer"), [("I don't drink alcohol.", "I drink wine again."), ("I'm vegan.", "I eat meat again.")])
def test_what_a_diet_leaves_out_puts_a_doubt_on_it(user: memspan.Scope, older: str, newer: str) -> None:
    user.learn([{"role": "user", "content": text} for text in (older, newer)])
    assert [bool(memory.disputes) for memory in user.memories()] == [True, True]


def test_the_doubt_is_put_on_what_was_told_before(user: memspan.Scope) -> None:
    learnt(user, "I don't drink alcohol.", "I drink wine again.")
    assert [bool(memory.disputes) for memory in user.memories()] == [True, True]
