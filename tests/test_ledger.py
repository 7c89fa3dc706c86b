"""The ledger: what a model saw on an old turn, why, and what it cost; in another process, and after texts were erased."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from anthropic.types import Message as AnthropicMessage
from openai.types.chat import ChatCompletion

import memspan
from memspan.testing import FakeClock, anthropic_response, openai_response

if TYPE_CHECKING:
    from pathlib import Path


def play(user: memspan.Scope, turns: int) -> list[bytes]:
    """A conversation in which memories, preferences and tasks are written between the calls; the body of each request."""
    session = user.session("s-1", model="gpt-4o", system="You are terse.", budget=memspan.Budget(max_input_tokens=900))
    sent = []
    for n in range(turns):
        user.remember(f"service-{n} listens on port {8000 + n}", id=f"port-{n}")
        if n % 5 == 3:
            user.remember(f"Prefers style {n}", "preference", slot="style")
        session.add({"role": "user", "content": f"which port does service-{n} use? " + "please " * 20})
        session.task("work").set("at", n)
        prompt = session.assemble(items=[memspan.Item(f"note {n}", id=f"note-{n}")])
        sent.append(prompt.to_json())
        session.add_response(openai_response(f"{8000 + n}", id=f"r-{n}", input_tokens=prompt.total_tokens), prompt=prompt)
    return sent


def test_every_old_call_gives_the_same_bytes(user: memspan.Scope) -> None:
    sent = play(user, 20)
    session = user.session("s-1")
    assert session.epoch > 0
    for n, turn in enumerate(session.turns):
        prompt = turn.prompt
        assert prompt is not None
        assert (prompt.to_json(), prompt.same_bytes, prompt.erased) == (sent[n], True, ())
        assert turn.usage is not None
        assert turn.usage.input_tokens == prompt.total_tokens
    reasons = {one.id for one in session.turn(7).prompt.explain() if one.included}  # type: ignore[union-attr]
    assert {"port-7", "note-7"} <= reasons


def test_in_another_process(store: Path) -> None:
    with memspan.open(store, clock=FakeClock()) as engine:
        sent = play(engine.user("u"), 8)
        why = [str(turn.prompt.explain()) for turn in engine.user("u").session("s-1").turns if turn.prompt]
    code = """
import json, sys, memspan
with memspan.open(sys.argv[1], read_only=True) as engine:
    turns = engine.user("u").session("s-1").turns
    print(json.dumps([[turn.prompt.to_json().decode(), str(turn.prompt.explain())] for turn in turns]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code, str(store)], check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == [[body.decode(), explained] for body, explained in zip(sent, why, strict=True)]


def test_what_was_erased_is_named(user: memspan.Scope) -> None:
    sent = play(user, 3)
    session = user.session("s-1")
    user.forget("port-1")
    prompt = session.turn(1).prompt
    assert prompt is not None
    assert (prompt.erased, prompt.same_bytes) == (("memory port-1",), False)
    assert "8001</memory>" in sent[1].decode()
    assert "port 8001" not in prompt.text
    session.redact(2, reason="asked to")
    again = session.turn(1).prompt
    assert again is not None
    assert set(again.erased) == {"memory port-1", "message 2"}
    assert "memory port-1" in repr(again)
    untouched = session.turn(0).prompt
    assert untouched is not None
    assert untouched.same_bytes


def test_a_revised_memory_is_shown_as_it_was(user: memspan.Scope) -> None:
    sent = play(user, 2)
    user.revise("port-1", "service-1 listens on port 9999")
    prompt = user.session("s-1").turn(1).prompt
    assert prompt is not None
    assert prompt.to_json() == sent[1]


def test_calls_of_one_turn(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    user.remember("payments-api listens on port 8443")
    session.add({"role": "user", "content": "check payments-api"})
    first = session.assemble(items=[memspan.Item("a note")])
    call = openai_response(tool_calls=[("c-1", "get", {})], id="r-1", input_tokens=30, output_tokens=5)
    session.add_response(call, prompt=first)
    session.add({"role": "tool", "tool_call_id": "c-1", "content": "ok"})
    second = session.assemble(items=[memspan.Item("another note")])
    turn = session.add_response(openai_response("It is up.", id="r-2", input_tokens=40, output_tokens=4), prompt=second)
    assert [(one.number, one.reply, one.response_id, one.finish) for one in turn.calls] == [
        (0, 1, "r-1", "tool_calls"),
        (1, 3, "r-2", "stop"),
    ]
    assert (turn.usage, turn.start, turn.end) == (memspan.Usage(70, 9), 0, 4)
    assert [one.prompt for one in turn.calls] == [first, second]
    assert turn.prompt == second
    # The block stands still within its turn: what was sent first is the beginning of what was sent second.
    assert second.shared_prefix(first).segments == len(first._core)
    assert "another note" not in second.text


def test_a_turn_without_a_block_gets_none_later(user: memspan.Scope) -> None:
    # A turn whose first call showed nothing volatile was not known to be frozen: what was written during its tool rounds then
    # appeared in the user message that had been sent, and broke a prefix that was said to last.
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "check payments-api"})
    first = session.assemble()
    session.add_response(openai_response(tool_calls=[("c-1", "get", {})]), prompt=first)
    session.task("work").set("step", 1)
    user.remember("payments-api listens on port 8443")
    session.add({"role": "tool", "tool_call_id": "c-1", "content": "ok"})
    second = session.assemble(items=[memspan.Item("a note")])
    assert second.shared_prefix(first).segments == len(first._core)
    session.add_response(openai_response("It is up."), prompt=second)
    session.add({"role": "user", "content": "and payments-api now?"})
    assert "8443" in session.assemble().text


