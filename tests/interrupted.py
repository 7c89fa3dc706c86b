"""Interrupts every long call of a store by Ctrl-C, and says how long each went on: a program of its own, since signals are a process's.

    python interrupted.py FOLDER

A line for each call: its name, and the milliseconds from the signal to its end, or "finished" where it was done before. Then "sound".
"""

# ruff: noqa: T201  what it prints is read by a test
from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import memspan

if TYPE_CHECKING:
    from collections.abc import Callable

DELAY = 0.03  # seconds from the beginning of a call to the signal
KEY = bytes(32)
FACTS = [f"fact {n} about service-{n % 97} and port {8000 + n % 1000} of build {n * 7}" for n in range(6_000)]
LONG = "some words of prose about port 8443. " * 300_000
TOLD = [{"role": "user", "content": " ".join(f"Sorry, I meant Porto{n}." for n in range(60))}] * 60
SAID = [{"role": ("user", "assistant")[n % 2], "content": f"message {n} " + "some words of prose " * 20} for n in range(3_000)]


class Slow:
    """An embedder that is busy for a while."""

    name, dimensions = "slow", 64

    def embed(self, texts: list[str]) -> list[list[float]]:
        time.sleep(0.01)
        return [[1.0] * 64 for _ in texts]


def fill(store: Path) -> None:
    with memspan.open(store, durability="relaxed") as engine:
        user = engine.user("u")
        user.remember_many(FACTS)
        user.session("s", "gpt-4o").add_many(SAID)
        user.collection("c").add("d.md", "# h\n\n" + "words of a document. " * 40_000)
        engine.export(store.parent / "whole.jsonl")


def calls(folder: Path) -> dict[str, tuple[dict[str, object], Callable[[memspan.Engine], object]]]:
    """Options of `open`, and what is called."""
    return {
        "check": ({}, lambda engine: engine.check()),
        "backup": ({}, lambda engine: engine.backup(folder / "backup")),
        "compact": ({}, lambda engine: engine.maintain(compact=True)),
        "export": ({}, lambda engine: engine.export(folder / "again.jsonl")),
        "remember_many": ({}, lambda engine: engine.user("v").remember_many(FACTS * 5)),
        "add_many": ({}, lambda engine: engine.user("v").session("t", "gpt-4o").add_many(SAID * 3)),
        "document": ({}, lambda engine: engine.user("v").collection("c").add("x.md", "words of a document. " * 200_000)),
        "reembed": ({"embedder": Slow()}, lambda engine: engine.reembed()),
        "session.compact": ({}, lambda engine: engine.user("u").session("s").compact(keep_exchanges=1)),
        "message": ({}, lambda engine: engine.user("v").session("t", "gpt-4o").add({"role": "user", "content": LONG})),
        "learn": ({}, lambda engine: engine.user("v").learn(TOLD * 40)),
        "rewind": ({}, lambda engine: engine.user("u").session("s").rewind(0)),
        "session.delete": ({}, lambda engine: engine.user("u").session("s").delete()),
        "forget_stale": ({}, lambda engine: engine.user("u").forget_stale(unused_days=0, max_importance=1.0)),
        "erase": ({}, lambda engine: engine.user("u").erase(reason="asked to")),
    }


def interrupted(call: Callable[[threading.Event], object]) -> str:
    begun, over, sent = threading.Event(), threading.Event(), [0.0]

    def send() -> None:
        begun.wait()
        if not over.wait(DELAY):
            sent[0] = time.monotonic()
            os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    ended = 0.0
    try:
        try:
            call(begun)
            outcome = "finished"
        finally:
            ended = time.monotonic()
            begun.set()
            over.set()
        sender.join()
    except KeyboardInterrupt:
        outcome = f"{(ended - sent[0]) * 1000:.0f}"
        sender.join()
    return outcome


def run(folder: Path, name: str) -> str:
    """One call on a copy of the store, which must be whole behind it."""
    options, call = calls(folder)[name]
    store = folder / "copy"
    shutil.rmtree(store, ignore_errors=True)
    memspan.open(folder / "s").backup(store)
    with memspan.open(store, durability="relaxed", **options) as engine:  # type: ignore[arg-type]

        def timed(begun: threading.Event) -> None:
            begun.set()
            call(engine)

        outcome = interrupted(timed)
    with memspan.open(store) as engine:
        assert engine.check().sound, name
    return outcome


def opened(folder: Path) -> str:
    """A copy made by hand is read as a whole when it is opened."""
    store = folder / "by-hand"
    shutil.copytree(folder / "s", store)

    def timed(begun: threading.Event) -> None:
        begun.set()
        memspan.open(store).close()

    return interrupted(timed)


def rekeyed(folder: Path) -> str:
    """It has the old key or the new one."""
    store = folder / "rekeyed"
    memspan.open(folder / "s").backup(store)
    engine = memspan.open(store)

    def timed(begun: threading.Event) -> None:
        begun.set()
        engine.rekey(KEY)

    outcome = interrupted(timed)
    engine.close()
    try:
        again = memspan.open(store, key=KEY)
    except memspan.WrongKey:
        again = memspan.open(store)
    with again:
        assert again.check().sound
    return outcome


def loaded(folder: Path) -> str:
    """It has all of the export or is empty."""
    with memspan.open(folder / "loaded") as engine:

        def timed(begun: threading.Event) -> None:
            begun.set()
            engine.load(folder / "whole.jsonl")

        outcome = interrupted(timed)
        assert len(list(engine.user("u").memories())) in {0, len(FACTS)}
        assert engine.check().sound
    return outcome


def main() -> None:
    folder = Path(sys.argv[1])
    fill(folder / "s")
    for name in calls(folder):
        print(name, run(folder, name), flush=True)
    for name, whole in (("open", opened), ("rekey", rekeyed), ("load", loaded)):
        print(name, whole(folder), flush=True)
    with memspan.open(folder / "s") as engine:
        assert engine.check().sound
    print("sound", flush=True)


if __name__ == "__main__":
    main()
