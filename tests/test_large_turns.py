"""A turn too large to stay whole: what the next prompt shows of it, and what a compaction and a switch of models make of it."""

from __future__ import annotations

from typing import Any

import pytest

import memspan
from memspan.testing import openai_response

REPORT = "Please summarise this report:\n" + "\n".join(f"In quarter {n} the plant at site {n} made {n * 37} units." for n in range(400))
LOOK = {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}}}
ANSWER = "Output grew each quarter. Shall I also write to procurement?"


def work(session: memspan.Session, ticket: str, rounds: int, lines: int = 300, log: str = "") -> None:
    """One turn of a coding agent: a request, a look at a log, rounds of reading files, and what came of it."""
    session.add({"role": "user", "content": f"Look at ticket {ticket}."})
    if log:
        session.add_response(openai_response(None, tool_calls=[("log", "read_log", {"path": "a.log"})]))
        session.add({"role": "tool", "tool_call_id": "log", "content": log})
    for number in range(rounds):
        call_id = f"{ticket}-{number}"
        session.add_response(openai_response(None, tool_calls=[(call_id, "read_file", {"path": f"src/{ticket}/{number}.py"})]))
        text = "\n".join(f"def handler_{number}_{line}(request): return fetch({line})" for line in range(lines))
        session.add({"role": "tool", "tool_call_id": call_id, "content": text})
    session.add_response(openai_response(f"Fixed {ticket}. Shall I also rename FLAG_{ticket[-1]}?"))


def test_the_answer_of_a_large_turn_is_there_when_the_user_goes_on(memspan_engine: memspan.Engine) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=memspan.Budget(max_input_tokens=6_000))
    work(session, "PAY-1", rounds=8)
    session.add({"role": "user", "content": "go on"})
    prompt = session.assemble()
    assert "Look at ticket PAY-1." in prompt.text
    assert "Shall I also rename FLAG_1?" in prompt.text
    assert "not shown: read_file x " in prompt.text
    assert 3_000 < prompt.total_tokens <= 6_000, "its newest rounds take the room that is free"
    assert any(row.why.startswith("earlier rounds") for row in prompt.explain() if not row.included)
    session.add_response(openai_response("Renamed."), prompt=prompt)
    again = session.turns[-1].prompt
    assert again is not None
    assert again.text == prompt.text, "it is composed again byte for byte"


@pytest.mark.parametrize(("model", "limit"), [("gpt-4", None), ("claude-sonnet-4-5", 16_000), ("gemini-2.5-flash", 13_000)])
def test_of_a_message_that_is_too_long_both_ends_are_shown_with_its_answer(
    memspan_engine: memspan.Engine, model: str, limit: int | None
) -> None:
    budget = memspan.Budget(max_input_tokens=limit)
    session = memspan_engine.user("u").session("s", model=model, budget=budget)
    paste = REPORT[: 12_000 if model == "gpt-4" else len(REPORT)]  # most of what the prompt may have
    session.add({"role": "user", "content": paste})
    session.add_response({"role": "assistant", "content": ANSWER}, prompt=session.assemble())
    session.add({"role": "user", "content": "make it shorter. " + "Mind the tone. " * (500 if model == "gpt-4" else 1_500)})
    prompt = session.assemble()
    assert "Please summarise this report:" in prompt.text
    assert "characters left out" in prompt.text
    assert ANSWER in prompt.text
    assert prompt.total_tokens <= prompt.max_input_tokens
    roles = [message["role"] for message in prompt.to_openai()["messages"]]
    assert roles[-3:] == ["user", "assistant", "user"]


def test_the_boundary_stands_before_what_stands_for_a_result(user: memspan.Scope) -> None:
    session = user.session("s", model="claude-sonnet-4-5", tools=[LOOK])
    session.add({"role": "user", "content": "where is it?"})
    session.add_response(openai_response(None, tool_calls=[("a", "look", {"at": 1}), ("b", "look", {"at": 2})]), prompt=session.assemble())
    previous = session.assemble()
    for call in ["a", "b"]:
        session.add({"role": "tool", "tool_call_id": call, "content": f"found {call}"})
        prompt = session.assemble()
        shared = prompt.shared_prefix(previous)
        assert shared.tokens >= previous.prefix_tokens
        assert prompt.prefix_tokens > previous.prefix_tokens, "it moves on with each result"
        previous = prompt


