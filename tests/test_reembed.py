"""A store changes its embedder: answers go on, nothing is mixed, and whatever dies in between is taken up again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.embedding import BuiltIn
from memspan.testing import FakeEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FACTS = ["payments-api listens on port 8443", "The user adopted a kitten last week", "Never deploy on a Friday"]
PARAPHRASE = "which pet does she have?"  # shares no word with the second fact


class Counting(FakeEmbedder):
    """What each of its calls was asked."""

    def __init__(self, name: str, dimensions: int = 32) -> None:
        super().__init__(dimensions, name=name)
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked.extend(texts)
        return super().embed(texts)


def test_the_old_embedder_answers_until_the_new_vectors_are_whole(store: Path) -> None:
    old, new = Counting("old"), Counting("new", 48)
    seen: list[tuple[int, int]] = []
    with memspan.open(store, embedder=old) as engine:
        user = engine.user("u")
        user.remember_many([*FACTS, *(f"note {number}" for number in range(600))])

        def look(made: int, missing: int) -> None:
            seen.append((made, missing))
            if made < missing:
                new.break_with("raise")  # the question must not go to it: the scope still has the old vectors
                recall = user.recall(f"payments-api port? {made}")
                assert (recall.mode, recall.degraded) == ("hybrid", made > 256)  # what was written meanwhile has no old vector
                assert recall[0].explain().cosine is not None
                new.mend()
                user.remember(f"written after {made}")

        report = engine.reembed(new, progress=look)
        assert seen[0] == (256, 603)
        assert report.made == 603  # what was written meanwhile came with its own
        assert report.missing == 0
        asked = len(old.asked)
        recall = user.recall("payments-api port?")
        assert (recall.degraded, recall.mode) == (False, "hybrid")
        assert len(old.asked) == asked
        assert new.asked[-1] == "payments-api port?"
        user.remember("Prefers coffee")
        assert (engine.metrics()["to_embed"], engine.maintain().vectors_made) == (0, 0)
        assert engine.check().sound
        assert engine.check().vectors == engine.metrics()["memories"]
    with memspan.open(store, embedder=Counting("new", 48)) as engine:
        assert not engine.user("u").recall("payments-api port?").degraded


def test_the_built_in_embedding_serves_until_another_is_whole_and_takes_over_again(store: Path) -> None:
    with memspan.open(store) as engine:
        engine.user("u").remember_many(FACTS)
    embedder = FakeEmbedder(32)
    with memspan.open(store, embedder=embedder) as engine:
        user = engine.user("u")
        recall = user.recall(PARAPHRASE)
        assert (recall[0].memory.text, recall.mode, recall.degraded) == (FACTS[1], "hybrid", False)
        assert engine.metrics()["to_embed"] == 3
        assert engine.reembed() == memspan.engine.ReembedReport(made=3, missing=0)
        assert user.recall("payments-api port?").mode == "hybrid"
        assert engine.reembed(BuiltIn()) == memspan.engine.ReembedReport(made=3, missing=0)
        recall = user.recall(PARAPHRASE)
        assert (recall[0].memory.text, recall.degraded) == (FACTS[1], False)
        session = user.session("s", model="gpt-4o")
        session.add({"role": "user", "content": PARAPHRASE})
        assert FACTS[1] in session.assemble().text
        assert engine.check().sound


def test_a_store_from_before_the_built_in_embedding(tmp_path: Path, repository: Path) -> None:
    store = tmp_path / "store.memspan"
    shutil.copytree(repository / "tests/golden/format-1/store", store)
    with memspan.open(store, embedder=BuiltIn()) as engine:
        report = engine.reembed()
        assert report.made == engine.metrics()["memories"] > 0
        assert report.missing == 0
        assert engine.check().sound
        assert engine.reembed().made == 0


def test_an_embedder_that_fails_in_the_middle_leaves_the_old_vectors(store: Path) -> None:
    new = FakeEmbedder(48, name="new")
    with memspan.open(store, embedder=FakeEmbedder(32, name="old")) as engine:
        user = engine.user("u")
        user.remember_many([f"note {number}" for number in range(600)])

        def stop(made: int, _missing: int) -> None:
            if made == 256:
                new.break_with("raise", times=1)

        with pytest.raises(memspan.EmbedderError, match="256 of 600") as caught:
            engine.reembed(new, progress=stop)
        assert (caught.value.made, caught.value.missing) == (256, 600)
        recall = user.recall("note 7")
        assert (recall.mode, recall.degraded) == ("hybrid", False)
        assert engine.check().sound
        assert engine.reembed() == memspan.engine.ReembedReport(made=344, missing=0)
        assert engine.check().sound


def test_texts_that_the_new_embedder_refuses(store: Path) -> None:
    class Picky(FakeEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            rows = super().embed(texts)
            for row, text in zip(rows, texts, strict=True):
                row[:] = 0 if "kitten" in text else row
            return rows

    with memspan.open(store) as engine:
        user = engine.user("u")
        user.remember_many(FACTS)
        assert engine.reembed(Picky(32)) == memspan.engine.ReembedReport(made=2, missing=1)
        recall = user.recall("whom did the user adopt?")
        assert (recall[0].memory.text, recall.mode) == (FACTS[1], "hybrid")
        assert "1 of 3 memories have no vector yet" in (recall.degraded_reason or "")


def test_reembedding_needs_an_embedder(store: Path) -> None:
    with memspan.open(store, embedder=None) as engine:
        with pytest.raises(memspan.InvalidInput, match="needs an embedder"):
            engine.reembed()
        with pytest.raises(memspan.InvalidInput, match="embedder"):
            engine.reembed("default")  # type: ignore[arg-type]
        engine.user("u").remember_many(FACTS)
        assert engine.reembed(BuiltIn()).made == 3
        assert engine.user("u").recall(PARAPHRASE)[0].memory.text == FACTS[1]
    with memspan.open(store, read_only=True) as engine, pytest.raises(memspan.ReadOnly):
        engine.reembed()


async def twin(store: Path) -> memspan.engine.ReembedReport:
    async with await memspan.aopen(store) as engine:
        await engine.user("u").aremember_many(FACTS)
        return await engine.areembed(FakeEmbedder(16))


def test_the_awaitable_twin(store: Path) -> None:
    import asyncio

    assert asyncio.run(twin(store)).made == 3


CHILD = """
import sys, time
import memspan
from memspan.testing import FakeEmbedder

