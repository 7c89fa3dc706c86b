"""Taking back, tool rounds that were interrupted or cancelled, and long results that are stored whole."""

from __future__ import annotations

import pytest

import memspan
from memspan.testing import openai_response

USER = {"role": "user", "content": "deploy it"}


@pytest.fixture
def session(user: memspan.Scope) -> memspan.Session:
    session = user.session("s-1", model="gpt-4o")
    session.add(USER)
    return session


def call(session: memspan.Session, *ids: str) -> None:
    session.add_response(openai_response(tool_calls=[(one, "deploy", {"env": one}) for one in ids]), prompt=session.assemble())


def pending(session: memspan.Session) -> tuple[str, ...]:
    return tuple(call.id for call in session.pending_tool_calls)


def result(call_id: str, content: str = "done") -> dict[str, str]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def test_rewinding_takes_everything_behind_it(session: memspan.Session, user: memspan.Scope) -> None:
    before = session.assemble()
    session.add_response(openai_response("payments-api is deployed", id="r-1"), prompt=before)
    session.add({"role": "user", "content": "undo payments-api"}, id="m-2")
    session.rewind(1)
    assert [message.given for message in session.messages] == [USER]
    assert session.assemble().messages == before.messages
    assert not user.search_transcripts("payments-api")
    assert session.turn(0).calls == ()
    # Ids that were taken back can be given again, responses too.
    assert session.add_response(openai_response("payments-api is deployed", id="r-1"), prompt=session.assemble()).end == 2
    assert session.add({"role": "user", "content": "something else"}, id="m-2").action == "added"


def test_a_turn_that_was_taken_back_has_no_prompt(session: memspan.Session) -> None:
    """It was StoreCorrupt, and then the prompt of the turn that had its number."""
    taken = session.add_response(openai_response("deployed"), prompt=session.assemble())
    session.rewind(0)
    for _ in range(2):
        with pytest.raises(memspan.NotFound, match="taken back"):
            _ = taken.prompt
        session.add({"role": "user", "content": "something else"})
        session.add_response(openai_response("no"), prompt=session.assemble())


def test_rewinding_to_the_ends(session: memspan.Session) -> None:
    session.rewind(1)
    assert len(session.messages) == 1
    session.rewind(0)
    assert (len(session.messages), len(session.turns)) == (0, 0)
    with pytest.raises(memspan.NotFound):
        session.rewind(1)
    with pytest.raises(memspan.InvalidInput):
        session.rewind(-1)


def test_rewinding_far(session: memspan.Session, memspan_engine: memspan.Engine) -> None:
    session.add_many([{"role": "user", "content": f"question {n}"} for n in range(700)])
    session.rewind(10)
    assert (len(session.messages), len(session.turns)) == (10, 10)
    assert memspan_engine.check().sound


def test_rewinding_into_a_round_opens_its_calls(session: memspan.Session) -> None:
    call(session, "c-1", "c-2")
    session.add_many([result("c-1"), result("c-2")])
    session.rewind(3)
    assert pending(session) == ("c-2",)
    session.add(result("c-2"))
    assert pending(session) == ()


def test_pending_and_results(session: memspan.Session) -> None:
    call(session, "c-1", "c-2")
    assert pending(session) == ("c-1", "c-2")
    session.add(result("c-2"))
    assert pending(session) == ("c-1",)
    with pytest.raises(memspan.Error):
        session.add(result("c-2"))
    with pytest.raises(memspan.InvalidInput, match="open"):
        session.add(result("c-3"))
    assert len(session.messages) == 3


def test_an_interrupted_round_is_rendered_whole(session: memspan.Session) -> None:
    call(session, "c-1")
    session.add({"role": "user", "content": "are you there?"})
    messages = session.assemble().messages
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "user"]
    assert "interrupted" in messages[2]["content"]
    assert len(session.messages) == 3  # rendered, not stored
    with pytest.raises(memspan.ToolCallClosed):
        session.add(result("c-1"))


def test_cancelled_calls_take_no_late_result(session: memspan.Session) -> None:
    call(session, "c-1", "c-2")
    session.add(result("c-1"))
    assert session.cancel_tool_calls(reason="the user said stop") == ("c-2",)
    assert pending(session) == ()
    assert session.cancel_tool_calls(reason="again") == ()
    with pytest.raises(memspan.ToolCallClosed):
        session.add(result("c-2"))
    assert "the user said stop" in session.assemble().messages[-1]["content"]


def test_a_long_result_is_stored_whole_and_shown_shortened(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o", budget=memspan.Budget(max_input_tokens=4_000))
    session.add(USER)
    call(session, "c-1")
    log = "\n".join(f"line {n} of the log" for n in range(5_000))
    session.add(result("c-1", log))
    assert session.messages[2].given["content"] == log
    shown = session.assemble().messages[-1]["content"]
    assert len(shown) < len(log) / 4
    assert shown.startswith("line 0 of the log")
    assert shown.endswith("line 4999 of the log")
    key = "result-2"
    assert key in shown
    text, offset = "", 0
    while True:
        part = session.tool_result(key, offset=offset, max_tokens=1_000)
        assert memspan.count_tokens(part.text) <= 1_000
        assert part.total_characters == len(log)
        text += part.text
        if part.next_offset is None:
            break
        offset = part.next_offset
    assert text == log
    for wrong in ("result-0", "result-99", "x", ""):
        with pytest.raises(memspan.NotFound):
            session.tool_result(wrong)
    for options in ({"offset": -1}, {"max_tokens": 0}):
        with pytest.raises(memspan.InvalidInput):
            session.tool_result(key, **options)


def test_a_redacted_call_keeps_its_pair(session: memspan.Session) -> None:
    call(session, "c-1")
    session.add(result("c-1", "the token is s3cr3t"))
    session.redact(1)
    session.redact(2)
    messages = session.assemble().messages
    assert [message["role"] for message in messages] == ["user", "assistant", "tool"]
    assert messages[2]["tool_call_id"] == messages[1]["tool_calls"][0]["id"] == "c-1"
    assert "s3cr3t" not in str(messages)
