"""Streamed replies: every dialect gathered, cut at every byte, odd chunks, checkpoints, crashes, cancellation."""

# ruff: noqa: E501, PT012  an event a line; what fails is fed in a loop
from __future__ import annotations

import asyncio
import fcntl
import json
import time
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING, Any

import pytest
from anthropic.types import RawMessageStreamEvent
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

import memspan
from memspan.stream import Gatherer
from memspan.testing import openai_response, openai_stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CALL = ("call_1", "read_file", {"path": "/etc/hosts", "mode": "text"})

ANTHROPIC: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": [],
        "stop_reason": None, "stop_sequence": None,
        "usage": {"input_tokens": 25, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 5, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Which "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "file?"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "EqoBCkg="}},
    {"type": "content_block_stop", "index": 0},
    {"type": "ping"},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "I look "}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "it up: 漢字 😀."}},
    {"type": "content_block_stop", "index": 1},
    {"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": ""}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{\"path\": \"/etc"}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "/hosts\"}"}},
    {"type": "content_block_stop", "index": 2},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": {"output_tokens": 89}},
    {"type": "message_stop"},
]  # fmt: skip

REASONING = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAA"}
SAID = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "I look it up: 漢字 😀.", "annotations": []}]}  # fmt: skip
CALLED = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "call_1",
    "name": "read_file",
    "arguments": '{"path": "/etc/hosts"}',
    "status": "completed",
}
WHOLE: dict[str, Any] = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "status": "completed", "output": [REASONING, SAID, CALLED],
         "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "incomplete_details": None, "error": None, "usage":
         {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 0}, "output_tokens": 40,
          "output_tokens_details": {"reasoning_tokens": 30}, "total_tokens": 70}}  # fmt: skip
RESPONSES: list[dict[str, Any]] = [
    {"type": "response.created", "sequence_number": 0, "response": {**WHOLE, "status": "in_progress", "output": [], "usage": None}},
    {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": {**REASONING, "encrypted_content": None}},
    {"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": REASONING},
    {
        "type": "response.output_item.added",
        "sequence_number": 3,
        "output_index": 1,
        "item": {**SAID, "content": [], "status": "in_progress"},
    },
    {
        "type": "response.output_text.delta",
        "sequence_number": 4,
        "item_id": "msg_1",
        "output_index": 1,
        "content_index": 0,
        "delta": "I look ",
        "logprobs": [],
    },
    {
        "type": "response.output_text.delta",
        "sequence_number": 5,
        "item_id": "msg_1",
        "output_index": 1,
        "content_index": 0,
        "delta": "it up: 漢字 😀.",
        "logprobs": [],
    },
    {"type": "response.output_item.done", "sequence_number": 6, "output_index": 1, "item": SAID},
    {
        "type": "response.output_item.added",
        "sequence_number": 7,
        "output_index": 2,
        "item": {**CALLED, "arguments": "", "status": "in_progress"},
    },
    {"type": "response.function_call_arguments.delta", "sequence_number": 8, "item_id": "fc_1", "output_index": 2, "delta": '{"path"'},
    {"type": "response.output_item.done", "sequence_number": 9, "output_index": 2, "item": CALLED},
    {"type": "response.completed", "sequence_number": 10, "response": WHOLE},
]
GEMINI: list[dict[str, Any]] = [
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hm. ", "thought": True}]}, "index": 0}], "responseId": "g-1", "modelVersion": "gemini-3-pro"},
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "I look "}]}, "index": 0}], "responseId": "g-1"},
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "it up: 漢字 😀."}]}, "index": 0}]},
    {"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "read_file", "args": {"path": "/etc/hosts"}}, "thoughtSignature": "c2ln"}]}, "index": 0}]},
    {"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP", "index": 0}],
     "usageMetadata": {"promptTokenCount": 30, "cachedContentTokenCount": 8, "candidatesTokenCount": 10, "thoughtsTokenCount": 30, "totalTokenCount": 70}},
]  # fmt: skip
CHAT = openai_stream("I look it up: 漢字 😀.", tool_calls=[CALL], input_tokens=30, output_tokens=40)
STREAMS = {"chat": CHAT, "anthropic": ANTHROPIC, "responses": RESPONSES, "gemini": GEMINI}
FINISH = {"chat": "tool_calls", "anthropic": "tool_use", "responses": "completed", "gemini": "STOP"}
MODELS = {"chat": "gpt-4o", "anthropic": "claude-sonnet-4-5", "responses": "gpt-5", "gemini": "gemini-3-pro-preview"}


