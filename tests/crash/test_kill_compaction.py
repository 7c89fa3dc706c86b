"""kill -9 while a session is compacted over and over: the old epoch or the new one, the transcript whole, the store sound."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import memspan

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import sys, memspan
session = memspan.open(sys.argv[1]).user("u").session("s", model="gpt-4o")
n = len(session.messages) // 2
while True:
    session.add_many([{"role": "user", "content": f"build-{n} must run on host-{n}"}, {"role": "assistant", "content": f"log-{n}"}])
    session.compact(keep_exchanges=1)
    print(n, flush=True)
    n += 1
"""


def test_a_killed_compaction_leaves_one_epoch_or_the_other(tmp_path: Path, rounds: int) -> None:
    path, chance, acknowledged = tmp_path / "a.memspan", random.Random(3), -1  # noqa: S311  the same run every time
    for _ in range(rounds):
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate()
        acknowledged = max([acknowledged, *map(int, out.split())])
        with memspan.open(path) as engine:
            session = engine.user("u").session("s")
            messages, summary = len(session.messages), session.summary
            assert messages >= 2 * (acknowledged + 1)
            if messages <= 4:
                continue
            assert summary is not None
            assert summary.covers.stop in (messages - 2, messages - 4), "the one before, or this one"
            assert "must run on host-" in summary.text
            session.assemble()
            assert not engine.check().findings
