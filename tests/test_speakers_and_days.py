"""What several speakers of one shared scope say of themselves, and what happened on a day."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

import memspan
from memspan.testing import FakeClock


@pytest.fixture
def team(memspan_engine: memspan.Engine) -> memspan.Scope:
    return memspan_engine.shared("team")


def texts(scope: memspan.Scope) -> set[str]:
    return {memory.text for memory in scope.memories()}


@pytest.mark.parametrize("given", ["name", "author"])
def test_nobody_takes_the_place_of_somebody_else(team: memspan.Scope, given: str) -> None:
    session = team.session("channel", model="gpt-4o")
    for who, said in [("priya", "I live in Lisbon."), ("tom", "I live in Vienna."), ("priya", "I moved to Porto.")]:
        message: dict[str, Any] = {"role": "user", "content": said}
        if given == "name":
            session.add({**message, "name": who})
        else:
            session.add(message, author=who)
    team.learn(session)
    assert team.slots["priya's home"].text.endswith("Porto.")
    assert team.slots["tom's home"].text == "Tom lives in Vienna."
    assert "home" not in team.slots
    assert "Porto" in team.recall("Where does Priya live?")[0].text


def test_what_one_says_of_oneself_is_pinned_for_nobody(team: memspan.Scope) -> None:
    said = [("lena", "Call me Leni."), ("lena", "I'm allergic to nuts."), ("tom", "Never deploy on Fridays.")]
    team.learn([{"role": "user", "name": who, "content": text} for who, text in said])
    kinds = {memory.text: memory.kind for memory in team.memories()}
    assert kinds["Lena is allergic to nuts."] == "semantic"
    assert kinds["Never deploy on Fridays."] == "constraint", "it is said of all"
    assert not [text for text, kind in kinds.items() if kind == "profile"]


def test_nobody_ends_the_allergy_of_another(team: memspan.Scope) -> None:
    for who, text in [("priya", "I'm allergic to nuts."), ("tom", "Priya is not allergic to nuts.")]:
        team.learn([{"role": "user", "name": who, "content": text}])
    assert "Priya is allergic to nuts." in texts(team)
    team.learn([{"role": "user", "name": "priya", "content": "I'm not allergic to nuts, turns out."}])
    assert "Priya is allergic to nuts." not in texts(team)


ENDINGS = [
    ("I work at Acme.", "I left Acme."),
    ("I work at Acme.", "I left Acme for Globex."),
    ("I live in Lisbon.", "I don't live in Lisbon any more."),
    ("I live in Lisbon.", "I moved out of Lisbon."),
    ("Please answer me in French.", "Stop answering in French."),
    ("I want you to answer in French from now on.", "Stop answering in French."),
    ("I take metformin.", "I'm off metformin."),
    ("I'm allergic to nuts.", "I'm not allergic to nuts any more."),
    ("I use Vim.", "I don't use Vim any more."),
    ("I prefer Vim.", "I switched from Vim to Emacs."),
    ("I love coffee.", "I hate coffee now."),
    ("I drive a Golf.", "I drive a Tesla now."),
    ("I'm on the free plan.", "I'm on the Pro plan now."),
]
"""A sentence, and another one by which one user ends it."""


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize(("first", "over"), ENDINGS)
def test_a_speaker_ends_what_they_said_and_nobody_else_does(memspan_engine: memspan.Engine, first: str, over: str, at_once: bool) -> None:
    def left(scope_id: str, *said: tuple[str, str]) -> set[str]:
        scope = memspan_engine.shared(scope_id)
        messages = [{"role": "user", "name": who, "content": text} for who, text in said]
        for part in [messages] if at_once else [[message] for message in messages]:
            scope.learn(part)
        return texts(scope)

    [known] = left("alone", ("priya", first))
    assert known.startswith("Priya")
    assert known not in left("same", ("priya", first), ("priya", over))
    assert known not in left("capital", ("priya", first), ("Priya", over))
    assert known in left("another", ("priya", first), ("tom", over))
    [own] = left("tom", ("tom", first))
    both = left("both", ("priya", first), ("tom", first), ("tom", over))
    assert known in both
    assert own not in both


def test_an_ending_takes_the_slot_of_its_speaker(team: memspan.Scope) -> None:
    for who, said in [("priya", "I work at Acme."), ("tom", "I work at Acme."), ("priya", "I left Acme for Globex.")]:
        team.learn([{"role": "user", "name": who, "content": said}])
    left = team.slots["priya's employer"]
    assert (left.text, left.kind) == ("Priya: I left Acme for Globex.", "semantic")
    assert team.slots["tom's employer"].text == "Tom works for Acme."
    assert "employer" not in team.slots


def test_a_tool_that_a_speaker_switched_to_takes_the_place_of_theirs(team: memspan.Scope) -> None:
    for who, said in [("priya", "I use Vim."), ("tom", "I use Vim."), ("priya", "I switched to Emacs.")]:
        team.learn([{"role": "user", "name": who, "content": said}])
    assert texts(team) == {"Tom: I use Vim.", "Priya: I switched to Emacs."}


def test_an_order_that_ends_a_speakers_wish_is_pinned_for_nobody(team: memspan.Scope) -> None:
    for said in ("Please answer me in French.", "Stop answering in French."):
        team.learn([{"role": "user", "name": "priya", "content": said}])
    assert [(memory.slot, memory.kind) for memory in team.memories()] == [("priya's answer language", "semantic")]


def test_what_all_end_is_no_speakers_own(team: memspan.Scope) -> None:
    said = [("priya", "I use Vim."), ("tom", "We use Jira."), ("tom", "We don't use Vim any more."), ("tom", "We don't use Jira any more.")]
    for who, text in said:
        team.learn([{"role": "user", "name": who, "content": text}])
    assert texts(team) == {"Priya: I use Vim.", "We don't use Vim any more.", "We don't use Jira any more."}


def test_the_speakers_of_one_users_scope_are_the_user(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("u-1")
    user.learn([{"role": "user", "name": "ana", "content": "I live in Lisbon."}])
    assert user.slots["home"].text == "The user lives in Lisbon."


@pytest.fixture
def dated() -> FakeClock:
    return FakeClock(datetime(2025, 5, 7, 12, tzinfo=UTC))


def test_what_happened_on_a_day_is_found_by_that_day(tmp_path: Any, dated: FakeClock) -> None:
    with memspan.open(tmp_path / "store", clock=dated) as engine:
        user = engine.user("u")
        user.learn([{"role": "user", "content": "Three days ago the disk of db-07 was replaced."}])
        user.learn([{"role": "user", "content": "We signed the contract with Globex on Monday."}])
        assert "(2025-05-05)" in " ".join(texts(user)), "the Monday before, not the one to come"
        dated.advance(days=10)
        assert user.recall("What happened on May 4?").confidence > 0.5
        assert user.recall("What happened on May 7?").confidence < user.recall("What happened on May 4?").confidence


def test_an_event_of_the_day_that_is_asked_for_needs_no_word_of_the_question(tmp_path: Any) -> None:
    with memspan.open(tmp_path / "store", clock=FakeClock(datetime(2025, 6, 9, 9, tzinfo=UTC))) as engine:
        user = engine.user("u")
        user.remember("I bought a bike.", "episodic", occurred_at=datetime(2025, 6, 1, 10, tzinfo=UTC))
        user.remember("I rented a van.", "episodic", occurred_at=datetime(2025, 4, 1, 10, tzinfo=UTC))
        assert [hit.text for hit in user.recall("What did I buy on June 1?")][:1] == ["I bought a bike."]
        session = user.session("s", model="gpt-4o")
        session.add({"role": "user", "content": "What did I buy on June 1?"})
        assert "I bought a bike." in str(session.assemble().to_openai())


def test_a_message_says_no_pinned_text_again(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("u")
    said = "I prefer short answers."
    first = user.session("s-1", model="gpt-4o")
    first.add({"role": "user", "content": said})
    user.learn(first)
    second = user.session("s-2", model="gpt-4o")
    second.add({"role": "user", "content": "Which answers do I prefer?"})
    assert str(second.assemble().to_openai()).count(said) == 1
