"""Conversations with questions and the messages that answer them, as a search through memspan's public API.

A file of them has one conversation a line, as JSON, gzipped: {id, source, sessions: [{n, at, turns: [[id, speaker, text]]}],
questions: [[text, category, evidence, before]]}; `before` is the session before which the question is asked, null for behind all.
Every conversation is a user, every session a session, every turn an added message with its speaker in `name` and the session's date
in `created_at`.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import memspan

MAX_NAME = 60


@dataclass(frozen=True)
class Asked:
    """A question at the time when it is asked; `evidence`: places as (session id, index)."""

    source: str
    conversation: str
    text: str
    evidence: frozenset[tuple[str, int]]
    speakers: frozenset[str]
    now: datetime | None


def conversations(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def replay(user: memspan.Scope, talk: dict[str, Any]) -> Iterator[Asked]:
    """Adds a conversation, and yields each question when all that may answer it was said."""
    places: dict[str, tuple[str, int]] = {}
    waiting: dict[int | None, list[list[Any]]] = {}
    for asked in talk["questions"]:
        waiting.setdefault(asked[3], []).append(asked)
    speakers: set[str] = set()
    now = None
    for number, one in enumerate(talk["sessions"]):
        now = datetime.fromisoformat(one["at"]).replace(tzinfo=UTC) if one["at"] else None
        yield from _asked(talk, waiting.pop(number, []), places, speakers, now)
        session = user.session(f"s{one['n']:03d}", model="gpt-4o")
        for index, (turn, speaker, text) in enumerate(one["turns"]):
            session.add({"role": "user", "name": speaker[:MAX_NAME] or "x", "content": text or " "}, created_at=now)
            places[turn] = (session.id, index)
            speakers.add(speaker)
    for rest in waiting.values():
        yield from _asked(talk, rest, places, speakers, now)


def _asked(
    talk: dict[str, Any], questions: list[list[Any]], places: dict[str, tuple[str, int]], speakers: set[str], now: datetime | None
) -> Iterator[Asked]:
    for text, _, evidence, _ in questions:
        known = frozenset(places[turn] for turn in evidence if turn in places)
        yield Asked(talk["source"], talk["id"], text, known, frozenset(speakers), now)
