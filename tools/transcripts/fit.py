#!/usr/bin/env python3
"""Fits what ranks transcripts, the weights of `rust/engine/src/recall/ranking.rs`, and measures how sure a hit is.

    pip install numpy; maturin develop --release
    python tools/transcripts/fit.py EVIDENCE.jsonl.gz [--test LOCOMO.json]

EVIDENCE is a file of `evidence.py` with the sources FriendsQA (Yang and Choi, 2019) and RealMemBench (2026), both Apache-2.0. The folder
`written` adds Talks and Assistants, which are ours. LOCOMO is only ever tested on: its licence (CC BY-NC 4.0) forbids shipping what is
fitted to it.

The engine itself makes the features: of every question the first 400 hits and their `explain()`, in its own numbers. The loss is that of a
softmax over a question's hits whose target is its evidence, in equal shares, with an L2 penalty; Adam, its steps fixed, one thread. The
questions of a source count COUNTS together. What no source asks for (identifiers), and what is not the data's to decide (how many vectors a
search reads, that a message of the very day is preferred to those behind it), keeps the weights that are set. The same file and the same
engine give the same bytes. Printed: recall@10 of the weights that the engine has; of weights fitted to the other conversations, for each
quarter of these; of weights fitted to one source alone; then the lines to copy.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import evidence
import locomo
import numpy as np
from softmax import Row, auroc, descend, left_out, recalls

import memspan
import memspan.testing

COUNTS = {"FriendsQA": 0.5, "RealMemBench": 0.5, "Talks": 1.0, "Assistants": 0.5}
"""The count of all questions of a source together; no other source is fitted to."""
NAMED_CLOSER = 5.0
"""`memories::NAMED` of `ranking.rs`, which `tools/ranking/fit.py` chooses."""
HITS, READ = 400, 64
TRAINED_ON = 150
SIGHT = ["words", "window", "meaning", "name", "before_two", "after_two", "within", "behind", "identified"]
SIGHT_SET = {"meaning": 3.5, "within": 0.5, "identified": 40.0}
SET = {"within": 0.5, "identified": 12.0}


@dataclass(frozen=True)
class Asked(Row):
    """A question as it was asked, or with another's name in it."""

    answerable: bool = True
    swapped: bool = False
    """Whether it stands here with and without another's name."""


def row(user: memspan.Scope, asked: evidence.Asked, text: str, *, answerable: bool = True, swapped: bool = False) -> Asked:
    hits = user.search_transcripts(text, limit=HITS)
    made = np.array([list(hit.explain().parts.values()) for hit in hits]).reshape(len(hits), len(NAMES))
    is_evidence = np.array([(hit.session_id, hit.index) in asked.evidence for hit in hits], bool)
    return Asked(asked.source, asked.conversation, made, is_evidence & answerable, len(asked.evidence), answerable, swapped)


def swapped(asked: evidence.Asked) -> str | None:
    """The question with the name of another speaker in the place of the one that it names: nobody answered that."""
    words = asked.text.split()
    first = sorted({speaker.split()[0] for speaker in asked.speakers if speaker})
    for at, word in enumerate(words):
        if word in first and len(first) > 1:
            return " ".join([*words[:at], first[(first.index(word) + 1 + len(words)) % len(first)], *words[at + 1 :]])
    return None


def rows_of(path: Path, test: Path | None) -> list[Asked]:
    """Every question with evidence, and those that nothing answers."""
    made: list[Asked] = []
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


def fit(rows: list[Asked], names: list[str], penalty: float, steps: int = 250, rate: float = 0.1) -> np.ndarray:
    """The weights of the named features; the others are 0."""
    columns = [NAMES.index(name) for name in names]
    rows = [one for one in rows if one.is_evidence.any()]
    made = np.concatenate([one.made[:, columns] for one in rows])
    spread = made.std(0) + 1e-9
    made = (made - made.mean(0)) / spread
    weights = descend(rows, made, COUNTS, penalty=penalty, steps=steps, rate=rate)
    return spread_out(dict(zip(names, np.round(weights / spread, 2), strict=True)))


