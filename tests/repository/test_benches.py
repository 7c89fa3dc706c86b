"""The rival must be a good one, the corpus the same for everybody, and no bench may rot."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent.parent
BENCHES = ROOT / "benches"
sys.path.insert(0, str(BENCHES))

import corpus  # noqa: E402  the benches are scripts, not a package
from rivals import diy_session  # noqa: E402
from rivals.diy import Diy  # noqa: E402
from sides import SIDES, remembered_count, request_texts, request_tokens  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def diy(tmp_path: Path) -> Iterator[Diy]:
    store = Diy(tmp_path / "memory.db", corpus.HashingEmbedder())
    yield store
    store.close()


def test_the_corpus_is_the_same_for_everybody() -> None:
    text = "\n".join(f"{memory.user}\t{memory.text}" for memory in corpus.memories(1_000))
    assert hashlib.sha256(text.encode()).hexdigest() == "2e1cbbb65a9cfbe16d65d54640191d01c166dfaee61dd597188f83345c75eaf6"
    assert corpus.question(17).answer == corpus.memory(17).text


def test_the_embedder_gives_unit_vectors_alone_or_in_a_batch() -> None:
    texts = [memory.text for memory in corpus.memories(50)]
    rows = corpus.HashingEmbedder().embed(texts)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)
    for row, text in zip(rows, texts, strict=True):
        np.testing.assert_array_equal(row, corpus.HashingEmbedder().embed([text])[0])


def test_the_rival_finds_every_known_item_loaded_or_remembered(diy: Diy) -> None:
    diy.remember_many((memory.user, memory.text) for memory in corpus.memories(2_500))
    for memory in corpus.memories(100, first=2_500):
        diy.remember(memory.user, memory.text)
    asked = corpus.questions(200, among=2_600)
    assert not [question for question in asked if question.answer not in diy.recall(question.user, question.query)]


def test_the_rival_keeps_users_apart_and_everything_it_was_given(diy: Diy) -> None:
    rows = list(corpus.memories(500))
    diy.remember_many((row.user, row.text) for row in rows)
    assert diy.texts("user07") == [row.text for row in rows if row.user == "user07"]
    assert diy.texts("nobody") == diy.recall("nobody", "anything") == []
    assert set(diy.recall("user07", rows[8].text)) <= set(diy.texts("user07"))


def test_the_rival_survives_questions_that_are_no_words(diy: Diy) -> None:
    diy.remember("u", 'says "quotes" AND operators')
    for query in ("", "???", '"', "AND OR NOT", "a*b:c^d"):
        assert diy.recall("u", query) == ['says "quotes" AND operators']


def test_the_rival_is_as_durable_as_memspan(diy: Diy) -> None:
    connection = diy.connection()
    assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
    assert connection.execute("pragma synchronous").fetchone() == (2,)  # FULL


def test_the_rivals_context_stays_within_its_budget(diy: Diy) -> None:
    diy.remember_many((memory.user, memory.text) for memory in corpus.memories(2_000))
    messages = [{"role": "user", "content": corpus.memory(number, 200).text} for number in range(40)]

    def count(text: str) -> int:
        return len(text.split())

    context = diy.context("user07", corpus.question(7).query, "You are an assistant.", messages, count=count, max_tokens=2_000)
    assert sum(count(message["content"]) + 4 for message in context) <= 2_000
    assert context[-1] is messages[-1]
    assert corpus.memory(7).text in context[0]["content"]


def talk(diy: Diy, user: str = "user07", name: str = "s-1") -> diy_session.DiySession:
    return diy_session.DiySession(diy, user, name, system=corpus.SYSTEM, count=remembered_count())


def test_the_rivals_conversations_keep_their_order_and_fit_by_tiktokens_own_count(diy: Diy) -> None:
    diy.remember_many((memory.user, memory.text) for memory in corpus.memories(2_000))
    messages = [*corpus.conversation(300), {"role": "user", "content": corpus.question(7).query}]
    session = talk(diy)
    session.add_many(messages[:200])
    for message in messages[200:]:
        session.add(message)
    context = session.context(max_tokens=4_000)
    assert context[1:] == messages[1 - len(context) :]
    assert 3_800 < request_tokens({"messages": context}) <= 4_000
    assert corpus.memory(7).text in context[0]["content"]
    assert session.context("", max_tokens=1_000_000)[1:] == messages


def test_the_rival_finds_what_was_said_and_keeps_users_apart(diy: Diy) -> None:
    for number in range(3):
        talk(diy, f"user{number}", "s-1").add_many(corpus.conversation(500, first=number * 1_000, words=50))
        talk(diy, f"user{number}", "s-2").add({"role": "user", "content": f"only in {number}"})
    for number in range(3):
        said = {message["content"] for message in corpus.conversation(500, first=number * 1_000, words=50)} | {f"only in {number}"}
        for at in range(0, 500, 10):
            found = diy_session.search(diy, f"user{number}", corpus.question(number * 1_000 + at, 50).query)
            assert corpus.memory(number * 1_000 + at, 50).text in found
            assert set(found) <= said
    assert diy_session.search(diy, "user1", '"?*') == diy_session.search(diy, "nobody", "only") == []


def test_both_sides_are_asked_for_the_same(tmp_path: Path) -> None:
    messages = [*corpus.conversation(300), {"role": "user", "content": corpus.question(7).query}]
    for name, open_side in SIDES.items():
        side = open_side(tmp_path / name)
        side.load(list(corpus.memories(2_000)))
        conversation = side.conversation("user07", "s-1")
        conversation.load(messages)
        request = conversation.request()
        said = [texts[-1] for texts in request_texts(request)]
        shown = len(said) - 1
        assert said[1:] == [message["content"] for message in messages[-shown:]]
        assert 5_000 < request_tokens(request) <= 8_000, name
        assert any(corpus.memory(7).text in text for texts in request_texts(request) for text in texts)
        assert messages[5]["content"] in side.search("user07", messages[5]["content"])
        side.close()


@pytest.mark.timeout(300)
def test_every_bench_runs_on_a_small_corpus() -> None:
    environment = os.environ | {"MEMSPAN_BENCH_MEMORIES": "300"}
    command = [sys.executable, "-m", "pytest", "benches", "--benchmark-disable", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.timeout(300)
def test_the_comparison_runs_on_a_small_corpus() -> None:
    command = [sys.executable, str(BENCHES / "compare.py"), "--memories", "300", "--rounds", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "found memspan 5/5, diy 5/5" in done.stdout
    assert "found memspan 105/105" in done.stdout
    assert done.stdout.count("\n| ") >= 18


@pytest.mark.timeout(300)
def test_the_table_of_speed_has_every_row_on_small_stores(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCHES / "speed_table.py"), "--folder", str(tmp_path / "stores")]
    environment = os.environ | {"MEMSPAN_BENCH_DIVIDED": "200"}
    subprocess.run([*command, "--make"], env=environment, check=True, timeout=200)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=200)
    assert done.stdout.count("\n| ") >= 12, done.stdout
    assert "assemble" in done.stdout


@pytest.mark.timeout(300)
def test_the_cost_of_encryption_is_measured_on_a_small_store() -> None:
    command = [sys.executable, str(BENCHES / "encryption_cost.py"), "--memories", "100", "--rounds", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = [line.split()[0] for line in done.stdout.splitlines()[1:]]
    assert rows == ["first", "cold", "recall", "remember", "session.add", "assemble"], done.stdout + done.stderr


def test_a_debug_build_is_refused() -> None:
    code = (
        "import sys, runpy, memspan; sys.path.insert(0, 'benches'); memspan.build_info = lambda: {'profile': 'debug'};"
        "sys.argv = ['compare.py']; runpy.run_path('benches/compare.py', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "debug build" in done.stderr
