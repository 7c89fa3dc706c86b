"""All that a scope has, row by row: what `Scope.export(everything=True)` writes. docs/import.md has the rows.

A row has under `arguments` those of the call that writes it anew, and under `stored` what the store knows besides. Memories, messages and
documents are read page by page as rows are taken, and no transaction is held in between.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memspan._kept import seconds_left
from memspan.exceptions import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from memspan._kept import Memory, Message
    from memspan._results import Document, SessionInfo
    from memspan.collection import Collection
    from memspan.long_term import Scope
    from memspan.short_term import Session
    from memspan.transcript import Turn

__all__ = ["rows"]

_VERSION = 1
"""Of the rows. A later version may add kinds of rows and fields, and keeps the meaning of those that are there."""

_OF_MEMORY = ("text", "kind", "slot", "importance", "confidence", "trust", "source", "id", "occurred_at", "metadata")
_OF_DOCUMENT = ("id", "text", "version", "format", "source", "metadata")


def rows(scope: Scope) -> Iterator[dict[str, Any]]:
    """Every row of a scope: itself, slots, memories, relations, collections with their documents, sessions with what they have."""
    now = scope.collection("-")._core.time()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  by the engine's clock things expire
    who = {"type": scope.type, "id": scope.id, "tenant": scope.tenant}
    yield {"row": "scope", "version": _VERSION, **who, "exported_at": now}
    for name in sorted(scope.slots):
        for slot in scope._core.slots(name):  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            arguments = {"name": slot.name, "multi": slot.multi}
            yield {"row": "slot", "arguments": arguments, "stored": {"current": [memory.id for memory in slot.memories]}}
    for memory in scope.memories(states="all"):
        yield _memory(memory, now)
    for relation in scope.relations():
        arguments = {name: getattr(relation, name) for name in ("subject", "relation", "object", "since")}
        yield {"row": "relation", "arguments": arguments, "stored": {"until": relation.until, "memory_id": relation.memory_id}}
    for collection in scope.collections():
        yield from _collection(collection, now)
    for info in scope.sessions():
        with suppress(NotFound):  # it was deleted or rewound meanwhile: what was read of it stands
            yield from _session(scope.session(info.id), info)


def _memory(memory: Memory, now: datetime) -> dict[str, Any]:
    stored = memory.to_dict()
    arguments = {name: stored.pop(name) for name in _OF_MEMORY} | {"ttl_seconds": seconds_left(memory.expires_at, now)}
    recalls = {"access_count": memory.access_count, "last_recalled_at": memory.last_recalled_at}
    return {"row": "memory", "arguments": arguments, "stored": stored | recalls}


def _collection(collection: Collection, now: datetime) -> Iterator[dict[str, Any]]:
    yield {"row": "collection", "arguments": {"name": collection.name}, "stored": {"documents": len(collection)}}
    for info in collection.documents():
        try:
            found: Document = collection.get(info.id)
        except NotFound:
            continue  # it was deleted meanwhile
        stored: dict[str, Any] = {name: getattr(found, name) for name in type(found).__match_args__}
        arguments = {name: stored.pop(name) for name in _OF_DOCUMENT} | {"ttl_seconds": seconds_left(found.expires_at, now)}
        yield {"row": "document", "collection": collection.name, "arguments": arguments, "stored": stored}


def _session(session: Session, info: SessionInfo) -> Iterator[dict[str, Any]]:
    of = {"session": info.id}
    arguments = {"session_id": info.id, "model": info.model, "system": session.system, "tools": list(session.tools)}
    stored = {name: getattr(info, name) for name in ("messages", "turns", "epoch", "created_at", "last_added_at", "ended")}
    yield {
        "row": "session",
        **of,
        "arguments": arguments | {"metadata": info.metadata},
        "stored": stored | {"budget": session.budget, "versions": session.versions},
    }
    for message in session.messages:
        yield {"row": "message", **of, **_message(message)}
    for number, text in session.notes:
        yield {"row": "note", **of, "arguments": {"text": text}, "stored": {"number": number}}
    for name in session.tasks:
        yield {"row": "task", **of, "arguments": {"name": name}, "stored": {"items": dict(session.task(name).items())}}
    summary = session.summary
    if summary is not None:
        yield {"row": "summary", **of, "stored": {"text": summary.text, **json.loads(summary.to_json())}}
    for turn in session.turns:
        for call in _calls(session, turn):
            yield {"row": "call", **of, "stored": call}
    partial = session.partial_reply
    if partial is not None:
        yield {"row": "partial_reply", **of, "stored": partial}


def _message(message: Message) -> dict[str, Any]:
    arguments = {"message": message.given, "id": message.id, "author": message.author, "created_at": message.created_at}
    stored = {name: getattr(message, name) for name in ("index", "role", "turn", "tokens", "added_at", "redacted", "reason")}
    return {"arguments": arguments | {"format": message.format}, "stored": stored}


def _calls(session: Session, turn: Turn) -> Iterator[dict[str, Any]]:
    """The calls of a turn, as `Turn.calls` and `Session.usage` have them."""
    planned = {one.call: one for one in session._core.usage(turn.number, 1)}  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    for call in turn.calls:
        row = {name: getattr(call, name) for name in ("turn", "number", "reply", "added_at", "response_id", "model", "finish", "sent")}
        known = planned.get(call.number)
        counts = {} if known is None else {"planned": known.planned, "counted": known.counted}
        yield row | {"usage": call.usage} | counts
