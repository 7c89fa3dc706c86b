"""Providers: the official SDKs talk over a socket to servers that enforce their vendor's rules; streams break, time limits end, keys are wrong."""

# ruff: noqa: E501, PT012, RUF015  an answer a line; what fails is fed in a loop
from __future__ import annotations

import asyncio
import gc
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anthropic
import openai
import pytest
from tests.test_streams import ANTHROPIC, CHAT, RESPONSES, WHOLE, session_of
from tests.vendors import rules
from tests.vendors.server import Vendor, serving

import memspan
from memspan.testing import anthropic_response, openai_response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

pytestmark = pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")  # the SDK's word on models that others still use

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": "Reads.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
        },
    }
]
KINDS: dict[str, Any] = {
    "chat": (memspan.providers.OpenAI, "/v1", openai_response("8443", id="c-1", input_tokens=30), CHAT, openai.OpenAI, openai.AsyncOpenAI),
    "responses": (
        memspan.providers.OpenAIResponses,
        "/v1",
        {**WHOLE, "id": "resp_0", "output": WHOLE["output"][:2]},
        RESPONSES,
        openai.OpenAI,
        openai.AsyncOpenAI,
    ),
    "anthropic": (
        memspan.providers.Anthropic,
        "",
        anthropic_response("8443", id="m-1", input_tokens=30),
        ANTHROPIC,
        anthropic.Anthropic,
        anthropic.AsyncAnthropic,
    ),
}


def provider(kind: str, base: str, **options: Any) -> memspan.providers.Provider:
    made, path, *_ = KINDS[kind]
    found: memspan.providers.Provider = made(base_url=base + path, api_key="sk-test", max_retries=0, **options)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_complete_and_stream_over_a_socket(user: memspan.Scope, kind: str) -> None:
    _, _, whole, chunks, sync, _ = KINDS[kind]
    vendor = Vendor([whole, chunks])
    with serving(vendor) as base:
        ours, session = provider(kind, base), session_of(user, kind)
        response = ours.complete(session.assemble())
        turn = session.add_response(response, prompt=session.assemble())
        assert turn.usage is not None
        assert turn.usage.input_tokens == 30
        assert response._request_id == "req_1"
        session.cancel_tool_calls(reason="next")
        session.add({"role": "user", "content": "and the file?"})
        with session.reply(session.assemble()) as reply:
            text = "".join(reply.feed(chunk) for chunk in ours.stream(session.assemble()))
        assert text == "I look it up: 漢字 😀."
        assert session.pending_tool_calls[0].name == "read_file"
        path, body, headers = vendor.requests[1]
        assert body["stream"] is True
        assert "sk-test" in str(headers)
        if kind == "chat":
            assert body["prompt_cache_key"] == vendor.requests[0][1]["prompt_cache_key"]
            assert len(body["prompt_cache_key"]) == 32
        yours = type(ours)(sync(base_url=base + KINDS[kind][1], api_key="sk-yours", max_retries=0))
        session.cancel_tool_calls(reason="next")
        with session.reply(session.assemble()) as reply:
            for chunk in yours.stream(session.assemble()):
                reply.feed(chunk)
        assert "sk-yours" in str(vendor.requests[-1][2])
        assert path == vendor.requests[-1][0]


