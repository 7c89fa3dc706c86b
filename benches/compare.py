"""Prints the ratios that may be quoted: both sides in turn, in one run, on this machine.

    python benches/compare.py [--memories 100000] [--only recall,turn] [--rounds 300]

Every measurement alternates the sides: call by call where a call is short, process by process where a new process is what is measured.
A ratio is the rival's median over memspan's: above 1, memspan is faster, or smaller.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # before numpy is imported, or it has no effect

import corpus
import memspan
from conversations import Conversations
from report import Row, machine, table
from sides import SIDES, Side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from report import Samples

WRITERS = 32
BULK = 20_000
PROCESSES = 7


class Bench:
    """Both sides with the same memories, loaded when they are first asked for, and what is measured on them."""

    def __init__(self, folder: Path, memories: int, rounds: int) -> None:
        self._folder = folder
        self._memories = memories
        self._rounds = rounds
        self._fresh = count(10_000_000)  # numbers of memories that no store has yet
        self.conversations = Conversations(folder, rounds, memories, lambda: self._sides, memories)

    @cached_property
    def _sides(self) -> dict[str, Side]:
        sides = {name: open_side(self._folder / name) for name, open_side in SIDES.items()}
        rows = list(corpus.memories(self._memories))
        for side in sides.values():
            side.load(rows)
        return sides

    def close(self) -> None:
        """Closes what was opened."""
        self.conversations.close()
        for side in self._sides.values() if "_sides" in self.__dict__ else ():
            side.close()

    def recall(self) -> Iterator[Row]:
        """The ten best, one known item a question."""
        asked = corpus.questions(min(self._rounds, self._memories), self._memories)
        found = dict.fromkeys(SIDES, 0)
        samples: Samples = {name: [] for name in SIDES}
        for question in asked[:20]:
            for side in self._sides.values():
                side.recall(question.user, question.query)
        for question in asked:
            for name, side in self._sides.items():
                started = time.perf_counter()
                texts = side.recall(question.user, question.query)
                samples[name].append(time.perf_counter() - started)
                found[name] += question.answer in texts
        yield Row("recall top 10", "ms", samples, "found " + ", ".join(f"{name} {hits}/{len(asked)}" for name, hits in found.items()))

    def remember(self) -> Iterator[Row]:
        """One durable memory, one thread, three lengths."""
        for words, tokens in ((15, "20"), (180, "250"), (1_400, "2,000")):
            samples: Samples = {name: [] for name in SIDES}
            for _ in range(self._rounds):
                memory = corpus.memory(next(self._fresh), words)
                for name, side in self._sides.items():
                    started = time.perf_counter()
                    side.remember(memory.user, memory.text)
                    samples[name].append(time.perf_counter() - started)
            yield Row(f"remember, {tokens} tokens", "ms", samples)

    def threads(self) -> Iterator[Row]:
        """Durable memories from 32 threads at once: the time of one, by throughput."""
        samples: Samples = {name: [] for name in SIDES}
        each = 8
        with ThreadPoolExecutor(WRITERS) as pool:
            for _ in range(max(3, self._rounds // 60)):
                batches = [[corpus.memory(next(self._fresh)) for _ in range(each)] for _ in range(WRITERS)]
                for name, side in self._sides.items():
                    started = time.perf_counter()
                    list(pool.map(lambda batch, side=side: [side.remember(memory.user, memory.text) for memory in batch], batches))
                    samples[name].append((time.perf_counter() - started) / (WRITERS * each))
        yield Row(f"remember, {WRITERS} threads", "ms", samples)

    def bulk(self) -> Iterator[Row]:
        """A load into an empty store, embedding included: the time of one memory."""
        rows = list(corpus.memories(min(BULK, self._memories)))
        samples: Samples = {name: [] for name in SIDES}
        for turn in range(3):
            for name, open_side in SIDES.items():
                side = open_side(self._folder / f"bulk-{name}-{turn}")
                started = time.perf_counter()
                side.load(rows)
                samples[name].append((time.perf_counter() - started) / len(rows))
                side.close()
        yield Row(f"bulk load, {len(rows):,} memories, each", "ms", samples)

    def open(self) -> Iterator[Row]:
        """Open and first recall in a new process, imports done before; then its resident memory after 300 recalls."""
        assert self._sides
        opened: Samples = {name: [] for name in SIDES}
        resident: Samples = {name: [] for name in SIDES}
        for _ in range(PROCESSES):
            for name in SIDES:
                child = [sys.executable, __file__, "--child", name, str(self._folder / name), "--memories", str(self._memories)]
                result = json.loads(subprocess.run(child, check=True, capture_output=True, text=True).stdout)
                opened[name].append(result["open_seconds"])
                resident[name].append(result["resident_bytes"])
        yield Row("open and first recall, new process", "ms", opened)
        yield Row("resident memory after 300 recalls", "MB", resident)


MEASURES: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "recall": Bench.recall,
    "remember": Bench.remember,
    "threads": Bench.threads,
    "bulk": Bench.bulk,
    "open": Bench.open,
    "turn": lambda bench: bench.conversations.turn(),
    "layout": lambda bench: bench.conversations.layout(),
    "search": lambda bench: bench.conversations.search(),
    "add": lambda bench: bench.conversations.add(),
    "fit": lambda bench: bench.conversations.fit(),
    "count": lambda bench: bench.conversations.count(),
}


def child(name: str, folder: Path, memories: int) -> None:
    """What a new process measures of one side."""
    first, *others = corpus.questions(min(300, memories), memories)
    corpus.HashingEmbedder().embed([first.query])
    started = time.perf_counter()
    side = SIDES[name](folder)
    side.recall(first.user, first.query)
    opened = time.perf_counter() - started
    for question in others:
        side.recall(question.user, question.query)
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    print(json.dumps({"open_seconds": opened, "resident_bytes": resident}))


def main() -> int:
    """Loads both sides, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--memories", type=int, default=int(os.environ.get("MEMSPAN_BENCH_MEMORIES", "100000")))
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--only", default=",".join(MEASURES), help=f"some of {', '.join(MEASURES)}")
    parser.add_argument("--folder", type=Path, help="where the stores go: the disk that is measured (a temporary folder by default)")
    parser.add_argument("--child", nargs=2, metavar=("SIDE", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child[0], Path(options.child[1]), options.memories)
        return 0
    build = memspan.build_info()
    if build["profile"] == "debug":
        print(f"this is a {build['profile']} build, and nobody wants to know how slow that is: make build", file=sys.stderr)
        return 2
    unknown = set(options.only.split(",")) - set(MEASURES)
    if unknown:
        parser.error(f"--only: {', '.join(sorted(unknown))}: one of {', '.join(MEASURES)}")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        bench = Bench(Path(folder), options.memories, options.rounds)
        rows = [row for name in options.only.split(",") for row in MEASURES[name](bench)]
        bench.close()
    print(f"{machine()}; {options.memories:,} memories of {corpus.USERS} users, {corpus.DIMENSIONS} dimensions, one thread unless said\n")
    print("\n".join(table(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
