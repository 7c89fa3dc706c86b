"""What a prompt shows beside memories: what was said outside of its window, and passages of the session's collections."""

from __future__ import annotations

import json

import pytest

import memspan
from memspan import InvalidInput
from memspan.testing import temporary_engine

FACT = "the vault of Lisbon opens with ticket OPS-7731 and a blue key"


def _sent(prompt: memspan.Prompt) -> str:
    return json.dumps(prompt.to_openai()["messages"], ensure_ascii=False)


@pytest.fixture
def user(memspan_engine: memspan.Engine) -> memspan.Scope:
    return memspan_engine.user("u-42")


def _long_session(user: memspan.Scope) -> memspan.Session:
    """One whose first message is far outside of its window."""
    session = user.session("s-1", model="gpt-4o", budget=memspan.Budget(max_input_tokens=2_000, output_tokens=500))
    session.add({"role": "user", "content": FACT})
    session.add({"role": "assistant", "content": "Noted."})
    for turn in range(40):
        session.add({"role": "user", "content": f"tell me about gardens, number {turn}: " + "roses and hedges " * 20})
        session.add({"role": "assistant", "content": "Gardens need water. " * 10})
    session.add({"role": "user", "content": "which ticket opens the vault of Lisbon?"})
    return session


def test_what_the_window_no_longer_holds_comes_back(user: memspan.Scope) -> None:
    session = _long_session(user)
    prompt = session.assemble()
    assert "OPS-7731" in _sent(prompt)
    [line] = [one for one in prompt.explain() if one.id == "s-1#0"]
    assert line.included
    assert line.section == "recalled"
    assert prompt.total_tokens <= prompt.max_input_tokens


