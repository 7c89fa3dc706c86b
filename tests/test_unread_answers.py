"""Answers of a provider that cannot be read: a fallback is asked, and without one the turn ends with memspan's own error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.providers import Provider
from memspan.testing import openai_response, openai_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Bad(Provider):
    """gpt-4o answers badly; every other model answers."""

    def __init__(self, first: Callable[[], Any]) -> None:
        super().__init__()
        self.first, self.asked = first, list[str]()

    def complete(self, prompt: memspan.Prompt, **options: Any) -> Any:
        del options
        self.asked.append(prompt.model)
        return self.first() if prompt.model == "gpt-4o" else openai_response("from the fallback", model=prompt.model)

    def stream(self, prompt: memspan.Prompt, **options: Any) -> Iterator[Any]:
        del options
        self.asked.append(prompt.model)
        if prompt.model == "gpt-4o":
            yield self.first()
        else:
            yield from openai_stream("from the fallback", model=prompt.model)


def no_json() -> Any:
    return json.loads("<html>login</html>")


ANSWERS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "thinking took all": (lambda: openai_response(None, finish="length"), memspan.InvalidInput, "with more max_output_tokens"),
    "a filter": (lambda: openai_response(None, finish="content_filter"), memspan.InvalidInput, "filter withheld the reply"),
    "no choices": (lambda: {"id": "x", "object": "chat.completion", "choices": []}, memspan.InvalidInput, "0 choices"),
    "a page": (lambda: "<html>login</html>", memspan.InvalidInput, "one JSON object"),
    "a page that the SDK cannot read": (no_json, memspan.ProviderError, "must answer in JSON"),
    "a page in another encoding": (lambda: json.loads(b"<html>\xfc</html>"), memspan.ProviderError, "must answer in JSON"),
    "overloaded": (lambda: {"error": {"message": "upstream overloaded", "code": 529}}, memspan.InvalidInput, "upstream overloaded"),
    "an outage": (lambda: {"error": {"message": "Internal server error", "type": "server_error"}}, memspan.InvalidInput, "server_error"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_fallback_is_asked(memspan_engine: memspan.Engine, name: str) -> None:
    provider = Bad(ANSWERS[name][0])
    reply = memspan.Assistant(memspan_engine, provider, model="gpt-4o", fallbacks=["gpt-4o-mini"]).respond("u", "hi")
    assert (reply.text, reply.model, provider.asked) == ("from the fallback", "gpt-4o-mini", ["gpt-4o", "gpt-4o-mini"])
    assert [message.role for message in reply.turn.messages] == ["user", "assistant"]


@pytest.mark.parametrize("name", ANSWERS)
def test_without_a_fallback_the_error_is_memspans(memspan_engine: memspan.Engine, name: str) -> None:
    answer, kind, words = ANSWERS[name]
    provider = Bad(answer)
    with pytest.raises(kind, match=words) as raised:
        memspan.Assistant(memspan_engine, provider, model="gpt-4o").respond("u", "hi", id="w-1")
    assert type(raised.value) is kind
    assert provider.asked == ["gpt-4o"]
    assert [message.role for message in memspan_engine.user("u").session("default").messages] == ["user"]


def test_a_refusal_in_a_body_that_no_model_cures_is_told_at_once(memspan_engine: memspan.Engine) -> None:
    provider = Bad(lambda: {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}})
    with pytest.raises(memspan.InvalidInput, match="Incorrect API key"):
        memspan.Assistant(memspan_engine, provider, model="gpt-4o", fallbacks=["gpt-4o-mini"]).respond("u", "hi")
    assert provider.asked == ["gpt-4o"]


@pytest.mark.parametrize(
    "whole",
    [
        openai_response("", finish="length"),
        openai_response("", finish="content_filter"),
        {"type": "message", "role": "assistant", "content": [], "stop_reason": "max_tokens", "id": "m", "model": "m"},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "SAFETY"}]},
    ],
    ids=["length", "filter", "anthropic", "gemini"],
)
def test_an_empty_text_goes_to_a_fallback_that_is_left(memspan_engine: memspan.Engine, whole: Any) -> None:
    provider = Bad(lambda: whole)
    reply = memspan.Assistant(memspan_engine, provider, model="gpt-4o", fallbacks=["gpt-4o-mini"]).respond("u", "hi")
    assert (reply.text, provider.asked) == ("from the fallback", ["gpt-4o", "gpt-4o-mini"])


def test_a_call_that_was_cut_off_is_an_answer(memspan_engine: memspan.Engine) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    provider = Bad(lambda: {"choices": [{"index": 0, "message": message, "finish_reason": "length"}]})
    reply = memspan.Assistant(memspan_engine, provider, model="gpt-4o", fallbacks=["gpt-4o-mini"], max_rounds=0).respond("u", "hi")
    assert (reply.stopped, provider.asked) == ("max_rounds", ["gpt-4o"])


@pytest.mark.parametrize(
    "delta",
    [
        {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
        {"refusal": "I cannot help."},
    ],
    ids=["call", "refusal"],
)
def test_a_stream_with_a_call_or_a_refusal_is_an_answer(memspan_engine: memspan.Engine, delta: dict[str, Any]) -> None:
    finish = "length" if "tool_calls" in delta else "content_filter"
    provider = Bad(lambda: {"choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}]})
    assistant = memspan.Assistant(memspan_engine, provider, model="gpt-4o", fallbacks=["gpt-4o-mini"], max_rounds=0)
    list(assistant.stream("u", "hi"))
    assert provider.asked == ["gpt-4o"]


def test_a_stream_that_says_nothing_goes_to_the_fallback(memspan_engine: memspan.Engine) -> None:
    def nothing() -> Any:
        return {"choices": [{"index": 0, "delta": {"role": "assistant"}, "finish_reason": "length"}]}

    provider = Bad(nothing)
    events = list(memspan.Assistant(memspan_engine, provider, model="gpt-4o", fallbacks=["gpt-4o-mini"]).stream("u", "hi"))
    assert events[-1].text == "from the fallback"
    assert provider.asked == ["gpt-4o", "gpt-4o-mini"]


def test_a_providers_own_fault_is_the_programs(memspan_engine: memspan.Engine) -> None:
    """A call that the program made wrongly is wrong with every model."""

    class Wrong(Bad):
        def complete(self, prompt: memspan.Prompt, **options: Any) -> Any:
            del options
            self.asked.append(prompt.model)
            raise memspan.InvalidInput("no such option")

    provider = Wrong(no_json)
    with pytest.raises(memspan.InvalidInput, match="no such option"):
        memspan.Assistant(memspan_engine, provider, model="gpt-4o", fallbacks=["gpt-4o-mini"]).respond("u", "hi")
    assert provider.asked == ["gpt-4o"]


def test_recover_knows_json_that_could_not_be_read(memspan_engine: memspan.Engine) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o")
    session.add({"role": "user", "content": "hi"})
    with pytest.raises(json.JSONDecodeError) as raised:
        no_json()
    refusal = memspan.Refusal.of(raised.value)
    assert refusal is not None
    assert refusal.kind == "outage"
    assert session.recover(session.assemble(), raised.value, models=["gpt-4o", "gpt-4o-mini"]).model == "gpt-4o-mini"
