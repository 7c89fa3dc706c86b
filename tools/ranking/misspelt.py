#!/usr/bin/env python3
"""What recalls and searches of transcripts find where words of the question are misspelt.

    python tools/ranking/misspelt.py LOCOMO.json [--seeds 3]

Every question of the categories 1 to 4 is asked as it is, with one misspelt word, and with each of its words misspelt. A word of four and
more letters may be: one letter is left out, put in, replaced, or exchanged with the next, at random but the same in every run. Printed:
R@10 of the evidence turns, of messages and of the same turns as events, the mean over the seeds.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "transcripts"))

import locomo
import locomo_turns

import memspan
from memspan.testing import FakeClock

K = 10
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORD = re.compile(r"[A-Za-z]{4,}")


def edited(word: str, chance: random.Random) -> str:
    """The word, one edit away."""
    while True:
        at, letter = chance.randrange(len(word)), chance.choice(LETTERS)
        spellings = (
            word[:at] + word[at + 1 :],
            word[:at] + letter + word[at:],
            word[:at] + letter + word[at + 1 :],
            word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :],
        )
        spelling = chance.choice(spellings)
        if spelling.lower() != word.lower():
            return spelling


def misspelt(text: str, every: bool, seed: int) -> str:
    chance = random.Random(f"{seed}/{text}")  # noqa: S311
    words = list(WORD.finditer(text))
    chosen = words if every else chance.sample(words, min(1, len(words)))
    for word in sorted(chosen, key=lambda one: -one.start()):
        text = text[: word.start()] + edited(word[0], chance) + text[word.end() :]
    return text


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("data", type=Path)
    options.add_argument("--seeds", type=int, default=3)
    chosen = options.parse_args()
    ways = [("as written", None, 0)]
    ways += [(way, every, seed) for way, every in (("one word", False), ("every word", True)) for seed in range(chosen.seeds)]
    shares: dict[tuple[str, str], list[float]] = {}
    clock = FakeClock(datetime(2020, 1, 1, tzinfo=UTC))
    with tempfile.TemporaryDirectory() as folder, memspan.open(f"{folder}/a.memspan", durability="relaxed", clock=clock) as engine:
        for sample, talk in zip(locomo.conversations(chosen.data), locomo_turns.load(chosen.data), strict=True):
            user = engine.user(talk["id"])
            clock.set(max(turn["at"] for turn in talk["turns"]) + timedelta(days=1))
            asked = [question for question in locomo.load(user, sample) if question.category in locomo.JUDGED]
            user.remember_many(locomo_turns.row(turn, "episodic") for turn in talk["turns"])
            for question, turns in zip(asked, talk["questions"], strict=True):
                for way, every, seed in ways:
                    text = question.text if every is None else misspelt(question.text, every, seed)
                    places = {(hit.session_id, hit.index) for hit in user.search_transcripts(text, limit=K)}
                    found = {hit.memory.metadata["turn"] for hit in user.recall(text, limit=K)}
                    shares.setdefault((way, "messages"), []).append(len(question.evidence & places) / len(question.evidence))
                    shares.setdefault((way, "events"), []).append(len(turns["evidence"] & found) / len(turns["evidence"]))
    for (way, of), those in shares.items():
        print(f"{way}, {of}: R@{K} {100 * statistics.mean(those):.1f} ({len(those)} questions)")


if __name__ == "__main__":
    main()
