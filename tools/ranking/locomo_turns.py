"""LoCoMo's turns as memories: what `Scope.recall` finds, and whether its confidence knows when the answer is not there.

usage: python tools/ranking/locomo_turns.py DATA.json [--confidence]

DATA.json is a file of LoCoMo (Maharana et al., 2024, https://github.com/snap-research/locomo). Every conversation becomes a user, every
turn an episodic memory "speaker: text" that happened when its session did. Prints the mean share of a question's evidence turns among the
first k, for the categories 1 to 4. With --confidence every question is asked twice, the second time with its evidence turns forgotten, and
the area under the curve is printed: the share of pairs (answerable, not answerable) that `Recall.confidence` puts in the right order.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import memspan
from memspan.testing import FakeClock

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}


def load(path: Path) -> list[dict[str, Any]]:
    """The conversations: their turns with id, text and time, and their questions with the ids of their evidence."""
    return [conversation(sample, CATEGORIES) for sample in json.loads(path.read_text(encoding="utf8"))]


def unanswerable(path: Path) -> list[list[str]]:
    """The questions of category 5 by conversation: they ask one speaker what the other one said."""
    samples = json.loads(path.read_text(encoding="utf8"))
    return [[asked["text"] for asked in conversation(sample, {5: "adversarial"})["questions"]] for sample in samples]


def conversation(sample: dict[str, Any], categories: dict[int, str]) -> dict[str, Any]:
    talk, turns, number = sample["conversation"], [], 1
    while f"session_{number}_date_time" in talk:
        at = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for turn in talk.get(f"session_{number}", []):
            caption = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            turns.append({"id": turn["dia_id"], "text": f"{turn['speaker']}: {turn['text']}{caption}", "at": at})
        number += 1
    known, questions = {turn["id"] for turn in turns}, []
    for asked in sample["qa"]:
        named = (f"D{int(a)}:{int(b)}" for one in asked.get("evidence", []) for a, b in re.findall(r"D:?(\d+):(\d+)", one))
        evidence = {one for one in named if one in known}
        if evidence and asked["category"] in categories:
            questions.append({"text": asked["question"], "category": asked["category"], "evidence": evidence})
    return {"id": sample["sample_id"], "turns": turns, "questions": questions}


def row(turn: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"text": turn["text"], "kind": kind, "occurred_at": turn["at"], "metadata": {"turn": turn["id"]}}


def auroc(answerable: list[float], not_answerable: list[float]) -> float:
    """The share of pairs in the right order; a tie counts one half."""
    pairs = sum((a > b) + 0.5 * (a == b) for a in answerable for b in not_answerable)
    return pairs / (len(answerable) * len(not_answerable))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("data", type=Path)
    options.add_argument("--kind", default="episodic")
    options.add_argument("--confidence", action="store_true")
    chosen = options.parse_args()
    shares: dict[int, list[list[float]]] = {category: [] for category in CATEGORIES}
    times: list[float] = []
    known: list[tuple[str, float, float]] = []
    answered: list[float] = []
    adversarial: list[float] = []
    nobody = unanswerable(chosen.data)
    clock = FakeClock(datetime(2020, 1, 1, tzinfo=UTC))
    with tempfile.TemporaryDirectory() as folder, memspan.open(f"{folder}/a.memspan", durability="relaxed", clock=clock) as engine:
        for number, talk in enumerate(load(chosen.data)):
            user = engine.user(talk["id"])
            clock.set(max(turn["at"] for turn in talk["turns"]) + timedelta(days=1))
            user.remember_many(row(turn, chosen.kind) for turn in talk["turns"])
            for asked in talk["questions"]:
                started = time.perf_counter()
                found = user.recall(asked["text"], limit=20)
                times.append(time.perf_counter() - started)
                order = [hit.memory.metadata["turn"] for hit in found]
                of = asked["evidence"]
                shares[asked["category"]].append([len(of.intersection(order[:k])) / len(of) for k in (5, 10, 20)])
            if chosen.confidence:
                adversarial += [user.recall(text, limit=10).confidence for text in nobody[number]]
                answered += [user.recall(asked["text"], limit=10).confidence for asked in talk["questions"]]
                known += confidences(user, talk, chosen.kind)
    every = [share for of in shares.values() for share in of]
    for at, k in enumerate((5, 10, 20)):
        by = ", ".join(f"{CATEGORIES[c]} {100 * statistics.mean(s[at] for s in of):.1f}" for c, of in shares.items() if of)
        print(f"R@{k:<3} {100 * statistics.mean(share[at] for share in every):5.1f}   {by}")
    print(f"{len(every)} questions, recall p50 {1e3 * statistics.median(times):.3f} ms")
    if known:
        for talk_id in sorted({one for one, _, _ in known}):
            mine = [(a, b) for one, a, b in known if one == talk_id]
            print(f"confidence, AUROC of {talk_id}: {auroc([a for a, _ in mine], [b for _, b in mine]):.3f}")
        if adversarial:
            print(f"confidence, AUROC of category 5 against 1 to 4: {auroc(answered, adversarial):.3f}")
        print(f"confidence, AUROC with and without the evidence: {auroc([a for _, a, _ in known], [b for _, _, b in known]):.3f}")


def confidences(user: memspan.Scope, talk: dict[str, Any], kind: str) -> list[tuple[str, float, float]]:
    """Of each question: the confidence with its evidence there, and without it."""
    where = {memory.metadata["turn"]: memory.id for memory in user.memories()}
    turns, rows = {turn["id"]: turn for turn in talk["turns"]}, []
    for asked in talk["questions"]:
        there = user.recall(asked["text"], limit=10).confidence
        for one in sorted(asked["evidence"]):
            user.forget(where[one])
        rows.append((talk["id"], there, user.recall(asked["text"], limit=10).confidence))
        for one in sorted(asked["evidence"]):
            where[one] = user.remember(**row(turns[one], kind)).memory.id
    return rows


if __name__ == "__main__":
    main()
