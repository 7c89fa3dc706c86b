"""The graph over vectors against hnswlib, on the same vectors in the same run, call by call in turn.

    python benches/bench_graph.py [--size 100000] [--data sentences,clustered] [--dimensions 256] [--ef 64,128,256]

Both get M = 16 and ef_construction = 200, one thread. hnswlib keeps float32 in memory and is called through numpy. memspan searches int8 in
its store, through LMDB, and compares the best 40 once more exactly. Recall@10 is against all exact cosines. Times are processor time of the
thread: on a busy machine the clock counts what others do. Needs `pip install hnswlib`.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # before numpy is imported, or it has no effect

from pathlib import Path

import numpy as np

import corpus
from memspan import _core
from memspan._crossover import clustered
from memspan.embedding import BuiltIn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TOP = 10
QUERIES = 300


def sentences(count: int, dimensions: int, seed: int) -> np.ndarray:
    """Generated memories as the built-in embedding sees them."""
    if dimensions != BuiltIn().dimensions:
        raise SystemExit(f"sentences have the {BuiltIn().dimensions} dimensions of the built-in embedding")
    texts = [memory.text for memory in corpus.memories(count, first=seed)]
    return np.concatenate([BuiltIn().embed(texts[at : at + 1000]) for at in range(0, count, 1000)])


def questions(count: int, dimensions: int, among: int) -> np.ndarray:
    """Questions about them."""
    assert dimensions == BuiltIn().dimensions
    vectors: np.ndarray = BuiltIn().embed([question.query for question in corpus.questions(count, among=among)])
    return vectors


def exact(vectors: np.ndarray, queries: np.ndarray) -> list[set[int]]:
    """The ten nearest of each, by all cosines."""
    found = []
    for part in range(0, len(queries), 50):
        scores = queries[part : part + 50] @ vectors.T
        found += [set(np.argpartition(row, -TOP)[-TOP:].tolist()) for row in scores]
    return found


def alternate(searches: Mapping[str, Callable[[Any], Sequence[int]]], queries: np.ndarray, truth: list[set[int]]) -> None:
    """Every side's median and 99th percentile in microseconds and its recall, the sides taking turns."""
    times: dict[str, list[float]] = {name: [] for name in searches}
    hits = dict.fromkeys(searches, 0)
    for warm in (True, False):
        for query, nearest in zip(queries, truth, strict=True):
            for name, search in searches.items():
                began = time.thread_time_ns()
                found = search(query)
                took = (time.thread_time_ns() - began) / 1e9
                if not warm:
                    times[name].append(took)
                    hits[name] += len(nearest & set(map(int, found)))
    for name, samples in times.items():
        recall = hits[name] / sum(map(len, truth))
        print(f"  {name:22} p50 {median(samples) * 1e6:8.1f} us   p99 {np.percentile(samples, 99) * 1e6:8.1f} us   recall@10 {recall:.4f}")


def compare(name: str, vectors: np.ndarray, queries: np.ndarray, efs: list[int]) -> None:
    import hnswlib  # noqa: PLC0415  a yardstick that needs a C++ compiler to install

    count, dimensions = vectors.shape
    print(f"{name}: {count:,} vectors of {dimensions} dimensions, load {os.getloadavg()[0]:.1f}", flush=True)
    truth = exact(vectors, queries)
    with tempfile.TemporaryDirectory() as folder:
        trial = _core.VectorTrial(Path(folder), dimensions)
        for at in range(0, count, 10_000):
            trial.add(vectors[at : at + 10_000])
        began = time.process_time()
        trial.build(16, 200)
        print(f"  built in {time.process_time() - began:.1f} s of processor time", flush=True)
        index = hnswlib.Index(space="ip", dim=dimensions)
        index.init_index(max_elements=count, ef_construction=200, M=16)
        index.set_num_threads(1)
        began = time.process_time()
        index.add_items(vectors, num_threads=1)
        print(f"  hnswlib built in {time.process_time() - began:.1f} s", flush=True)

        def nearest(ef: int | None, query: Any) -> list[int]:
            return [number - 1 for number in (trial.search(query, TOP) if ef is None else trial.search(query, TOP, ef))]

        alternate({"memspan scan": partial(nearest, None)}, queries[:30], truth[:30])
        for ef in efs:
            index.set_ef(ef)
            alternate(
                {
                    f"hnswlib ef {ef}": lambda query: index.knn_query(query, k=TOP)[0][0],
                    f"memspan ef {ef}": partial(nearest, ef),
                },
                queries,
                truth,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--data", default="sentences,clustered")
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--ef", default="80,128,256")
    options = parser.parse_args()
    for data in options.data.split(","):
        if data == "sentences":
            vectors = sentences(options.size, options.dimensions, 0)
            queries = questions(QUERIES, options.dimensions, options.size)
        else:
            vectors = np.concatenate([clustered(10_000, options.dimensions, seed) for seed in range(1, 1 + max(1, options.size // 10_000))])
            queries = clustered(QUERIES, options.dimensions, 0)
        compare(data, np.ascontiguousarray(vectors, dtype=np.float32), queries, [int(ef) for ef in options.ef.split(",")])


if __name__ == "__main__":
    main()
