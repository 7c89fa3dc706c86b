"""Claude's models that bind thinking to all that stands before it: no request sends back what its provider would refuse.

A provider of the test does what Anthropic describes ("Preserved thinking"): it remembers the request that each thinking was made behind,
and refuses a request in which something else stands before it.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import memspan

MODEL = "claude-fable-5-1"
TOOL = {"name": "look", "description": "Looks something up.", "input_schema": {"type": "object", "properties": {}}}


def blocks_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [{key: value for key, value in block.items() if key != "cache_control"} for block in blocks]


class Binding:
    """Answers requests, each answer with thinking of its own; `refused` has the requests whose thinking is not where it was made."""

    def __init__(self) -> None:
        self.made: dict[str, list[Any]] = {}
        self.refused: list[int] = []
        self.sent_back = 0
        self.requests = 0

    def create(self, request: dict[str, Any], *, calls: bool = False) -> dict[str, Any]:
        self.requests += 1
        before: list[Any] = [request.get("system"), request.get("tools")]
        before = json.loads(json.dumps(before, default=str).replace(', "cache_control": {"type": "ephemeral"}', ""))
        for message in request["messages"]:
            for block in blocks_of(message):
                if block["type"] == "thinking":
                    self.sent_back += 1
                    if self.made[block["signature"]] != before:
                        self.refused.append(self.requests)
                before = [*before, [message["role"], block]]
        signature = f"S{self.requests}"
        self.made[signature] = before
        content: list[dict[str, Any]] = [{"type": "thinking", "thinking": "Let me see.", "signature": signature}]
        if calls:
            content.append({"type": "tool_use", "id": f"toolu_{self.requests}", "name": "look", "input": {}})
        else:
            content.append({"type": "text", "text": f"Answer {self.requests}: the part is in shelf {self.requests}. " + "So it is. " * 40})
        reply = {"id": f"msg_{self.requests}", "type": "message", "role": "assistant", "model": MODEL, "content": content}
        return {**reply, "stop_reason": "tool_use" if calls else "end_turn", "usage": {"input_tokens": 100, "output_tokens": 50}}


def turn(session: memspan.Session, provider: Binding, number: int, *, rounds: int = 0) -> None:
    session.add({"role": "user", "content": f"Where is part {number}?"})
    for round_number in range(rounds + 1):
        prompt = session.assemble()
        reply = provider.create(prompt.to_anthropic(), calls=round_number < rounds)
        session.add_response(reply, prompt=prompt)
        for call in session.pending_tool_calls:
            session.add({"role": "tool", "tool_call_id": call.id, "content": "It is there."})


@pytest.fixture
def session(user: memspan.Scope) -> memspan.Session:
    return user.session("s", model=MODEL, system="You help.", tools=[TOOL])


def test_thinking_goes_back_while_nothing_before_it_changes(session: memspan.Session) -> None:
    provider = Binding()
    for number in range(6):
        turn(session, provider, number, rounds=number % 3)
    assert provider.refused == []
    assert provider.sent_back > 30


@pytest.mark.parametrize("change", ["compact", "system", "tools", "pinned", "switch"])
def test_thinking_made_before_the_prefix_changed_stays_behind(user: memspan.Scope, session: memspan.Session, change: str) -> None:
    provider = Binding()
    for number in range(6):
        turn(session, provider, number, rounds=number % 2)
    if change == "compact":
        assert session.compact() is not None
    elif change == "system":
        user.session("s", system="You help with parts.")
    elif change == "tools":
        user.session("s", tools=[TOOL | {"description": "Looks a part up."}])
    elif change == "pinned":
        memory = user.remember("The user prefers short answers.", kind="preference").memory
        turn(session, provider, 6)
        user.forget(memory.id)
    else:
        session.switch_model("claude-opus-5-5")
    before = provider.sent_back
    for number in range(7, 11):
        turn(session, provider, number, rounds=1)
    assert provider.refused == []
    assert provider.sent_back > before, "thinking that was made since goes back"


@pytest.mark.parametrize("budget", [1_500, 2_000, 3_000, 5_000])
@pytest.mark.parametrize("model", [MODEL, "claude-opus-5"])
def test_nothing_that_was_sent_changes_within_an_epoch(user: memspan.Scope, model: str, budget: int) -> None:
    """Also where one began within a turn: the window is planned beside the block before it, whose room no message gets."""
    limits = memspan.Budget(max_input_tokens=budget, output_tokens=200)
    session = user.session("s", model=model, system="You help.", tools=[TOOL], budget=limits)
    provider = Binding()
    before: tuple[int, list[Any]] = (-1, [])
    for number in range(40):
        session.add({"role": "user", "content": f"Where is part {number}? " + "I ask again. " * (7 * number % 12)})
        for round_number in range(number % 4 + 1):
            prompt = session.assemble()
            request = prompt.to_anthropic()
            blocks = [(message["role"], block) for message in request["messages"] for block in blocks_of(message)]
            if prompt.epoch == before[0]:
                assert blocks[: len(before[1])] == before[1], f"turn {number}, round {round_number}"
            before = (prompt.epoch, blocks)
            session.add_response(provider.create(request, calls=round_number < number % 4), prompt=prompt)
            for call in session.pending_tool_calls:
                session.add({"role": "tool", "tool_call_id": call.id, "content": "It is there. " * (11 * number % 30)})
    assert (provider.refused == []) == (model == MODEL)
    assert provider.sent_back > 30


@pytest.mark.parametrize("kind", ["preference", "semantic"])
def test_a_text_that_is_forgotten_within_a_turn_takes_the_thinking_behind_it_along(
    user: memspan.Scope, session: memspan.Session, kind: memspan.Kind
) -> None:
    memory = user.remember("Part 7 is kept in shelf 12.", kind=kind).memory
    provider = Binding()
    for number in range(3):
        turn(session, provider, number)
    session.add({"role": "user", "content": "Where is part 7?"})
    for round_number in range(4):
        prompt = session.assemble()
        assert ("shelf 12" in json.dumps(prompt.to_anthropic())) == (round_number < 2)
        session.add_response(provider.create(prompt.to_anthropic(), calls=round_number < 3), prompt=prompt)
        if round_number == 1:
            user.forget(memory.id)
        for call in session.pending_tool_calls:
            session.add({"role": "tool", "tool_call_id": call.id, "content": "It is there."})
    assert provider.refused == []


def test_a_reply_to_a_prompt_from_before_a_compaction_leaves_its_thinking_behind(session: memspan.Session) -> None:
    provider = Binding()
    for number in range(6):
        turn(session, provider, number)
    session.add({"role": "user", "content": "Where is part 7?"})
    prompt = session.assemble()
    reply = provider.create(prompt.to_anthropic())
    assert session.compact() is not None
    session.add_response(reply, prompt=prompt)
    for number in range(8, 12):
        turn(session, provider, number)
    assert provider.refused == []


def test_another_models_thinking_stays_where_its_provider_takes_it(user: memspan.Scope) -> None:
    session = user.session("s", model="claude-opus-4-6", system="You help.", tools=[TOOL])
    provider = Binding()
    for number in range(4):
        turn(session, provider, number)
    user.session("s", system="You help with parts.")
    sent_back = provider.sent_back
    turn(session, provider, 5)
    assert provider.sent_back - sent_back == 4