def events(chunks: list[dict[str, Any]]) -> bytes:
    """As a server sends them."""
    lines = [f"event: {chunk['type']}\n" if "type" in chunk else "" for chunk in chunks]
    return (
        "".join(f"{head}data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for head, chunk in zip(lines, chunks, strict=True)).encode()
        + b"data: [DONE]\n\n"
    )


def session_of(user: memspan.Scope, dialect: str, name: str = "s-1") -> memspan.Session:
    model = MODELS[dialect] if MODELS[dialect] in memspan.models else next(one for one in memspan.models if one.startswith("gemini-3"))
    session = user.session(name, model=model, system="You are terse.")
    session.add({"role": "user", "content": "read the hosts file"})
    return session


@pytest.mark.parametrize("dialect", STREAMS)
def test_every_dialect_is_gathered(user: memspan.Scope, dialect: str) -> None:
    session = session_of(user, dialect)
    with session.reply(session.assemble()) as reply:
        pieces = [reply.feed(chunk) for chunk in STREAMS[dialect]]
    assert "".join(pieces) == reply.text == "I look it up: 漢字 😀."
    assert reply.turn is not None
    call = reply.turn.calls[0]
    assert (call.finish, call.response_id) == (
        FINISH[dialect],
        {"anthropic": "msg_1", "responses": "resp_1", "gemini": "g-1"}.get(dialect, CHAT[0]["id"]),
    )
    assert call.usage is not None
    assert call.usage.input_tokens == (1030 if dialect == "anthropic" else 30)
    assert call.usage.output_tokens == (89 if dialect == "anthropic" else 40)
    [pending] = session.pending_tool_calls
    assert pending.name == "read_file"
    assert pending.arguments["path"] == "/etc/hosts"  # type: ignore[index]
    assert session.partial_reply is None
    session.add({"role": "tool", "tool_call_id": pending.id, "content": "127.0.0.1 localhost"})
    prompt = session.assemble()
    # What one vendor's model said goes to every other vendor, and back to its own with what it signed.
    requests = {
        "anthropic": prompt.to_anthropic(),
        "chat": prompt.to_openai(),
        "responses": prompt.to_openai_responses(),
        "gemini": prompt.to_gemini(),
    }
    secrets = {"anthropic": "EqoBCkg=", "responses": "gAAAA", "gemini": "b'sig'"}
    for name, request in requests.items():
        assert "it up: 漢字" in str(request), name
        for vendor, secret in secrets.items():
            assert (secret in str(request)) == (vendor == name == dialect), (vendor, name)


def test_the_sdks_objects_are_gathered(user: memspan.Scope) -> None:
    kinds: dict[str, Any] = {
        "chat": TypeAdapter(ChatCompletionChunk),
        "anthropic": TypeAdapter(RawMessageStreamEvent),
        "responses": TypeAdapter(ResponseStreamEvent),
    }
    for dialect, kind in kinds.items():
        plain, typed = Gatherer(), Gatherer()
        for chunk in STREAMS[dialect]:
            if chunk.get("type") == "ping":
                continue
            plain.feed(chunk)
            typed.feed(kind.validate_python(chunk))
        assert typed.finished
        session = session_of(user, dialect, dialect)
        turn = session.add_response(typed.response(), prompt=session.assemble())
        other = session_of(user, dialect, f"{dialect}-plain")
        assert turn.calls[0].usage == other.add_response(plain.response(), prompt=other.assemble()).calls[0].usage
        assert [message.text for message in session.messages] == [message.text for message in other.messages]


@pytest.mark.parametrize("dialect", STREAMS)
def test_cut_at_every_byte_nothing_is_torn(dialect: str) -> None:
    raw = events(STREAMS[dialect])
    whole = Gatherer()
    whole.feed(raw)
    text = whole.text
    assert whole.finished
    for cut in range(len(raw)):
        gatherer = Gatherer()
        gatherer.feed(raw[:cut])
        assert text.startswith(gatherer.text)
        if gatherer.started:
            check_parts(json.loads(json.dumps(gatherer.response())), text)
        gatherer.feed(raw[cut:])  # and goes on where it was cut
        assert (gatherer.text, gatherer.finished) == (text, True)
        assert gatherer.response() == whole.response()


def check_parts(response: dict[str, Any], text: str) -> None:
    """No torn text, no torn arguments, no unsigned thinking."""
    assert text.startswith(memspan.stream.response_text(response))
    blocks = list(response.get("content") or response.get("output") or ())
    for choice in response.get("choices", ()):
        blocks += [{"type": "call", "arguments": call["function"]["arguments"]} for call in choice["message"].get("tool_calls", ())]
    for block in blocks:
        if block["type"] == "thinking":
            assert block["signature"] == "EqoBCkg="
        if block["type"] == "tool_use":
            assert block["input"] == {"path": "/etc/hosts"}
        if "arguments" in block:
            assert json.loads(block["arguments"])["path"] == "/etc/hosts"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_number_that_json_does_not_have_keeps_no_reply_from_being_read(memspan_engine: memspan.Engine, number: str) -> None:
    """The partial reply was stored as it came, and reading it said that the store was damaged."""
    session = memspan_engine.user("u").session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "tell me"})
    with pytest.raises(memspan.ProviderError), session.reply(session.assemble()) as reply:
        reply.feed(
            json.loads(f'{{"choices": [{{"index": 0, "delta": {{"content": "It is 4"}}}}], "usage": {{"prompt_tokens": {number}}}}}')
        )
    assert session.partial_reply is not None
    assert session.keep_partial_reply().messages[-1].text == "It is 4"


