"""Fitting a conversation into 8,000 tokens: memspan against LangChain's `trim_messages`, where that is installed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

import corpus
import memspan
from conftest import alternated
from rivals import langchain
from sides import LIMIT, exact_count

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

LENGTHS = [50, 500, 5_000, 50_000] if int(os.environ.get("MEMSPAN_BENCH_MEMORIES", "100000")) > 1_000 else [50]
SLOW = 5_000  # a rival that counts every message takes seconds from here on


def conversation(length: int) -> list[dict[str, str]]:
    """Questions and answers of about 90 tokens, behind a system message."""
    return [{"role": "system", "content": corpus.SYSTEM}, *corpus.conversation(length - 1, words=40)]


@pytest.mark.parametrize("length", LENGTHS)
@alternated("memspan", "trim_messages", passes=2)
@pytest.mark.benchmark(group="fit into 8,000 tokens")
def bench_fit(benchmark: BenchmarkFixture, length: int, side: str, _pass: int) -> None:
    talk = conversation(length)
    fitted = memspan.fit(talk, max_input_tokens=LIMIT)
    assert fitted.tokens <= LIMIT
    assert length == LENGTHS[0] or fitted.tokens > 0.97 * LIMIT
    if side == "memspan":
        benchmark.pedantic(lambda: memspan.fit(talk, max_input_tokens=LIMIT), rounds=200, warmup_rounds=5)
        return
    if not langchain.CAN_TRIM:
        pytest.skip("langchain-core is not installed: it is in the dependency group `bench`")
    given, count = langchain.converted(talk), exact_count()
    assert abs(len(langchain.trim(given, max_tokens=LIMIT, count=count)) - len(fitted.messages)) <= 2
    benchmark.pedantic(lambda: langchain.trim(given, max_tokens=LIMIT, count=count), rounds=2 if length >= SLOW else 5)
