"""One turn of a conversation and its parts: add, assemble, render; memspan and the rival with the same messages and memories."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

import corpus
from conftest import alternated
from sides import LIMIT, MemspanConversation, request_tokens

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

    from sides import Conversation, Side

    Talks = dict[str, Conversation]

_numbers = itertools.count(40_000_000)  # of messages that no conversation has yet


@pytest.fixture(scope="module")
def talks(opened: dict[str, Side], memories: int) -> Talks:
    """The same conversation on both sides, of a user with memories, ending with a question that one of them answers."""
    question = corpus.question(min(17, memories - 1))
    messages = [*corpus.conversation(399, first=41_000_000), {"role": "user", "content": question.query}]
    made = {name: side.conversation(question.user, "s-1") for name, side in opened.items()}
    for talk in made.values():
        talk.load(messages)
    return made


@alternated("memspan", "diy")
@pytest.mark.benchmark(group="assemble 8,000 tokens and render, nothing new")
def bench_request(benchmark: BenchmarkFixture, talks: Talks, side: str, _pass: int) -> None:
    request = benchmark.pedantic(talks[side].request, rounds=300, warmup_rounds=10)
    assert request_tokens(request) <= LIMIT
    assert len(request["messages"]) > 50


@alternated("memspan", passes=1)
@pytest.mark.parametrize("form", ["to_openai", "to_anthropic", "to_json"])
@pytest.mark.benchmark(group="render 8,000 tokens")
def bench_render(benchmark: BenchmarkFixture, memspan_talk: MemspanConversation, form: str, side: str, _pass: int) -> None:
    assert side == "memspan"
    render = getattr(memspan_talk.session.assemble(max_input_tokens=LIMIT), form)
    assert benchmark.pedantic(render, rounds=300, warmup_rounds=10) == render()


@pytest.fixture
def memspan_talk(talks: Talks) -> MemspanConversation:
    talk = talks["memspan"]
    assert isinstance(talk, MemspanConversation)
    return talk


@alternated("memspan", "diy")
@pytest.mark.benchmark(group="add 250 tokens, durable")
def bench_add(benchmark: BenchmarkFixture, talks: Talks, side: str, _pass: int) -> None:
    def message() -> tuple[tuple[dict[str, str]], dict[str, object]]:
        return (corpus.conversation(1, first=next(_numbers), words=105)[0],), {}

    benchmark.pedantic(talks[side].add, setup=message, rounds=200)


@alternated("memspan", "diy")
@pytest.mark.benchmark(group="a whole turn: add a question, assemble 8,000 tokens, render, add the reply")
def bench_turn(benchmark: BenchmarkFixture, talks: Talks, memories: int, side: str, _pass: int) -> None:
    asked = itertools.cycle(corpus.questions(min(300, memories), memories))
    talk = talks[side]

    def turn() -> None:
        talk.add({"role": "user", "content": next(asked).query})
        talk.request()
        talk.add({"role": "assistant", "content": corpus.memory(next(_numbers)).text})

    benchmark.pedantic(turn, rounds=200, warmup_rounds=5)
