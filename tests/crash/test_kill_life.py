"""kill -9 at random points of learning and consolidating: nothing is half done, and going on makes nothing twice."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

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


DYING = """
import os, signal, sys, memspan
from memspan import _core, _learning
_learning.PAGE = 4
step, when, wanted = sys.argv[2], sys.argv[3], int(sys.argv[4])
calls = 0

def dies(work):
    def step_of(*given, **options):
        global calls
        calls += 1
        if calls == wanted and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        done = work(*given, **options)
        if calls == wanted and when == "behind":
            os.kill(os.getpid(), signal.SIGKILL)
        return done
    return step_of

class Embedder:
    name, dimensions = "dying", 8
    def embed(self, texts):
        return [[float(ord(letter) % 7 + 1) for letter in text.ljust(8)[:8]] for text in texts]

embedder = Embedder()
if step == "embed":
    embedder.embed = dies(embedder.embed)
elif step != "none":
    core = _core.ScopeCore if hasattr(_core.ScopeCore, step) else _core.EngineCore
    setattr(core, step, dies(getattr(core, step)))
with memspan.open(sys.argv[1], embedder=embedder) as engine:
    user = engine.user("u")
    user.learn(user.session("s"))
    engine.maintain()
    user.consolidate(closeness=0.6)
print("done", flush=True)
"""


@pytest.mark.parametrize("when", ["before", "behind"])
@pytest.mark.parametrize(
    ("step", "call"),
    [
        ("learn_mark", 1),
        ("judge_session", 2),
        ("drafts", 2),
        ("embed", 1),
        ("embed", 3),
        ("learn", 1),
        ("learn", 3),
        ("clusters", 1),
        ("merge", 1),
        ("maintain", 1),
        ("forget_over_cap", 1),
    ],
)
def test_a_death_at_a_step_is_gone_on_from(store: Path, step: str, call: int, when: str) -> None:
    with memspan.open(store, embedder=None) as engine:
        user = engine.user("u")
        user.session("s", model="gpt-4o").add_many([{"role": "user", "content": talk(number)} for number in range(12)])
        walks = [f"The user {name} along the old harbour wall" for name in ("walks", "is walking", "walked")]
        user.remember_many([{"text": text, "kind": "episodic"} for text in walks])

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", DYING, str(store), *arguments], capture_output=True, text=True, check=False, timeout=60
        )

    assert run(step, when, str(call)).returncode == -9, "it never came to that step"
    with memspan.open(store, embedder=None) as engine:
        assert engine.check().findings == ()
        texts = [memory.text for memory in engine.user("u").memories()]
        assert len(texts) == len(set(texts))
    assert run("none", "", "0").stdout == "done\n"
    with memspan.open(store, embedder=None) as engine:
        user = engine.user("u")
        told = sorted(memory.text for memory in user.memories(kinds="semantic"))
        assert told == sorted(f"Service-{number} listens on port {4000 + number}" for number in range(12))
        assert user.slots["name"].text == "The user's name is Ana11."
        assert engine.check().findings == ()
