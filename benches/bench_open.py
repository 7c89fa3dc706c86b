"""Open a loaded store and recall once. In one process, with the pages warm; `compare.py` does it in new processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import corpus
from conftest import alternated
from sides import SIDES

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture


@alternated("memspan", "diy")
@pytest.mark.benchmark(group="open and first recall")
def bench_open(benchmark: BenchmarkFixture, folders: dict[str, Path], memories: int, side: str, _pass: int) -> None:
    question = corpus.question(min(17, memories - 1))

    def open_and_ask() -> list[str]:
        store = SIDES[side](folders[side])
        try:
            return store.recall(question.user, question.query)
        finally:
            store.close()

    assert question.answer in benchmark.pedantic(open_and_ask, rounds=20, warmup_rounds=1)
