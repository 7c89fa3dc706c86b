"""What cannot be: each a typed error in five parts that writes nothing, or the right answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import memspan

if TYPE_CHECKING:
    from collections.abc import Callable

USER = {"role": "user", "content": "hi"}


@pytest.fixture
def session(user: memspan.Scope) -> memspan.Session:
    session = user.session("s-1", model="gpt-4o", system="You are terse.")
    session.add(USER)
    return session


def call(arguments: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}]}


MESSAGES: list[tuple[Any, str]] = [
    ({"role": "oracle", "content": "x"}, '"role" must be one of'),
    ({"role": "function", "name": "f", "content": "x"}, "tool_call_id"),
    ({"content": "x"}, '"role" must be present'),
    ({}, '"role"'),
    ({"role": "user"}, "must have content"),
    ({"role": "user", "content": None}, "must have content"),
    ({"role": "user", "content": []}, "must have content"),
    ({"role": "assistant", "content": None}, "must have content"),
    ({"role": "tool", "content": "x"}, "tool_call_id"),
    ({"role": "tool", "tool_call_id": "c", "content": "x"}, "open call"),
    ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "zz", "content": "x"}]}, "open call"),
    (call("{not json"), "must be JSON"),
    (call({"a": 1}), "must be a string"),
    ({"role": "user", "content": [{"type": "nonsense"}]}, "type of a part"),
    ({"role": "user", "content": 7}, "content"),
    ({"role": "user", "content": float("nan")}, "NaN"),
    ({"role": "user", "content": "\ud800"}, "surrogate"),
    ({"role": "user", "content": object()}, "convert it"),
    ({"role": "user", "content": {1: 2}}, "key"),
    ([USER], "one JSON object"),
    ("hi", "one JSON object"),
    (None, "one JSON object"),
]


@pytest.mark.parametrize(("message", "says"), MESSAGES, ids=range(len(MESSAGES)))
def test_messages(session: memspan.Session, message: Any, says: str) -> None:
    with pytest.raises(memspan.InvalidInput, match=re.escape(says)) as raised:
        session.add(message)
    assert str(raised.value).count(":") >= 1
    assert [one.given for one in session.messages] == [USER]


@pytest.mark.parametrize(
    "options",
    [
        {"id": ""},
        {"id": 7},
        {"id": "x" * 1_025},
        {"author": ""},
        {"expect_index": -1},
        {"expect_index": "0"},
        {"format": "gemini"},
        {"created_at": 7},
    ],
)
def test_options_of_add(session: memspan.Session, options: dict[str, Any]) -> None:
    with pytest.raises(memspan.InvalidInput):
        session.add(USER, **options)
    assert len(session.messages) == 1


def test_deeply_nested(session: memspan.Session) -> None:
    nested: Any = "x"
    for _ in range(1_000):
        nested = [nested]
    with pytest.raises(memspan.InvalidInput, match="deep"):
        session.add({"role": "user", "content": nested})


def test_a_limit_that_cannot_hold_the_newest_message(session: memspan.Session) -> None:
    with pytest.raises(memspan.BudgetExceeded) as raised:
        session.assemble(max_input_tokens=12)
    error = raised.value
    assert (error.limit_tokens, error.system_tokens, error.newest_tokens, error.needed_tokens) == (12, 8, 5, 16)
    assert error.frame_tokens == 3
    assert all(str(number) in str(error) for number in (12, 8, 5, 16))
    assert session.assemble(max_input_tokens=16).total_tokens == 16


@pytest.mark.parametrize(
    "options", [{"max_input_tokens": -1}, {"max_input_tokens": 1.5}, {"max_output_tokens": 0}, {"max_output_tokens": 10**9}]
)
def test_limits(session: memspan.Session, options: dict[str, Any]) -> None:
    with pytest.raises(memspan.InvalidInput):
        session.assemble(**options)


def test_more_than_the_window(session: memspan.Session) -> None:
    with pytest.raises(memspan.BudgetExceeded, match="window"):
        session.assemble(max_input_tokens=10**9)
    assert session.assemble(max_input_tokens=128_000 - 4_096).max_input_tokens == 123_904
    with pytest.raises(memspan.BudgetExceeded):
        session.assemble(max_input_tokens=123_905)


BUDGETS: list[dict[str, Any]] = [
    {"max_input_tokens": -1},
    {"max_input_tokens": 0},
    {"max_input_tokens": "1000"},
    {"max_input_tokens": True},
    {"order": "random"},
    {"fill": 0},
    {"fill": 1.5},
    {"fill": float("nan")},
    {"output_tokens": 0},
    {"cut_step": -0.1},
    {"cut_step": 2},
    {"sections": []},
    {"sections": {"history": 7}},
    {"sections": {"system": memspan.Grant()}},
    {"sections": {"a b": memspan.Grant()}},
    {"max_input_tokens": 100, "sections": {"retrieved": memspan.Grant(floor=60), "recalled": memspan.Grant(floor=60)}},
]


@pytest.mark.parametrize("options", BUDGETS, ids=range(len(BUDGETS)))
def test_budgets(options: dict[str, Any]) -> None:
    with pytest.raises(memspan.InvalidInput, match=r"^making a budget: .+, got .+ \(Budget\.\w+\): .+"):
        memspan.Budget(**options)


@pytest.mark.parametrize(
    "options", [{"floor": -1}, {"weight": -1}, {"weight": 10**7}, {"ceiling": -1}, {"floor": 9, "ceiling": 8}, {"floor": 1.5}]
)
def test_grants(options: dict[str, Any]) -> None:
    with pytest.raises(memspan.InvalidInput, match=r"^making a grant: .+, got .+ \(Grant.*\): .+"):
        memspan.Grant(**options)


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda: memspan.Budget(max_input_tokens="8000"), "got '8000' (Budget.max_input_tokens)"),  # type: ignore[arg-type]
        (lambda: memspan.Grant(floor="5"), "got '5' (Grant.floor)"),  # type: ignore[arg-type]
        (lambda: memspan.Compact(every_turns="5"), "got '5' (Compact.every_turns)"),  # type: ignore[arg-type]
        (lambda: memspan.ToolResults(max_tokens="5"), "got '5' (ToolResults.max_tokens)"),  # type: ignore[arg-type]
        (lambda: memspan.Recalls(messages="5"), "got '5' (Recalls.messages)"),  # type: ignore[arg-type]
        (lambda: memspan.Item("x", section=5), "got 5 (Item.section)"),  # type: ignore[arg-type]
        (lambda: memspan.Budget(sections={5: memspan.Grant()}), "got 5 (Budget.sections)"),  # type: ignore[dict-item]
    ],
)
def test_a_value_is_shown_as_it_was_given(make: Callable[[], object], shown: str) -> None:
    """A text of digits was shown without its quotation marks: "must be an int from 1 to ..., got 8000"."""
    with pytest.raises(memspan.InvalidInput, match=re.escape(shown)):
        make()


def test_floors_that_do_not_fit_the_model(user: memspan.Scope) -> None:
    with pytest.raises(memspan.BudgetExceeded, match="floors"):
        user.session("s-2", model="gpt-4", budget=memspan.Budget(sections={"retrieved": memspan.Grant(floor=10_000)}))
    assert [info.id for info in user.sessions()] == []


@pytest.mark.parametrize(
    "options",
    [
        {"text": 7},
        {"text": "x", "section": "system"},
        {"text": "x", "section": "history"},
        {"text": "x", "section": "newer"},
        {"text": "x", "section": "a b"},
        {"text": "x", "section": ""},
        {"text": "x", "id": ""},
        {"text": "x", "id": 7},
        {"text": "x", "score": float("inf")},
        {"text": "x", "score": "high"},
    ],
)
def test_items(options: dict[str, Any]) -> None:
    with pytest.raises(memspan.InvalidInput, match=r"^making an item: .+, got .+ \(Item\.\w+\): .+"):
        memspan.Item(**options)


@pytest.mark.parametrize("items", ["text", memspan.Item("x"), ["text"], 7, [None]])
def test_what_is_no_list_of_items(session: memspan.Session, items: Any) -> None:
    with pytest.raises(memspan.InvalidInput, match="items"):
        session.assemble(items=items)


def test_items_of_ten_megabytes(session: memspan.Session) -> None:
    big, small = memspan.Item("word " * 2_000_000, id="big"), memspan.Item("short", id="small")
    prompt = session.assemble(items=[big, small])
    reasons = {one.id: one.included for one in prompt.explain()}
    assert (reasons["big"], reasons["small"]) == (False, True)
    with pytest.raises(memspan.InvalidInput, match="67108864"):
        session.assemble(items=[big] * 7)


def test_ten_thousand_tools(user: memspan.Scope) -> None:
    tools = [{"type": "function", "function": {"name": f"tool_{n}", "description": "Does things."}} for n in range(10_000)]
    session = user.session("s-2", model="gpt-4o", tools=tools)
    with pytest.raises(memspan.BudgetExceeded, match="tools") as raised:
        session.assemble()
    assert isinstance(raised.value.limit_tokens, int)
    session = user.session("s-3", model="gpt-4.1", tools=tools)
    session.add(USER)
    assert len(session.assemble().to_openai()["tools"]) == 10_000


@pytest.mark.parametrize("tools", ["x", {"a": 1}, [7], [{}], [{"type": "function"}], [{"type": "function", "function": {"name": "f"}}] * 2])
def test_tools(user: memspan.Scope, tools: Any) -> None:
    with pytest.raises(memspan.InvalidInput):
        user.session("s-2", model="gpt-4o", tools=tools)


def test_an_image_of_many_megabytes(session: memspan.Session) -> None:
    url = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzk" + "A" * 20_000_000
    session.add({"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]})
    assert session.messages[1].given["content"][0]["image_url"]["url"] == url
    assert session.messages[1].tokens < 1_000
    assert session.assemble().to_openai()["messages"][-1]["content"][0]["image_url"]["url"] == url


def test_a_message_that_is_too_long(session: memspan.Session) -> None:
    with pytest.raises(memspan.InvalidInput, match="67108864") as raised:
        session.add({"role": "user", "content": "x" * (64 << 20)})
    size = raised.value.size_bytes
    assert isinstance(size, int)
    assert size > 64 << 20
    assert len(session.messages) == 1


@pytest.mark.parametrize("session_id", ["", "x" * 1_025, 7, None])
def test_ids_of_sessions(user: memspan.Scope, session_id: Any) -> None:
    with pytest.raises(memspan.InvalidInput):
        user.session(session_id, model="gpt-4o")


@pytest.mark.parametrize("number", ["9" * 5000, "-" + "9" * 5000, "9" * 5000 + ".5", "9" * 5000 + "e3", "1e999"])
def test_a_long_number_does_not_poison_a_session(user: memspan.Scope, number: str) -> None:
    """A tool call with a number of more than 4,300 digits was stored, and every prompt after it raised StoreCorrupt.

    No reader holds it: the arguments are wrapped as text, with all its digits."""
    session = user.session("s-long", model="claude-sonnet-4-5")
    session.add({"role": "user", "content": "count"})
    arguments = f'{{"a": [{number}, 1], "b": {{"c": {number}}}, "d": 2}}'
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}
    session.add_response({"role": "assistant", "content": None, "tool_calls": [call]}, prompt=session.assemble())
    session.add({"role": "tool", "tool_call_id": "c1", "content": "done"})
    session.add({"role": "user", "content": "and now?"})
    used = session.assemble().to_anthropic()["messages"][1]["content"][0]
    assert used["input"] == {"input": arguments}


def search(query: str) -> str:
    """Searches."""
    return query


@pytest.mark.parametrize("tool", [search, memspan.Function("search", "Searches.", {"type": "object"}, str)])
def test_a_function_is_no_schema(user: memspan.Scope, tool: Any) -> None:
    """The errors were about JSON, and did not say how a session gets the schema."""
    says = r"tools= takes schemas, .*: pass memspan\.Function\.of\(search\)\.schema\(\)$"
    for call in (user.session, lambda name, **given: user.open_session(name, default_model="gpt-4o", **given)):
        with pytest.raises(memspan.InvalidInput, match=f"^opening a session: {says}"):
            call("functions", tools=[tool])
    session = user.session("schemas", "gpt-4o", tools=[memspan.Function.of(tool).schema()])
    with pytest.raises(memspan.InvalidInput, match=f"^switching models: {says}"):
        session.switch_model("gpt-4.1", tools=[tool])


def test_an_unknown_argument_is_pythons_own_error(user: memspan.Scope) -> None:
    with pytest.raises(TypeError, match="sytem") as caught:
        user.open_session("s-1", default_model="gpt-4o", sytem="x")  # type: ignore[call-arg]
    assert not isinstance(caught.value, memspan.Error)
