"""From how many vectors on a graph answers sooner than a scan, on this machine: `memspan bench crossover`."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from memspan import _core
from memspan._values import dataclass
from memspan.engine import GraphOptions
from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["Row", "clustered", "measure", "recommended"]

_SMALLEST = 10_000
_QUERIES = 100
_TOP = 10
_WORTH = 2.0
_WORTH_FROM_US = 1_000.0


@dataclass(frozen=True)
class Row:
    """What was measured at one size.

    Attributes:
        size: Vectors.
        scan_us: Median time of an exact search, in microseconds.
        graph_us: The same by the graph, with the default options.
        recall: Of the ten nearest, the share that the graph finds.
        build_seconds: What building the graph took.
    """

    size: int
    scan_us: float
    graph_us: float
    recall: float
    build_seconds: float


def clustered(count: int, dimensions: int, seed: int, clusters: int = 2_000) -> np.ndarray:
    """Vectors in clusters of several widths, as texts about some thousand subjects have: float32, shape (count, dimensions), length 1."""
    centres = np.random.default_rng(1).standard_normal((clusters, dimensions), dtype=np.float32)
    random = np.random.default_rng(seed)
    made = random.standard_normal((count, dimensions), dtype=np.float32)
    made *= random.uniform(0.4, 1.2, (count, 1)).astype(np.float32)
    made += centres[random.integers(0, clusters, count)]
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def measure(folder: Path, dimensions: int, max_size: int, seconds: float) -> list[Row]:
    """Doubles the number of vectors from 10,000 on, up to `max_size`, and begins no size behind `seconds`; always the first.

    Raises:
        InvalidInput: A number is out of its range.
    """
    if not (1 <= dimensions <= 8192 and max_size >= _SMALLEST):  # noqa: PLR2004  the engine's own bound
        raise InvalidInput(
            f"measuring the crossover: dimensions must be 1 to 8,192 and the largest size at least {_SMALLEST:,}, "
            f"and they are {dimensions} and {max_size}: change them"
        )
    began, options, rows = time.monotonic(), GraphOptions(), list[Row]()
    queries = clustered(_QUERIES, dimensions, 0)
    trial_folder = folder / "trial"
    trial_folder.mkdir()
    trial, size = _core.VectorTrial(trial_folder, dimensions), 0
    while size < max_size and (not rows or time.monotonic() - began < seconds):
        more = min(max(size, _SMALLEST), max_size - size)
        for chunk in range(0, more, _SMALLEST):
            trial.add(clustered(min(_SMALLEST, more - chunk), dimensions, size + chunk + 1))
        size += more
        exact, scan_us = _timed(queries, lambda query: trial.search(query, _TOP))
        built = time.monotonic()
        trial.build(options.m, options.ef_construction)
        build_seconds = time.monotonic() - built
        found, graph_us = _timed(queries, lambda query: trial.search(query, _TOP, options.ef_search))
        hits = sum(len(set(a) & set(b)) for a, b in zip(exact, found, strict=True))
        rows.append(Row(size, scan_us, graph_us, hits / sum(map(len, exact)), build_seconds))
    return rows


def _timed(queries: np.ndarray, search: Callable[[np.ndarray], list[int]]) -> tuple[list[list[int]], float]:
    answers = [search(query) for query in queries]  # the first touch of a page is no part of a search
    times = list[float]()
    for query in queries:
        began = time.perf_counter()
        search(query)
        times.append(time.perf_counter() - began)
    return answers, median(times) * 1e6


def recommended(rows: list[Row]) -> int | None:
    """The first size at which a scan takes a millisecond or more and the graph at most half of it; `None` where there is none.

    A graph that is a few microseconds faster is not worth being approximate, nor being built.
    """
    worth = (row.size for row in rows if row.scan_us >= _WORTH_FROM_US and row.scan_us >= _WORTH * row.graph_us)
    return next(worth, None)
