"""Who answers a session: leases alone, with the message they are taken for, with the reply that ends them; holders that die, hang, lie."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import TYPE_CHECKING

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
        session.lease(seconds=600).__enter__()
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
