"""Who answers a session: leases alone, with the message they are taken for, with the reply that ends them; holders that die, hang, lie."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

import pytest

import memspan
from memspan import lease as leases
from memspan.testing import FakeProvider, openai_response, openai_stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HI = {"role": "user", "content": "hi"}
HOLDER = """
    import sys, time, memspan
    with memspan.open(sys.argv[1], embedder=None) as engine:
        session = engine.user("u").session("s", model="gpt-4o")
        lease = session.lease(seconds=600)
        lease.__enter__()
        print("held", flush=True)
        time.sleep(60)
"""


def test_it_is_taken_with_the_message_and_ends_with_the_reply(user: memspan.Scope) -> None:
    session = user.session("s", model="gpt-4o")
    with session.lease(message=HI, id="w-1") as lease:
        assert lease.added == memspan.Added(0, 5, "added", 0)
        with pytest.raises(memspan.StoreBusy), session.lease(wait_seconds=0, message=HI):
            pass
        assert len(session.messages) == 1, "whoever does not get the lease adds nothing"
        call = openai_response(tool_calls=[("a", "f", {})])
        session.add_response(call, prompt=session.assemble(), lease=lease)
        held = lease.held
        assert held, "a tool is still to be run"
        session.add({"role": "tool", "tool_call_id": "a", "content": "done"})
        session.add_response(openai_response("bye"), prompt=session.assemble(), lease=lease)
        assert not lease.held
        with session.lease(wait_seconds=0, message=HI) as other:
            assert other.added is not None
            assert (other.added.index, other.held) == (4, True)
    with session.lease(wait_seconds=0):
        pass


def test_a_streamed_reply_ends_it(user: memspan.Scope) -> None:
    session = user.session("s", model="gpt-4o")
    with session.lease(message=HI) as lease, session.reply(session.assemble(), lease=lease) as reply:
        for chunk in openai_stream("It is 4."):
            reply.feed(chunk)
    assert not lease.held
    assert reply.turn is not None


def test_what_fails_leaves_neither_message_nor_lease(user: memspan.Scope) -> None:
    session = user.session("s", model="gpt-4o")
    session.add(HI, id="w-1")
    for message, error in (({**HI, "content": "ho"}, memspan.IdConflict), ({"role": "oracle"}, memspan.InvalidInput)):
        with pytest.raises(error), session.lease(message=message, id="w-1"):
            pass
    with session.lease(wait_seconds=0, message=HI, id="w-1") as lease:
        assert lease.added is not None
        assert lease.added.action == "duplicate"
    session.end()
    with pytest.raises(memspan.Closed, match="ended"), session.lease(message=HI):
        pass
    assert len(session.messages) == 1


def test_a_reply_by_anothers_lease_leaves_it(user: memspan.Scope) -> None:
    session = user.session("s", model="gpt-4o")
    session.add(HI)
    prompt = session.assemble()
    own, other = session.lease(seconds=600), session.lease(wait_seconds=0)
    with own:
        session.add_response(openai_response("bye"), prompt=prompt, lease=other)
        assert own.held
        with pytest.raises(memspan.StoreBusy), other:
            pass


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux says when a process began")
def test_a_killed_holder_is_seen_to_be_dead(tmp_path: Path) -> None:
    """A killed worker's lease kept every other waiting until its time was over, ten minutes here."""
    path = tmp_path / "store"
    holder = subprocess.Popen([sys.executable, "-c", textwrap.dedent(HOLDER), str(path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with memspan.open(path, embedder=None) as engine:
        session = engine.user("u").session("s")
        with pytest.raises(memspan.StoreBusy) as raised, session.lease(wait_seconds=0, message=HI):
            pass
        assert str(holder.pid) in str(raised.value.fields["holder"])
        holder.send_signal(signal.SIGSTOP)  # it hangs, and is no dead one
        with pytest.raises(memspan.StoreBusy), session.lease(wait_seconds=0.1):
            pass
        holder.send_signal(signal.SIGCONT)
        holder.kill()
        time.sleep(0.2)  # it waits to be buried
        with session.lease(wait_seconds=0, message=HI) as lease:
            assert lease.held
        holder.wait()
        holder.stdout.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux says when a process began")
def test_only_who_can_be_looked_at_is_dead() -> None:
    own = leases._name_of_a_holder()
    host, pid, process, _ = own.split("/")
    place, _, started = process.rpartition(".")
    assert (pid, leases._is_dead(own)) == (str(os.getpid()), False)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    dead = [f"{host}/{pid}/{place}.{int(started) - 1}/x", f"{host}/{gone.pid}/{place}.{started}/x"]
    alive = [
        f"{host}/1/{place}.{leases._started(1)}/x",
        f"{host}/{gone.pid}/elsewhere.7.{started}/x",
        f"{host}/{gone.pid}/unknown/x",
        f"{host}/{gone.pid}/0123456789abcdef",
        f"{host}/{10**40}/{place}.{started}/x",
        "",
        "////",
        "worker-1",
    ]
    assert [leases._is_dead(holder) for holder in dead] == [True, True]
    assert [leases._is_dead(holder) for holder in alive] == [False] * len(alive)


def test_two_waiters_of_one_dead_holder_are_one_at_a_time(user: memspan.Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both see that it is dead; the claim names whom it takes the lease from, and only one finds that one there."""
    session = user.session("s", model="gpt-4o")
    dead = session.lease(seconds=600).__enter__()
    monkeypatch.setattr(leases, "_is_dead", lambda holder: holder == dead._holder)
    taken: list[memspan.lease.Lease] = []
    both = threading.Barrier(2)

    def wait() -> None:
        both.wait()
        try:
            with session.lease(wait_seconds=0) as lease:
                taken.append(lease)
                time.sleep(0.3)
        except memspan.StoreBusy:
            pass

    threads = [threading.Thread(target=wait) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 1


def test_a_turn_costs_no_transaction_beside_its_two(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "store", embedder=None) as engine:
        assistant = memspan.Assistant(engine, FakeProvider(["4"]), model="gpt-4o", learn=False, compact=False)
        assistant.respond("u", "2 + 2?")
        session = engine.user("u").session("default")

        def commits(turn: Callable[[], object]) -> int:
            before = engine.metrics()["commits"]
            turn()
            return engine.metrics()["commits"] - before

        def by_hand() -> None:
            session.add({"role": "user", "content": "and 3 + 3?"})
            session.add_response(openai_response("6", id="r-1"), prompt=session.assemble())

        assert commits(lambda: assistant.respond("u", "and 4 + 4?")) == commits(by_hand) == 2


class Interrupts:
    """A session's core, whose calls about the lease are done, and then interrupted: a signal came before Python could look."""

    def __init__(self, core: Any, *calls: str) -> None:
        self.core, self.calls = core, list(calls)

    def __getattr__(self, name: str) -> Any:
        call = getattr(self.core, name)

        def interrupted(*args: Any) -> Any:
            done = call(*args)
            if name in self.calls:
                self.calls.remove(name)
                raise KeyboardInterrupt
            return done

        return interrupted if callable(call) else call


def interrupt(lease: memspan.Lease, *calls: str) -> None:
    lease._core = cast("Any", Interrupts(lease._core, *calls))


@pytest.mark.parametrize("message", [None, HI])
def test_an_interrupted_entry_leaves_no_lease(user: memspan.Scope, message: dict[str, str] | None) -> None:
    session = user.session("s", model="gpt-4o")
    lease = session.lease(message=message)
    interrupt(lease, "take_lease", "add_leased")
    with pytest.raises(KeyboardInterrupt), lease:
        pytest.fail("it was interrupted")
    with session.lease(wait_seconds=0):
        assert (lease.held, len(session.messages)) == (False, 0 if message is None else 1)


def test_an_interrupted_end_gives_it_back(user: memspan.Scope) -> None:
    session = user.session("s", model="gpt-4o")
    lease = session.lease()
    with pytest.raises(KeyboardInterrupt), lease:
        lease._core = cast("Any", Unreleased(lease._core))
    with session.lease(wait_seconds=0):
        assert not lease.held
    lost = session.lease()
    lost.__enter__()
    del lost  # as where a signal comes before the first line of __exit__
    with session.lease(wait_seconds=0):
        pass


class Unreleased(Interrupts):
    """The first call that gives it back is interrupted before anything is done."""

    def release_lease(self, holder: str) -> object:
        if not self.calls:
            self.calls.append("")
            raise KeyboardInterrupt
        return self.core.release_lease(holder)


def test_a_lease_is_entered_once_at_a_time(user: memspan.Scope) -> None:
    session = user.session("s", model="gpt-4o")
    lease = session.lease()
    with lease:
        with pytest.raises(memspan.InvalidInput, match="once at a time"), lease:
            pass
        assert lease.held, "the end of the other block did not end it"
        with pytest.raises(memspan.StoreBusy), session.lease(wait_seconds=0):
            pass
    with lease:
        assert lease.held


class Held(Interrupts):
    """A core whose calls that take the lease wait for the test, before or after they are done."""

    def __init__(self, core: Any, *, after: bool) -> None:
        super().__init__(core)
        self.after, self.begun, self.may, self.released = after, threading.Event(), threading.Event(), threading.Event()

    def take_lease(self, *args: Any) -> object:
        done = self.core.take_lease(*args) if self.after else None
        self.begun.set()
        assert self.may.wait(20)
        return done if self.after else self.core.take_lease(*args)

    def release_lease(self, holder: str) -> object:
        done = self.core.release_lease(holder)
        self.released.set()
        return done


@pytest.mark.parametrize("after", [False, True])
def test_a_cancelled_entry_leaves_no_lease(user: memspan.Scope, after: bool) -> None:
    session = user.session("s", model="gpt-4o")
    lease = session.lease()
    core = Held(lease._core, after=after)
    lease._core = cast("Any", core)

    async def entering() -> None:
        async with lease:
            pytest.fail("it was cancelled")

    async def life() -> None:
        task = asyncio.ensure_future(entering())
        await asyncio.to_thread(core.begun.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task  # which does not wait for the thread
        core.may.set()

    asyncio.run(life())
    assert core.released.wait(20)
    with session.lease(wait_seconds=0):
        assert not lease.held


def test_a_cancelled_end_is_waited_for_and_takes_no_thread_of_the_pool(user: memspan.Scope) -> None:
    session = user.session("s", model="gpt-4o")
    session.add(HI)
    free = threading.Event()

    async def worker(entered: asyncio.Event) -> None:
        async with session.lease(), session.reply(session.assemble()) as reply:
            for chunk in openai_stream("It is 4.")[:3]:
                reply.feed(chunk)
            entered.set()
            await asyncio.Event().wait()

    async def life() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        entered = asyncio.Event()
        task = asyncio.ensure_future(worker(entered))
        await entered.wait()
        blocked = asyncio.ensure_future(asyncio.to_thread(free.wait, 20))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with session.lease(wait_seconds=0):
            assert session.partial_reply is not None
        free.set()
        await blocked

    asyncio.run(life())


def test_an_ended_lease_is_not_renewed(user: memspan.Scope) -> None:
    """A thread that renewed behind the reply took the lease again, and nobody gave it back."""
    session = user.session("s", "gpt-4o")
    with session.lease(seconds=60, message={"role": "user", "content": "2 + 2?"}) as lease:
        lease.renew(seconds=90)
        session.add_response(memspan.testing.openai_response("4"), prompt=session.assemble(), lease=lease)
        for _ in range(2):
            with pytest.raises(memspan.StateError, match="it must be held"):
                lease.renew()
    with pytest.raises(memspan.StateError, match="it must be held"):
        lease.renew()
    with session.lease(seconds=1, wait_seconds=0) as other:
        assert other.held
