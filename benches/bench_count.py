"""Counting one message, a Python call each: memspan seen before and not, and tiktoken, which remembers nothing."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

import corpus
import memspan
from conftest import alternated
from rivals import vocabularies

if TYPE_CHECKING:
    import tiktoken
    from pytest_benchmark.fixture import BenchmarkFixture

MESSAGE_BYTES = 4_096


@pytest.fixture(scope="session")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> tiktoken.Encoding:
    return vocabularies.openai("o200k_base", tmp_path_factory.mktemp("tiktoken"))


@alternated("memspan", "tiktoken")
@pytest.mark.benchmark(group="count 4 KB, seen before")
def bench_count_again(benchmark: BenchmarkFixture, oracle: tiktoken.Encoding, side: str, _pass: int) -> None:
    text = corpus.prose(0, MESSAGE_BYTES)
    assert memspan.count_tokens(text) == len(oracle.encode_ordinary(text))
    if side == "memspan":
        benchmark.pedantic(memspan.count_tokens, (text,), rounds=500, iterations=100, warmup_rounds=10)
    else:
        benchmark.pedantic(lambda: len(oracle.encode_ordinary(text)), rounds=100, iterations=5, warmup_rounds=5)


@alternated("memspan", "tiktoken")
@pytest.mark.benchmark(group="count 4 KB, not seen before")
def bench_count_new(benchmark: BenchmarkFixture, oracle: tiktoken.Encoding, side: str, _pass: int) -> None:
    texts = itertools.cycle([corpus.prose(number, MESSAGE_BYTES) for number in range(_pass * 300 + 1, _pass * 300 + 301)])
    count = memspan.count_tokens if side == "memspan" else lambda text: len(oracle.encode_ordinary(text))
    benchmark.pedantic(lambda: count(next(texts)), rounds=290)


@alternated("memspan", "tiktoken")
@pytest.mark.benchmark(group="append 20 characters to 100 KB")
def bench_append(benchmark: BenchmarkFixture, oracle: tiktoken.Encoding, side: str, _pass: int) -> None:
    text = "".join(corpus.prose(number, MESSAGE_BYTES) for number in range(25))
    if side == "memspan":
        counter = memspan.TokenCounter()
        counter.append(text)
        benchmark.pedantic(counter.append, (" twenty characters ok",), rounds=300, iterations=10, warmup_rounds=5)
    else:
        benchmark.pedantic(lambda: len(oracle.encode_ordinary(text)), rounds=10, warmup_rounds=1)
