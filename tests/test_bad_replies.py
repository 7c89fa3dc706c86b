"""What a provider, a model or a tool may do wrong, line by line: a typed error or a stated rule, and the next prompt is valid and within its limit."""

# ruff: noqa: E501  an answer a line
from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.vendors import rules

import memspan
from memspan.testing import FakeProvider, anthropic_response, openai_response, openai_stream

if TYPE_CHECKING:
    from collections.abc import Iterator

MODELS = {"openai": "gpt-4o", "anthropic": "claude-sonnet-4-5"}


class Raw(memspan.providers.Provider):
    """A provider that hands out what it is given: whole responses, or the chunks of streams."""

    def __init__(self, script: list[Any]) -> None:
        super().__init__()
        self._script = script
        self.prompts: list[memspan.Prompt] = []

    def complete(self, prompt: memspan.Prompt, **options: Any) -> Any:
        del options
        return self._entry(prompt)

    def stream(self, prompt: memspan.Prompt, **options: Any) -> Iterator[Any]:
        del options
        yield from self._entry(prompt)

    def _entry(self, prompt: memspan.Prompt) -> Any:
        self.prompts.append(prompt)
        entry = self._script[min(len(self.prompts) - 1, len(self._script) - 1)]
        if isinstance(entry, BaseException):
            raise entry
        return entry


def echo(what: str = "", times: int = 1) -> str:
    """Says it again."""
    return what * times


def assistant_of(engine: memspan.Engine, script: list[Any], **options: Any) -> memspan.Assistant:
    return memspan.Assistant(engine, Raw(script), **{"model": "gpt-4o", "tools": [echo], "learn": False, **options})


def filled(engine: memspan.Engine, model: str = "gpt-4o", messages: int = 40) -> memspan.Session:
    session = engine.user("u").session("default", model=model)
    talk = [{"role": ("user", "assistant")[n % 2], "content": f"message {n} " + "of some length " * 40} for n in range(messages)]
    session.add_many(talk)
    return session


def is_whole(session: memspan.Session) -> memspan.Prompt:
    """The next prompt is within its limit, and no vendor refuses it."""
    session.add({"role": "user", "content": "and now?"})
    prompt = session.assemble()
    assert prompt.total_tokens <= prompt.max_input_tokens
    complaints = [
        rules.chat(rules.json_safe(prompt.to_openai())),
        rules.chat(rules.json_safe(prompt.to_openai(dialect="mistral")), "mistral"),
        rules.anthropic(rules.json_safe(prompt.to_anthropic())),
        rules.responses(rules.json_safe(prompt.to_openai_responses())),
        rules.gemini(rules.json_safe(prompt.to_gemini())),
    ]
    assert complaints == [None] * 5
    return prompt


