#!/usr/bin/env python3
"""Fits what ranks memories: the weights of `recall/ranking.rs`, module `memories`.

    pip install numpy; maturin develop --release
    python tools/ranking/fit.py EVIDENCE.jsonl.gz [--test LOCOMO.json]

EVIDENCE is a file as `tools/transcripts/evidence.py` reads it, with the sources FriendsQA (Yang and Choi, 2019) and RealMemBench (2026),
both Apache-2.0. Every turn becomes a memory "speaker: text". LOCOMO is only ever tested on: its licence (CC BY-NC 4.0) forbids shipping
what is fitted to it.

The engine itself makes the features: of every question the first 100 hits and their `explain()`. The loss is that of a softmax over a
question's hits whose target is its evidence, in equal shares, with an L2 penalty; weights are never negative, so that a score stays a
share of what could be; Adam, its steps fixed, one thread. A question of RealMemBench counts a quarter. The same file and the same engine
give the same bytes. Printed: recall@10 of the weights that the engine has; of weights fitted to the other conversations, for each quarter
of these; of weights fitted to the other source; then the lines to copy.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).parent.parent / "transcripts"))

import evidence
import locomo_turns
import numpy as np

import memspan
import memspan.testing

HITS, K, QUARTERS = 100, 10, 4
START, HOUR = datetime(2025, 1, 1, tzinfo=UTC), timedelta(hours=1)
COUNTS = {"FriendsQA": 1.0, "RealMemBench": 0.25}


@dataclass(frozen=True)
class Row:
    """A question with its hits: features (hits, features), which are evidence, how much evidence there is."""

    source: str
    conversation: str
    made: np.ndarray
    is_evidence: np.ndarray
    total: int

    def cut(self, kept: np.ndarray) -> Row:
        return replace(self, made=self.made[kept], is_evidence=self.is_evidence[kept])


def features(hit: memspan.Recalled) -> dict[str, float]:
    why = hit.explain()
    further = {name: value for name, (value, _) in why.further.items()}
    return {"words": why.lexical_normalised, "meaning": why.cosine_normalised, **further}


def row(user: memspan.Scope, source: str, conversation: str, text: str, answers: frozenset[str]) -> Row:
    hits = user.recall(text, limit=HITS)
    found = [features(hit) for hit in hits]
    made = np.array([[one.get(name, 0.0) for name in NAMES] for one in found]).reshape(len(found), len(NAMES))
    is_evidence = np.array([hit.memory.metadata["turn"] in answers for hit in hits], bool)
    return Row(source, conversation, made, is_evidence, len(answers))


def rows_of(path: Path, test: Path | None) -> list[Row]:
    made: list[Row] = []
    clock = memspan.testing.FakeClock()
    with tempfile.TemporaryDirectory() as folder, memspan.open(Path(folder) / "fit", clock=clock, durability="relaxed") as engine:
        for talk in evidence.conversations(path):
            clock.set(START)
            made += asked_of(engine.user(f"{talk['source']}/{talk['id']}"), talk, clock)
        for talk in locomo_turns.load(test) if test else []:
            user = engine.user(talk["id"])
            clock.set(max(turn["at"] for turn in talk["turns"]) + timedelta(days=1))
            user.remember_many(locomo_turns.row(turn, "episodic") for turn in talk["turns"])
            made += [row(user, "LoCoMo", talk["id"], asked["text"], frozenset(asked["evidence"])) for asked in talk["questions"]]
    return made


def asked_of(user: memspan.Scope, talk: dict[str, Any], clock: memspan.testing.FakeClock) -> list[Row]:
    """Remembers a conversation turn by turn, a session an hour, and asks each question when all that may answer it was said."""
    made: list[Row] = []
    waiting: dict[int | None, list[list[Any]]] = {}
    for asked in talk["questions"]:
        waiting.setdefault(asked[3], []).append(asked)

    def ask(questions: list[list[Any]]) -> None:
        made.extend(row(user, talk["source"], talk["id"], text, frozenset(answers)) for text, _, answers, _ in questions)

    for number, session in enumerate(talk["sessions"]):
        ask(waiting.pop(number, []))
        user.remember_many(
            {"text": f"{speaker}: {text or ' '}", "kind": "episodic", "metadata": {"turn": turn}} for turn, speaker, text in session["turns"]
        )
        clock.advance(HOUR)
    for rest in waiting.values():
        ask(rest)
    return made


def fit(rows: list[Row], penalty: float = 0.05, steps: int = 300, rate: float = 0.05) -> np.ndarray:
    rows = [one for one in rows if one.is_evidence.any()]
    made = np.concatenate([one.made for one in rows])
    sizes = [len(one.is_evidence) for one in rows]
    starts, owner = np.r_[0, np.cumsum(sizes)[:-1]], np.repeat(np.arange(len(sizes)), sizes)
    target = np.concatenate([one.is_evidence / one.is_evidence.sum() for one in rows])
    many = {source: sum(one.source == source for one in rows) for source in {one.source for one in rows}}
    share = np.array([COUNTS[one.source] / many[one.source] for one in rows])
    share = (share / share.sum())[owner]
    spread = made.std(0) + 1e-9
    made = made / spread
    weights, mean, square = (np.zeros(len(NAMES)) for _ in range(3))
    for step in range(1, steps + 1):
        scores = made @ weights
        shares = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        shares /= np.add.reduceat(shares, starts)[owner]
        slope = made.T @ ((shares - target) * share) + penalty * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        weights -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
        if POSITIVE:
            weights = np.maximum(weights, 0.0)
    return weights / spread


def shares_of(weights: np.ndarray) -> np.ndarray:
    """The weights as shares of one, in hundredths."""
    return np.round(weights / weights.sum(), 3)


def recalls(rows: list[Row], weights: np.ndarray | None = None) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for one in rows:
        ordered = one if weights is None else one.cut(np.argsort(-(one.made @ weights), kind="stable"))
        found.setdefault(one.source, []).append(float(ordered.is_evidence[:K].sum()) / one.total)
    return {source: round(100 * float(np.mean(shares)), 1) for source, shares in found.items()}


def report(rows: list[Row]) -> None:
    own = [one for one in rows if one.source in COUNTS]
    others = [one for one in rows if one.source not in COUNTS]
    print("as the engine ranks:", recalls(rows), flush=True)
    talks = sorted({(one.source, one.conversation) for one in own})
    left: dict[str, list[float]] = {}
    for quarter in range(QUARTERS):
        out = set(talks[quarter::QUARTERS])
        weights = fit([one for one in own if (one.source, one.conversation) not in out])
        for source in COUNTS:
            those = [one for one in own if (one.source, one.conversation) in out and one.source == source]
            left.setdefault(source, []).extend([recalls(those, weights).get(source, 0.0)] * len(those))
    print("conversations left out:", {source: round(float(np.mean(of)), 1) for source, of in left.items()}, flush=True)
    for source in COUNTS:
        weights = fit([one for one in own if one.source == source])
        print(f"fitted to {source} alone:", recalls([one for one in rows if one.source != source], weights), flush=True)
    weights = fit(own)
    print("fitted to both:", recalls(own, weights), "never fitted to:", recalls(others, weights))
    print("\n".join(f"{name}: {weight:.3f}," for name, weight in zip(NAMES, shares_of(weights), strict=True)))


def names() -> list[str]:
    """The features in their order, from a recall."""
    with tempfile.TemporaryDirectory() as folder, memspan.open(Path(folder) / "names") as engine:
        user = engine.user("u")
        user.remember("the port is open")
        return list(features(user.recall("port")[0]))


NAMES: list[str] = names()
POSITIVE = "--signed" not in sys.argv


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evidence", type=Path)
    parser.add_argument("--test", type=Path)
    parser.add_argument("--signed", action="store_true")
    given = parser.parse_args()
    report(rows_of(given.evidence, given.test))


if __name__ == "__main__":
    main()
