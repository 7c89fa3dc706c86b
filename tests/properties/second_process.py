"""Another process with the same store: reads one command a line, answers one line. Its clock is what the command says."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import Any

import memspan


def main() -> None:
    now = datetime(2025, 1, 1, tzinfo=UTC)
    engines: dict[str, memspan.Engine] = {}
    for line in sys.stdin:
        command: dict[str, Any] = json.loads(line)
        now = datetime.fromisoformat(command["now"])
        path = command["path"]
        if command["do"] == "close":
            if path in engines:
                engines.pop(path).close()
            print("{}", flush=True)  # noqa: T201
            continue
        if path not in engines:
            engines[path] = memspan.open(path, clock=lambda: now)  # noqa: B023  the one clock of this process
        scope = engines[path].user("everyone")
        if command["do"] == "remember":
            answer: dict[str, Any] = {"action": scope.remember(**command["row"]).action}
        elif command["do"] == "forget":
            answer = {"forgotten": scope.forget(command["id"])}
        else:
            answer = {memory.id: memory.text for memory in scope.memories()}
        print(json.dumps(answer), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
