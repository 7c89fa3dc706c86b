"""Replies of Anthropic's in which the model paused for a tool that Anthropic runs: the assistant lets it go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.testing import anthropic_response

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = "claude-sonnet-5"
CALL = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "port"}}
RESULT = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


class Pausing(memspan.providers.Provider):
    """Pauses so many times before it answers, each time in the call of a search."""

    def __init__(self, pauses: int) -> None:
        super().__init__()
        self.pauses, self.requests = pauses, list[dict[str, Any]]()

    def complete(self, prompt: memspan.Prompt, **_: Any) -> dict[str, Any]:
        """A paused reply, or the answer."""
        self.requests.append(prompt.to_anthropic())
        number = len(self.requests)
        if number > self.pauses:
            answer = anthropic_response("It listens on 8443.", id=f"msg_{number}", model=MODEL, output_tokens=1)
            return {**answer, "content": [RESULT, *answer["content"]]} if self.pauses else answer
        paused = anthropic_response(f"Let me search, part {number}.", id=f"msg_{number}", model=MODEL, finish="pause_turn", output_tokens=1)
        return {**paused, "content": [*([RESULT] if number > 1 else []), *paused["content"], CALL]}

    def stream(self, prompt: memspan.Prompt, **_: Any) -> Iterator[dict[str, Any]]:
        """The same in pieces."""
        whole = self.complete(prompt)
        yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
        for index, block in enumerate(whole["content"]):
            yield {"type": "content_block_start", "index": index, "content_block": block}
            yield {"type": "content_block_stop", "index": index}
        yield {"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"]}, "usage": {"output_tokens": 1}}
        yield {"type": "message_stop"}


def assistant_of(engine: memspan.Engine, provider: Pausing, **options: Any) -> memspan.Assistant:
    return memspan.Assistant(engine, provider, model=MODEL, **options)


@pytest.mark.parametrize("streams", [False, True])
def test_a_paused_reply_goes_on(memspan_engine: memspan.Engine, streams: bool) -> None:
    user = memspan_engine.user("u")
    user.remember("payments-api was moved to Frankfurt")
    provider = Pausing(2)
    assistant = assistant_of(memspan_engine, provider)
    if streams:
        last = list(assistant.stream("u", "which port does payments-api use?", session="s", id="m-1"))[-1]
        assert last.reply is not None
        reply = last.reply
    else:
        reply = assistant.respond("u", "which port does payments-api use?", session="s", id="m-1")
    assert (reply.text, reply.rounds, reply.stopped) == ("It listens on 8443.", 2, None)
    for request in provider.requests[1:]:
        assert [message["role"] for message in request["messages"]] == ["user", "assistant"], "nobody speaks behind what paused"
        assert request["messages"][-1]["content"][-1]["type"] == "server_tool_use"
        said, before = ([block["text"] for block in one["messages"][0]["content"]] for one in (request, provider.requests[0]))
        assert said == before, "what is recalled stays where it was"
        assert "Frankfurt" in said[0]
    session = user.session("s")
    assert len(session.turns) == 1
    assert [message.role for message in session.messages] == ["user", "assistant", "assistant", "assistant"]
    session.add({"role": "user", "content": "thanks"})
    sent = session.assemble().to_anthropic()["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    kinds = [block["type"] for block in sent[1]["content"]]
    assert kinds == ["text", "server_tool_use", "web_search_tool_result", "text", "server_tool_use", "web_search_tool_result", "text"]


def test_a_model_that_pauses_for_ever(memspan_engine: memspan.Engine) -> None:
    provider = Pausing(99)
    reply = assistant_of(memspan_engine, provider, max_rounds=3).respond("u", "which port?", session="s")
    assert (len(provider.requests), reply.rounds, reply.stopped) == (4, 3, "max_rounds")


def test_a_retry_behind_a_pause_goes_on(memspan_engine: memspan.Engine) -> None:
    """A worker that died behind a paused reply: the message has no answer yet."""
    session = memspan_engine.user("u").session("s", MODEL)
    provider = Pausing(1)
    session.add({"role": "user", "content": "which port?"}, id="m-1")
    prompt = session.assemble()
    session.add_response(provider.complete(prompt), prompt=prompt)
    reply = assistant_of(memspan_engine, provider).respond("u", "which port?", session="s", id="m-1")
    assert (reply.text, reply.stored, len(provider.requests)) == ("It listens on 8443.", False, 2)
    assert assistant_of(memspan_engine, provider).respond("u", "which port?", session="s", id="m-1").stored


def test_a_pause_that_is_left_behind_has_no_open_call(memspan_engine: memspan.Engine) -> None:
    """Anthropic refuses a call of its own tools without a result, but at the end of a request."""
    session = memspan_engine.user("u").session("s", MODEL)
    provider = Pausing(1)
    session.add({"role": "user", "content": "which port?"})
    session.add_response(provider.complete(session.assemble()))
    session.add({"role": "user", "content": "never mind"})
    sent = session.assemble().to_anthropic()["messages"]
    assert sent[1]["content"] == [{"type": "text", "text": "Let me search, part 1."}, {"type": "text", "text": "(Stopped here.)"}]
    session.rewind(2)
    assert session.assemble().to_anthropic()["messages"][-1]["content"][-1]["type"] == "server_tool_use"


def test_a_search_beside_a_call_of_the_programs_has_its_result_later(memspan_engine: memspan.Engine) -> None:
    session = memspan_engine.user("u").session("s", MODEL)
    session.add({"role": "user", "content": "which port, and which day?"})
    reply = anthropic_response("Let me see.", tool_calls=[("toolu_1", "today", {})], model=MODEL)
    session.add_response({**reply, "content": [reply["content"][0], CALL, reply["content"][1]]})
    session.add({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "Tuesday"}]})
    kinds = [block["type"] for block in session.assemble().to_anthropic()["messages"][1]["content"]]
    assert sorted(kinds) == ["server_tool_use", "text", "tool_use"]


@pytest.mark.parametrize("compact", [None, memspan.Compact(at=0.6)])
@pytest.mark.parametrize("model", ["claude-sonnet-5", "claude-opus-5-5"])
def test_no_result_of_a_search_is_sent_without_its_call(user: memspan.Scope, model: str, compact: memspan.Compact | None) -> None:
    """The window, or a summary, ends between a pause and the reply that goes on with the result."""
    session = user.session("s", model=model, budget=memspan.Budget(max_input_tokens=3_000, compact=compact))
    session.add({"role": "user", "content": "Look into it."})
    for number in range(30):
        prompt, called = session.assemble(), set[str]()
        for block in (block for message in prompt.to_anthropic()["messages"] for block in message["content"]):
            if block["type"] == "server_tool_use":
                called.add(block["id"])
            assert block["type"] != "web_search_tool_result" or block["tool_use_id"] in called
        answer = anthropic_response(f"Finding {number}. " + "It is so. " * 40, id=f"msg_{number}", model=model, finish="pause_turn")
        result: list[dict[str, Any]] = [{**RESULT, "tool_use_id": f"srvtoolu_{number - 1}"}] if number else []
        session.add_response({**answer, "content": [*result, *answer["content"], {**CALL, "id": f"srvtoolu_{number}"}]}, prompt=prompt)
        if session.compaction_due:
            session.compact()
    assert session.epoch > 1