@pytest.mark.parametrize("kind", KINDS)
def test_awaited_and_cancelled(user: memspan.Scope, kind: str) -> None:
    _, path, whole, chunks, _, asynchronous = KINDS[kind]

    async def life(base: str, vendor: Vendor) -> None:
        session = session_of(user, kind)
        for ours in (provider(kind, base), KINDS[kind][0](asynchronous(base_url=base + path, api_key="k", max_retries=0))):
            prompt = session.assemble()
            assert await ours.acomplete(prompt) is not None
            vendor.script = [chunks]
            assert [chunk async for chunk in ours.astream(prompt)]
            vendor.script = [whole]
        vendor.script, vendor.pause_seconds = [chunks * 40], 0.02

        async def listen() -> None:
            async with session.reply(session.assemble()) as reply:
                async for chunk in ours.astream(session.assemble()):
                    reply.feed(chunk)

        task = asyncio.create_task(listen())
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert session.partial_reply is not None

    vendor = Vendor([whole])
    with serving(vendor) as base:
        asyncio.run(life(base, vendor))
        assert vendor.broken.wait(5), "the connection is closed when the reply is cancelled"


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_that_breaks(user: memspan.Scope, kind: str) -> None:
    chunks = KINDS[kind][3]
    error = {
        "type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"},
        "message": "Overloaded",
        "code": "server_error",
        "sequence_number": 9,
    }
    vendor = Vendor([[*chunks[:5], error], [*chunks[:9], {"drop": True}]])
    with serving(vendor) as base:
        ours, session = provider(kind, base), session_of(user, kind)
        for _ in range(2):
            with pytest.raises(Exception) as raised, session.reply(session.assemble()) as reply:  # noqa: PT011  the SDK's or ours
                for chunk in ours.stream(session.assemble()):
                    reply.feed(chunk)
            refusal = getattr(raised.value, "refusal", None) or memspan.Refusal.of(raised.value)
            assert refusal is None or refusal.kind in {"overloaded", "outage"}
        assert len(session.messages) == 1
        assert session.partial_reply is not None
        assert session.assemble().messages[-1]["role"] == "user"


def test_closing_a_stream_closes_the_connection(user: memspan.Scope) -> None:
    vendor = Vendor([CHAT * 100], pause_seconds=0.01)
    with serving(vendor) as base:
        chunks = provider("chat", base).stream(session_of(user, "chat").assemble())
        next(chunks)
        del chunks
        gc.collect()
        assert vendor.broken.wait(5)


def test_time_limits(user: memspan.Scope) -> None:
    vendor = Vendor([CHAT], pause_seconds=3)
    with serving(vendor) as base:
        slow, session = provider("chat", base, timeout_seconds=0.3), session_of(user, "chat")
        start = time.monotonic()
        with pytest.raises(Exception) as raised, session.reply(session.assemble()) as reply:  # noqa: PT011
            for chunk in slow.stream(session.assemble()):
                reply.feed(chunk)
        assert time.monotonic() - start < 2
        assert getattr(memspan.Refusal.of(raised.value), "kind", None) == "outage"


def test_counting(user: memspan.Scope) -> None:
    vendor = Vendor([{"input_tokens": 77}])
    with serving(vendor) as base:
        prompt = session_of(user, "anthropic").assemble()
        assert provider("anthropic", base).count(prompt) == 77
        path, body, _ = vendor.requests[0]
        assert path == "/v1/messages/count_tokens"
        assert not {"max_tokens", "stream"} & set(body)
        exact = session_of(user, "chat", "s-2").assemble()
        assert provider("chat", base).count(exact) == exact.total_tokens
        assert asyncio.run(provider("chat", base).acount(exact)) == exact.total_tokens


class Claude:
    """A client of Anthropic's that keeps what it is sent."""

    def __init__(self, script: list[Any]) -> None:
        self.sent: list[dict[str, Any]] = []
        self.script = script
        self.messages = self

    def create(self, *, timeout: float, **request: Any) -> Any:
        del timeout
        self.sent.append(request)
        return self.script[min(len(self.sent), len(self.script)) - 1]


THINKING = {"type": "enabled", "budget_tokens": 2_000}
CLEARS = {"edits": [{"type": "clear_thinking_20251015"}, {"type": "clear_tool_uses_20250919"}]}