def test_a_cut_stream_is_kept_and_can_go_on(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "store", embedder=None) as engine:
        session = engine.user("u").session("s-1", model="gpt-4o")
        session.add({"role": "user", "content": "tell me"})
        with pytest.raises(memspan.ProviderError, match="stopped after 8 characters"), session.reply(session.assemble()) as reply:
            for chunk in openai_stream("One two three four.")[:3]:
                reply.feed(chunk)
    with memspan.open(tmp_path / "store", embedder=None) as engine:  # another process, after a crash
        session = engine.user("u").session("s-1")
        partial = session.partial_reply
        assert partial is not None
        assert (partial.text, partial.messages, partial.error) == ("One two ", 1, "the stream ended before the reply did")
        assert len(session.messages) == 1
        assert engine.check().sound
        turn = session.keep_partial_reply()
        assert (turn.messages[-1].text, turn.calls[0].finish) == ("One two ", "interrupted")
        assert session.partial_reply is None
        with pytest.raises(memspan.NotFound):
            session.keep_partial_reply()
        assert not session.drop_partial_reply()


def test_a_partial_reply_of_a_session_that_went_on(user: memspan.Scope) -> None:
    session = session_of(user, "chat")
    with pytest.raises(KeyboardInterrupt), session.reply(session.assemble()) as reply:
        reply.feed(CHAT[0])
        reply.feed(CHAT[1])
        raise KeyboardInterrupt
    assert getattr(session.partial_reply, "error", "").startswith("KeyboardInterrupt")
    session.add({"role": "user", "content": "never mind"})
    with pytest.raises(memspan.SessionMoved):
        session.keep_partial_reply()
    assert session.partial_reply is None
    session.delete()


def cut_off(session: memspan.Session, *, then: Callable[[], object] = lambda: None) -> None:
    """A reply whose stream dies; `then` happens while it comes."""
    with pytest.raises(KeyboardInterrupt), session.reply(session.assemble()) as reply:
        reply.feed(CHAT[0])
        reply.feed(CHAT[1])
        then()
        raise KeyboardInterrupt


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("change", ["rewind", "redact", "delete"])
def test_no_reply_answers_what_was_taken_back(user: memspan.Scope, change: str, *, early: bool) -> None:
    session = session_of(user, "chat")

    def moved() -> None:
        if change == "delete":
            session.delete()
            user.session("s-1", model="gpt-4o")
        else:
            getattr(session, change)(0)
        if change != "redact":
            session.add({"role": "user", "content": "What is the capital of France?"})

    if early:
        cut_off(session, then=moved)
    else:
        cut_off(session)
        moved()
    assert session.partial_reply is None
    with pytest.raises(memspan.NotFound):
        session.keep_partial_reply()
    assert [message.role for message in session.messages] == ["user"]


