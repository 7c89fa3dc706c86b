"""A process that writes until it is killed: it notes what it is about to do, does it, and notes that it was acknowledged.

    python writer.py < requests

A request is a line: a JSON array of STORE LOG NAME SEED CONDUCT. Each is answered with the id of a child that writes, forked of this process so that none pays for the import; `wait PID`
is answered with the signal that ended it. A line of the log is JSON: `["begin", operation]` or `["done"]`. The log goes through the kernel, so that the death of this process loses
nothing of it. CONDUCT is "honest", or a way to lose writes that the harness has to notice: "behind" (acknowledges what it has not
written yet), "forgetful" (does not forget what it says it forgot).
"""

from __future__ import annotations

import json
import os
import random
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

import memspan

Operation = list[Any]


class Writer:
    def __init__(self, store: str, log: str, name: str, seed: int, conduct: str) -> None:
        self.engine = memspan.open(store, busy_timeout_seconds=60)
        self.scope = self.engine.user("everyone")
        self.session = self.scope.session(name, "gpt-4o")
        self.documents = self.scope.collection("documents")
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.name = name
        self.chance = random.Random(seed)  # noqa: S311  the same run for the same seed
        self.conduct = conduct
        self.known: list[str] = []
        self.documents_known: list[str] = []
        self.said: list[int] = []
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
        if kind < 0.88:
            return ["forget", self.known.pop(self.chance.randrange(len(self.known)))]
        if kind < 0.98:
            return self.next_beside()
        return ["compact"]

    def next_beside(self) -> Operation:
        """A write to what is not a memory."""
        match self.chance.randrange(6):
            case 0 if self.said:
                return ["redact", self.said.pop(self.chance.randrange(len(self.said)))]
            case 1 if self.documents_known:
                return ["delete", self.documents_known.pop(self.chance.randrange(len(self.documents_known)))]
            case 2:
                return ["document", f"{self.name}-{self.chance.randrange(3)}", self.text()]
            case 3:
                return ["task", self.text()]
            case _:
                return ["say", self.text()]

    def do(self, operation: Operation) -> None:
        match operation:
            case ["remember", rows] if self.conduct != "behind":
                self.scope.remember_many(rows)
            case ["revise", memory_id, text] if self.conduct != "behind":
                with suppress(memspan.InvalidInput):  # another memory took its slot: only what is current is revised
                    self.scope.revise(memory_id, text)
            case ["forget", memory_id] if self.conduct == "honest":
                self.scope.forget(memory_id, reason="asked to")
            case ["say", text]:
                self.said.append(self.session.add({"role": "user", "content": text}).index)
            case ["redact", index]:
                self.session.redact(index)
            case ["document", document_id, text]:
                self.documents.add(document_id, text)
                self.documents_known = sorted({*self.documents_known, document_id})
            case ["delete", document_id]:
                self.documents.delete(document_id)
            case ["task", text]:
                self.session.task("work").set("plan", text)
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


def serve() -> None:
    """Forks a child for each request, and tells what became of it."""
    for line in sys.stdin:
        request = json.loads(line)
        if request[0] == "wait":
            _, status = os.waitpid(request[1], 0)
            print(os.WTERMSIG(status) if os.WIFSIGNALED(status) else -1, flush=True)
        elif pid := os.fork():
            print(pid, flush=True)
        else:
            write(*request)


def write(store: str, log: str, name: str, seed: int, conduct: str) -> None:
    """All that a child does: it never returns to the loop of its parent."""
    try:
        Path(log).touch()
        Writer(store, log, name, seed, conduct).run()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


if __name__ == "__main__":
    serve()
