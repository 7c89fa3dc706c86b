"""Forks of a process whose threads are at work: what one of them holds at that moment is nobody's in the child."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan._forks import Lock
from memspan.testing import FakeClock, FakeEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a fork, and a folder of a process's open files")


def in_background(work: Callable[[], object]) -> int:
    """The process id of a forked child that does the work. It ends with 0, with 3 where that fails, after 20 seconds by a signal."""
    pid = os.fork()
    if pid == 0:
        code = 3
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(20)
            work()
            code = 0
        finally:
            os._exit(code)
    return pid


def in_child(work: Callable[[], object]) -> int:
    """The same; how it ended."""
    return os.waitstatus_to_exitcode(os.waitpid(in_background(work), 0)[1])


@pytest.fixture
def held() -> Iterator[Callable[[Any], None]]:
    """Has a lock held by another thread until the test is over."""
    over = threading.Event()
    threads: list[threading.Thread] = []

    def hold(lock: Any) -> None:
        has = threading.Event()

        def run() -> None:
            with lock:
                has.set()
                over.wait(50)

        threads.append(threading.Thread(target=run))
        threads[-1].start()
        assert has.wait(10)

    yield hold
    over.set()
    for thread in threads:
        thread.join()


def test_a_child_asks_an_embedder_that_a_thread_of_the_parent_was_about_to_ask(store: Path, held: Callable[[Any], None]) -> None:
    """It waited for ever for the lock of a thread that it does not have."""
    clock, embedder = FakeClock(), FakeEmbedder(16)
    with memspan.open(store, embedder=embedder, embed_timeout_seconds=9, clock=clock) as engine:
        user = engine.user("u")
        user.remember("Prefers tea")
        for lock in (engine._store._lock, memspan._patience._lock, clock._lock, embedder._lock):
            held(lock)

        def work() -> None:
            assert not user.recall("what do I drink?").degraded

        assert in_child(work) == 0


def test_the_forking_thread_keeps_its_own_lock(held: Callable[[Any], None]) -> None:
    own, other = Lock(), Lock()
    held(other)

    def work() -> None:
        assert not other._lock.locked()
        assert own._lock.locked()
        own.__exit__(None, None, None)
        with own, other:
            assert own._lock.locked()

    with own:
        assert in_child(work) == 0
        assert own._lock.locked()
        assert other._lock.locked()
    assert not own._lock.locked()


def test_a_child_makes_a_cache_that_a_thread_of_the_parent_was_making() -> None:
    from memspan.providers.gemini_caches import Caches

    begun, over = threading.Event(), threading.Event()
    request = {"model": "m", "config": {"system_instruction": "long"}, "contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
    prompt: Any = SimpleNamespace(session_id="s", counted_tokens=9_000)

    def create(**_: Any) -> SimpleNamespace:
        begun.set()
        over.wait(50)
        return SimpleNamespace(name="caches/1")

    caches = Caches(600, 1)
    thread = threading.Thread(target=caches.request, args=(SimpleNamespace(create=create), prompt, request))
    thread.start()
    assert begun.wait(10)
    api = SimpleNamespace(create=lambda **_: SimpleNamespace(name="caches/2"))
    assert caches.request(api, prompt, request) is request, "the control: one makes it, the others go without"

    def work() -> None:
        assert caches.request(api, prompt, request)["config"]["cached_content"] == "caches/2"

    ended = in_child(work)
    over.set()
    thread.join()
    assert ended == 0
    assert caches.request(api, prompt, request)["config"]["cached_content"] == "caches/1"