def test_within_an_epoch_prompts_after_a_large_turn_only_grow(memspan_engine: memspan.Engine) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=memspan.Budget(max_input_tokens=6_000))
    work(session, "PAY-1", rounds=8)
    session.add({"role": "user", "content": "go on"})
    previous, kept = session.assemble(), 0
    for number in range(12):
        session.add_response(openai_response(None, tool_calls=[(f"c{number}", "look", {"at": number})]), prompt=previous)
        session.add({"role": "tool", "tool_call_id": f"c{number}", "content": f"found {number} " * 40})
        prompt = session.assemble()
        assert prompt.total_tokens <= 6_000
        if prompt.epoch == previous.epoch:
            assert prompt.shared_prefix(previous).tokens >= previous.prefix_tokens
            kept += 1
        previous = prompt
    assert kept >= 8, "it moves in steps"


def test_what_a_large_turn_leaves_out_can_be_recalled(memspan_engine: memspan.Engine) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=memspan.Budget(max_input_tokens=6_000))
    work(session, "PAY-1", rounds=8, log="The gateway zephyr-77 refused the certificate of node-9.")
    session.add({"role": "user", "content": "Which gateway refused the certificate of node-9?"})
    assert "zephyr-77" in session.assemble().text


def test_a_switch_to_a_small_window_keeps_the_last_exchange(memspan_engine: memspan.Engine) -> None:
    for first in ("switch", "add"):
        session = memspan_engine.user("u").session(first, model="gpt-4o")
        for number in range(4):
            work(session, f"PAY-{number}", rounds=2)
        steps: dict[str, Any] = {
            "switch": lambda session=session: session.switch_model("gpt-4"),
            "add": lambda session=session: session.add({"role": "user", "content": "go on"}),
        }
        for step in (first, *(steps.keys() - {first})):
            steps[step]()
        prompt = session.assemble()
        assert "Look at ticket PAY-3." in prompt.text, first
        assert "Shall I also rename FLAG_3?" in prompt.text, first
        assert prompt.total_tokens <= prompt.max_input_tokens


def test_a_compaction_that_is_due_leaves_nothing_due(memspan_engine: memspan.Engine) -> None:
    budget = memspan.Budget(max_input_tokens=16_000, compact=memspan.Compact(at=0.75))
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=budget)
    compactions = 0
    for number in range(10):
        work(session, f"PAY-{number}", rounds=2, lines=110)
        while session.compaction_due:
            compaction = session.compact()
            compactions += 1
            assert compaction.covers
            assert compaction.tokens_after < compaction.tokens_before
    assert 2 <= compactions < 10


def test_the_end_of_a_task_is_due_once(memspan_engine: memspan.Engine) -> None:
    budget = memspan.Budget(compact=memspan.Compact(at=0.9))
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=budget)
    with session.task("t") as task:
        task.set("goal", "find the gateway")
        for number in range(5):
            session.add_many([{"role": "user", "content": f"look {number}"}, {"role": "assistant", "content": "done"}])
    due = 0
    for number in range(5):
        if session.compaction_due == "task_end":
            due += 1
            session.compact()
        session.add_many([{"role": "user", "content": f"more {number}"}, {"role": "assistant", "content": "done"}])
    assert 1 <= due <= 2


def test_one_turn_that_is_larger_than_the_threshold_is_due_once(memspan_engine: memspan.Engine) -> None:
    budget = memspan.Budget(max_input_tokens=6_000, compact=memspan.Compact(at=0.5))
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=budget)
    work(session, "PAY-1", rounds=8)
    due = session.compaction_due
    assert due == "threshold"
    covers = session.compact().covers
    assert covers.start == 0
    assert 9 < covers.stop <= 17, "its last round, the answer, stays"
    assert session.compaction_due is None
    assert session.compact().covers == range(0)
    assert session.compact(keep_exchanges=0).covers == range(covers.stop, 18), "none stays"


