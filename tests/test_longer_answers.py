"""A shorter answer is the beginning of a longer one that has the same candidates: up to ten, and within each dozen above."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

import memspan

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = ("Ada", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ivo", "June", "Kim", "Lars")
THINGS = ("laptop", "bike", "piano", "garden", "car", "kitchen", "boat", "camera", "phone", "desk")
TOWNS = ("Lisbon", "Paris", "Oslo", "Rome", "Berlin", "Graz", "Vienna", "Ghent")
QUESTIONS = ("where does Finn live?", "where does Bob live?", "who sold the piano?", "who bought a bike in Oslo?", "what does Kim like?")
LIMITS = ((3, 10), (11, 12), (13, 24), (14, 15), (19, 24), (25, 36), (30, 36))


def _sentence(numbers: random.Random) -> str:
    name, other, thing, town = (numbers.choice(some) for some in (NAMES, NAMES, THINGS, TOWNS))
    return numbers.choice(
        [
            f"{name} lives in {town}",
            f"{name} bought a {thing} in {town}",
            f"{name} sold the {thing} to {other}",
            f"My friend {name} likes {town} and the {thing}",
            f"I met {name} in {town} about the {thing}",
        ]
    )


@pytest.fixture(scope="module")
def asks(tmp_path_factory: pytest.TempPathFactory) -> list[Callable[..., Any]]:
    user = memspan.open(tmp_path_factory.mktemp("longer") / "store", durability="relaxed").user("u-42")
    numbers = random.Random(3)  # noqa: S311  the same texts every time
    texts = [_sentence(numbers) for _ in range(300)]
    user.remember_many([{"text": text} for text in texts])
    session, papers = user.session("s-1", model="gpt-4o"), user.collection("papers")
    for number in range(0, len(texts), 10):
        session.add_many([{"role": "user", "content": f"{text}."} for text in texts[number : number + 10]])
        papers.add(f"paper-{number}", "\n\n".join(f"{text}, page {number}." for text in texts[number : number + 10]), chunk_tokens=32)
    return [user.recall, user.search_transcripts, papers.search]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_shorter_answer_begins_as_a_longer_one(asks: list[Callable[..., Any]], question: str) -> None:
    for ask in asks:
        for fewer, more in LIMITS:
            shorter, longer = list(ask(question, limit=fewer)), list(ask(question, limit=more))
            assert [hit.text for hit in shorter] == [hit.text for hit in longer[: len(shorter)]], (ask, fewer)