def test_a_reply_answers_the_messages_of_its_prompt(user: memspan.Scope) -> None:
    session = session_of(user, "chat")
    cut_off(session, then=lambda: session.add({"role": "user", "content": "never mind"}))
    assert getattr(session.partial_reply, "messages", 0) == 1
    with pytest.raises(memspan.SessionMoved):
        session.keep_partial_reply()


def test_no_partial_reply_is_kept_behind_a_newer_message(user: memspan.Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another added between the look at the session and the write went in front of it."""
    session = session_of(user, "chat")
    with pytest.raises(KeyError), session.reply(session.assemble()) as reply:
        reply.feed(STREAMS["chat"][0])
        reply.feed(STREAMS["chat"][1])
        raise KeyError
    partial = session.partial_reply
    assert partial is not None
    monkeypatch.setattr(memspan.Session, "partial_reply", partial)
    user.session("s-1").add({"role": "user", "content": "never mind"})
    with pytest.raises(memspan.SessionMoved):
        session.keep_partial_reply()
    monkeypatch.undo()
    assert session.partial_reply is None
    assert [message.role for message in session.messages][-1] == "user"


def test_a_partial_reply_stays_with_its_session(user: memspan.Scope) -> None:
    session = session_of(user, "chat")
    cut_off(session)
    assert session.fork("s-2").partial_reply is None
    session.compact()
    assert session.keep_partial_reply().messages[-1].text


def test_it_is_kept_every_two_seconds(user: memspan.Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    session = session_of(user, "chat")
    with session.reply(session.assemble()) as reply:
        for place, chunk in enumerate(CHAT):
            reply.feed(chunk)
            now[0] += 0.9
            partial = session.partial_reply
            assert (partial is None) == (place < 3), place
            if place == 3:
                assert partial is not None
                assert partial.text == "I look it "
    assert session.partial_reply is None


@pytest.mark.parametrize("ends", ["well", "early", "with an error", "refused"])
def test_a_copy_that_cannot_be_kept_ends_no_stream(store: Path, monkeypatch: pytest.MonkeyPatch, ends: str) -> None:
    """The copy of every two seconds raised StoreBusy out of feed(), and the reply that was being paid for was lost."""
    monkeypatch.setattr("memspan.reply._CHECKPOINT_SECONDS", 0.0)
    events: list[memspan.Event] = []
    errors: dict[str, type[Exception]] = {"early": memspan.ProviderError, "with an error": LookupError, "refused": memspan.StoreBusy}
    outcome = pytest.raises(errors[ends]) if ends in errors else nullcontext()
    with memspan.open(store, on_event=events.append, busy_timeout_seconds=0.01, embedder=None) as engine:
        session = session_of(engine.user("u"), "chat")
        prompt = session.assemble()
        with outcome as raised, ExitStack() as busy, session.reply(prompt) as reply:
            reply.feed(CHAT[0])
            lock = busy.enter_context((store / "lock").open("r+b"))
            fcntl.flock(lock, fcntl.LOCK_EX)  # another writer holds the store
            for chunk in CHAT[1 : 3 if ends == "early" else None]:
                reply.feed(chunk)
            if ends == "well":
                busy.close()
            if ends == "with an error":
                raise LookupError("\ud800")
        if raised is None:
            assert session.messages[-1].text.startswith("I look it up")
        else:
            assert any("could not be kept" in note for note in raised.value.__notes__)
        assert [(event.kind, event.session) for event in events] == [("partial", session.id)]


@pytest.mark.parametrize(
    "error",
    [
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"error": {"message": "The server had an error", "type": "server_error", "code": None}},
        {
            "type": "response.failed",
            "response": {"id": "r", "status": "failed", "error": {"code": "server_error", "message": "x"}, "output": []},
        },
        {"type": "error", "code": "server_error", "message": "x", "param": None, "sequence_number": 9},
    ],
)
def test_an_error_in_the_middle(user: memspan.Scope, error: dict[str, Any]) -> None:
    dialect = "responses" if error.get("type") == "response.failed" or "code" in error else "anthropic"
    session = session_of(user, dialect)
    with pytest.raises(memspan.ProviderError) as raised, session.reply(session.assemble()) as reply:
        for chunk in STREAMS[dialect][:10]:
            reply.feed(chunk)
        reply.feed(error)
    assert raised.value.refusal.kind in {"overloaded", "outage"}  # type: ignore[attr-defined]
    assert getattr(session.partial_reply, "text", "").startswith("I look ")
    assert len(session.messages) == 1
    assert session.assemble().messages[-1]["role"] == "user"


def test_odd_streams(user: memspan.Scope) -> None:
    session = session_of(user, "chat")
    with pytest.raises(memspan.InvalidInput, match="a chunk is what"), session.reply(session.assemble()) as reply:
        reply.feed(7)
    with pytest.raises(memspan.InvalidInput, match="a chunk is what"), session.reply(session.assemble()) as reply:
        reply.feed(None)
    with pytest.raises(memspan.ProviderError, match="must be JSON"), session.reply(session.assemble()) as reply:
        reply.feed(b"data: {nonsense}\n")
    with pytest.raises(memspan.ProviderError, match="stopped after 0"), session.reply(session.assemble()) as reply:
        reply.feed(b": keep-alive\n\n")
    with pytest.raises(memspan.InvalidInput, match="pass the Prompt itself"):
        session.reply("prompt")  # type: ignore[arg-type]
    gatherer = Gatherer()
    two = [
        {"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]},
    ]
    for chunk in [*two, {"choices": [{"index": 1, "delta": {"content": "of another choice"}}]}, {"choices": None, "usage": None}, {}]:
        gatherer.feed(chunk)
    assert (gatherer.text, gatherer.finish) == ("a", "stop")
    # Gemini's compatible endpoint gives every call the index 0; Ollama gives arguments as an object.
    gatherer = Gatherer()
    for call_id, arguments in [("c1", '{"a": 1}'), ("c2", {"b": 2})]:
        call = {"index": 0, "id": call_id, "function": {"name": "f", "arguments": arguments}}
        gatherer.feed({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": None}]})
    gatherer.feed({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    calls = gatherer.response()["choices"][0]["message"]["tool_calls"]
    assert [(call["id"], json.loads(call["function"]["arguments"])) for call in calls] == [("c1", {"a": 1}), ("c2", {"b": 2})]


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": -5}, False),
        ({"prompt_tokens": 10**15}, False),
        ({"prompt_tokens": True}, False),
        ({"prompt_tokens": float("nan"), "completion_tokens": 1}, False),
        ({"prompt_tokens": 30, "completion_tokens": float("-inf")}, False),
        ("no", False),
        ({"prompt_tokens": 30}, True),
    ],
)
def test_odd_usage_loses_no_reply(user: memspan.Scope, usage: Any, counted: bool) -> None:
    session = session_of(user, "chat")
    turn = session.add_response({**openai_response("yes"), "usage": usage}, prompt=session.assemble())
    assert turn.messages[-1].text == "yes"
    assert (turn.usage is not None) == counted
    session.add({"role": "user", "content": "more"})
    assert session.assemble().total_tokens <= session.assemble().max_input_tokens


@pytest.mark.parametrize(
    "response",
    [
        None, b"bytes", 7, [], {}, {"choices": []}, {"choices": None}, {"candidates": []}, {"output": []}, {"object": "response"},
        {"promptFeedback": {"blockReason": "SAFETY"}}, {"candidates": [{"content": {"parts": []}, "finishReason": "MAX_TOKENS"}]},
        {"choices": [{"message": {"role": "assistant", "content": None}, "finish_reason": "length"}]},
        {"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f"}}, {"id": "a", "function": {"name": "f"}}]}}]},
    ],
)  # fmt: skip
def test_replies_that_cannot_be(user: memspan.Scope, response: Any) -> None:
    session = session_of(user, "chat")
    prompt = session.assemble()
    with pytest.raises(memspan.InvalidInput):
        session.add_response(response, prompt=prompt)
    assert len(session.messages) == 1
    assert session.assemble() == prompt


def test_feeding_does_not_wait_for_other_writers(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An event loop stood still for as long as another process wrote."""
    monkeypatch.setattr("memspan.reply._CHECKPOINT_SECONDS", 0.0)
    with memspan.open(store, busy_timeout_seconds=1_000, embedder=None) as engine:
        session = session_of(engine.user("u"), "chat")
        with session.reply(session.assemble()) as reply:
            reply.feed(CHAT[0])
            with (store / "lock").open("r+b") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                for chunk in CHAT[1:]:
                    reply.feed(chunk)
        assert session.messages[-1].text.startswith("I look it up")


@pytest.mark.parametrize("named", [True, False])
def test_calls_of_one_index_are_told_apart_piece_by_piece(named: bool) -> None:
    def piece(arguments: str, *, call_id: str | None = None, name: str | None = None) -> dict[str, object]:
        call = {"index": 0, "id": call_id, "function": {"name": name, "arguments": arguments}}
        return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}

    gatherer = Gatherer()
    for call_id, begun, rest in (("a", '{"x": ', "1}"), ("b", '{"y": ', "2}")):
        gatherer.feed(piece(begun, call_id=call_id, name="f"))
        gatherer.feed(piece(rest, call_id=call_id if named else None))
    gatherer.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    calls = gatherer.response()["choices"][0]["message"]["tool_calls"]
    assert [(call["id"], call["function"]["arguments"]) for call in calls] == [("a", '{"x": 1}'), ("b", '{"y": 2}')]