def test_thinking_is_left_out_of_a_turn_that_another_model_began(memspan_engine: memspan.Engine) -> None:
    """gpt-4o calls a tool and is down. Anthropic refused the request of the model that went on: its last message of an assistant began with a call."""

    class Down(memspan.providers.Provider):
        calls = 0

        def complete(self, prompt: memspan.Prompt, **options: Any) -> Any:
            del prompt, options
            Down.calls += 1
            if Down.calls > 1:
                raise RuntimeError("Error code: 503 - overloaded")
            return openai_response(None, tool_calls=[("c1", "look", {})], id="g1")

    called = anthropic_response(None, tool_calls=[("t1", "look", {})], id="a1")
    client = Claude([called, anthropic_response("fine", id="a2"), anthropic_response("yes", id="a3")])
    options = {"thinking": THINKING, "extra_body": {"context_management": CLEARS}}
    claude = memspan.providers.Anthropic(client=client, options=options)
    look = memspan.Function("look", "Looks.", {"type": "object", "properties": {}}, lambda _: "8443")
    assistant = memspan.Assistant(
        memspan_engine,
        Down(),
        model="gpt-4o",
        fallbacks=["claude-sonnet-4-5"],
        providers={"claude-sonnet-4-5": claude},
        tools=[look],
        learn=False,
    )
    assert assistant.respond("u", "go").text == "fine"
    assert claude.complete(session_of(memspan_engine.user("v"), "anthropic").assemble())
    assert [body.get("thinking") for body in client.sent] == [None, None, THINKING]
    assert [len(body["extra_body"]["context_management"]["edits"]) for body in client.sent] == [1, 1, 2]
    assert options == {"thinking": THINKING, "extra_body": {"context_management": CLEARS}}, "the caller's own stay as they are"


@pytest.mark.parametrize(
    ("content", "thinking", "kept"),
    [
        ([{"type": "tool_use", "id": "t", "name": "f", "input": {}}], THINKING, False),
        ([{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "t", "name": "f", "input": {}}], THINKING, False),
        ([{"type": "tool_use", "id": "t", "name": "f", "input": {}}], {"type": "adaptive"}, True),
        (
            [{"type": "thinking", "thinking": "Which?", "signature": "c2ln"}, {"type": "tool_use", "id": "t", "name": "f", "input": {}}],
            THINKING,
            True,
        ),
    ],
)
def test_thinking_stays_where_it_is_taken(user: memspan.Scope, content: list[Any], thinking: dict[str, Any], kept: bool) -> None:
    client = Claude([anthropic_response("ok", id="m")])
    session = user.session("s-1", model="claude-sonnet-4-5", tools=TOOLS)
    session.add({"role": "user", "content": "go"})
    session.add_response({**anthropic_response("x", id="m-1", finish="tool_use"), "content": content})
    session.add({"role": "tool", "tool_call_id": "t", "content": "ok"})
    memspan.providers.Anthropic(client=client, options={"thinking": thinking}).complete(session.assemble())
    [body] = client.sent
    assert ("thinking" in body) is kept
    assert rules.anthropic(body) is None


def test_an_hour_of_cache(user: memspan.Scope) -> None:
    vendor = Vendor([anthropic_response("ok", id="m")])
    with serving(vendor) as base:
        session = user.session("s-1", model="claude-sonnet-4-5", system="You are terse.", tools=TOOLS)
        session.add({"role": "user", "content": "one"})
        session.add_response(anthropic_response("two"), prompt=session.assemble())
        session.add({"role": "user", "content": "three"})
        provider("anthropic", base, cache_ttl="1h").complete(session.assemble())
        body = vendor.requests[0][1]
        ttls = [
            block["cache_control"].get("ttl")
            for block in [*body["system"], *(one for message in body["messages"] for one in message["content"])]
            if "cache_control" in block
        ]
        assert "1h" in ttls
        assert ttls == sorted(ttls, key=lambda ttl: ttl != "1h")


def test_a_round_of_tools_is_cached_for_five_minutes(user: memspan.Scope) -> None:
    """Of two breakpoints for the rounds of one turn the first got the hour of the lasting ones."""
    user.remember("Likes tea and ports")
    session = user.session("s-1", model="claude-sonnet-4-5", system="You are terse. " * 200)
    session.add({"role": "user", "content": "one"})
    session.add({"role": "assistant", "content": "two"})
    session.add({"role": "user", "content": "Which tea and which ports?"})
    for number, calls in enumerate((1, 25)):
        ids = [f"t{number}_{call}" for call in range(calls)]
        session.add({"role": "assistant", "content": [{"type": "tool_use", "id": one, "name": "f", "input": {}} for one in ids]})
        session.add({"role": "user", "content": [{"type": "tool_result", "tool_use_id": one, "content": "r"} for one in ids]})
    prompt = session.assemble()
    assert [one.lasting for one in prompt.breakpoints] == [True, True, False, False]
    request = memspan.providers.Anthropic(object(), cache_ttl="1h")._request(prompt, {}, stream=False)
    blocks = [*request["system"], *(block for message in request["messages"] for block in message["content"])]
    assert [block["cache_control"].get("ttl") for block in blocks if "cache_control" in block] == ["1h", "1h", None, None]


