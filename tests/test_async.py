"""The awaitable twins: the same call, the same answer, and a loop that goes on meanwhile."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import pytest

import memspan
import memspan.providers
from memspan.testing import FakeClock, FakeEmbedder, FakeProvider, openai_response, openai_stream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
    from pathlib import Path

WAITING = {
    memspan.Scope: [
        *["remember", "remember_many", "revise", "recall", "get", "history", "memories", "forget", "forget_stale", "export"],
        *["session", "open_session", "sessions", "collections", "search_transcripts", "search", "forget_from", "learn", "quarantined"],
        *["approve", "reject", "consolidate", "profile", "relate", "relations", "neighbors", "paths", "call_tool", "erase", "summaries"],
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
    instant |= {"scope", "model", "ended", "created_at", "epoch", "messages", "turns", "pending_tool_calls", "task", "tasks"}
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


TURNS = 8
"""More than the threads of the pool in the tests that follow."""


class Waits(memspan.providers.Provider):
    """Lets each of its calls wait for `go`, and counts those that are inside at once."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = 0
        self.go = threading.Event()
        self._lock = threading.Lock()

    def complete(self, prompt: memspan.Prompt, **options: Any) -> Any:
        del options
        with self._lock:
            self.inside += 1
        assert self.go.wait(30)
        return openai_response("done", id=prompt.session_id)

    def stream(self, prompt: memspan.Prompt, **options: Any) -> Iterator[Any]:
        self.complete(prompt, **options)
        yield from openai_stream("done", id=prompt.session_id)

    def __call__(self, messages: list[dict[str, str]], /, *, max_tokens: int) -> str:
        """The same as a writer of summaries."""
        del messages, max_tokens
        with self._lock:
            self.inside += 1
        assert self.go.wait(30)
        return "nothing that is JSON"


class Awaited(Waits):
    """The same in the caller's loop; its plain calls are never made."""

    async def acomplete(self, prompt: memspan.Prompt, **options: Any) -> Any:
        del options
        assert threading.current_thread() is threading.main_thread()
        self.inside += 1
        while not self.go.is_set():  # noqa: ASYNC110  set from anywhere
            await asyncio.sleep(0.01)
        return openai_response("done", id=prompt.session_id)

    async def astream(self, prompt: memspan.Prompt, **options: Any) -> AsyncIterator[Any]:
        await self.acomplete(prompt, **options)
        for chunk in openai_stream("done", id=prompt.session_id):
            yield chunk

    def complete(self, prompt: memspan.Prompt, **options: Any) -> Any:
        raise AssertionError(prompt, options)


async def all_inside(waits: Waits) -> None:
    """Waits until all turns are in their call at once, with one thread in the loop's pool."""
    async with asyncio.timeout(20):
        while waits.inside < TURNS:  # noqa: ASYNC110  threads count it
            await asyncio.sleep(0.01)


