"""Who the user is: a question by the user's name is one about the user, in recall, in a search over sources and in a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import memspan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TALK = ["I live in Porto.", "My sister Bea lives in Rome.", "I work at Acme.", "I prefer tea."]


@pytest.fixture
def engine(store: Path) -> Iterator[memspan.Engine]:
    """With the built-in embedding: without vectors nothing is looked at closer."""
    with memspan.open(store) as engine:
        yield engine


def told(engine: memspan.Engine, user_id: str, *before: str) -> memspan.Scope:
    """A user who said all that, in a session and in memories, beside others."""
    user = engine.user(user_id)
    old = user.session("old", model="gpt-4o")
    for text in (*before, *TALK):
        old.add({"role": "user", "content": text})
        old.add({"role": "assistant", "content": "Noted."})
    user.learn(old)
    user.remember_many([{"text": "Bob lives in Berlin."}, {"text": "The invoice is due on Friday."}])
    return user


@pytest.mark.parametrize(("user_id", "before"), [("u-1", "Call me Ana."), ("u-2", "My name is Ana Silva."), ("ana", "Hello there!")])
@pytest.mark.parametrize("question", ["Where does Ana live?", "where do I live?"])
def test_a_users_name_and_i_are_the_user(engine: memspan.Engine, user_id: str, before: str, question: str) -> None:
    user = told(engine, user_id, before)
    answer = user.recall(question, 3)
    assert answer[0].memory.text == "The user lives in Porto."
    assert answer.confidence >= 0.5
    found = user.search(question, limit=10, sources=["memories", "transcripts"])
    best = next(hit for hit in found if isinstance(hit, memspan.Recalled))
    assert best.memory.text == "The user lives in Porto."
    assert best.score >= 0.5
    session = user.session("new", model="gpt-4o")
    session.add({"role": "user", "content": question})
    assert "The user lives in Porto." in str(session.assemble().to_openai())


def test_another_persons_name_is_not_the_users(engine: memspan.Engine) -> None:
    user = told(engine, "u-1", "Call me Ana.")
    assert user.recall("Where does Bob live?", 1)[0].memory.text == "Bob lives in Berlin."
    assert user.recall("Where does Ana live?", 1)[0].memory.text == "The user lives in Porto."


def test_part_of_a_scopes_id_is_no_name(engine: memspan.Engine) -> None:
    user = engine.user("ana/project")
    user.remember_many([{"text": "Ana lives in Rome."}, {"text": "The user lives in Porto."}])
    assert user.recall("Where does Ana live?", 1)[0].memory.text == "Ana lives in Rome."


def test_what_is_newer_of_the_user_replaces_what_was_said_of_them_by_name(engine: memspan.Engine) -> None:
    user = engine.user("u-1")
    user.remember("The user's name is Ana.", "profile", slot="name")
    user.remember("Ana lives in Rome.")
    user.remember("The user moved to Porto, where they live now.")
    answer = user.recall("Where does Ana live?", 3)
    assert "Porto" in answer[0].memory.text
    older = next(hit for hit in answer if hit.memory.text == "Ana lives in Rome.")
    assert older.memory.id != answer[0].memory.id


def test_a_slot_says_what_its_value_is(engine: memspan.Engine) -> None:
    user = engine.user("u-1")
    user.remember("The user's name is Ana.", "profile", slot="name")
    user.remember("The user's dog is called Rex.")
    user.remember("The user works for Acme.", "profile", slot="employer")
    answer = user.recall("What is Ana's employer?", 2)
    assert answer[0].memory.text == "The user works for Acme."
    assert answer.confidence >= 0.5


def test_without_a_slot_the_users_name_is_no_answer(engine: memspan.Engine) -> None:
    user = engine.user("u-1")
    user.remember("Ana", "profile", slot="name")
    user.remember_many([{"text": "The user works for Acme."}, {"text": "The user lives in Porto."}])
    answer = user.recall("What is Ana's employer?", 2)
    assert answer[0].memory.text == "The user works for Acme."
    assert answer.confidence > 0


def test_messages_answer_as_if_the_user_asked(engine: memspan.Engine) -> None:
    user = told(engine, "u-1", "Call me Ana.")
    by_name, own = (user.search_transcripts(f"Where {who} live?", limit=1)[0] for who in ("does Ana", "do I"))
    assert by_name.index == own.index
    assert "Ana" not in str(by_name.message)


def test_who_speaks_by_the_users_name_stays_that_speaker(engine: memspan.Engine) -> None:
    user = engine.user("ana")
    session = user.session("s", model="gpt-4o")
    for name, text in (("Bob", "I live in Berlin."), ("Ana", "I live in Porto."), ("Bob", "I like Berlin a lot.")):
        session.add({"role": "user", "name": name, "content": text})
    assert user.search_transcripts("Where does Ana live?", limit=1)[0].index == 1


def test_whom_the_question_asks_for_stands_before_others(engine: memspan.Engine) -> None:
    user = engine.user("u-1")
    others = [f"{name}'s university is {place}." for name, place in (("Bob", "Heidelberg"), ("Anna", "Leiden"), ("David", "Aarhus"))]
    user.remember_many([{"text": text} for text in [*others, "My university is Leuven."]])
    assert user.recall("Which university do I study at?", 1)[0].memory.text == "My university is Leuven."
    assert user.recall("Which university does Bob study at?", 1)[0].memory.text == "Bob's university is Heidelberg."
