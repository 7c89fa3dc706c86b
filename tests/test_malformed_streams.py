"""What a provider sends may be anything: each field of each event is replaced by each type of JSON, and only errors of memspan leave."""

# ruff: noqa: S311  the same order every time
from __future__ import annotations

import json
import random
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from tests.test_bedrock import CALLED
from tests.test_bedrock import STREAM as CONVERSE
from tests.test_streams import STREAMS, session_of

import memspan
from memspan.providers import bedrock
from memspan.stream import Gatherer, response_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ANYTHING: list[Any] = [
    *[None, True, False, 0, -1, 7, 1.5, 10**30, "", "x", "error", "text", "\ud800"],
    *[[], [1], ["x"], [[]], [{}], [None], {}, {"a": 1}, {"type": []}, {"text": 7}, {"content": 7}, {"error": {}}],
]
DEEP: list[Any] = []
for _ in range(5_000):
    DEEP = [DEEP]


def changed(value: Any) -> Iterator[Any]:
    """The value with each of its nodes replaced by everything, and each of its fields left out."""
    yield from ANYTHING
    if isinstance(value, dict):
        for key in value:
            rest = {name: one for name, one in value.items() if name != key}
            yield rest
            yield from ({**rest, key: one} for one in changed(value[key]))
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from ([*value[:place], one, *value[place + 1 :]] for one in changed(item))


def streams(whole: list[Any]) -> Iterator[list[Any]]:
    """The stream with one event of it changed in one place."""
    for place, event in enumerate(whole):
        yield from ([*whole[:place], one, *whole[place + 1 :]] for one in [*changed(event), {**event, "x": DEEP}, DEEP])


def gathered(chunks: list[Any]) -> Gatherer:
    """What is gathered of chunks until one is refused; whatever else a gatherer is asked must be answered, too."""
    gatherer = Gatherer()
    with suppress(memspan.Error):
        for chunk in chunks:
            assert isinstance(gatherer.feed(chunk), str)
    assert isinstance(gatherer.text, str)
    assert isinstance(gatherer.finish, str | None)
    assert gatherer.finished in {True, False}
    with suppress(memspan.Error):
        json.dumps(gatherer.response(), ensure_ascii=False).encode()
        assert isinstance(response_text(gatherer.response()), str)
    return gatherer


@pytest.mark.parametrize("dialect", STREAMS)
def test_a_malformed_event_is_an_error_of_memspan(user: memspan.Scope, dialect: str) -> None:
    gatherers = [gathered(chunks) for chunks in streams(STREAMS[dialect])]
    assert len(gatherers) > 1_500
    session = session_of(user, dialect)
    for gatherer in random.Random(7).sample(gatherers, 150):
        if gatherer.started:
            with suppress(memspan.Error):
                session.add_response(gatherer.response())
    assert session.assemble().messages


@pytest.mark.parametrize(("dialect", "sdk"), [("chat", "openai"), ("responses", "openai"), ("anthropic", "anthropic")])
def test_a_malformed_object_of_an_sdk_is_one_too(dialect: str, sdk: str) -> None:
    """SDKs check nothing of what a server sends: they make their objects of whatever came."""
    models = pytest.importorskip(f"{sdk}._models")
    if dialect == "chat":
        from openai.types.chat import ChatCompletionChunk as Event
    elif dialect == "responses":
        from openai.types.responses import ResponseStreamEvent as Event
    else:
        from anthropic.types import RawMessageStreamEvent as Event
    several = [chunks for chunks in streams(STREAMS[dialect]) if DEEP not in chunks]
    for chunks in random.Random(7).sample(several, 500):
        gathered([models.construct_type(type_=Event, value=chunk) for chunk in chunks])


@pytest.mark.parametrize("dialect", STREAMS)
def test_bytes_that_are_no_events(dialect: str) -> None:
    whole = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in STREAMS[dialect])
    draw = random.Random(7)
    for _ in range(300):
        torn = bytearray(whole)
        for _ in range(draw.randrange(1, 8)):
            torn[draw.randrange(len(torn))] = draw.randrange(256)
        gathered([torn])
    gathered([b"data: " + b"[" * 100_000 + b"\n"])
    gathered([b'data: {"choices":' + b"[" * 900 + b"]" * 900 + b"}\n"])


class Source(list[Any]):
    """Converse's stream, which boto3 closes."""

    def close(self) -> None:
        """Nothing to close."""


def test_converse() -> None:
    def read(make: Callable[[], Any]) -> None:
        with suppress(memspan.Error):
            gathered(list(make()))

    whole = [{kind: body} for kind, body in CONVERSE if isinstance(body, dict)]
    for events in streams(whole):
        read(lambda events=events: bedrock._events({"stream": Source(events)}, "m"))  # type: ignore[misc]
    for answer in changed(CALLED):
        if isinstance(answer, dict):
            read(lambda answer=answer: [bedrock._response(answer, "m")])  # type: ignore[misc]


def test_whole_responses_of_any_shape() -> None:
    message = {"role": "assistant", "content": [{"type": "text", "text": "a"}]}
    shapes: list[dict[str, Any]] = [
        {"choices": [{"message": {"content": "a"}}]},
        {"candidates": [{"content": {"parts": [{"text": "a"}, {"text": "b", "thought": True}]}}]},
        {"output": [{"type": "message", "content": [{"type": "output_text", "text": "a"}]}]},
        message,
    ]
    for shape in shapes:
        assert response_text(shape) == "a"
        for response in changed(shape):
            assert isinstance(response_text(response), str)


def test_refusals_of_any_shape() -> None:
    body = {"error": {"message": "Try again in 1.2.3 s", "type": "server_error", "code": None, "status": 503}, "n_ctx": 7, "status": 429}
    assert memspan.Refusal.of("429 rate limit, try again in 1.5 s") is not None
    for words in ("retry in ... s", "429: try again in 1.2.3 s", "retry in . ms"):
        memspan.Refusal.of(words)
    for one in changed(body):
        if isinstance(one, str | dict):
            memspan.Refusal.of(one)
