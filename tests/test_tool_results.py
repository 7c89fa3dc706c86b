"""What a model reads of a tool: a text as it is, anything else as JSON, and of a tool that does not exist, which ones do."""

from __future__ import annotations

import dataclasses
import enum
import json
import os
import subprocess
import sys
import types
from collections import UserString, deque
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pydantic
import pytest

import memspan
from memspan.function_tools import result_text
from memspan.testing import FakeProvider


class Order(pydantic.BaseModel):
    id: str
    total: Decimal
    when: date


class Parcel(pydantic.BaseModel, arbitrary_types_allowed=True):
    order: Order
    place: object


class Colour(enum.Enum):
    RED = "red"


class Size(enum.StrEnum):
    SMALL = "s"


class Point(NamedTuple):
    x: int
    y: int


@dataclasses.dataclass
class Row:
    order: Order | None
    tags: frozenset[object] = frozenset()
    _hidden: int = 0


class Broken:
    def __str__(self) -> str:
        raise RuntimeError("no words")


ORDER = Order(id="A1", total=Decimal("4.90"), when=date(2026, 3, 1))
SHOWN = {"id": "A1", "total": "4.90", "when": "2026-03-01"}
HAS_ITSELF: list[Any] = []
HAS_ITSELF.append(HAS_ITSELF)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([ORDER], [SHOWN]),
        (ORDER, SHOWN),
        ({"orders": (ORDER,)}, {"orders": [SHOWN]}),
        ({"paid": True, "coupon": None, "delivered": date(2026, 3, 2)}, {"paid": True, "coupon": None, "delivered": "2026-03-02"}),
        (Row(ORDER, frozenset({"b", "a", 10, 9})), {"order": SHOWN, "tags": [9, 10, "a", "b"]}),
        (Parcel(order=ORDER, place=Path("/x")), {"order": SHOWN, "place": "/x"}),
        ([datetime(2026, 3, 1, 8, 30, tzinfo=UTC), time(8, 30)], ["2026-03-01T08:30:00+00:00", "08:30:00"]),
        ([UserString("x")], ["x"]),
        ([Decimal("1.10"), UUID(int=1)], ["1.10", "00000000-0000-0000-0000-000000000001"]),
        ({Colour.RED: Colour.RED, Size.SMALL: Size.SMALL}, {"red": "red", "s": "s"}),
        ({date(2026, 3, 1): 1, (1, "a"): 2, None: 3, 4: 5}, {"2026-03-01": 1, '[1, "a"]': 2, "null": 3, "4": 5}),
        ([Point(1, 2), deque([3]), {"a": 1}.values(), range(2)], [[1, 2], [3], [1], [0, 1]]),
        (types.MappingProxyType({"a": {1}}), {"a": [1]}),
        ([float("nan"), float("inf"), 1.5], ["nan", "inf", 1.5]),
        (
            {"text": b"caf\xc3\xa9", "raw": bytearray(b"\xff\x00"), "view": memoryview(b"a")},
            {"text": "café", "raw": "[2 bytes]", "view": "a"},
        ),
        ([Broken(), object()], ["[Broken]", "<object object>"]),
        (date(2026, 3, 1), "2026-03-01"),
        (None, None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_are_json(value: Any, said: Any) -> None:
    """A list of models, or a dict with a date, reached the model as a repr of Python's."""
    text = result_text(value)
    assert json.loads(text) == said
    assert text == json.dumps(said, ensure_ascii=False)


def test_texts_are_as_they_are() -> None:
    assert result_text("[Order(id='A1')]") == "[Order(id='A1')]"
    assert result_text(Size.SMALL) == "s"


@pytest.mark.parametrize("value", [HAS_ITSELF, [10**5_000], b"raw"], ids=["has itself", "digits", "bytes"])
def test_values_that_no_text_can_say(value: Any) -> None:
    with pytest.raises(memspan.InvalidInput, match="adding a tool result: it must be text or what JSON can say"):
        result_text(value)


def test_every_process_says_the_same() -> None:
    code = "from memspan.function_tools import result_text as r; print(r({'s': {'a', 'b', 'c', 'd', (1, 2)}, 'o': object(), 'f': [r]}))"
    said = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert said == {'{"s": ["a", "b", "c", "d", [1, 2]], "o": "<object object>", "f": ["<function result_text>"]}\n'}


def status(id: str) -> dict[str, Any]:  # noqa: A002
    """The status of an order."""
    return {"id": id, "delivered": date(2026, 3, 2)}


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ([status], "no tool is called 'refund': call one of status, or answer without a tool"),
        ([], "no tool is called 'refund', and none is offered: answer without one"),
    ],
)
def test_a_model_that_calls_no_tool_of_ours_is_told_which_there_are(memspan_engine: memspan.Engine, tools: list[Any], said: str) -> None:
    """It was told to run the tool itself and to add the result, which is a developer's work."""
    provider = FakeProvider([[("refund", {"id": "A1"})], "Done."])
    memspan.Assistant(memspan_engine, provider, model="gpt-4o", tools=tools).respond("u", "give it back")
    assert [one["content"] for one in provider.prompts[1].to_openai()["messages"] if one["role"] == "tool"] == [said]


