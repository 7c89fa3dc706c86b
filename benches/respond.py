"""What the loop of a turn costs beside the model: `Assistant.respond` against its three calls, and against the agents of LangChain.

    python benches/respond.py [--memories 100000] [--messages 400] [--turns 150] [--durable]

Every side has a model that answers at once, 400 messages of one conversation, and a question a turn; sides take turns, so that what
slows the machine hits all. "three calls" is `add`, `assemble` with its request rendered, and `add_response`. LangChain's `create_agent`
and LangGraph's
`create_react_agent` keep their conversation in the checkpointer of LangGraph for SQLite (in memory where that is not installed), and
have no memory to search. Each rival is skipped where it is not installed. First token: from the model's first chunk to the caller's.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import corpus
import memspan
from corpus import SYSTEM
from memspan.testing import FakeProvider, openai_stream
from rivals import agents

if TYPE_CHECKING:
    from collections.abc import Callable


class Model(FakeProvider):
    """Answers at once, and renders its request as a provider must; notes when its first piece of text was handed out."""

    first = 0

    def complete(self, prompt: memspan.Prompt, **options: Any) -> Any:
        prompt.to_openai()
        return super().complete(prompt, **options)

    def stream(self, prompt: memspan.Prompt, **options: Any) -> Any:
        for chunk in super().stream(prompt, **options):
            if self.first == 0 and chunk["choices"] and chunk["choices"][0]["delta"].get("content"):
                self.first = time.perf_counter_ns()
            yield chunk


def filled(engine: memspan.Engine, memories: int) -> None:
    """As many memories of 100 users."""
    by_user: dict[str, list[str]] = {}
    for row in corpus.memories(memories):
        by_user.setdefault(row.user, []).append(row.text)
    for user, texts in by_user.items():
        engine.user(user).remember_many(texts)


def turns_of(engine: memspan.Engine, messages: list[dict[str, str]]) -> dict[str, Callable[[str], object]]:
    """The two sides of memspan: each a function of the question."""
    plain = memspan.Assistant(engine, Model(["It does."]), model="gpt-4o", system=SYSTEM, learn=False, compact=False)
    whole = memspan.Assistant(engine, Model(["It does."]), model="gpt-4o", system=SYSTEM)
    for user in ("user00", "user01", "user02", "user03"):  # a user for each side, with one conversation
        engine.user(user).session("s-1", "gpt-4o", system=SYSTEM).add_many(messages)
    session, numbers = engine.user("user00").session("s-1"), itertools.count()

    def calls(question: str) -> None:
        session.add({"role": "user", "content": question})
        prompt = session.assemble()
        prompt.to_openai()
        reply = memspan.testing.openai_response("It does.", id=f"r-{next(numbers)}", input_tokens=prompt.counted_tokens, output_tokens=1)
        session.add_response(reply, prompt=prompt)

    return {
        "three calls": calls,
        "respond": lambda question: plain.respond("user01", question, session="s-1"),
        "respond, learning": lambda question: whole.respond("user02", question, session="s-1"),
    }


def first_token(engine: memspan.Engine, rounds: int) -> list[float]:
    """Microseconds from the model's first chunk to the caller's."""
    provider = Model(["It does, and it always did."])
    assistant = memspan.Assistant(engine, provider, model="gpt-4o", system=SYSTEM, learn=False, compact=False)
    taken = []
    for number in range(rounds):
        provider.first = 0
        for event in assistant.stream("user03", f"question {number}", session="s-1"):
            if event.kind == "text" and provider.first > 0:
                taken.append((time.perf_counter_ns() - provider.first) / 1e3)
                provider.first = -1  # the pieces after it
    return taken


def a_chunk(rounds: int = 7, chunks: int = 2_000) -> float:
    """Microseconds of CPU that gathering one chunk takes, the best of some rounds."""
    from memspan.stream import Gatherer  # noqa: PLC0415

    stream, best = openai_stream("word " * chunks), float("inf")
    for _ in range(rounds):
        gatherer, start = Gatherer(), time.process_time_ns()
        for chunk in stream:
            gatherer.feed(chunk)
        best = min(best, (time.process_time_ns() - start) / len(stream) / 1e3)
    return best


def timed(sides: dict[str, Callable[[str], object]], turns: int, warm: int = 5) -> dict[str, list[float]]:
    """Milliseconds of each turn of each side, alternating."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    questions = corpus.questions(turns + warm, 1_000)
    for number, question in enumerate(questions):
        for name, turn in sides.items():
            start = time.perf_counter_ns()
            turn(question.query)
            if number >= warm:
                taken[name].append((time.perf_counter_ns() - start) / 1e6)
    return taken


def main() -> None:
    """Prints a row for each side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--messages", type=int, default=400)
    parser.add_argument("--turns", type=int, default=150)
    parser.add_argument("--durable", action="store_true", help="wait for the disk at each write; otherwise durability is relaxed")
    given = parser.parse_args()
    messages = corpus.conversation(given.messages, first=41_000_000)
    with tempfile.TemporaryDirectory() as folder:
        durability: Any = "full" if given.durable else "relaxed"
        with memspan.open(Path(folder) / "store", durability=durability) as engine:
            filled(engine, given.memories)
            sides = turns_of(engine, messages)
            base = "three calls"
            for name, make in agents.AGENTS.items():
                with suppress(ImportError):
                    sides[name] = make(Path(folder) / name, messages, SYSTEM)
            medians = {name: statistics.median(row) for name, row in timed(sides, given.turns).items()}
            for name, median in medians.items():
                times = f"{median / medians[base]:8.2f}x of {base} {median / medians['respond']:8.2f}x of respond"
                print(f"{name:32} {median:9.3f} ms p50 {times}")
            print(f"{'first token':32} {statistics.median(first_token(engine, 60)):9.1f} us p50")
            print(f"{'a chunk':32} {a_chunk():9.1f} us of CPU")


if __name__ == "__main__":
    main()
