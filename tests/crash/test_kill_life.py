"""kill -9 at random points of learning and consolidating: nothing is half done, and going on makes nothing twice."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import memspan

if TYPE_CHECKING:
    from pathlib import Path

LEARNER = """
import sys, memspan
from memspan import _learning
_learning.PAGE = 4
with memspan.open(sys.argv[1]) as engine:
    user = engine.user("u")
    print("ready", flush=True)
    user.learn(user.session("s"))
    user.consolidate(closeness=0.6)
    print("done", flush=True)
"""

MESSAGES = 60


def talk(number: int) -> str:
    return f"Remember that service-{number} listens on port {4000 + number}. Call me Ana{number}."


def test_a_learner_that_dies_is_gone_on_with(store: Path, rounds: int) -> None:
    chance = random.Random(9)  # noqa: S311  the same chances in every run
    with memspan.open(store) as engine:
        session = engine.user("u").session("s", model="gpt-4o")
        session.add_many([{"role": "user", "content": talk(number)} for number in range(MESSAGES)])
        for name in ("walks", "is walking", "walked"):
            engine.user("u").remember(f"The user {name} along the old harbour wall every evening", "episodic")
    for _ in range(rounds):
        process = subprocess.Popen([sys.executable, "-c", LEARNER, str(store)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(chance.random() * 0.05)
        process.kill()
        process.wait()
        process.stdout.close()
        with memspan.open(store) as engine:
            assert engine.check().findings == ()
            texts = [memory.text for memory in engine.user("u").memories(kinds="semantic")]
            assert len(texts) == len(set(texts))
    done = subprocess.run([sys.executable, "-c", LEARNER, str(store)], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "ready\ndone\n"
    with memspan.open(store) as engine:
        user = engine.user("u")
        texts = sorted(memory.text for memory in user.memories(kinds="semantic"))
        assert texts == sorted(f"Service-{number} listens on port {4000 + number}" for number in range(MESSAGES))
        assert user.slots["name"].text == f"The user's name is Ana{MESSAGES - 1}."
        assert len(list(user.memories(kinds="episodic"))) == 1
        assert engine.check().findings == ()


MAINTAINER = """
import datetime, sys, memspan
rules = {"episodic": memspan.KindRule(cap=50), "semantic": memspan.KindRule(ttl_days=1)}
later = datetime.datetime(2040, 1, 1, tzinfo=datetime.UTC)
with memspan.open(sys.argv[1], kinds=rules, clock=lambda: later) as engine:
    print("ready", flush=True)
    engine.maintain()
    print("done", flush=True)
"""


def test_a_maintainer_that_dies_is_gone_on_with(store: Path, rounds: int) -> None:
    chance = random.Random(10)  # noqa: S311  the same chances in every run
    with memspan.open(store) as engine:
        user = engine.user("u")
        rows = [{"text": f"event {number} at the harbour", "kind": "episodic", "importance": number / 400} for number in range(400)]
        user.remember_many(rows)
        user.remember_many([{"text": f"note {number} of the day", "ttl_seconds": 60} for number in range(300)])
        kept = user.remember("The user keeps a boat", "profile").memory
    for _ in range(rounds):
        process = subprocess.Popen([sys.executable, "-c", MAINTAINER, str(store)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(chance.random() * 0.03)
        process.kill()
        process.wait()
        process.stdout.close()
        with memspan.open(store) as engine:
            assert engine.check().findings == ()
            left = [memory.importance for memory in engine.user("u").memories(kinds="episodic")]
            assert left == sorted(left), "the least valuable leave first, and none twice"
    done = subprocess.run([sys.executable, "-c", MAINTAINER, str(store)], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "ready\ndone\n"
    with memspan.open(store) as engine:
        user = engine.user("u")
        assert [memory.text for memory in user.memories(kinds="episodic")] == [
            f"event {number} at the harbour" for number in range(350, 400)
        ]
        assert [memory.id for memory in user.memories(kinds=["semantic", "profile"])] == [kept.id]
        assert engine.check().findings == ()
