"""Forks of a process whose threads are at work: what one of them holds at that moment is nobody's in the child."""

from __future__ import annotations

import fcntl
import importlib
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan._forks import Lock
from memspan.testing import FakeClock, FakeEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def is_free(lock: Lock) -> bool:
    """Whether another thread can take it."""

    def taken() -> bool:
        free = lock.native.acquire(blocking=False)
        if free:
            lock.native.release()
        return free

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(taken).result()


def test_a_child_asks_an_embedder_that_a_thread_of_the_parent_was_about_to_ask(store: Path, held: Callable[[Any], None]) -> None:
    """It waited for ever for the lock of a thread that it does not have."""
    clock, embedder = FakeClock(), FakeEmbedder(16)
    with memspan.open(store, embedder=embedder, embed_timeout_seconds=9, clock=clock) as engine:
        user = engine.user("u")
        user.remember("Prefers tea")
        for lock in (engine._store._lock, clock._lock, embedder._lock):
            held(lock.native)

        def work() -> None:
            assert not user.recall("what do I drink?").degraded

        assert in_child(work) == 0


def test_the_forking_thread_keeps_its_own_lock(held: Callable[[Any], None]) -> None:
    own, other = Lock(), Lock()
    held(other.native)

    def work() -> None:
        assert is_free(other)
        assert not is_free(own)
        own.native.release()
        assert is_free(own)
        with own.native, other.native:
            assert not is_free(own)

    with own.native:
        assert in_child(work) == 0
        assert not is_free(own)
        assert not is_free(other)
    assert is_free(own)


