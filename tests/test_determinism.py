"""The same calls under the same clock give the same bytes and the same answers, in every process."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import lmdb
from hypothesis import given
from hypothesis import strategies as st

import memspan
from memspan.testing import FakeClock, FakeEmbedder, temporary_engine

if TYPE_CHECKING:
    from pathlib import Path

META = bytes([0, 0, 0, 0, 1])

SCRIPT = """
import hashlib, sys
import memspan
from memspan.testing import FakeClock, FakeEmbedder

digest = hashlib.sha256()
clock = FakeClock()
with memspan.open(sys.argv[1], clock=clock, embedder=FakeEmbedder(48)) as engine:
    user, acme = engine.user("u"), engine.shared("acme")
    user.remember_many({"text": f"fact {n % 97} about thing-{n % 31}", "slot": f"s-{n}" if n % 10 == 0 else None} for n in range(600))
    acme.remember_many([{"text": f"rule {n}", "metadata": {"b": n, "a": [n]}} for n in range(50)])
    for number in range(40):
        clock.advance(hours=1)
        user.forget(f"mem-{number + 3}") if number % 5 == 0 else user.remember(f"later {number}", slot=f"s-{number}")
    for query in ("fact 12 thing-3", "rule 7 later", "thing-30", "xyzzy"):
        recall = user.recall(query, limit=20, also=[acme])
        digest.update(repr((recall.confidence, [(h.score, h.memory.id, h.scope.id, str(h.explain())) for h in recall])).encode())
    engine.backup(sys.argv[2])
print(digest.hexdigest())
"""


def run(script: Path, tmp_path: Path, name: str, seed: str) -> tuple[str, str]:
    paths = [str(tmp_path / f"{name}-{part}") for part in ("store", "copy")]
    done = subprocess.run([sys.executable, str(script), *paths], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed})
    return done.stdout, values_of(tmp_path / f"{name}-copy")


def values_of(store: Path) -> str:
    """A digest of every value but what the store is: a backup is another store."""
    [data] = store.glob("gen-*")
    digest = hashlib.sha256()
    with lmdb.open(str(data), readonly=True, lock=False) as environment, environment.begin() as transaction:
        for key, value in transaction.cursor():
            if key[:5] != META:
                digest.update(key + value)
    return digest.hexdigest()


def test_two_processes_give_the_same_answers_and_the_same_bytes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    memspan.open(tmp_path / "empty").close()
    for name in ("one", "two"):  # of one store: another one hashes with a secret of its own
        shutil.copytree(tmp_path / "empty", tmp_path / f"{name}-store")
    assert run(script, tmp_path, "one", "1") == run(script, tmp_path, "two", "2")


TEXTS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(str.strip), min_size=1, max_size=12, unique=True
)


@given(TEXTS, st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_one_by_one_and_in_a_batch_answer_alike(texts: list[str], query: str) -> None:
    answers = []
    for many in (False, True):
        with temporary_engine(clock=FakeClock(), embedder=FakeEmbedder(16), durability="relaxed") as engine:
            user = engine.user("u")
            if many:
                user.remember_many(texts)
            else:
                for text in texts:
                    user.remember(text)
            recall = user.recall(query, limit=20)
            answers.append(([(hit.memory.text, hit.score, hit.explain()) for hit in recall], recall.confidence))
    assert answers[0] == answers[1]


def test_the_order_is_total(user: memspan.Scope) -> None:
    user.remember_many(f"the same words, number {chr(97 + number % 26)}{number}" for number in range(50))
    first = [hit.memory.id for hit in user.recall("the same words", limit=50)]
    assert first == [hit.memory.id for hit in user.recall("the same words", limit=50)]
    assert [hit.memory.id for hit in user.recall("the same words", limit=7)] == first[:7]
