"""Whose a memory is that a prompt shows: ids are a scope's own, and a session may read several."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

import pytest

from memspan import InvalidInput
from memspan.testing import openai_response

if TYPE_CHECKING:
    import memspan

FREEZE = "The deploy freeze is on Friday"
NUTS = "Ana is allergic to nuts"


def both(engine: memspan.Engine, kind: Literal["constraint", "semantic"]) -> tuple[memspan.Scope, memspan.Scope, memspan.Session]:
    """A team and a user whose first memories have one id, and a session of the user that reads the team's and can forget."""
    team, ana = engine.shared("team"), engine.user("ana")
    assert team.remember(FREEZE, kind).memory.id == ana.remember(NUTS, kind).memory.id == "mem-1"
    session = ana.session("s", model="gpt-4o", reads=[team])
    session = ana.session("s", tools=session.tools("recall", "forget"))
    session.add({"role": "user", "content": "Forget the deploy freeze on Friday and that Ana is allergic to nuts, please."})
    return team, ana, session


@pytest.mark.parametrize("kind", ["constraint", "semantic"])
def test_only_memories_of_its_own_scope_have_ids(memspan_engine: memspan.Engine, kind: Literal["constraint", "semantic"]) -> None:
    _, _, session = both(memspan_engine, kind)
    for prompt in (session.assemble(), memspan_engine.user("ana").session("s").assemble()):
        text = prompt.text
        lines = [line for line in text.splitlines() if line.startswith("<memory")]
        assert len(lines) == 2, text
        assert [line.startswith('<memory id="mem-1"') for line in lines] == [NUTS in line for line in lines], text


def test_an_explanation_says_whose_a_memory_is(memspan_engine: memspan.Engine) -> None:
    _, ana, session = both(memspan_engine, "constraint")
    prompt = session.assemble()
    rows = {one.id: one.memory for one in prompt.explain() if one.section == "pinned"}
    assert rows == {"mem-1": "mem-1", "team/mem-1": "mem-1"}
    assert [prompt.why(name).id for name in ("mem-1", "team/mem-1")] == ["mem-1", "team/mem-1"]
    ana.forget("mem-1")
    row = session.assemble().why("mem-1")
    assert (row.id, row.included, row.why) == ("mem-1", False, "it was forgotten")


def test_why_answers_for_the_scope_that_is_named(memspan_engine: memspan.Engine) -> None:
    team, ana = memspan_engine.shared("team"), memspan_engine.user("ana")
    team.remember("Bob's server port is 4711")
    team.remember("We eat cake on Thursdays")
    team.remember("Lunch is at noon", slot="lunch", id="noon")
    team.remember("Lunch is at one", slot="lunch", id="one")
    ana.remember("Zoe likes opera")
    session = ana.session("s", model="gpt-4o", reads=[team])
    session.add({"role": "user", "content": "what is Bob's server port?"})
    prompt = session.assemble()
    assert prompt.why("team/mem-1").included
    for other in ("mem-1", "team/mem-2"):
        row = prompt.why(other)
        assert (row.id, row.included) == (other, False)
        assert "does not answer the question" in row.why
    assert prompt.why("mem-2").why == 'no memory of that id is in user "ana", and one is in shared "team": ask for "team/mem-2"'
    assert prompt.why("team/noon").why == "a newer value took its place: team/one"


@pytest.mark.parametrize("wrong", [None, 5, ("mem-1",)])
def test_why_takes_an_id(memspan_engine: memspan.Engine, wrong: object) -> None:
    _, _, session = both(memspan_engine, "constraint")
    with pytest.raises(InvalidInput, match="a memory's id"):
        session.assemble().why(wrong)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_what_was_sent_is_what_is_replayed(memspan_engine: memspan.Engine) -> None:
    team, ana, session = both(memspan_engine, "constraint")
    prompt = session.assemble()
    sent = json.dumps(prompt.to_openai())
    session.add_response(openai_response(None, tool_calls=[("c-1", "forget", {"id": "mem-1"})]), prompt=prompt)
    [call] = session.pending_tool_calls
    session.add({"role": "tool", "tool_call_id": call.id, "content": "no"})
    again = session.turn(0).calls[0].prompt
    assert again is not None
    assert json.dumps(again.to_openai()) == sent
    assert ([one.text for one in team.memories()], [one.text for one in ana.memories()]) == ([FREEZE], [NUTS])


def test_a_change_of_what_it_reads_or_of_its_tools_changes_the_ids(memspan_engine: memspan.Engine) -> None:
    team, ana, session = both(memspan_engine, "constraint")
    assert session.assemble().text.count('id="mem-1"') == 1
    session = ana.session("s", reads=[])
    assert session.assemble().text.count('id="mem-1"') == 1
    session = ana.session("s", reads=[team])
    assert session.assemble().text.count('id="mem-1"') == 1
    session = ana.session("s", tools=[])
    assert 'id="mem-1"' not in session.assemble().text