def test_users_whose_sessions_have_one_id_share_no_key(memspan_engine: memspan.Engine) -> None:
    """All users had one cache key, one slot and one header: a session's id is its scope's own."""

    def asked(name: str) -> memspan.Prompt:
        session = memspan_engine.user(name).session("default", model="gpt-4o")
        session.add({"role": "user", "content": f"I am {name}"})
        return session.assemble()

    prompts = [asked(name) for name in ("ann", "bob", "ann")]
    keys = [prompt.cache_key for prompt in prompts]
    assert (keys[0] == keys[2], keys[0] != keys[1], len(keys[0])) == (True, True, 32)
    turn = memspan_engine.user("ann").session("default").add_response({"role": "assistant", "content": "hi"}, prompt=prompts[2])
    assert turn.prompt is not None
    assert turn.prompt.cache_key == keys[0], "composed again"
    ours = memspan.providers.OpenAI(object())
    assert [ours._request(prompt, {}, stream=False)["prompt_cache_key"] for prompt in prompts] == keys


def test_a_compatible_server_by_its_rules(user: memspan.Scope) -> None:
    vendor = Vendor([openai_response("ok", id="c", input_tokens=5)], "mistral")
    with serving(vendor) as base:
        session = user.session("s-1", model="mistral-large-3", system="You are terse.", tools=TOOLS)
        session.add({"role": "assistant", "content": "How can I help?"})
        session.add({"role": "user", "content": "read"})
        session.add_response(
            openai_response(tool_calls=[("call_PTLP8xhu3uwZk4l3nlnrrJha", "read_file", {"path": "/x"})]), prompt=session.assemble()
        )
        session.add({"role": "user", "content": "never mind"})
        mine = memspan.providers.OpenAICompatible(
            base + "/v1", dialect="mistral", names={"mistral-large-3": "mistral-large-latest"}, options={"temperature": 0}
        )
        session.add_response(mine.complete(session.assemble()), prompt=session.assemble())
        body = vendor.requests[0][1]
        assert (body["model"], body["temperature"], "max_tokens" in body) == ("mistral-large-latest", 0, True)
        plain = memspan.providers.OpenAI(base_url=base + "/v1", api_key="k", max_retries=0)
        session.add({"role": "user", "content": "again"})
        with pytest.raises(openai.BadRequestError) as raised:  # the same prompt by OpenAI's rules: the server has teeth
            plain.complete(session.assemble())
        assert getattr(memspan.Refusal.of(raised.value), "kind", None) == "bad_request"


