"""The turn that a reply returns: it reads its own call, and takes the earlier ones of the turn from the reply before."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from memspan.testing import openai_response

if TYPE_CHECKING:
    import memspan

USER = {"role": "user", "content": "Look it up."}


@pytest.fixture
def session(user: memspan.Scope) -> memspan.Session:
    session = user.session("s-1", model="gpt-4o")
    session.add(USER)
    return session


def reply(session: memspan.Session, number: int) -> Any:
    turn = session.add_response({**openai_response(f"Step {number}.", input_tokens=number + 1), "id": f"chatcmpl-{number}"})
    other = session.scope.session(session.id).turn(turn.number)  # it knows nothing, and reads everything
    assert turn == other
    assert [vars(call) for call in turn.calls] == [vars(call) | {"_core": turn.calls[0]._core} for call in other.calls]
    return turn


def test_a_reply_reads_no_call_of_its_turn_again(session: memspan.Session) -> None:
    turns = [reply(session, number) for number in range(20)]
    for before, after in pairwise(turns):
        assert len(after.calls) == len(before.calls) + 1
        assert all(one is other for one, other in zip(before.calls, after.calls, strict=False)), "they were not read again"
    assert turns[-1].usage.input_tokens == sum(range(21))
    assert [len(turn.calls) for turn in turns] == list(range(1, 21)), "a turn that was returned stays as it was"


def test_a_reply_that_was_given_before_has_the_whole_turn(session: memspan.Session) -> None:
    reply(session, 0)
    last = reply(session, 1)
    assert reply(session, 0) == last == reply(session, 1)
    assert all(one is other for one, other in zip(reply(session, 1).calls, last.calls, strict=True))


def test_the_replies_of_others_between_are_read(session: memspan.Session, user: memspan.Scope) -> None:
    reply(session, 0)
    reply(user.session("s-1"), 1)
    assert [call.response_id for call in reply(session, 2).calls] == ["chatcmpl-0", "chatcmpl-1", "chatcmpl-2"]


@pytest.mark.parametrize("through", ["itself", "another"])
def test_calls_that_were_taken_back_are_not_shown(session: memspan.Session, user: memspan.Scope, through: str) -> None:
    other = session if through == "itself" else user.session("s-1")
    for number in range(3):
        reply(session, number)
    other.rewind(2)
    reply(other, 7)
    before = reply(session, 8).calls
    assert [call.response_id for call in before] == ["chatcmpl-0", "chatcmpl-7", "chatcmpl-8"]
    other.redact(1)
    after = reply(session, 9).calls
    assert [call.response_id for call in after] == ["chatcmpl-0", "chatcmpl-7", "chatcmpl-8", "chatcmpl-9"]
    assert not any(one is other for one, other in zip(before, after, strict=False)), "they were read again"


def test_a_session_of_the_same_name_is_another(session: memspan.Session, user: memspan.Scope) -> None:
    reply(session, 0)
    reply(session, 1)
    user.session("s-1").delete()
    again = user.session("s-1", model="gpt-4o")
    again.add(USER)
    for number in (5, 6):
        reply(again, number)
    assert [call.response_id for call in reply(session, 7).calls] == ["chatcmpl-5", "chatcmpl-6", "chatcmpl-7"]


def test_a_turn_begins_without_the_calls_of_the_one_before(session: memspan.Session) -> None:
    reply(session, 0)
    session.add(USER)
    turn = reply(session, 1)
    assert (turn.number, [call.response_id for call in turn.calls]) == (1, ["chatcmpl-1"])
