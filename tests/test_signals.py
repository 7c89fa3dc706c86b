"""Handlers of signals that raise, or that call memspan: nothing stays locked, and nothing waits for what it interrupted.

A handler runs where Python looks for signals: where a function of Python's begins, and behind a call. The tests run one at every such
place in turn, by `sys.settrace`: where a function begins, and where it returns, which is behind the last call in it.
"""

from __future__ import annotations

import gc
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan._threads import Latch
from memspan.testing import FakeClock, FakeEmbedder, FakeProvider, openai_response

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import CodeType

    from memspan._forks import Lock

STANDARD = ("threading.py", "queue.py")


def is_ours(code: CodeType) -> bool:
    """Whether a function is the package's or one of Python's that it waits in. What a generator expression raises may go nowhere."""
    return ("/memspan/" in code.co_filename or code.co_filename.endswith(STANDARD)) and code.co_name != "<genexpr>"


def at_each_place(work: Callable[[], object], handle: Callable[[], object], most: int = 400) -> int:
    """Calls `handle` in the middle of `work`, each time at a later place; how many places there are."""
    for place in range(most):
        left = [place]

        def trace(frame: Any, event: str, _: object, left: list[int] = left) -> Any:
            if event in {"call", "return"} and is_ours(frame.f_code):
                left[0] -= 1
                if left[0] == -1:
                    sys.settrace(None)
                    handle()
            return trace

        sys.settrace(trace)
        try:
            work()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        if left[0] >= 0:
            return place
    return most


def interrupt() -> None:
    raise KeyboardInterrupt


def in_time(work: Callable[[], object]) -> bool:
    """Whether another thread does the work within some seconds."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(40)
    return not thread.is_alive()


def free(*locks: Lock) -> bool:
    taken: list[bool] = []

    def take() -> None:
        for lock in locks:
            taken.append(lock.native.acquire(blocking=False))
            if taken[-1]:
                lock.native.release()

    assert in_time(take)
    return all(taken)


def works(engine: memspan.Engine, embedder: FakeEmbedder, clock: FakeClock) -> dict[str, Callable[[], object]]:
    user = engine.user("u")
    session = user.session("s", model="gpt-4o")

    def leased() -> None:
        with session.lease(message={"role": "user", "content": "2 + 2?"}) as lease:
            lease.renew()
            session.add_response(openai_response("4"), prompt=session.assemble(), lease=lease)

    def breaks() -> None:
        embedder.break_with("raise", times=1)
        embedder.mend()

    other = user.session("t", model="gpt-4o")
    other.add({"role": "user", "content": "hi"})
    provider, prompt = FakeProvider(["ok"]), other.assemble()
    return {
        "recall": lambda: user.recall("tea"),
        "reembed": lambda: engine.reembed(embedder),
        "lease": leased,
        "clock": lambda: clock.advance(seconds=1),
        "embedder": breaks,
        "provider": lambda: provider.complete(prompt),
    }


@pytest.mark.parametrize("name", ["recall", "reembed", "lease", "clock", "embedder", "provider"])
@pytest.mark.parametrize("raises", [True, False])
def test_a_handler_leaves_no_lock_and_waits_for_none(store: Path, name: str, raises: bool) -> None:
    """A call hung for ever behind Ctrl-C in a notebook, and one whose handler saved something did in the handler."""
    clock, embedder = FakeClock(), FakeEmbedder(16)
    with memspan.open(store, embedder=embedder, clock=clock, durability="relaxed") as engine:
        user = engine.user("u")
        user.remember("Prefers tea")
        call = works(engine, embedder, clock)[name]
        call()
        handled: list[bool] = []

        def handle() -> None:
            if raises:
                interrupt()
            user.recall("tea")
            clock.advance(seconds=1)
            embedder.mend()
            handled.append(True)

        def all_places() -> None:
            places.append(at_each_place(call, handle, 60 if name in {"lease", "reembed"} else 400))

        places: list[int] = []
        assert in_time(all_places), "a handler waits for what it interrupted"
        assert places[0] > 0
        assert raises or len(handled) == places[0]
        embedder.mend()
        assert free(engine._store._lock, clock._lock, embedder._lock)
        assert in_time(lambda: user.recall("tea"))
        assert in_time(call)


class Interrupted:
    """A session's core, in whose call the handler of a signal runs when the reply is stored."""

    def __init__(self, core: Any, handle: Callable[[], object]) -> None:
        self.core, self.handle = core, handle

    def __getattr__(self, name: str) -> Any:
        return getattr(self.core, name)

    def add_response(self, *given: Any) -> Any:
        replied = self.core.add_response(*given)
        self.handle()
        return replied


def test_a_lease_that_a_handler_renews_while_its_reply_is_added_ends_with_the_reply(store: Path) -> None:
    with memspan.open(store, durability="relaxed") as engine:
        session = engine.user("u").session("s", model="gpt-4o")
        with session.lease(message={"role": "user", "content": "2 + 2?"}) as lease:
            lease._core = Interrupted(lease._core, lease.renew)  # type: ignore[assignment]
            session.add_response(openai_response("4"), prompt=session.assemble(), lease=lease)
            assert not lease.held
            with session.lease(wait_seconds=0) as other:  # one that nobody gives back would be waited for
                assert other.held


@pytest.mark.parametrize("pause", [None, 5.0])
def test_a_latch_stands_interrupts(pause: float | None) -> None:
    latch = Latch()
    threads = [threading.Thread(target=latch.wait, args=(30,), daemon=True) for _ in range(5)]
    for thread in threads:
        thread.start()
    at_each_place(partial(latch.wait, 0.001), interrupt)
    at_each_place(latch.open, interrupt)
    for thread in threads:
        thread.join(5)
    assert not any(thread.is_alive() for thread in threads)
    assert latch.wait(pause)


def test_a_latch_that_is_woken_is_not_open() -> None:
    latch = Latch()
    latch.wake(None)
    assert not latch.wait(30)
    assert not latch.wait(0.01)
    assert not latch.wait(-1)


def maintaining() -> int:
    return sum(thread.name == "memspan-maintenance" for thread in threading.enumerate())


def ends(seconds: float = 5.0) -> bool:
    pause = threading.Event()
    for _ in range(int(seconds * 100)):
        if not maintaining():
            return True
        pause.wait(0.01)
    return False


def test_an_interrupted_block_leaves_no_thread_that_maintains(store: Path) -> None:
    """The thread went on for ever, with the engine, where Ctrl-C came while the block was entered or left."""
    with memspan.open(store, durability="relaxed") as engine:
        with engine.maintenance(every=3600) as running:
            running.wait_for_report(30)
        del running

        def block() -> None:
            with engine.maintenance(every=3600):
                pass

        before = threading.excepthook
        threading.excepthook = lambda _: None
        try:
            assert at_each_place(block, interrupt) > 30
        finally:
            threading.excepthook = before
        gc.collect()
        assert ends()


def test_the_thread_that_maintains_ends_with_the_engine(store: Path) -> None:
    engine = memspan.open(store, durability="relaxed")
    running = engine.maintenance(every=3600)
    running.__enter__()
    running.wait_for_report(30)
    assert maintaining() == 1
    engine.close()
    assert ends()
    running.__exit__(None, None, None)
