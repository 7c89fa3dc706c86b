"""A process that writes until it is killed: it notes what it is about to do, does it, and notes that it was acknowledged.

    python writer.py STORE LOG NAME SEED CONDUCT

A line of the log is JSON: `["begin", operation]` or `["done"]`. The log goes through the kernel, so that the death of this process loses
nothing of it. CONDUCT is "honest", or a way to lose writes that the harness has to notice: "behind" (acknowledges what it has not
written yet), "forgetful" (does not forget what it says it forgot).
"""

from __future__ import annotations

import json
import os
import random
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import memspan

Operation = list[Any]


class Writer:
    def __init__(self, store: str, log: str, name: str, seed: int, conduct: str) -> None:
        self.scope = memspan.open(store, busy_timeout_seconds=60).user("everyone")
        self.engine = memspan.open(store, busy_timeout_seconds=60)
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.name = name
        self.chance = random.Random(seed)  # noqa: S311  the same run for the same seed
        self.conduct = conduct
        self.known: list[str] = []
        self.count = 0

    def note(self, *line: object) -> None:
        os.write(self.log, json.dumps(line).encode() + b"\n")

    def text(self) -> str:
        """One with a word that no other text has, some of them longer than a page."""
        self.count += 1
        filler = "and so on " * (600 if self.chance.random() < 0.05 else self.chance.randrange(8))
        return f"marker{self.name}n{self.count} {filler}".strip()

    def row(self) -> dict[str, Any]:
        row: dict[str, Any] = {"id": f"{self.name}-{self.count}", "text": self.text()}
        if self.chance.random() < 0.4:
            row["slot"] = f"{self.name} slot {self.chance.randrange(3)}"
        return row

    def next(self) -> Operation:
        kind = self.chance.random()
        if kind < 0.5 or not self.known:
            return ["remember", [self.row()]]
        if kind < 0.6:
            return ["remember", [self.row() for _ in range(self.chance.randrange(2, 30))]]
        if kind < 0.8:
            return ["revise", self.chance.choice(self.known), self.text()]
        if kind < 0.98:
            return ["forget", self.known.pop(self.chance.randrange(len(self.known)))]
        return ["compact"]

    def do(self, operation: Operation) -> None:
        match operation:
            case ["remember", rows] if self.conduct != "behind":
                self.scope.remember_many(rows)
            case ["revise", memory_id, text] if self.conduct != "behind":
                with suppress(memspan.InvalidInput):  # another memory took its slot: only what is current is revised
                    self.scope.revise(memory_id, text)
            case ["forget", memory_id] if self.conduct == "honest":
                self.scope.forget(memory_id, reason="asked to")
            case ["compact"]:
                self.engine.maintain(compact=True)
            case _:
                pass

    def run(self) -> None:
        while True:
            operation = self.next()
            self.note("begin", operation)
            self.do(operation)
            self.note("done")
            if operation[0] == "remember":
                self.known += [row["id"] for row in operation[1]]


if __name__ == "__main__":
    Path(sys.argv[2]).touch()
    Writer(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]).run()
