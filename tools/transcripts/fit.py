#!/usr/bin/env python3
"""Fits what ranks transcripts: the weights of `rust/engine/src/recall/ranking.rs`, and how sure a hit is.

    pip install numpy; maturin develop --release
    python tools/transcripts/fit.py EVIDENCE.jsonl.gz [--test LOCOMO.json]

EVIDENCE is a file of `evidence.py` with the sources FriendsQA (Yang and Choi, 2019) and RealMemBench (2026), both Apache-2.0. LOCOMO is
only ever tested on: its licence (CC BY-NC 4.0) forbids shipping what is fitted to it.

The engine itself makes the features: of every question the first 400 hits and their `explain()`, in its own numbers. The loss is that of a
softmax over a question's hits whose target is its evidence, in equal shares, with an L2 penalty; Adam, its steps fixed, one thread. A
question of RealMemBench counts a quarter of one of FriendsQA: its labels are noisy. What the sources do not ask for (dates, identifiers)
keeps the weights that are set. The same file and the same engine give the same bytes. Printed: recall@10 of the weights that the engine
has; of weights fitted to the other conversations, for each quarter of these; of weights fitted to the other source; then the lines to
copy.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import evidence
import locomo
import numpy as np

import memspan
import memspan.testing

HITS, READ, K = 400, 64, 10
TRAINED_ON = 150
COUNTS = {"FriendsQA": 1.0, "RealMemBench": 0.25}
SIGHT = ["words", "window", "meaning", "name", "before_two", "after_two", "within", "behind", "identified"]
SIGHT_SET = {"within": 3.0, "behind": 1.5, "identified": 40.0}
SET = {"within": 2.0, "behind": 1.5, "identified": 12.0}
QUARTERS = 4


@dataclass(frozen=True)
class Row:
    """A question with its hits: features (hits, features), which are evidence, how much evidence there is."""

    source: str
    conversation: str
    made: np.ndarray
    is_evidence: np.ndarray
    total: int
    answerable: bool = True
    swapped: bool = False
    """Whether it stands here with and without another's name."""

    def cut(self, kept: np.ndarray) -> Row:
        return replace(self, made=self.made[kept], is_evidence=self.is_evidence[kept])


def row(user: memspan.Scope, asked: evidence.Asked, text: str, *, answerable: bool = True, swapped: bool = False) -> Row:
    hits = user.search_transcripts(text, limit=HITS)
    made = np.array([list(hit.explain().values()) for hit in hits]).reshape(len(hits), len(NAMES))
    is_evidence = np.array([(hit.session_id, hit.index) in asked.evidence for hit in hits], bool)
    return Row(asked.source, asked.conversation, made, is_evidence & answerable, len(asked.evidence), answerable, swapped)


def swapped(asked: evidence.Asked) -> str | None:
    """The question with the name of another speaker in the place of the one that it names: nobody answered that."""
    words = asked.text.split()
    first = sorted({speaker.split()[0] for speaker in asked.speakers if speaker})
    for at, word in enumerate(words):
        if word in first and len(first) > 1:
            return " ".join([*words[:at], first[(first.index(word) + 1 + len(words)) % len(first)], *words[at + 1 :]])
    return None


def rows_of(path: Path, test: Path | None) -> list[Row]:
    """Every question with evidence, and those that nothing answers."""
    made: list[Row] = []
    clock = memspan.testing.FakeClock()
    with tempfile.TemporaryDirectory() as folder, memspan.open(Path(folder) / "fit", clock=clock, durability="relaxed") as engine:
        for talk in evidence.conversations(path):
            user = engine.user(f"{talk['source']}/{talk['id']}")
            for asked in evidence.replay(user, talk):
                if asked.now is not None:
                    clock.set(asked.now)
                if not asked.evidence:
                    continue
                other = swapped(asked)
                made.append(row(user, asked, asked.text, swapped=other is not None))
                if other is not None:
                    made.append(row(user, asked, other, answerable=False, swapped=True))
        for number, sample in enumerate(locomo.conversations(test) if test else []):
            user = engine.user(f"locomo-{number}")
            for question in locomo.load(user, sample):
                asked = evidence.Asked("LoCoMo", str(number), question.text, question.evidence, frozenset(), None)
                made.append(row(user, asked, asked.text, answerable=question.category in locomo.JUDGED))
    return made


def fit(rows: list[Row], names: list[str], penalty: float, steps: int = 250, rate: float = 0.1) -> np.ndarray:
    """The weights of the named features; the others are 0."""
    columns = [NAMES.index(name) for name in names]
    rows = [one for one in rows if one.is_evidence.any()]
    made = np.concatenate([one.made[:, columns] for one in rows])
    spread = made.std(0) + 1e-9
    made = (made - made.mean(0)) / spread
    sizes = [len(one.is_evidence) for one in rows]
    starts, owner = np.r_[0, np.cumsum(sizes)[:-1]], np.repeat(np.arange(len(sizes)), sizes)
    target = np.concatenate([one.is_evidence / one.is_evidence.sum() for one in rows])
    many = {source: sum(one.source == source for one in rows) for source in {one.source for one in rows}}
    share = np.array([COUNTS[one.source] / many[one.source] for one in rows])
    share = (share / share.sum())[owner]
    weights, mean, square = (np.zeros(len(columns)) for _ in range(3))
    for step in range(1, steps + 1):
        scores = made @ weights
        shares = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        shares /= np.add.reduceat(shares, starts)[owner]
        slope = made.T @ ((shares - target) * share) + penalty * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        weights -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return spread_out(dict(zip(names, np.round(weights / spread, 2), strict=True)))


