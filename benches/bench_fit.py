"""Fitting a conversation into 8,000 tokens: memspan against LangChain's `trim_messages`, where that is installed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

import corpus
import memspan
from conftest import alternated
from rivals import tiktoken_offline

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_benchmark.fixture import BenchmarkFixture

LIMIT = 8_000
LENGTHS = [50, 500, 5_000, 50_000] if int(os.environ.get("MEMSPAN_BENCH_MEMORIES", "100000")) > 1_000 else [50]
SLOW = 5_000  # a rival that counts every message takes seconds from here on


def conversation(length: int) -> list[dict[str, Any]]:
    """Questions and answers of about 50 tokens, behind a system message."""
    system: dict[str, Any] = {"role": "system", "content": "You are an assistant for the platform team."}
    roles = ("assistant", "user")
    return [system, *({"role": roles[number % 2], "content": corpus.memory(number, 40).text} for number in range(1, length))]


@pytest.fixture(scope="session")
def trim(tmp_path_factory: pytest.TempPathFactory) -> Callable[[list[dict[str, Any]]], list[Any]]:
    """`trim_messages` as its documentation says, with tiktoken to count by and every text counted once."""
    core = pytest.importorskip("langchain_core.messages", reason="bench dependency group")
    oracle = tiktoken_offline.encoding("o200k_base", tmp_path_factory.mktemp("tiktoken"))

    def count(messages: list[Any]) -> int:
        return 3 + sum(4 + len(oracle.encode_ordinary(message.content)) for message in messages)

    def run(messages: list[Any]) -> list[Any]:
        kept: list[Any] = core.trim_messages(
            messages, max_tokens=LIMIT, token_counter=count, strategy="last", start_on="human", include_system=True
        )
        return kept

    return run


@pytest.mark.parametrize("length", LENGTHS)
@alternated("memspan", "trim_messages", passes=2)
@pytest.mark.benchmark(group="fit into 8,000 tokens")
def bench_fit(benchmark: BenchmarkFixture, request: pytest.FixtureRequest, length: int, side: str, _pass: int) -> None:
    talk = conversation(length)
    fitted = memspan.fit(talk, max_input_tokens=LIMIT)
    assert fitted.tokens <= LIMIT
    assert length == LENGTHS[0] or fitted.tokens > 0.97 * LIMIT
    if side == "memspan":
        benchmark.pedantic(lambda: memspan.fit(talk, max_input_tokens=LIMIT), rounds=200, warmup_rounds=5)
        return
    run = request.getfixturevalue("trim")
    core = pytest.importorskip("langchain_core.messages")
    given = core.convert_to_messages(talk)
    assert abs(len(run(given)) - len(fitted.messages)) <= 2
    benchmark.pedantic(lambda: run(given), rounds=2 if length >= SLOW else 5)