@pytest.mark.parametrize("finish", ["stop", "content_filter", "length"])
def test_a_reply_that_says_nothing_is_the_same_whole_and_streamed(user: memspan.Scope, finish: str) -> None:
    whole, streamed = (user.session(name, model="gpt-4o") for name in ("whole", "streamed"))
    for session in (whole, streamed):
        session.add({"role": "user", "content": "hello"})
    message = {"role": "assistant", "content": ""}
    whole.add_response({"id": "r", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}, prompt=whole.assemble())
    with streamed.reply(streamed.assemble()) as reply:
        reply.feed({"id": "r", "choices": [{"index": 0, "delta": {"role": "assistant"}, "finish_reason": finish}]})
    assert streamed.messages[-1].given == whole.messages[-1].given
    assert [session.turns[-1].calls[-1].finish for session in (streamed, whole)] == [finish, finish]


def test_a_refusal_that_broke_off_is_one() -> None:
    gatherer = Gatherer()
    gatherer.feed({"type": "response.created", "response": {"id": "r"}})
    gatherer.feed({"type": "response.refusal.delta", "delta": "I cannot", "output_index": 0})
    [item] = gatherer.response()["output"]
    assert item["content"] == [{"type": "refusal", "refusal": "I cannot"}]
    assert gatherer.text == ""