def test_a_developer_is_told_to_run_it(memspan_engine: memspan.Engine) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o")
    call = {"id": "c", "type": "function", "function": {"name": "refund", "arguments": "{}"}}
    session.add({"role": "assistant", "content": None, "tool_calls": [call]})
    [pending] = session.pending_tool_calls
    with pytest.raises(memspan.InvalidInput, match=r"must be one of status, .* got 'refund' .*: run it yourself, and add the result"):
        session.answer(pending, functions=[status])


def waiting(session: memspan.Session, id: str = "c", name: str = "pay") -> memspan.ToolCall:  # noqa: A002
    """A call that waits for its result in a session."""
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}
    session.add({"role": "assistant", "content": None, "tool_calls": [call]})
    return session.pending_tool_calls[0]


def test_a_call_that_waits_for_no_result_is_not_run(memspan_engine: memspan.Engine) -> None:
    """The tool ran first: an answer that was tried again paid twice, and a call of another user's session paid here."""
    paid: list[str] = []

    def pay() -> str:
        """Pays."""
        paid.append("once")
        return "paid"

    def session(id: str, user: str = "u") -> memspan.Session:  # noqa: A002
        return memspan_engine.user(user).session(id, model="gpt-4o")

    def refuses(session: memspan.Session, call: memspan.ToolCall, error: type[memspan.Error]) -> None:
        messages = len(session.messages)
        with pytest.raises(error):
            session.answer(call, functions=[pay])
        assert (paid, len(session.messages)) == (["once"], messages)

    call = waiting(session("answered"))
    session("answered").answer(call, functions=[pay])
    refuses(session("answered"), call, memspan.ToolCallClosed)
    refuses(session("of another", "v"), call, memspan.InvalidInput)
    waiting(session("of another", "v"), name="refund")
    refuses(session("of another", "v"), call, memspan.InvalidInput)  # the same id, and another tool
    call = waiting(session("cancelled"))
    session("cancelled").cancel_tool_calls(reason="the user said stop")
    refuses(session("cancelled"), call, memspan.ToolCallClosed)
    call = waiting(session("went on"))
    session("went on").add({"role": "user", "content": "never mind"})
    refuses(session("went on"), call, memspan.ToolCallClosed)
    call = waiting(session("taken back"))
    session("taken back").rewind(0)
    refuses(session("taken back"), call, memspan.InvalidInput)
    call = waiting(session("ended"))
    session("ended").end()
    refuses(session("ended"), call, memspan.Closed)


def test_a_tool_of_ours_is_not_run_for_a_cancelled_call(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("u")
    session = user.session("s", model="gpt-4o")
    call = {"id": "c", "type": "function", "function": {"name": "remember", "arguments": '{"text": "Prefers Go"}'}}
    session.add({"role": "assistant", "content": None, "tool_calls": [call]})
    [pending] = session.pending_tool_calls
    session.cancel_tool_calls(reason="the user said stop")
    with pytest.raises(memspan.ToolCallClosed):
        session.answer(pending)
    assert not list(user.memories())