def test_a_response_given_twice(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "2 + 2?"})
    prompt = session.assemble()
    response = openai_response("4", id="r-1")
    first = session.add_response(response, prompt=prompt)
    assert session.add_response(response, prompt=prompt) == first
    assert session.add_response({**response, "id": "r-1"}) == first  # without its prompt, too
    anonymous = {"role": "assistant", "content": "anything else?"}
    session.add_response(anonymous)
    session.add_response(anonymous)
    assert len(session.messages) == 3


def test_the_same_words_on_another_turn(user: memspan.Scope) -> None:
    # A reply without an id was looked up by the hash of its body: the second "ok" of a session was taken for the first.
    session = user.session("s-1", model="gpt-4o")
    for n in range(3):
        session.add({"role": "user", "content": f"step {n}"})
        assert session.add_response({"role": "assistant", "content": "ok"}, prompt=session.assemble()).number == n
    assert len(session.messages) == 6


def test_a_stale_prompt(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "one"})
    prompt = session.assemble()
    user.remember("Prefers tea", "preference")  # no reason to be stale
    session.task("x").set("a", 1)
    session.add({"role": "user", "content": "two"})
    with pytest.raises(memspan.SessionMoved):
        session.add_response(openai_response("x"), prompt=prompt)
    assert len(session.messages) == 2
    assert session.turn(0).prompt is None


def test_a_prompt_of_another_session(user: memspan.Scope) -> None:
    one, other = user.session("s-1", model="gpt-4o"), user.session("s-2", model="gpt-4o")
    for session in (one, other):
        session.add({"role": "user", "content": "hi"})
    with pytest.raises(memspan.InvalidInput, match="another"):
        one.add_response(openai_response("x"), prompt=other.assemble())
    with pytest.raises(memspan.InvalidInput, match="Prompt"):
        one.add_response(openai_response("x"), prompt=one.assemble().to_openai())  # type: ignore[arg-type]
    with pytest.raises(memspan.InvalidInput):
        one.fork("s-3").add_response(openai_response("x"), prompt=one.assemble())


