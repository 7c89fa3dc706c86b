"""A session as a program uses it: adding, reading back, reopening, ending, forking, deleting, and two processes on one."""

from __future__ import annotations

import pickle
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.testing import FakeClock, openai_response

if TYPE_CHECKING:
    from pathlib import Path

USER = {"role": "user", "content": "which port does payments-api use?"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "/etc/hosts"}'}}
CALLING: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "127.0.0.1 localhost"}
TOOL = {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}}


@pytest.fixture
def session(user: memspan.Scope) -> memspan.Session:
    return user.session("s-1", model="gpt-4o", system="You are terse.")


def talk(turns: int, words: int = 5) -> list[dict[str, str]]:
    return [{"role": role, "content": f"{role} {n} " + "word " * words} for n in range(turns) for role in ("user", "assistant")]


def test_a_turn_goes_round(session: memspan.Session) -> None:
    assert session.add(USER) == memspan.Added(0, 11, "added", 0)
    prompt = session.assemble()
    turn = session.add_response(openai_response("8443", input_tokens=22, cached_tokens=8, output_tokens=3), prompt=prompt)
    assert (turn.number, turn.start, turn.end, turn.model) == (0, 0, 2, "gpt-4o")
    assert turn.usage == memspan.Usage(22, 3, 8, 0, turn.usage.raw if turn.usage else None)
    assert turn.prompt == prompt
    assert turn == session.turn(0) == session.turns[-1]
    assert turn.messages[0].given == USER


SHAPES: list[dict[str, Any]] = [
    {"role": "user", "content": "plain"},
    {"role": "user", "name": "ann", "content": [{"type": "text", "text": "parts"}, {"type": "text", "text": "two"}]},
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.com/x.png", "detail": "low"}}]},
    {"role": "system", "content": "amid the talk"},
    {"role": "developer", "content": "amid the talk"},
    {"role": "assistant", "content": "said", "refusal": None},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}, {"type": "text", "text": "said"}]},
    {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}]},
]


@pytest.mark.parametrize("message", SHAPES, ids=range(len(SHAPES)))
def test_a_message_comes_back_as_it_was_given(session: memspan.Session, message: dict[str, Any]) -> None:
    session.add(USER)
    session.add(message)
    stored = session.messages[1]
    assert stored.given == message
    assert (stored.role, stored.content, stored.index, stored.redacted) == (message["role"], message["content"], 1, False)
    assert stored.tokens > 0
    session.assemble().to_openai()
    session.assemble().to_anthropic()


def test_what_is_known_of_a_message(session: memspan.Session) -> None:
    said = datetime(2024, 5, 1, 12, tzinfo=UTC)
    session.add(USER, id="m-1", author="ann", created_at=said)
    message = session.messages[0]
    assert (message.id, message.author, message.created_at, message.format) == ("m-1", "ann", said, "openai")
    assert message.added_at >= datetime(2025, 1, 1, tzinfo=UTC)
    assert message == session.messages[0]
    assert len({message, session.messages[0]}) == 1
    with pytest.raises(AttributeError):
        message.author = "bob"  # type: ignore[misc]


def test_messages_and_turns_are_sequences(session: memspan.Session) -> None:
    added = session.add_many(talk(100))
    assert [one.index for one in added] == list(range(200))
    messages, turns = session.messages, session.turns
    assert (len(messages), len(turns)) == (200, 100)
    assert messages[-1].index == 199
    assert [message.index for message in messages] == list(range(200))
    assert [message.index for message in messages[5:150:7]] == list(range(5, 150, 7))
    assert [message.index for message in messages[150:5:-1]] == list(range(150, 5, -1))
    assert [message.index for message in messages[120:-1]] == list(range(120, 199))
    assert messages[300:] == ()
    assert [turn.start for turn in turns[-3:]] == [194, 196, 198]
    assert [turn.number for turn in turns] == list(range(100))
    assert [message.index for message in turns[7].messages] == [14, 15]
    assert messages[3] in messages
    for view in (messages, turns):
        with pytest.raises(IndexError):
            view[len(view)]
        with pytest.raises(IndexError):
            view[-len(view) - 1]
    with pytest.raises(memspan.NotFound):
        session.turn(100)