@pytest.mark.parametrize(
    ("url", "dialect"),
    [
        ("https://api.mistral.ai/v1", "mistral"),
        ("http://localhost:11434/v1", "ollama"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("http://gpu-7:8000/v1", "vllm"),
    ],
)
def test_the_dialect_is_told_from_the_address(url: str, dialect: str) -> None:
    assert memspan.providers.OpenAICompatible(url).dialect == dialect


def test_what_cannot_be(user: memspan.Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(memspan.InvalidInput, match="dialect must be one of"):
        memspan.providers.OpenAICompatible("http://x/v1", dialect="esperanto")
    with pytest.raises(memspan.InvalidInput, match="base_url or a client"):
        memspan.providers.OpenAICompatible()
    with pytest.raises(memspan.InvalidInput, match="timeout_seconds"):
        memspan.providers.OpenAI(api_key="k", timeout_seconds=0)
    with pytest.raises(memspan.InvalidInput, match="api_key"):
        memspan.providers.OpenAI(openai.OpenAI(api_key="k"), api_key="k")
    with pytest.raises(memspan.InvalidInput, match="cache_ttl"):
        memspan.providers.Anthropic(api_key="k", cache_ttl="2h")  # type: ignore[arg-type]
    prompt = session_of(user, "chat").assemble()
    with pytest.raises(memspan.InvalidInput, match="async client"):
        memspan.providers.OpenAI(openai.AsyncOpenAI(api_key="k")).complete(prompt)
    monkeypatch.setattr("importlib.import_module", lambda name: (_ for _ in ()).throw(ImportError(name)))
    for made, extra in [
        (memspan.providers.OpenAI, "openai"),
        (memspan.providers.Anthropic, "anthropic"),
        (memspan.providers.Gemini, "gemini"),
    ]:
        with pytest.raises(memspan.MissingExtra, match=rf"pip install 'memspan\[{extra}\]'"):
            made()


def test_whose_models_it_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = memspan.providers.OpenAI(api_key="k", names={"claude-sonnet-4-5": "my-proxy"})
    assert [ours.serves(model) for model in ("gpt-4o", "claude-sonnet-4-5", "claude-haiku-4-5", "nobody-7b")] == [True, True, False, True]
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert isinstance(memspan.providers.provider_for("claude-haiku-4-5"), memspan.providers.Anthropic)
    with pytest.raises(memspan.InvalidInput, match="OpenAICompatible"):
        memspan.providers.provider_for("mistral-large-3")


class Recording:
    """A client that notes what it is asked, by any SDK's words. Whether it is awaited, the name of its class says."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.asked: list[str] = []
        self.chat = self.completions = self.messages = self.responses = self.models = self

    def create(self, *, model: str, **_: Any) -> Any:
        self.asked.append(model)
        return iter(())

    generate_content = generate_content_stream = create


class AsyncRecording(Recording):
    """The same, awaited."""

    async def create(self, *, model: str, **_: Any) -> Any:
        self.asked.append(model)
        return _nothing()


async def _nothing() -> AsyncIterator[Any]:
    for chunk in list[Any]():
        yield chunk


OTHERS: dict[str, tuple[type[memspan.providers.Provider], str, str]] = {
    "chat": (memspan.providers.OpenAI, "https://api.openai.com/v1/", "claude-sonnet-4-5"),
    "responses": (memspan.providers.OpenAIResponses, "https://eu.api.openai.com/v1", "gemini-2.5-flash"),
    "anthropic": (memspan.providers.Anthropic, "https://api.anthropic.com", "gpt-4o"),
    "gemini": (memspan.providers.Gemini, "https://generativelanguage.googleapis.com/", "gpt-4o"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_prompt_for_another_vendors_model_is_not_sent(user: memspan.Scope, kind: str) -> None:
    """A prompt for gpt-4o went to Anthropic, with "gpt-4o" as its model: an error of the vendor's, or another model's answer."""
    made, base, model = OTHERS[kind]
    session = user.session("s-1", model=model)
    session.add({"role": "user", "content": "hello"})
    prompt, client, awaited = session.assemble(), Recording(base), AsyncRecording(base)
    plain, other = made(client), made(awaited)

    async def listen() -> None:
        async for _ in other.astream(prompt):
            pass

    asks: list[Callable[[], Any]] = [
        lambda: plain.complete(prompt),
        lambda: list(plain.stream(prompt)),
        lambda: asyncio.run(plain.acomplete(prompt)),
        lambda: asyncio.run(other.acomplete(prompt)),
        lambda: asyncio.run(listen()),
    ]
    rule = rf"{made.__name__} serves models of \w+, and the prompt is for '{model}': call session\.switch_model\(\.\.\.\)"
    for ask in asks:
        with pytest.raises(memspan.InvalidInput, match=rule):
            ask()
    assert (client.asked, awaited.asked) == ([], [])


@pytest.mark.parametrize(
    "provider",
    [
        memspan.providers.OpenAI(Recording("https://openrouter.ai/api/v1")),
        memspan.providers.OpenAI(Recording("http://localhost:8000/v1")),
        memspan.providers.OpenAI(Recording("https://acme.openai.azure.com/openai/")),
        memspan.providers.OpenAI(Recording("https://api.openai.com.proxy.example/v1")),
        memspan.providers.OpenAI(Recording("https://api.openai.com/v1"), names={"deepseek-chat": "deepseek"}),
        memspan.providers.OpenAICompatible(client=Recording("https://api.openai.com/v1"), dialect="openai"),
        memspan.providers.Anthropic(Recording("https://api.deepseek.com/anthropic")),
        memspan.providers.Gemini(Recording("")),
    ],
)
def test_other_servers_may_have_any_model(user: memspan.Scope, provider: memspan.providers.Provider) -> None:
    session = user.session("s-1", model="deepseek-chat")
    session.add({"role": "user", "content": "hello"})
    provider.complete(session.assemble())
    assert len(provider._sync.asked) == 1


def test_a_model_that_nobody_registered_is_asked_for(user: memspan.Scope) -> None:
    """Whose it is, the registry does not say."""
    session = user.session("s-1", model=replace(memspan.models["gpt-4o"], name="nobodys", vendor=""))
    session.add({"role": "user", "content": "hello"})
    client = Recording("https://api.anthropic.com")
    memspan.providers.Anthropic(client).complete(session.assemble())
    assert client.asked == ["nobodys"]


def test_gemini_over_a_socket(user: memspan.Scope) -> None:
    genai = pytest.importorskip("google.genai", reason="google-genai is not installed: pip install 'memspan[gemini]'")
    from tests.test_streams import GEMINI

    whole = {"responseId": "g-9", "modelVersion": "gemini-3-pro", "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [
        {"functionCall": {"name": "read_file", "args": {"path": "/x"}}, "thoughtSignature": "c2ln"}]}}], "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3}}  # fmt: skip
    vendor = Vendor([whole, GEMINI, {"totalTokens": 12}])
    with serving(vendor) as base:
        options = genai.types.HttpOptions(base_url=base)
        ours, session = memspan.providers.Gemini(api_key="k", http_options=options), session_of(user, "gemini")
        session.add_response(ours.complete(session.assemble()), prompt=session.assemble())
        session.add({"role": "tool", "tool_call_id": session.pending_tool_calls[0].id, "content": "text"})
        with session.reply(session.assemble()) as reply:
            for chunk in ours.stream(session.assemble()):
                reply.feed(chunk)
        assert reply.text == "I look it up: 漢字 😀."
        sent = vendor.requests[1][1]["contents"]
        assert [part for content in sent for part in content["parts"] if "functionCall" in part][0]["thoughtSignature"] == "c2ln"
        assert ours.count(session.assemble()) == 12


def test_a_session_stays_with_its_slot_and_its_server(user: memspan.Scope) -> None:
    class LlamaCpp(Vendor):
        def _complaint(self, path: str, body: dict[str, Any]) -> str | None:  # it takes fields of its own
            return super()._complaint(path, {key: value for key, value in body.items() if key not in {"id_slot", "cache_prompt"}})

    vendor = LlamaCpp([openai_response("ok", id="c")], "vllm")
    with serving(vendor) as base:
        ours = memspan.providers.OpenAICompatible(
            base + "/v1", slots=4, session_header="x-user-id", options={"extra_headers": {"x-a": "1"}}
        )
        for name in [f"s-{n}" for n in range(12)] * 2:
            session = user.session(name, model="gpt-4o")
            session.add({"role": "user", "content": "hi"})
            ours.complete(session.assemble())
        slots = [body["id_slot"] for _, body, _ in vendor.requests]
        keys = [headers["x-user-id"] for _, _, headers in vendor.requests]
        assert slots[:12] == slots[12:]
        assert keys[:12] == keys[12:]
        assert (len(set(slots)) > 1, set(slots) <= set(range(4)), len(set(keys))) == (True, True, 12)
        assert all(body["cache_prompt"] and headers["x-a"] == "1" for _, body, headers in vendor.requests)
        assert "s-1" not in str(keys), "the session's own id stays here"
    for wrong in (0, -1, "4"):
        with pytest.raises(memspan.InvalidInput, match="slots"):
            memspan.providers.OpenAICompatible("http://x/v1", slots=wrong)  # type: ignore[arg-type]