def spread_out(weights: dict[str, float]) -> np.ndarray:
    return np.array([weights.get(name, 0.0) for name in NAMES])


def ordered(one: Asked, weights: np.ndarray, most: int) -> Asked:
    return one.cut(np.argsort(-(one.made @ weights), kind="stable")[:most])


def answerable(rows: list[Asked]) -> list[Asked]:
    return [one for one in rows if one.answerable]


def fitted(rows: list[Asked]) -> tuple[np.ndarray, np.ndarray]:
    """Weights of first sight, and of the score."""
    rows = answerable(rows)
    sight = fit(rows, [name for name in SIGHT if name not in SIGHT_SET], 0.02) + spread_out(SIGHT_SET)
    seen = [ordered(one, sight, TRAINED_ON) for one in rows]
    return sight, fit(seen, [name for name in NAMES if name not in SET], 0.05) + spread_out(SET)


def ranked(rows: list[Asked], sight: np.ndarray, weights: np.ndarray) -> list[Asked]:
    return [ordered(ordered(one, sight, READ), weights, READ) for one in rows]


def of_first(one: Asked) -> tuple[float, float]:
    """Of the first hit: the logarithm of the odds of its sureness; and how much closer those whom the question names come to it."""
    closeness, speaks = one.made[:, NAMES.index("closeness")], one.made[:, NAMES.index("speaker")] > 0
    closest = [float(closeness[those].max(initial=0.0)) for those in (speaks, ~speaks)]
    sure = float(np.clip((closeness[0] + one.made[0, NAMES.index("meaning")]) / 2, 0.02, 0.98))
    return float(np.log(sure / (1 - sure))), closest[0] - closest[1] if speaks.any() else 0.0


def aurocs(rows: list[Asked], named: float = NAMED_CLOSER) -> dict[str, float]:
    """By source: how often a question that is answered is surer than one that is not."""
    found: dict[str, dict[bool, list[float]]] = {}
    for one in rows:
        if len(one.made) and (one.swapped or one.source not in COUNTS):
            sure, closer = of_first(one)
            found.setdefault(one.source, {True: [], False: []})[one.answerable].append(sure + named * closer)
    out = {}
    for source, by in found.items():
        if by[False]:
            out[source] = round(auroc(by[True], by[False]), 3)
    return out


def report(rows: list[Asked]) -> None:
    own = [one for one in rows if one.source in COUNTS]
    others = [one for one in rows if one.source not in COUNTS]
    print("as the engine ranks:", recalls(answerable(rows)), flush=True)
    left: list[Asked] = []
    for out in left_out(own):
        sight, weights = fitted([one for one in own if one.talk not in out])
        left += ranked([one for one in own if one.talk in out], sight, weights)
    print("conversations left out:", recalls(answerable(left)), flush=True)
    for source in COUNTS:
        sight, weights = fitted([one for one in own if one.source == source])
        print(
            f"fitted to {source} alone:",
            recalls(ranked(answerable([one for one in rows if one.source != source]), sight, weights)),
            flush=True,
        )
    sight, weights = fitted(own)
    seen = ranked(own, sight, weights)
    test = ranked(others, sight, weights)
    print("fitted to all:", recalls(answerable(seen)), "never fitted to:", recalls(answerable(test)))
    print("answered or not, AUROC:", aurocs(seen), "never fitted to:", aurocs(test))
    print("SIGHT:", ", ".join(f"{name}: {sight[NAMES.index(name)]:.2f}" for name in SIGHT))
    print("\n".join(f"{name}: {weight:.2f}," for name, weight in zip(NAMES, weights, strict=True)))


def names() -> list[str]:
    """The features in their order, from a search."""
    with tempfile.TemporaryDirectory() as folder, memspan.open(Path(folder) / "names") as engine:
        user = engine.user("u")
        user.session("s", model="gpt-4o").add({"role": "user", "content": "port"})
        return list(user.search_transcripts("port")[0].explain().parts)


NAMES: list[str] = names()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evidence", type=Path)
    parser.add_argument("--test", type=Path)
    given = parser.parse_args()
    report(rows_of(given.evidence, given.test))


if __name__ == "__main__":
    main()
