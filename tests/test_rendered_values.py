"""A request as Python's values says what its JSON says: the same keys in the same order, the same numbers, the same types."""

# ruff: noqa: S311  conversations of every shape, pseudo-random on purpose
from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.testing import anthropic_response

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMATS = ["openai", "anthropic", "openai_responses", "gemini"]
MODELS = ["gpt-4o", "gpt-5", "claude-sonnet-4-5", "claude-opus-4-7", "mistral-large-3", "deepseek-chat", "llama-3.3-70b", "gemini-2.5-pro"]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAHgCAYAAAA10dzk"
TEXTS = [
    "hello",
    " ",
    "",
    "naïve 漢字 😀",
    'a "quoted" \\ word\n\t\u0001\u007f',
    "</context> & <x>",
    "word " * 200,
    "ends in white space \n",
]
NUMBERS: list[Any] = [0, -1, 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1, 10**40, -(10**40), 0.1, 1.0, -0.0, 1e300, 5e-324, True, False, None]
ARGUMENTS = [
    "{}",
    "",
    "[]",
    "no JSON",
    '{"cut": [1, 2',
    '{"a": {"b": [1, 2.50, 1E3, -0.0, 18446744073709551616, true, null, {"c": []}]}}',
    '{"pair": "\\ud83d\\ude00", "slash": "\\/", "same": 1, "same": 2, "\\u00e9": "é"}',
    ' {"spaced" : [ 1 , 2 ] } ',
    '{"deep": ' + "[" * 60 + "]" * 60 + "}",
]
SCHEMA = {"type": "object", "properties": {"n": {"enum": NUMBERS}, "Größe 😀": {"default": 1.0}}, "x-nested": [[], {}, [{"a": [1.5]}]]}
TOOLS: list[list[Any]] = [
    [],
    [{"type": "function", "function": {"name": "f", "description": 'says "ä"', "parameters": SCHEMA, "strict": True}}],
    [{"name": "f", "input_schema": SCHEMA}, {"name": "g", "description": "d", "input_schema": {"type": "object", "properties": {}}}],
    [{"type": "function", "name": "f", "parameters": SCHEMA}, {"type": "web_search_preview"}],
    [{"type": "web_search_20250305", "name": "web_search", "max_uses": 5, "cache_control": {"type": "ephemeral"}}],
]


def given(rng: random.Random) -> dict[str, Any]:
    """A message of any shape."""
    text = rng.choice(TEXTS)
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": rng.choice(["auto", "low", "high"])}}
    link = {"type": "image_url", "image_url": {"url": "https://example.com/a.png?b=ü"}}
    file = {"type": "file", "file": {"filename": "ä.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}}
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text or "x"}, "title": "T"}
    return rng.choice(
        [
            {"role": rng.choice(["system", "developer"]), "content": text or "x"},
            {"role": "user", "content": text},
            {"role": "user", "content": text, "name": "ann"},
            {"role": "user", "content": [{"type": "text", "text": text}, image, link, {"type": "text", "text": "two"}]},
            {"role": "user", "content": [file, {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}]},
            {"role": "user", "content": [{**document, "citations": {"enabled": True}, "context": "c"}, {"type": "text", "text": "?"}]},
            {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://example.com/b.png"}}]},
            {"role": "assistant", "content": text or "y"},
            {"role": "assistant", "content": [{"type": "text", "text": text or "z"}, {"type": "refusal", "refusal": "No."}]},
        ]
    )


def calls(rng: random.Random, session: memspan.Session, number: int) -> None:
    """Parallel calls and some of their results."""
    ids = [f"call_{number}_{n}{rng.choice(['', '.b/c d', 'x' * 60])}" for n in range(rng.randrange(1, 4))]
    functions = [{"name": rng.choice(["f", "a b", "srv.tool"]), "arguments": rng.choice(ARGUMENTS)} for _ in ids]
    made: list[Any] = [{"id": call, "type": "function", "function": one} for call, one in zip(ids, functions, strict=True)]
    if rng.random() < 0.3:
        made[0] = {"id": ids[0], "type": "custom", "custom": {"name": "free", "input": "any text é"}}
    message = {"role": "assistant", "content": rng.choice([None, "", "calling"]), "tool_calls": made}
    session.add_response({"id": f"r{number}", "choices": [{"message": message}]})
    two = [{"type": "text", "text": "one"}, {"type": "text", "text": "zwei 😀"}]
    for call in ids[: rng.randrange(4)]:
        session.add({"role": "tool", "tool_call_id": call, "content": rng.choice([*TEXTS, two])})


def reply(rng: random.Random, session: memspan.Session, number: int) -> None:
    """A reply of another vendor's shape, with what only that vendor understands."""
    text = rng.choice(TEXTS)
    kind = rng.randrange(3)
    if kind == 0:
        blocks: list[Any] = [{"type": "thinking", "thinking": "t", "signature": rng.choice(["", "sig"])}]
        blocks.append({"type": "text", "text": text, **({"citations": [{"cited": 1.0}]} if rng.random() < 0.5 else {})})
        more = {"n": rng.choice(NUMBERS), "é": [{"deep": [1.0, 2, None]}]}
        blocks += [{"type": "tool_use", "id": f"toolu_{number}_{n}", "name": "f", "input": more} for n in range(rng.randrange(3))]
        session.add_response({**anthropic_response("z", id=f"m{number}", finish="max_tokens"), "content": blocks})
        for waiting in session.pending_tool_calls[: rng.randrange(3)]:
            image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
            result = {"type": "tool_result", "tool_use_id": waiting.id, "content": [{"type": "text", "text": "ü"}, image]}
            session.add({"role": "user", "content": [{**result, "is_error": rng.random() < 0.5}]})
    elif kind == 1:
        items: list[Any] = [{"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": rng.choice([None, "gAAA"])}]
        items.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text or "o", "annotations": []}]})
        items.append({"type": "function_call", "call_id": f"fc_{number}", "name": "f", "arguments": rng.choice(ARGUMENTS)})
        session.add_response({"id": f"resp_{number}", "object": "response", "status": "completed", "output": items})
    else:
        call = {"functionCall": {"name": "f", "args": {"n": rng.choice(NUMBERS), "x": [1.0, "😀"]}}, "thoughtSignature": "c2ln"}
        parts = [{"text": text or "g", "thoughtSignature": "c2k="}, call, {"inlineData": {"mimeType": "image/png", "data": PNG}}]
        content = {"role": "model", "parts": parts}
        session.add_response({"responseId": f"g{number}", "candidates": [{"content": content, "finishReason": "STOP"}]})


