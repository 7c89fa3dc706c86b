"""What an answer leaves out: noise, and conditions that mean nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

import memspan

if TYPE_CHECKING:
    from collections.abc import Iterator

ASKED = "which port does payments-api use?"


@pytest.fixture
def user() -> Iterator[memspan.Scope]:
    with memspan.testing.temporary_engine() as engine:
        yield engine.user("u-42")


@pytest.fixture
def noisy(user: memspan.Scope) -> memspan.Scope:
    user.remember_many(["payments-api listens on port 8443", "Prefers tea", "The cat is called Minka", "Lives in Graz"])
    user.collection("notes").add("a", "# Ports\n\npayments-api listens on port 8443\n\n# Pets\n\nThe cat is called Minka")
    return user


def test_an_answer_has_no_noise_unless_it_is_asked_for(noisy: memspan.Scope) -> None:
    assert [hit.text for hit in noisy.recall(ASKED)] == ["payments-api listens on port 8443"]
    everything = noisy.recall(ASKED, relevant_only=False)
    assert len(everything) == 4
    assert everything[-1].score < 0.05
    assert noisy.recall(ASKED)[0] == everything[0]


def test_a_question_that_nothing_answers_finds_nothing(noisy: memspan.Scope) -> None:
    assert not noisy.recall("quantum chromodynamics lattice")
    assert noisy.recall("quantum chromodynamics lattice", relevant_only=False)


def test_meaning_alone_is_relevant(noisy: memspan.Scope) -> None:
    assert noisy.recall("what is her pet named?")[0].text == "The cat is called Minka"


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ({"tags": "red"}, 1),
        ({"tags": ["red"]}, 1),
        ({"tags": ["green", "blue"]}, 1),
        ({"tags": "green"}, 0),
        ({"tags": "re"}, 0),
        ({"tags": 7.0}, 1),
    ],
)
def test_an_item_of_a_list_is_found_in_every_source(user: memspan.Scope, where: dict[str, Any], found: int) -> None:
    tags = {"tags": ["red", "blue", 7]}
    user.remember("payments-api listens on port 8443", metadata=tags)
    user.collection("notes").add("a", "payments-api listens on port 8443", metadata=tags)
    user.session("s-1", model="gpt-4o", metadata=tags).add({"role": "user", "content": "payments-api listens on port 8443"})
    user.remember("payments-api is old", slot="state", metadata={"tags": []})
    for ask in (user.recall, user.search_transcripts, user.collection("notes").search):
        assert len(ask(ASKED, where=where)) == found, ask
    for source in ("memories", "transcripts", "collections"):
        assert len(user.search(ASKED, where=where, sources=(source,))) == found, source
    assert len(user.recall(ASKED, where=where, known_at=user.get("mem-1").created_at)) == found


def test_a_limit_is_a_number(noisy: memspan.Scope) -> None:
    searches: tuple[Any, ...] = (noisy.recall, noisy.search, noisy.search_transcripts, noisy.collection("docs").search)
    for search in searches:
        with pytest.raises(memspan.InvalidInput, match="limit"):
            search("port", limit=None)
    for search in (*searches[:2], searches[3]):
        with pytest.raises(memspan.InvalidInput, match="relevant_only"):
            search("port", relevant_only=None)
    with memspan.testing.temporary_engine() as engine:
        engine.user("u-42").remember("Prefers tea")
        with pytest.raises(memspan.InvalidInput, match="limit"):
            memspan.evaluate(engine, [{"user": "u-42", "question": "port"}], limit=None)  # type: ignore[arg-type]


def test_every_search_has_it(noisy: memspan.Scope) -> None:
    docs = noisy.collection("notes")
    nothing = "quantum chromodynamics lattice"
    assert not docs.search(nothing)
    assert docs.search(nothing, relevant_only=False)
    assert not noisy.search(nothing)
    assert noisy.search(nothing, relevant_only=False)


@pytest.mark.parametrize(
    "where",
    [
        {"price": {"$gt": 5}},
        {"$and": [{"a": 1}]},
        {"tags": [["a"]]},
        {"tags": [{"$in": ["a"]}]},
        {"price": {"amount": 5}},
    ],
)
def test_operators_in_where_are_refused_with_the_cure(noisy: memspan.Scope, where: dict[str, Any]) -> None:
    for ask in (noisy.recall, noisy.search, noisy.collection("notes").search):
        with pytest.raises(memspan.InvalidInput, match=r"where= gives each key the value .* list of such values") as caught:
            ask(ASKED, where=where)
        assert caught.value.fields["key"] in where


@pytest.mark.parametrize("path", ["", ":memory:", "file::memory:", "file::memory:?cache=shared", " :MEMORY: "])
def test_a_store_in_memory_is_refused_with_the_cure(path: str) -> None:
    with pytest.raises(memspan.InvalidInput, match=r"temporary_engine\(\)"):
        memspan.open(path)


@pytest.mark.parametrize("path", ["postgresql://localhost/x", "sqlite:///x", "file:/tmp/x"])
def test_a_url_is_refused(path: str) -> None:
    with pytest.raises(memspan.InvalidInput, match="URLs are not available in this version"):
        memspan.open(path)


def test_a_memory_knows_how_often_it_was_recalled(noisy: memspan.Scope) -> None:
    [first] = [memory for memory in noisy.memories() if "8443" in memory.text]
    assert (first.access_count, first.last_recalled_at) == (0, None)
    before = noisy.recall(ASKED)[0].memory
    assert before.access_count == 0
    noisy.recall(ASKED)
    after = noisy.get(first.id)
    assert after.access_count == 2
    assert after.last_recalled_at is not None
    assert after == first, "how often it was recalled makes no other memory of it"
    assert next(iter(noisy.memories(newest_first=True))).access_count == 0


def test_counts_of_recalls_survive_the_process(tmp_path: Any) -> None:
    clock = memspan.testing.FakeClock()
    with memspan.open(tmp_path / "s", clock=clock) as engine:
        memory = engine.user("u").remember("payments-api listens on port 8443").memory
        engine.user("u").recall(ASKED)
    with memspan.open(tmp_path / "s", clock=clock) as engine:
        stored = engine.user("u").get(memory.id)
        assert (stored.access_count, stored.last_recalled_at) == (1, clock())


def test_a_session_says_its_budget(user: memspan.Scope) -> None:
    assert user.session("plain", model="gpt-4o").budget == memspan.Budget()
    budget = memspan.Budget(
        max_input_tokens=8_000,
        order="classic",
        fill=0.5,
        output_tokens=1_000,
        cut_step=0.1,
        sections={"retrieved": memspan.Grant(floor=10, weight=3, ceiling=900), "mine": memspan.Grant()},
        compact=memspan.Compact(at=None, every_turns=7),
        tool_results=memspan.ToolResults(max_tokens=300),
    )
    assert user.session("s", model="gpt-4o", budget=budget).budget == budget
    assert user.session("s").budget == budget


def test_every_hit_explains_itself_alike(noisy: memspan.Scope) -> None:
    noisy.session("s", model="gpt-4o").add({"role": "user", "content": "payments-api listens on port 8443"})
    hits: list[memspan.Hit] = [noisy.recall(ASKED)[0], noisy.search_transcripts(ASKED)[0], noisy.collection("notes").search(ASKED)[0]]
    for hit in hits:
        why = hit.explain()
        assert isinstance(why, memspan.Explanation)
        assert why.score == pytest.approx(hit.score, abs=1e-6)
        assert why.parts["words"] == 1.0
        assert 0 <= why.parts["meaning"] <= 1
        assert str(why).startswith(f"score {hit.score:.3f}")


DINNER = "Dinner with Anna is on Friday at 8"
FOODS = ["nuts", "milk", "eggs", "soy", "wheat", "fish", "crab", "sesame", "mustard", "celery", "lupin", "squid"]


def shown(user: memspan.Scope, question: str) -> list[str]:
    """The memories that the prompt of a new session shows."""
    session = user.session("asked", model="gpt-4o")
    session.add({"role": "user", "content": question})
    rows = [row.id for row in session.assemble().explain() if row.section == "recalled" and row.included and row.tokens > 0]
    session.delete()
    return rows


@pytest.mark.parametrize(
    ("answer", "other", "question"),
    [
        (DINNER, "Anna likes jazz", "When is dinner with Anna?"),
        ("My brother Tom is allergic to shellfish", "Tom lives in Madrid", "What is Tom allergic to?"),
        ("We use Kafka for events", "Kafka was upgraded in May", "What do we use Kafka for?"),
    ],
)
def test_what_begins_with_a_name_takes_nothing_from_what_has_it(user: memspan.Scope, answer: str, other: str, question: str) -> None:
    user.remember(answer)
    alone = user.recall(question).confidence
    user.remember(other)
    both = user.recall(question)
    assert both[0].text == answer
    assert both.confidence > alone / 2
    assert "mem-1" in shown(user, question)


def test_what_somebody_else_says_of_a_name_still_does(user: memspan.Scope) -> None:
    user.remember("Bob: Dinner with Anna is on Friday at 8")
    user.remember("Anna: I like jazz")
    assert user.recall("When is dinner with Anna?").confidence < 0.3


def test_many_answers_are_no_worse_than_few(user: memspan.Scope) -> None:
    question = "Which allergies does my daughter have?"
    for at, food in enumerate(FOODS):
        user.remember(f"My daughter is allergic to {food}")
        assert len(shown(user, question)) == at + 1


def test_a_passage_that_is_not_sure_enough_says_so(user: memspan.Scope) -> None:
    notes = user.collection("notes")
    notes.add("invoice.md", "# Invoices\n\nInvoices are sent by mail and stand under My account, Documents.")
    notes.add("garden.md", "# Garden\n\nThe account of the garden is in the shed.")
    session = user.session("s", model="gpt-4o", collections=[notes])
    session.add({"role": "user", "content": "which account has the zeppelin, the yacht, the tractor and the quarry?"})
    rows = [row for row in session.assemble().explain() if row.section == "retrieved"]
    assert rows
    assert not any(row.included for row in rows)
    assert all("below the relevance floor" in row.why for row in rows)


def test_an_order_that_no_document_has_leaves_the_rest_of_a_question(user: memspan.Scope) -> None:
    notes = user.collection("notes")
    notes.add("invoice.md", "# Invoices\n\nInvoices are sent by mail and stand under My account, Documents.")
    plain, named = (notes.search(question).confidence for question in ("where is my invoice?", "where is my invoice INV-2026-118?"))
    assert 0.4 * plain < named < plain


@pytest.mark.parametrize("thanks", ["thanks!", "ok, got it"])
def test_thanks_ask_no_document(user: memspan.Scope, thanks: str) -> None:
    notes = user.collection("notes")
    notes.add("errors.md", "# Error codes\n\nE-4021: the payment gateway timed out. Thanks to retries it is ok. Got it.")
    session = user.session("s", model="gpt-4o", collections=[notes])
    session.add({"role": "user", "content": thanks})
    assert not [row for row in session.assemble().explain() if row.section == "retrieved"]


def test_a_search_counts_what_it_returns(user: memspan.Scope) -> None:
    memory = user.remember("payments-api listens on port 8443").memory
    assert not user.search(ASKED, min_score=1.0, max_tokens=1)
    assert user.get(memory.id).last_recalled_at is None
    assert user.search(ASKED)
    assert user.get(memory.id).last_recalled_at is not None


def test_words_of_then_are_not_read_as_those_of_today(user: memspan.Scope) -> None:
    for text, year in (("payments is deployed on wexbrock", 2024), ("payments is deployed on wexbrook", 2025)):
        user.remember(text, slot="deployment", occurred_at=datetime(year, 1, 1, tzinfo=UTC))
    assert [hit.text for hit in user.recall("wexbrock", valid_at=datetime(2024, 6, 1, tzinfo=UTC))] == ["payments is deployed on wexbrock"]


def test_the_slot_that_is_asked_for_comes_before_a_longer_one(user: memspan.Scope) -> None:
    user.remember("Rex", slot="dog")
    user.remember("Dr. Paws", slot="dog's vet")
    for question in ("What is my dog called?", "What's the name of my dog?"):
        assert user.recall(question)[0].text == "Rex"


def test_each_of_two_questions_is_answered(user: memspan.Scope) -> None:
    for text in ("payments-api listens on port 8443", "The vault code is 4711", "Deploys are forbidden on Fridays"):
        user.remember(text)
    assert shown(user, "Which port does payments-api use, and what is the vault code?") == ["mem-1", "mem-2"]
    assert shown(user, "Which port does payments-api use?") == ["mem-1"]