def test_objects_of_the_sdks(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "read it"})
    completion = ChatCompletion.model_validate(
        openai_response(tool_calls=[("c-1", "read", {"path": "/x"})], input_tokens=9, cached_tokens=4)
    )
    turn = session.add_response(completion, prompt=session.assemble())
    assert turn.usage is not None
    assert (turn.usage.input_tokens, turn.usage.cached_tokens, turn.calls[0].finish) == (9, 4, "tool_calls")
    assert session.pending_tool_calls == (memspan.reply.ToolCall("c-1", "read", {"path": "/x"}, 1),)
    session.add({"role": "tool", "tool_call_id": "c-1", "content": "text"})
    reply = AnthropicMessage.model_validate(anthropic_response("Read.", thinking="hm", input_tokens=20, cached_tokens=100, output_tokens=7))
    turn = session.add_response(reply)
    assert turn.calls[1].usage is not None
    assert (turn.calls[1].usage.input_tokens, turn.calls[1].usage.cached_tokens) == (120, 100)
    assert turn.model == "claude-sonnet-4-5"
    assert turn.calls[1].usage.raw is not None
    assert turn.calls[1].usage.raw["output_tokens"] == 7
    session.add({"role": "user", "content": "and now?"})
    session.add(completion.choices[0].message.model_copy(update={"tool_calls": None, "content": "an SDK's message"}))
    assert session.messages[-1].text == "an SDK's message"
    assert session.assemble().to_anthropic()["messages"][-1]["role"] == "assistant"


def test_thinking_goes_back_as_it_came(user: memspan.Scope) -> None:
    session = user.session("s-1", model="claude-sonnet-4-5")
    session.add({"role": "user", "content": "hi"})
    reply = anthropic_response("Hello.", thinking="a greeting")
    session.add_response(reply, prompt=session.assemble())
    session.add({"role": "user", "content": "bye"})
    assert session.messages[1].given["content"] == reply["content"]
    sent = session.assemble().to_anthropic()["messages"][1]["content"]
    assert sent[0] == reply["content"][0]
    assert "a greeting" not in str(session.assemble().to_openai())


UNKNOWN: list[Any] = [
    {},
    {"output": []},
    {"object": "response", "output": []},
    {"candidates": [{"content": {}}]},
    {"choices": []},
    {"choices": [{"message": {"role": "assistant", "content": "a"}}, {"message": {"role": "assistant", "content": "b"}}]},
    {"choices": [{"index": 0, "delta": {"content": "Hel"}}]},
    {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Hel"}},
    {"choices": [{"message": {"role": "assistant", "content": None}, "finish_reason": None}]},
    {"error": {"message": "overloaded"}},
    {"role": "user", "content": "x"},
    [],
    "text",
    None,
    7,
    object(),
    {"role": "assistant", "content": float("nan")},
]


@pytest.mark.parametrize("response", UNKNOWN, ids=range(len(UNKNOWN)))
def test_a_response_of_an_unknown_shape(user: memspan.Scope, response: Any) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "hi"})
    with pytest.raises(memspan.InvalidInput) as raised:
        session.add_response(response, prompt=session.assemble())
    assert ": " in str(raised.value)
    assert len(session.messages) == 1


def test_when_it_was_added(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "hi"})
    [call] = session.add_response(openai_response("x")).calls
    assert call.added_at >= datetime(2025, 1, 1, tzinfo=UTC)
    assert call.prompt is None
    assert call == session.turn(0).calls[0]
    assert hash(call) == hash(session.turn(0).calls[0])


@pytest.mark.parametrize("second", ["OK", "Yes"])
def test_a_server_that_gives_an_id_again(user: memspan.Scope, second: str) -> None:
    """Some servers draw ids from a thousand. The reply was refused, or not stored where its text was the same."""
    session = user.session("s", "gpt-4o")
    for text in ("OK", second):
        session.add({"role": "user", "content": "question"})
        prompt, response = session.assemble(), memspan.testing.openai_response(text, id="chatcmpl-7")
        turn = session.add_response(response, prompt=prompt)
        assert (turn.messages[-1].text, turn.prompt) == (text, prompt)
        for again in (prompt, session.assemble(), None):
            assert session.add_response(response, prompt=again) == turn, "a retry"
    assert [message.text for message in session.messages] == ["question", "OK", "question", second]
    assert [call.response_id for turn in session.turns for call in turn.calls] == ["chatcmpl-7", None]
    session.rewind(2)
    session.add({"role": "user", "content": "and now?"})
    assert session.add_response(memspan.testing.openai_response("OK", id="chatcmpl-8"), prompt=session.assemble()).number == 1
    with pytest.raises(memspan.IdConflict):
        session.add_response(memspan.testing.openai_response("No", id="chatcmpl-8"), prompt=None)