def test_what_is_not_looked_at_is_not_read(session: memspan.Session) -> None:
    session.add_many(talk(50))
    seen: list[tuple[int, int]] = []

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return getattr(session._core, name)

        def messages(self, first: int, limit: int) -> Any:
            seen.append((first, limit))
            return session._core.messages(first, limit)

    view = memspan.transcript.Messages(Counting())  # type: ignore[arg-type]
    assert view[-1].index == 99
    next(iter(view))
    assert seen == [(99, 1), (0, 64)]


def test_the_same_id_is_a_duplicate_and_another_content_a_conflict(session: memspan.Session) -> None:
    first = session.add(USER, id="m-1", expect_index=0)
    again = session.add(USER, id="m-1", expect_index=0)  # a retry names the same index: the id is looked at first
    assert (again.index, again.tokens, again.action) == (first.index, first.tokens, "duplicate")
    with pytest.raises(memspan.IdConflict, match="m-1"):
        session.add({"role": "user", "content": "other"}, id="m-1")
    session.redact(0, reason="asked to")
    assert session.add(USER, id="m-1").action == "rejected"
    assert len(session.messages) == 1


def test_expect_index_tells_who_was_first(session: memspan.Session) -> None:
    session.add(USER, expect_index=0)
    with pytest.raises(memspan.SessionMoved):
        session.add(USER, expect_index=0)
    assert len(session.messages) == 1


def test_many_rows_and_where_one_fails(session: memspan.Session) -> None:
    rows = [memspan.NewMessage(message, id=f"m-{n}") for n, message in enumerate(talk(2))]
    assert [one.action for one in session.add_many(rows)] == ["added"] * 4
    assert [one.action for one in session.add_many(rows)] == ["duplicate"] * 4
    with pytest.raises(memspan.InvalidInput) as raised:
        session.add_many([USER, {"role": "oracle", "content": "x"}])
    assert raised.value.row == 1
    with pytest.raises(memspan.InvalidInput) as raised:
        session.add_many([USER, {"role": "user", "content": object()}])
    assert raised.value.row == 1
    assert len(session.messages) == 4
    with pytest.raises(memspan.InvalidInput):
        session.add_many(USER)  # type: ignore[arg-type]


def test_reopening(user: memspan.Scope) -> None:
    with pytest.raises(memspan.NotFound):
        user.session("s-1")
    session = user.session("s-1", "gpt-4o", system="One.", tools=[TOOL])
    session.add(USER)
    assert session == user.session("s-1") == user.session("s-1", "gpt-4o", system="One.", tools=[TOOL])
    before, prompt = session.epoch, session.assemble()
    assert user.session("s-1").epoch == before
    with pytest.raises(memspan.ModelMismatch, match="switch_model"):
        user.session("s-1", model="gpt-4")
    with pytest.raises(memspan.UnknownModel):
        user.session("s-2", model="gpt-17")
    assert user.session("s-1", system="Two.").epoch == before + 1
    other = user.session("s-1").assemble()
    assert other.messages[0]["content"] == "Two."
    assert other.to_openai()["tools"] == prompt.to_openai()["tools"] == [TOOL]
    assert "tools" not in user.session("s-1", tools=[]).assemble().to_openai()
    assert user.session("s-1", system="").assemble().messages == [USER]


def test_a_model_of_the_callers_own_needs_no_registry(user: memspan.Scope) -> None:
    own = memspan.Model(name="acme-7b", context_window=8_192, max_output_tokens=1_024, encoding="cl100k_base")
    session = user.session("s-1", model=own)
    session.add(USER)
    prompt = session.assemble()
    assert (session.model, prompt.model, prompt.max_output_tokens, prompt.max_input_tokens) == ("acme-7b", "acme-7b", 1_024, 5_734)
    with pytest.raises(memspan.InvalidInput, match="context_window"):
        user.session("s-2", model=memspan.Model(name="x", context_window=0, max_output_tokens=1, encoding="cl100k_base"))


