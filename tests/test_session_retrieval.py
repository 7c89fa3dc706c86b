"""What a prompt shows beside memories: what was said outside of its window, and passages of the session's collections."""

from __future__ import annotations

import json

import pytest

import memspan
from memspan import InvalidInput
from memspan.testing import temporary_engine

FACT = "the vault of Lisbon opens with ticket OPS-7731 and a blue key"


def _sent(prompt: memspan.Prompt) -> str:
    return json.dumps(prompt.to_openai()["messages"], ensure_ascii=False)


@pytest.fixture
def user(memspan_engine: memspan.Engine) -> memspan.Scope:
    return memspan_engine.user("u-42")


def _long_session(user: memspan.Scope) -> memspan.Session:
    """One whose first message is far outside of its window."""
    session = user.session("s-1", model="gpt-4o", budget=memspan.Budget(max_input_tokens=2_000, output_tokens=500))
    session.add({"role": "user", "content": FACT})
    session.add({"role": "assistant", "content": "Noted."})
    for turn in range(40):
        session.add({"role": "user", "content": f"tell me about gardens, number {turn}: " + "roses and hedges " * 20})
        session.add({"role": "assistant", "content": "Gardens need water. " * 10})
    session.add({"role": "user", "content": "which ticket opens the vault of Lisbon?"})
    return session


def test_what_the_window_no_longer_holds_comes_back(user: memspan.Scope) -> None:
    session = _long_session(user)
    prompt = session.assemble()
    assert "OPS-7731" in _sent(prompt)
    [line] = [one for one in prompt.explain() if one.id == "s-1#0"]
    assert line.included
    assert line.section == "recalled"
    assert prompt.total_tokens <= prompt.max_input_tokens


