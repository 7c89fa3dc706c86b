"""`memspan.fit`: never above the limit, whole turns and whole tool rounds, the very objects, and no look at what is left out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memspan

Message = dict[str, Any]
WORDS = st.integers(1, 60).map(lambda count: "word " * count)


def tool_round(number: int, words: str, anthropic: bool) -> list[Message]:
    call, name = f"call-{number}", "look_up"
    if anthropic:
        return [
            {"role": "assistant", "content": [{"type": "tool_use", "id": call, "name": name, "input": {"n": number}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": words}]},
        ]
    function = {"name": name, "arguments": f'{{"n": {number}}}'}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": call, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": call, "content": words},
    ]


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    anthropic = draw(st.booleans())
    messages: list[Message] = [{"role": "system", "content": draw(WORDS)} for _ in range(draw(st.integers(0, 2)))]
    for turn in range(draw(st.integers(1, 8))):
        messages.append({"role": "user", "content": draw(WORDS)})
        for step in range(draw(st.integers(0, 3))):
            messages += tool_round(10 * turn + step, draw(WORDS), anthropic)
        if draw(st.booleans()):
            messages.append({"role": "assistant", "content": draw(WORDS)})
    return messages


def ids(message: Message, kind: str) -> list[str]:
    """The ids of a message's calls or results, in both shapes."""
    found = [call["id"] for call in message.get("tool_calls", ())] if kind == "call" else []
    if kind == "result" and message["role"] == "tool":
        found.append(message["tool_call_id"])
    blocks = message["content"] if isinstance(message["content"], list) else []
    key, name = ("id", "tool_use") if kind == "call" else ("tool_use_id", "tool_result")
    return found + [block[key] for block in blocks if block["type"] == name]


def opens_turn(message: Message) -> bool:
    return message["role"] == "user" and not ids(message, "result")


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4", "claude-sonnet-4-5"])
@given(messages=conversations(), limit=st.integers(10, 1_500))
def test_what_is_kept_fits_and_is_whole(model: str, messages: list[Message], limit: int) -> None:
    try:
        fitted = memspan.fit(messages, model, max_input_tokens=limit)
    except memspan.BudgetExceeded:
        system = [message for message in messages if message["role"] == "system"]
        newest = max(at for at, message in enumerate(messages) if opens_turn(message))
        assert memspan.count_tokens([*system, *messages[newest:]], model) > limit
        return
    kept = fitted.messages
    assert fitted.tokens == memspan.count_tokens(kept, model) <= limit
    assert fitted.exact is memspan.models[model].exact
    positions = [next(at for at, message in enumerate(messages) if message is one) for one in kept]
    assert positions == sorted(set(positions))
    assert positions[-1] == len(messages) - 1
    assert [message for message in messages if message["role"] == "system"] == [message for message in kept if message["role"] == "system"]
    calls = [call for message in kept for call in ids(message, "call")]
    assert calls == [result for message in kept for result in ids(message, "result")]
    first = next(message for message in kept if message["role"] != "system")
    assert opens_turn(first)


@given(conversations(), st.integers(50, 1_500))
def test_one_more_turn_would_not_have_fitted(messages: list[Message], limit: int) -> None:
    try:
        fitted = memspan.fit(messages, max_input_tokens=limit)
    except memspan.BudgetExceeded:
        return
    system = sum(message["role"] == "system" for message in messages)
    starts = [at for at, message in enumerate(messages) if opens_turn(message)]
    whole = [start for start in starts if memspan.count_tokens([*messages[:system], *messages[start:]]) <= limit]
    if whole:
        assert list(fitted.messages) == [*messages[:system], *messages[whole[0] :]]


def test_tools_count_and_leave_less_room() -> None:
    tools = [
        {"type": "function", "function": {"name": "look_up", "description": "looks things up. " * 20, "parameters": {"type": "object"}}}
    ]
    talk = [{"role": "user", "content": f"question {number}"} for number in range(100)]
    without, with_tools = memspan.fit(talk, max_input_tokens=300), memspan.fit(talk, max_input_tokens=300, tools=tools)
    assert len(with_tools.messages) < len(without.messages)
    assert with_tools.tokens == memspan.count_tokens(with_tools.messages, tools=tools)
    long = [{"role": "user", "content": "word " * 1_000}]
    for offered in (tools, iter(tools)):  # which is counted more than once
        cut = memspan.fit(long, max_input_tokens=300, tools=offered, overflow="truncate")
        assert cut.tokens == memspan.count_tokens(cut.messages, tools=tools) <= 300


