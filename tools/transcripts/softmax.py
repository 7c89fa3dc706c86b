"""Weights that rank evidence first: questions with their hits, the descent to the weights, and how good an order is.

Both fits use it, this folder's and `tools/ranking/fit.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

K, QUARTERS = 10, 4


@dataclass(frozen=True)
class Row:
    """A question with its hits: features (hits, features), which are evidence, how much evidence there is."""

    source: str
    conversation: str
    made: np.ndarray
    is_evidence: np.ndarray
    total: int

    @property
    def talk(self) -> tuple[str, str]:
        return self.source, self.conversation

    @property
    def recall(self) -> float:
        """The share of the evidence among the first ten."""
        return float(self.is_evidence[:K].sum()) / self.total

    def cut(self, kept: np.ndarray) -> Self:
        return replace(self, made=self.made[kept], is_evidence=self.is_evidence[kept])


def descend(rows: list[Row], made: np.ndarray, counts: dict[str, float], *, penalty: float, steps: int, rate: float) -> np.ndarray:
    """The weights of the columns of `made`, the features of all rows one below the other, by Adam.

    Every row has evidence, and all rows of a source together count what `counts` says.
    """
    sizes = [len(one.is_evidence) for one in rows]
    starts, owner = np.r_[0, np.cumsum(sizes)[:-1]], np.repeat(np.arange(len(sizes)), sizes)
    target = np.concatenate([one.is_evidence / one.is_evidence.sum() for one in rows])
    many = {source: sum(one.source == source for one in rows) for source in {one.source for one in rows}}
    share = np.array([counts[one.source] / many[one.source] for one in rows])
    share = (share / share.sum())[owner]
    weights, mean, square = (np.zeros(made.shape[1]) for _ in range(3))
    for step in range(1, steps + 1):
        scores = made @ weights
        shares = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        shares /= np.add.reduceat(shares, starts)[owner]
        slope = made.T @ ((shares - target) * share) + penalty * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        weights -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return weights


def left_out(rows: list[Row]) -> Iterator[set[tuple[str, str]]]:
    """The conversations of each quarter, to be left out in turn."""
    talks = sorted({one.talk for one in rows})
    return (set(talks[quarter::QUARTERS]) for quarter in range(QUARTERS))


def recalls(rows: Iterable[Row]) -> dict[str, float]:
    """Recall@10 by source of rows in order."""
    found: dict[str, list[float]] = {}
    for one in rows:
        found.setdefault(one.source, []).append(one.recall)
    return {source: round(100 * float(np.mean(shares)), 1) for source, shares in found.items()}


def auroc(answered: list[float], not_answered: list[float]) -> float:
    """How often what is answered is surer than what is not; half of it where both are as sure."""
    yes, no = np.array(answered), np.array(not_answered)
    return float((yes[:, None] > no).mean() + 0.5 * (yes[:, None] == no).mean())
