"""Scopes share nothing: random operations over many users, each with a word of its own that no other ever sees."""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING

import memspan
from memspan.testing import FakeClock

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

USERS = 12
LOOK = 97  # operations between two looks at the user who is silent
COMPACT = 4_999  # operations between two compactions
STORES, EACH = 20, 50_000  # of the long form: every second store is encrypted
RARELY = 0.02
QUESTION = "which drink do I like best"


def canary(number: int) -> str:
    return f"zqcanary{number}x"


def strangers(text: str, own: int) -> set[int]:
    """Whose words a text has, but for one user's."""
    return {other for other in range(USERS) if canary(other) in text} - {own}


class Crowd:
    """Users who remember, ask, talk and forget in turn, and one who says nothing."""

    def __init__(self, engine: memspan.Engine, seed: int = 16) -> None:
        self.engine, self.chance = engine, random.Random(seed)  # noqa: S311
        self.users = [engine.user(f"user-{number}") for number in range(USERS)]
        self.silent = engine.user("silent")
        self.silent.remember_many([f"I like drink number {n} best" for n in ("one", "two", "three")])
        self.before = self.answer()

    def answer(self) -> list[tuple[str, float]]:
        return [(hit.memory.text, hit.score) for hit in self.silent.recall(QUESTION, limit=3)]

    def act(self, number: int) -> list[str]:
        """One operation of one user; the texts that it gave back."""
        own = self.chance.randrange(USERS)
        user, word = self.users[own], canary(own)
        match self.chance.randrange(13):
            case 0 | 1:
                return [user.remember(f"{word} likes drink number {number}", id=f"m{number % 60}-{number}").memory.text]
            case 2:
                memories = list(user.memories())
                for memory in memories[40:]:
                    user.forget(memory.id)
                return [memory.text for memory in memories]
            case 3:
                session = user.session(f"s-{number % 2}", "gpt-4o")
                session.add({"role": "user", "content": f"{word} asks for drink {number}"})
                shown = session.assemble().text
                if session.messages[-1].index > 30:
                    session.delete()
                return [shown]
            case 4:
                return [hit.text for hit in user.search_transcripts(canary(self.chance.randrange(USERS)), limit=5)]
            case 5:
                docs = user.collection("same name")
                docs.add("same id", f"# {word}\n\nThe drink of {word} is number {number}.")
                return [hit.text for hit in docs.search(f"drink {number} {canary(self.chance.randrange(USERS))}", limit=5)]
            case 6 if self.chance.random() < RARELY:
                user.erase(reason=f"{word} asked to")
                self.users[own] = self.engine.user(f"user-{own}")
                return [memory.text for memory in self.users[own].memories()]
            case _:
                asked = self.chance.choice([QUESTION, canary(self.chance.randrange(USERS)), f"drink number {number}"])
                return [hit.memory.text for hit in user.recall(asked, limit=5)]

    def run(self, operations: int) -> None:
        for number in range(operations):
            own_state = self.chance.getstate()
            own = self.chance.randrange(USERS)
            self.chance.setstate(own_state)
            for text in self.act(number):
                seen = strangers(text, own)
                assert not seen, f"operation {number}: user {own} was given what {seen} said: {text[:300]}"
            if number % COMPACT == COMPACT - 1:
                self.engine.maintain(compact=True)
            if number % LOOK == 0:
                assert self.answer() == self.before, f"operation {number} moved an answer of another user"


def test_no_user_ever_sees_a_word_or_moves_a_score_of_another(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    stores, each = (STORES, EACH) if request.config.getoption("--soak") else (2, 1_000)
    for seed in range(stores):
        key = bytes(range(32)) if seed % 2 else None
        with memspan.open(tmp_path / f"s{seed}", key=key, durability="relaxed", clock=FakeClock()) as engine:
            Crowd(engine, seed).run(each)
            assert engine.check().sound
        shutil.rmtree(tmp_path / f"s{seed}")


def test_a_word_of_another_is_noticed(tmp_path: Path) -> None:
    """The control: what is asked of two scopes has the words of both."""
    with memspan.open(tmp_path / "s", clock=FakeClock()) as engine:
        one, other = engine.user("user-0"), engine.user("user-1")
        other.remember(f"{canary(1)} likes tea")
        hits = one.recall("who likes tea", also=[other])
        assert strangers(hits[0].memory.text, 0) == {1}