def in_a_small_pool(life: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        await life()

    asyncio.run(whole())


@pytest.mark.parametrize("provider", [Waits, Awaited])
@pytest.mark.parametrize("streams", [False, True])
def test_turns_wait_for_their_models_at_once(memspan_engine: memspan.Engine, provider: type[Waits], streams: bool) -> None:
    """They took the threads of the event loop's pool, and so ran six at a time on two cores; calls of the store waited for the models."""
    waits = provider()
    assistant = memspan.Assistant(memspan_engine, waits, model="gpt-4o", learn=False)
    memspan_engine.user("other").remember("Prefers tea")

    async def turn(user: str) -> str:
        if not streams:
            return (await assistant.arespond(user, "hi")).text
        return [event async for event in assistant.astream(user, "hi")][-1].text

    async def life() -> None:
        turns = [asyncio.create_task(turn(f"u-{number}")) for number in range(TURNS)]
        try:
            await all_inside(waits)
            found = await asyncio.wait_for(memspan_engine.user("other").arecall("tea"), 20)
            assert [one.memory.text for one in found] == ["Prefers tea"]
            assert not any(task.done() for task in turns)
        finally:
            waits.go.set()
        assert await asyncio.gather(*turns) == ["done"] * TURNS

    in_a_small_pool(life)


def test_providers_and_writers_wait_outside_of_the_pool(memspan_engine: memspan.Engine) -> None:
    """The awaitable calls of a provider that has plain ones, and calls of the store that ask a model, have threads of their own, too."""
    user = memspan_engine.user("u")
    sessions = [user.session(f"s-{number}", model="gpt-4o") for number in range(TURNS)]
    for session in sessions:
        session.add_many([{"role": "user", "content": f"Build {number} runs on host-{number}."} for number in range(8)])

    async def listened(waits: Waits, session: memspan.Session) -> None:
        assert [chunk async for chunk in waits.astream(session.assemble())]

    calls: list[Callable[[Waits, memspan.Session], Coroutine[Any, Any, Any]]] = [
        lambda waits, session: waits.acomplete(session.assemble()),
        listened,
        lambda waits, session: session.acompact(llm=waits),
    ]

    async def life() -> None:
        for call in calls:
            waits = Waits()  # a writer that waits is asked by one caller at a time, so each compaction has its own
            writers = [Waits() for _ in sessions] if call is calls[-1] else [waits] * TURNS
            for one in writers:
                one.go = waits.go
            tasks = [asyncio.create_task(call(one, session)) for one, session in zip(writers, sessions, strict=True)]
            try:
                async with asyncio.timeout(20):
                    while sum(one.inside for one in {id(one): one for one in writers}.values()) < TURNS:  # noqa: ASYNC110
                        await asyncio.sleep(0.01)
                await asyncio.wait_for(user.aremember("Prefers tea"), 20)
            finally:
                waits.go.set()
            await asyncio.gather(*tasks)

    in_a_small_pool(life)


class Slow(FakeEmbedder):
    """Waits for `go`, and knows how many calls were inside at once."""

    def __init__(self) -> None:
        super().__init__(16)
        self.inside, self.most = 0, 0
        self.go = threading.Event()
        self._counts = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Any:
        with self._counts:
            self.inside += 1
            self.most = max(self.most, self.inside)
        assert self.go.wait(30)
        with self._counts:
            self.inside -= 1
        return super().embed(texts)


def test_calls_that_wait_for_an_embedder_leave_the_pool(
    store: Path, memspan_engine: memspan.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many at once, and the others in their turn. Calls that ask no embedder do not wait for them."""
    monkeypatch.setattr("memspan._twins.MOST_ASKING", 3)
    embedder = Slow()

    async def life() -> None:
        async with await memspan.aopen(store, embedder=embedder, embed_timeout_seconds=None) as engine:
            writing = [asyncio.create_task(engine.user(f"u-{number}").aremember("Prefers tea")) for number in range(TURNS)]
            try:
                async with asyncio.timeout(20):
                    while embedder.inside < 3:  # noqa: ASYNC110  threads count it
                        await asyncio.sleep(0.01)
                assert await asyncio.wait_for(memspan_engine.user("u").arecall("tea"), 20) is not None
                await asyncio.wait_for(engine.user("u").asession("s-1", model="gpt-4o"), 20)
            finally:
                embedder.go.set()
            assert [one.action for one in await asyncio.gather(*writing)] == ["added"] * TURNS
        assert embedder.most == 3

    in_a_small_pool(life)


class Told(Awaited):
    """Says which of its calls ended."""

    def __init__(self) -> None:
        super().__init__()
        self.ended: list[str] = []

    async def acomplete(self, prompt: memspan.Prompt, **options: Any) -> Any:
        try:
            return await super().acomplete(prompt, **options)
        finally:
            self.ended.append("complete")

    async def astream(self, prompt: memspan.Prompt, **options: Any) -> AsyncIterator[Any]:
        del options
        try:
            for number, chunk in enumerate(openai_stream("one two three", id=prompt.session_id)):
                if number == 2:
                    self.inside += 1
                    await asyncio.Event().wait()
                yield chunk
        finally:
            self.ended.append("stream")


def test_a_cancelled_turn_cancels_the_call_that_is_awaited(memspan_engine: memspan.Engine) -> None:
    """The call ends in the caller's loop, the lease is free when the caller is, and the retry asks again."""
    waits = Told()
    assistant = memspan.Assistant(memspan_engine, waits, model="gpt-4o", learn=False)

    async def listen() -> None:
        async for _ in assistant.astream("u", "go", session="streamed", id="w-1"):
            pass

    async def life() -> None:
        for inside, call in enumerate((assistant.arespond("u", "go", session="whole", id="w-1"), listen()), 1):
            task = asyncio.ensure_future(call)
            async with asyncio.timeout(20):
                while waits.inside < inside:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        for name in ("whole", "streamed"):
            with memspan_engine.user("u").session(name).lease(wait_seconds=0):
                pass
        assert waits.ended == ["complete", "stream"]
        partial = memspan_engine.user("u").session("streamed").partial_reply
        assert partial is not None
        assert partial.text.startswith("one")
        waits.go.set()
        assert (await assistant.arespond("u", "go", session="whole", id="w-1")).text == "done"

    asyncio.run(life())


def test_what_is_awaited_fails_over(memspan_engine: memspan.Engine) -> None:
    """Outages of a model that is awaited are those of any other: the next model answers, and a stream that broke is closed before."""
    happened: list[str] = []

    class Broken(memspan.providers.Provider):
        async def acomplete(self, prompt: memspan.Prompt, **options: Any) -> Any:
            del prompt, options
            raise RuntimeError("529 Overloaded")

        async def astream(self, prompt: memspan.Prompt, **options: Any) -> AsyncIterator[Any]:
            del prompt, options
            try:
                yield openai_stream("one two three")[0]
                yield openai_stream("one two three")[1]
                raise RuntimeError("529 Overloaded")
            finally:
                happened.append("closed")

    def answer(_: memspan.Prompt) -> str:
        happened.append("asked")
        return "all is well"

    other = FakeProvider([answer])
    assistant = memspan.Assistant(
        memspan_engine, Broken(), model="gpt-4o", fallbacks=["claude-sonnet-4-5"], providers={"claude-sonnet-4-5": other}
    )

    async def life() -> None:
        assert (await assistant.arespond("u", "go")).text == "all is well"
        happened.clear()
        events = [event async for event in assistant.astream("v", "go")]
        assert [event.kind for event in events] == ["text", "restart", "text", "text", "text", "reply"]
        assert events[-1].text == "all is well"

    asyncio.run(life())
    assert happened == ["closed", "asked"]
    with pytest.raises(memspan.InvalidInput, match="await the calls with an a in front"):
        assistant.respond("w", "go")


def test_the_nearest_form_of_a_call_counts(memspan_engine: memspan.Engine) -> None:
    """A subclass that has a plain call of its own is asked by that, not past it by what it inherits. An SDK's async client is awaited."""

    class Plain(Awaited):
        def complete(self, prompt: memspan.Prompt, **options: Any) -> Any:
            del options
            return openai_response("plain", id=prompt.session_id)

    class AsyncSdk:
        """A client of OpenAI's shape."""

        base_url = ""

        def __init__(self) -> None:
            self.chat = self.completions = self

        async def create(self, **request: Any) -> Any:
            del request
            return openai_response("awaited")

    plain, awaited = (
        memspan.Assistant(memspan_engine, provider, model="gpt-4o", learn=False)
        for provider in (Plain(), memspan.providers.OpenAI(AsyncSdk()))
    )
    assert asyncio.run(plain.arespond("u", "go")).text == "plain"
    assert asyncio.run(awaited.arespond("v", "go")).text == "awaited"
    with pytest.raises(memspan.InvalidInput, match="async client"):
        awaited.respond("w", "go")


def test_each_event_loop_has_a_client_of_its_own(user: memspan.Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client's connections belong to the loop that made them: the second `asyncio.run` used those of the first."""
    loops: list[asyncio.AbstractEventLoop] = []

    class Sdk(memspan.providers.OpenAI):
        def _make(self, sdk: Any, options: dict[str, Any], *, awaitable: bool) -> Any:
            del sdk, options
            assert awaitable
            loops.append(asyncio.get_running_loop())
            return object()

        def _send(self, client: Any, request: dict[str, Any], *, stream: bool) -> Any:
            del client, request, stream

            async def answer() -> Any:
                return openai_response("hi")

            return answer()

    monkeypatch.setattr(memspan.providers.OpenAI, "_sdk", lambda _: None)
    provider, prompt = Sdk(), user.session("s", model="gpt-4o").assemble()

    async def twice() -> None:
        await provider.acomplete(prompt)
        await provider.acomplete(prompt)

    asyncio.run(twice())
    asyncio.run(twice())
    assert len(loops) == 2


def test_the_callers_context_is_there(memspan_engine: memspan.Engine) -> None:
    """Contextvars are those of the caller, in the hook and in the model's call, and what a step sets is there in the next."""
    variable: ContextVar[str] = ContextVar("variable", default="none")
    seen: list[tuple[str, str]] = []

    def hook(step: str, when: str, *_: object) -> None:
        seen.append((f"{step} {when}", variable.get()))
        if (step, when) == ("assemble", "before"):
            variable.set("set by the hook")

    class Seeing(memspan.providers.Provider):
        async def acomplete(self, prompt: memspan.Prompt, **options: Any) -> Any:
            del options
            seen.append(("acomplete", variable.get()))
            return openai_response("done", id=prompt.session_id)

    assistant = memspan.Assistant(memspan_engine, Seeing(), model="gpt-4o", learn=False, hook=hook)

    async def life() -> None:
        variable.set("the caller's")
        await assistant.arespond("u", "go")
        assert variable.get() == "the caller's"

    asyncio.run(life())
    found = dict(seen)
    assert (found["add before"], found["acomplete"], found["reply after"]) == ("the caller's", "the caller's", "set by the hook")


def test_an_error_behind_a_cancelled_turn_is_not_logged(memspan_engine: memspan.Engine) -> None:
    """Its caller is gone: asyncio told of an exception that was never retrieved."""
    told: list[dict[str, Any]] = []
    entered, go, left = threading.Event(), threading.Event(), threading.Event()

    class Fails(memspan.providers.Provider):
        def complete(self, prompt: memspan.Prompt, **options: Any) -> Any:
            entered.set()
            assert go.wait(30)
            raise ValueError(prompt, options)

    def hook(step: str, *_: object) -> None:
        if step == "recover":
            left.set()

    async def life() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, about: told.append(about))
        assistant = memspan.Assistant(memspan_engine, Fails(), model="gpt-4o", hook=hook)
        task = asyncio.create_task(assistant.arespond("u", "go"))
        await asyncio.to_thread(entered.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go.set()
        await asyncio.to_thread(left.wait, 30)
        async with memspan_engine.user("u").session("default").lease(wait_seconds=30):
            await asyncio.sleep(0.1)  # the error comes to the loop behind the lease
        del task
        gc.collect()

    asyncio.run(life())
    assert told == []


FORKING = """
import asyncio, os, sys, memspan
from memspan.testing import FakeProvider
with memspan.open(sys.argv[1], embedder=None) as engine:
    assistant = memspan.Assistant(engine, FakeProvider(["hello"]), model="gpt-4o", learn=False)
    asyncio.run(assistant.arespond("u", "in the parent"))
    child = os.fork()
    if child == 0:
        assert asyncio.run(asyncio.wait_for(assistant.arespond("u", "in the child"), 20)).text == "hello"
        os._exit(0)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_has_threads_of_its_own(tmp_path: Path) -> None:
    """The parent's idle threads are not there in the child, which must not give them work."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKING, str(tmp_path / "store")], timeout=50, check=False)
    assert done.returncode == 0


def test_a_function_that_ends_with_stop_iteration_leaves_nobody_waiting(tmp_path: Path, memspan_engine: memspan.Engine) -> None:
    ended = iter(())

    class Ends(memspan.providers.Provider):
        def complete(self, prompt: Any, **options: Any) -> Any:
            del prompt, options
            raise StopIteration

    async def life() -> None:
        prompt = memspan_engine.user("u").session("s", model="gpt-4o").assemble()
        for call in (memspan.aopen(tmp_path / "new", key=lambda: next(ended)), Ends().acomplete(prompt)):
            with pytest.raises(RuntimeError, match="StopIteration"):
                await asyncio.wait_for(call, 30)

    asyncio.run(life())


@pytest.mark.parametrize("of", ["assistant", "provider"])
def test_a_cancelled_stream_frees_its_caller_while_the_provider_is_silent(memspan_engine: memspan.Engine, of: str) -> None:
    silent, goes_on, closed = threading.Event(), threading.Event(), threading.Event()

    class Silent(memspan.providers.Provider):
        def stream(self, prompt: Any, **options: Any) -> Iterator[Any]:
            del prompt, options
            try:
                yield {"choices": [{"index": 0, "delta": {"content": "It is"}}]}
                silent.set()
                assert goes_on.wait(30)
                yield {"choices": [{"index": 0, "delta": {"content": " 4"}}]}
            finally:
                closed.set()

    session = memspan_engine.user("u").session("s", model="gpt-4o")

    async def reading() -> None:
        if of == "provider":
            async for _ in Silent().astream(session.assemble()):
                pass
        else:
            assistant = memspan.Assistant(memspan_engine, Silent(), model="gpt-4o")
            async for _ in assistant.astream("u", "hi", session="s"):
                pass

    async def life() -> list[str]:
        said: list[str] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: said.append(context["message"]))
        task = asyncio.ensure_future(reading())
        await asyncio.to_thread(silent.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not closed.is_set(), "its thread is in the provider still"
        goes_on.set()
        await asyncio.to_thread(closed.wait, 30)
        return said

    assert asyncio.run(life()) == []
    assert closed.is_set()
    if of == "assistant":
        with session.lease(wait_seconds=30):
            assert session.partial_reply is not None
            assert session.partial_reply.text.startswith("It is")
