"""Functions of the caller's that are asked with a deadline: embedders, detectors and models. All are asked by one rule."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan._patience import answered
from memspan.providers.provider import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

TALK = "The thing with the Aurora migration is that Priya owns it."
TALKS = [{"role": "user", "content": f"Agreed: build {n} must run on host-{n}."} for n in range(8)]
LONG = "\n".join(f"line {n} of the log" for n in range(20_000))
CLAIM = json.dumps(
    {
        "claims": [
            {"message": 0, "quote": "Priya owns it", "category": "semantic", "text": "Priya owns it.", "slot": None, "importance": 0.7}
        ]
    }
)


class Hanging:
    """A model and an embedder that answer nobody until they are let go."""

    name, dimensions = "hanging", 4

    def __init__(self) -> None:
        self.release = threading.Event()
        self.asked = 0

    def ask(self, *_: Any, **__: Any) -> str:
        self.asked += 1
        self.release.wait(30)
        return ""

    embed = ask


@pytest.fixture
def hanging() -> Generator[Hanging]:
    made = Hanging()
    yield made
    made.release.set()


def callers() -> int:
    return sum(thread.name == "memspan-caller" for thread in threading.enumerate())


def call(session: memspan.Session) -> str:
    name = f"call-{len(session.messages)}"
    function = {"name": "cat", "arguments": "{}"}
    session.add({"role": "assistant", "content": None, "tool_calls": [{"id": name, "type": "function", "function": function}]})
    return name


def ask_in_every_way(store: Path, model: Hanging) -> dict[str, Callable[[], object]]:
    tools = memspan.Budget(tool_results=memspan.ToolResults(summarise=model.ask))
    engine = memspan.open(store, embedder=None)
    session = engine.user("u").session("s", model="gpt-4o", budget=tools)
    embedding = memspan.open(store, embedder=model, embed_timeout_seconds=0.05).user("v")
    return {
        "compact": lambda: (session.add_many(TALKS), session.compact(llm=model.ask, timeout_seconds=0.05)),
        "summarise": lambda: session.add({"role": "tool", "tool_call_id": call(session), "content": LONG}),
        "learn": lambda: engine.user("u").learn([{"role": "user", "content": TALK}], llm=model.ask, llm_timeout_seconds=0.05),
        "storeless": lambda: memspan.compact(TALKS, llm=model.ask, timeout_seconds=0.05),
        "embed": lambda: embedding.recall(f"which port, {time.monotonic()}?"),
    }


@pytest.mark.parametrize("way", ["compact", "summarise", "learn", "storeless", "embed"])
def test_who_hangs_costs_one_thread(store: Path, hanging: Hanging, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that hung cost a thread for each compaction; a bound method is another value each time, and counted as another model."""
    monkeypatch.setattr("memspan.compaction.tool_results.TIMEOUT_SECONDS", 0.05)
    ask, before = ask_in_every_way(store, hanging)[way], callers()
    for _ in range(4):
        ask()
    assert callers() - before == 1
    assert hanging.asked == 1
    hanging.release.set()
    time.sleep(0.1)
    ask()
    assert hanging.asked > 1


def test_one_that_hangs_keeps_no_other_from_being_asked(hanging: Hanging) -> None:
    assert answered(hanging.ask, hanging.ask, 0.05) == []
    assert answered(hanging.ask, lambda: "asked", 5) == []
    assert answered(callers, lambda: "asked", 5) == ["asked"]
    other = Hanging()
    other.release.set()
    assert answered(other.ask, other.ask, 5) == [""]


def test_many_that_ask_at_once_are_all_counted(hanging: Hanging) -> None:
    """The list of threads that hang was made anew without a lock, and lost what another thread had put there."""
    asking = [threading.Thread(target=answered, args=(hanging, hanging.ask, 0.05)) for _ in range(16)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    asked = hanging.asked
    assert answered(hanging, hanging.ask, 0.05) == []
    assert hanging.asked == asked


def test_who_comes_back_to_itself_waits_for_itself() -> None:
    """Two functions that ask each other ended with the threads of the system."""

    def one() -> object:
        return answered(other, other, 5)

    def other() -> object:
        return answered(one, one, 5)

    assert answered(one, one, 5) == [[[]]]


def test_a_providers_writer_is_the_same_each_time_it_is_made() -> None:
    provider = memspan.testing.FakeProvider(["x"])
    assert provider.with_model("a") == provider.with_model("a") != provider.with_model("b")
    assert len({provider.with_model("a"), Writer(provider, "a")}) == 1


async def later(_messages: list[dict[str, str]], *, max_tokens: int) -> str:
    assert max_tokens > 0
    await asyncio.sleep(0.001)
    return CLAIM


class Later:
    """The same, of an object, whose call nobody can tell from a plain one's."""

    async def __call__(self, messages: list[dict[str, str]], /, *, max_tokens: int) -> str:
        return await later(messages, max_tokens=max_tokens)


@pytest.mark.parametrize("llm", [later, Later()])
@pytest.mark.parametrize("awaits", [False, True])
def test_a_model_may_be_a_coroutine_function(store: Path, llm: Any, *, awaits: bool) -> None:
    """open(llm=) took one, and learn() refused it."""
    with memspan.open(store, embedder=None, llm=llm) as engine:
        user, messages = engine.user("u"), [{"role": "user", "content": TALK}]
        learned = asyncio.run(user.alearn(messages)) if awaits else user.learn(messages)
    assert (learned.calls, learned.failed_calls) == (1, 0)
    assert [one.text for one in learned if one.reason.startswith("a model")] == ["Priya owns it."]


def test_a_coroutine_that_is_late_is_cancelled() -> None:
    ended: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def raises() -> None:
        raise TimeoutError("its own")

    assert answered(slow, slow, 0.05) == []
    time.sleep(0.2)
    assert ended == ["cancelled"]
    [error] = answered(raises, raises, 5)
    assert str(error) == "its own"


def test_the_await_of_an_embedder_without_a_limit(store: Path) -> None:
    class Awaited:
        name, dimensions = "awaited", 2

        async def embed(self, texts: list[str]) -> list[list[float]]:
            await asyncio.sleep(0)
            return [[1.0, 0.0] for _ in texts]

    for seconds in (None, 5.0):
        with memspan.open(store, embedder=Awaited(), embed_timeout_seconds=seconds) as engine:  # type: ignore[arg-type]
            user = engine.user(f"u-{seconds}")
            user.remember("Prefers tea")
            assert not user.recall("tea").degraded
