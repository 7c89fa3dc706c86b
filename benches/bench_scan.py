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
    from collections.abc import Callable
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

    Search = Callable[[str, np.ndarray], object]

SIZES = [size for size in (1_000, 5_000, 20_000) if size <= MEMORIES] or [MEMORIES]
TOP = 10
_scopes: dict[int, tuple[list[str], np.ndarray]] = {}


def _scope(size: int) -> tuple[list[str], np.ndarray]:
    if size not in _scopes:
        texts = [memory.text for memory in corpus.memories(size)]
        _scopes[size] = texts, corpus.HashingEmbedder().embed(texts)
    return _scopes[size]


def _numpy(_folder: Path, _texts: list[str], vectors: np.ndarray) -> Search:
    def search(_query: str, vector: np.ndarray) -> np.ndarray:
        scores = vectors @ vector
        best = np.argpartition(scores, -TOP)[-TOP:]
        return best[np.argsort(-scores[best])]

    return search


def _hnswlib(_folder: Path, _texts: list[str], vectors: np.ndarray) -> Search:
    hnswlib = pytest.importorskip("hnswlib", reason="a yardstick that needs a C++ compiler to install")
    index = hnswlib.Index(space="ip", dim=vectors.shape[1])
    index.init_index(max_elements=len(vectors), ef_construction=200, M=16)
    index.add_items(vectors, num_threads=1)
    index.set_ef(64)
    index.set_num_threads(1)
    return lambda _query, vector: index.knn_query(vector, k=TOP)[0][0]


def _memspan(folder: Path, texts: list[str], _vectors: np.ndarray) -> Search:
    store = SIDES["memspan"](folder)
    store.load([corpus.Memory("one", text) for text in texts])
    return lambda query, _vector: store.recall("one", query, TOP)


@alternated("memspan", "numpy", "hnswlib", passes=1)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.benchmark(group="nearest 10 of one scope")
def bench_scan(benchmark: BenchmarkFixture, tmp_path: Path, size: int, side: str, _pass: int) -> None:
    texts, vectors = _scope(size)
    search = {"memspan": _memspan, "numpy": _numpy, "hnswlib": _hnswlib}[side](tmp_path, texts, vectors)
    asked = corpus.questions(min(100, size), size)
    queries = corpus.HashingEmbedder().embed([question.query for question in asked])
    turns = itertools.cycle(list(zip((question.query for question in asked), queries, strict=True)))
    if side == "hnswlib":
        exact = _numpy(tmp_path, texts, vectors)
        found = [len(set(search("", query)) & set(exact("", query))) / TOP for query in queries]  # type: ignore[call-overload]
        benchmark.extra_info["recall"] = round(float(np.mean(found)), 4)
    benchmark.pedantic(lambda: search(*next(turns)), rounds=200, warmup_rounds=10)