def test_the_thought_that_opens_a_block_is_kept() -> None:
    gatherer = Gatherer()
    gatherer.feed({"type": "message_start", "message": {"id": "m", "role": "assistant"}})
    gatherer.feed(
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "First, ", "signature": ""}}
    )
    gatherer.feed({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "look."}})
    gatherer.feed({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s"}})
    [block] = gatherer.response()["content"]
    assert block["thinking"] == "First, look."


def test_what_google_signs_a_call_with_is_kept() -> None:
    gatherer = Gatherer()
    function = {"name": "f", "arguments": "{}"}
    signed = {"google": {"thought_signature": "U0lH"}}
    call = {"index": 0, "id": "c", "type": "function", "function": function, "extra_content": signed}
    gatherer.feed({"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}}]})
    gatherer.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    [kept] = gatherer.response()["choices"][0]["message"]["tool_calls"]
    assert kept == {"id": "c", "type": "function", "function": function, "extra_content": signed}


def test_mistrals_thinking_is_kept_as_the_whole_reply_has_it(user: memspan.Scope) -> None:
    def part(thought: str, **fields: Any) -> dict[str, Any]:
        return {"type": "thinking", "thinking": [{"type": "text", "text": thought}], **fields}

    source = {"type": "reference", "reference_ids": [1]}
    given: list[Any] = [
        "",
        [part("Two and ")],
        [part("two.", closed=True), {"type": "text", "text": "It "}],
        "is ",
        [{"type": "text", "text": "4"}, source],
        ".",
    ]
    content = [part("Two and two.", closed=True), {"type": "text", "text": "It is 4"}, source, {"type": "text", "text": "."}]
    gatherer, texts = Gatherer(), []
    for number, one in enumerate(given):
        finish = "stop" if number == len(given) - 1 else None
        texts.append(gatherer.feed({"id": "c", "choices": [{"index": 0, "delta": {"content": one}, "finish_reason": finish}]}))
    assert texts == ["", "", "It ", "is ", "4", "."]
    assert gatherer.text == "It is 4."
    reply = gatherer.response()
    assert reply["choices"][0]["message"]["content"] == content
    assert given[1] == [part("Two and ")], "nothing of the caller's is changed"
    session = user.session("s-1", model="mistral-large-3")
    session.add({"role": "user", "content": "2+2"})
    session.add_response(reply)
    session.add({"role": "user", "content": "and twice that?"})
    assert session.assemble().to_openai()["messages"][1]["content"] == content


@pytest.mark.parametrize(
    "parts",
    [
        ["x"],
        [{"type": "thinking"}],
        [{"type": "thinking", "thinking": "hm"}],
        [{"type": "thinking", "thinking": [None, 1, ["x"]]}],
        [None],
        [{"type": 3}],
        [{"type": "tool_use"}],
        [{"type": "reference"}],
    ],
)
def test_odd_parts_end_no_stream(parts: list[Any]) -> None:
    gatherer = Gatherer()
    gatherer.feed({"choices": [{"index": 0, "delta": {"content": parts}}]})
    assert gatherer.feed({"choices": [{"index": 0, "delta": {"content": "4"}, "finish_reason": "stop"}]}) == "4"
    assert gatherer.text == "4"
    content = gatherer.response()["choices"][0]["message"]["content"]
    assert content == "4" or (content[0]["type"], content[1:]) == (parts[0]["type"], [{"type": "text", "text": "4"}])


def test_a_long_event_is_not_copied_by_each_of_its_pieces() -> None:
    gatherer = Gatherer()
    event = b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": "x" * 100_000}}]}).encode()
    gatherer.feed(event[:10])
    kept = gatherer._events._rest
    for begin in range(10, len(event), 1000):
        assert gatherer.feed(event[begin : begin + 1000]) == ""
    assert gatherer._events._rest is kept
    assert gatherer.feed(b"\n\n") == "x" * 100_000


def test_a_reply_that_cannot_be_added_is_kept(user: memspan.Scope) -> None:
    session = session_of(user, "chat")
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    calls = [{"index": place, **call} for place in range(2)]
    with pytest.raises(memspan.InvalidInput, match="must differ"), session.reply(session.assemble()) as reply:
        reply.feed({"choices": [{"index": 0, "delta": {"content": "an answer that was paid"}}]})
        reply.feed({"choices": [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}]})
    assert session.partial_reply is not None
    assert session.partial_reply.text == "an answer that was paid"
    assert "must differ" in str(session.partial_reply.error)


def test_an_unknown_finish_and_arguments_that_are_no_json(user: memspan.Scope) -> None:
    session = session_of(user, "chat")
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a'}}],
    }
    turn = session.add_response(
        {"id": "r", "choices": [{"index": 0, "message": message, "finish_reason": "banana"}]}, prompt=session.assemble()
    )
    assert turn.calls[0].finish == "banana"
    [call] = session.pending_tool_calls
    assert call.arguments == '{"a'

    def f(a: int) -> int:
        return a

    session.answer(call, functions=[f])
    assert "must be a JSON object" in session.messages[-1].text
    for render in (
        session.assemble().to_openai,
        session.assemble().to_anthropic,
        session.assemble().to_gemini,
        session.assemble().to_openai_responses,
    ):
        assert render()


def test_awaited(user: memspan.Scope) -> None:
    async def life() -> None:
        session = session_of(user, "chat")
        async with session.lease(seconds=5) as lease, session.reply(session.assemble()) as reply:
            assert lease.held
            for chunk in CHAT:
                reply.feed(chunk)
        assert reply.turn is not None
        await session.acancel_tool_calls(reason="stop")

        async def cancelled() -> None:
            async with session.reply(session.assemble()) as cut:
                for chunk in openai_stream("One two three."):
                    cut.feed(chunk)
                    await asyncio.sleep(0.05)

        task = asyncio.create_task(cancelled())
        await asyncio.sleep(0.12)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert getattr(session.partial_reply, "error", "").startswith("CancelledError")
        assert await session.adrop_partial_reply()

    asyncio.run(life())


def test_feeding_a_chunk_is_quick() -> None:
    chunks = [ChatCompletionChunk.model_validate(chunk) for chunk in openai_stream("word " * 2_000)]
    best = float("inf")
    for _ in range(5):
        gatherer, start = Gatherer(), time.process_time()
        for chunk in chunks:
            gatherer.feed(chunk)
        best = min(best, (time.process_time() - start) / len(chunks))
    assert best < 50e-6  # ten times the figure of docs/providers.md: a busy machine must not turn it red
