#!/usr/bin/env python3
"""Prints every figure of speed, memory and disk that the engine is held to, beside what is asked of it.

    python benches/speed_table.py --folder STORES --make [LOCOMO.json]      # makes the stores: minutes
    python benches/speed_table.py --folder STORES [--only assemble,turn]    # measures: at most a minute and a half

With LOCOMO.json (the data set's file) memories, messages and questions are its turns and questions; what is beyond its turns has the
first half of one turn and the second half of another. Without it they are the invented words of `corpus`. Rows with a rival alternate
with it. A row that says "x" is the rival's median over memspan's.
"""

from __future__ import annotations

import argparse
import json
import os
import pydoc_data.topics
import subprocess
import sys
import sysconfig
import time
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # before numpy is imported, or it has no effect
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "transcripts"))

import corpus
import memspan
from report import machine
from sides import LIMIT, MODEL, SIDES, Synchronous, exact_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sides import Side

DIVIDED = int(os.environ.get("MEMSPAN_BENCH_DIVIDED", "1"))  # the tests make everything smaller by as much
MESSAGES = tuple(size // DIVIDED or 1 for size in (50, 500, 5_000, 50_000))
MEMORIES = tuple(size // DIVIDED or 1 for size in (500, 5_000, 50_000))
SHARED = 100_000 // DIVIDED
TURNS = tuple(size // DIVIDED for size in (400, 5_000))
DISK = 10_000 // DIVIDED
DISK_WORDS = 25
ROUNDS = max(200 // DIVIDED, 3)
PROCESSES = max(11 // DIVIDED, 1)


class Texts:
    """Texts and questions, of LoCoMo or invented."""

    def __init__(self, data: Path | None) -> None:
        self.turns: list[str] = []
        self.asked: list[str] = []
        if data is not None:
            for sample in json.loads(data.read_text()):
                sessions = [turns for turns in sample["conversation"].values() if isinstance(turns, list)]
                self.turns += [turn["text"] for turns in sessions for turn in turns if isinstance(turn, dict)]
                self.asked += [question["question"] for question in sample["qa"]]

    def text(self, number: int) -> str:
        """Text `number`; no two are alike."""
        if not self.turns:
            return corpus.memory(number).text
        again, at = divmod(number, len(self.turns))
        words = self.turns[at].split()
        if again == 0:
            return f"{self.turns[at]} ({number})"
        others = self.turns[(at * 31 + again * 7919) % len(self.turns)].split()
        return " ".join([*words[: len(words) // 2], *others[len(others) // 2 :], f"({number})"])

    def question(self, number: int) -> str:
        """Question `number`."""
        return self.asked[number * 37 % len(self.asked)] if self.asked else corpus.question(number * 7919 % 400).query

    def conversation(self, length: int, first: int = 0) -> list[dict[str, str]]:
        """Messages of a user and an assistant by turns."""
        roles = ("user", "assistant")
        return [{"role": roles[number % 2], "content": self.text(first + number)} for number in range(length)]


def made(folder: Path, texts: Texts) -> None:
    """Makes the stores that the rows read."""
    with memspan.open(folder / "histories", durability="relaxed") as engine:
        for length in MESSAGES:
            user = engine.user(f"user of {length}")
            user.remember_many([texts.text(1_000_000 + number) for number in range(1_000 // DIVIDED)])
            session = user.session("s-1", model=MODEL, system=corpus.SYSTEM)
            for first in range(0, length, 1_000):
                session.add_many(texts.conversation(min(1_000, length - first), first))
    with memspan.open(folder / "memories", durability="relaxed") as engine:
        for length in MEMORIES:
            engine.user(f"user of {length}").remember_many([texts.text(number) for number in range(length)])
        engine.user("another").remember_many([texts.text(2_000_000 + number) for number in range(100)])
    for name, open_side in SIDES.items():
        side = open_side(folder / f"shared-{name}")
        side.load(list(corpus.memories(SHARED)))
        for length in TURNS:
            side.conversation(f"user{TURNS.index(length)}1", f"t-{length}").load(corpus.conversation(length, first=50_000_000))
        side.close()


def microseconds(work: Callable[..., object], rounds: int = ROUNDS, warm: int = 10) -> float:
    """The median of `rounds` calls after `warm` others."""
    took = []
    for number in range(warm + rounds):
        started = time.perf_counter()
        work(number)
        took.append(time.perf_counter() - started)
    return 1e6 * median(took[warm:])


def row(what: str, figures: list[str], asked: str) -> str:
    return f"| {what} | {' / '.join(figures)} | {asked} |"


def assemble(folder: Path, texts: Texts) -> Iterator[str]:
    """A prompt that asks memories and transcripts, and one that asks nothing."""
    with memspan.open(folder / "histories") as engine:
        talks = {length: engine.user(f"user of {length}").session("s-1", model=MODEL) for length in MESSAGES}
        found = {
            length: microseconds(lambda at, talk=talk: talk.assemble(texts.question(at), max_input_tokens=LIMIT))
            for length, talk in talks.items()
        }
        bare = {length: microseconds(lambda _, talk=talk: talk.assemble("", max_input_tokens=LIMIT)) for length, talk in talks.items()}
    sizes = " / ".join(f"{length:,}" for length in MESSAGES)
    yield row(
        f"assemble {LIMIT:,} tokens with a question, 1,000 memories, {sizes} messages, us",
        [f"{one:.0f}" for one in found.values()],
        "110, flat within 1.4x",
    )
    yield row("the same without a question", [f"{one:.0f}" for one in bare.values()], "")


def search(folder: Path, texts: Texts) -> Iterator[str]:
    """The ten best of a scope."""
    with memspan.open(folder / "histories") as engine:
        users = [engine.user(f"user of {length}") for length in MESSAGES[1:]]
        found = [microseconds(lambda at, user=user: user.search_transcripts(texts.question(at), limit=10)) for user in users]
    sizes = " / ".join(f"{length:,}" for length in MESSAGES[1:])
    yield row(f"search_transcripts, {sizes} messages, us", [f"{one:.0f}" for one in found], "120 / 150 / 400")


def recall(folder: Path, texts: Texts) -> Iterator[str]:
    """The ten best of one user's, and a user's first beside later ones."""
    with memspan.open(folder / "memories") as engine:
        users = [engine.user(f"user of {length}") for length in MEMORIES]
        started = time.perf_counter()
        engine.user("another").recall(texts.question(0), limit=10)
        process = time.perf_counter() - started
        found = [microseconds(lambda at, user=user: user.recall(texts.question(at), limit=10)) for user in users]
    sizes = " / ".join(f"{length:,}" for length in MEMORIES)
    yield row(f"recall among {sizes} memories of one user, us", [f"{one:.0f}" for one in found], "50 / 110 / 600")
    firsts = [first_and_later(folder, length) for length in MEMORIES]
    yield row(
        f"the first recall of each, beside a later one: medians of {PROCESSES} processes",
        [f"{first / later:.1f}x of {later:.0f} us" for first, later in firsts],
        "2x",
    )
    yield row("the first recall of the process, of a user of 100 memories, before these, us", [f"{1e6 * process:.0f}"], "")


def first_and_later(folder: Path, length: int) -> list[float]:
    """Microseconds of the first recall in a scope, behind another scope's, and of a later one; the file is in the system's cache."""
    child = [sys.executable, __file__, "--folder", str(folder), "--child", str(length)]
    took = [json.loads(subprocess.run(child, check=True, capture_output=True, text=True).stdout) for _ in range(PROCESSES)]
    return [median(column) for column in zip(*took, strict=True)]


def first_of_process(folder: Path, texts: Texts, length: int) -> None:
    """Prints both of this process."""
    with memspan.open(folder / "memories") as engine:
        engine.user("another").recall(texts.question(0), limit=10)
        user = engine.user(f"user of {length}")
        first = microseconds(lambda _: user.recall(texts.question(1), limit=10), rounds=1, warm=0)
        later = microseconds(lambda at: user.recall(texts.question(at + 2), limit=10), rounds=20, warm=5)
    print(json.dumps([first, later]))


def shared(folder: Path, _texts: Texts) -> Iterator[str]:
    """Each user's first recall, then another, by words and vectors of the caller's embedder, both sides in turn."""
    sides = {name: open_side(folder / f"shared-{name}") for name, open_side in SIDES.items()}
    asked = corpus.questions(2 * min(corpus.USERS, SHARED), SHARED)
    for side in sides.values():
        side.recall("nobody", asked[0].query)
    passes = []
    for turn in range(2):
        took: dict[str, list[float]] = {name: [] for name in sides}
        for question in asked[turn * len(asked) // 2 :][: len(asked) // 2]:
            for name, side in sides.items():
                started = time.perf_counter()
                side.recall(question.user, question.query)
                took[name].append(1e6 * (time.perf_counter() - started))
        ours, theirs = (median(took[name]) for name in sides)
        passes.append(f"{ours:.0f} us, {theirs / ours:.1f}x")
    embedder = corpus.HashingEmbedder()
    embedding = microseconds(lambda at: embedder.embed([asked[at % len(asked)].query]))
    for side in sides.values():
        side.close()
    yield row(
        f"hybrid recall, shared embedder ({embedding:.0f} us of both), {SHARED:,} memories of {corpus.USERS} users, first / again",
        passes,
        "12x / 15x",
    )


# What memspan and the rival promise when a call has returned. memspan has nothing that promises as little as the last.
PROMISES: dict[Synchronous, str] = {
    "full": "durable, synchronous=full: both on disk",
    "normal": "relaxed, synchronous=normal: after a power cut memspan may lack its last commit, the rival all since its last checkpoint",
    "off": "relaxed, synchronous=off: a power cut may also damage the rival's file",
}


def turn(folder: Path, texts: Texts) -> Iterator[str]:
    """Add a question, assemble, render, add the reply, by what each side promises; the last rows with texts as people write them."""
    lengths = " / ".join(f"{length:,}" for length in TURNS)
    for synchronous, promise in PROMISES.items():
        yield row(f"one whole turn at {lengths} messages, {promise}", turns(folder, Texts(None), synchronous), "10x")
    if not texts.turns:
        return
    with TemporaryDirectory(dir=folder) as made:
        for name, open_side in SIDES.items():
            side = open_side(Path(made) / f"shared-{name}", synchronous="off")
            for length in TURNS:
                user = f"user{TURNS.index(length)}1"
                side.load([corpus.Memory(user, texts.text(1_000_000 + number)) for number in range(1_000 // DIVIDED)])
                side.conversation(user, f"t-{length}").load(texts.conversation(length))
            side.close()
        for synchronous in PROMISES:
            yield row(f"the same with texts of LoCoMo, synchronous={synchronous}", turns(Path(made), texts, synchronous), "10x")


def turns(folder: Path, texts: Texts, synchronous: Synchronous) -> list[str]:
    """What a turn takes at each length of history, and how often that goes into what the rival takes."""
    sides: dict[str, Side] = {name: open_side(folder / f"shared-{name}", synchronous=synchronous) for name, open_side in SIDES.items()}
    figures, fresh = [], count(70_000_000 + int(time.time()) % 1_000_000 * 10)
    for length in TURNS:
        took: dict[str, list[float]] = {name: [] for name in sides}
        talks = {name: side.conversation(f"user{TURNS.index(length)}1", f"t-{length}") for name, side in sides.items()}
        for at in range(max(60 // DIVIDED, 2)):
            own = corpus.question(at * corpus.USERS + TURNS.index(length) * 10 + 1).query
            question, reply = texts.question(at) if texts.turns else own, texts.text(next(fresh))
            for name, talk in talks.items():
                started = time.perf_counter()
                talk.add({"role": "user", "content": question})
                talk.request()
                talk.add({"role": "assistant", "content": reply})
                took[name].append(1e3 * (time.perf_counter() - started))
        ours, theirs = (median(took[name][-50:]) for name in sides)
        figures.append(f"{ours:.2f} ms, {theirs / ours:.1f}x")
    for side in sides.values():
        side.close()
    return figures


def memory(folder: Path, _texts: Texts) -> Iterator[str]:
    """A process of its own: what 300 recalls leave in it."""
    child = [sys.executable, __file__, "--folder", str(folder), "--child", "memory"]
    before, after, mapped = json.loads(subprocess.run(child, check=True, capture_output=True, text=True).stdout)
    figures = [f"{(after - before) / 1024:.1f} MB of {after / 1024:.1f}", f"{mapped / 1024:.1f} MB"]
    yield row(
        f"memory of a process after 300 recalls at {SHARED:,}: private (of the recalls, of all) / mapped file pages", figures, "30 MB"
    )


def memory_of_process(folder: Path) -> None:
    """Prints kilobytes: anonymous before and after, file pages after."""
    corpus.HashingEmbedder().embed(["warm"])
    before = _pages()["Anonymous"]
    side = SIDES["memspan"](folder / "shared-memspan")
    for question in corpus.questions(min(300, SHARED), SHARED):
        side.recall(question.user, question.query)
    after = _pages()
    print(json.dumps([before, after["Anonymous"], after["Rss"] - after["Anonymous"]]))


def _pages() -> dict[str, int]:
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]
    return {name: int(size.split()[0]) for name, size in (line.split(":") for line in lines)}


def disk(folder: Path, _texts: Texts) -> Iterator[str]:
    """What a memory of 25 words with a caller's 384 dimensions takes, both sides."""
    figures = []
    for name, open_side in SIDES.items():
        path = folder / f"disk-{name}-{time.time_ns()}"
        side = open_side(path)
        side.load([corpus.memory(number, DISK_WORDS) for number in range(DISK)])
        side.close()
        if name == "memspan":
            with memspan.open(path / "store.memspan", embedder=corpus.HashingEmbedder()) as engine:
                engine.maintain(compact=True)
        size = sum(file.stat().st_blocks * 512 for file in path.rglob("*") if file.is_file())
        figures.append(f"{name} {size / DISK / 1e3:.2f} KB")
    yield row(f"disk a memory of {DISK_WORDS} words with {corpus.DIMENSIONS} dimensions, compacted", figures, "2.2 KB")


# Unseen texts of 4 KB: of Python's own manual and library, and of the invented words of `corpus`, which no vocabulary has.
FILES: dict[str, Callable[[], Iterable[str]]] = {
    "prose": pydoc_data.topics.topics.values,
    "code": lambda: (path.read_text("utf-8", "replace") for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))),
}
KINDS: dict[str, Callable[[str, int], str]] = {
    "chat": lambda prose, at: " ".join(f"{word}{', ' if at % 3 else '! :) '}" for word in prose.split()),
    "identifiers": lambda prose, at: " ".join(f"prod-{word}-{at}/v{len(word)}.{at}" for word in prose.split()),
    "CJK": lambda prose, at: "".join(
        chr(0x4E00 + (ord(one) * 131 + place * 7 + at * 977) % 0x4000) for place, one in enumerate(prose[:1_400])
    ),
    "invented words": lambda prose, _: prose,
    "code of invented words": lambda prose, at: "".join(
        f"    def {word}(self, {word[:3]}: int) -> None:\n        self.{word}[{at}] = {word[:3]} + {len(word)}\n" for word in prose.split()
    ),
}


def unseen(count: int) -> Iterator[tuple[str, list[str]]]:
    """Kinds of text, each with `count` texts of 4 KB that no other kind has."""
    for kind, files in FILES.items():
        whole = "\n".join(files())
        step = (len(whole) - 4_096) // count
        yield kind, [whole[at * step :][:4_096] for at in range(count)]
    for kind, of in KINDS.items():
        yield kind, [of(corpus.prose(number, 4_096), number)[:4_096] for number in range(500, 500 + count)]


def counts(_folder: Path, _texts: Texts) -> Iterator[str]:
    """Four kilobytes: seen again and again, and never seen, beside tiktoken."""
    seen = corpus.prose(0, 4_096)
    again = microseconds(lambda _: [memspan.count_tokens(seen) for _ in range(100)]) / 100
    yield row("cached count of 4 KB from Python, us", [f"{again:.2f}"], "0.6")
    figures, tiktoken, rounds = [], exact_count(), ROUNDS // 2
    for kind, texts in unseen(rounds + 10):
        theirs = microseconds(lambda at, texts=texts: tiktoken(texts[at]), rounds=rounds)
        ours = microseconds(lambda at, texts=texts: memspan.count_tokens(texts[at]), rounds=rounds)
        figures.append(f"{kind} {theirs / ours:.1f}x")
    yield row("unseen count of 4 KB, o200k, beside tiktoken", figures, "9 / 7 / 8 / 7 / 2.3x, no figure for invented words")


ROWS: dict[str, Callable[[Path, Texts], Iterator[str]]] = {
    "assemble": assemble,
    "search": search,
    "recall": recall,
    "shared": shared,
    "turn": turn,
    "memory": memory,
    "disk": disk,
    "counts": counts,
}


def main() -> None:
    """Makes the stores, or prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--make", type=Path, nargs="?", const=Path(), help="make the stores, of a file of LoCoMo or of invented words")
    parser.add_argument("--only", default=",".join(ROWS), help=f"some of {', '.join(ROWS)}")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    names = given.only.split(",")
    if unknown := [name for name in names if name not in ROWS]:
        parser.error(f"--only: there are no rows {', '.join(unknown)}: name some of {', '.join(ROWS)}")
    source = given.folder / "texts.txt"
    if given.child == "memory":
        memory_of_process(given.folder)
        return
    if given.make is not None:
        given.folder.mkdir(parents=True)
        source.write_text(str(given.make.resolve()) if given.make.is_file() else "")
    named = source.read_text()
    texts = Texts(Path(named) if named else None)
    if given.child is not None:
        first_of_process(given.folder, texts, int(given.child))
        return
    if given.make is not None:
        made(given.folder, texts)
        return
    print(f"{machine()}; texts of {'LoCoMo' if named else 'invented words'}; medians\n")
    print("| what | measured | asked |\n|---|---|---|")
    for name in names:
        for line in ROWS[name](given.folder, texts):
            print(line, flush=True)


if __name__ == "__main__":
    main()