USAGES: list[Any] = [
    None, {}, [], "12", 7, {"prompt_tokens": -1, "completion_tokens": -1}, {"prompt_tokens": 10**12, "completion_tokens": 1},
    {"prompt_tokens": 2**63, "completion_tokens": 2**64}, {"prompt_tokens": 10**40}, {"prompt_tokens": 1.5}, {"prompt_tokens": "x"},
    {"prompt_tokens": None}, {"prompt_tokens": True}, {"prompt_tokens": 500_000, "completion_tokens": 1},
    {"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 6}},
    {"prompt_tokens": 5, "prompt_tokens_details": []}, {"prompt_tokens": 0, "completion_tokens": 0},
    {"input_tokens": 3, "cache_read_input_tokens": -5}, {"promptTokenCount": 10**9}, {"prompt_tokens": {"a": 1}},
]  # fmt: skip


@pytest.mark.parametrize("shape", MODELS)
@pytest.mark.parametrize("usage", USAGES, ids=range(len(USAGES)))
def test_usage_that_cannot_be(memspan_engine: memspan.Engine, shape: str, usage: Any) -> None:
    """A usage above the window was believed, and the next prompts were made for it. It is kept as it came, and the prompts stay as they are."""
    session = filled(memspan_engine, MODELS[shape])
    before = session.assemble()
    made = openai_response("ok", id="r") if shape == "openai" else anthropic_response("ok", id="r")
    turn = session.add_response({**made, "usage": usage}, prompt=before)
    assert turn.messages[-1].text == "ok"
    after = is_whole(session)
    assert after.counted_tokens >= before.counted_tokens, "nothing is left out for a number that nobody can believe"
    assert after.total_tokens < 2 * before.total_tokens
    factors = dict(memspan_engine.token_factors)
    assert all(known.exceeded == 0 for known in factors.values()), factors


def test_usage_that_no_json_has(memspan_engine: memspan.Engine) -> None:
    session = filled(memspan_engine)
    for number in (float("nan"), float("inf")):
        made = {**openai_response("ok", id=f"r-{number}"), "usage": {"prompt_tokens": number}}
        turn = session.add_response(made, prompt=session.assemble())
        assert turn.usage is None or not turn.usage.input_tokens, "the reply is kept, and nothing of its usage is counted"
        session.add({"role": "user", "content": "and?"})
    is_whole(session)


REFUSALS = [
    "prompt is too long: 99999999 tokens > 10 maximum",
    "prompt is too long: 0 tokens > 0 maximum",
    "prompt is too long: -5 tokens > 200000 maximum",
    "prompt is too long: 30000 tokens > 29999 maximum",
    "maximum context length is 1 tokens. However, you requested 999999999999999999999999 tokens",
    "Input tokens exceed the configured limit of 99999999999 tokens. Your messages resulted in 3 tokens",
]


@pytest.mark.parametrize("words", REFUSALS)
@pytest.mark.parametrize("model", MODELS.values())
def test_one_odd_refusal_teaches_no_other_session(memspan_engine: memspan.Engine, model: str, words: str) -> None:
    """One odd refusal taught every session of a model: their prompts were a twentieth of what they had been."""
    session = filled(memspan_engine, model)
    other = memspan_engine.user("other").session("s", model=model)
    other.add_many([{"role": ("user", "assistant")[n % 2], "content": f"message {n} " + "of some length " * 400} for n in range(80)])
    before = other.assemble()
    try:
        smaller = session.recover(session.assemble(), words)
    except memspan.BudgetExceeded:
        smaller = None
    if smaller is not None:
        assert smaller.total_tokens <= smaller.max_input_tokens
    is_whole(session)
    assert other.assemble().counted_tokens >= before.counted_tokens // 2
    for _ in range(3):
        other.add_many([{"role": "user", "content": "more " * 300}, {"role": "assistant", "content": "yes"}])
    assert is_whole(other).counted_tokens >= before.counted_tokens // 2


SHAPES: list[tuple[Any, str]] = [
    ({"id": "c", "object": "chat.completion"}, "answer"),
    ({"id": "c", "object": "chat.completion", "choices": []}, "one reply"),
    ({"id": "c", "object": "chat.completion", "choices": None}, "answer"),
    ({"choices": [{"index": 0, "message": None, "finish_reason": "stop"}]}, "reply"),
    ({"choices": [{"index": 0, "finish_reason": "stop"}]}, "message"),
    ({"choices": [{"index": 0, "message": {"role": "assistant", "content": None}, "finish_reason": None}]}, "say something"),
    ({"error": {"message": "overloaded"}}, "error"),
    ({}, "answer"),
    ([], "one JSON object"),
    ("ok", "one JSON object"),
    (b"ok", "convert it|JSON"),
    (None, "one JSON object"),
    ({"candidates": []}, "one reply"),
    ({"type": "message", "role": "assistant", "content": None}, "content|say something"),
    ({"object": "response", "output": []}, "say something"),
]


@pytest.mark.parametrize(("response", "says"), SHAPES, ids=range(len(SHAPES)))
def test_replies_that_are_none(memspan_engine: memspan.Engine, response: Any, says: str) -> None:
    assistant = assistant_of(memspan_engine, [response, openai_response("ok", id="r")])
    with pytest.raises(memspan.Error, match=says):
        assistant.respond("u", "hi", id="w")
    session = memspan_engine.user("u").session("default")
    assert [message.role for message in session.messages] == ["user"]
    reply = assistant.respond("u", "hi", id="w")
    assert (reply.text, reply.stored) == ("ok", False), "the retry of the webhook asks again"
    is_whole(session)


@pytest.mark.parametrize("finish", ["banana", "", None, 7, ["stop"], {"a": 1}, "x" * 5_000])
def test_finish_reasons_that_nobody_knows(memspan_engine: memspan.Engine, finish: Any) -> None:
    """They are the provider's own words, kept as they came; what is no text is none."""
    response = openai_response("ok", id="r")
    response["choices"][0]["finish_reason"] = finish
    assistant = assistant_of(memspan_engine, [response])
    call = assistant.respond("u", "hi").turn.calls[0]
    assert call.finish == (finish if isinstance(finish, str) else None)
    is_whole(memspan_engine.user("u").session("default"))


def calls_of(*calls: tuple[Any, Any, Any]) -> dict[str, Any]:
    made = openai_response(None, tool_calls=[("c", "echo", {})], id="r-calls")
    made["choices"][0]["message"]["tool_calls"] = [
        {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}} for call, name, arguments in calls
    ]
    return made