def test_a_child_makes_a_cache_that_a_thread_of_the_parent_was_making() -> None:
    from memspan.providers.gemini_caches import Caches

    begun, over = threading.Event(), threading.Event()
    request = {"model": "m", "config": {"system_instruction": "long"}, "contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
    prompt: Any = SimpleNamespace(cache_key="s", counted_tokens=9_000)

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


def test_maintenance_goes_on_beside_a_child_that_was_forked_during_it(store: Path) -> None:
    """The child kept the claim for as long as it lived: `os.close` in the parent does not end a lock that both have."""
    begun, over = threading.Event(), threading.Event()

    def now() -> datetime:
        if threading.current_thread().name == "memspan-maintenance":
            begun.set()
            over.wait(50)
        return datetime.now(UTC)

    with memspan.open(store, embedder=None, clock=now) as engine:
        with engine.maintenance() as running:
            assert begun.wait(10)
            [file] = [int(one.name) for one in Path("/proc/self/fd").iterdir() if is_at(one, store / "maintenance")]

            def work() -> None:
                with pytest.raises(OSError, match="Bad file descriptor"):
                    os.fstat(file)
                running.__exit__(None, None, None)

            ended = in_child(work)
            kept, left = os.pipe()
            child = in_background(lambda: os.read(kept, 1))
            over.set()
            assert ended == 0, "it has nothing of the thread that it does not have"
            assert running.wait_for_report(30).expired == 0
        other = os.open(store / "maintenance", os.O_RDWR)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(other)
        os.write(left, b"x")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        os.close(kept)
        os.close(left)


def test_a_child_imports_what_a_thread_of_the_parent_was_importing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, over = threading.Event(), threading.Event()
    monkeypatch.setattr(memspan, "half_made", (begun, over), raising=False)
    monkeypatch.setattr(memspan, "__path__", [*memspan.__path__, str(tmp_path)])
    lines = ["import memspan", "begun, over = memspan.half_made", "begun.set()", "over.wait(50)", "WHOLE = True"]
    (tmp_path / "half_made_module.py").write_text("\n".join(lines))

    def load() -> None:
        assert importlib.import_module("memspan.half_made_module").WHOLE

    thread = threading.Thread(target=load)
    thread.start()
    assert begun.wait(10)

    def work() -> None:
        over.set()  # the child's own
        load()

    ended = in_child(work)
    over.set()
    thread.join()
    del sys.modules["memspan.half_made_module"], memspan.half_made_module
    assert ended == 0


FIRST = """
import os, sys, threading, memspan
from collections import UserDict

def call(engine, name):
    user = engine.user("u")
    if name == "count":
        memspan.count_tokens("payments api " * 9_000, "gpt-4o")
    elif name == "counter":
        counter.append("payments api " * 9_000)
    elif name == "add":
        user.session("s", model="gpt-4o").add({"role": "user", "content": "payments api " * 500})
    elif name == "remember":
        user.remember("Prefers tea")
    elif name == "times":
        assert [memory.created_at for memory in user.memories()]
    elif name == "mapping":
        memspan.count_tokens([UserDict(role="user", content="tea")], "gpt-4o")
    elif name == "learn":
        user.learn(user.session("s", model="gpt-4o"))

def spin():  # so that a thread that lets go of the interpreter for a moment waits for it
    while not done:
        pass

def first(name, folder):
    engine = memspan.open(folder, busy_timeout_seconds=60)
    if name == "times":
        engine.user("u").remember("Prefers tea")
    for _ in range(2):
        threading.Thread(target=spin, daemon=True).start()
    thread = threading.Thread(target=call, args=(engine, name))
    thread.start()
    children = []
    while thread.is_alive() and len(children) < 20:
        children.append(forked(lambda: call(engine, name)))
    thread.join()
    done.append(True)
    return children

def forked(work):
    child = os.fork()
    if child == 0:
        code = 3
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return child

def all_end_well(children):
    assert not any(os.waitpid(child, 0)[1] for child in children)

name, folder, rounds = sys.argv[1:]
counter, done = memspan.TokenCounter("gpt-4o"), []
for round_ in range(int(rounds)):  # each in a process that has called nothing yet
    all_end_well([forked(lambda: all_end_well(first(name, folder + str(round_))))])
"""


@pytest.mark.parametrize("name", ["count", "counter", "add", "remember", "times", "mapping", "learn"])
def test_children_make_their_first_calls_while_a_thread_of_the_parent_makes_its_own(name: str, tmp_path: Path) -> None:
    """What a process makes or imports once is half made then. A child waited for ever, where it was made under a lock."""
    rounds = 40 if name in {"remember", "times", "mapping"} else 3
    command = [sys.executable, "-c", FIRST, name, str(tmp_path / "store"), str(rounds)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            said = process.communicate(timeout=40)[1]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            pytest.fail("a child waits for ever")
    assert process.returncode == 0, said


def is_at(link: Path, path: Path) -> bool:
    try:
        return link.resolve() == path.resolve()
    except OSError:
        return False


PROBE = """
import fcntl, struct, sys
with open(sys.argv[1], "r+b") as table:
    found = fcntl.fcntl(table, fcntl.F_GETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, int(sys.argv[2]), 1, 0))
sys.exit(struct.unpack("hhqqi4x", found)[0] == fcntl.F_UNLCK)
"""
"""Ends with 1 where nobody holds the byte of a process in LMDB's reader table: its snapshots would be taken for those of the dead."""


def test_the_snapshots_of_a_parent_are_held_as_of_a_living_process_behind_a_fork(store: Path) -> None:
    with memspan.open(store) as engine:
        user = engine.user("u-42")
        user.remember("Prefers tea")
        table = next(store.glob("gen-*/lock.mdb"))

        def is_held() -> bool:
            assert len(list(user.memories())) == 1  # opens what was closed before the fork
            return subprocess.run([sys.executable, "-c", PROBE, str(table), str(os.getpid())], check=False).returncode == 0

        assert is_held()
        assert in_child(engine.close) == 0
        assert is_held()
        assert in_child(lambda: list(user.memories())) == 0
        assert is_held()


def test_a_fork_waits_for_no_prompt_that_waits_for_it(store: Path) -> None:
    """A look-up of a prompt waited for forks in a read of the store for which the fork waited."""
    ends = threading.Event()
    with memspan.open(store, durability="relaxed") as engine:
        session = engine.user("u").session("s", model="gpt-4o")
        session.add({"role": "user", "content": "Which code has the door?"})

        def assemble() -> None:
            while not ends.is_set():
                session.assemble()

        threads = [threading.Thread(target=assemble, daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            assert [in_child(lambda: None) for _ in range(100)] == [0] * 100
        finally:
            ends.set()
            for thread in threads:
                thread.join(20)