def spread_out(weights: dict[str, float]) -> np.ndarray:
    return np.array([weights.get(name, 0.0) for name in NAMES])


def ordered(one: Row, weights: np.ndarray, most: int) -> Row:
    return one.cut(np.argsort(-(one.made @ weights), kind="stable")[:most])


def fitted(rows: list[Row]) -> tuple[np.ndarray, np.ndarray]:
    """Weights of first sight, and of the score."""
    rows = [one for one in rows if one.answerable]
    sight = fit(rows, [name for name in SIGHT if name not in SIGHT_SET], 0.02) + spread_out(SIGHT_SET)
    seen = [ordered(one, sight, TRAINED_ON) for one in rows]
    return sight, fit(seen, [name for name in NAMES if name not in SET], 0.05) + spread_out(SET)


def ranked(rows: list[Row], sight: np.ndarray, weights: np.ndarray) -> list[Row]:
    return [ordered(ordered(one, sight, READ), weights, READ) for one in rows]


def recalls(rows: list[Row]) -> dict[str, float]:
    """Recall@10 by source of rows in order."""
    found: dict[str, list[float]] = {}
    for one in rows:
        if one.answerable:
            found.setdefault(one.source, []).append(float(one.is_evidence[:K].sum()) / one.total)
    return {source: round(100 * float(np.mean(shares)), 1) for source, shares in found.items()}


def of_first(one: Row) -> tuple[float, float]:
    """Of the first hit: the logarithm of the odds of its sureness; and how much closer those whom the question names come to it."""
    closeness, speaks = one.made[:, NAMES.index("closeness")], one.made[:, NAMES.index("speaker")] > 0
    closest = [float(closeness[those].max(initial=0.0)) for those in (speaks, ~speaks)]
    sure = float(np.clip((closeness[0] + one.made[0, NAMES.index("meaning")]) / 2, 0.02, 0.98))
    return float(np.log(sure / (1 - sure))), closest[0] - closest[1] if speaks.any() else 0.0


def fit_named(rows: list[Row]) -> float:
    """What being closer counts beside the sureness, whose weight is 1: Newton's method, twenty steps."""
    firsts = [(*of_first(one), one.answerable) for one in rows if len(one.made) and one.source == "FriendsQA" and one.swapped]
    sure, named, target = (np.array([first[at] for first in firsts], float) for at in range(3))
    made, weights = np.stack([named, np.ones(len(named))], 1), np.zeros(2)
    for _ in range(20):
        chance = 1 / (1 + np.exp(-sure - made @ weights))
        bend = (made * (chance * (1 - chance))[:, None]).T @ made + 1e-6 * np.eye(2)
        weights += np.linalg.solve(bend, made.T @ (target - chance))
    return round(float(weights[0]), 2)


def auroc(rows: list[Row], named: float) -> dict[str, float]:
    """By source: how often a question that is answered is surer than one that is not."""
    found: dict[str, dict[bool, list[float]]] = {}
    for one in rows:
        if len(one.made) and (one.swapped or one.source not in COUNTS):
            sure, closer = of_first(one)
            found.setdefault(one.source, {True: [], False: []})[one.answerable].append(sure + named * closer)
    out = {}
    for source, by in found.items():
        if by[False]:
            yes, no = np.array(by[True]), np.array(by[False])
            above = (yes[:, None] > no[None]).mean() + 0.5 * (yes[:, None] == no[None]).mean()
            out[source] = round(float(above), 3)
    return out


def report(rows: list[Row]) -> None:
    own = [one for one in rows if one.source in COUNTS]
    others = [one for one in rows if one.source not in COUNTS]
    print("as the engine ranks:", recalls(rows), flush=True)
    talks = sorted({(one.source, one.conversation) for one in own})
    left: list[Row] = []
    for quarter in range(QUARTERS):
        out = set(talks[quarter::QUARTERS])
        sight, weights = fitted([one for one in own if (one.source, one.conversation) not in out])
        left += ranked([one for one in own if (one.source, one.conversation) in out], sight, weights)
    print("conversations left out:", recalls(left), flush=True)
    for source in COUNTS:
        sight, weights = fitted([one for one in own if one.source == source])
        print(f"fitted to {source} alone:", recalls(ranked([one for one in rows if one.source != source], sight, weights)), flush=True)
    sight, weights = fitted(own)
    seen = ranked(own, sight, weights)
    named = fit_named(seen)
    test = ranked(others, sight, weights)
    print("fitted to both:", recalls(seen), "never fitted to:", recalls(test))
    print("answered or not, AUROC:", auroc(seen, named), "never fitted to:", auroc(test, named))
    print("SIGHT:", ", ".join(f"{name}: {sight[NAMES.index(name)]:.2f}" for name in SIGHT))
    print("\n".join(f"{name}: {weight:.2f}," for name, weight in zip(NAMES, weights, strict=True)))
    print(f"NAMED_CLOSER: {named:.2f}")


def names() -> list[str]:
    """The features in their order, from a search."""
    with tempfile.TemporaryDirectory() as folder, memspan.open(Path(folder) / "names") as engine:
        user = engine.user("u")
        user.session("s", model="gpt-4o").add({"role": "user", "content": "port"})
        return list(user.search_transcripts("port")[0].explain())


NAMES: list[str] = names()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evidence", type=Path)
    parser.add_argument("--test", type=Path)
    given = parser.parse_args()
    report(rows_of(given.evidence, given.test))


if __name__ == "__main__":
    main()