def test_call_ids_that_come_twice(memspan_engine: memspan.Engine) -> None:
    """A reply whose calls share an id cannot be answered: it is refused, and nothing of it is stored."""
    twice = calls_of(("a", "echo", "{}"), ("a", "echo", "{}"))
    assistant = assistant_of(memspan_engine, [twice, openai_response("ok", id="r")])
    with pytest.raises(memspan.InvalidInput, match="id"):
        assistant.respond("u", "hi", id="w")
    assert assistant.respond("u", "hi", id="w").text == "ok"
    is_whole(memspan_engine.user("u").session("default"))


@pytest.mark.parametrize("given", ["", None, ...])
@pytest.mark.parametrize("number", [1, 2])
def test_calls_without_an_id_get_the_same_ones_in_a_whole_reply_and_in_a_stream(
    memspan_engine: memspan.Engine, number: int, given: Any
) -> None:
    whole = calls_of(*[(given, "echo", "{}")] * number)
    if given is ...:
        for call in whole["choices"][0]["message"]["tool_calls"]:
            del call["id"]
    chunks = openai_stream(None, tool_calls=[(f"q{place}", "echo", {}) for place in range(number)], id="s-calls")
    for call in [call for chunk in chunks for choice in chunk["choices"] for call in choice["delta"].get("tool_calls", ())]:
        if call.pop("id", None) and given is not ...:
            call["id"] = given
    script = [whole, openai_response("one", id="r-1"), {**whole, "id": "r-2"}, openai_response("two", id="r-3")]
    assistant = assistant_of(memspan_engine, script)
    assert [assistant.respond("u", text).text for text in ("hi", "ho")] == ["one", "two"]
    streaming = assistant_of(memspan_engine, [chunks, openai_stream("done", id="s-1")])
    assert [event.kind for event in streaming.stream("v", "hi")][-1] == "reply"
    for name in ("u", "v"):
        session = memspan_engine.user(name).session("default")
        ids = [
            [call["id"] for call in message["tool_calls"]]
            for message in session.assemble().to_openai()["messages"]
            if "tool_calls" in message
        ]
        assert all(one == [f"call_{place}" for place in range(number)] for one in ids)
        assert ids
        is_whole(session)


def test_a_made_id_is_no_other_calls(memspan_engine: memspan.Engine) -> None:
    assistant = assistant_of(memspan_engine, [calls_of(("call_1", "echo", "{}"), ("", "echo", "{}")), openai_response("ok", id="r")])
    assert assistant.respond("u", "hi").text == "ok"
    is_whole(memspan_engine.user("u").session("default"))


def test_a_call_id_of_an_earlier_turn(memspan_engine: memspan.Engine) -> None:
    script = [
        calls_of(("a", "echo", "{}")),
        openai_response("one", id="r-1"),
        {**calls_of(("a", "echo", "{}")), "id": "r-2"},
        openai_response("two", id="r-3"),
    ]
    assistant = assistant_of(memspan_engine, script)
    assert [assistant.respond("u", text).text for text in ("hi", "ho")] == ["one", "two"]
    is_whole(memspan_engine.user("u").session("default"))


ARGUMENTS = [
    ("{", "must be a JSON object"),
    ("", "missing|="),
    ("null", "must be a JSON object"),
    ("[1]", "must be a JSON object"),
    ('"x"', "must be a JSON object"),
    ("7", "must be a JSON object"),
    ('{"times": 1e999}', "must be a JSON object"),
    ('{"times": NaN}', "must be a JSON object"),
    ('{"times": -Infinity}', "must be a JSON object"),
    ('{"what": "a", "times": ' + "9" * 5_000 + "}", "must be a JSON object"),
    ('{"what": ' + "[" * 2_000 + "]" * 2_000 + "}", "must be a JSON object"),
    ('{"times": "many"}', "ValidationError"),
    ('{"other": 1}', "InvalidInput"),
    ("{'what': 'a'}", "must be a JSON object"),
    ("\x00\x01", "must be a JSON object"),
]


