"""Recall of the ten best of a user's memories, hybrid, one embedder for both sides; every question has one memory that answers it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

import corpus
from conftest import alternated

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

    from sides import Side


@alternated("memspan", "diy")
@pytest.mark.benchmark(group="recall top 10")
def bench_recall(benchmark: BenchmarkFixture, opened: dict[str, Side], memories: int, side: str, _pass: int) -> None:
    asked = corpus.questions(min(300, memories), memories)
    missed = [question for question in asked if question.answer not in opened[side].recall(question.user, question.query)]
    assert not missed, f"{side} did not find {len(missed)} of {len(asked)} known items: {missed[0]}"
    turns = itertools.cycle(asked)

    def ask() -> list[str]:
        question = next(turns)
        return opened[side].recall(question.user, question.query)

    benchmark.pedantic(ask, rounds=300, warmup_rounds=20)
