"""A session of one vendor's model goes on with another's: each server is sent what it takes, and the count says what is sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.vendors import rules

import memspan

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "shot", "parameters": {"type": "object", "properties": {}}}},
    {"type": "web_search"},
]
IMAGE = {"type": "input_image", "image_url": "https://x.org/a.png"}
SERVERS = {
    "gpt-5": "openai",
    "gpt-4o": "openai",
    "gpt-4.1": "openai",
    "kimi-k3": "moonshot",
    "mistral-large-latest": "mistral",
    "gemini-3.5-flash": "gemini",
    "gemini-3.1-pro-preview": "gemini",
    "grok-4.6": "xai",
    "qwen3-max": "qwen",
    "llama-4-scout": "llama.cpp",
}


def replies(rounds: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for number in range(rounds):
        call = {"id": "fc", "type": "function_call", "call_id": f"call_{number}", "name": "shot", "arguments": "{}", "status": "completed"}
        thought = {"id": f"rs_{number}", "type": "reasoning", "summary": [], "encrypted_content": "gAAA" * 1_000}
        reply = {"id": f"r{number}", "object": "response", "model": "gpt-5", "status": "completed", "output": [thought, call]}
        kept: dict[str, Any] = {"type": "input_image", "file_id": "file-1"}
        yield reply, {"type": "function_call_output", "call_id": f"call_{number}", "output": [IMAGE, kept]}


def session_of_gpt(user: memspan.Scope, session_id: str) -> memspan.Session:
    session = user.session(session_id, model="gpt-5", tools=TOOLS)
    session.add({"role": "user", "content": [{"type": "input_image", "file_id": "file-1"}]})
    refused = {"role": "assistant", "content": None, "refusal": "I will not."}
    session.add_response(
        {"object": "chat.completion", "id": "c", "model": "gpt-4o", "choices": [{"message": refused, "finish_reason": "stop"}]}
    )
    session.add({"role": "user", "content": "go"})
    for reply, result in replies(5):
        session.add_response(reply)
        session.add(result)
    return session


@pytest.mark.parametrize("model", SERVERS)
def test_no_request_behind_a_switch_is_refused(user: memspan.Scope, model: str) -> None:
    session = session_of_gpt(user, "s-1")
    if model != "gpt-5":
        session.switch_model(model)
    prompt = session.assemble()
    chat, responses = prompt.to_openai(), prompt.to_openai_responses()
    if SERVERS[model] == "openai":  # its chat completions refuse its own search
        chat["tools"] = [tool for tool in chat["tools"] if tool["type"] != "web_search"]
    assert (rules.chat(chat, SERVERS[model]), rules.responses(responses), rules.gemini(rules.json_safe(prompt.to_gemini()))) == (
        None,
        None,
        None,
    )
    said = json.dumps(prompt.to_openai()["messages"])
    assert said.count("[image]") >= 11
    assert "(Nothing was said yet.)" not in said
    sent = sum(item["type"] == "reasoning" for item in responses["input"])
    assert sent == (5 if model == "gpt-5" else 0)
    counted = sum(row.tokens or 0 for row in prompt.explain() if row.included)
    if not model.startswith("gpt"):
        assert counted < 1_000, "neither what OpenAI encrypted nor images that are not sent"


def test_images_of_results_count_in_plain_lists() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for reply, result in replies(20):
        messages += [reply["output"][1], {**result, "output": [IMAGE]}]
    image = memspan.count_tokens({"role": "user", "content": [IMAGE]}, "gpt-5")
    assert memspan.count_tokens(messages, "gpt-5") > 19 * image
    fitted = memspan.fit(messages, "gpt-5", max_input_tokens=4_000)
    assert 1 < len(fitted.messages) < 41
    assert not fitted.exact or fitted.tokens <= 4_000