@pytest.mark.parametrize(("arguments", "says"), ARGUMENTS, ids=range(len(ARGUMENTS)))
def test_arguments_that_are_no_json(memspan_engine: memspan.Engine, arguments: str, says: str) -> None:
    """1e999 reached a tool as infinity. What no JSON object says reaches no tool: the model is told, and goes on."""
    ran: list[Any] = []

    def tool(what: str = "=", times: int = 1) -> str:
        """A tool."""
        ran.append((what, times))
        return what * times

    assistant = assistant_of(memspan_engine, [calls_of(("a", "tool", arguments)), openai_response("ok", id="r")], tools=[tool])
    reply = assistant.respond("u", "go")
    assert (reply.text, reply.rounds) == ("ok", 1)
    result = reply.turn.messages[2].text
    assert any(one in result for one in says.split("|")), result[:200]
    assert ran == ([("=", 1)] if arguments == "" else [])
    is_whole(memspan_engine.user("u").session("default"))


def test_arguments_that_no_prompt_can_hold(memspan_engine: memspan.Engine) -> None:
    """A call cannot be shortened: its turn cannot go on, which is an error with every number; the next turn leaves it out."""
    large = calls_of(("a", "echo", json.dumps({"what": "x y " * 200_000})))
    assistant = assistant_of(memspan_engine, [large, openai_response("ok", id="r")])
    with pytest.raises(memspan.BudgetExceeded):
        assistant.respond("u", "go", id="w-1")
    assert assistant.respond("u", "and now?", id="w-2").text == "ok"
    is_whole(memspan_engine.user("u").session("default"))


@pytest.mark.parametrize("arguments", [None, b"{}", 7, ["a"], {"what": "a"}])
def test_arguments_that_are_no_text(memspan_engine: memspan.Engine, arguments: Any) -> None:
    """Whoever hands out arguments that are no text speaks another dialect: an error, and the session is as it was."""
    assistant = assistant_of(memspan_engine, [calls_of(("a", "echo", arguments)), openai_response("ok", id="r")])
    try:
        reply = assistant.respond("u", "go", id="w")
    except memspan.InvalidInput:
        assert len(memspan_engine.user("u").session("default").messages) == 1
        reply = assistant.respond("u", "go", id="w")
    assert reply.text == "ok"
    is_whole(memspan_engine.user("u").session("default"))


@pytest.mark.parametrize("name", ["", "nobody", "a b", "x" * 300, "echo\x00"])
def test_tools_that_nobody_has(memspan_engine: memspan.Engine, name: str) -> None:
    assistant = assistant_of(memspan_engine, [calls_of(("a", name, "{}")), openai_response("ok", id="r")])
    reply = assistant.respond("u", "go", id="w")
    assert "call one of echo, or answer without a tool" in reply.turn.messages[2].text
    assert reply.text == "ok"
    is_whole(memspan_engine.user("u").session("default"))


WHOLE = openai_stream("one two three", id="s", input_tokens=5)


def test_streams_without_a_finish(memspan_engine: memspan.Engine) -> None:
    """The reply is not stored as whole: an error of the provider, what came is kept apart, and a retry asks again."""
    assistant = assistant_of(memspan_engine, [WHOLE[:3], WHOLE[:3], WHOLE[:3], WHOLE[:3], WHOLE])
    with pytest.raises(memspan.ProviderError, match="must say that the reply ended"):
        list(assistant.stream("u", "hi", id="w"))
    session = memspan_engine.user("u").session("default")
    assert (len(session.messages), getattr(session.partial_reply, "text", "")) == (1, "one two ")
    for _ in range(5):
        try:
            reply = list(assistant.stream("u", "hi", id="w"))[-1].reply
            break
        except memspan.ProviderError:
            continue
    assert reply is not None
    assert reply.text == "one two three"
    assert session.partial_reply is None
    is_whole(session)


def test_streams_with_two_finishes_and_what_comes_after(memspan_engine: memspan.Engine) -> None:
    """The first finish counts; text behind it is taken, as the SDKs do."""
    other = json.loads(json.dumps(WHOLE[-2]).replace('"stop"', '"length"'))
    stream = [*WHOLE[:-1], other, WHOLE[-2], WHOLE[-1], {"choices": []}, {}, {"choices": [{"index": 0, "delta": None}]}]
    reply = list(assistant_of(memspan_engine, [stream]).stream("u", "hi"))[-1].reply
    assert reply is not None
    assert (reply.text, reply.turn.calls[0].finish) == ("one two three", "stop")
    is_whole(memspan_engine.user("u").session("default"))


