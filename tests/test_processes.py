"""Processes, threads and forks on one store: everything that was acknowledged is there, once, for everybody."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

import memspan
from memspan.testing import FakeEmbedder

if TYPE_CHECKING:
    from pathlib import Path

WRITER = """
import memspan, sys
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with memspan.open(path) as engine:
    user = engine.user("u")
    for number in range(count):
        assert user.remember(f"{name} fact {number}", id=f"{name}-{number}").action == "added"
        assert user.recall(f"{name} fact {number}", limit=1)[0].memory.id == f"{name}-{number}"
"""


def test_two_processes_write_and_read_at_once(store: Path) -> None:
    with memspan.open(store) as engine:
        writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(store), name, "60"]) for name in ("left", "right")]
        seen = 0
        while any(writer.poll() is None for writer in writers):
            now = len(list(engine.user("u").memories()))
            assert now >= seen
            seen = now
        assert [writer.wait() for writer in writers] == [0, 0]
        memories = list(engine.user("u").memories())
        assert sorted(memory.id for memory in memories) == sorted(f"{name}-{number}" for name in ("left", "right") for number in range(60))
        assert [memory.sequence for memory in sorted(memories, key=lambda one: one.sequence)] == list(range(1, 121))


def test_what_one_process_writes_the_next_read_of_another_sees(store: Path) -> None:
    with memspan.open(store) as engine:
        user = engine.user("u")
        for number in range(5):
            code = f"import memspan; memspan.open({str(store)!r}).user('u').remember('fact {number}')"
            subprocess.run([sys.executable, "-c", code], check=True)
            assert len(user.recall(f"fact {number}", limit=1)) == 1


def test_a_lock_that_is_held_is_store_busy_and_names_its_holder(store: Path) -> None:
    with memspan.open(store, busy_timeout_seconds=0.2) as engine:
        user = engine.user("u")
        user.remember("Prefers tea")
        code = f"""
import fcntl, os, sys
file = open({str(store / "lock")!r}, "r+b")
fcntl.flock(file, fcntl.LOCK_EX)
file.write(os.getpid().to_bytes(4, "little")); file.flush()
print("held", flush=True)
sys.stdin.read()
"""
        holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        started = time.monotonic()
        with pytest.raises(memspan.StoreBusy) as caught:
            user.remember("Prefers coffee")
        assert 0.15 < time.monotonic() - started < 5
        assert caught.value.fields["holder"] == holder.pid
        assert isinstance(caught.value, TimeoutError)
        assert user.recall("tea")[0].memory.text == "Prefers tea"  # reading needs no lock
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()
        assert user.remember("Prefers coffee").action == "added"
        assert engine.metrics()["writes_timed_out"] == 1


def test_writes_that_change_nothing_are_not_counted(store: Path) -> None:
    with memspan.open(store) as engine:
        user = engine.user("u")
        session = user.session("s-1", model="gpt-4o")
        session.add({"role": "user", "content": "hello"})
        user.remember("Prefers tea", id="drink")
        before = engine.metrics()
        for _ in range(3):
            assert user.remember("Prefers tea", id="drink").action == "duplicate"
            with pytest.raises(memspan.IdConflict):
                user.remember("Prefers coffee", id="drink")
            assert session.cancel_tool_calls(reason="no call waits") == ()
        after = engine.metrics()
        assert (after["writes"], after["commits"]) == (before["writes"], before["commits"])
        session.end()
        with pytest.raises(memspan.StateError):
            session.cancel_tool_calls(reason="the session is over")


def test_the_lock_is_not_held_between_writes(store: Path) -> None:
    with memspan.open(store) as engine:
        engine.user("u").remember("Prefers tea")
        with (store / "lock").open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_eight_threads_write_and_read(store: Path) -> None:
    with memspan.open(store, embedder=FakeEmbedder(16)) as engine:

        def work(thread: int) -> None:
            user = engine.user(f"u-{thread % 3}")
            for number in range(40):
                user.remember(f"thread {thread} fact {number}")
                assert user.recall(f"thread {thread} fact {number}", limit=1)
                assert user.slots.get("none") is None

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        metrics = engine.metrics()
        assert (metrics["memories"], metrics["vectors"], metrics["writes"]) == (320, 320, 320)
        assert metrics["commits"] <= 320


def test_writers_of_many_threads_share_commits(store: Path) -> None:
    with memspan.open(store) as engine:
        barrier = threading.Barrier(16)

        def work(thread: int) -> None:
            barrier.wait()
            for number in range(20):
                engine.user("u").remember(f"thread {thread} fact {number}")

        with ThreadPoolExecutor(16) as pool:
            list(pool.map(work, range(16)))
        metrics = engine.metrics()
        assert (metrics["memories"], metrics["writes"]) == (320, 320)
        assert metrics["commits"] < 320


@pytest.mark.parametrize("embedder", [None, FakeEmbedder(16)])
def test_both_sides_of_a_fork_go_on(store: Path, embedder: FakeEmbedder | None) -> None:
    with memspan.open(store, embedder=embedder) as engine:
        user = engine.user("u")
        user.remember("before the fork")
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                for number in range(20):
                    user.remember(f"child {number}")
                code = 0 if len(user.recall("before the fork")) >= 1 else 2
            finally:
                os._exit(code)
        for number in range(20):
            user.remember(f"parent {number}")
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        texts = {memory.text for memory in user.memories()}
        assert texts == {"before the fork"} | {f"{side} {number}" for side in ("child", "parent") for number in range(20)}


def test_forking_while_threads_write(store: Path) -> None:
    with memspan.open(store) as engine:
        user = engine.user("u")
        stop = threading.Event()
        written = [0] * 3

        def write(thread: int) -> None:
            while not stop.is_set():
                user.remember(f"thread {thread} fact {written[thread]}")
                written[thread] += 1

        threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        children = []
        for child in range(5):
            time.sleep(0.02)
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    user.remember(f"child {child}")
                    code = 0
                finally:
                    os._exit(code)
            children.append(pid)
        codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
        stop.set()
        for thread in threads:
            thread.join()
        assert codes == [0] * 5
        texts = [memory.text for memory in user.memories()]
        assert len(texts) == len(set(texts)) == sum(written) + 5


# A file of its own: a worker that is spawned imports the function that it runs.
WORKERS = """
import multiprocessing, sys
import memspan

