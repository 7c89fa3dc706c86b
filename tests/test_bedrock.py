"""Converse through boto3, over a socket: whole and streamed, tools, thinking, media, cache points, refusals; boto3 checks every shape."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from tests.test_renderers import MODELS, PNG, TOOLS, talk
from tests.vendors import converse
from tests.vendors.converse import Converse, serving_converse

import memspan
from memspan.providers.converse import with_cache_points
from memspan.testing import anthropic_response, openai_response

pytest.importorskip("boto3", reason="boto3 is not installed: pip install 'memspan[bedrock]'")

CALLED: dict[str, Any] = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Which?", "signature": "c2ln"}}},
                {"text": "I look."},
                {"toolUse": {"toolUseId": "tooluse_1", "name": "f", "input": {"a": 1}}},
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": {"inputTokens": 30, "outputTokens": 9, "totalTokens": 1_039, "cacheReadInputTokens": 1_000, "cacheWriteInputTokens": 0},
    "metrics": {"latencyMs": 5},
}
SAID: dict[str, Any] = {
    **CALLED,
    "output": {"message": {"role": "assistant", "content": [{"text": "It listens on 8443."}]}},
    "stopReason": "end_turn",
}
STREAM: list[tuple[Any, ...]] = [
    ("messageStart", {"role": "assistant"}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "Which "}}}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "file?"}}}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": {"signature": "c2ln"}}}),
    ("contentBlockStop", {"contentBlockIndex": 0}),
    ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"text": "I look "}}),
    ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"text": "it up: 漢字 😀."}}),
    ("contentBlockStop", {"contentBlockIndex": 1}),
    ("contentBlockStart", {"contentBlockIndex": 2, "start": {"toolUse": {"toolUseId": "tooluse_2", "name": "f"}}}),
    ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"toolUse": {"input": '{"a"'}}}),
    ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"toolUse": {"input": ": 2}"}}}),
    ("contentBlockStop", {"contentBlockIndex": 2}),
    ("messageStop", {"stopReason": "tool_use"}),
    ("metadata", {"usage": {"inputTokens": 40, "outputTokens": 12, "totalTokens": 52}, "metrics": {"latencyMs": 5}}),
]
NAMES = {"claude-sonnet-4-5": "us.anthropic.claude-sonnet-4-5-20250929-v1:0"}


def provider(base: str, **options: Any) -> memspan.providers.Bedrock:
    keys: dict[str, Any] = {"region_name": "eu-west-1", "aws_access_key_id": "k", "aws_secret_access_key": "s"}
    return memspan.providers.Bedrock(endpoint_url=base, names=NAMES, **keys, **options)


def test_a_turn_whole_and_streamed(user: memspan.Scope) -> None:
    vendor = Converse([CALLED, STREAM, SAID])
    session = user.session("s-1", model="claude-sonnet-4-5", system="You are terse.", tools=TOOLS)
    session.add({"role": "user", "content": "Which port?"})
    with serving_converse(vendor) as base:
        ours = provider(base)
        turn = session.add_response(ours.complete(session.assemble()), prompt=session.assemble())
        assert turn.usage is not None
        assert (turn.usage.input_tokens, turn.usage.cached_tokens, turn.usage.output_tokens) == (1_030, 1_000, 9)
        session.answer(session.pending_tool_calls[0], functions=[f])
        with session.reply(session.assemble()) as reply:
            pieces = [reply.feed(chunk) for chunk in ours.stream(session.assemble())]
        assert "".join(pieces) == "I look it up: 漢字 😀."
        assert reply.turn is not None
        assert reply.turn.usage is not None
        assert [call.arguments for call in session.pending_tool_calls] == [{"a": 2}]
        session.answer(session.pending_tool_calls[0], functions=[f])
        session.add_response(asyncio.run(ours.acomplete(session.assemble())), prompt=session.assemble())
    assert session.messages[-1].text == "It listens on 8443."
    path, body = vendor.requests[-1]
    assert path == f"/model/{NAMES['claude-sonnet-4-5']}/converse"
    assert vendor.requests[1][0].endswith("/converse-stream")
    assert [list(block) for block in body["messages"][1]["content"]] == [["reasoningContent"], ["text"], ["toolUse"]]
    assert body["messages"][1]["content"][0]["reasoningContent"]["reasoningText"] == {"text": "Which?", "signature": "c2ln"}
    assert body["messages"][2]["content"][0]["toolResult"]["content"] == [{"text": "1"}]
    assert 0 < str(body).count("cachePoint") <= 4


def f(a: int) -> int:
    """A tool."""
    return a


@pytest.mark.parametrize("chunks", [1, 2])
def test_a_stream_that_is_left_is_closed(chunks: int) -> None:
    from memspan.providers import bedrock

    closed: list[bool] = []

    class Stream(list[dict[str, Any]]):
        def close(self) -> None:
            closed.append(True)

    stream = Stream([{"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "ye"}}}, {"messageStop": {"stopReason": "end_turn"}}])
    events = bedrock._events({"stream": stream, "ResponseMetadata": {"RequestId": "r"}}, "claude-sonnet-4-5")
    for _ in range(chunks):
        next(events)
    events.close()  # type: ignore[attr-defined]
    assert closed == [True]


def test_models_without_cache_points_get_none_and_calls_need_tools(user: memspan.Scope) -> None:
    vendor = Converse([CALLED, SAID])
    session = user.session("s-1", model="llama-3.3-70b", system="You are terse.", tools=TOOLS)
    session.add({"role": "user", "content": "Which port?"})
    with serving_converse(vendor) as base:
        session.add_response(provider(base).complete(session.assemble()), prompt=session.assemble())
        session.answer(session.pending_tool_calls[0], functions=[f])
        session = user.session("s-1", tools=[])  # no tool is offered any more: the one that was called must still be named
        session.add_response(provider(base).complete(session.assemble()), prompt=session.assemble())
    assert "cachePoint" not in str(vendor.requests)
    assert [tool["toolSpec"]["name"] for tool in vendor.requests[-1][1]["toolConfig"]["tools"]] == ["f"]


def test_media_and_a_writer(user: memspan.Scope) -> None:
    vendor = Converse([SAID])
    session = user.session("s-1", model="claude-sonnet-4-5")
    document = {
        "type": "document",
        "title": "a/b: c.pdf",
        "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
    }
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    far = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    session.add({"role": "user", "content": [{"type": "text", "text": "look"}, image, document, far]}, format="anthropic")
    with serving_converse(vendor) as base:
        provider(base).complete(session.assemble())
        writer = provider(base).with_model("claude-sonnet-4-5")
        told = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "hi"}]
        assert writer(told, max_tokens=9) == "It listens on 8443."
    sent = vendor.requests[0][1]["messages"][0]["content"]
    kinds = [next(iter(block)) for block in sent if "cachePoint" not in block]
    assert kinds == ["text", "image", "document", "text"]
    assert next(block["document"]["name"] for block in sent if "document" in block) == "a b c pdf"
    assert vendor.requests[1][1]["system"] == [{"text": "Be short."}]


PDF = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
OFFICE = "application/vnd.openxmlformats-officedocument"


def sent_to_bedrock(session: memspan.Session) -> list[dict[str, Any]]:
    """The messages of the request, which Converse takes."""
    vendor = Converse([SAID])
    with serving_converse(vendor) as base:
        provider(base).complete(session.assemble())
    messages: list[dict[str, Any]] = vendor.requests[-1][1]["messages"]
    return messages


def documents_of(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(block["document"]["name"], block["document"]["format"]) for one in messages for block in one["content"] if "document" in block]


def test_names_of_documents_are_their_own_and_stay_as_a_conversation_grows(user: memspan.Scope) -> None:
    session = user.session("s-1", model="claude-sonnet-4-5")
    titles: list[list[str | None]] = [[None], [None, "a.pdf", "a!pdf"], ["A pdf", "document", "a" * 300, "a" * 300]]
    earlier: list[tuple[str, str]] = []
    for turn in titles:
        blocks: list[dict[str, Any]] = [{"type": "document", "source": PDF, **({"title": one} if one else {})} for one in turn]
        session.add({"role": "user", "content": [*blocks, {"type": "text", "text": "compare"}]}, format="anthropic")
        sent = sent_to_bedrock(session)
        assert documents_of(sent)[: len(earlier)] == earlier
        earlier = documents_of(sent)
        session.add({"role": "assistant", "content": "read it"})
    names = [name for name, _ in earlier]
    assert names[:6] == ["document", "document 2", "a pdf", "a pdf 2", "A pdf 3", "document 3"]
    assert [len(name) for name in names[6:]] == [200, 200]


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        (["document"], ["document", "text", "cachePoint"]),
        (["text", "document"], ["text", "cachePoint", "document"]),
        (["document", "text"], ["document", "text", "cachePoint"]),
        (["text", "document", "document"], ["text", "cachePoint", "document", "document"]),
        (["document", "image"], ["document", "image", "cachePoint", "text"]),
    ],
)
def test_a_document_has_a_text_beside_it_and_no_cache_point_behind_it(user: memspan.Scope, content: list[str], kinds: list[str]) -> None:
    blocks = {
        "text": {"type": "text", "text": "read"},
        "document": {"type": "document", "source": PDF},
        "image": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    }
    session = user.session("s-1", model="claude-sonnet-4-5")
    session.add({"role": "user", "content": [blocks[kind] for kind in content]}, format="anthropic")
    assert [next(iter(block)) for block in sent_to_bedrock(session)[0]["content"]] == kinds


def test_amazons_models_get_no_cache_point_behind_an_image() -> None:
    image: dict[str, Any] = {"image": {"format": "png", "source": {"bytes": b"x"}}}
    sent: list[tuple[dict[str, Any], bool]] = [({"text": "see"}, False), (image, True)]
    assert [next(iter(block)) for block in with_cache_points(sent, "amazon")] == ["text", "cachePoint", "image"]
    assert [next(iter(block)) for block in with_cache_points(sent, "anthropic")] == ["text", "image", "cachePoint"]
    assert [next(iter(block)) for block in with_cache_points(sent, "")] == ["text", "image"]


@pytest.mark.parametrize(
    ("name", "media_type", "form"),
    [
        ("a.docx", f"{OFFICE}.wordprocessingml.document", "docx"),
        ("a.xlsx", f"{OFFICE}.spreadsheetml.sheet", "xlsx"),
        ("a.doc", "application/msword", "doc"),
        ("a.xls", "application/vnd.ms-excel", "xls"),
        ("a.csv", "text/csv", "csv"),
        ("a.html", "text/html; charset=utf-8", "html"),
        ("a.md", "text/markdown", "md"),
        ("a.txt", "text/plain", "txt"),
        ("a.py", "text/x-python", "txt"),
        ("a.json", "application/json", "txt"),
        ("a.XLSX", "application/octet-stream", "xlsx"),
        ("a.bin", "application/octet-stream", None),
        ("a.mp4", "video/mp4", None),
    ],
)
def test_files_have_formats_of_their_own(user: memspan.Scope, name: str, media_type: str, form: str | None) -> None:
    session = user.session("s-1", model="claude-sonnet-4-5")
    file = {"type": "file", "file": {"filename": name, "file_data": f"data:{media_type};base64,aGVsbG8="}}
    session.add({"role": "user", "content": [file, {"type": "text", "text": "see"}]})
    [first, *_] = sent_to_bedrock(session)[0]["content"]
    assert (first["document"]["format"] if form else first) == (form or {"text": f"[{name}]"})


@pytest.mark.parametrize(
    ("media_type", "form"), [("image/jpg", "jpeg"), ("image/WEBP", "webp"), ("image/bmp", None), ("image/svg+xml", None)]
)
def test_images_have_formats_that_converse_takes(user: memspan.Scope, media_type: str, form: str | None) -> None:
    session = user.session("s-1", model="claude-sonnet-4-5")
    image = {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{PNG}"}}
    session.add({"role": "user", "content": [image, {"type": "text", "text": "see"}]})
    [first, *_] = sent_to_bedrock(session)[0]["content"]
    assert (first["image"]["format"] if form else first) == (form or {"text": "[image]"})


def test_blocks_that_only_anthropic_has_become_a_short_text(user: memspan.Scope) -> None:
    session = user.session("s-1", model="claude-sonnet-4-5", tools=[{"type": "web_search_20250305", "name": "web_search"}])
    found = {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "x"}]}
    session.add({"role": "user", "content": [found, {"type": "text", "text": "see"}]}, format="anthropic")
    searched = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {"type": "text", "text": "found it"},
    ]
    session.add_response({**anthropic_response("x", id="m-1"), "content": searched}, prompt=session.assemble())
    session.add({"role": "user", "content": "go on"})
    texts = [block["text"] for one in sent_to_bedrock(session) for block in one["content"] if "text" in block]
    assert texts == ["[search result]", "see", "[server tool use]", "[web search tool result]", "found it", "go on"]


def test_broken_base64_is_an_error_of_ours(user: memspan.Scope) -> None:
    session = user.session("s-1", model="claude-sonnet-4-5")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "abcde"}}
    session.add({"role": "user", "content": [image]}, format="anthropic")
    with pytest.raises(memspan.InvalidInput, match=r"messages\[0\].*base64"):
        sent_to_bedrock(session)


def test_thinking_is_left_out_where_another_model_called_the_tools(user: memspan.Scope) -> None:
    session = user.session("s-1", model="claude-sonnet-4-5", tools=TOOLS)
    session.add({"role": "user", "content": "Which port?"})
    session.add_response(openai_response(None, tool_calls=[("c1", "f", {})], id="g1"))
    session.add({"role": "tool", "tool_call_id": "c1", "content": "8443"})
    fields = {"thinking": {"type": "enabled", "budget_tokens": 2_000}, "top_k": 5}
    vendor = Converse([SAID])
    with serving_converse(vendor) as base:
        ours = provider(base, options={"additionalModelRequestFields": fields})
        session.add_response(ours.complete(session.assemble()), prompt=session.assemble())
        session.add({"role": "user", "content": "and now?"})
        ours.complete(session.assemble())
    assert [body["additionalModelRequestFields"] for _, body in vendor.requests] == [{"top_k": 5}, fields]


def test_refusals_and_a_stream_that_breaks(user: memspan.Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    broken = [*STREAM[:7], ("modelStreamErrorException", {"message": "overloaded"}, "exception")]
    script = [
        (400, "ValidationException", "Input is too long for requested model."),
        (429, "ThrottlingException", "Too many requests, please wait before trying again."),
        (403, "AccessDeniedException", "You don't have access to the model with the specified model ID."),
        broken,
        STREAM[:11],
    ]
    session = user.session("s-1", model="claude-sonnet-4-5")
    session.add({"role": "user", "content": "Which port?"})
    with serving_converse(Converse(script)) as base:
        ours = provider(base)
        for kind in ("too_long", "rate_limited", "auth"):
            with pytest.raises(Exception) as raised:  # noqa: PT011  botocore's
                ours.complete(session.assemble())
            refusal = memspan.Refusal.of(raised.value)
            assert (refusal and refusal.kind) == kind
        for _ in range(2):
            with pytest.raises(Exception), session.reply(session.assemble()) as reply:  # noqa: B017, PT011, PT012  the SDK's or ours
                for chunk in ours.stream(session.assemble()):
                    reply.feed(chunk)
            assert session.partial_reply is not None
            assert session.partial_reply.text.startswith("I look")
    assert session.assemble().messages[-1]["role"] == "user"


def test_no_random_session_is_refused(memspan_engine: memspan.Engine) -> None:
    """boto3's own check of every field, and Converse's rules."""
    user, vendor = memspan_engine.user("u"), Converse([SAID])
    with serving_converse(vendor) as base:
        ours = provider(base)
        for seed in range(60):
            rng = random.Random(seed)  # noqa: S311
            session = user.session(f"s-{seed}", model=rng.choice(MODELS), system=rng.choice(["", "Terse."]), tools=rng.choice([[], TOOLS]))
            talk(rng, session, rng.randrange(9))
            session.add({"role": "user", "content": "and now?"})
            assert ours.complete(session.assemble())["stop_reason"] == "end_turn"


def test_the_rules_have_teeth() -> None:
    user, said = {"role": "user", "content": [{"text": "hi"}]}, {"role": "assistant", "content": [{"text": "ho"}]}
    source = {"source": {"bytes": "eA=="}}
    document, point = {"document": {"format": "pdf", "name": "a", **source}}, {"cachePoint": {"type": "default"}}
    named, drawn = {"document": {"format": "pdf", "name": "a.pdf", **source}}, {"image": {"format": "jpg", **source}}
    called = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a b", "name": "f", "input": {}}}]}
    for messages, words in (
        ([said], "start with a user"),
        ([user, said], "prefill"),
        ([user, user], "alternate"),
        ([user, called, user], "regular expression"),
        ([{"role": "user", "content": [document]}], "text content block"),
        ([{"role": "user", "content": [{"text": "a"}, document, point]}], "Field required"),
        ([{"role": "user", "content": [{"text": "a"}, document, document]}], "duplicate document names"),
        ([{"role": "user", "content": [{"text": "a"}, named]}], "alphanumeric"),
        ([{"role": "user", "content": [{"text": "a"}, drawn]}], "image.format"),
    ):
        assert words in (converse.rules({"messages": messages}) or "")
    assert converse.rules({"messages": [user, said, user]}) is None
