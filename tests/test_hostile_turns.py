"""Turns that go wrong in the middle: cancelled at every event, asked twice at once, failed over with media, cut in half a character."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING, Any

import pytest
from tests.test_renderers import PNG, complaints

import memspan
from memspan.testing import FakeProvider, anthropic_response, openai_response, openai_stream

if TYPE_CHECKING:
    from pathlib import Path


def sound(session: memspan.Session) -> None:
    """The next prompt is within its limit, and no vendor has anything against it."""
    prompt = session.assemble()
    assert prompt.total_tokens <= prompt.max_input_tokens
    assert complaints(prompt) == []


@pytest.mark.parametrize("events", range(7))
def test_cancelled_at_every_event(memspan_engine: memspan.Engine, events: int) -> None:
    """Whatever had happened stays, the lease ends, and the webhook's retry answers; a tool whose result is there is not run again."""
    ran: list[int] = []

    def look() -> str:
        """Looks."""
        ran.append(1)
        return "seen"

    assistant = memspan.Assistant(
        memspan_engine, FakeProvider([[("look", {})], "All is well."]), model="gpt-4o", tools=[look], wait_seconds=1
    )

    async def life() -> None:
        stream = assistant.astream("u", "go", session="s", id="w-1")
        for _ in range(events):
            await anext(stream)
        task = asyncio.ensure_future(anext(stream, None))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert isinstance(stream, AsyncGenerator)
        await stream.aclose()

    session = memspan_engine.user("u").session("s", model="gpt-4o")
    asyncio.run(life())
    if session.messages:
        sound(session)
    assert assistant.respond("u", "go", session="s", id="w-1").text == "All is well."
    assert [message.role for message in session.messages] == ["user", "assistant", "tool", "assistant"]
    assert len(ran) <= 2
    sound(session)


def test_a_cancelled_answer_is_there_for_the_retry(memspan_engine: memspan.Engine) -> None:
    """arespond waits in a thread, which no cancelling stops: the answer is stored, and the retry with the same id has it."""

    asked, go = threading.Event(), threading.Event()

    def answer(_: object) -> str:
        asked.set()
        return "done" if go.wait(10) else "late"

    provider = FakeProvider([answer])
    assistant = memspan.Assistant(memspan_engine, provider, model="gpt-4o")

    async def life() -> None:
        task = asyncio.create_task(assistant.arespond("u", "go", id="w-1"))
        await asyncio.to_thread(asked.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go.set()

    asyncio.run(life())
    again = assistant.respond("u", "go", id="w-1")
    assert (again.text, again.stored, len(provider.prompts)) == ("done", True, 1)


ASKER = """
import sys, time, memspan
from memspan.testing import FakeProvider
class Slow(FakeProvider):
    def complete(self, prompt, **options):
        print("asked", flush=True)
        time.sleep(0.3)
        return super().complete(prompt, **options)
with memspan.open(sys.argv[1], embedder=None) as engine:
    assistant = memspan.Assistant(engine, Slow(["the answer"]), model="gpt-4o", wait_seconds=30)
    print("reply", assistant.respond("u", "hi", session="s", id="webhook-1").text, flush=True)
"""


def test_one_webhook_in_three_processes_asks_once(tmp_path: Path) -> None:
    path = tmp_path / "store"
    memspan.open(path, embedder=None).close()
    workers = [
        subprocess.Popen([sys.executable, "-c", textwrap.dedent(ASKER), str(path)], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    said = "".join(worker.communicate(timeout=50)[0] for worker in workers)
    assert [worker.returncode for worker in workers] == [0, 0, 0]
    assert (said.count("asked"), said.count("reply the answer")) == (1, 3)


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError(), StopIteration("x"), RecursionError(), MemoryError()]
)
def test_whatever_a_tool_raises_is_its_result(memspan_engine: memspan.Engine, error: BaseException) -> None:
    def raises() -> str:
        """Raises."""
        raise error

    assistant = memspan.Assistant(memspan_engine, FakeProvider([[("raises", {})], "Done."]), model="gpt-4o", tools=[raises])
    reply = assistant.respond("u", "go", session="s")
    assert reply.text == "Done."
    assert type(error).__name__ in reply.turn.messages[2].text


def test_a_model_that_answers_under_another_name(memspan_engine: memspan.Engine) -> None:
    class Router(FakeProvider):
        def complete(self, prompt: memspan.Prompt, **options: Any) -> Any:
            return {**super().complete(prompt, **options), "model": "somebody/else-7b:free"}

    assistant = memspan.Assistant(memspan_engine, Router(["hello"]), model="gpt-4o")
    reply = assistant.respond("u", "hi", session="s")
    assert (reply.text, memspan_engine.user("u").session("s").model) == ("hello", "gpt-4o")
    sound(memspan_engine.user("u").session("s"))


def test_a_refusal_behind_text(memspan_engine: memspan.Engine) -> None:
    """A stream that is refused in its middle: what came is void, the next prompt is smaller, and one answer is stored."""

    class Refuses(FakeProvider):
        def stream(self, prompt: memspan.Prompt, **options: Any) -> Any:
            chunks = list(super().stream(prompt, **options))
            if len(self.prompts) == 1:
                yield from chunks[:2]
                raise RuntimeError("This model's maximum context length is 3000 tokens. However, your messages resulted in 9000 tokens.")
            yield from chunks

    provider = Refuses(["one two three"])
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=memspan.Budget(max_input_tokens=6_000))
    session.add_many([{"role": "user", "content": f"question {n} " + "of some length " * 90} for n in range(30)])
    events = list(memspan.Assistant(memspan_engine, provider, model="gpt-4o").stream("u", "now", session="s"))
    kinds = [event.kind for event in events]
    assert kinds == ["text", "restart", "text", "text", "text", "reply"]
    assert [message.text for message in session.messages][-1] == "one two three"
    assert (provider.prompts[1].total_tokens < 3_000, session.partial_reply) == (True, None)