def test_what_is_in_the_window_is_not_shown_twice(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": FACT})
    session.add({"role": "assistant", "content": "Noted."})
    session.add({"role": "user", "content": "which ticket opens the vault of Lisbon?"})
    assert _sent(session.assemble()).count("OPS-7731") == 1


def test_a_reply_is_shown_for_the_question_that_it_followed(user: memspan.Scope) -> None:
    """It shares no word with what is asked now, and a reply to an unlike question is not shown for it."""
    before = user.session("before", model="gpt-4o")
    for thing, said in [
        ("garden shed", "Let us go for the blue one."),
        ("piano lessons", "I do not know that."),
        ("tax return", "By phone."),
    ]:
        before.add({"role": "user", "content": f"What should we do about the {thing}?"})
        before.add({"role": "assistant", "content": said})

    def asked(about: str) -> str:
        return _sent(user.session(f"about {about}", model="gpt-4o").assemble(f"Which way did we take with the {about}?"))

    assert "the blue one" in asked("garden shed")
    assert "I do not know" not in asked("piano lessons")
    assert "blue one" not in asked("ferry tickets")


def test_another_session_of_the_user_is_asked_and_another_user_is_not(user: memspan.Scope, memspan_engine: memspan.Engine) -> None:
    user.session("before", model="gpt-4o").add({"role": "user", "content": FACT})
    question = {"role": "user", "content": "which ticket opens the vault of Lisbon?"}
    session, other = user.session("now", model="gpt-4o"), memspan_engine.user("u-43").session("now", model="gpt-4o")
    session.add(question)
    other.add(question)
    assert "OPS-7731" in _sent(session.assemble())
    assert "OPS-7731" not in _sent(other.assemble())


def test_a_redacted_message_leaves_new_and_old_prompts(user: memspan.Scope) -> None:
    session = _long_session(user)
    prompt = session.assemble()
    session.add_response({"role": "assistant", "content": "OPS it is."}, prompt=prompt)
    turn = len(session.turns) - 1
    old = session.turn(turn).prompt
    assert old is not None
    assert _sent(old) == _sent(prompt)
    session.redact(0, reason="asked to")
    session.add({"role": "user", "content": "and again, which ticket opens the vault of Lisbon?"})
    assert "7731" not in _sent(session.assemble())
    again = session.turn(turn).prompt
    assert again is not None
    assert "7731" not in _sent(again)


def test_passages_of_the_sessions_collections_are_shown_with_their_place(user: memspan.Scope, memspan_engine: memspan.Engine) -> None:
    handbook = memspan_engine.shared("acme").collection("handbook")
    handbook.add("deploys.md", "# Deploys\n\n## When\n\nWe deploy payments-api on Tuesdays, never on a Friday.\n", version="3")
    session = user.session("s-1", model="gpt-4o", collections=[handbook])
    session.add({"role": "user", "content": "when do we deploy payments-api?"})
    prompt = session.assemble()
    assert "never on a Friday" in _sent(prompt)
    assert "handbook/deploys.md" in _sent(prompt)
    reopened = user.session("s-1")
    assert _sent(reopened.assemble()) == _sent(prompt)
    session.add_response({"role": "assistant", "content": "On Tuesdays."}, prompt=prompt)
    handbook.add("deploys.md", "Everything is new.", version="4")
    old = session.turn(0).prompt
    assert old is not None
    assert _sent(old) == _sent(prompt)
    user.session("s-1", collections=[])
    session.add({"role": "user", "content": "what is new, and when do we deploy?"})
    assert "Everything is new" not in _sent(session.assemble())


def test_an_old_prompt_shows_a_passage_until_the_store_is_compacted(user: memspan.Scope, memspan_engine: memspan.Engine) -> None:
    """As docs/security.md says, and for documents that were deleted by any of the two calls."""
    docs, other = user.collection("docs"), user.collection("other")
    docs.add("a", "We deploy payments-api on Tuesdays, never on a Friday.")
    other.add("b", "We deploy billing on Mondays, never on a Sunday.")
    session = user.session("s-1", model="gpt-4o", collections=[docs, other])
    session.add({"role": "user", "content": "when do we deploy payments-api and billing?"})
    session.add_response({"role": "assistant", "content": "Soon."}, prompt=session.assemble())
    docs.delete("a")
    other.delete_all()
    for compacted in (False, True):
        old = session.turn(0).prompt
        assert old is not None
        assert ("never on a Friday" in _sent(old), "never on a Sunday" in _sent(old)) == (not compacted, not compacted)
        memspan_engine.maintain(compact=True)


@pytest.mark.parametrize("copies", [1, 5, 8, 100])
def test_copies_of_a_passage_take_the_place_of_no_other(copies: int) -> None:
    with temporary_engine() as engine:
        _ask_beside_copies(engine.user("u-42"), copies)


def _ask_beside_copies(user: memspan.Scope, copies: int) -> None:
    docs = user.collection("docs")
    readme = "# Deploying\n\nTo deploy the service run make deploy and wait for the green light."
    docs.add_many([{"id": f"svc{number}/README.md", "text": readme} for number in range(copies)])
    docs.add("oncall.md", "# Deploy freeze\n\nNo deploy of a service from December 20 to January 3: ask Grace for an exception.")
    session = user.session("s-1", model="gpt-4o", collections=[docs])
    session.add({"role": "user", "content": "how do I deploy the service, and when may I not?"})
    prompt = session.assemble()
    rows = [row for row in prompt.explain() if row.section == "retrieved"]
    assert [(row.id.partition("#")[0], row.included) for row in rows] == [("docs/svc0/README.md", True), ("docs/oncall.md", True)]
    assert "Grace" in _sent(prompt)
    assert _sent(session.assemble()) == _sent(prompt)


def test_a_question_that_nothing_answers_brings_nothing(user: memspan.Scope, memspan_engine: memspan.Engine) -> None:
    handbook = memspan_engine.shared("acme").collection("handbook")
    handbook.add("deploys.md", "We deploy payments-api on Tuesdays.")
    session = user.session("s-1", model="gpt-4o", collections=[handbook])
    session.add({"role": "user", "content": "hello"})
    assert "Tuesdays" not in _sent(session.assemble())


def test_collections_that_cannot_be_are_refused(user: memspan.Scope) -> None:
    docs = user.collection("docs")
    with pytest.raises(InvalidInput, match="named twice"):
        user.session("s-1", model="gpt-4o", collections=[docs, docs])
    with pytest.raises(InvalidInput, match="put it into a list"):
        user.session("s-1", model="gpt-4o", collections=docs)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with memspan.testing.temporary_engine() as other, pytest.raises(InvalidInput, match="of the same engine"):
        user.session("s-1", model="gpt-4o", collections=[other.user("u").collection("docs")])
    assert [info.id for info in user.sessions()] == []


def _openai_call(at: int, *commands: str) -> dict[str, object]:
    calls = [
        {"id": f"c-{at}-{k}", "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": command})}}
        for k, command in enumerate(commands)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _worked(user: memspan.Scope) -> memspan.Session:
    """A session of an agent whose results mean nothing without the commands that gave them."""
    worked = user.session("worked", model="gpt-4o")
    worked.add({"role": "user", "content": "look how warm the three furnaces are"})
    worked.add(_openai_call(0, "furnace --read north", "furnace --read south", "furnace --read west | tail -1"))
    for k, warm in enumerate(("furnace ok 871 (14 ms)", "furnace ok 640 (11 ms)", "furnace ok 702 (12 ms)")):
        worked.add({"role": "tool", "tool_call_id": f"c-0-{k}", "content": warm})
    worked.add({"role": "assistant", "content": "All three are on."})
    return worked


