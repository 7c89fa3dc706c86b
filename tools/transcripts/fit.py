#!/usr/bin/env python3
"""Fits the weights of `rust/engine/src/session/search/score.rs` to the evidence of LoCoMo's questions.

    pip install numpy; maturin develop --release
    python tools/transcripts/fit.py LOCOMO.json

The engine itself makes the features: of every question the 100 first hits and their `explain()`. The loss is that of a softmax over a
question's hits whose target is its evidence, in equal shares, with an L2 penalty; Adam, 300 steps; all fixed, so that the same file and the
same engine give the same weights. Printed: recall@10 of the weights that the engine has; of weights that were fitted to the other
conversations, for each conversation; without each feature; and the weights fitted to all, which are those to copy. "identified" is not
fitted: LoCoMo has no identifiers.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from locomo import JUDGED, conversations, load

import memspan

HITS = 100
K = 10
Rows = list[tuple[np.ndarray, np.ndarray, int]]
"""Of each question: features (hits, features), which hits are evidence, how many turns the evidence has."""


def features(path: Path) -> tuple[list[str], list[Rows]]:
    """The names of the features, and the questions by conversation."""
    names: list[str] = []
    found: list[Rows] = []
    with tempfile.TemporaryDirectory() as folder, memspan.open(Path(folder) / "locomo.memspan") as engine:
        for number, sample in enumerate(conversations(path)):
            user, rows = engine.user(f"u{number}"), []
            for asked in load(user, sample):
                hits = user.search_transcripts(asked.text, limit=HITS)
                names = list(hits[0].explain()) if hits else names
                if asked.category in JUDGED and hits:
                    made = np.array([list(hit.explain().values()) for hit in hits])
                    is_evidence = np.array([(hit.session_id, hit.index) in asked.evidence for hit in hits])
                    rows.append((made, is_evidence, len(asked.evidence)))
            found.append(rows)
    return names, found


def fit(rows: Rows, columns: list[int], penalty: float = 0.002, steps: int = 300, rate: float = 0.1) -> np.ndarray:
    """The weights of the columns."""
    rows = [row for row in rows if row[1].any()]
    made = np.concatenate([row[0][:, columns] for row in rows])
    spread = made.std(0) + 1e-9
    made = (made - made.mean(0)) / spread
    sizes = [len(row[1]) for row in rows]
    starts, owner = np.r_[0, np.cumsum(sizes)[:-1]], np.repeat(np.arange(len(sizes)), sizes)
    target = np.concatenate([row[1] / row[1].sum() for row in rows])
    weights, mean, square = np.zeros(len(columns)), np.zeros(len(columns)), np.zeros(len(columns))
    for step in range(1, steps + 1):
        scores = made @ weights
        shares = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        shares /= np.add.reduceat(shares, starts)[owner]
        slope = made.T @ (shares - target) / len(rows) + penalty * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        weights -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return weights / spread


def recall(rows: Rows, columns: list[int], weights: np.ndarray) -> list[float]:
    """Of each question the share of its evidence in the first ten."""
    best = [np.argsort(-(made[:, columns] @ weights), kind="stable")[:K] for made, _, _ in rows]
    return [is_evidence[order].sum() / total for order, (_, is_evidence, total) in zip(best, rows, strict=True)]


def left_out(found: list[Rows], columns: list[int]) -> tuple[float, list[float]]:
    """Recall of each conversation by weights that were fitted to the others; all questions together, and by conversation."""
    shares = []
    for number, rows in enumerate(found):
        others = [row for other, those in enumerate(found) if other != number for row in those]
        shares.append(recall(rows, columns, fit(others, columns)))
    return 100 * float(np.mean(np.concatenate(shares))), [100 * float(np.mean(share)) for share in shares]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    names, found = features(parser.parse_args().data)
    every = [row for rows in found for row in rows]
    ranks = [is_evidence[:K].sum() / total for _, is_evidence, total in every]
    print(f"as the engine ranks: {100 * np.mean(ranks):.1f}; in its first {HITS}: {100 * np.mean([e.sum() / t for _, e, t in every]):.1f}")
    columns = [at for at, name in enumerate(names) if name != "identified"]
    for label, kept in [("all", columns), *((f"without {names[at]}", [c for c in columns if c != at]) for at in columns)]:
        mean, each = left_out(found, kept)
        print(f"{label:20s} left out {mean:.1f} ({', '.join(f'{one:.1f}' for one in each)})")
    weights = fit(every, columns)
    print("fitted to all:", ", ".join(f"{names[at]} {weight:.2f}" for at, weight in zip(columns, weights, strict=True)))


if __name__ == "__main__":
    main()
