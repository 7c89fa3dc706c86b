"""Questions for what is to come, and the days that memories name. See docs/ranking.md, "Nothing to look for"."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from memspan.testing import FakeClock, temporary_engine

if TYPE_CHECKING:
    from collections.abc import Iterator

    import memspan

NOW = datetime(2026, 11, 28, 18, tzinfo=UTC)  # a Saturday
SAID = [
    "My dentist appointment is next Tuesday at 3pm.",
    "I have a dinner with Sam on December 3.",
    "We have a team offsite on Friday.",
    "I'm flying to Rome tomorrow.",
    "My exam is on December 10.",
    "I have a meeting with Tom on Monday at 9.",
    "I had lunch with Eva last Monday.",
    "I bought a bike yesterday.",
    "I live in Porto.",
    "I like pizza.",
]
ROME = "I'm flying to Rome tomorrow (2026-11-29)."
TOM = "I have a meeting with Tom on Monday (2026-11-30) at 9."
DENTIST = "The user's dentist appointment is next Tuesday (2026-12-01) at 3pm."
SAM = "I have a dinner with Sam on December 3 (2026-12-03)."
OFFSITE = "We have a team offsite on Friday (2026-12-04)."
EXAM = "The user's exam is on December 10 (2026-12-10)."
EVA = "I had lunch with Eva last Monday (2026-11-23)."
BIKE = "I bought a bike yesterday (2026-11-27)."


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture
def user(clock: FakeClock) -> Iterator[memspan.Scope]:
    with temporary_engine(clock=clock) as engine:
        user = engine.user("u")
        for said in SAID:
            user.learn([{"role": "user", "content": said}])
        yield user


def shown(user: memspan.Scope, question: str) -> str:
    session = user.session(f"asks {question}", model="gpt-4o")
    session.add({"role": "user", "content": question})
    return session.assemble().text


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("What do I have next week?", [TOM, DENTIST, SAM, OFFSITE]),
        ("What do I have tomorrow?", [ROME]),
        ("Am I busy on Friday?", [OFFSITE]),
        ("What's on Tuesday?", [DENTIST]),
        ("Do I have anything on December 3rd?", [SAM]),
        ("What's coming up this week?", [ROME]),
        ("What are my plans for December?", [DENTIST, SAM, OFFSITE, EXAM]),
        ("What do I have on my calendar in the next two weeks?", [ROME, TOM, DENTIST, SAM, OFFSITE, EXAM]),
        ("What do I have to do by Tuesday?", [ROME, TOM, DENTIST]),
    ],
)
def test_what_is_to_come_is_answered_by_the_days_that_memories_name(user: memspan.Scope, question: str, answers: list[str]) -> None:
    answer = user.recall(question)
    assert [hit.text for hit in answer] == answers, "in the order of their days"
    assert answer.confidence == pytest.approx(0.9)
    prompt = shown(user, question)
    places = [prompt.index(one) for one in answers]
    assert places == sorted(places)
    assert all(other not in prompt for other in {ROME, TOM, DENTIST, SAM, OFFSITE, EXAM, EVA, BIKE} - set(answers))


def test_a_day_that_has_come_is_found_by_it_though_it_was_told_before(user: memspan.Scope, clock: FakeClock) -> None:
    clock.set(datetime(2026, 12, 5, 9, tzinfo=UTC))
    assert [hit.text for hit in user.recall("What did I do on Thursday?")] == [SAM]
    assert [hit.text for hit in user.recall("What did I do last Sunday?")] == [ROME]
    assert user.recall("Whom did I have dinner with on Thursday?")[0].text == SAM


def test_a_day_of_the_past_stays_one(user: memspan.Scope) -> None:
    assert [hit.text for hit in user.recall("What did I do on Monday?")] == [EVA]
    assert [hit.text for hit in user.recall("What did I do yesterday?")] == [BIKE]
    assert user.recall("Whom did I have lunch with on Monday?")[0].text == EVA


def test_a_question_with_content_finds_what_names_the_day(user: memspan.Scope) -> None:
    assert user.recall("Do I have a meeting with Tom on Monday?")[0].text == TOM
    assert user.recall("When is my exam?")[0].text == EXAM
    hits = user.recall("Which trips do I have tomorrow?")
    assert hits[0].text == ROME


def test_a_time_with_nothing_in_it_is_asked_as_every_other(user: memspan.Scope) -> None:
    assert len(user.recall("What do I have in March?", limit=3)) == 3
    assert ROME not in shown(user, "What do I have on January 5?")


def test_a_day_that_is_moved_is_told_anew(user: memspan.Scope) -> None:
    user.learn([{"role": "user", "content": "My exam was moved to December 14."}])
    texts = [hit.text for hit in user.recall("What do I have on December 14?")]
    assert len(texts) == 1
    assert "(2026-12-14)" in texts[0]
    assert EXAM not in [hit.text for hit in user.recall("What do I have on December 10?")]


def test_days_are_those_of_the_zone(clock: FakeClock) -> None:
    for zone in ("Pacific/Honolulu", "America/New_York", "Asia/Tokyo", "Pacific/Auckland"):
        with temporary_engine(clock=clock) as engine:
            user = engine.user("u")
            user.learn([{"role": "user", "content": "I have a dinner with Sam on December 3."}], timezone=zone)
            for asked, found in (("2", 0), ("3", 1), ("4", 0)):
                answer = user.recall(f"What do I have on December {asked}?", timezone=zone)
                assert (answer.confidence == pytest.approx(0.9)) == bool(found), (zone, asked)


def test_more_than_the_limit_are_the_first_of_them(user: memspan.Scope) -> None:
    assert [hit.text for hit in user.recall("What do I have in the next two weeks?", limit=2)] == [ROME, TOM]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("The dinner with Sam is cancelled.", [TOM, DENTIST, OFFSITE]),
        ("The meeting with Tom was moved to December 10.", [DENTIST, SAM, OFFSITE]),
        ("I had to cancel my dinner with Sam.", [TOM, DENTIST, OFFSITE]),
        ("The team offsite has been postponed to December 11.", [TOM, DENTIST, SAM]),
        ("The dinner with Ana is cancelled.", [TOM, DENTIST, SAM, OFFSITE]),
        ("The dinner on Friday is cancelled.", [TOM, DENTIST, SAM, OFFSITE]),
        ("I cancelled the newsletter.", [TOM, DENTIST, SAM, OFFSITE]),
        ("The dinner is cancelled.", [TOM, DENTIST, SAM, OFFSITE]),
        ("I didn't cancel my dinner with Sam.", [TOM, DENTIST, SAM, OFFSITE]),
        ("Last month I cancelled my dinner with Sam.", [TOM, DENTIST, SAM, OFFSITE]),
        ("My wife cancelled her dinner with Sam.", [TOM, DENTIST, SAM, OFFSITE]),
        ("The meeting with Tom was moved to room 4.", [TOM, DENTIST, SAM, OFFSITE]),
    ],
)
def test_what_is_called_off_or_moved_is_planned_no_more(user: memspan.Scope, said: str, left: list[str]) -> None:
    user.learn([{"role": "user", "content": said}])
    planned = [hit.text for hit in user.recall("What do I have next week?")]
    assert [text for text in planned if text in {TOM, DENTIST, SAM, OFFSITE}] == left


def test_a_plan_is_moved_within_one_talk(clock: FakeClock) -> None:
    with temporary_engine(clock=clock) as engine:
        user = engine.user("u")
        talk = ["I have a dentist appointment on December 1.", "My dentist appointment was moved to December 3."]
        user.learn([{"role": "user", "content": said} for said in talk])
        texts = [hit.text for hit in user.recall("When is my dentist appointment?")]
        assert texts == ["The user's dentist appointment is December 3 (2026-12-03)."]


def test_what_goes_on_is_of_each_of_its_days(clock: FakeClock) -> None:
    with temporary_engine(clock=clock) as engine:
        user = engine.user("u")
        for said in ("My sister stays with us from November 28 to December 2.", "We are in Rome December 4 to 9."):
            user.learn([{"role": "user", "content": said}])
        for day, found in (("November 27", 0), ("November 30", 1), ("December 3", 0), ("December 6", 1), ("December 10", 0)):
            answer = user.recall(f"What do I have on {day}?")
            assert (answer.confidence == pytest.approx(0.9)) == bool(found), day


def test_of_two_plans_that_are_alike_the_day_says_which_one(clock: FakeClock) -> None:
    plans = ["I have a dinner with Sam on December 3.", "I have a dinner with Sam on December 10."]
    for said, left in (
        ("The dinner with Sam is cancelled.", 2),
        ("I cancelled the dinner with Sam on December 10.", 1),
        ("I moved the dinner with Sam from December 10 to December 12.", 1),
    ):
        for talks in ([[*plans, said]], [[plan] for plan in [*plans, said]]):
            with temporary_engine(clock=clock) as engine:
                user = engine.user("u")
                for talk in talks:
                    user.learn([{"role": "user", "content": one} for one in talk])
                kept = [memory.text for memory in user.memories() if memory.text.startswith("I have a dinner")]
                assert len(kept) == left, (said, talks)
                assert "December 3" in kept[0]


def test_a_rule_is_no_plan(clock: FakeClock) -> None:
    with temporary_engine(clock=clock) as engine:
        user = engine.user("u")
        for said in ("Never deploy before the audit on December 10.", "The audit was moved to December 14."):
            user.learn([{"role": "user", "content": said}])
        assert any(memory.kind == "constraint" for memory in user.memories())


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ("My exam is on December 3.", "My exam was cancelled."),
        ("My exam is on December 3.", "The exam is cancelled."),
        ("I have a flight to Rome on December 3.", "I cancelled my flight to Rome."),
        ("I have a flight to Rome on December 3.", "Unfortunately I had to cancel my flight to Rome."),
    ],
)
def test_a_plan_that_is_called_off_is_in_no_agenda(clock: FakeClock, plan: str, said: str) -> None:
    with temporary_engine(clock=clock) as engine:
        user = engine.user("u")
        user.learn([{"role": "user", "content": plan}])
        clock.advance(days=1)
        assert [decision.action for decision in user.learn([{"role": "user", "content": plan}]).decisions] == ["reinforced"]
        user.learn([{"role": "user", "content": said}])
        assert [memory.text for memory in user.memories() if "2026-12-03" in memory.text] == []
        assert user.recall("What do I have on December 3?").confidence != pytest.approx(0.9)


@pytest.mark.parametrize(
    "said",
    [
        "I cancelled the meeting at the bank.",
        "I cancelled the meeting with Eva.",
        "Sam cancelled the meeting on Friday.",
        "Today's meeting was cancelled.",
    ],
)
def test_another_plan_is_called_off(clock: FakeClock, said: str) -> None:
    with temporary_engine(clock=clock) as engine:
        user = engine.user("u")
        for one in ("I have a meeting on December 3.", said):
            user.learn([{"role": "user", "content": one}])
        assert "I have a meeting on December 3 (2026-12-03)." in [memory.text for memory in user.memories()]
