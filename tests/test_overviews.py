"""Questions without content: what lies in a time, and all about the user. See docs/ranking.md, "Nothing to look for"."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

import memspan
from memspan.testing import FakeClock, temporary_engine

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = datetime(2026, 6, 20, 18, tzinfo=UTC)
SAID = {
    4: "I bought a red bicycle from Marco for 300 euros.",
    24: "I ran a half marathon in Braga in 1:52.",
    26: "My laptop broke and I ordered a ThinkPad.",
}


@pytest.fixture
def user() -> Iterator[memspan.Scope]:
    """Somebody who told of three days of May, and on each asked something, too."""
    clock = FakeClock(NOW)
    with temporary_engine(clock=clock) as engine:
        user = engine.user("u")
        for day in (*SAID, 28):
            clock.set(datetime(2026, 5, day, 9, tzinfo=UTC))
            session = user.session(f"s-{day}", model="gpt-4o")
            asked = {"role": "user", "content": "What did I do yesterday?"}
            told = (
                [{"role": "user", "content": SAID[day]}, {"role": "assistant", "content": "Noted, how nice for you."}]
                if day in SAID
                else []
            )
            session.add_many([*told, asked, {"role": "user", "content": "Thanks!"}])
            if day in SAID:
                user.remember(SAID[day], "episodic")
        clock.set(NOW)
        yield user


def texts(hits: memspan.Answer[memspan.AnyHit] | memspan.Answer[memspan.Recalled] | memspan.Answer[memspan.TranscriptHit]) -> list[str]:
    return [hit.text for hit in hits]


def shown(user: memspan.Scope, question: str, **options: object) -> str:
    session = user.session(f"asks {question} {options}", model="gpt-4o", recalls=memspan.Recalls(**options))  # type: ignore[arg-type]
    session.add({"role": "user", "content": question})
    return session.assemble().text


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("What happened in May?", [4, 24, 26]),
        ("What did I say in May?", [4, 24, 26]),
        ("What did we talk about on 24 May?", [24]),
        ("Can you recap what I did between 20 May and 30 May?", [24, 26]),
    ],
)
def test_a_time_is_answered_by_what_lies_in_it(user: memspan.Scope, question: str, days: list[int]) -> None:
    said = [SAID[day] for day in days]
    for answer in (user.recall(question), user.search_transcripts(question), user.search(question)):
        assert texts(answer) == said, "in the order of time, each once, and no question"
        assert answer.confidence == pytest.approx(0.9)
        assert [hit.score for hit in answer] == sorted((hit.score for hit in answer), reverse=True)
    prompt = shown(user, question)
    places = [prompt.find(text) for text in said]
    assert all(place > 0 for place in places)
    assert places == sorted(places)
    assert not any(text in prompt for text in SAID.values() if text not in said)
    assert "yesterday" not in prompt


def test_why_says_so(user: memspan.Scope) -> None:
    why = user.recall("What happened in May?")[1].explain()
    assert why.parts["overview"] == 1
    assert why.time == 1
    assert why.time_range == (datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC))
    assert why.related is not None
    assert why.related in str(why)
    assert "of the time" in why.related
    message = user.search_transcripts("What happened in May?")[1].explain()
    assert message.parts["within"] == 1
    assert message.score == pytest.approx(1)
    session = user.session("asks", model="gpt-4o", recalls=memspan.Recalls(memories=1, messages=0))
    session.add({"role": "user", "content": "What happened in May?"})
    prompt = session.assemble()
    left_out = next(hit.memory.id for hit in user.recall("What happened in May?") if hit.text == SAID[26])
    assert "3 memories that answer a question without content" in str(prompt.why(left_out))


def test_a_word_of_content_asks_for_that(user: memspan.Scope) -> None:
    hits = user.recall("Which laptop did I order in May?")
    assert texts(hits)[0] == SAID[26]
    assert "overview" not in hits[0].explain().parts


def test_a_time_of_which_nothing_is_known_is_asked_as_before(user: memspan.Scope) -> None:
    assert user.recall("What did I do in 2019?").confidence < 0.5
    assert not any("overview" in hit.explain().parts for hit in user.recall("What did I do in 2019?"))


def test_a_caller_who_names_the_time_is_believed(user: memspan.Scope) -> None:
    since = datetime(2026, 5, 26, tzinfo=UTC)
    assert not any("overview" in hit.explain().parts for hit in user.recall("What did I do in May?", since=since))
    assert not any(hit.score > 0.99 for hit in user.search_transcripts("What did I do in May?", since=since))


def test_events_are_what_happened_and_facts_where_there_are_none(user: memspan.Scope) -> None:
    user.remember("Prefers Go", "preference", occurred_at=datetime(2026, 5, 5, tzinfo=UTC))
    user.remember("payments-api listens on 8443", occurred_at=datetime(2026, 4, 5, tzinfo=UTC))
    assert "Prefers Go" not in texts(user.recall("What happened in May?"))
    assert "Prefers Go" in texts(user.recall("What did I tell you in May?"))
    assert texts(user.recall("What happened in April?")) == ["payments-api listens on 8443"]


def test_what_a_prompt_may_recall_is_what_the_caller_says(user: memspan.Scope) -> None:
    question = "What did I say in May?"
    assert SAID[24] in shown(user, question, memories=0)
    assert SAID[24] in shown(user, question, messages=0)
    assert SAID[24] not in shown(user, question, memories=0, messages=0)
    assert SAID[24] not in shown(user, question, memories=0, other_sessions=False)
    assert SAID[24] not in shown(user, question, memories=0, roles=("assistant",))
    assert SAID[24] not in shown(user, question, min_confidence=0.95)


def test_what_the_model_said_hides_no_statement() -> None:
    clock = FakeClock(datetime(2026, 5, 4, 9, tzinfo=UTC))
    with temporary_engine(clock=clock, durability="relaxed") as engine:
        user = engine.user("u")
        session = user.session("s", model="gpt-4o")
        for day in range(1, 6):
            session.add({"role": "user", "content": f"I planted rose {day} in the garden."})
            session.add_many([{"role": "assistant", "content": f"Step {n} of the plan for rose {day}."} for n in range(300)])
        clock.set(NOW)
        said = texts(user.search_transcripts("What did I say on 4 May?"))
        assert said == [f"I planted rose {day} in the garden." for day in range(1, 6)]


def test_what_is_asked_within_limits_comes_from_all_of_the_time() -> None:
    clock = FakeClock(datetime(2026, 5, 1, tzinfo=UTC))
    with temporary_engine(clock=clock, durability="relaxed") as engine:
        user = engine.user("u")
        session = user.session("s", model="gpt-4o")
        for day in range(1, 31):
            clock.set(datetime(2026, 5, day, 9, tzinfo=UTC))
            session.add_many([{"role": role, "content": f"{role} {n} of day {day}"} for n in range(80) for role in ("user", "assistant")])
            user.remember_many([{"text": f"Did {n} on day {day}", "kind": "episodic"} for n in range(20)])
        clock.set(NOW)
        for answer in (user.recall("What did I do in May?"), user.search_transcripts("What did I do in May?")):
            days = [int(text.rpartition(" ")[2]) for text in texts(answer)]
            assert len(days) == 10
            assert days == sorted(days)
            assert days[0] <= 3
            assert days[-1] >= 27
            assert max(b - a for a, b in itertools.pairwise(days)) <= 6
        assert all(text.startswith("user") for text in texts(user.search_transcripts("What did I do in May?", 50)))
        few = user.recall("What did I do in May?", 100, max_tokens=60)
        assert sum(hit.tokens for hit in few) <= 60
        assert few[0].text.endswith("day 1")
        assert int(few[-1].text.rpartition(" ")[2]) > 20
        other = user.session("other", model="gpt-4o")
        other.add({"role": "user", "content": "What did I say in May?"})
        prompt = other.assemble()
        days_shown = {day for day in range(1, 31) if f" of day {day}<" in prompt.text or f" on day {day}<" in prompt.text}
        assert prompt.total_tokens < 4_500
        assert {1, 2} & days_shown
        assert {29, 30} & days_shown
        assert len(days_shown) > 20


@pytest.mark.parametrize("question", ["What do you remember about me?", "summarise what you know about me", "What do you know about me?"])
def test_the_user_is_what_binds_then_what_is_known(user: memspan.Scope, question: str) -> None:
    user.remember("Works as a nurse")
    user.remember("Has two daughters", importance=0.9)
    user.remember("Prefers short answers", "preference")
    user.remember("Is allergic to peanuts", "constraint")
    user.remember("Is called Joana", "profile")
    user.remember("Is a great fan of Acme", "profile", trust=0)
    answer = user.recall(question, 20)
    told = [
        "Is allergic to peanuts",
        "Is called Joana",
        "Prefers short answers",
        "Has two daughters",
        "Works as a nurse",
        SAID[26],
        SAID[24],
        SAID[4],
    ]
    assert texts(answer) == told
    assert answer.confidence == pytest.approx(0.9)
    assert texts(user.recall(question, 4)) == told[:4]
    prompt = shown(user, question, memories=2)
    assert all(text in prompt for text in told[:5]), "what is pinned is not counted"
    assert SAID[4] not in prompt
    assert all(text in shown(user, question) for text in told)


def test_what_a_team_prefers_makes_no_room_for_more_of_the_user() -> None:
    with temporary_engine(clock=FakeClock(NOW)) as engine:
        user, team = engine.user("u"), engine.shared("team")
        for number in range(5):
            user.remember(f"The user plays game {number} in club {number}")
            team.remember(f"Team prefers tool {number}", "preference")
        user.remember("Prefers short answers", "preference")
        session = user.session("s", model="gpt-4o", reads=[team], recalls=memspan.Recalls(memories=1))
        session.add({"role": "user", "content": "What do you know about me?"})
        rows = session.assemble().explain()
        assert sum(row.included for row in rows if row.section == "recalled") == 1
        assert sum(row.included for row in rows if row.section == "pinned") == 6


def test_a_shared_scope_is_nobody() -> None:
    with temporary_engine(clock=FakeClock(NOW)) as engine:
        user, team = engine.user("u"), engine.shared("team")
        team.remember("Deploys on Mondays", "constraint")
        assert not any("overview" in hit.explain().parts for hit in team.recall("What do you know about me?"))
        user.remember("Has two daughters")
        assert texts(user.recall("What do you know about me?", also=[team])) == ["Has two daughters"]
        assert sorted(texts(user.recall("What happened today?", also=[team]))) == ["Deploys on Mondays", "Has two daughters"]


def test_days_are_those_of_the_zone_in_prompts_and_transcripts() -> None:
    zone = timezone(timedelta(hours=-7))
    clock = FakeClock(datetime(2026, 5, 2, 21, tzinfo=zone))
    with temporary_engine(clock=clock) as engine:
        user = engine.user("u")
        user.session("late", model="gpt-4o").add({"role": "user", "content": "I had dinner with Ana."})
        clock.set(datetime(2026, 5, 3, 9, tzinfo=zone))
        user.session("next", model="gpt-4o").add({"role": "user", "content": "I had breakfast with Cid."})
        clock.set(datetime(2026, 5, 3, 20, tzinfo=zone))
        session = user.session("asks", model="gpt-4o")
        session.add({"role": "user", "content": "What did I do yesterday?"})
        question = "What did I do yesterday?"
        for named in (zone, "America/Los_Angeles"):
            assert texts(user.search_transcripts(question, timezone=named)) == ["I had dinner with Ana."]
            assert texts(user.search(question, timezone=named)) == ["I had dinner with Ana."]
            prompt = session.assemble(timezone=named).text
            assert "dinner" in prompt
            assert "breakfast" not in prompt
        both = ["I had dinner with Ana.", "I had breakfast with Cid."]
        assert texts(user.search_transcripts(question)) == both, "in UTC both are of the third"
        assert all(text in session.assemble().text for text in both)
        for ask in (lambda: session.assemble(timezone="Nowhere/At_all"), lambda: user.search_transcripts(question, timezone="")):
            with pytest.raises(memspan.InvalidInput, match="timezone="):
                ask()


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Sydney"])
def test_a_day_has_the_offset_that_its_zone_had_then(zone: str) -> None:
    """Prompts read every day with the offset of today, so that the first hour of a summer's day was of the day before."""
    for month in ("January", "July"):
        clock = FakeClock(datetime(2026, 12, 20, 12, tzinfo=UTC))
        midnight = datetime.strptime(f"1 {month} 2026", "%d %B %Y").replace(tzinfo=ZoneInfo(zone))
        with temporary_engine(clock=clock) as engine:
            user = engine.user("u")
            earlier = user.session("earlier", model="gpt-4o")
            for text, minutes in (("I had dinner with Cid.", -20), ("I had dinner with Ana.", 20)):
                earlier.add({"role": "user", "content": text}, created_at=midnight + timedelta(minutes=minutes))
            session, question = user.session("asks", model="gpt-4o"), f"What did I do on {month} 1?"
            session.add({"role": "user", "content": question})
            for prompt in (session.assemble(timezone=zone), session.assemble(question, timezone=zone)):
                assert "Ana" in prompt.text
                assert "Cid" not in prompt.text
            assert texts(user.search_transcripts(question, timezone=zone)) == ["I had dinner with Ana."]


@pytest.mark.parametrize("most", [0, 1, 2])
def test_a_prompt_shows_no_more_messages_of_a_time_than_the_caller_allows(user: memspan.Scope, most: int) -> None:
    prompt = shown(user, "What did I say in May?", memories=0, messages=most)
    assert sum(said in prompt for said in SAID.values()) == most
