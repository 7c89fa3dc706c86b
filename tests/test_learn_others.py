"""Words of others inside a user's message tell nothing of the user, and replace nothing that the user told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import memspan

OWN = ("I live in Delft", "I work at Brightloom as a data engineer", "My name is Ana")
LETTERS = (
    "Hello Ana. I live in Lyon now. I prefer email. Bye.",
    "Good day, my name is Paul. I work for Thales. Thanks.",
    "Sorry for the wait. I'm allergic to latex. My birthday is on 3 May.",
)


@pytest.fixture
def known(user: memspan.Scope) -> list[str]:
    for text in OWN:
        user.learn([{"role": "user", "content": text}])
    return [memory.text for memory in user.memories()]


def profile(user: memspan.Scope) -> list[str]:
    return [memory.text for memory in user.memories() if memory.kind != "episodic"]


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("lead", ["My sister wrote me: ", "check this message please: ", "Tom said: ", "the plumber texted ", "Karl: "])
def test_a_quotation_of_several_sentences_is_nobodys_profile(user: memspan.Scope, known: list[str], lead: str, letter: str) -> None:
    user.learn([{"role": "user", "content": f'{lead}"{letter}"'}])
    assert profile(user) == known


@pytest.mark.parametrize("letter", LETTERS[:2])
@pytest.mark.parametrize(
    "lead", ["Reply to this", "From my landlord", "Forwarded message", "My boss writes", "Message from Karl", "Is this polite enough"]
)
def test_a_letter_behind_a_colon_is_nobodys_profile(user: memspan.Scope, known: list[str], lead: str, letter: str) -> None:
    user.learn([{"role": "user", "content": f"{lead}: {letter}"}])
    assert profile(user) == known


@pytest.mark.parametrize(
    "told",
    [
        'Tom said: "No worries. I moved to Rome." By the way, I live in Ghent now.',
        "From my landlord: Hi Ana, I live in Rome.\n\nI live in Ghent now.",
        'My desk is 60" wide. I live in Ghent now. My screen has 27".',
    ],
)
def test_the_users_own_words_beside_them_are_learnt(user: memspan.Scope, known: list[str], told: str) -> None:
    user.learn([{"role": "user", "content": told}])
    assert known[0] == "The user lives in Delft."
    homes = [memory.text for memory in user.memories() if memory.slot == "home"]
    assert homes == ["The user lives in Ghent."]


@pytest.mark.parametrize("product", ["Vodafone", "Firefox", "Rabobank", "Tesla", "Spotify", "Android"])
def test_nobody_lives_in_a_product(user: memspan.Scope, known: list[str], product: str) -> None:
    user.learn([{"role": "user", "content": f"I moved to {product}"}])
    assert known[0] in profile(user)
