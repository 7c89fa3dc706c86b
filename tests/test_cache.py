"""What a provider's cache would have had: the rules by hand on short rows of blocks, and a whole conversation."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import memspan
from memspan.cache import CacheRule, rules
from memspan.cache import simulation as sim
from memspan.testing import anthropic_response

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = CacheRule(False, 10, 4, 0, 100.0, 1.0, 0.5, "gpt-4o", "here", "today")
MARKED = replace(PLAIN, breakpoints=True, granularity=1, look_back_blocks=2)


def row(text: str) -> list[sim._Block]:
    """A block of six tokens for each letter; a capital is marked."""
    return [sim._Block(letter.lower().encode(), 6, letter.isupper()) for letter in text]


def test_a_provider_without_breakpoints_reads_whole_units_of_what_is_the_same() -> None:
    cache = sim._Cache(PLAIN)
    assert [sim._automatic(row(text), cache)[0] for text in ("abc", "abcd", "abx", "xbc", "ax")] == [0, 16, 12, 0, 0]


def test_breakpoints_are_written_and_looked_back_from() -> None:
    cache = sim._Cache(MARKED)
    assert sim._marked(row("abC"), cache) == (0, 18)
    assert sim._marked(row("abcdE"), cache) == (18, 12), "two blocks back"
    assert sim._marked(row("abcdefghI"), cache) == (0, 54), "four blocks back is too far"
    assert sim._marked(row("abcdefghi"), cache) == (0, 0), "nothing is marked"
    assert sim._marked(row("A"), cache) == (0, 0), "too short"


def test_an_entry_dies_when_it_is_not_used() -> None:
    cache = sim._Cache(PLAIN)
    sim._automatic(row("abc"), cache)
    cache.now = 99.0
    assert sim._automatic(row("abc"), cache)[0] == 16
    cache.now = 198.0
    assert sim._automatic(row("abc"), cache)[0] == 16, "it was used at 99"
    cache.now = 299.0
    assert sim._automatic(row("abc"), cache)[0] == 0


def test_every_rule_has_a_source_and_a_model() -> None:
    for rule in rules().values():
        assert rule.source.startswith("https://")
        assert len(rule.date) == 10
        assert memspan.models[rule.model].prices is not None


def conversation(turns: int) -> list[dict[str, str]]:
    words = "the quick brown fox jumps over the lazy dog and runs away from build"
    return [{"role": role, "content": f"{words}-{n} on host-{n}. {words}."} for n in range(turns) for role in ("user", "assistant")]


def test_an_append_only_prompt_is_cached_and_recall_before_history_is_not() -> None:
    table = memspan.cache.simulate(conversation(150), providers=["anthropic", "openai"], max_input_tokens=4_000)
    share = {(one.provider, one.layout): one.cached_share for one in table}
    for provider in ("anthropic", "openai"):
        assert share[provider, "cache_first"] > 0.6 > share[provider, "sliding_window"]
        assert share[provider, "recall_first"] < 0.1
    assert all((one.dollars or 0) > 0 and one.calls == 150 for one in table)
    assert str(table).count("\n") == 8


def test_compaction_keeps_the_cache() -> None:
    rule = memspan.Compact(at=0.75)
    table = memspan.cache.simulate(
        conversation(400), providers=["anthropic"], layouts=["cache_first"], max_input_tokens=16_000, compact=rule
    )
    assert table[0].cached_share > 0.85  # the block of what is recalled changes with each question


def test_names_are_checked() -> None:
    with pytest.raises(memspan.InvalidInput, match="must be one of"):
        memspan.cache.simulate(conversation(2), providers=["aol"])
    with pytest.raises(memspan.InvalidInput, match="must be one of"):
        memspan.cache.simulate(conversation(2), layouts=["upside_down"])
    with pytest.raises(memspan.InvalidInput, match="got none"):
        memspan.cache.simulate([])


def test_a_prompt_says_what_broke_the_cache(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o", system="You are terse.")
    session.add_many(conversation(10)[:-1])
    first = session.assemble("")
    session.add({"role": "assistant", "content": "yes"})
    session.add({"role": "user", "content": "and now?"})
    grown = session.assemble("")
    assert grown.explain_cache(first).why == "grew"
    session.compact()
    broken = session.assemble("").explain_cache(grown)
    assert (broken.why, broken.segment) == ("summary", "summary")
    assert broken.lost_tokens > 0
    user.session("s-1", system="You are kind.")
    assert session.assemble("").explain_cache(grown).why == "system"


def test_what_two_prompts_share_is_counted_as_the_boundary_is(user: memspan.Scope) -> None:
    session = user.session("s-1", model="claude-sonnet-4-5", system="You are terse. " * 60)
    previous = None
    for turn in range(4):
        session.add({"role": "user", "content": f"more {turn} " + "text " * 40})
        prompt = session.assemble()
        if previous is not None:
            assert prompt.shared_prefix(previous).tokens >= previous.prefix_tokens
            assert prompt.explain_cache(previous).lost_tokens == 0
        previous = prompt
        billed = int(prompt.counted_tokens * 1.1)
        session.add_response(anthropic_response(f"ok {turn}", input_tokens=billed, output_tokens=4), prompt=prompt)


def test_the_command_prints_every_layout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from memspan import cli

    file = tmp_path / "t.jsonl"
    file.write_text("\n".join(map(json.dumps, conversation(30))))
    assert cli.main(["replay", str(file), "--model", "gpt-4o", "--provider", "openai", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["caches"]
    assert [one["layout"] for one in rows] == list(memspan.cache.LAYOUTS)
    assert cli.main(["replay", str(file), "--model", "gpt-4o", "--provider", "openai"]) == 0
    assert "sliding_window" in capsys.readouterr().out
