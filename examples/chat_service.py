"""A chat service: one endpoint that streams, one for webhooks that come twice. Run it with any ASGI server: `uvicorn chat_service:app`."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import memspan

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable


def port_of(service: str) -> str:
    """Looks up the port that a service listens on."""
    return {"payments-api": "8443"}.get(service, "unknown")


model = os.environ.get("MODEL", "gpt-4o")  # or "claude-sonnet-4-5": the vendor is told by it, and its key is the environment's
provider = memspan.providers.provider_for(model)
assistant = memspan.Assistant("assistant.memspan", provider, model=model, tools=[port_of], memory_tools=["remember", "recall"])


async def answer(body: dict[str, Any]) -> AsyncIterator[bytes]:
    """The pieces of an answer. `id` makes a retry harmless."""
    if body.get("stream"):
        async for event in assistant.astream(body["user"], body["text"], session=body["session"], id=body.get("id")):
            if event.kind == "text":
                yield event.text.encode()
    else:
        yield (await assistant.arespond(body["user"], body["text"], session=body["session"], id=body.get("id"))).text.encode()


async def app(scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
    """The ASGI application."""
    if scope["type"] != "http":
        return
    message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain; charset=utf-8")]})
    async for piece in answer(json.loads(message["body"])):
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
