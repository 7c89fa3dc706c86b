"""A turn of many tool rounds: what its prompts show behind a cut, a compaction, a switch and a fork, and while their room shrinks."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest

import memspan


def round_of_tools(session: memspan.Session, n: int, prompt: memspan.Prompt, rows: int) -> None:
    call = {"id": f"c{n}", "type": "function", "function": {"name": "grep", "arguments": json.dumps({"q": n})}}
    session.add_response({"role": "assistant", "content": f"step {n}", "tool_calls": [call]}, prompt=prompt)
    session.add({"role": "tool", "tool_call_id": f"c{n}", "content": "\n".join(f"row {n}-{row} is fine" for row in range(rows))})


def begun(user: memspan.Scope) -> memspan.Session:
    user.remember("The vault of Lisbon opens with code qq-71")
    budget = memspan.Budget(max_input_tokens=3_000, output_tokens=300)
    session = user.session("s-1", model="gpt-4o", system="Agent.", budget=budget)
    for n in range(4):
        session.add({"role": "user", "content": f"Hello {n}, here is some talk."})
        session.add({"role": "assistant", "content": "Fine. " * 20})
    session.add({"role": "user", "content": "Please go on as discussed."})
    return session


RUNBOOK = memspan.Item("The runbook says: page Kim at 555-0199 before each deploy.", id="runbook")


@pytest.mark.parametrize("then", ["cut", "compact", "switch", "fork"])
def test_what_the_first_call_asked_holds_where_a_block_is_chosen_anew(user: memspan.Scope, then: str) -> None:
    """The caller's items and question were gone from the next epoch on."""
    session = begun(user)
    first: dict[str, Any] = {"items": [RUNBOOK], "query": "vault of Lisbon code"}
    epochs = set()
    for n in range(16):
        prompt = session.assemble(**(first if n == 0 else {}))
        epochs.add(prompt.epoch)
        assert "555-0199" in prompt.text
        assert "qq-71" in prompt.text
        round_of_tools(session, n, prompt, 40 if then == "cut" else 4)
        sent = session.turns[-1].prompt
        assert sent is not None
        assert sent.text == prompt.text
        if n == 3 and then == "compact":
            session.compact(keep_exchanges=0)
        elif n == 3 and then == "switch":
            session.switch_model("gpt-4.1")
        elif n == 3 and then == "fork":
            session = session.fork("f-1")
    assert len(epochs) > 1


def test_a_call_that_says_otherwise_is_heard_and_a_new_turn_begins_with_nothing(user: memspan.Scope) -> None:
    session = begun(user)
    prompt = session.assemble(items=[RUNBOOK], query="vault of Lisbon code")
    round_of_tools(session, 0, prompt, 4)
    session.switch_model("gpt-4.1")
    other = session.assemble(items=[memspan.Item("Ask Ann first.")], query="which day is it?")
    assert "Ask Ann first." in other.text
    assert "555-0199" not in other.text
    assert "qq-71" not in other.text
    session.add_response({"role": "assistant", "content": "Done."}, prompt=session.assemble())
    session.add({"role": "user", "content": "And now?"})
    assert "555-0199" not in session.assemble().text


