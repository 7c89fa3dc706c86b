"""Does the memory with that identifier rank first? Generated memories, ten kinds of identifiers, one small vocabulary.

usage: python tools/ranking/identifiers.py [--memories 200000] [--users 200] [--questions 2000]

Every memory names one identifier of its own; identifiers are put together from the same forty words and few digits, so that nearly
every part of one stands in many others and in the sentences around. Asked is "what did we say about ID in the last meeting?". Prints
hit@1 by kind, once with the memories spread over users and once with all of them in one scope.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
import uuid
from collections import defaultdict
from typing import TYPE_CHECKING

import memspan

if TYPE_CHECKING:
    from collections.abc import Callable

_WORDS = """
auth login user token cache queue index batch retry limit proxy route shard replica billing payment invoice order search mail
report export import sync audit trace metric alert config deploy build test stage prod canary backup restore worker broker gateway
"""
WORDS = _WORDS.split()
SENTENCES = (
    "we said that {} blocks the {a} {b} until the {c} is done",
    "{} was moved from {a} to {b} after the {c} meeting",
    "the {a} team owns {}, and {b} depends on it for the {c}",
    "in the last meeting somebody asked about {} and the {a} {b}",
    "remember to look at {} before the next {a} {b} {c}",
)
QUESTION = "what did we say about {} in the last meeting?"


def kinds(r: random.Random) -> dict[str, Callable[[], str]]:
    """How an identifier of each kind is made."""

    def word() -> str:
        return r.choice(WORDS)

    def digits(least: int, most: int) -> str:
        return str(r.randint(least, most))

    return {
        "bare number": lambda: digits(100, 999_999),
        "pull request": lambda: f"#{digits(100, 99_999)}",
        "ticket": lambda: f"{r.choice(('PAY', 'OPS', 'WEB', 'API'))}-{digits(1, 99_999)}",
        "branch": lambda: f"{r.choice(('fix', 'feature', 'hotfix'))}/{word()}-{word()}-{word()}",
        "host": lambda: f"{word()}-{word()}-{r.choice(('eu', 'us', 'ap'))}-{r.choice(('west', 'east'))}-{digits(1, 99)}",
        "path": lambda: f"src/{word()}/{word()}_{word()}.{r.choice(('rs', 'py', 'ts'))}:{digits(1, 999)}",
        "function": lambda: f"{r.choice(('get', 'set', 'make'))}{word().title()}{word().title()}By{word().title()}",
        "version": lambda: f"{word()}-{word()}-v{digits(0, 30)}.{digits(0, 60)}.{digits(0, 60)}",
        "uuid": lambda: str(uuid.UUID(int=r.getrandbits(128), version=4)),
        "hash": lambda: f"{r.getrandbits(40):010x}",
    }


def memories(count: int, scopes: int, seed: int) -> list[tuple[int, str, str, str]]:
    """Scope, kind, identifier and text of each; an identifier stands once in its scope."""
    r = random.Random(seed)  # noqa: S311  the same memories in every run
    make, seen, rows = list(kinds(r).items()), set[tuple[int, str]](), []
    for number in range(count):
        scope, (kind, identifier) = number % scopes, make[number // scopes % len(make)]
        name = identifier()
        while (scope, name.lower()) in seen:
            name = identifier()
        seen.add((scope, name.lower()))
        a, b, c = r.choice(WORDS), r.choice(WORDS), r.choice(WORDS)
        rows.append((scope, kind, name, r.choice(SENTENCES).format(name, a=a, b=b, c=c)))
    return rows


def measure(count: int, scopes: int, questions: int) -> None:
    """Writes them, asks, and prints."""
    rows = memories(count, scopes, seed=7)
    with tempfile.TemporaryDirectory() as folder, memspan.open(f"{folder}/a.memspan", durability="relaxed") as engine:
        by_scope = defaultdict[int, list[str]](list)
        for scope, _, _, text in rows:
            by_scope[scope].append(text)
        for scope, texts in by_scope.items():
            engine.user(f"u-{scope}").remember_many(texts)
        hits, times = defaultdict[str, list[bool]](list), list[float]()
        for scope, kind, name, text in random.Random(11).sample(rows, questions):  # noqa: S311
            started = time.perf_counter()
            found = engine.user(f"u-{scope}").recall(QUESTION.format(name), limit=1)
            times.append(time.perf_counter() - started)
            hits[kind].append(len(found) == 1 and found[0].memory.text == text)
    every = [hit for of in hits.values() for hit in of]
    print(f"{count} memories in {scopes} scopes: hit@1 {statistics.mean(every):.4f}, p50 {1e3 * statistics.median(times):.2f} ms")
    print("  " + ", ".join(f"{kind} {statistics.mean(of):.3f}" for kind, of in sorted(hits.items())))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--memories", type=int, default=200_000)
    options.add_argument("--users", type=int, default=200)
    options.add_argument("--questions", type=int, default=2000)
    chosen = options.parse_args()
    for scopes in (chosen.users, 1):
        measure(chosen.memories, scopes, min(chosen.questions, chosen.memories))


if __name__ == "__main__":
    main()
