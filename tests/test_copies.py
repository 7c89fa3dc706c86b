"""Copies and pickles of everything that the package hands out: each works, or says in a typed error what to do instead."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.testing import FakeClock, FakeEmbedder, FakeProvider

if TYPE_CHECKING:
    from collections.abc import Callable

HANDLES = (
    "engine",
    "scope",
    "session",
    "collection",
    "slots",
    "prompt",
    "turn",
    "call",
    "turns",
    "messages",
    "factors",
    "assistant",
    "provider",
    "embedder",
    "clock",
)
CHANGES = ("counter", "lease", "reply")
VALUES = (
    "memory",
    "remembered",
    "passage",
    "message",
    "section",
    "explained",
    "explanation",
    "budget",
    "recalls",
    "model",
    "policy",
    "info",
)


def handed_out(engine: memspan.Engine) -> dict[str, Any]:
    user = engine.user("u")
    remembered = user.remember("Prefers tea", id="tea")
    session = user.session("s", model="gpt-4o", system="You are terse.")
    session.add({"role": "user", "content": "tea?"})
    prompt = session.assemble()
    session.add_response(memspan.testing.openai_response("Yes."), prompt=prompt)
    docs = user.collection("docs")
    docs.add("a.md", "# Tea\n\nTea is hot.")
    answer = user.recall("tea")
    return {
        "engine": engine,
        "scope": user,
        "session": session,
        "collection": docs,
        "slots": user.slots,
        "prompt": prompt,
        "turn": session.turns[0],
        "call": session.turns[0].calls[0],
        "turns": session.turns,
        "messages": session.messages,
        "factors": engine.token_factors,
        "assistant": memspan.Assistant(engine, FakeProvider(["x"]), model="gpt-4o"),
        "provider": FakeProvider(["x"]),
        "embedder": FakeEmbedder(dimensions=8),
        "clock": FakeClock(),
        "counter": memspan.TokenCounter(),
        "lease": session.lease(),
        "reply": session.reply(prompt),
        "memory": remembered.memory,
        "remembered": remembered,
        "passage": docs.search("tea")[0],
        "message": session.messages[0],
        "section": prompt.sections[0],
        "explained": prompt.explain(),
        "explanation": answer[0].explain(),
        "budget": memspan.Budget(),
        "recalls": memspan.Recalls(),
        "model": memspan.models["gpt-4o"],
        "policy": memspan.Policy(),
        "info": next(iter(user.sessions())),
        "answer": answer,
        "hit": answer[0],
    }


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301  our own bytes


def test_a_value_is_copied_and_pickled(memspan_engine: memspan.Engine) -> None:
    given = handed_out(memspan_engine)
    for name in VALUES:
        for way in (copy.copy, copy.deepcopy, pickled):
            assert way(given[name]) == given[name], name


def test_a_part_of_the_engine_is_its_own_copy_and_is_not_pickled(memspan_engine: memspan.Engine) -> None:
    """Errors of Python named classes of the core, and a copy of a Turn raised an AttributeError."""
    given = handed_out(memspan_engine)
    for name in HANDLES:
        assert copy.copy(given[name]) is given[name], name
        assert copy.deepcopy([given[name]])[0] is given[name], name
    for name in (*HANDLES, *CHANGES, "answer", "hit"):  # a hit knows its scope
        with pytest.raises(memspan.InvalidInput, match=r"pickling a \w+: it must be made of values alone"):
            pickle.dumps(given[name])
    assert pickled(given["prompt"].to_openai()) == given["prompt"].to_openai()
    assert pickled(tuple(given["messages"])) == tuple(given["messages"])
    assert [one.memory for one in copy.deepcopy(given["answer"])] == [given["memory"]]


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy], ids=["copy", "deepcopy"])
def test_what_changes_with_its_use_is_not_copied(memspan_engine: memspan.Engine, way: Callable[[Any], Any]) -> None:
    """A copied counter shared the tokens of the first."""
    given = handed_out(memspan_engine)
    for name in CHANGES:
        with pytest.raises(memspan.InvalidInput, match=r"copying a \w+: it must be made of values alone"):
            way(given[name])


def test_a_hit_that_cannot_be_pickled_says_so_itself_and_what_can_be(memspan_engine: memspan.Engine) -> None:
    """The error was of its scope, which the caller had not named."""
    user = memspan_engine.user("hits")
    user.remember("Prefers tea")
    answer = user.recall("tea")
    for given in (answer, answer[0]):
        with pytest.raises(memspan.InvalidInput, match=r"pickling a Recalled: .*: pickle its memory, which is a value"):
            pickle.dumps(given)
    assert pickled(answer[0].memory) == answer[0].memory


def test_a_pickled_passage_says_why_it_cannot_explain_itself(memspan_engine: memspan.Engine) -> None:
    collection = memspan_engine.user("hits").collection("d")
    collection.add("x", "All about tea")
    passages = pickled(collection.search("tea"))
    assert passages == collection.search("tea")
    with pytest.raises(memspan.InvalidInput, match="a copy that was pickled: read it before pickling"):
        passages[0].explain()