class Slow(FakeEmbedder):
    def embed(self, texts):
        time.sleep(0.05)
        return super().embed(texts)

engine = memspan.open(sys.argv[1], embedder=Slow(48, name="new"))
engine.reembed(progress=lambda made, missing: print(made, flush=True))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="it kills by a signal")
def test_a_killed_process_is_taken_up_by_the_next(store: Path) -> None:
    with memspan.open(store, embedder=FakeEmbedder(32, name="old")) as engine:
        for user in ("u", "v"):
            engine.user(user).remember_many([f"note {number} of {user}" for number in range(700)])
    kills, left = 0, 1400
    while left and kills < 3:
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(store)], stdout=subprocess.PIPE, text=True, env={**os.environ})
        assert child.stdout is not None
        child.stdout.readline()  # at least one step is in the store
        time.sleep(0.06 * kills)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        kills += 1
        with memspan.open(store, embedder=FakeEmbedder(48, name="new")) as engine:
            before, left = left, engine.metrics()["to_embed"]
            assert left < before
            assert engine.check().sound
    with memspan.open(store, embedder=FakeEmbedder(48, name="new")) as engine:
        assert engine.reembed() == memspan.engine.ReembedReport(made=left, missing=0)
        assert engine.check().sound
        assert engine.check().vectors == 1400
        assert not engine.user("v").recall("note 7 of v").degraded


def test_the_command(store: Path) -> None:
    from memspan import cli

    with memspan.open(store, embedder=FakeEmbedder(32)) as engine:
        engine.user("u").remember_many(FACTS)
    assert cli.main(["reembed", "--json", str(store)]) == 0
    with memspan.open(store, embedder=BuiltIn()) as engine:
        assert engine.metrics()["to_embed"] == 0
        assert engine.user("u").recall(PARAPHRASE)[0].memory.text == FACTS[1]