@pytest.mark.parametrize(
    "stream", [[], [{"choices": []}], [None], [b"\xff\xfe\n"], [b"data: {\n"], [7], [{"error": None}], [{"choices": 3}]], ids=range(8)
)
def test_streams_that_are_none(memspan_engine: memspan.Engine, stream: list[Any]) -> None:
    assistant = assistant_of(memspan_engine, [stream] * 4 + [WHOLE])
    with pytest.raises(memspan.Error):
        list(assistant.stream("u", "hi", id="w"))
    session = memspan_engine.user("u").session("default")
    assert len(session.messages) == 1
    is_whole(session)


def test_a_model_that_calls_a_tool_for_ever(memspan_engine: memspan.Engine) -> None:
    numbers = iter(range(10_000))

    def call(prompt: memspan.Prompt) -> Any:
        del prompt
        return [("echo", {"what": f"{next(numbers)} ", "times": 2_000})] * 3

    assistant = memspan.Assistant(
        memspan_engine,
        FakeProvider([call]),
        model="gpt-4o",
        tools=[echo],
        max_rounds=20,
        learn=False,
        budget=memspan.Budget(max_input_tokens=6_000),
    )
    start = time.monotonic()
    reply = assistant.respond("u", "go")
    assert (reply.stopped, reply.rounds, len(reply.turn.calls)) == ("max_rounds", 20, 21)
    assert time.monotonic() - start < 60
    session = memspan_engine.user("u").session("default")
    assert session.pending_tool_calls == ()
    assert is_whole(session).max_input_tokens == 6_000


def test_tools_that_raise_hang_and_return_100_mb_leave_a_valid_prompt(memspan_engine: memspan.Engine) -> None:
    def hangs() -> str:
        """Hangs."""
        time.sleep(3)
        return "late"

    def raises() -> str:
        """Raises."""
        raise KeyError("no such key")

    def large() -> str:
        """Returns 100 MB."""
        return "x y " * 25_000_000

    calls = openai_response(None, tool_calls=[(name, name, {}) for name in ("hangs", "raises", "large")], id="r-1")
    assistant = assistant_of(memspan_engine, [calls, openai_response("ok", id="r-2")], tools=[hangs, raises, large], tool_seconds=2.0)
    assert assistant.respond("u", "go").text == "ok"
    prompt = is_whole(memspan_engine.user("u").session("default"))
    said = json.dumps(prompt.to_openai()["messages"])
    assert "not done after 2 seconds" in said
    assert "KeyError" in said
    time.sleep(1.5)  # the one that hung comes back, and nobody hears it
    assert "late" not in json.dumps(is_whole(memspan_engine.user("u").session("default")).to_openai()["messages"])


def test_what_anthropics_shape_can_get_wrong(memspan_engine: memspan.Engine) -> None:
    """A call's input is an object there: what is none is refused with its reply, or reaches no tool."""
    session = memspan_engine.user("u").session("default", model="claude-sonnet-4-5")
    session.add({"role": "user", "content": "hi"})
    made = anthropic_response(None, tool_calls=[("t", "echo", {})])
    refused: list[object] = []
    for wrong in (None, "x", 7, [1], {"times": float("inf")}):
        made["content"][-1]["input"] = wrong
        try:
            session.add_response(made, prompt=session.assemble())
        except memspan.InvalidInput:
            refused.append(wrong)
            continue
        [call] = session.pending_tool_calls
        session.answer(call, functions=[echo])
    assert refused == ["x", 7, [1], {"times": float("inf")}], "only a call without an input is taken for one without arguments"
    is_whole(session)


def test_infinity_in_a_call_of_one_vendor_is_none_in_anothers_request(memspan_engine: memspan.Engine) -> None:
    """1e999 is JSON to one vendor and breaks the request to the next, whose SDK writes Infinity."""
    assistant = assistant_of(memspan_engine, [calls_of(("a", "echo", '{"what": "x", "times": 1e999}')), openai_response("ok", id="r")])
    assistant.respond("u", "go")
    prompt = is_whole(memspan_engine.user("u").session("default"))
    for request in (prompt.to_anthropic(), prompt.to_gemini(), prompt.to_openai(), prompt.to_openai_responses()):
        json.dumps(rules.json_safe(request), allow_nan=False)