MEDIA = [
    {"type": "text", "text": "look at both"},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG * 40}},
    {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0=" * 40}},
]


@pytest.mark.parametrize("model", ["gpt-4", "deepseek-chat", "mistral-large-3", "gemini-2.5-pro", "llama-3.3-70b"])
def test_failing_over_with_media_and_thinking_to_a_smaller_model(memspan_engine: memspan.Engine, model: str) -> None:
    session = memspan_engine.user("u").session("s", model="claude-sonnet-4-5", system="You are terse.")
    for number in range(12):
        session.add({"role": "user", "content": [*MEDIA, {"type": "text", "text": f"{number} " + "and so on " * 300}]}, format="anthropic")
        blocks: list[Any] = [{"type": "thinking", "thinking": "t" * 900, "signature": "sig"}, {"type": "text", "text": f"answer {number}"}]
        if number % 3 == 0:
            blocks.append({"type": "tool_use", "id": f"toolu_{number}", "name": "f", "input": {"n": number}})
        session.add_response({**anthropic_response("z", id=f"m{number}"), "content": blocks}, prompt=session.assemble())
        for call in session.pending_tool_calls:
            session.add({"role": "tool", "tool_call_id": call.id, "content": "ok"})
    session.add({"role": "user", "content": "and now?"})
    prompt = session.recover(session.assemble(), RuntimeError("529 Overloaded"), models=[model])
    assert prompt.model == model
    assert prompt.total_tokens <= prompt.max_input_tokens
    assert complaints(prompt) == []
    session.add_response(openai_response("from the other", id="r-1"), prompt=prompt)
    back = session.recover(session.assemble(), RuntimeError("503"), models=[model, "claude-sonnet-4-5"])
    assert back.model == "claude-sonnet-4-5"
    assert complaints(back) == []


@pytest.mark.parametrize("keeps", [True, False])
def test_a_partial_reply_survives_a_crash_and_a_switch(tmp_path: Path, *, keeps: bool) -> None:
    path = tmp_path / "store"
    with memspan.open(path, embedder=None) as engine:
        session = engine.user("u").session("s", model="claude-sonnet-4-5")
        session.add({"role": "user", "content": "tell me"})

        def stopped() -> None:
            with session.reply(session.assemble()) as reply:
                for chunk in openai_stream("It was a dark and")[:3]:
                    reply.feed(chunk)
                sys.exit()

        with pytest.raises(SystemExit):
            stopped()
    with memspan.open(path, embedder=None) as engine:
        session = engine.user("u").session("s")
        session.switch_model("gpt-4")
        assert session.partial_reply is not None
        sound(session)
        session.keep_partial_reply() if keeps else session.drop_partial_reply()
        assert [session.partial_reply] == [None]  # it changed: mypy keeps what it knew of a property
        assert len(session.messages) == 1 + keeps
        session.add({"role": "user", "content": "go on"})
        sound(session)


