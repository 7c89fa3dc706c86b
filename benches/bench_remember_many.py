"""A bulk load into an empty store, embedding included."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from conftest import alternated
from sides import SIDES

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

    from corpus import Memory
    from sides import Side


@alternated("memspan", "diy", passes=1)
@pytest.mark.benchmark(group="bulk load")
def bench_remember_many(benchmark: BenchmarkFixture, tmp_path: Path, rows: list[Memory], side: str, _pass: int) -> None:
    batch = rows[:20_000]
    numbers = itertools.count()

    opened: list[Side] = []

    def empty() -> tuple[tuple[Side], dict[str, object]]:
        opened.append(SIDES[side](tmp_path / str(next(numbers))))
        return (opened[-1],), {}

    benchmark.pedantic(lambda store: store.load(batch), setup=empty, rounds=3)
    for store in opened:
        store.close()
    if benchmark.stats:  # none with --benchmark-disable
        benchmark.extra_info["memories per second"] = round(len(batch) / benchmark.stats["median"])
