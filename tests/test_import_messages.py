"""Messages with their own ids and times: both ways to give them, what is refused, and running it again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.cache import simulate
from memspan.testing import openai_response

if TYPE_CHECKING:
    from memspan.testing import FakeClock

MARCH = datetime(2024, 3, 5, 10, tzinfo=UTC)
SAID = {"role": "user", "content": "the tea was good"}


@pytest.fixture
def session(user: memspan.Scope) -> memspan.Session:
    return user.session("s-1", model="gpt-4o")


def test_mappings_with_the_arguments_of_add(session: memspan.Session) -> None:
    rows: list[Any] = [
        {"message": SAID, "id": "m-0", "created_at": MARCH, "author": "ann"},
        MappingProxyType({"message": {"role": "assistant", "content": "noted"}, "id": "m-1", "created_at": MARCH + timedelta(hours=1)}),
        memspan.NewMessage(SAID, id="m-2"),
        {"message": SAID, "id": None, "format": "openai"},
        SAID,
    ]
    assert [one.action for one in session.add_many(rows)] == ["added"] * 5
    assert [(one.id, one.author, one.created_at) for one in session.messages] == [
        ("m-0", "ann", MARCH),
        ("m-1", None, MARCH + timedelta(hours=1)),
        ("m-2", None, None),
        (None, None, None),
        (None, None, None),
    ]
    assert session.messages[0].given == SAID
    assert [one.action for one in session.add_many(rows[:3])] == ["duplicate"] * 3


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"message": SAID, "idd": "m-0"}, "has the arguments of add"),
        ({"message": SAID, "created_at": "2024-03-05"}, "created_at"),
        ({"message": SAID | {"id": "m-0", "author": "ann"}, "id": "m-0"}, "'author' among them"),
        ({"message": "tea"}, "one JSON object"),
        (SAID | {"id": "m-0"}, r"'id' among them.*NewMessage\(message, id=\.\.\.\)"),
        (SAID | {"created_at": MARCH}, "'created_at' among them"),
        (SAID | {"author": "ann", "id": 7}, "'id', 'author' among them"),
        ({"role": "developer", "content": "x", "created_at": "2024-03-05T10:00:00"}, "'created_at' among them"),
        ({"role": "system", "content": "x", "id": "m-0"}, "'id' among them"),
        ({"role": "tool", "tool_call_id": "c", "content": "x", "id": "m-0"}, "'id' among them"),
        (MappingProxyType(SAID | {"author": "ann"}), "'author' among them"),
    ],
    ids=range(11),
)
def test_arguments_inside_a_message_are_refused(session: memspan.Session, row: Any, says: str) -> None:
    with pytest.raises(memspan.InvalidInput, match=says) as raised:
        session.add_many([SAID, row])
    assert raised.value.row == 1
    assert raised.value.__notes__ == ["in message 1"]
    if "message" not in row:
        with pytest.raises(memspan.InvalidInput, match=says):
            session.add(row)
    assert not session.messages


@pytest.mark.parametrize(
    "message",
    [
        {"id": "msg_01", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "x"}], "usage": {}},
        {"id": "anything", "role": "assistant", "content": "x", "refusal": None},
        {"id": "msg_9", "type": "message", "role": "user", "status": "completed", "content": [{"type": "input_text", "text": "x"}]},
        {"id": "chatcmpl-1-0", "role": "user", "content": "x", "name": None, "content_parts": None},
        {"role": "user", "content": "x", "id": None, "author": None, "created_at": None},
        {"role": "user", "content": "x", "name": "ann", "metadata": {"id": "m-0", "created_at": "2024"}},
        {"role": "user", "content": "x", "message": "y"},
        {"role": "user", "content": "x", "id": ""},
        {"role": "assistant", "content": "x", "created_at": "2024-03-05T10:00:00", "author": "bot"},
    ],
    ids=range(9),
)
def test_rows_of_vendors_are_taken(session: memspan.Session, message: Any) -> None:
    session.add(message)
    session.add_many([message])
    assert [one.given for one in session.messages] == [message] * 2


def test_an_argument_may_stand_in_the_message_as_well(session: memspan.Session) -> None:
    assert session.add(SAID | {"id": "m-0"}, id="m-0").action == "added"
    assert session.add(SAID | {"id": "m-0"}, id="m-0").action == "duplicate"
    assert session.messages[0].id == "m-0"


def test_a_simulation_takes_rows_with_ids_and_times() -> None:
    rows = [
        SAID | {"id": "m-0", "created_at": "2024-03-05T10:00:00"},
        {"role": "assistant", "content": "Noted.", "id": "m-1"},
    ]
    assert {one.calls for one in simulate(rows, model="gpt-4o")} == {1}


def test_a_session_is_copied_by_its_messages(user: memspan.Scope, session: memspan.Session) -> None:
    session.add(SAID, id="m-0", author="ann", created_at=MARCH)
    session.add({"id": "msg_1", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "noted"}]})
    copy = user.session("s-2", model="gpt-4o")
    copy.add_many([memspan.NewMessage(one.given, one.id, one.author, one.created_at, one.format) for one in session.messages])
    of = [[(one.given, one.id, one.author, one.created_at) for one in each.messages] for each in (session, copy)]
    assert of[0] == of[1]


def test_another_time_of_a_known_id_is_refused(session: memspan.Session) -> None:
    session.add(SAID, id="m-0", created_at=MARCH)
    east = timezone(timedelta(hours=5))
    for again in (MARCH, MARCH.astimezone(east), MARCH.replace(tzinfo=None), None):
        assert session.add(SAID, id="m-0", created_at=again).action == "duplicate"
    with pytest.raises(memspan.IdConflict, match="another created_at") as raised:
        session.add(SAID, id="m-0", created_at=MARCH + timedelta(microseconds=1))
    assert (raised.value.id, raised.value.index) == ("m-0", 0)
    with pytest.raises(memspan.IdConflict, match=r"rewind\(0\)") as raised:
        session.add_many(
            [{"message": SAID, "id": "m-1"}, {"message": SAID, "id": "m-0", "created_at": MARCH.astimezone(east) + timedelta(1)}]
        )
    assert raised.value.row == 1
    session.rewind(0)
    assert session.add(SAID, id="m-0", created_at=MARCH + timedelta(1)).action == "added"
    assert [one.created_at for one in session.messages] == [MARCH + timedelta(1)]


def test_a_time_that_comes_later_changes_nothing(session: memspan.Session) -> None:
    """Messages that were added as they were said, and are imported again from a log with times, are known."""
    session.add(SAID, id="m-0")
    session.add(SAID, id="m-1", created_at=MARCH)
    assert session.add(SAID, id="m-0", created_at=MARCH).action == "duplicate"
    assert session.messages[0].created_at is None
    session.redact(1)
    assert session.add(SAID, id="m-1", created_at=MARCH + timedelta(1)).action == "rejected"


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"occurred_at": MARCH + timedelta(1)}, r"or revise\(\) that memory$"),
        (
            {"occurred_at": MARCH + timedelta(1), "slot": "drink"},
            r"forget\(\) that memory first .*: revise\(\) does not change its occurred_at$",
        ),
        ({"kind": "preference", "source": "web"}, "does not change its kind, source, trust$"),
        ({"text": "Likes coffee"}, r"or revise\(\) that memory$"),
        ({"metadata": {"a": 2}}, r"or revise\(\) that memory$"),
        ({"slot": "drink"}, r"or revise\(\) that memory$"),
        ({"importance": 0.9}, r"or revise\(\) that memory$"),
        ({"occurred_at": None}, "or give the arguments that it was written with$"),
        ({"ttl_seconds": 60}, "or give the arguments that it was written with$"),
    ],
    ids=range(9),
)
def test_a_conflict_advises_what_can_be_done(user: memspan.Scope, other: dict[str, Any], says: str) -> None:
    given: dict[str, Any] = {"text": "Likes tea", "id": "f", "occurred_at": MARCH, "metadata": {"a": 1}}
    user.remember(**given)
    with pytest.raises(memspan.IdConflict, match=says):
        user.remember(**given | other)


def test_revise_is_not_advised_for_what_is_past(user: memspan.Scope) -> None:
    user.remember("Lives in Porto", slot="home", id="h-1")
    user.remember("Lives in Faro", slot="home", id="h-2")
    with pytest.raises(memspan.IdConflict, match="arguments that it was written with"):
        user.remember("Lives in Braga", slot="home", id="h-1")


def test_an_import_names_the_rows_that_were_refused(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("u")
    user.remember("Likes tea", id="gone")
    user.forget("gone")
    rows: list[Any] = [
        {"scope": user, "text": f"fact {n}" if n % 1_000 else f"The wifi password is hunter{n}xyz9", "id": f"f-{n}"} for n in range(2_001)
    ]
    rows[1_500] = {"scope": user, "text": "Likes tea", "id": "gone"}
    rows[7] = {"scope": user, "text": "The wifi password is hunter7xyz9"}
    for report in (memspan_engine.remember_many(rows), memspan_engine.remember_many(rows, on_error="skip")):
        assert (report.rejected, report.errors) == (5, ())
        assert [(index, row_id) for index, row_id, _ in report.refused] == [
            (0, "f-0"),
            (7, None),
            (1_000, "f-1000"),
            (1_500, "gone"),
            (2_000, "f-2000"),
        ]
        assert [reason for _, _, reason in report.refused][2:4] == [
            "the policy refuses: password",
            'the memory with id "gone" was forgotten, and an id is not used twice',
        ]
    assert memspan_engine.remember_many(rows).duplicates == 1_996
    assert memspan_engine.remember_many([{"scope": user, "text": "fact"}]).refused == ()


def test_a_reply_of_the_past_has_its_time(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    session = user.session("s-1", model="gpt-4o")
    then = datetime(2024, 3, 6, 12, tzinfo=UTC)
    session.add({"role": "user", "content": "Where do I live?"}, created_at=then)
    response = openai_response("In Ghent, since March.", input_tokens=12)
    turn = session.add_response(response, created_at=then + timedelta(seconds=9))
    message = turn.messages[-1]
    assert (message.created_at, message.added_at > memspan_clock() - timedelta(days=1)) == (then + timedelta(seconds=9), True)
    assert (turn.calls[0].added_at, turn.usage.input_tokens) == (message.added_at, 12)  # type: ignore[union-attr]
    hits = user.search_transcripts("Ghent", until=datetime(2024, 4, 1, tzinfo=UTC))
    assert hits[0].message.index == 1
    for again in (then + timedelta(seconds=9), None):
        assert session.add_response(response, created_at=again) == turn
    with pytest.raises(memspan.IdConflict, match="with another created_at"):
        session.add_response(response, created_at=then)
    assert len(session.messages) == 2


def test_a_reply_with_a_time_ends_its_lease(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    then = datetime(2024, 3, 6, 12)  # noqa: DTZ001  a naive time is UTC
    with session.lease(message={"role": "user", "content": "2 + 2?"}) as lease:
        turn = session.add_response(openai_response("4"), prompt=session.assemble(), lease=lease, created_at=then)
        assert not lease.held
    assert (turn.messages[-1].created_at, turn.calls[0].sent) == (then.replace(tzinfo=UTC), True)
    assert turn.prompt is not None
    with pytest.raises(memspan.InvalidInput, match="created_at"):
        session.add_response(openai_response("5"), created_at="today")  # type: ignore[arg-type]