def test_ended_forked_deleted(session: memspan.Session, user: memspan.Scope) -> None:
    session.add_many(talk(3))
    fork = session.fork("s-2", at=2)
    assert (fork.id, len(fork.messages), fork.model) == ("s-2", 2, "gpt-4o")
    fork.add(USER)
    assert (len(fork.messages), len(session.messages)) == (3, 6)
    with pytest.raises(memspan.IdConflict):
        session.fork("s-2")
    with pytest.raises(memspan.NotFound):
        session.fork("s-3", at=7)
    assert [info.id for info in user.sessions()] == ["s-1", "s-2"]
    session.end()
    assert session.ended
    session.end()
    with pytest.raises(memspan.Closed, match="ended"):
        session.add(USER)
    assert len(session.fork("s-4").messages) == 6
    session.delete()
    assert [info.id for info in user.sessions()] == ["s-2", "s-4"]
    with pytest.raises(memspan.NotFound):
        session.add(USER)
    assert {hit.session_id for hit in user.search_transcripts("assistant")} == {"s-2", "s-4"}
    assert len(user.session("s-1", model="gpt-4o").messages) == 0


def test_redacted_texts_are_gone(session: memspan.Session, user: memspan.Scope) -> None:
    session.add_many([{"role": "user", "content": "the password is hunter2"}, {"role": "assistant", "content": "noted"}])
    assert session.redact(0, reason="a secret") is True
    assert session.redact(0) is False
    message = session.messages[0]
    assert (message.redacted, message.reason, message.role) == (True, "a secret", "user")
    assert "hunter2" not in str(message.given) + message.text + session.assemble().text
    assert not user.search_transcripts("hunter2")
    with pytest.raises(memspan.NotFound):
        session.redact(2)


