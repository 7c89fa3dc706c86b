"""Embedders fail in every way there is: nothing that was said is lost, and every answer says what it went without."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import memspan
from memspan.testing import FakeEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

FACTS = ["payments-api listens on port 8443", "Prefers tea", "Never deploy on a Friday"]


class Answering:
    """An embedder that returns what it is told."""

    name = "answering"
    dimensions = 3

    def __init__(self, answer: Callable[[Sequence[str]], object]) -> None:
        self.answer = answer

    def embed(self, texts: Sequence[str]) -> Any:
        return self.answer(texts)


@pytest.fixture
def embedder() -> Iterator[FakeEmbedder]:
    embedder = FakeEmbedder(dimensions=32)
    yield embedder
    embedder.mend()


@pytest.mark.parametrize("breakage", ["raise", "shape", "nan"])
def test_a_broken_embedder_degrades_and_maintenance_repairs(
    store: Path, embedder: FakeEmbedder, breakage: Any, caplog: pytest.LogCaptureFixture
) -> None:
    events: list[memspan.Event] = []
    with memspan.open(store, embedder=embedder, on_event=events.append) as engine, caplog.at_level(logging.INFO, "memspan"):
        user = engine.user("u")
        user.remember(FACTS[0])
        embedder.break_with(breakage)
        assert user.remember(FACTS[1]).action == "added"
        assert [one.action for one in user.remember_many(FACTS[2:])] == ["added"]
        recall = user.recall("payments-api port")
        assert recall[0].memory.text == FACTS[0]
        assert (recall.degraded, recall.mode, recall[0].explain().cosine) == (True, "lexical", None)
        assert "the embedder failed" in (recall.degraded_reason or "")
        report = engine.maintain()
        assert (report.vectors_made, report.vectors_pending) == (0, 2)
        metrics = engine.metrics()
        assert (metrics["vectors"], metrics["vectors_pending"], metrics["recalls_degraded"]) == (1, 2, 1)
        assert [(event.kind, event.memories, event.scope) for event in events] == [
            ("pending", 1, user),
            ("pending", 1, user),
            ("degraded", 0, user),
        ]
        assert [record.levelname for record in caplog.records] == ["WARNING"]  # once an outage, not once a call

        embedder.mend()
        before = user.recall("payments-api port")
        assert "2 of 3 memories have no vector yet" in (before.degraded_reason or "")
        report = engine.maintain()
        assert (report.vectors_made, report.vectors_pending) == (2, 0)
        after = user.recall("payments-api port")
        assert (after.degraded, after.mode) == (False, "hybrid")
        assert caplog.records[-1].levelname == "INFO"


def test_maintenance_makes_many_in_steps(store: Path, embedder: FakeEmbedder) -> None:
    with memspan.open(store, embedder=None) as engine:
        rows = [{"scope": engine.user(f"u-{number % 3}"), "text": f"fact {number}"} for number in range(900)]
        engine.remember_many(rows)
    with memspan.open(store, embedder=embedder) as engine:
        assert engine.user("u-1").recall("fact 4").degraded
        assert engine.maintain().vectors_made == 900
        assert embedder.texts >= 900
        assert not engine.user("u-1").recall("fact 4").degraded
        assert engine.maintain().vectors_made == 0


def test_another_embedder_drops_the_vectors_of_the_first(store: Path) -> None:
    with memspan.open(store, embedder=FakeEmbedder(16, name="first")) as engine:
        engine.user("u").remember_many(FACTS)
    for embedder in (FakeEmbedder(16, name="second"), FakeEmbedder(24, name="second"), FakeEmbedder(24, name="second", revision="2")):
        with memspan.open(store, embedder=embedder) as engine:
            user = engine.user("u")
            recall = user.recall("tea")
            assert recall.degraded
            assert recall[0].memory.text == "Prefers tea"
            assert engine.maintain().vectors_made == 3
            assert not user.recall("tea").degraded


def test_without_an_embedder_recall_says_that_it_is_lexical(user: memspan.Scope) -> None:
    user.remember("Prefers tea")
    recall = user.recall("tea")
    assert (recall.mode, recall.degraded) == ("lexical", False)
    assert "lexical" in repr(recall)


def test_a_blank_question_is_not_embedded(store: Path, embedder: FakeEmbedder) -> None:
    with memspan.open(store, embedder=embedder) as engine:
        user = engine.user("u")
        user.remember("Prefers tea")
        calls = embedder.calls
        recall = user.recall("  ")
        assert (len(recall), recall.degraded, embedder.calls) == (0, False, calls)


def test_what_cannot_be_stored_is_not_embedded(store: Path, embedder: FakeEmbedder) -> None:
    with memspan.open(store, embedder=embedder) as engine:
        user = engine.user("u")
        memory = user.remember("Prefers tea").memory
        calls = embedder.calls
        for wrong in (
            lambda: user.remember(""),
            lambda: user.remember("\ud800"),
            lambda: user.remember("x", importance=7),
            lambda: user.remember_many(["fine", ""]),
            lambda: user.revise(memory.id, " "),
            lambda: user.recall("\ud800"),
        ):
            with pytest.raises(memspan.InvalidInput):
                wrong()
        assert embedder.calls == calls


def test_a_hanging_embedder_fails_after_its_time(store: Path, embedder: FakeEmbedder) -> None:
    with memspan.open(store, embedder=embedder, embed_timeout_seconds=0.05) as engine:
        user = engine.user("u")
        user.remember("Prefers tea")
        embedder.break_with("hang")
        assert user.remember("Prefers coffee").action == "added"
        recall = user.recall("coffee")
        assert recall.degraded
        assert "embed_timeout_seconds=0.05" in (recall.degraded_reason or "")
        embedder.mend()
        assert engine.maintain().vectors_made == 1
    assert threading.active_count() < 10


def test_an_interrupt_in_the_embedder_is_not_swallowed(store: Path) -> None:
    def interrupt(_texts: object) -> object:
        raise KeyboardInterrupt

    with memspan.open(store, embedder=Answering(interrupt)) as engine, pytest.raises(KeyboardInterrupt):
        engine.user("u").remember("Prefers tea")
    with memspan.open(store) as engine:
        assert engine.metrics()["memories"] == 0


@pytest.mark.parametrize(
    "answer",
    [
        lambda texts: np.ones((len(texts), 3), dtype=np.float32),
        lambda texts: np.ones((len(texts), 3), dtype=np.float64),
        lambda texts: np.ones((3, len(texts)), dtype=np.float32).T,
        lambda texts: np.ones((len(texts), 6), dtype=np.float32)[:, ::2],
        lambda texts: [[1.0, 2, 3] for _ in texts],
        lambda texts: [np.ones(3) for _ in texts],
        lambda texts: np.full((len(texts), 3), 1e-20, dtype=np.float32),
    ],
)
def test_answers_that_are_taken(store: Path, answer: Callable[[Sequence[str]], object]) -> None:
    with memspan.open(store, embedder=Answering(answer)) as engine:
        engine.user("u").remember_many(FACTS)
        assert engine.metrics()["vectors"] == 3
        assert engine.user("u").recall("tea").mode == "hybrid"


@pytest.mark.parametrize(
    "answer",
    [
        lambda _: None,
        lambda _: "vector",
        lambda _: np.ones(3, dtype=np.float32),
        lambda texts: np.ones((len(texts), 2), dtype=np.float32),
        lambda texts: np.ones((len(texts) + 1, 3), dtype=np.float32),
        lambda texts: np.ones((len(texts), 3, 1), dtype=np.float32),
        lambda texts: np.ones((len(texts), 3), dtype=np.int64),
        lambda texts: np.ones((len(texts), 3), dtype=object),
        lambda texts: np.ones((len(texts), 3), dtype=">f4"),
        lambda texts: np.zeros((len(texts), 3), dtype=np.float32),
        lambda texts: np.full((len(texts), 3), np.nan, dtype=np.float32),
        lambda texts: np.full((len(texts), 3), np.inf, dtype=np.float32),
        lambda _: [[1.0, 2.0], [1.0]],
        lambda texts: [["a", "b", "c"] for _ in texts],
        lambda _: [],
    ],
)
def test_answers_that_leave_a_memory_pending(store: Path, answer: Callable[[Sequence[str]], object]) -> None:
    with memspan.open(store, embedder=Answering(answer)) as engine:
        user = engine.user("u")
        user.remember_many(FACTS)
        metrics = engine.metrics()
        assert (metrics["memories"], metrics["vectors"], metrics["vectors_pending"]) == (3, 0, 3)
        recall = user.recall("tea")
        assert (recall.degraded, recall[0].memory.text) == (True, "Prefers tea")


def test_one_bad_row_leaves_only_its_own_memory_pending(store: Path) -> None:
    def answer(texts: Sequence[str]) -> object:
        return np.array([[np.nan if "tea" in text else 1.0, 2, 3] for text in texts], dtype=np.float32)

    with memspan.open(store, embedder=Answering(answer)) as engine:
        engine.user("u").remember_many(FACTS)
        assert engine.metrics()["vectors"] == 2
        report = engine.maintain()
        assert (report.vectors_made, report.vectors_pending) == (0, 1)


@pytest.mark.parametrize("vector", [[1.0, 0, 0], (0.5, 0.5, 0.5), np.ones(3, dtype=np.float32), np.ones(3), np.ones(6)[::2]])
def test_a_vector_that_the_caller_has(store: Path, vector: Any) -> None:
    embedder = Answering(lambda texts: np.eye(3, dtype=np.float32)[[1] * len(texts)])
    with memspan.open(store, embedder=embedder) as engine:
        user = engine.user("u")
        user.remember("Prefers tea", vector=vector)
        user.remember_many([{"text": "Prefers coffee", "vector": vector}, "Prefers milk"])
        cosines = {hit.memory.text: hit.explain().cosine for hit in user.recall("Prefers")}
        expected = float(np.asarray(vector, dtype=np.float64)[1] / np.linalg.norm(vector))
        assert cosines["Prefers tea"] == cosines["Prefers coffee"] == pytest.approx(expected, abs=1e-6)
        assert cosines["Prefers milk"] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    "vector",
    [
        [],
        [1.0, 2.0],
        [0.0, 0, 0],
        [float("nan"), 0, 0],
        [float("inf"), 0, 0],
        "abc",
        5,
        [[1.0, 2, 3]],
        np.ones((1, 3)),
        np.ones(3, dtype=int),
        ["1", "2", "3"],
    ],
)
def test_a_vector_that_cannot_be(store: Path, vector: Any) -> None:
    with memspan.open(store, embedder=Answering(lambda texts: np.ones((len(texts), 3)))) as engine:
        user = engine.user("u")
        with pytest.raises(memspan.InvalidInput, match="vector"):
            user.remember("Prefers tea", vector=vector)
        with pytest.raises(memspan.InvalidInput, match="vector"):
            user.remember_many([{"text": "Prefers tea", "vector": vector}])
        assert list(user.memories()) == []


def test_a_vector_needs_an_embedder(user: memspan.Scope) -> None:
    with pytest.raises(memspan.InvalidInput, match="embedder="):
        user.remember("Prefers tea", vector=[1.0])


@pytest.mark.parametrize(
    "changes",
    [{"name": ""}, {"name": 5}, {"name": "x" * 1_025}, {"dimensions": 0}, {"dimensions": 8_193}, {"dimensions": 2.5}, {"revision": 7}],
)
def test_an_embedder_that_cannot_be(store: Path, changes: dict[str, object]) -> None:
    embedder = Answering(lambda texts: texts)
    vars(embedder).update(changes)
    with pytest.raises(memspan.InvalidInput, match="embedder"):
        memspan.open(store, embedder=embedder)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), 1e9])
def test_a_timeout_that_cannot_be(store: Path, seconds: float) -> None:
    with pytest.raises(memspan.InvalidInput, match="embed_timeout_seconds"):
        memspan.open(store, embedder=FakeEmbedder(), embed_timeout_seconds=seconds)


def test_an_observer_that_raises_breaks_nothing(store: Path, embedder: FakeEmbedder, caplog: pytest.LogCaptureFixture) -> None:
    def observer(_event: memspan.Event) -> None:
        raise LookupError("on purpose")

    embedder.break_with("raise")
    with memspan.open(store, embedder=embedder, on_event=observer) as engine:
        assert engine.user("u").remember("Prefers tea").action == "added"
    assert "on_event raised" in caplog.text


def test_a_revision_gets_a_new_vector_only_for_a_new_text(store: Path, embedder: FakeEmbedder) -> None:
    with memspan.open(store, embedder=embedder) as engine:
        user = engine.user("u")
        memory = user.remember("Prefers tea").memory
        calls = embedder.calls
        user.revise(memory.id, importance=0.9)
        assert (embedder.calls, engine.metrics()["vectors"]) == (calls, 1)
        user.revise(memory.id, "Prefers coffee")
        assert (embedder.calls, engine.metrics()["vectors"]) == (calls + 1, 1)
        assert user.recall("Prefers coffee")[0].explain().cosine == pytest.approx(1, abs=1e-5)  # 16 bits a component


def test_the_same_text_of_a_scope_is_embedded_once(store: Path, embedder: FakeEmbedder) -> None:
    rows: list[dict[str, object]] = [{"text": f"fact {number}", "id": f"id-{number}"} for number in range(50)]
    with memspan.open(store, embedder=embedder) as engine:
        user = engine.user("u")
        user.remember_many([*rows, {"text": "fact 1", "kind": "episodic"}])
        assert embedder.texts == 50 + 1  # and the probe
        user.remember_many(rows)
        user.remember("fact 7")
        assert (embedder.texts, engine.metrics()["vectors_reused"]) == (51, 1 + 50 + 1)
        engine.user("other").remember("fact 7")  # another scope learns nothing from this one
        assert embedder.texts == 52
        assert engine.metrics()["texts_embedded"] == 52
        user.forget(user.remember("fact 7").memory.id)
        user.remember("fact 7")
        assert embedder.texts == 53  # forgotten with all that was made from it
        assert engine.check().sound


def test_the_same_question_of_a_scope_is_embedded_once(store: Path, embedder: FakeEmbedder) -> None:
    with memspan.open(store, embedder=embedder) as engine:
        user = engine.user("u")
        user.remember_many(FACTS)
        first = user.recall("tea?")
        calls = embedder.calls
        assert user.recall("tea?") == first
        assert (embedder.calls, engine.metrics()["questions_reused"]) == (calls, 1)
        engine.user("other").recall("tea?")
        assert embedder.calls == calls + 1
        for number in range(300):
            user.recall(f"question {number}")
        user.recall("tea?")  # long gone
        assert engine.metrics()["questions_reused"] == 1


def test_a_model_that_changed_under_its_name_is_refused(store: Path) -> None:
    class Changed(FakeEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            return np.roll(super().embed(texts), 1, axis=1)

    with memspan.open(store, embedder=FakeEmbedder(32, name="model")) as engine:
        engine.user("u").remember_many(FACTS)
    for _ in range(2):
        with memspan.open(store, embedder=Changed(32, name="model")) as engine:
            user = engine.user("u")
            recall = user.recall("tea")
            assert (recall.mode, recall.degraded, recall[0].memory.text) == ("lexical", True, "Prefers tea")
            assert "another model under the same name" in (recall.degraded_reason or "")
            assert user.remember("Prefers coffee").action in {"added", "duplicate"}
            assert engine.metrics()["vectors"] == 3  # nothing of the other model came in
            assert engine.maintain().vectors_pending == 1
    with memspan.open(store, embedder=Changed(32, name="model", revision="2")) as engine:
        assert engine.reembed().made == 4
        assert not engine.user("u").recall("tea").degraded
    with memspan.open(store, embedder=FakeEmbedder(32, name="model")) as engine:
        assert engine.user("u").recall("tea").degraded


def test_noise_of_a_model_is_no_change(store: Path) -> None:
    class Noisy(FakeEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            return super().embed(texts) + np.random.default_rng(self.calls).normal(0, 1e-3, (len(texts), self.dimensions)).astype(
                np.float32
            )

    for _ in range(3):
        with memspan.open(store, embedder=Noisy(32)) as engine:
            engine.user("u").remember_many(FACTS)
            assert not engine.user("u").recall("tea").degraded


def test_an_embedder_that_changes_its_dimensions_later(store: Path, embedder: FakeEmbedder) -> None:
    with memspan.open(store, embedder=embedder) as engine:
        user = engine.user("u")
        user.remember("Prefers tea")
        embedder.dimensions = 48
        assert user.remember("Prefers coffee").action == "added"
        recall = user.recall("coffee")
        assert recall.degraded
        assert "(2, 32)" in (recall.degraded_reason or "") or "(1, 32)" in (recall.degraded_reason or "")
        assert engine.metrics()["vectors"] == 1
        assert engine.check().sound


class Asking(FakeEmbedder):
    """One that tells questions from documents."""

    def __init__(self) -> None:
        super().__init__(32, name="asking")
        self.questions: list[str] = []

    def embed_query(self, text: str) -> Any:
        self.questions.append(text)
        return self.embed([text])[0]


def test_a_question_goes_to_embed_query(store: Path) -> None:
    embedder = Asking()
    with memspan.open(store, embedder=embedder) as engine:
        user = engine.user("u")
        user.remember_many(FACTS)
        recall = user.recall("payments-api port")
        assert (recall.mode, recall.degraded, embedder.questions) == ("hybrid", False, ["payments-api port"])
        session = user.session("s", model="gpt-4o")
        session.add({"role": "user", "content": "tea or coffee?"})
        session.assemble()
        assert embedder.questions[-1].strip() == "tea or coffee?"


@pytest.mark.parametrize("answer", [None, "vector", [1.0, 2.0], np.ones((1, 32), dtype=np.float32), np.zeros(32, dtype=np.float32)])
def test_what_embed_query_must_not_return(store: Path, answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = Asking()
    monkeypatch.setattr(embedder, "embed_query", lambda _text: answer)
    with memspan.open(store, embedder=embedder) as engine:
        engine.user("u").remember_many(FACTS)
        recall = engine.user("u").recall("tea")
        assert (recall.degraded, recall.mode, recall[0].memory.text) == (True, "lexical", "Prefers tea")


class Awaitable(FakeEmbedder):
    """One with an awaitable form, which notes on which thread it ran."""

    def __init__(self) -> None:
        super().__init__(32, name="awaitable")
        self.threads: list[threading.Thread] = []
        self.hang = False

    async def aembed(self, texts: Sequence[str]) -> Any:
        import asyncio

        self.threads.append(threading.current_thread())
        await asyncio.sleep(30 if self.hang else 0)
        return super().embed(texts)


def test_twins_await_an_embedder_that_can_be_awaited(store: Path) -> None:
    import asyncio

    embedder = Awaitable()

    async def talk() -> None:
        async with await memspan.aopen(store, embedder=embedder, embed_timeout_seconds=0.2) as engine:
            user = engine.user("u")
            await user.aremember_many(FACTS)
            await user.aremember("Prefers coffee")
            assert not (await user.arecall("tea")).degraded
            session = user.session("s", model="gpt-4o")
            await session.aadd({"role": "user", "content": "what does she drink?"})
            await session.aassemble()
            assert (len(embedder.threads), set(embedder.threads)) == (4, {threading.main_thread()})
            await asyncio.gather(*(user.arecall(f"question {number}") for number in range(20)))
            assert len(embedder.threads) == 24
            embedder.hang = True
            recall = await user.arecall("coffee?")
            assert "embed_timeout_seconds=0.2" in (recall.degraded_reason or "")
            embedder.hang = False
            user.recall("a plain call in the loop's own thread")
            assert len(embedder.threads) == 25
        assert engine.closed

    asyncio.run(talk())


def test_an_answer_without_a_vector_of_the_store_is_lexical(tmp_path: Path) -> None:
    """It said "hybrid" because the question had a vector, which none of the store's could be compared with."""
    with memspan.open(tmp_path / "a", embedder=FakeEmbedder(dimensions=64)) as engine:
        assert engine.user("u").recall("tea").mode == "hybrid"  # nothing is lacking
        engine.user("u").remember("Prefers tea")
        engine.user("u").collection("d").add("x", "All about tea")
    with memspan.open(tmp_path / "a", embedder=FakeEmbedder(dimensions=32)) as engine:
        user = engine.user("u")
        for answer in (user.recall("tea"), user.search("tea", sources=["memories"]), user.collection("d").search("tea")):
            assert (answer.mode, answer.degraded) == ("lexical", True)
        assert user.recall("tea")[0].explain().cosine is None


@pytest.mark.parametrize("dimensions", [-1, 0, 8193, 1 << 40])
def test_the_rule_of_dimensions_is_one(tmp_path: Path, dimensions: int) -> None:
    class Wrong:
        name = "wrong"

        def __init__(self) -> None:
            self.dimensions = dimensions

        def embed(self, texts: Any) -> Any:
            return [[1.0]] * len(texts)

    with pytest.raises(memspan.InvalidInput, match=f"from 1 to 8192, and it is {dimensions}"):
        memspan.open(tmp_path / "a", embedder=Wrong())


def test_an_element_that_is_no_number_is_named(tmp_path: Path) -> None:
    class Texts:
        name, dimensions = "texts", 2

        def embed(self, texts: Any) -> Any:
            return [[1.0, 0.5], *[[1.0, "1"]] * (len(texts) - 1)]

    with memspan.open(tmp_path / "a", embedder=Texts()) as engine:
        engine.user("u").remember("Prefers tea")
        reason = engine.user("u").recall("tea").degraded_reason
    assert reason is not None
    assert "lists must have floats alone, and element 1 of row 1 is of type str" in reason