def test_halves_of_characters(user: memspan.Scope) -> None:
    """Servers that escape a stream's JSON may cut an emoji in two, half in each chunk. It becomes whole; a half alone is a sign."""
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": "smile"})
    first, *middle, last, usage = openai_stream("a b", id="r-1")
    halves = [
        {**middle[0], "choices": [{**middle[0]["choices"][0], "delta": {"content": half}}]}
        for half in ("so \ud83d", "\ude00 and \ud800", " end")
    ]
    with session.reply(session.assemble()) as reply:
        pieces = [reply.feed(chunk) for chunk in [first, *halves, last, usage]]
    assert "".join(pieces) == reply.text == "so 😀 and � end"
    assert session.messages[-1].text == "so 😀 and � end"
    session.add({"role": "user", "content": "again"})
    session.add_response(openai_response("\ud83d\ude00 \udfff", id="r-2"), prompt=session.assemble())
    assert session.messages[-1].text == "😀 �"
    sound(session)


def test_deltas_that_say_nothing(user: memspan.Scope) -> None:
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": "hi"})
    stream = openai_stream("yes", id="r-1")
    deltas: list[dict[str, Any]] = [{}, {"content": ""}, {"content": None}, {"tool_calls": []}, {"tool_calls": None}, {"role": ""}]
    empty: list[Any] = [{**stream[0], "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    with session.reply(session.assemble()) as reply:
        for chunk in stream:
            reply.feed(chunk)
            for nothing in empty:
                assert reply.feed(nothing) == ""
    assert session.messages[-1].text == "yes"


def test_two_tools_of_one_name(memspan_engine: memspan.Engine) -> None:
    def recall(query: str) -> str:
        """The application's own."""
        return query

    with pytest.raises(memspan.InvalidInput, match="recall"):
        memspan.Assistant(memspan_engine, FakeProvider(["x"]), model="gpt-4o", tools=[recall], memory_tools=["recall"])
    with pytest.raises(memspan.InvalidInput, match="recall"):
        memspan.Assistant(memspan_engine, FakeProvider(["x"]), model="gpt-4o", tools=[recall, recall])


class Slow(FakeProvider):
    """Waits before each chunk."""

    def stream(self, prompt: memspan.Prompt, **options: Any) -> Any:
        for chunk in super().stream(prompt, **options):
            time.sleep(0.2)
            yield chunk


def eventually(check: Callable[[], bool]) -> bool:
    """Whether something becomes true."""
    for _ in range(3_000):
        if check():
            return True
        time.sleep(0.01)
    return False


def test_cancelled_while_the_model_is_silent(memspan_engine: memspan.Engine) -> None:
    """The thread was inside of the stream, and closing the stream under it was a ValueError: the lease stayed, and what came was lost."""
    assistant = memspan.Assistant(memspan_engine, Slow(["one two three four"]), model="gpt-4o", wait_seconds=0.1)

    async def listen(events: Any) -> None:
        async for event in events:
            if event.kind == "text":
                heard.set()

    async def life() -> None:
        task = asyncio.create_task(listen(assistant.astream("u", "go", session="s", id="w-1")))
        await heard.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    heard = asyncio.Event()
    asyncio.run(life())
    session = memspan_engine.user("u").session("s")
    assert eventually(lambda: session.partial_reply is not None), "the thread keeps what came with its next chunk"
    assert session.partial_reply is not None
    assert session.partial_reply.text.startswith("one")
    answered = memspan.Assistant(memspan_engine, Slow(["one two three four"]), model="gpt-4o", wait_seconds=30)
    assert answered.respond("u", "go", session="s", id="w-1").text == "one two three four"


def test_a_plain_client_awaited_and_cancelled(user: memspan.Scope) -> None:
    """The same of a provider whose client has plain calls alone."""
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": "go"})
    closed: list[str] = []

    class Told(Slow):
        def stream(self, prompt: memspan.Prompt, **options: Any) -> Any:
            try:
                yield from super().stream(prompt, **options)
            finally:
                closed.append("closed")

    async def listen() -> None:
        async for _ in Told(["one two three four"]).astream(session.assemble()):
            heard.set()

    async def life() -> None:
        task = asyncio.create_task(listen())
        await heard.wait()
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    heard = asyncio.Event()
    asyncio.run(life())
    assert eventually(lambda: closed == ["closed"]), "the thread closes the stream with its next chunk"


HANGING = """
import sys, time, memspan
from memspan.testing import FakeProvider
def hang():
    \"\"\"Hangs.\"\"\"
    time.sleep(1000)
engine = memspan.open(sys.argv[1], embedder=None)
assistant = memspan.Assistant(engine, FakeProvider([[("hang", {})] * 50, "Done."]), model="gpt-4o", tools=[hang], tool_seconds=0.2)
print(assistant.respond("u", "go", session="s").text, flush=True)
engine.close()
"""


def test_tools_that_hang_do_not_keep_the_process(tmp_path: Path) -> None:
    """Fifty calls of a tool that hangs: an answer, few threads, and the process ends."""
    done = subprocess.run([sys.executable, "-c", HANGING, str(tmp_path / "s")], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Done.\n", "")
