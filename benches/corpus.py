"""The memories, questions and conversations that every bench uses: the same in every run, on every machine.

Memories are lists of invented words whose frequencies fall as 1 / (rank + 10), as in natural text, with one identifier each.
They say nothing; what a bench needs of them is the shape: how many terms, how common, how far apart. Quality is not measured here.
"""

from __future__ import annotations

import itertools
import math
import random
import zlib
from bisect import bisect
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

USERS = 100
DIMENSIONS = 384
VOCABULARY = 20_000
QUERY_WORDS = 7
SYSTEM = (
    "You are the assistant of the platform team. Answer in at most three sentences, name the service, the port and the owner "
    "where you know them, and say so when you do not. Never invent an identifier: quote it as it stands in the conversation."
)
_SLOTS_PER_WORD = 4


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory of one user."""

    user: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A query that one memory answers: seven of its words, in another order, without its identifier."""

    user: str
    query: str
    answer: str


def memory(number: int, words: int | None = None) -> Memory:
    """Memory `number`: 14 to 33 words and an identifier, or as many words as asked for. The same number, the same text."""
    draw = random.Random(number)
    count = words if words is not None else draw.randrange(14, 34)
    text = _words(draw, count)
    text.insert(min(3, count), f"ID-{number:06d}")
    return Memory(f"user{number % USERS:02d}", " ".join(text))


def memories(count: int, first: int = 0) -> Iterator[Memory]:
    """Memories `first` to `first + count - 1`."""
    return (memory(number) for number in range(first, first + count))


def question(number: int, words: int | None = None) -> Question:
    """A question that memory `number` answers."""
    asked = memory(number, words)
    said = [word for word in asked.text.split() if not word.startswith("ID-")]
    query = random.Random(f"question {number}").sample(said, min(QUERY_WORDS, len(said)))
    return Question(asked.user, " ".join(query), asked.text)


def questions(count: int, among: int) -> list[Question]:
    """`count` questions about memories spread over the first `among`, no two about the same one while there are enough."""
    step = 7919  # a prime that no round corpus size divides by: the users come in turn
    return [question(number * step % among) for number in range(count)]


def conversation(length: int, first: int = 0, words: int | None = None) -> list[dict[str, str]]:
    """Messages of a user and an assistant by turns, the user's first; they say what memories `first` and those behind it say."""
    roles = ("user", "assistant")
    return [{"role": roles[number % 2], "content": memory(first + number, words).text} for number in range(length)]


def prose(number: int, size_bytes: int) -> str:
    """Text of that size, or a little less, that no other number has."""
    parts = (memory(1_000_000 * number + part, 60).text for part in itertools.count())
    text = str(number)
    while len(text) < size_bytes:
        text = f"{text} {next(parts)}"
    return text[:size_bytes]


class HashingEmbedder:
    """Feature hashing over words, 384 dimensions, L2-normalised: about as fast as an embedder can be, so that it hides nothing."""

    name = "bench-hashing"
    dimensions = DIMENSIONS

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Float32, shape (len(texts), 384)."""
        slots: list[int] = []
        signs: list[float] = []
        for row, text in enumerate(texts):
            start = row * DIMENSIONS
            for word in text.split() or ["-"]:
                at, sign = _slots(word)
                slots += [start + slot for slot in at]
                signs += sign
        rows = np.bincount(slots, weights=signs, minlength=len(texts) * DIMENSIONS).astype(np.float32).reshape(len(texts), DIMENSIONS)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        return rows / np.where(lengths > 0, lengths, 1)[:, None]


def _words(draw: random.Random, count: int) -> list[str]:
    vocabulary, cumulative = _vocabulary()
    return [vocabulary[bisect(cumulative, draw.random() * cumulative[-1], 0, VOCABULARY - 1)] for _ in range(count)]


@cache
def _vocabulary() -> tuple[list[str], list[float]]:
    draw = random.Random("vocabulary")
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        words["".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(draw.choice((2, 2, 3, 3, 4))))] = None
    return list(words), list(itertools.accumulate(1 / (rank + 10) for rank in range(VOCABULARY)))


@cache
def _slots(word: str) -> tuple[list[int], list[float]]:
    draw = random.Random(zlib.crc32(word.encode()))
    return [draw.randrange(DIMENSIONS) for _ in range(_SLOTS_PER_WORD)], [
        math.copysign(1, draw.random() - 0.5) for _ in range(_SLOTS_PER_WORD)
    ]