def test_search_finds_what_left_the_window(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o", budget=memspan.Budget(max_input_tokens=500))
    session.add({"role": "user", "content": "payments-api listens on port 8443"})
    session.add({"role": "assistant", "content": "noted"})
    session.add_many(talk(50, words=20))
    assert "8443" not in session.assemble().text
    [hit, *_] = user.search_transcripts("port 8443", limit=3)
    assert (hit.session_id, hit.index, hit.role, hit.text) == ("s-1", 0, "user", "payments-api listens on port 8443")
    assert hit.score > 0
    assert len(user.search_transcripts("")) == len(user.search_transcripts("port", limit=0)) == 0


def test_scopes_and_tenants_share_nothing(memspan_engine: memspan.Engine) -> None:
    scopes = [memspan_engine.user("u"), memspan_engine.user("u", tenant="t"), memspan_engine.shared("u")]
    for scope in scopes:
        scope.session("s-1", model="gpt-4o").add({"role": "user", "content": repr(scope)})
    for scope in scopes:
        assert [message.text for message in scope.session("s-1").messages] == [repr(scope)]
        assert [hit.text for hit in scope.search_transcripts("Scope")] == [repr(scope)]


def test_two_processes_on_one_session(store: Path) -> None:
    code = """
import sys, memspan, warnings
with memspan.open(sys.argv[1]) as engine:
    session = engine.user("u").session("s-1")
    for n in range(50):
        session.add({"role": "user", "content": f"{sys.argv[2]} {n}"}, id=f"{sys.argv[2]}-{n}")
"""
    with memspan.open(store) as engine:
        session = engine.user("u").session("s-1", model="gpt-4o")
        writers = [subprocess.Popen([sys.executable, "-W", "ignore", "-c", code, str(store), name]) for name in ("a", "b")]
        assert [writer.wait(60) for writer in writers] == [0, 0]
        texts = [message.text for message in session.messages]
        assert len(texts) == 100
        for name in ("a", "b"):
            assert [text for text in texts if text.startswith(name)] == [f"{name} {n}" for n in range(50)]
        assert engine.check().sound


def test_values_are_frozen_and_picklable(session: memspan.Session) -> None:
    added = session.add(USER)
    for value in (added, memspan.NewMessage(USER), memspan.Usage(1, 2), memspan.short_term.ToolText("x", None, 1)):
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301  our own bytes
        with pytest.raises(AttributeError):
            setattr(value, type(value).__match_args__[0], 3)
    turn = session.add_response({"role": "assistant", "content": "x"})
    for frozen in (turn, turn.calls[0]):
        with pytest.raises(AttributeError):
            setattr(frozen, "number", 3)  # noqa: B010  which the type checker refuses


def test_the_clock_is_the_engines(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    session = user.session("s-1", model="gpt-4o")
    assert session.created_at == memspan_clock()


def test_maintenance_sweeps(memspan_engine: memspan.Engine, session: memspan.Session) -> None:
    session.add(USER)
    assert memspan_engine.maintain().sessions_removed == 0
    assert len(session.messages) == 1


def test_a_closed_engine_says_so(session: memspan.Session, memspan_engine: memspan.Engine) -> None:
    session.add(USER)
    prompt = session.assemble()
    memspan_engine.close()
    assert prompt.to_openai()["messages"][-1] == USER  # a prompt is a value
    for call in (session.assemble, lambda: session.add(USER), lambda: len(session.messages), lambda: session.task("x").set("a", 1)):
        with pytest.raises(memspan.Closed):
            call()


@pytest.mark.parametrize(
    "wrong", [{"collections": [5]}, {"collections": 5}, {"reads": "u"}, {"system": 7}, {"tools": {"a": {1, 2}}}, {"budget": 7}]
)
def test_wrong_options(user: memspan.Scope, wrong: dict[str, Any]) -> None:
    with pytest.raises(memspan.InvalidInput):
        user.session("s-1", model="gpt-4o", **wrong)
    assert [info.id for info in user.sessions()] == []


def test_reads_bring_shared_memory(memspan_engine: memspan.Engine, user: memspan.Scope, tmp_path: Path) -> None:
    acme = memspan_engine.shared("acme")
    acme.remember("Deployments freeze on Fridays", "constraint")
    acme.remember("payments-api listens on port 8443")
    session = user.session("s-1", model="gpt-4o", reads=[acme])
    session.add(USER)
    text = session.assemble().text
    assert "Deployments freeze on Fridays" in text
    assert "port 8443" in text
    with pytest.raises(memspan.InvalidInput, match="one"):
        user.session("s-2", model="gpt-4o", reads=acme)  # type: ignore[arg-type]
    with pytest.raises(memspan.InvalidInput):
        user.session("s-2", model="gpt-4o", reads=[user])
    with memspan.open(tmp_path / "other") as other, pytest.raises(memspan.InvalidInput, match="same engine"):
        user.session("s-2", model="gpt-4o", reads=[other.shared("acme")])


def test_a_repr_never_raises(tmp_path: Path) -> None:
    """repr(session.messages) raised once the session was deleted or the engine closed: a debugger shows every variable."""
    with memspan.open(tmp_path / "s") as engine:
        user = engine.user("u")
        user.remember("Prefers tea", slot="drink")
        session = user.session("s", model="gpt-4o")
        session.add({"role": "user", "content": "hi"})
        views = (session.messages, session.turns, user.slots, engine.token_factors)
        assert list(map(repr, views)) == [
            "<1 messages of session 's'>", "<1 turns of session 's'>", "Slots('drink')", "TokenFactors([])"
        ]  # fmt: skip
        session.delete()
        gone = ["<messages of session 's'>", "<turns of session 's'>"]
        assert list(map(repr, views[:2])) == gone
    assert list(map(repr, views)) == [*gone, "Slots(...)", "TokenFactors(...)"]


def test_a_message_of_tool_results_alone_is_a_tools_in_each_shape(user: memspan.Scope) -> None:
    session = user.session("s-1", model="claude-sonnet-4-5")
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "connection to db-7 refused", "is_error": True}
    session.add({"role": "user", "content": "fetch it"})
    session.add({"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "fetch", "input": {}}]})
    session.add({"role": "user", "content": [result]})
    session.add({"role": "assistant", "content": [{"type": "tool_use", "id": "c2", "name": "fetch", "input": {}}]})
    session.add({"role": "user", "content": [{**result, "tool_use_id": "c2"}, {"type": "text", "text": "and stop then"}]})
    assert [message.role for message in session.messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert session.messages[2].given["role"] == "user", "as it was given"
    assert [one["role"] for one in session.assemble().to_anthropic()["messages"]] == ["user", "assistant"] * 2 + ["user"]
    assert {hit.message.index: hit.role for hit in user.search_transcripts("db-7 refused")}[2] == "tool"
