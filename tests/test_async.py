"""The awaitable twins: the same call, the same answer, and a loop that goes on meanwhile."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING

import pytest

import memspan
from memspan.testing import FakeClock, FakeEmbedder, openai_response

if TYPE_CHECKING:
    from pathlib import Path

WAITING = {
    memspan.Scope: [
        *["remember", "remember_many", "revise", "recall", "get", "history", "memories", "forget", "forget_stale", "export"],
        *["session", "open_session", "sessions", "collections", "search_transcripts", "search", "forget_from", "learn", "quarantined"],
        *["approve", "reject", "consolidate", "profile", "relate", "neighbors", "paths", "call_tool", "erase", "summaries"],
    ],
    memspan.Collection: ["add", "add_many", "add_path", "note", "search", "get", "documents", "delete", "expire", "delete_all"],
    memspan.Session: [
        *["turn", "add", "add_many", "add_response", "assemble", "rewind", "redact", "delete", "fork", "end", "tool_result"],
        *["cancel_tool_calls", "plan_switch", "switch_model", "recover", "answer", "keep_partial_reply", "drop_partial_reply", "usage"],
        *["compact", "brief", "note", "remove_note"],
    ],
    memspan.Task: ["set", "get", "update", "remove", "items", "clear"],
    memspan.Engine: [
        *["users", "scopes", "remember_many", "backup", "maintain", "reembed", "check", "metrics", "close", "export", "load", "rekey"],
    ],
    memspan.long_term.Slots: ["declare"],
}


@pytest.mark.parametrize(("owner", "name"), [(owner, name) for owner, names in WAITING.items() for name in names])
def test_every_call_that_waits_has_a_twin_with_its_signature(owner: type, name: str) -> None:
    plain, twin = getattr(owner, name), getattr(owner, f"a{name}")
    assert inspect.signature(twin) == inspect.signature(plain)
    assert (twin.__name__, twin.__qualname__) == (f"a{name}", f"{owner.__name__}.a{name}")
    assert f"`{name}`" in twin.__doc__
    assert inspect.iscoroutinefunction(twin) or inspect.isasyncgenfunction(twin)


def test_nothing_public_that_waits_was_forgotten() -> None:
    instant = {"user", "shared", "path", "closed", "id", "tenant", "type", "slots", "name"}
    # Reads of a few microseconds: properties of a session, and handles that read when they are used.
    instant |= {"scope", "model", "ended", "created_at", "epoch", "messages", "turns", "pending_tool_calls", "task"}
    instant |= {"partial_reply", "lease", "reply", "summary", "compaction_due", "notes"}
    instant |= {"maintenance"}  # a context manager that works in its own thread
    instant |= {"encrypted", "versions", "budget"}
    instant |= {"last_added_at", "system", "tools", "metadata"}
    instant |= {"collection", "chunks", "token_factors"}
    for owner in (memspan.Scope, memspan.Engine, memspan.Session, memspan.Task, memspan.Collection):
        names = set(dir(owner))
        plain = {name for name in names if not name.startswith("_") and f"a{name}" not in names}
        assert {name for name in plain if not (name.startswith("a") and name[1:] in WAITING[owner])} == instant & names


def test_a_whole_life(store: Path, tmp_path: Path) -> None:
    async def life() -> None:
        clock = FakeClock()
        async with await memspan.aopen(store, clock=clock, embedder=FakeEmbedder(16)) as engine:
            user = engine.user("u")
            memory = (await user.aremember("Prefers tea", "preference", slot="drink")).memory
            assert [one.action for one in await user.aremember_many(["One", "Two"])] == ["added", "added"]
            assert (await user.arecall("tea", limit=1))[0].memory == memory == await user.aget(memory.id)
            revised = (await user.arevise(memory.id, "Prefers coffee")).memory
            assert await user.ahistory(memory.id) == user.history(memory.id)
            assert [one.text async for one in user.amemories()] == ["Prefers coffee", "One", "Two"]
            await user.slots.adeclare("allergy", multi=True)
            assert await user.aexport(tmp_path / "x.jsonl") == 3
            assert await user.aforget(revised.id) is True
            assert await user.aforget_stale(dry_run=True) == ()
            assert (await engine.aremember_many([{"scope": engine.shared("acme"), "text": "x"}])).added == 1
            assert [scope.id async for scope in engine.ausers()] == ["u"]
            assert len([scope async for scope in engine.ascopes()]) == 2
            assert (await engine.amaintain()).expired == 0
            assert (await engine.ametrics())["memories"] == 3
            await engine.abackup(tmp_path / "copy")
        assert engine.closed
        with pytest.raises(memspan.Closed):
            await user.arecall("tea")

    asyncio.run(life())


def test_a_session_from_a_loop(store: Path) -> None:
    async def life() -> None:
        async with await memspan.aopen(store, clock=FakeClock(), embedder=FakeEmbedder(16)) as engine:
            user = engine.user("u")
            session = await user.asession("s-1", model="gpt-4o")
            await session.aadd({"role": "user", "content": "deploy payments-api"})
            prompt = await session.aassemble()
            assert (await session.aadd_response(openai_response(tool_calls=[("c-1", "deploy", {})]), prompt=prompt)).number == 0
            assert await session.acancel_tool_calls(reason="stop") == ("c-1",)
            async with session.task("review") as task:
                await task.aset("plan", 1)
                assert await task.aupdate("plan", lambda value: value + 1) == 2
                assert await task.aitems() == (("plan", 2),)
            assert await task.aget("plan") is None
            fork = await session.afork("s-2")
            assert (await fork.aswitch_model("gpt-4")).to_model == "gpt-4"
            assert [one.id async for one in user.asessions()] == ["s-1", "s-2"]
            assert [hit.index for hit in await user.asearch_transcripts("payments-api", limit=1)] == [0]
            await fork.arewind(1)
            await fork.aend()
            await session.adelete()
            assert [one.id async for one in user.asessions()] == ["s-2"]

    asyncio.run(life())


def test_many_writes_at_once_share_commits(store: Path) -> None:
    async def write() -> None:
        async with await memspan.aopen(store) as engine:
            user = engine.user("u")
            await asyncio.gather(*(user.aremember(f"fact {number}") for number in range(200)))
            metrics = await engine.ametrics()
            assert (metrics["memories"], metrics["writes"]) == (200, 200)
            assert metrics["commits"] < 200

    asyncio.run(write())


def test_the_loop_goes_on_while_an_embedder_hangs(store: Path) -> None:
    async def life() -> None:
        embedder = FakeEmbedder(16)
        async with await memspan.aopen(store, embedder=embedder) as engine:
            embedder.break_with("hang")
            waiting = asyncio.create_task(engine.user("u").aremember("Prefers tea"))
            await asyncio.sleep(0.05)
            assert not waiting.done()
            embedder.mend()
            assert (await waiting).action == "added"

    asyncio.run(life())


def test_cancelling_does_not_undo(store: Path) -> None:
    async def life() -> None:
        embedder = FakeEmbedder(16)
        async with await memspan.aopen(store, embedder=embedder) as engine:
            user = engine.user("u")
            embedder.break_with("hang")
            waiting = asyncio.create_task(user.aremember("Prefers tea"))
            await asyncio.sleep(0.05)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            embedder.mend()
            while engine.metrics()["memories"] == 0:  # noqa: ASYNC110  the thread that writes sets no event
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(life(), 10))