def test_keep_exchanges_0_leaves_none_but_one_that_waits(memspan_engine: memspan.Engine) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o")
    session.add_many([{"role": role, "content": f"{role} {n}"} for n in range(3) for role in ("user", "assistant")])
    assert session.compact(keep_exchanges=0).covers == range(6)
    session.add({"role": "user", "content": "and now?"})
    assert not session.compact(keep_exchanges=0).covers
    assert "and now?" in session.assemble().text


def test_numbers_that_a_tool_counted_are_no_identifiers(memspan_engine: memspan.Engine) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o")
    for turn in range(4):
        session.add({"role": "user", "content": f"Why do payments of shop {'abcd'[turn]} fail?"})
        session.add_response(openai_response(None, tool_calls=[(f"c{turn}", "read_file", {"path": f"mod{turn}.py"})]))
        lines = [f"line {n}: value {n * 3}" for n in range(120)]
        session.add({"role": "tool", "tool_call_id": f"c{turn}", "content": "\n".join([*lines, f"listens on port 844{turn}"])})
        session.add_response(openai_response(f"The certificate of shop {'abcd'[turn]} was stale; I replaced it."))
    summary = session.compact(keep_exchanges=0, max_tokens=400).summary
    assert summary is not None
    lines = summary.text.splitlines()
    assert not [line for line in lines if line.removeprefix("- ").isdigit() and len(line) < 6]
    assert [f"844{turn}" in summary.text for turn in range(4)] == [True] * 4
    assert summary.text.count("was stale") >= 3


def test_a_window_that_moved_is_called_an_epoch(memspan_engine: memspan.Engine) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=memspan.Budget(max_input_tokens=3_000))
    before, breaks = None, []
    for number in range(60):
        session.add({"role": "user", "content": f"tell me of topic {number}, " + "please " * 30})
        prompt = session.assemble()
        session.add_response({"role": "assistant", "content": "word " * 60}, prompt=prompt)
        if before is not None and prompt.epoch != before.epoch:
            breaks.append(prompt.explain_cache(before))
        before = prompt
    assert breaks
    assert {one.why for one in breaks if one.lost_tokens} == {"epoch"}


@pytest.mark.parametrize("cut_step", [0.0, 0.25, 0.6])
@pytest.mark.parametrize("words", [100, 400, 1_200, 4_000])
def test_an_agent_without_a_user_has_a_prompt_at_every_size(memspan_engine: memspan.Engine, words: int, cut_step: float) -> None:
    """The stack overflowed where the rounds of a turn that no user began left no room for the line about the others."""
    budget = memspan.Budget(max_input_tokens=1_500, cut_step=cut_step)
    session = memspan_engine.user("u").session("s", model="gpt-4o", system="You watch a queue.", budget=budget)
    for number in range(5):
        response = openai_response("so I look " * min(words // 8, 100), tool_calls=[(f"c{number}", "look", {"at": number})])
        session.add_response(response)
        session.add({"role": "tool", "tool_call_id": f"c{number}", "content": "a result " * words})
        assert session.assemble().total_tokens <= 1_500


def test_the_boundary_between_two_turns_stands_before_what_will_change(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("u")
    user.remember("The staging database listens on port 6544.")
    session = user.session("s", model="gpt-4o", system="You are a careful engineer. " * 20)
    session.add({"role": "user", "content": "which port does the staging database listen on? then check it"})
    for number in range(8):
        prompt = session.assemble()
        call = [(f"c{number}", "bash", {"command": f"psql -h stg-{number} -c 'select 1'"})]
        session.add_response(openai_response(None, tool_calls=call), prompt=prompt)
        result = f"psql: error: connection to server at stg-{number} failed: is the server running on that host?"
        session.add({"role": "tool", "tool_call_id": f"c{number}", "content": result})
    last = session.assemble()
    session.add_response(openai_response("It listens on 6544."), prompt=last)
    between = session.assemble()
    session.add({"role": "user", "content": "good, restart it"})
    after = session.assemble()
    assert after.shared_prefix(last).tokens >= last.prefix_tokens > 0
    assert after.shared_prefix(between).tokens >= between.prefix_tokens > 0
    assert after.shared_prefix(between).broken_by == "block", "the control: the block stays in its turn"
