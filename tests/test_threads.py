"""Threads that the system does not give, and calls that wait for their turn to have one."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan import _twins
from memspan._twins import MOST_ASKING
from memspan.detectors import DetectorError
from memspan.testing import FakeEmbedder, FakeProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence
    from pathlib import Path

RULE = "the system gives no more threads .*: end threads that are not needed, or raise the limit"


def _refuse(_: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From now on the system gives no threads."""
    _twins._idle.clear()
    return lambda: monkeypatch.setattr(threading.Thread, "start", _refuse)


def run(awaited: Coroutine[Any, Any, object]) -> object:
    """Without the end of `asyncio.run`, which needs a thread."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(awaited)
    finally:
        loop.close()


def look_up(service: str) -> str:
    """The port of a service."""
    return f"{service}: 8443"


@pytest.fixture
def engine(store: Path) -> Iterator[memspan.Engine]:
    with memspan.open(store, embedder=FakeEmbedder(16), embed_timeout_seconds=9, durability="relaxed") as engine:
        user = engine.user("u")
        user.remember("Prefers tea")
        user.session("s", model="gpt-4o").add({"role": "user", "content": "hi"})
        yield engine


async def leased(session: memspan.Session) -> None:
    async with session.lease():
        pass


async def listed(user: memspan.Scope) -> list[memspan.Memory]:
    return [memory async for memory in user.amemories()]


def answered(engine: memspan.Engine) -> object:
    script = [[("look_up", {"service": "a"}), ("look_up", {"service": "b"})], "done"]
    return memspan.Assistant(engine, FakeProvider(script), model="gpt-4o", tools=[look_up]).respond("u", "which port?")


@pytest.mark.parametrize(
    ("says", "call"),
    [
        ("awaiting a call", lambda engine: run(engine.user("u").arecall("tea"))),
        ("awaiting a call", lambda engine: run(engine.user("u").session("s").aadd({"role": "user", "content": "hi"}))),
        ("awaiting a call", lambda engine: run(listed(engine.user("u")))),
        ("awaiting a call", lambda engine: run(leased(engine.user("u").session("s")))),
        ("awaiting a call", lambda engine: run(engine.user("u").aremember_many(["x"]))),
        ("maintaining a store", lambda engine: engine.maintenance().__enter__()),
        ("running tools", answered),
    ],
)
def test_a_call_that_gets_no_thread_says_so(
    engine: memspan.Engine, no_threads: Callable[[], None], says: str, call: Callable[[memspan.Engine], object]
) -> None:
    """It raised Python's own RuntimeError, which names neither the call nor a remedy."""
    no_threads()
    with pytest.raises(memspan.StateError, match=f"{says}: it runs in a thread of its own, and {RULE}"):
        call(engine)


def test_embedders_and_detectors_without_a_thread_fail_as_they_do_otherwise(
    engine: memspan.Engine, no_threads: Callable[[], None], tmp_path: Path
) -> None:
    no_threads()
    found = engine.user("u").recall("tea")
    assert found.degraded_reason is not None
    assert "gives no more threads" in found.degraded_reason
    assert engine.user("u").remember("Prefers coffee").action == "added"
    policy = memspan.Policy(detectors=[lambda _: []])
    with memspan.open(tmp_path / "other", policy=policy) as other, pytest.raises(DetectorError, match="gives no more threads; nothing was"):
        other.user("u").remember("Prefers tea")


def test_a_call_that_got_no_thread_of_the_pool_is_not_made_later(engine: memspan.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool keeps what it could not begin in its queue."""
    user = engine.shared("plain")

    async def life() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", _refuse)
            with pytest.raises(memspan.StateError, match="awaiting a call"):
                await user.session("s", model="gpt-4o").aadd({"role": "user", "content": "lost"})
        await user.session("s", model="gpt-4o").aadd({"role": "user", "content": "kept"})

    run(life())
    assert [message.text for message in user.session("s").messages] == ["kept"]


class Slow:
    """An embedder that waits until it may go on, and counts the calls in it."""

    name, dimensions = "slow", 8

    def __init__(self) -> None:
        self.go = threading.Event()
        self.go.set()
        self.inside = self.most = 0
        self.lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Any:
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        self.go.wait(60)
        with self.lock:
            self.inside -= 1
        return [[1.0] * 8 for _ in texts]


def test_a_call_whose_caller_was_cancelled_keeps_its_place_until_its_thread_ends(store: Path) -> None:
    """Requests that timed out while an embedder hung began threads without end: 720 of ten rounds."""
    slow = Slow()
    with memspan.open(store, embedder=slow, durability="relaxed") as engine:
        user = engine.user("u")
        user.remember("Prefers tea")

        async def asked(number: int) -> None:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(user.arecall(f"question {number}"), 0.2)

        async def life() -> None:
            slow.go.clear()
            for at in range(0, 200, 100):
                await asyncio.gather(*map(asked, range(at, at + 100)))
            assert slow.inside == slow.most == MOST_ASKING
            slow.go.set()
            async with asyncio.timeout(30):
                assert not (await user.arecall("the next")).degraded
                while slow.inside:  # noqa: ASYNC110  threads count it
                    await asyncio.sleep(0.01)
            await asyncio.gather(*(user.arecall(f"later {number}") for number in range(100)))
            slow.go.clear()
            await asked(-1)

        asyncio.run(life())
        slow.go.set()  # the loop of the last thread is closed
        asyncio.run(user.arecall("in another loop"))
        assert slow.most == MOST_ASKING
