"""LoCoMo (Maharana et al., 2024; CC BY-NC 4.0, so its file is the caller's) as a search through memspan's public API.

Every conversation is a user, every session a session, every turn an added message with its speaker in `name`. The evidence of a question
are the turns that the data set names for it; recall@k is the mean share of a question's evidence in the first k hits.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import memspan

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
JUDGED = (1, 2, 3, 4)


@dataclass(frozen=True)
class Question:
    """One question and the places of its evidence: session id, index."""

    text: str
    category: int
    evidence: frozenset[tuple[str, int]]


def conversations(path: Path) -> list[dict[str, Any]]:
    """The samples of the data set."""
    samples: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return samples


def load(user: memspan.Scope, sample: dict[str, Any]) -> list[Question]:
    """Adds a conversation and returns its questions, those without known evidence left out."""
    places: dict[str, tuple[str, int]] = {}
    talk = sample["conversation"]
    for number in range(1, 1 + sum(bool(re.fullmatch(r"session_\d+", name)) for name in talk)):
        at = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        session = user.session(f"s{number:02d}", model="gpt-4o")
        for index, turn in enumerate(talk.get(f"session_{number}", [])):
            image = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            session.add({"role": "user", "name": turn["speaker"], "content": turn["text"] + image}, created_at=at)
            places[turn["dia_id"]] = (session.id, index)
    questions = []
    for asked in sample["qa"]:
        named = re.findall(r"D:?(\d+):(\d+)", " ".join(asked.get("evidence", [])))
        evidence = frozenset(places[name] for a, b in named if (name := f"D{int(a)}:{int(b)}") in places)
        if evidence:
            questions.append(Question(asked["question"], asked["category"], evidence))
    return questions
