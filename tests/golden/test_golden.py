"""The golden stores through the public API: all that `expected.json` names is found in copies of them. See rust/engine/tests/golden.rs."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Iterable

FORMATS = [Path(__file__).with_name(f"format-{number}") for number in range(1, 9)]
SCOPES = [(golden, scope) for golden in FORMATS for scope in json.loads((golden / "expected.json").read_text())["scopes"]]


@pytest.mark.parametrize("encrypts", [False, True], ids=["plain", "encrypted later"])
@pytest.mark.parametrize(("golden", "expected"), SCOPES, ids=[f"{golden.name}/{scope['tenant']}/{scope['id']}" for golden, scope in SCOPES])
def test_every_memory_of_a_format_is_found(golden: Path, expected: dict[str, Any], encrypts: bool, tmp_path: Path) -> None:
    store = shutil.copytree(golden / "store", tmp_path / "a.memspan")
    with memspan.open(store, clock=FakeClock(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=40))) as engine:
        if encrypts:
            engine.rekey(bytes(32))
        assert_found(engine, expected)


def assert_found(engine: memspan.Engine, expected: dict[str, Any]) -> None:
    """A scope of a golden store has all that was expected of it."""
    make = engine.user if expected["type"] == "user" else engine.shared
    scope = make(expected["id"], tenant=expected["tenant"])
    assert_same(scope.memories(), expected["memories"])
    for memory_id, revisions in expected["history"].items():
        if revisions:
            assert_same(scope.history(memory_id), revisions)
    for name, holders in expected["slots"].items():
        assert [memory.id for memory in scope.slots.all(name)] == holders
    for query, texts in expected["recall"].items():
        # Of equal scores another may stand first than in the version that wrote the store.
        assert sorted(hit.memory.text for hit in scope.recall(query, limit=3)) == sorted(texts)
    assert engine.check().sound


def assert_same(memories: Iterable[memspan.Memory], expected: list[dict[str, Any]]) -> None:
    """Each has what was expected of it, and may say more: fields that came later."""
    wanted = [without_numbers(one) for one in expected]
    found = [as_expected(memory) for memory in memories]
    assert [{name: value for name, value in one.items() if name in next(iter(wanted), {})} for one in found] == wanted


def as_expected(memory: memspan.Memory) -> dict[str, Any]:
    fields = memory.to_dict()
    times = ("created_at", "known_from", "occurred_at", "expires_at", "known_until", "valid_until")
    fields |= {name: None if fields[name] is None else microseconds(fields[name]) for name in times}
    return {name: value for name, value in fields.items() if name not in {"metadata", "supersedes", "superseded_by"}}


def without_numbers(expected: dict[str, Any]) -> dict[str, Any]:
    """The engine's own test compares metadata as bytes and memories by number; the API shows neither."""
    return {name: value for name, value in expected.items() if name not in {"metadata", "supersedes"}}


def microseconds(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
