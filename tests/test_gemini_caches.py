"""Gemini's explicit caches: made, used, renewed, replaced, deleted, over the official SDK, against a server that refuses like Google."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.vendors.gemini import GeminiVendor
from tests.vendors.server import serving

import memspan

if TYPE_CHECKING:
    from collections.abc import Iterator

genai = pytest.importorskip("google.genai", reason="google-genai is not installed: pip install 'memspan[gemini]'")

SYSTEM = "You know the manual of the press by heart. " + "Its valves are numbered from the left. " * 700
TOOLS = [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}}]


def said(text: str) -> dict[str, Any]:
    candidate = {"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [{"text": text}]}}
    return {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3}}


@pytest.fixture
def vendor() -> Iterator[GeminiVendor]:
    vendor = GeminiVendor([said("yes")])
    with serving(vendor) as base:
        vendor.base = base  # type: ignore[attr-defined]
        yield vendor


def provider(vendor: GeminiVendor, **options: Any) -> memspan.providers.Gemini:
    http = genai.types.HttpOptions(base_url=vendor.base)  # type: ignore[attr-defined]
    return memspan.providers.Gemini(api_key="k", http_options=http, **{"cache_seconds": 600, **options})


def session_of(user: memspan.Scope, name: str = "s", system: str = SYSTEM) -> memspan.Session:
    return user.session(name, "gemini-2.5-pro", system=system, tools=TOOLS)


def turn(ours: memspan.providers.Gemini, session: memspan.Session, text: str) -> None:
    session.add({"role": "user", "content": text})
    prompt = session.assemble()
    session.add_response(ours.complete(prompt), prompt=prompt)


def test_made_used_replaced_and_deleted(user: memspan.Scope, vendor: GeminiVendor) -> None:
    ours, session = provider(vendor), session_of(user)
    for number in range(3):
        turn(ours, session, f"question {number}")
    assert [method for method, _ in vendor.calls] == ["POST"]
    [(name, cache)] = vendor.caches.items()
    assert "press by heart" in str(cache["systemInstruction"])
    assert cache["tools"]
    assert (cache["ttl"], "contents" in cache) == ("600s", False)
    assert all(body["cachedContent"] == name and "systemInstruction" not in body for _, body, _ in vendor.requests)
    turn(ours, session, "here is the whole log: " + "valve 7 opened again. " * 2_000)
    turn(ours, session, "and now?")  # what lasts is twice as long
    assert [method for method, _ in vendor.calls] == ["POST", "DELETE", "POST"]
    assert name not in vendor.caches
    [(newer, cache)] = vendor.caches.items()
    assert len(cache["contents"]) == 8
    assert vendor.requests[-1][1]["cachedContent"] == newer
    whole = session.assemble().to_gemini()["contents"]
    assert [content["parts"][0]["text"] for content in vendor.whole()] == [content["parts"][0]["text"] for content in whole[:9]]
    ours.close()
    assert (vendor.caches, vendor.calls[-1][0]) == ({}, "DELETE")


def test_renewed_when_half_of_its_time_is_over(user: memspan.Scope, vendor: GeminiVendor, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    ours, session = provider(vendor), session_of(user)
    for seconds in (0, 200, 200, 200, 900):
        now[0] += seconds
        turn(ours, session, "go on")
    assert [method for method, _ in vendor.calls] == ["POST", "PATCH", "DELETE", "POST"], "renewed after 400 s, and over after 900"


def test_one_that_cannot_be_renewed_is_made_anew(user: memspan.Scope, vendor: GeminiVendor, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    ours, session = provider(vendor), session_of(user)
    for seconds in (0, 400, 10, 10):
        now[0] += seconds
        if seconds == 400:
            vendor.caches.clear()
        turn(ours, session, "go on")
    assert [method for method, _ in vendor.calls] == ["POST", "PATCH", "POST"], "the request that found it gone went out whole"
    assert len(vendor.caches) == 1


def test_another_system_prompt_is_another_cache(user: memspan.Scope, vendor: GeminiVendor) -> None:
    ours = provider(vendor)
    turn(ours, session_of(user), "one")
    turn(ours, session_of(user, system=SYSTEM + "Answer in verse."), "two")
    turn(ours, session_of(user, "other"), "three")
    assert [method for method, _ in vendor.calls] == ["POST", "DELETE", "POST", "POST"]
    assert len(vendor.caches) == 2, "one for each session"


def test_one_that_somebody_deleted_is_made_anew(user: memspan.Scope, vendor: GeminiVendor) -> None:
    ours, session = provider(vendor), session_of(user)
    turn(ours, session, "one")
    vendor.caches.clear()
    turn(ours, session, "two")
    vendor.caches.clear()
    session.add({"role": "user", "content": "three"})
    prompt = session.assemble()
    vendor.script = [[said("ye"), said("s")]]
    with session.reply(prompt) as reply:
        for chunk in ours.stream(prompt):
            reply.feed(chunk)
    assert len(vendor.caches) == 1
    assert len(session.messages) == 6


def test_what_cannot_be_cached_goes_out_whole(user: memspan.Scope, vendor: GeminiVendor) -> None:
    ours = provider(vendor)
    short = session_of(user, "short", "You are terse.")
    turn(ours, short, "hi")
    assert vendor.calls == []
    vendor.full = True
    session = session_of(user)
    for text in ("one", "two"):
        turn(ours, session, text)
    assert [method for method, _ in vendor.calls] == ["POST"], "not tried again at once"
    turn(provider(vendor, cache_least_tokens=10), short, "and now?")
    plain = provider(vendor, cache_seconds=None)
    turn(plain, session, "three")
    plain.close()
    assert all("cachedContent" not in body for _, body, _ in vendor.requests)
    for wrong in (5, 100_000):
        with pytest.raises(memspan.InvalidInput, match="cache_seconds"):
            provider(vendor, cache_seconds=wrong)


def test_awaited(user: memspan.Scope, vendor: GeminiVendor) -> None:
    ours, session = provider(vendor), session_of(user)
    session.add({"role": "user", "content": "hi"})
    prompt = session.assemble()

    async def both() -> None:
        assert await ours.acomplete(prompt) is not None
        vendor.script = [[said("yes")]]
        assert [chunk async for chunk in ours.astream(prompt)]

    asyncio.run(both())
    assert ([method for method, _ in vendor.calls], len(vendor.requests)) == (["POST"], 2)
    assert all("cachedContent" in body for _, body, _ in vendor.requests)

    async def after_a_loss() -> None:
        vendor.caches.clear()
        vendor.script = [said("yes")]
        assert await ours.acomplete(prompt) is not None
        vendor.caches.clear()
        vendor.script = [[said("yes")]]
        assert [chunk async for chunk in ours.astream(prompt)]

    asyncio.run(after_a_loss())
    assert len(vendor.caches) == 1, "made anew"


def test_two_users_have_a_cache_each(memspan_engine: memspan.Engine, vendor: GeminiVendor) -> None:
    """Their sessions had one id and so one cache, which each call of the one deleted for the other."""
    ours = provider(vendor)
    sessions = [session_of(memspan_engine.user(name), "default", f"You serve {name}. {SYSTEM}") for name in ("ann", "bob")]
    for text in ("one", "two"):
        for session in sessions:
            turn(ours, session, text)
    assert [method for method, _ in vendor.calls] == ["POST", "POST"]
