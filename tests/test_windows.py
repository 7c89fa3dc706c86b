"""The window strategies without a store, and the example that shows them."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

import memspan

EXAMPLE = Path(__file__).parent.parent / "examples" / "windows.py"


def test_the_example_runs_and_each_class_has_five_lines(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert capsys.readouterr().out.count("messages") == 5
    source = EXAMPLE.read_text()
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    assert len(classes) == 5
    for node in classes:
        lines = source.splitlines()[node.lineno - 1 : node.end_lineno]
        assert len([line for line in lines if line.strip() and '"""' not in line]) <= 5, node.name


def test_one_message_that_is_too_large_is_shortened_or_refused() -> None:
    talk = [{"role": "system", "content": "terse"}, {"role": "user", "content": "word " * 5_000}]
    with pytest.raises(memspan.BudgetExceeded):
        memspan.fit(talk, max_input_tokens=200)
    fitted = memspan.fit(talk, max_input_tokens=200, overflow="truncate")
    assert 150 < fitted.tokens <= 200
    assert "characters left out" in fitted.messages[-1]["content"]
    assert len(talk[1]["content"]) == 25_000
    call = {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}
    rounds = [{"role": "user", "content": "look"}, call, {"role": "tool", "tool_call_id": "c", "content": "line\n" * 9_000}]
    assert memspan.fit(rounds, max_input_tokens=300, overflow="truncate").tokens <= 300
    with pytest.raises(memspan.BudgetExceeded):
        memspan.fit(
            [{"role": "system", "content": "word " * 500}, {"role": "user", "content": "hi"}], max_input_tokens=100, overflow="truncate"
        )
    with pytest.raises(memspan.InvalidInput, match="overflow"):
        memspan.fit(talk, overflow="drop")  # type: ignore[arg-type]


def test_a_summary_is_counted() -> None:
    talk = [{"role": "user", "content": f"build-{n} runs on host-{n}."} for n in range(50)]
    summary = memspan.compact(talk[:40], keep_exchanges=0, max_tokens=100)
    fitted = memspan.fit(talk[40:], max_input_tokens=200, summary=summary)
    assert fitted.messages[0]["role"] == "system"
    assert fitted.tokens == memspan.count_tokens(fitted.messages) <= 200
