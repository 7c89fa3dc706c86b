"""Prompts against caches that keep the vendors' rules, over a socket: a short prefix is never kept, a long one is read again and again."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from tests.vendors.caching import LEAST, STEP, CachingVendor
from tests.vendors.server import serving

import memspan

pytestmark = pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")  # the SDK's word on models that others still use

KINDS: dict[str, tuple[Any, str, str]] = {
    "openai": (memspan.providers.OpenAI, "/v1", "gpt-4o"),
    "anthropic": (memspan.providers.Anthropic, "", "claude-sonnet-4-5"),
}
HANDBOOK = "The service payments-api runs on node-9 and listens on port 8443. " * 90


def talk(
    user: memspan.Scope, kind: str, *, system: str, turns: int, name: str = "s-1"
) -> tuple[list[tuple[int, int, int]], memspan.Session]:
    """The bills of a conversation, and the session."""
    made, path, model = KINDS[kind]
    vendor = CachingVendor()
    with serving(vendor) as base:
        ours = made(base_url=base + path, api_key="k", max_retries=0)
        session = user.session(name, model=model, system=system)
        for number in range(turns):
            session.add({"role": "user", "content": f"Which port does service {number} use, and on which of its hosts?"})
            prompt = session.assemble()
            session.add_response(ours.complete(prompt), prompt=prompt)
    return vendor.bills, session


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_prefix_is_read_from_the_second_call_on(user: memspan.Scope, kind: str) -> None:
    bills, session = talk(user, kind, system=HANDBOOK, turns=12)
    assert bills[0][1] == 0
    for (before, *_), (whole, read, written) in pairwise(bills):
        assert read >= before - STEP - 60, "all that was sent before, but for the last step or the newest message"
        assert read + written <= whole
    usages = [turn.usage for turn in session.turns]
    assert [usage and (usage.input_tokens, usage.cached_tokens) for usage in usages] == [(whole, read) for whole, read, _ in bills]
    assert sum(read for _, read, _ in bills) > 0.8 * sum(whole for whole, *_ in bills)


@pytest.mark.parametrize("kind", KINDS)
def test_a_short_prefix_is_not_kept_and_nothing_is_said_of_it(user: memspan.Scope, kind: str) -> None:
    bills, session = talk(user, kind, system="You are terse.", turns=4)
    assert all(whole < LEAST for whole, *_ in bills)
    assert {(read, written) for _, read, written in bills} == {(0, 0)}
    assert all(turn.usage and turn.usage.cached_tokens == 0 for turn in session.turns)
    grown, _ = talk(user, kind, system="You are terse.", turns=40, name="s-2")
    assert [read for whole, read, _ in grown if whole < LEAST] == [0] * sum(whole < LEAST for whole, *_ in grown)
    assert grown[-1][1] >= LEAST, "once the conversation is long enough it is kept"


def test_another_beginning_is_not_read() -> None:
    vendor = CachingVendor()
    body = {"messages": [{"role": "user", "content": HANDBOOK}], "prompt_cache_key": "k"}
    assert [vendor._openai(one)[1] > 0 for one in (body, body, {**body, "prompt_cache_key": "j"}, {**body, "tools": [1]})] == [
        False,
        True,
        False,
        False,
    ]
    marked = {"messages": [{"role": "user", "content": [{"type": "text", "text": HANDBOOK, "cache_control": {"type": "ephemeral"}}]}]}
    assert [vendor._anthropic(one)[1] > 0 for one in (marked, marked, {**marked, "system": [{"type": "text", "text": "x"}]})] == [
        False,
        True,
        False,
    ]
