"""Conversations with questions and the messages that answer them, as a search through memspan's public API.

A file of them has one conversation a line, as JSON, gzipped: {id, source, sessions: [{n, at, turns: [[id, speaker, text]]}],
questions: [[text, category, evidence, before]]}; `before` is the session before which the question is asked, null for behind all. Behind
those of the file come those of the folder `written`, whose README has their form, as the sources Talks and Assistants.
Every conversation is a user, every session a session, every turn an added message with its speaker in `name` and the session's date
in `created_at`. Where the speakers are a user and an assistant, these are the roles of the messages, which have no name.
"""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import memspan

MAX_NAME = 60
ROLES = {"User": "user", "Assistant": "assistant"}
"""The roles of speakers who have no name."""
WRITTEN = Path(__file__).parent / "written"
SOURCES = {"talk": "Talks", "assist": "Assistants"}
"""The source of a written conversation, by how its file is named."""
SESSION = re.compile(r"== session (\d+) \| (\d{4}-\d\d-\d\d) (\d\d:\d\d)")
TURN = re.compile(r"(D\d+:\d+) ([^:]+): (.+)")
QUESTION = re.compile(r"q \| ([1-4]) \| (.+?) \| (D\d+:\d+(?: D\d+:\d+)*)")


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
    """The lines of a file, and the written conversations."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
    yield from map(written, sorted(WRITTEN.glob("*.txt")))


def written(path: Path) -> dict[str, Any]:
    """A conversation of the folder `written`, as a line of a file has it."""
    sessions: list[dict[str, Any]] = []
    questions: list[list[Any]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if session := SESSION.fullmatch(line):
            sessions.append({"n": int(session[1]), "at": f"{session[2]}T{session[3]}:00", "turns": []})
        elif turn := TURN.fullmatch(line):
            sessions[-1]["turns"].append(list(turn.groups()))
        elif asked := QUESTION.fullmatch(line):
            questions.append([asked[2].strip(), int(asked[1]), asked[3].split(), None])
        elif line.strip() and not line.startswith("#"):
            raise ValueError(f"{path.name}: neither a session, a message nor a question: {line}")
    return {"id": path.stem, "source": SOURCES[path.stem.split("-")[0]], "sessions": sessions, "questions": questions}


def message(speaker: str, text: str) -> dict[str, str]:
    """A turn as a message."""
    if speaker in ROLES:
        return {"role": ROLES[speaker], "content": text or " "}
    return {"role": "user", "name": speaker[:MAX_NAME] or "x", "content": text or " "}


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
            session.add(message(speaker, text), created_at=now)
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
