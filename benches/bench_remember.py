"""One durable memory: with one thread, and with 32 that write at once (memspan shares their syncs, SQLite queues them)."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

import corpus
from conftest import alternated

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

    from sides import Side

THREADS = 32
PER_THREAD = 8
_numbers = itertools.count(10_000_000)  # of memories that no store has yet


@alternated("memspan", "diy")
@pytest.mark.parametrize("words", [15, 180, 1_400], ids=["20 tokens", "250 tokens", "2,000 tokens"])
@pytest.mark.benchmark(group="remember")
def bench_remember(benchmark: BenchmarkFixture, opened: dict[str, Side], words: int, side: str, _pass: int) -> None:
    def memory() -> tuple[tuple[str, str], dict[str, object]]:
        new = corpus.memory(next(_numbers), words)
        return (new.user, new.text), {}

    benchmark.pedantic(opened[side].remember, setup=memory, rounds=200)


@alternated("memspan", "diy")
@pytest.mark.benchmark(group=f"remember, {THREADS} threads, {THREADS * PER_THREAD} memories a round")
def bench_remember_threads(benchmark: BenchmarkFixture, opened: dict[str, Side], side: str, _pass: int) -> None:
    def write(batch: list[corpus.Memory]) -> None:
        for memory in batch:
            opened[side].remember(memory.user, memory.text)

    def batches() -> tuple[tuple[list[list[corpus.Memory]]], dict[str, object]]:
        return ([list(corpus.memories(PER_THREAD, next(_numbers) * 1_000)) for _ in range(THREADS)],), {}

    with ThreadPoolExecutor(THREADS) as pool:
        benchmark.pedantic(lambda work: list(pool.map(write, work)), setup=batches, rounds=5, warmup_rounds=1)