def work(path, number):
    with memspan.open(path) as engine:
        return engine.user("u").remember(f"worker {number}").action

def fail(path):
    memspan.open(path, read_only=True)

if __name__ == "__main__":
    path, method = sys.argv[1:]
    context = multiprocessing.get_context(method)
    with context.Pool(1) as pool:
        try:
            pool.apply(fail, (path,))
        except memspan.NotFound as error:
            assert "there is none" in str(error)
        else:
            raise AssertionError("the worker's error was lost")
    with memspan.open(path) as engine:
        engine.user("u").remember("parent")
        with context.Pool(2) as pool:
            assert pool.starmap(work, [(path, number) for number in range(6)]) == ["added"] * 6
        assert len(list(engine.user("u").memories())) == 7
"""


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_worker_processes(store: Path, tmp_path: Path, method: str) -> None:
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    done = subprocess.run([sys.executable, str(script), str(store), method], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_compacting_under_another_process_moves_it_over(store: Path) -> None:
    with memspan.open(store) as engine:
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(store), "other", "80"])
        rounds = 0
        while writer.poll() is None:
            engine.maintain(compact=True)
            rounds += 1
            time.sleep(0.02)  # back to back, compactions would keep the writer lock nearly all the time
        assert writer.wait() == 0
        assert rounds >= 1
        assert {memory.id for memory in engine.user("u").memories()} == {f"other-{number}" for number in range(80)}
        assert len(list(store.glob("gen-*"))) <= 2


def test_a_fork_does_not_wait_for_a_compaction(store: Path) -> None:
    """A fork holds the interpreter, and with it every thread: a compaction of a gigabyte must not keep it."""
    with memspan.open(store, embedder=None, durability="relaxed") as engine:
        user = engine.user("u")
        for first in range(0, 8_000, 1_000):
            user.remember_many([f"fact {number} " + f"some words of its own {number} " * 180 for number in range(first, first + 1_000)])

        def is_under_way_behind_forks() -> bool:
            ended = threading.Event()

            def compact() -> None:
                engine.maintain(compact=True)
                ended.set()

            thread = threading.Thread(target=compact)
            thread.start()
            for _ in range(3):  # each makes the compaction begin anew
                pid = os.fork()
                if pid == 0:
                    os._exit(0)
                assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
            is_under_way = not ended.is_set()
            thread.join()
            return is_under_way

        # On a busy machine the compaction may be done before the forks have had their turn. Forks that wait are never first.
        assert any(is_under_way_behind_forks() for _ in range(5)), "the forks waited for its end"
        assert len(list(user.memories())) == 8_000
        assert engine.check().sound


def test_an_engine_that_is_never_closed_ends_quietly(store: Path) -> None:
    code = f"""
import memspan, threading
engine = memspan.open({str(store)!r})
user = engine.user("u")
user.remember("Prefers tea")
kept = [user.recall("tea"), user.slots, iter(user.memories())]
threading.Thread(target=lambda: [user.recall("tea") for _ in range(2000)], daemon=True).start()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