@pytest.mark.parametrize(
    ("limit", "keys", "model", "most"),
    [(3_000, 60, "gpt-4o", 10), (8_000, 150, "gpt-4o", 6), (8_000, 150, "claude-sonnet-4-5", 10)],
)
def test_a_block_that_must_shrink_does_so_seldom_and_counts_what_goes(
    user: memspan.Scope, limit: int, keys: int, model: str, most: int
) -> None:
    """It lost one round's tokens at a time, the keys that were set last first, and the line kept its old number."""
    chance = random.Random(1)  # noqa: S311  not for secrets
    budget = memspan.Budget(max_input_tokens=limit, output_tokens=300)
    session = user.session("s-1", model=model, system="Agent.", budget=budget)
    for n in range(keys):
        session.task("plan").set(f"step-{n}", f"Migrate shard {n} of orders to cluster eu-{n} and verify the row counts")
    session.add({"role": "user", "content": "Go on with the plan."})
    before: memspan.Prompt | None = None
    shrunk = 0
    shown: list[int] = []
    for n in range(36):
        prompt = session.assemble()
        assert prompt.total_tokens <= limit
        text = prompt.text
        steps = [int(step) for step in re.findall(r'key="step-(\d+)"', text)]
        told = re.search(r"<entry>(\d+) more keys are not shown</entry>", text)
        assert steps == list(range(keys - len(steps), keys)), "the last, in their order"
        assert len(steps) + (int(told[1]) if told else 0) == keys
        if before is not None and before.epoch == prompt.epoch:
            shrunk += shown[-1] != len(steps)
        shown.append(len(steps))
        before = prompt
        round_of_tools(session, n, prompt, chance.choice([10, 20, 60]))
        sent = session.turns[-1].prompt
        assert sent is not None
        assert sent.text == text
    assert 0 < shrunk <= most, shown


def test_notes_leave_room_for_the_last_key_of_each_task(user: memspan.Scope) -> None:
    """Notes that were left out were counted as keys, and all keys went before the first note."""
    session = user.session("s-1", model="gpt-4o", budget=memspan.Budget(max_input_tokens=2_000, output_tokens=300))
    for n in range(60):
        session.note(f"Note {n}: never touch table audit_{n} of the store in building {n}, ask Marta first.")
    for n in range(40):
        session.task("plan").set(f"step-{n}", f"open: migrate shard {n}")
    for name in ("alpha", "beta"):
        session.task(name).set("owner", "Kim")
    session.add({"role": "user", "content": "Go on."})
    prompt = session.assemble()
    notes = len(re.findall(r"Note \d+:", prompt.text))
    keys = re.findall(r'<entry task="(\w+)" key="([\w-]+)">', prompt.text)
    assert keys == [("alpha", "owner"), ("beta", "owner"), ("plan", "step-39")]
    assert notes > 20
    assert f"<entry>{60 - notes} more notes and 39 more keys are not shown</entry>" in prompt.text
    round_of_tools(session, 0, prompt, 40)
    for n in range(1, 8):
        prompt = session.assemble()
        assert 'task="plan" key="step-39"' in prompt.text
        notes = len(re.findall(r"Note \d+:", prompt.text))
        keys = re.findall(r'<entry task="(\w+)" key="([\w-]+)">', prompt.text)
        assert f"{60 - notes} more notes and {42 - len(keys)} more keys are not shown" in prompt.text
        round_of_tools(session, n, prompt, 10)


@pytest.mark.parametrize("name", ["billing", "checkout", "docs", "search"])
def test_a_brief_has_the_keys_of_its_task_and_counts_the_others(user: memspan.Scope, name: str) -> None:
    """It had those of the first task by name, whatever it was for."""
    session = user.session("s-1", model="gpt-4o")
    for task in ("billing", "checkout", "docs", "search"):
        for n in range(25):
            session.task(task).set(f"k{n}", f"{task} step {n}: move shard {n} of {task} to eu-{n} and verify the row counts")
    for limit in (200, 400, 1_000, 2_000):
        brief = session.brief(f"Go on with {name}: finish its open steps", max_tokens=limit)
        assert brief.tokens <= limit
        lines = [line for line in brief.text.splitlines() if re.match(r"- \w+, k\d+: ", line)]
        own = [line for line in lines if line.startswith(f"- {name}, ")]
        assert own
        assert f"- {name}, k24: " in brief.text
        assert len(own) == min(len(lines), 25), "its own come first"
        assert f"- ({100 - len(lines)} more keys of tasks not shown)" in brief.text


def test_a_brief_with_room_for_all_keys_counts_none(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.task("plan").set("open", "drain node-3")
    brief = session.brief("drain the nodes", max_tokens=400)
    assert "- plan, open: drain node-3" in brief.text
    assert "not shown" not in brief.text