def test_what_is_in_the_window_is_not_shown_twice(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": FACT})
    session.add({"role": "assistant", "content": "Noted."})
    session.add({"role": "user", "content": "which ticket opens the vault of Lisbon?"})
    assert _sent(session.assemble()).count("OPS-7731") == 1


def test_another_session_of_the_user_is_asked_and_another_user_is_not(user: memspan.Scope, memspan_engine: memspan.Engine) -> None:
    user.session("before", model="gpt-4o").add({"role": "user", "content": FACT})
    question = {"role": "user", "content": "which ticket opens the vault of Lisbon?"}
    session, other = user.session("now", model="gpt-4o"), memspan_engine.user("u-43").session("now", model="gpt-4o")
    session.add(question)
    other.add(question)
    assert "OPS-7731" in _sent(session.assemble())
    assert "OPS-7731" not in _sent(other.assemble())


def test_a_redacted_message_leaves_new_and_old_prompts(user: memspan.Scope) -> None:
    session = _long_session(user)
    prompt = session.assemble()
    session.add_response({"role": "assistant", "content": "OPS it is."}, prompt=prompt)
    turn = len(session.turns) - 1
    old = session.turn(turn).prompt
    assert old is not None
    assert _sent(old) == _sent(prompt)
    session.redact(0, reason="asked to")
    session.add({"role": "user", "content": "and again, which ticket opens the vault of Lisbon?"})
    assert "7731" not in _sent(session.assemble())
    again = session.turn(turn).prompt
    assert again is not None
    assert "7731" not in _sent(again)


def test_passages_of_the_sessions_collections_are_shown_with_their_place(user: memspan.Scope, memspan_engine: memspan.Engine) -> None:
    handbook = memspan_engine.shared("acme").collection("handbook")
    handbook.add("deploys.md", "# Deploys\n\n## When\n\nWe deploy payments-api on Tuesdays, never on a Friday.\n", version="3")
    session = user.session("s-1", model="gpt-4o", collections=[handbook])
    session.add({"role": "user", "content": "when do we deploy payments-api?"})
    prompt = session.assemble()
    assert "never on a Friday" in _sent(prompt)
    assert "handbook/deploys.md" in _sent(prompt)
    reopened = user.session("s-1")
    assert _sent(reopened.assemble()) == _sent(prompt)
    session.add_response({"role": "assistant", "content": "On Tuesdays."}, prompt=prompt)
    handbook.add("deploys.md", "Everything is new.", version="4")
    old = session.turn(0).prompt
    assert old is not None
    assert _sent(old) == _sent(prompt)
    user.session("s-1", collections=[])
    session.add({"role": "user", "content": "what is new, and when do we deploy?"})
    assert "Everything is new" not in _sent(session.assemble())


def test_an_old_prompt_shows_a_passage_until_the_store_is_compacted(user: memspan.Scope, memspan_engine: memspan.Engine) -> None:
    """As docs/security.md says, and for documents that were deleted by any of the two calls."""
    docs, other = user.collection("docs"), user.collection("other")
    docs.add("a", "We deploy payments-api on Tuesdays, never on a Friday.")
    other.add("b", "We deploy billing on Mondays, never on a Sunday.")
    session = user.session("s-1", model="gpt-4o", collections=[docs, other])
    session.add({"role": "user", "content": "when do we deploy payments-api and billing?"})
    session.add_response({"role": "assistant", "content": "Soon."}, prompt=session.assemble())
    docs.delete("a")
    other.delete_all()
    for compacted in (False, True):
        old = session.turn(0).prompt
        assert old is not None
        assert ("never on a Friday" in _sent(old), "never on a Sunday" in _sent(old)) == (not compacted, not compacted)
        memspan_engine.maintain(compact=True)


@pytest.mark.parametrize("copies", [1, 5, 8, 100])
def test_copies_of_a_passage_take_the_place_of_no_other(copies: int) -> None:
    with temporary_engine() as engine:
        _ask_beside_copies(engine.user("u-42"), copies)


def _ask_beside_copies(user: memspan.Scope, copies: int) -> None:
    docs = user.collection("docs")
    readme = "# Deploying\n\nTo deploy the service run make deploy and wait for the green light."
    docs.add_many([{"id": f"svc{number}/README.md", "text": readme} for number in range(copies)])
    docs.add("oncall.md", "# Deploy freeze\n\nNo deploy of a service from December 20 to January 3: ask Grace for an exception.")
    session = user.session("s-1", model="gpt-4o", collections=[docs])
    session.add({"role": "user", "content": "how do I deploy the service, and when may I not?"})
    prompt = session.assemble()
    rows = [row for row in prompt.explain() if row.section == "retrieved"]
    assert [(row.id.partition("#")[0], row.included) for row in rows] == [("docs/svc0/README.md", True), ("docs/oncall.md", True)]
    assert "Grace" in _sent(prompt)
    assert _sent(session.assemble()) == _sent(prompt)


def test_a_question_that_nothing_answers_brings_nothing(user: memspan.Scope, memspan_engine: memspan.Engine) -> None:
    handbook = memspan_engine.shared("acme").collection("handbook")
    handbook.add("deploys.md", "We deploy payments-api on Tuesdays.")
    session = user.session("s-1", model="gpt-4o", collections=[handbook])
    session.add({"role": "user", "content": "hello"})
    assert "Tuesdays" not in _sent(session.assemble())


def test_collections_that_cannot_be_are_refused(user: memspan.Scope) -> None:
    docs = user.collection("docs")
    with pytest.raises(InvalidInput, match="named twice"):
        user.session("s-1", model="gpt-4o", collections=[docs, docs])
    with pytest.raises(InvalidInput, match="put it into a list"):
        user.session("s-1", model="gpt-4o", collections=docs)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with memspan.testing.temporary_engine() as other, pytest.raises(InvalidInput, match="of the same engine"):
        user.session("s-1", model="gpt-4o", collections=[other.user("u").collection("docs")])
    assert [info.id for info in user.sessions()] == []
