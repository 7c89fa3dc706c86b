"""The graph over vectors against hnswlib, on the same vectors in the same run.

    python benches/bench_graph.py [--size 100000] [--data sentences,clustered] [--dimensions 256] [--ef 64,128,256]

Both get M = 16 and ef_construction = 200, one thread. hnswlib keeps float32 in memory and is called through numpy. memspan searches int8 in
its store, through LMDB, and compares the best 40 once more exactly. Recall@10 is against all exact cosines. Times are processor time of the
thread for hnswlib, and the clock's for memspan: run it on a quiet machine. Needs `pip install hnswlib`, and cargo.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from statistics import median
from typing import TYPE_CHECKING, Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # before numpy is imported, or it has no effect

import numpy as np

import corpus
from memspan.embedding import BuiltIn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TOP = 10
QUERIES = 300
ENGINE = ("cargo", "bench", "--quiet", "-p", "memspan-engine", "--bench", "crossover", "--")


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


def measured(name: str, search: Callable[[Any], Sequence[int]], queries: np.ndarray, truth: list[set[int]]) -> None:
    """Prints the median and the 99th percentile in microseconds, and the recall; every question is asked twice, and timed once."""
    times, hits = list[float](), 0
    for warm in (True, False):
        for query, nearest in zip(queries, truth, strict=True):
            began = time.thread_time_ns()
            found = search(query)
            took = (time.thread_time_ns() - began) / 1e9
            if not warm:
                times.append(took)
                hits += len(nearest & set(map(int, found)))
    recall = hits / sum(map(len, truth))
    print(f"  {name:22} p50 {median(times) * 1e6:8.1f} us   p99 {np.percentile(times, 99) * 1e6:8.1f} us   recall@10 {recall:.4f}")


def clustered(count: int, dimensions: int, seed: int, clusters: int = 2_000) -> np.ndarray:
    """Vectors in clusters of several widths, as texts about some thousand subjects have: float32, shape (count, dimensions), length 1."""
    centres = np.random.default_rng(1).standard_normal((clusters, dimensions), dtype=np.float32)
    random = np.random.default_rng(seed)
    made = random.standard_normal((count, dimensions), dtype=np.float32)
    made *= random.uniform(0.4, 1.2, (count, 1)).astype(np.float32)
    made += centres[random.integers(0, clusters, count)]
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def compare(name: str, vectors: np.ndarray, queries: np.ndarray, efs: list[int]) -> None:
    import hnswlib  # noqa: PLC0415  a yardstick that needs a C++ compiler to install

    count, dimensions = vectors.shape
    print(f"{name}: {count:,} vectors of {dimensions} dimensions, load {os.getloadavg()[0]:.1f}", flush=True)
    truth = exact(vectors, queries)
    index = hnswlib.Index(space="ip", dim=dimensions)
    index.init_index(max_elements=count, ef_construction=200, M=16)
    index.set_num_threads(1)
    began = time.process_time()
    index.add_items(vectors, num_threads=1)
    print(f"  hnswlib built in {time.process_time() - began:.1f} s", flush=True)
    for ef in efs:
        index.set_ef(ef)
        measured(f"hnswlib ef {ef}", lambda query: index.knn_query(query, k=TOP)[0][0], queries, truth)
    with tempfile.TemporaryDirectory() as folder:
        paths = {"--vectors": vectors, "--queries": queries}
        for option, rows in paths.items():
            rows.tofile(f"{folder}/{option}")
        files = [part for option in paths for part in (option, f"{folder}/{option}")]
        numbers = ["--dimensions", str(dimensions), "--ef", ",".join(map(str, efs))]
        subprocess.run([*ENGINE, *files, *numbers], check=True)


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