def _asked(user: memspan.Scope, question: str = "what did the furnace say, ok or not?") -> tuple[memspan.Session, memspan.Prompt]:
    session = user.session("now", model="gpt-4o")
    session.add({"role": "user", "content": question})
    return session, session.assemble()


def test_a_recalled_result_says_the_call_that_gave_it(user: memspan.Scope) -> None:
    _worked(user)
    _, prompt = _asked(user)
    for command, warm in (("north", "871 (14"), ("south", "640 (11"), ("west | tail -1", "702 (12")):
        assert f'<item by="tool" of="bash: furnace --read {command}" on=' in prompt.text
        [line] = [one for one in prompt.text.splitlines() if warm in one]
        assert f"--read {command}" in line
    assert prompt.total_tokens <= prompt.max_input_tokens


def test_a_recalled_result_of_several_calls_says_them_in_their_order(user: memspan.Scope) -> None:
    worked = user.session("worked", model="claude-sonnet-4-5")
    worked.add({"role": "user", "content": "look how warm the two furnaces are"})
    calls = [{"type": "tool_use", "id": f"t-{at}", "name": "Read", "input": {"path": f"furnace/{at}"}} for at in (1, 2)]
    worked.add({"role": "assistant", "content": calls})
    results = [{"type": "tool_result", "tool_use_id": f"t-{at}", "content": f"furnace ok 87{at}"} for at in (2, 1)]
    worked.add({"role": "user", "content": results})
    _, prompt = _asked(user)
    assert 'of="Read: furnace/2; Read: furnace/1"' in prompt.text


def test_what_is_no_recalled_result_says_no_call(user: memspan.Scope) -> None:
    worked = _worked(user)
    worked.add({"role": "user", "content": "the furnace of the north says ok"})
    _, prompt = _asked(user)
    said = [line for line in prompt.text.splitlines() if 'by="user"' in line or "All three" in line]
    assert said
    assert not any(" of=" in line for line in said)
    worked.add({"role": "assistant", "content": "It does."})
    worked.add({"role": "user", "content": "what did the furnace say?"})
    assert " of=" not in worked.assemble().text  # the window has results and calls


def test_a_part_of_a_long_call_says_which_call_it_is_of(user: memspan.Scope) -> None:
    code = "\n".join(f"def step_{n}(value):\n    return value + {n}" for n in range(120))
    code += "\ndef temper_glass(value):\n    return value * 0.873  # tempering of glass\n"
    arguments = json.dumps({"content": code, "path": "src/kiln/glass.py"})
    function = {"name": "write_file", "arguments": arguments}
    worked = user.session("worked", model="gpt-4o")
    worked.add({"role": "user", "content": "write it"})
    worked.add({"role": "assistant", "content": None, "tool_calls": [{"id": "w", "type": "function", "function": function}]})
    worked.add({"role": "tool", "tool_call_id": "w", "content": "Wrote it."})
    _, prompt = _asked(user, "by what does tempering of glass multiply the value?")
    assert "0.873" in prompt.text
    assert '<item by="assistant" of="write_file: src/kiln/glass.py \u2026" on=' in prompt.text


def test_a_redacted_call_leaves_the_prompts_that_said_it(user: memspan.Scope) -> None:
    worked = _worked(user)
    session, prompt = _asked(user)
    assert "--read north" in prompt.text
    session.add_response({"role": "assistant", "content": "It says ok."}, prompt=prompt)
    old = session.turn(0).prompt
    assert old is not None
    assert old.text == prompt.text
    assert (old.same_bytes, old.erased) == (True, ())
    worked.redact(1)
    again = session.turn(0).prompt
    assert again is not None
    assert "--read" not in again.text
    assert "furnace ok 871" in again.text
    assert not again.same_bytes
    assert "call of message worked#2" in again.erased
    session.add({"role": "user", "content": "and what does the furnace say now, is it ok?"})
    assert "--read" not in session.assemble().text
