"""A real model server, llama.cpp's, with a model of random weights: what it says is noise, and what it does is what users' servers do.

Skipped unless `xllamacpp` and `gguf` are installed (the dependency group `model-server`): a wheel of 34 MB, no download beside it.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import time
import urllib.request
from typing import TYPE_CHECKING, Any, Literal

import pytest
from tests.vendors.model_server import CALL_TOKEN, SLOT_TOKENS, SLOTS, serving_a_model

import memspan

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("xllamacpp", "gguf")),
    reason="llama.cpp's server is not installed: pip install xllamacpp gguf",
)
MODEL = "tiny-noise"
FACTS = "The build of payments-api runs on node-9 and listens on port 8443. " * 12


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving_a_model(tmp_path_factory.mktemp("model")) as address:
        yield address


@pytest.fixture(autouse=True)
def _model() -> None:
    memspan.models.register(
        memspan.Model(name=MODEL, context_window=SLOT_TOKENS, max_output_tokens=512, encoding="o200k_base", factor=6.0)
    )  # its tokens are letters: six to one of ours


def provider(base: str, **options: Any) -> memspan.providers.OpenAICompatible:
    settings = {"temperature": 0, "max_tokens": 24, **options.pop("options", {})}
    return memspan.providers.OpenAICompatible(f"{base}/v1", dialect="llama.cpp", max_retries=0, options=settings, **options)


def slots(base: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{base}/slots", timeout=10) as answer:  # noqa: S310  our own server's
        return list(json.load(answer))


def used(base: str) -> dict[int, int]:
    """The newest task of each slot that ever had one."""
    return {slot["id"]: slot["id_task"] for slot in slots(base) if "id_task" in slot}


def test_replies_whole_and_streamed(user: memspan.Scope, base: str) -> None:
    session, ours = user.session("s-1", model=MODEL, system="You are terse."), provider(base)
    session.add({"role": "user", "content": "Which port does payments-api use?"})
    turn = session.add_response(ours.complete(session.assemble()), prompt=session.assemble())
    assert turn.usage is not None
    assert turn.usage.output_tokens == 24
    session.add({"role": "user", "content": "And now in Go?"})
    with session.reply(session.assemble()) as reply:
        pieces = [reply.feed(chunk) for chunk in ours.stream(session.assemble())]
    assert "".join(pieces) == reply.text == session.messages[-1].text
    assert [message.role for message in session.messages] == ["user", "assistant"] * 2
    assert reply.turn is not None
    assert reply.turn.usage is not None
    assert reply.turn.usage.output_tokens == 24


def test_a_session_keeps_its_slot_and_its_prefix(user: memspan.Scope, base: str) -> None:
    """`id_slot` of chat completions: each call of a session is a task of the slot that its key names, and finds its prefix there."""
    ours, of_session = provider(base, slots=SLOTS), dict[str, int]()
    sessions = [user.session(f"s-{number}", model=MODEL, system=FACTS) for number in range(8)]
    for round_ in range(3):
        for session in sessions:
            before = used(base)
            session.add({"role": "user", "content": f"Which port, asked {round_}?"})
            turn = session.add_response(ours.complete(session.assemble()), prompt=session.assemble())
            [slot] = [slot for slot, task in used(base).items() if before.get(slot) != task]
            assert of_session.setdefault(session.id, slot) == slot
            assert turn.usage is not None
    assert len(set(of_session.values())) > 1
    usages = []
    for number in range(2):
        sessions[0].add({"role": "user", "content": f"And once more {number}?"})
        usages.append(sessions[0].add_response(ours.complete(sessions[0].assemble()), prompt=sessions[0].assemble()).usage)
    last = usages[-1]
    assert last is not None
    assert last.cached_tokens > 0.9 * (last.input_tokens - 200), "what was sent before was read from the slot"


def test_tools_by_the_servers_grammar(memspan_engine: memspan.Engine, base: str) -> None:
    """The server makes even noise keep to a tool's schema, and streams calls letter by letter; the last one is cut by the reply's end.

    The bug: the arguments "{" of a cut call went back as they came, and the server answered 500 to every later prompt."""
    asked: list[str] = []

    def port_of(service: Literal["payments-api", "billing"]) -> int:
        """The port of a service."""
        asked.append(service)
        return 8443

    calls = {"tool_choice": "required", "max_tokens": 120, "extra_body": {"logit_bias": [[CALL_TOKEN, 100]]}}
    assistant = memspan.Assistant(memspan_engine, provider(base, options=calls), model=MODEL, tools=[port_of], max_rounds=2)
    events = list(assistant.stream("u", "Which port?", session="s-1"))
    kinds = [event.kind for event in events if event.kind != "text"]
    assert (kinds.count("tool_call"), kinds[-1]) == (kinds.count("tool_result"), "reply")
    assert events[-1].reply is not None
    assert (events[-1].reply.stopped, len(asked) > 1, set(asked) <= {"payments-api", "billing"}) == ("max_rounds", True, True)
    session = memspan_engine.user("u").session("s-1")
    assert session.pending_tool_calls == ()
    session.add({"role": "user", "content": "thanks"})
    silent = provider(base, options={"tool_choice": "none"})
    assert silent.complete(session.assemble()).choices[0].message.role == "assistant"


def test_a_prompt_that_is_too_long_is_made_smaller(user: memspan.Scope, base: str) -> None:
    memspan.models.register(memspan.Model(name="tiny-liar", context_window=100_000, max_output_tokens=512, encoding="o200k_base"))
    session = user.session("s-1", model="tiny-liar")
    for number in range(30):
        session.add({"role": ("user", "assistant")[number % 2], "content": f"{number}: {FACTS}"})
    session.add({"role": "user", "content": "and now?"})
    prompt, ours, tries, refusal = session.assemble(), provider(base), 0, None
    while True:
        try:
            session.add_response(ours.complete(prompt), prompt=prompt)
            break
        except Exception as error:  # noqa: BLE001  the SDK's
            prompt, tries, refusal = session.recover(prompt, error), tries + 1, memspan.Refusal.of(error)
    assert (refusal and refusal.kind, tries in {1, 2}) == ("too_long", True)
    assert session.messages[-1].role == "assistant"


def test_cancelling_frees_the_slot(user: memspan.Scope, base: str) -> None:
    session, ours = user.session("s-1", model=MODEL), provider(base, options={"max_tokens": 6_000, "extra_body": {"ignore_eos": True}})
    session.add({"role": "user", "content": "Go on for ever."})

    async def listen() -> None:
        async with session.reply(session.assemble()) as reply:
            async for chunk in ours.astream(session.assemble()):
                if reply.feed(chunk):
                    raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(listen())
    until = time.monotonic() + 5
    while any(slot["is_processing"] for slot in slots(base)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(slot["is_processing"] for slot in slots(base)), "the server was told"
    assert session.partial_reply is not None
    assert session.assemble().messages[-1]["role"] == "user"


def test_an_assistant_on_it(memspan_engine: memspan.Engine, base: str) -> None:
    assistant = memspan.Assistant(memspan_engine, provider(base, slots=SLOTS), model=MODEL, system="You are terse.")
    texts = [assistant.respond("u", f"question {number}", session="s-1", id=f"w-{number}").text for number in range(3)]
    assert assistant.respond("u", "question 0", session="s-1", id="w-0").text == texts[0]
    events = list(assistant.stream("u", "streamed", session="s-1"))
    assert "".join(event.text for event in events if event.kind == "text") == events[-1].text
    session = memspan_engine.user("u").session("s-1")
    assert [message.role for message in session.messages] == ["user", "assistant"] * 4
