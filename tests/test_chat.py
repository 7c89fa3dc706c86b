"""`memspan chat` and the example service, driven without a terminal and without a network."""

# ruff: noqa: E501  lines of a conversation
from __future__ import annotations

import asyncio
import importlib.util
import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.vendors.server import Vendor, serving

import memspan
from memspan.chat import chat
from memspan.testing import FakeProvider, anthropic_response, openai_response, openai_stream

if TYPE_CHECKING:
    from pathlib import Path


def test_a_conversation_in_a_terminal(memspan_engine: memspan.Engine) -> None:
    out = io.StringIO()
    script = [[("remember", {"text": "Prefers tea"})], "Noted.", RuntimeError("401 invalid api key"), "Hello again."]
    lines = [
        "I prefer tea",
        "/memory",
        "/why",
        "/prompt",
        "/switch gpt-4",
        "/switch nobody",
        "broken",
        "",
        "/nothing",
        "/forget mem-1",
        "/memory",
        "hello",
        "/quit",
        "never said",
    ]
    chat(memspan_engine, iter(lines), out, model="gpt-4o", system="You are terse.", provider=FakeProvider(script))
    said = out.getvalue()
    for expected in ("[remember]\n", "Noted.", "mem-1  semantic  Prefers tea", "section", "--- system\nYou are terse.", "gpt-4o -> gpt-4", "must be in the registry",
                     "RuntimeError: 401", "the key", "there is no /nothing", "forgotten", "Hello again."):  # fmt: skip
        assert expected in said, expected
    assert "never said" not in said
    assert memspan_engine.user("me").session("chat").model == "gpt-4"


def test_a_model_that_nobody_knows(memspan_engine: memspan.Engine) -> None:
    out = io.StringIO()
    chat(memspan_engine, iter(["hi"]), out, model="my-own-7b", window=8_192, provider=FakeProvider(["hello"]))
    assert out.getvalue() == "hello\n"
    chat(memspan_engine, iter(["hi"]), out, model="my-own-7b", provider=FakeProvider(["\x1b[2J"]))
    assert "\x1b" not in out.getvalue()
    assert memspan.models["my-own-7b"].context_window == 8_192


CALL = ("c-1", "port_of", {"service": "payments-api"})
TEXT = "It listens on 8443."
ANTHROPIC_STREAM: list[dict[str, Any]] = [
    {"type": "message_start", "message": {**anthropic_response(None, id="m-9"), "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": TEXT}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 5}},
    {"type": "message_stop"},
]
SERVED: dict[str, tuple[str, list[Any]]] = {
    "gpt-4o": (
        "OPENAI",
        [openai_response(None, tool_calls=[CALL], id="r-1"), openai_response(TEXT, id="r-2"), openai_stream(TEXT, id="r-3")],
    ),
    "claude-sonnet-4-5": (
        "ANTHROPIC",
        [anthropic_response(None, tool_calls=[CALL], id="m-1"), anthropic_response(TEXT, id="m-2"), ANTHROPIC_STREAM],
    ),
}


@pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")
@pytest.mark.parametrize("model", SERVED)
def test_the_example_service(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    """At most 40 lines, with the SDKs of both vendors over a socket to servers that enforce their rules."""
    path = repository / "examples" / "chat_service.py"
    assert len([line for line in path.read_text().splitlines() if line.strip()]) <= 40
    name, script = SERVED[model]
    vendor = Vendor(script)
    with serving(vendor) as base:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("MODEL", model)
        monkeypatch.setenv(f"{name}_API_KEY", "k")
        monkeypatch.setenv(f"{name}_BASE_URL", f"{base}/v1" if name == "OPENAI" else base)
        ask_the_service(path, vendor)


def ask_the_service(path: Path, vendor: Vendor) -> None:
    spec = importlib.util.spec_from_file_location("chat_service", path)
    assert spec is not None
    assert spec.loader is not None
    service = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(service)

    async def ask(body: dict[str, Any]) -> str:
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": json.dumps(body).encode()}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await service.app({"type": "http"}, receive, send)
        return b"".join(message.get("body", b"") for message in sent).decode()

    webhook = {"user": "u-42", "session": "s-1", "text": "which port?", "id": "webhook-77"}
    assert asyncio.run(ask(webhook)) == asyncio.run(ask(webhook)) == "It listens on 8443."
    assert len(vendor.requests) == 2, "the webhook that comes twice asks once"
    assert asyncio.run(ask({**webhook, "id": None, "stream": True})) == "It listens on 8443."
    assert [message.text for message in service.assistant.engine.user("u-42").session("s-1").messages][2] == "8443"
    service.assistant.close()
