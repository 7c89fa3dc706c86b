"""Closed tokenizers, as a user sees them: bounds that follow the provider's usage, refusals, counts through a client, usage, events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.testing import anthropic_response, openai_response

if TYPE_CHECKING:
    from pathlib import Path

CLAUDE = "claude-sonnet-4-5"
QUESTION = {"role": "user", "content": "a question of some length about the port of the service, asked again and again. " * 40}


def test_what_was_billed_bounds_the_next_prompt(user: memspan.Scope, memspan_engine: memspan.Engine) -> None:
    session = user.session("s-1", model=CLAUDE)
    session.add(QUESTION)
    first = session.assemble()
    assert not first.exact
    assert first.total_tokens > first.counted_tokens
    billed = first.counted_tokens * 12 // 10
    session.add_response(anthropic_response("8443", input_tokens=billed), prompt=first)
    session.add({"role": "user", "content": "and the other one?"})
    second = session.assemble()
    assert billed < second.total_tokens < billed + 150
    assert sum(section.tokens for section in second.sections) == second.total_tokens
    assert session.turn(0).prompt == first
    replayed = session.turn(0).prompt
    assert replayed is not None
    assert replayed.total_tokens == first.total_tokens
    learned = memspan_engine.token_factors[CLAUDE]
    assert (learned.exceeded, set(learned.factors)) == (0, {"prose", "code", "dense", "cjk"})
    assert sum(learned.samples.values()) == 1
    assert memspan_engine.metrics()["tokens_billed"] == billed
    assert memspan_engine.token_factors.reset(CLAUDE)
    assert not memspan_engine.token_factors.reset(CLAUDE)
    assert len(memspan_engine.token_factors) == 0
    with pytest.raises(KeyError):
        memspan_engine.token_factors[CLAUDE]


def test_what_was_learned_stays(tmp_path: Path) -> None:
    for round_number in range(2):
        with memspan.open(tmp_path / "store", embedder=None) as engine:
            assert list(engine.token_factors) == ([CLAUDE] if round_number else [])
            session = engine.user("u").session(f"s-{round_number}", model=CLAUDE)
            session.add(QUESTION)
            prompt = session.assemble()
            session.add_response(anthropic_response("8443", input_tokens=prompt.counted_tokens * 13 // 10), prompt=prompt)
            assert engine.check().sound


def test_bills_below_their_bounds_cost_no_room(tmp_path: Path) -> None:
    """Of a prompt that mixes prose and dense lines a bill leaves open what each of them costs."""
    prior = memspan.models[CLAUDE].factor
    for number in range(6):
        with memspan.open(tmp_path / "store", embedder=None) as engine:
            session = engine.user(f"u-{number}").session("s-1", model=CLAUDE, system="You explain every change in plain words. " * 32)
            session.add({"role": "user", "content": "\n".join(f"{n}: def f_{n}(): return {n * 7919 % 10007}" for n in range(60))})
            prompt = session.assemble()
            session.add_response(anthropic_response("ok", input_tokens=prompt.counted_tokens * 11 // 10), prompt=prompt)
            learned = engine.token_factors[CLAUDE]
            assert learned.samples["dense"] == number + 1
            assert learned.exceeded == 0
            assert max(learned.factors.values()) <= prior
            assert prompt.total_tokens <= prompt.counted_tokens * prior + 100


def test_a_refusal_makes_the_next_prompt_smaller(user: memspan.Scope) -> None:
    session = user.session("s-1", model=CLAUDE, budget=memspan.Budget(max_input_tokens=8_000))
    for n in range(12):
        session.add_many([{"role": "user", "content": f"question {n} " + "of some length " * 90}, {"role": "assistant", "content": "yes"}])
    session.add({"role": "user", "content": "and now?"})
    prompt = session.assemble()
    truth = prompt.counted_tokens * 4
    assert truth > 8_000
    smaller = session.recover(prompt, RuntimeError(f"400: prompt is too long: {truth} tokens > 8000 maximum"))
    assert smaller.counted_tokens * 4 <= 8_000
    assert smaller.to_anthropic()["messages"][-1] == prompt.to_anthropic()["messages"][-1]


def test_a_count_of_ours_that_was_too_low(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o", budget=memspan.Budget(max_input_tokens=4_000))
    for n in range(40):
        session.add({"role": "user", "content": f"question {n} " + "of some length " * 40})
    prompt = session.assemble()
    words = f"This model's maximum context length is 3000 tokens. However, your messages resulted in {prompt.total_tokens + 900} tokens."
    smaller = session.recover(prompt, words)
    assert smaller.total_tokens < 3_000 < prompt.total_tokens


def test_other_errors_are_raised_again(user: memspan.Scope) -> None:
    session = user.session("s-1", model=CLAUDE)
    session.add(QUESTION)
    prompt = session.assemble()
    error = TimeoutError("connection lost")
    with pytest.raises(TimeoutError) as raised:
        session.recover(prompt, error)
    assert raised.value is error
    with pytest.raises(memspan.InvalidInput, match="no other model is left"):
        session.recover(prompt, "rate limit: 200000 tokens > 100000 a minute")
    with pytest.raises(memspan.InvalidInput, match="Prompt"):
        session.recover("prompt", error)  # type: ignore[arg-type]
    session.add({"role": "assistant", "content": "x"})
    with pytest.raises(memspan.SessionMoved):
        session.recover(prompt, "prompt is too long: 213462 tokens > 200000 maximum")


def test_nothing_left_to_leave_out(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add(QUESTION)
    prompt = session.assemble()
    with pytest.raises(memspan.BudgetExceeded):
        session.recover(prompt, f"prompt is too long: {prompt.total_tokens + 10} tokens > {prompt.total_tokens - 10} maximum")


def test_a_provider_counts(user: memspan.Scope) -> None:
    session = user.session("s-1", model=CLAUDE)
    session.add(QUESTION)
    asked: list[dict[str, Any]] = []

    def count(request: dict[str, Any]) -> int:
        asked.append(request)
        return 700

    prompt = session.assemble(count=count)
    assert (prompt.total_tokens, prompt.exact) == (700, True)
    assert sum(section.tokens for section in prompt.sections) == 700
    assert set(asked[0]) == {"model", "messages"}
    turn = session.add_response(anthropic_response("8443", input_tokens=700), prompt=prompt)
    assert turn.prompt is not None
    assert (turn.prompt.total_tokens, turn.prompt.exact) == (700, True)
    assert session.usage()[0].planned == 700


def test_a_provider_that_counts_more_than_fits(user: memspan.Scope) -> None:
    session = user.session("s-1", model=CLAUDE, budget=memspan.Budget(max_input_tokens=8_000))
    for n in range(12):
        session.add_many([{"role": "user", "content": f"question {n} " + "of some length " * 90}, {"role": "assistant", "content": "yes"}])
    session.add({"role": "user", "content": "and now?"})

    def dear(request: dict[str, Any]) -> int:
        return 4 * sum(memspan.count_tokens(str(message["content"]), model="gpt-4o") for message in request["messages"])

    prompt = session.assemble(count=dear)
    assert prompt.exact
    assert prompt.total_tokens <= 8_000
    with pytest.raises(memspan.BudgetExceeded):
        session.assemble(max_input_tokens=3_000, count=lambda _: 3_500)


@pytest.mark.parametrize("model", [CLAUDE, "gpt-4o"])
def test_an_impossible_count_is_not_believed(tmp_path: Path, model: str) -> None:
    events: list[memspan.Event] = []
    with memspan.open(tmp_path / "store", embedder=None, on_event=events.append) as engine:
        session = engine.user("u").session("s-1", model=model)
        session.add({"role": "user", "content": "word " * 1_000})
        plain = session.assemble()
        for impossible in (5, plain.counted_tokens // 4 - 1, plain.counted_tokens * 20 + 4_001, 10**9):
            assert session.assemble(count=lambda _, said=impossible: said) == plain  # type: ignore[misc]
        assert session.assemble() == plain, "nothing was learned of it"
        assert [event.kind for event in events] == ["count"] * 4
        assert "and it is 5" in events[0].reason
        for possible in (plain.counted_tokens // 4 + 1, plain.counted_tokens + 1_000):
            assert session.assemble(count=lambda _, said=possible: said).total_tokens == possible  # type: ignore[misc]
    assert len(events) == 4


def test_an_impossible_number_of_a_refusal_says_as_little_as_none(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    for n in range(12):
        session.add_many([{"role": "user", "content": f"question {n} " + "of some length " * 90}, {"role": "assistant", "content": "yes"}])
    prompt = session.assemble()
    smaller = session.recover(prompt, RuntimeError(f"400: prompt is too long: {10**9} tokens > {prompt.total_tokens} maximum"))
    assert smaller.total_tokens > prompt.total_tokens // 2


@pytest.mark.parametrize("answer", [None, -1, 0, 1.5, "700", 10**20, True])
def test_a_client_that_fails_loses_no_prompt(tmp_path: Path, answer: object) -> None:
    events: list[memspan.Event] = []
    with memspan.open(tmp_path / "store", embedder=None, on_event=events.append) as engine:
        session = engine.user("u").session("s-1", model=CLAUDE)
        session.add(QUESTION)
        prompt = session.assemble(count=lambda _: answer)  # type: ignore[arg-type, return-value]
        assert prompt == session.assemble()
        assert not prompt.exact

        def broken(_: dict[str, Any]) -> int:
            raise ConnectionError("no network")

        assert not session.assemble(count=broken).exact
    assert [event.kind for event in events] == ["count", "count"]
    assert "no network" in events[1].reason


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": -5, "output_tokens": 1},
        {"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}},
        {"input_tokens": 10**18, "output_tokens": 1},
        {"cache_read_input_tokens": 5},
    ],
)
def test_a_usage_that_contradicts_itself_loses_no_reply(tmp_path: Path, usage: dict[str, Any]) -> None:
    events: list[memspan.Event] = []
    with memspan.open(tmp_path / "store", embedder=None, on_event=events.append) as engine:
        session = engine.user("u").session("s-1", model=CLAUDE)
        session.add(QUESTION)
        turn = session.add_response({**anthropic_response("8443"), "usage": usage}, prompt=session.assemble())
        assert len(session.messages) == 2
        assert turn.usage is None
        assert [event.kind for event in events] == ["usage"]
        assert engine.metrics()["usages_ignored"] == 1
        assert not engine.token_factors


def test_usage_is_a_table(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    assert (len(session.usage()), session.usage().dollars) == (0, 0.0)
    session.add({"role": "user", "content": "2 + 2?"})
    session.add_response(openai_response("4", input_tokens=12), prompt=session.assemble())
    session.add({"role": "user", "content": "3 + 3?"})
    session.add_response({"role": "assistant", "content": "6"})
    usage = session.usage()
    assert [(row.turn, row.call, row.model) for row in usage] == [(0, 0, "gpt-4o"), (1, 0, None)]
    assert (usage[0].planned, usage[0].counted, usage[0].input_tokens, usage.input_tokens) == (12, 12, 12, 12)
    assert usage[0].dollars == pytest.approx((12 * 2.5 + (usage[0].output_tokens or 0) * 10) / 1e6)
    assert usage[1].dollars is None
    assert "planned" in str(usage)
    assert "2 calls" in repr(usage)


def test_a_window_that_fills_is_told_once(tmp_path: Path) -> None:
    events: list[memspan.Event] = []

    def listen(event: memspan.Event) -> None:
        events.append(event)
        raise RuntimeError("an observer that fails")

    small = memspan.Model(name="small", context_window=2_000, max_output_tokens=500, encoding="o200k_base")
    with memspan.open(tmp_path / "store", embedder=None, on_event=listen) as engine:
        session = engine.user("u").session("s-1", model=small, budget=memspan.Budget(fill=0.95, output_tokens=100))
        epochs: set[int] = set()
        for n in range(90):
            session.add({"role": "user", "content": f"question {n} of some length, and then a little more of it to fill the window"})
            session.assemble()
            epochs.add(session.epoch)
        told = [(event.kind, event.fraction, event.session, event.limit) for event in events]
        assert told[0] == ("window", 0.70, "s-1", 2_000)
        assert all((event.tokens or 0) >= (event.fraction or 1) * 2_000 for event in events)
        for share in (0.70, 0.85):
            assert 0 < sum(event.fraction == share for event in events) <= len(epochs)
        assert len(session.messages) == 90
