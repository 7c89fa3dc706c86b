"""`why()` and `explain()` say of each memory and message what a reader of the prompt sees, and add up to its sections."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TALK = [
    "the owner of billing is marco",
    "max payload for webhooks is 256kb",
    "node is pinned to 20.11.1",
    "retro is on thursdays at 2",
    "The staging port is 8443.",
]
QUESTIONS = ["who owns billing?", "how large may a webhook be?", "when is retro?", "is the cache ok?", "which port does staging use?"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(datetime(2026, 2, 2, 9, tzinfo=UTC))


@pytest.fixture
def user(tmp_path: Path, clock: FakeClock) -> Iterator[memspan.Scope]:
    with memspan.open(f"{tmp_path}/store", clock=clock, durability="relaxed") as engine:
        yield engine.user("u-42")


def _talk(user: memspan.Scope, clock: FakeClock) -> None:
    for number, said in enumerate(TALK):
        session = user.session(f"s-{number}", model="gpt-4o")
        session.add({"role": "user", "content": said})
        session.add({"role": "assistant", "content": "ok"})
        user.learn(session)
        clock.advance(days=2)


def _asked(user: memspan.Scope, question: str, **given: Any) -> memspan.Prompt:
    session = user.session(f"asks-{question}-{given}", model="gpt-4o", **given)
    session.add({"role": "user", "content": question})
    return session.assemble()


def _same(text: str) -> str:
    return text.strip().rstrip(".").lower()


def _items(prompt: memspan.Prompt) -> list[str]:
    """The texts of the block's memories and messages."""
    lines = [line for line in prompt.text.splitlines() if line.startswith(("<memory ", "<item "))]
    return [line.split(">", 1)[1].rsplit("</", 1)[0] for line in lines]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_memory_that_the_prompt_says_as_a_message_is_not_said_to_be_missing(user: memspan.Scope, clock: FakeClock, question: str) -> None:
    _talk(user, clock)
    prompt = _asked(user, question)
    said = {_same(text) for text in _items(prompt)}
    memories = list(user.memories())
    assert len(memories) >= 4
    for memory in memories:
        row = prompt.why(memory.id)
        is_said = (
            row.included or row.why == "the same text is shown already" or row.why.startswith("the prompt shows the message that told")
        )
        assert is_said == (_same(memory.text) in said), (memory.text, row)


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_text_is_shown_twice_for_a_capital_and_a_full_stop(user: memspan.Scope, clock: FakeClock, question: str) -> None:
    _talk(user, clock)
    for said in TALK:
        user.remember(said[0].upper() + said[1:].rstrip(".") + ".")
    shown = [_same(text) for text in _items(_asked(user, question))]
    assert len(shown) == len(set(shown))


def test_a_memory_told_in_the_history_is_said_to_be_there(user: memspan.Scope) -> None:
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": "node is pinned to 20.11.1"})
    session.add({"role": "assistant", "content": "ok"})
    user.learn(session)
    [memory] = user.memories()
    session.add({"role": "user", "content": "write a haiku about autumn"})
    assert session.assemble().why(memory.id).why == "the prompt has the message that told it in its history"


@pytest.mark.parametrize(
    ("question", "before", "late"),
    [
        ("When is tea?", ["Tea at four", "Owns a boat"], "My cat is Momo"),
        ("When is tea?", ["Tea at four", "Owns a boat"], "Tea moved to five"),
        ("when do we meet?", ["Tea at four"], "My cat is Momo"),
        ("when do we meet?", ["Tea at four"], "We meet at nine on Mondays"),
        ("Which city do I live in?", ["I live in Ghent"], "My cat is Momo"),
        ("Which city do I live in?", ["I live in Ghent"], "The city of Ghent has new trams"),
        ("how do I sort a list in Python?", ["I live in Ghent"], "Prefers pytest over unittest"),
        ("how do I sort a list in Python?", [], "Sort lists with sorted() and a key"),
        ("thanks!", ["Tea at four"], "My cat is Momo"),
    ],
)
def test_high_enough_now_is_said_where_the_next_prompt_has_it(user: memspan.Scope, question: str, before: list[str], late: str) -> None:
    for text in before:
        user.remember(text)
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": question})
    prompt = session.assemble()
    memory = user.remember(late).memory
    told, fresh = prompt.why(memory.id), session.assemble().why(memory.id)
    assert not told.included
    assert ("ranks high enough now" in told.why) == fresh.included, (told.why, fresh.why)
    assert fresh.included or told.why == fresh.why


def test_a_preference_that_was_written_later_is_in_the_next_prompt(user: memspan.Scope) -> None:
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": "When is tea?"})
    prompt = session.assemble()
    memory = user.remember("Prefers short answers", kind="preference").memory
    assert prompt.why(memory.id).why == "the next prompt has it: it was written after this one was made"
    assert session.assemble().why(memory.id).included


@pytest.mark.parametrize("turns", [1, 2, 4])
@pytest.mark.parametrize("is_open", [True, False])
def test_the_rows_of_history_and_turn_add_up_to_their_sections(user: memspan.Scope, turns: int, is_open: bool) -> None:
    session = user.session("s", model="gpt-4o", system="Be terse")
    for number in range(turns):
        session.add({"role": "user", "content": f"question {number} about tea"})
        session.add({"role": "assistant", "content": f"answer {number}"})
    if is_open:
        session.add({"role": "user", "content": "when is tea?"})
    prompt = session.assemble()
    used = {section.name: section.tokens for section in prompt.sections}
    for name in ("history", "turn"):
        assert sum(row.tokens for row in prompt.explain() if row.included and row.section == name) == used[name], name
    [turn] = [row for row in prompt.explain() if row.section == "turn"]
    last = len(session.messages)
    assert turn.id == f"messages {last - 1 if is_open else last - 2}..{last}"
