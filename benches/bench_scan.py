"""Nearest vectors of one scope: memspan's whole recall through the store, against numpy and hnswlib in memory.

The yardsticks do less: no disk, no words, no texts. They say how near a durable recall comes to a bare scan. hnswlib's graph holds
nothing but this scope; it is approximate, and its recall stands in the extra info.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

import corpus
from conftest import MEMORIES, alternated
from sides import SIDES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

    from sides import Side

    Open = Callable[[], Side]
    Search = Callable[[str, np.ndarray], object]

SIZES = [size for size in (1_000, 5_000, 20_000) if size <= MEMORIES] or [MEMORIES]
TOP = 10
_scopes: dict[int, tuple[list[str], np.ndarray]] = {}


def _scope(size: int) -> tuple[list[str], np.ndarray]:
    if size not in _scopes:
        texts = [memory.text for memory in corpus.memories(size)]
        _scopes[size] = texts, corpus.HashingEmbedder().embed(texts)
    return _scopes[size]


def _numpy(_open: Open, _texts: list[str], vectors: np.ndarray) -> Search:
    def search(_query: str, vector: np.ndarray) -> np.ndarray:
        scores = vectors @ vector
        best = np.argpartition(scores, -TOP)[-TOP:]
        return best[np.argsort(-scores[best])]

    return search


def _hnswlib(_open: Open, _texts: list[str], vectors: np.ndarray) -> Search:
    hnswlib = pytest.importorskip("hnswlib", reason="a yardstick that needs a C++ compiler to install")
    index = hnswlib.Index(space="ip", dim=vectors.shape[1])
    index.init_index(max_elements=len(vectors), ef_construction=200, M=16)
    index.add_items(vectors, num_threads=1)
    index.set_ef(64)
    index.set_num_threads(1)
    return lambda _query, vector: index.knn_query(vector, k=TOP)[0][0]


def _memspan(open_store: Open, texts: list[str], _vectors: np.ndarray) -> Search:
    store = open_store()
    store.load([corpus.Memory("one", text) for text in texts])
    return lambda query, _vector: store.recall("one", query, TOP)


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Open]:
    """Opens stores in an empty folder, and closes them after the bench."""
    opened: list[Side] = []

    def one() -> Side:
        opened.append(SIDES["memspan"](tmp_path / str(len(opened))))
        return opened[-1]

    yield one
    for store in opened:
        store.close()


@alternated("memspan", "numpy", "hnswlib", passes=1)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.benchmark(group="nearest 10 of one scope")
def bench_scan(benchmark: BenchmarkFixture, open_store: Open, size: int, side: str, _pass: int) -> None:
    texts, vectors = _scope(size)
    search = {"memspan": _memspan, "numpy": _numpy, "hnswlib": _hnswlib}[side](open_store, texts, vectors)
    asked = corpus.questions(min(100, size), size)
    queries = corpus.HashingEmbedder().embed([question.query for question in asked])
    turns = itertools.cycle(list(zip((question.query for question in asked), queries, strict=True)))
    if side == "hnswlib":
        exact = _numpy(open_store, texts, vectors)
        found = [len(set(search("", query)) & set(exact("", query))) / TOP for query in queries]  # type: ignore[call-overload]
        benchmark.extra_info["recall"] = round(float(np.mean(found)), 4)
    benchmark.pedantic(lambda: search(*next(turns)), rounds=200, warmup_rounds=10)
