"""`memspan chat` and the example service, driven without a terminal and without a network."""

# ruff: noqa: E501  lines of a conversation
from __future__ import annotations

import asyncio
import importlib.util
import io
import json
from typing import TYPE_CHECKING, Any

import memspan
from memspan.chat import chat
from memspan.testing import FakeProvider

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


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
                     "RuntimeError: 401", "the key", "there is no /nothing", "forgotten", "nothing is remembered", "Hello again."):  # fmt: skip
        assert expected in said, expected
    assert "never said" not in said
    assert memspan_engine.user("me").session("chat").model == "gpt-4"


def test_a_model_that_nobody_knows(memspan_engine: memspan.Engine) -> None:
    out = io.StringIO()
    chat(memspan_engine, iter(["hi"]), out, model="my-own-7b", window=8_192, provider=FakeProvider(["hello"]))
    assert out.getvalue() == "hello\n"
    assert memspan.models["my-own-7b"].context_window == 8_192


def test_the_example_service(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = repository / "examples" / "chat_service.py"
    assert len([line for line in path.read_text().splitlines() if line.strip()]) <= 40
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    spec = importlib.util.spec_from_file_location("chat_service", path)
    assert spec is not None
    assert spec.loader is not None
    service = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(service)
    provider = FakeProvider([[("port_of", {"service": "payments-api"})], "It listens on 8443."])
    service.assistant._provider = provider

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
    assert len(provider.prompts) == 2
    assert asyncio.run(ask({**webhook, "id": None, "stream": True})) == "It listens on 8443."
    assert [message.text for message in service.assistant.engine.user("u-42").session("s-1").messages][2] == "8443"
    service.assistant.close()