def test_only_what_is_kept_is_looked_at() -> None:
    looked: set[int] = set()

    class Watched(dict[str, Any]):
        def __init__(self, number: int) -> None:
            super().__init__(role="user", content=[{"type": "text", "text": f"question {number}"}])
            self.number = number

    class Reply:
        def __init__(self, number: int) -> None:
            self.number = number

        def model_dump(self, *, mode: str) -> Message:
            assert mode == "json"
            looked.add(self.number)
            return {"role": "assistant", "content": f"answer {self.number}"}

    talk = [Reply(number) if number % 2 else Watched(number) for number in range(10_000)]
    fitted = memspan.fit(talk, max_input_tokens=500)
    assert len(looked) <= len(fitted.messages) // 2 + 3
    assert fitted.messages[-1] is talk[-1]


def test_the_default_limit_is_that_of_a_session() -> None:
    talk = [{"role": "user", "content": "word " * 200} for _ in range(100)]
    fitted = memspan.fit(talk, "gpt-4")
    assert 8_192 - 4_096 - 300 < fitted.tokens <= 8_192 - 4_096
    assert memspan.fit(talk).tokens <= 0.7 * 128_000


def test_nothing_and_generators_and_tuples_are_messages_too() -> None:
    assert memspan.fit([], max_input_tokens=10) == memspan.counting.Fit((), 3, exact=True)
    talk = [{"role": "user", "content": f"question {number}"} for number in range(20)]
    expected = memspan.fit(talk, max_input_tokens=60)
    assert memspan.fit(tuple(talk), max_input_tokens=60) == memspan.fit((one for one in talk), max_input_tokens=60) == expected


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        (5, "must be several, and this is one int"),
        ("abc", "must be several, and this is one str"),
        (b"abc", "must be several, and this is one bytes"),
        ({"role": "user", "content": "x"}, "must be several, and this is one dict"),
        (None, "must be several, and this is one NoneType"),
        ([5], "JSON object"),
        ([{"role": "tool", "tool_call_id": "c1", "content": "x"}], "without its call"),
        ([{"role": "user", "content": "x"}, tool_round(1, "x", anthropic=False)[0]], "without its result"),
        ([{"role": "user", "content": "x"}, {"role": "user"}], "content"),
    ],
)
def test_what_is_no_conversation_is_a_typed_error(messages: Any, said: str) -> None:
    with pytest.raises(memspan.InvalidInput, match=said):
        memspan.fit(messages, max_input_tokens=1_000)


def test_what_cannot_fit_says_by_how_much() -> None:
    with pytest.raises(memspan.BudgetExceeded) as caught:
        memspan.fit([{"role": "user", "content": "word " * 500}], max_input_tokens=100)
    assert caught.value.limit_tokens == 100
    assert caught.value.needed_tokens == memspan.count_tokens([{"role": "user", "content": "word " * 500}])


def test_an_error_of_the_callers_own_object_comes_back_as_it_is() -> None:
    class Broken:
        def model_dump(self, *, mode: str) -> Message:
            raise ZeroDivisionError(mode)

    with pytest.raises(ZeroDivisionError):
        memspan.fit([Broken()], max_input_tokens=100)


@pytest.mark.parametrize("limit", [-1, 1.5, True, "100"])
def test_a_limit_is_a_whole_number(limit: Any) -> None:
    with pytest.raises(memspan.InvalidInput, match="max_input_tokens"):
        memspan.fit([], max_input_tokens=limit)


@pytest.mark.parametrize(
    ("model", "thinks", "signs"), [("deepseek-chat", True, False), ("gemini-2.5-pro", False, True), ("gpt-4o", False, False)]
)
def test_fields_beside_the_content_count_where_the_server_wants_them_back(model: str, thinks: bool, signs: bool) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    bare: Message = {"role": "assistant", "content": None, "tool_calls": [call]}
    thinking = {**bare, "reasoning_content": "think hard " * 300}
    signed = {**bare, "tool_calls": [{**call, "extra_content": {"google": {"thought_signature": "QUJD" * 300}}}]}
    for message, counted in ((thinking, thinks), (signed, signs)):
        assert (memspan.count_tokens(message, model) > memspan.count_tokens(bare, model) + 300) == counted
        talk = [{"role": "user", "content": "x"}, message, {"role": "tool", "tool_call_id": "c1", "content": "ok"}]
        assert (memspan.fit(talk, model).tokens > 300) == counted
        assert memspan.fit(talk, model).tokens == memspan.count_tokens(talk, model)
        old = [{"role": "user", "content": "old"}, *talk[1:], *talk]
        assert len(memspan.fit(old, model, max_input_tokens=memspan.count_tokens(talk, model) + 60).messages) == (3 if counted else 6)
