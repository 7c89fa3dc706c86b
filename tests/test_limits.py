"""One home of limits and defaults: what signatures and docstrings say is what the engine has."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

import memspan
from memspan._core import Limits

KIB, MIB = 1 << 10, 1 << 20

STATED: list[tuple[Any, str, float]] = [
    (memspan.Engine.user, "user_id: 1 to {:,} bytes", Limits.MAX_NAME_BYTES),
    (memspan.Scope.remember, "text: 1 byte to {:,} MiB", Limits.MAX_TEXT_BYTES / MIB),
    (memspan.Scope.remember, "source: Who said it, 1 to {:,} bytes", Limits.MAX_NAME_BYTES),
    (memspan.Scope.remember, "at most {:,} years", Limits.MAX_TTL_SECONDS / 31_557_600),
    (memspan.Scope.remember, "metadata: At most {:,} KiB", Limits.MAX_METADATA_BYTES / KIB),
    (memspan.Scope.remember_many, "up to {:,} rows", Limits.MAX_BATCH_ROWS),
    (memspan.Scope.remember_many, "{:,} KB are one transaction", Limits.MAX_BATCH_BYTES / KIB),
    (memspan.Session.add, "at most {:,} MiB as JSON", Limits.MAX_MESSAGE_BYTES / MIB),
    (memspan.Session.add, "unique in the session, 1 to {:,} bytes", Limits.MAX_NAME_BYTES),
    (memspan.Collection.add, "text: At most {:,} MiB", Limits.MAX_DOCUMENT_BYTES / MIB),
    (memspan.Collection.add, "metadata: At most {:,} KiB", Limits.MAX_METADATA_BYTES / KIB),
    (memspan.Task.set, "value: At most {:,} MiB as JSON", Limits.MAX_TASK_VALUE_BYTES / MIB),
    (memspan.Task.set, "at most {:,} keys", Limits.MAX_TASK_ENTRIES),
    (memspan.Task.set, "keys and {:,} MiB", Limits.MAX_TASK_BYTES / MIB),
    (memspan.Budget, "By default {:,}, or what the model can write", Limits.DEFAULT_OUTPUT_TOKENS),
    (memspan.Grant, "0 to {:,}; 0 gives it", Limits.MAX_GRANT_WEIGHT),
    (memspan.Embedder, "The length of a vector, 1 to {:,}", Limits.MAX_DIMENSIONS),
    (memspan.fit, "By default {:,} % of the model's window", Limits.DEFAULT_FILL * 100),
    (memspan.fit, "what a reply of {:,} tokens leaves", Limits.DEFAULT_OUTPUT_TOKENS),
]


@pytest.mark.parametrize(("thing", "sentence", "limit"), STATED, ids=[f"{thing.__name__}: {text}" for thing, text, _ in STATED])
def test_a_docstring_states_the_limit_that_the_engine_has(thing: Any, sentence: str, limit: float) -> None:
    whole = round(limit)
    assert abs(limit - whole) < 1e-9
    assert sentence.format(whole) in " ".join((inspect.getdoc(thing) or "").split())


def test_defaults_are_those_of_the_engine() -> None:
    fields = {field.name: field.default for field in dataclasses.fields(memspan.Budget)}
    assert (fields["fill"], fields["output_tokens"], fields["cut_step"]) == (Limits.DEFAULT_FILL, None, Limits.DEFAULT_CUT_STEP)
    default = inspect.signature(memspan.open).parameters["busy_timeout_seconds"].default
    assert default == Limits.DEFAULT_BUSY_TIMEOUT_SECONDS


def test_a_reserve_that_is_named_is_taken_at_its_word(user: memspan.Scope) -> None:
    """4,096, said explicitly, was taken for "not given" and silently lowered."""
    small = memspan.Model(name="small-replies", context_window=16_000, max_output_tokens=2_000, encoding="o200k_base")
    memspan.models.register(small)
    unnamed = user.session("s-1", model="small-replies")
    unnamed.add({"role": "user", "content": "hello"})
    assert unnamed.assemble().max_output_tokens == 2_000
    with pytest.raises(memspan.InvalidInput, match=r"at most 2000 tokens with small-replies, and output_tokens is 4096"):
        user.session("s-2", model="small-replies", budget=memspan.Budget(output_tokens=4_096))
    exact = user.session("s-3", model="gpt-4o", budget=memspan.Budget(output_tokens=4_096))
    exact.add({"role": "user", "content": "hello"})
    assert exact.assemble().max_output_tokens == user.session("s-3").assemble().max_output_tokens == 4_096


def test_limits_cannot_be_set() -> None:
    before = Limits.MAX_TEXT_BYTES
    with pytest.raises(AttributeError):
        Limits.MAX_TEXT_BYTES = 1  # type: ignore[misc]
    assert before == Limits.MAX_TEXT_BYTES


def test_a_day_is_one_number() -> None:
    from memspan.providers.provider import MOST_SECONDS  # providers know public names alone, and so have their own

    assert MOST_SECONDS == Limits.MAX_WAIT_SECONDS
    assert f"0 to {Limits.MAX_WAIT_SECONDS:,}" in (memspan.engine.open.__doc__ or "")
