"""What was told later of the same as a recall finds: a word that few memories have leads from the one to the other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.testing import FakeClock

if TYPE_CHECKING:
    from pathlib import Path

TOWNS = ("Oslo", "Porto", "Lyon", "Ghent", "Turin", "Graz", "Vigo", "Bergen", "Lugano", "Aarhus")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(datetime(2026, 3, 2, 8, tzinfo=UTC))


@pytest.fixture
def user(tmp_path: Path, clock: FakeClock) -> memspan.Scope:
    return memspan.open(f"{tmp_path}/store", clock=clock, durability="relaxed").user("u-42")


def _tell(user: memspan.Scope, clock: FakeClock, *texts: str, **given: Any) -> None:
    for text in texts:
        user.remember(text, **given)
        clock.advance(days=1)
    user.remember_many(
        [{"text": f"Asked for {number} tickets to {town}", "kind": "episodic"} for number, town in enumerate(TOWNS * 4, start=2)]
    )
    clock.advance(days=1)


def _texts(user: memspan.Scope, question: str, **given: Any) -> list[str]:
    return [hit.text for hit in user.recall(question, **given)]


def _led(user: memspan.Scope, question: str, **given: Any) -> list[str]:
    """The texts that stand in an answer for that alone."""
    return [hit.text for hit in user.recall(question, **given) if "with which it shares a rare word" in str(hit.explain())]


@pytest.mark.parametrize(
    ("first", "later", "question"),
    [
        ("my agent is Tobias Frell, he takes 15 percent", "fired tobias. well, we parted ways", "do I have an agent?"),
        ("I draw in Procreate on an old tablet", "sold the tablet with procreate on it", "what do I draw with?"),
        ("Our landlord is Mr Adeyemi", "adeyemi has handed the flat to his niece", "who is our landlord?"),
    ],
)
def test_what_was_told_later_of_the_same_is_in_the_answer(
    user: memspan.Scope, clock: FakeClock, first: str, later: str, question: str
) -> None:
    _tell(user, clock, first)
    _tell(user, clock, later)
    texts = _texts(user, question)
    assert texts[0] == first
    assert later in texts


def test_an_explanation_says_what_led_to_it(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "my agent is Tobias Frell")
    _tell(user, clock, "lent tobias a lawnmower")
    hits = user.recall("do I have an agent?")
    assert f"later than {hits[0].memory.id}, with which it shares a rare word" in str(hits[-1].explain())
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_what_was_told_before_is_not_followed_to(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "lent tobias a lawnmower")
    _tell(user, clock, "my agent is Tobias Frell")
    assert _led(user, "do I have an agent?") == []


@pytest.mark.parametrize("kind", ["episodic", "task_outcome"])
def test_what_stays_as_it_was_leads_nowhere(user: memspan.Scope, clock: FakeClock, kind: str) -> None:
    _tell(user, clock, "signed with the agent Tobias Frell", kind=kind)
    _tell(user, clock, "lent tobias a lawnmower", kind=kind)
    assert _led(user, "which agent?") == []


def test_a_question_about_the_past_is_not_followed(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "my agent is Tobias Frell")
    then = clock()
    _tell(user, clock, "lent tobias a lawnmower")
    assert _led(user, "do I have an agent?") == ["lent tobias a lawnmower"]
    assert _led(user, "who was my agent before?") == []
    assert _led(user, "do I have an agent?", known_at=then) == []
    assert _led(user, "do I have an agent?", until=clock() + timedelta(days=9)) == []


def test_a_time_that_is_not_over_says_nothing_of_the_past(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "my agent is Tobias Frell")
    _tell(user, clock, "lent tobias a lawnmower")
    for question in ("do I have an agent? I need it for a form tomorrow.", "My aunt asked me yesterday. Do I have an agent?"):
        assert _led(user, question) == ["lent tobias a lawnmower"], question
    assert _led(user, "did I have an agent yesterday?") == []


def test_only_what_may_be_an_answer_is_brought(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "my agent is Tobias Frell")
    _tell(user, clock, "lent tobias a lawnmower", kind="episodic", metadata={"of": "home"})
    question = "do I have an agent?"
    assert _led(user, question, where={"of": "home"}) == []  # nothing is left that leads to it
    assert _led(user, question, kinds=["semantic"]) == []
    led = [hit for hit in user.recall(question) if hit.text == "lent tobias a lawnmower"]
    user.forget(led[0].memory.id)
    assert _led(user, question) == []


def test_the_answer_keeps_its_limits(user: memspan.Scope, clock: FakeClock) -> None:
    told = [f"The agent has office number {number} in {town}" for number, town in enumerate(TOWNS)]
    _tell(user, clock, *told, "my agent is Tobias Frell")
    _tell(user, clock, *(f"lent tobias lawnmower {word}" for word in ("one", "two", "three", "four", "five")))
    question = "who is my agent?"
    plain = _texts(user, question, min_score=0.01)  # a least score is asked of the question's own hits alone
    most, led = _texts(user, question), _led(user, question)
    assert plain[0] == "my agent is Tobias Frell"
    assert most == [*plain[:4], led[0], *plain[4:8], led[1]]
    for limit in range(1, 11):
        assert _texts(user, question, limit=limit) == most[:limit]


def test_tokens_are_never_taken_from_other_hits(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "my agent is Tobias Frell", "the agent takes 15 percent")
    _tell(user, clock, "lent tobias a lawnmower " + "and the key to its shed " * 40)
    for most in (10, 20, 100):
        plain, all_of_it = (_texts(user, "do I have an agent?", max_tokens=most, **given) for given in ({"min_score": 0.01}, {}))
        assert all_of_it == plain
    assert len(_led(user, "do I have an agent?", max_tokens=1_000)) == 1


def test_a_copy_of_a_hit_is_not_brought(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "my agent is Tobias Frell")
    _tell(user, clock, "lent tobias the lawnmower", "Lent  tobias the lawnmower!", "lent tobias a lawnmower")
    assert len(_led(user, "do I have an agent?")) == 1


def test_one_that_is_a_hit_further_behind_is_raised(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(
        user, clock, "my agent is Tobias Frell", *(f"The agent has office number {number} in {town}" for number, town in enumerate(TOWNS))
    )
    _tell(user, clock, "tobias and the agent are no more")
    question = "who is my agent?"
    plain, most = _texts(user, question, min_score=0.01, limit=20), _texts(user, question, limit=20)
    assert sorted(plain) == sorted(most)
    place = plain.index("tobias and the agent are no more")
    assert most.index("tobias and the agent are no more") == min(place, 4)
    assert most[:9] == _texts(user, question, limit=9)


def test_an_explanation_says_why_one_was_raised(user: memspan.Scope, clock: FakeClock) -> None:
    met = (
        "My agent sent the novel to three publishers",
        "Had coffee with my agent before the launch of the novel",
        "Wrote an email to my agent on the novel",
        "My agent called about the contract for the novel",
    )
    _tell(user, clock, *met, kind="episodic")
    _tell(user, clock, "The literary agency is run by Tobias Frell")
    _tell(user, clock, "fired tobias")
    hits = user.recall("Tell me about the agent for my novel and the agency", relevant_only=False)
    raised = next(hit for hit in hits if hit.text == "fired tobias").explain()
    assert raised.related is not None
    assert "with which it shares a rare word" in raised.related
    assert raised.raised == 0.0 or "it is later than what led to it" in str(raised)
    assert "at least 0.000" not in str(raised)


def test_what_nobody_asked_for_is_not_recalled(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "my agent is Tobias Frell")
    _tell(user, clock, "lent tobias a lawnmower")
    clock.advance(days=200)
    assert len(_led(user, "do I have an agent?")) == 1
    stale = [memory.text for memory in user.forget_stale(unused_days=90, max_importance=0.9, dry_run=True)]
    assert "lent tobias a lawnmower" in stale
    assert "my agent is Tobias Frell" not in stale


def test_a_word_of_many_memories_leads_nowhere(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "my agent is Tobias Frell")
    _tell(user, clock, *(f"lent tobias lawnmower {number}" for number in range(20)))
    assert _led(user, "do I have an agent?") == []


def test_the_shortest_of_many_is_brought(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "my agent is Tobias Frell")
    _tell(user, clock, "fired tobias")
    _tell(user, clock, *(f"lent tobias the lawnmower number {number} of our street for a day" for number in range(8)))
    assert "fired tobias" in _texts(user, "do I have an agent?")


def test_what_is_less_trusted_is_not_brought(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "my agent is Tobias Frell")
    _tell(user, clock, "lent tobias a lawnmower", source="tool")
    assert _led(user, "do I have an agent?") == []


def test_it_stands_behind_what_led_to_it(user: memspan.Scope, clock: FakeClock) -> None:
    met = (
        "Met my agent for lunch about the novel",
        "My agent called about the contract for the novel",
        "Argued with my agent over the royalties of the novel",
        "My agent sent the novel to three publishers",
        "Had coffee with my agent before the launch of the novel",
        "Wrote an email to my agent on the novel",
    )
    _tell(user, clock, *met, kind="episodic")
    _tell(user, clock, "The literary agency is run by Tobias Frell")
    _tell(user, clock, "fired tobias")
    question = "who is my agent for the novel?"
    texts = _texts(user, question)
    assert "fired tobias" not in texts[: texts.index("The literary agency is run by Tobias Frell")]
    assert all(_texts(user, question, limit=limit) == texts[:limit] for limit in range(1, 10))


def test_filling_stands_behind_it(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "I drive a 2014 Skoda Fabia")
    _tell(user, clock, "sold the fabia to a man from Linz")
    question = "what car do I drive?"
    answer = _texts(user, question)
    assert "sold the fabia to a man from Linz" in answer
    assert _texts(user, question, relevant_only=False)[: len(answer)] == answer


def test_the_last_of_an_answer_makes_room_of_its_own_tokens(user: memspan.Scope, clock: FakeClock) -> None:
    offices = (f"The agent has office number {number} in {town}, near the old station" for number, town in enumerate(TOWNS))
    _tell(user, clock, "my agent is Tobias Frell", *offices)
    _tell(user, clock, "lent tobias a lawnmower")
    texts = _texts(user, "who is my agent?", limit=5)
    assert texts[4] == "lent tobias a lawnmower"
    most = sum(memspan.count_tokens(text, model="gpt-4o") for text in texts)
    assert "lent tobias a lawnmower" in _texts(user, "who is my agent?", limit=5, max_tokens=most)


def test_one_that_makes_room_was_not_recalled(user: memspan.Scope, clock: FakeClock) -> None:
    offices = (f"The agent has office number {number} in {town}" for number, town in enumerate(TOWNS))
    _tell(user, clock, "my agent is Tobias Frell", *offices)
    _tell(user, clock, "lent tobias a lawnmower")
    question = "who is my agent?"
    fifth = user.recall(question, limit=5, min_score=0.01)[4].memory.id
    clock.advance(days=200)
    answer = user.recall(question, limit=5)
    assert fifth not in [hit.memory.id for hit in answer]
    stale = [memory.id for memory in user.forget_stale(unused_days=90, max_importance=0.9, dry_run=True)]
    assert fifth in stale
    assert answer[1].memory.id not in stale


def test_metadata_is_asked_before_places_are_given(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "my agent is Tobias Frell", metadata={"about": "work"})
    _tell(user, clock, "tobias ate", "tobias slept", "tobias sang", metadata={"about": "gossip"})
    _tell(user, clock, "lent tobias a lawnmower", metadata={"about": "work"})
    assert _led(user, "do I have an agent?", where={"about": "work"}) == ["lent tobias a lawnmower"]


def test_half_a_word_leads_nowhere(user: memspan.Scope, clock: FakeClock) -> None:
    """A statement is read up to its 600th byte. Where that is within a word, the words before it lead on."""
    words = "my agent is Tobias Frell of Aldgate, Bexley, Camden, Dalston"
    text = f"{words} {'.' * (594 - len(words))} Insurance"
    assert text[:600].endswith(" Insu")
    _tell(user, clock, text)
    _tell(user, clock, "lent camden a lawnmower")
    assert _led(user, "do I have an agent?") == ["lent camden a lawnmower"]
    user.remember("insu says hello")
    assert _led(user, "do I have an agent?") == ["lent camden a lawnmower"]


def _prompted(user: memspan.Scope, question: str, **given: Any) -> list[str]:
    """The texts of memories that a prompt of a new session recalls for a question."""
    session = user.session(f"asks-{user.id}-{question}-{given}", model="gpt-4o", **given)
    session.add({"role": "user", "content": question})
    lines = [line for line in session.assemble().text.splitlines() if line.startswith("<memory ")]
    return [line.split(">", 1)[1].removesuffix("</memory>") for line in lines]


CHANGED = [
    ("The gateway is called Hermes", "Hermes got renamed to Switchboard", "what's the gateway called?"),
    ("the gateway is called hermes", "hermes got renamed to switchboard", "what's the gateway called?"),
    ("our error tracker is sentry", "replaced sentry with bugsnag", "what's our error tracker?"),
    ("invoices are in the table invoices_v1", "we renamed invoices_v1 to billing_invoices", "which table has the invoices?"),
    ("the soc2 audit starts april 1", "audit got moved up to march 24", "when does the soc2 audit start?"),
    ("the deploy window is thursday noon", "new deploy window: tuesdays 10-12 utc", "when can we deploy?"),
    ("our slack channel is #atlas-dev", "channel's #atlas-eng now", "what's our slack channel?"),
    ("The wiki runs on Confluence", "killed confluence, all of it is in outline now", "what does the wiki run on?"),
]


@pytest.mark.parametrize(("first", "later", "question"), CHANGED)
def test_a_prompt_has_what_was_told_later_beside_it(user: memspan.Scope, clock: FakeClock, first: str, later: str, question: str) -> None:
    _tell(user, clock, "the webhook key rotates every quarter", first)
    _tell(user, clock, later)
    assert {first, later} <= set(_prompted(user, question))


def test_a_word_of_the_question_alone_brings_no_other_memory(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "the soc2 audit starts april 1")
    _tell(user, clock, "the audit team had sushi", "Karin moved to Porto", "audit forms are blue")
    shown = _prompted(user, "when does the soc2 audit start?")
    assert "Karin moved to Porto" not in shown
    assert "the audit team had sushi" not in shown


@pytest.mark.parametrize(("first", "later", "question"), CHANGED)
def test_a_prompt_has_what_was_told_later_in_a_scope_that_it_reads(
    tmp_path: Path, clock: FakeClock, first: str, later: str, question: str
) -> None:
    with memspan.open(f"{tmp_path}/shared", clock=clock, durability="relaxed") as engine:
        team = engine.shared("atlas")
        _tell(team, clock, first)
        _tell(team, clock, later)
        assert {first, later} <= set(_prompted(engine.user("u-43"), question, reads=[team]))


def test_a_prompt_is_not_filled_with_what_was_told_later(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "The gateway is called Hermes", "the standup is at ten", "Karin owns the budget")
    _tell(user, clock, *(f"hermes was restarted by {name}" for name in ("Ann", "Bob", "Carl", "Dora", "Emil", "Fritz")))
    shown = _prompted(user, "what's the gateway called?")
    assert shown[0] == "The gateway is called Hermes"
    assert 1 <= sum("restarted" in text for text in shown) <= 3
    assert "the standup is at ten" not in shown
    assert "Karin owns the budget" not in shown


def test_a_prompt_that_wants_surer_memories_has_nothing_told_later(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "The gateway is called Hermes")
    _tell(user, clock, "Hermes got renamed to Switchboard")
    shown = _prompted(user, "what's the gateway called?", recalls=memspan.Recalls(min_confidence=0.4))
    assert shown == ["The gateway is called Hermes"]


@pytest.mark.parametrize("question", ["what was the gateway called before?", "what was the gateway called on March 1?"])
def test_a_prompt_about_the_past_has_nothing_told_later(user: memspan.Scope, clock: FakeClock, question: str) -> None:
    _tell(user, clock, "The gateway is called Hermes")
    _tell(user, clock, "tobias got a hermes scarf")
    assert "tobias got a hermes scarf" not in _prompted(user, question)


def test_a_prompt_does_not_believe_what_nobody_vouches_for(user: memspan.Scope, clock: FakeClock) -> None:
    _tell(user, clock, "The gateway is called Hermes")
    _tell(user, clock, "Hermes got renamed to Switchboard", source="tool")
    assert "Hermes got renamed to Switchboard" not in _prompted(user, "what's the gateway called?")