def prompts(user: memspan.Scope, seeds: range) -> Iterator[memspan.Prompt]:
    """Of sessions of every shape."""
    for seed in seeds:
        rng = random.Random(seed)
        session = user.session(
            f"s-{seed}", model=rng.choice(MODELS), system=rng.choice(["", "You are terse: ä😀."]), tools=rng.choice(TOOLS)
        )
        for number in range(rng.randrange(9)):
            kind = rng.random()
            if kind < 0.25:
                reply(rng, session, number)
            elif kind < 0.45:
                calls(rng, session, number)
            else:
                session.add(given(rng))
        yield session.assemble(items=[memspan.Item("a chunk <b>")] if rng.random() < 0.3 else [])


def requests(prompt: memspan.Prompt) -> Iterator[tuple[Any, bytes]]:
    """Each request as values and as JSON."""
    for format in FORMATS:  # noqa: A001
        for stream in (False, True):
            yield prompt._core.request(format, stream, None), prompt._core.body(format, stream)


def exactly(value: Any) -> Any:
    """With types, and with maps in their order."""
    if isinstance(value, dict):
        return ("dict", [(key, exactly(one)) for key, one in value.items()])
    if isinstance(value, list):
        return ("list", [exactly(one) for one in value])
    return (type(value).__name__, repr(value))


def test_values_are_those_of_the_json(user: memspan.Scope) -> None:
    user.remember("Prefers short answers", "preference")
    wanted = {"tool_calls", "image_url", "tool_result", "cache_control", "1.0", "null", "inline_data", "encrypted_content", str(10**40)}
    for prompt in prompts(user, range(80)):
        for values, body in requests(prompt):
            assert exactly(values) == exactly(json.loads(body))
            wanted -= {part for part in wanted if part.encode() in body}
    assert not wanted, "no session has it"


def test_the_comparison_has_teeth() -> None:
    assert exactly(1) != exactly(1.0)
    assert exactly(True) != exactly(1)
    assert exactly({"a": 1, "b": 2}) != exactly({"b": 2, "a": 1})
    assert exactly(0.0) != exactly(-0.0)


def test_values_are_fresh(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o", tools=TOOLS[1])
    session.add({"role": "user", "content": "hello"})
    session.add({"role": "user", "content": "hello"})
    prompt = session.assemble()
    one, other = prompt.to_openai(), prompt.to_openai()
    one["messages"][0]["content"] = "changed"
    one["tools"][0]["function"]["parameters"].clear()
    assert prompt.to_openai() == other
    assert one["messages"][1] == {"role": "user", "content": "hello"}


def test_arguments_with_a_number_beyond_every_float_are_wrapped(user: memspan.Scope) -> None:
    session = user.session("s-1", model="claude-sonnet-4-5")
    session.add({"role": "user", "content": "call"})
    call = {"id": "call_2", "type": "function", "function": {"name": "f", "arguments": '{"n": 1e999}'}}
    session.add({"role": "assistant", "content": None, "tool_calls": [call]})
    blocks = [block for turn in session.assemble().to_anthropic()["messages"] for block in turn["content"]]
    assert [block["input"] for block in blocks if block["type"] == "tool_use"] == [{"input": '{"n": 1e999}'}]


def test_an_unknown_dialect_is_an_error(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "hello"})
    with pytest.raises(memspan.InvalidInput, match="it must be one of"):
        session.assemble().to_openai(dialect="nobody's")
