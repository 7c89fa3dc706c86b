"""What forks have of a message: a redaction reaches it, and a search finds it once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memspan.testing import openai_response

if TYPE_CHECKING:
    from collections.abc import Callable

    import memspan
    from memspan.testing import FakeClock

NUMBER = "KX-449120"
SAID = f"My customer number at Fluvia is {NUMBER}."
ASKED = "what is my customer number at Fluvia?"


def said(text: str, role: str = "user") -> dict[str, str]:
    return {"role": role, "content": text}


def replied(session: memspan.Session, text: str = "ok") -> None:
    session.add_response(openai_response(text), prompt=session.assemble())


@pytest.fixture
def session(user: memspan.Scope) -> memspan.Session:
    session = user.session("s-1", model="gpt-4o")
    session.add(said(SAID), id="m-1")
    replied(session, f"Noted: {NUMBER}, I keep it.")
    session.add(said("and my dentist is Karel"))
    replied(session)
    return session


def everywhere(user: memspan.Scope, word: str = NUMBER) -> set[str]:
    """Where a word is still shown or found."""
    found = {f"message of {hit.session_id}" for hit in user.search_transcripts(f"{ASKED} {word}", limit=50) if word in hit.text}
    found |= {f"memory {memory.text}" for memory in user.memories() if word in memory.text}
    for listed in user.sessions():
        session = user.session(listed.id)
        places = {
            "transcript": [message.given for message in session.messages],
            "summary": [] if session.summary is None else [session.summary.text],
            "ledger": [turn.prompt.messages for turn in session.turns if turn.calls and turn.prompt],
        }
        found |= {f"{place} of {session.id}" for place, values in places.items() if word in str(values)}
        copy = session.fork(f"asks {session.id}")
        copy.add(said(ASKED))
        if word in str(copy.assemble().messages):
            found.add(f"prompt of {session.id}")
        copy.delete()
    return found


def forked(session: memspan.Session) -> memspan.Session:
    return session.fork("copy")


def cut(session: memspan.Session) -> memspan.Session:
    return session.fork("copy", at=3)


def of_a_fork(session: memspan.Session) -> memspan.Session:
    return session.fork("between").fork("copy")


def of_a_deleted_fork(session: memspan.Session) -> memspan.Session:
    between = session.fork("between")
    copy = between.fork("copy")
    between.delete()
    return copy


def ended(session: memspan.Session) -> memspan.Session:
    copy = session.fork("copy")
    copy.end()
    return copy


def gone_on(session: memspan.Session) -> memspan.Session:
    copy = session.fork("copy", at=2)
    for number in range(3):
        copy.add(said(f"something else {number}"))
        replied(copy)
    return copy


def rewound(session: memspan.Session) -> memspan.Session:
    copy = session.fork("copy")
    copy.rewind(2)
    copy.add(said("my plumber is Jan"))
    return copy


def compacted(session: memspan.Session) -> memspan.Session:
    for number in range(8):
        session.add(said(f"topic {number}, like build {900 + number} on host-{number}"))
        replied(session, f"build {900 + number} " + "and so on " * 40)
    session.compact()
    return session.fork("copy")


MADE: list[Callable[[memspan.Session], memspan.Session]] = [forked, cut, of_a_fork, of_a_deleted_fork, ended, gone_on, rewound, compacted]


@pytest.mark.parametrize("in_the_fork", [False, True], ids=["in the source", "in the fork"])
@pytest.mark.parametrize("made", MADE, ids=lambda made: made.__name__)
def test_a_redaction_reaches_every_copy(
    memspan_engine: memspan.Engine,
    user: memspan.Scope,
    session: memspan.Session,
    made: Callable[[memspan.Session], memspan.Session],
    in_the_fork: bool,
) -> None:
    copy = made(session)
    assert everywhere(user), "the control"
    before = {one.id: len(user.session(one.id).messages) for one in user.sessions()}
    redacted = copy if in_the_fork else session
    assert redacted.redact(0, reason="asked to")
    assert redacted.redact(1)
    assert everywhere(user) == set()
    assert {one.id: len(user.session(one.id).messages) for one in user.sessions()} == before
    assert [(message.redacted, message.reason) for message in copy.messages[:2]] == [(True, "asked to"), (True, None)]
    assert (session.redact(0), copy.redact(1)) == (False, False), "each is done once for all"
    if not copy.ended:
        assert copy.add(said("again"), id="m-1").action == "rejected"
    assert memspan_engine.check().sound


def test_siblings_are_reached_when_their_source_is_gone(user: memspan.Scope, session: memspan.Session) -> None:
    one, two = session.fork("one"), session.fork("two", at=2)
    session.delete()
    assert one.redact(0)
    assert one.redact(1)
    assert (everywhere(user), two.messages[0].redacted) == (set(), True)


def test_what_forks_taught_goes_with_the_message(user: memspan.Scope, session: memspan.Session) -> None:
    copy = session.fork("copy")
    user.learn(copy)
    user.learn(session)
    assert any(NUMBER in memory.text for memory in user.memories()), "the control"
    session.redact(0)
    session.redact(1)
    assert everywhere(user) == set()
    assert any("Karel" in memory.text for memory in user.memories())


def test_other_messages_keep_their_text(memspan_engine: memspan.Engine, user: memspan.Scope, session: memspan.Session) -> None:
    before = session.fork("before", at=0)
    before.add(said(SAID))
    twin = user.session("twin", model="gpt-4o")
    twin.add(said(SAID), id="m-1")
    stranger = memspan_engine.user("stranger").session("s-1", model="gpt-4o")
    stranger.add(said(SAID))
    own = session.fork("own")
    own.rewind(0)
    own.add(said(SAID))
    renamed = session.fork("renamed")
    renamed.add(said("My badge is B-4471."))
    session.redact(0)
    kept = [one for one in (before, twin, stranger, own) if one.messages[0].text == SAID]
    assert [one.id for one in kept] == ["before", "twin", "s-1", "own"]
    assert [message.redacted for message in renamed.messages] == [True, False, False, False, False]
    renamed.redact(4)
    assert len(session.messages) == 4
    assert not any(message.redacted for message in session.messages[1:])


def test_a_session_that_was_made_anew_is_another(user: memspan.Scope, session: memspan.Session) -> None:
    copy = session.fork("copy")
    session.delete()
    again = user.session("s-1", model="gpt-4o")
    again.add(said("My customer number at Fluvia is ZZ-1."))
    copy.redact(0)
    assert (again.messages[0].redacted, copy.messages[0].redacted) == (False, True)
    copy.rewind(0)
    assert len(again.messages) == 1


def test_rewinding_is_of_one_session(user: memspan.Scope, session: memspan.Session) -> None:
    copy = session.fork("copy")
    session.rewind(0)
    assert (len(session.messages), len(copy.messages)) == (0, 4)
    assert {hit.session_id for hit in user.search_transcripts(ASKED) if NUMBER in hit.text} == {"copy"}


def test_a_fork_keeps_what_was_learnt_from_a_message_that_it_has(user: memspan.Scope) -> None:
    """The memory was forgotten with the other session's message, and learning from the fork did not bring it back."""
    session = user.session("talk", model="gpt-4o")
    session.add_many([said("I'm allergic to peanuts."), said("I live in Porto.")])
    user.learn(session)
    copy, short = session.fork("copy"), session.fork("short", at=1)
    session.rewind(0)
    assert {(memory.session, memory.message) for memory in user.memories()} == {("copy", 0), ("copy", 1)}
    assert {one.action for one in user.learn(copy)} == {"duplicate"}
    copy.rewind(0)
    assert [(memory.session, memory.text) for memory in user.memories()] == [("short", "The user is allergic to peanuts.")]
    assert len(user.search_transcripts("Porto")) == 0
    short.redact(0)
    assert list(user.memories()) == []
    own = short.fork("own")
    own.add(said("I play the cello."))
    user.learn(own)
    own.rewind(1)
    assert list(user.memories()) == []


@pytest.mark.parametrize("taken", ["redact", "rewind"])
@pytest.mark.parametrize("gone", ["rewind", "delete"])
@pytest.mark.parametrize("learnt_from", ["talk", "copy"])
@pytest.mark.parametrize("is_read", [False, True])
def test_what_was_handed_over_goes_with_the_last_message_that_said_it(
    memspan_engine: memspan.Engine, user: memspan.Scope, *, learnt_from: str, gone: str, taken: str, is_read: bool
) -> None:
    talk = user.session("talk", model="gpt-4o")
    talk.add(said("I'm allergic to peanuts."))
    copy = talk.fork("copy")
    first, last = (talk, copy) if learnt_from == "talk" else (copy, talk)
    user.learn(first)
    if gone == "rewind":
        first.rewind(0)
    else:
        first.delete()
    assert [memory.session for memory in user.memories()] == [last.id]
    if is_read:
        assert {one.action for one in user.learn(last)} == {"duplicate"}
    if taken == "redact":
        last.redact(0)
    else:
        last.rewind(0)
    assert list(user.memories()) == []
    assert memspan_engine.check().sound


def test_a_fork_forgets_nothing_that_a_deleted_session_of_its_id_taught(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    gone = user.session("copy", model="gpt-4o")
    gone.add(said("I play the cello."))
    user.learn(gone)
    gone.delete()
    memspan_clock.advance(seconds=1)
    session = user.session("talk", model="gpt-4o")
    session.add(said("I'm allergic to peanuts."))
    user.learn(session)
    copy = session.fork("copy")
    copy.rewind(0)
    session.rewind(0)
    assert [memory.text for memory in user.memories()] == ["I play the cello."]


def line(number: int) -> str:
    things = ("invoice", "flight", "dentist", "budget", "kitchen", "release", "plumber", "garden", "school")
    return f"They paid the {things[number % 9]} of the {things[number * 5 % 7]} number {number} on day {number % 31}"


def test_messages_without_words_and_other_sessions_stand_between_copies(user: memspan.Scope) -> None:
    talk, other = user.session("talk", model="gpt-4o"), user.session("other", model="gpt-4o")
    for number in range(40):
        talk.add(said(line(number)))
        call = {"id": f"c-{number}", "type": "function", "function": {"name": "pay", "arguments": "{}"}}
        talk.add_many(
            [{"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "tool_call_id": f"c-{number}", "content": ""}]
        )
        if number % 5 == 4:
            talk.fork(f"fork {number}")
            other.add(said(f"The plumber of the kitchen sent receipt {number}"))
    for question, found_in in (("who paid the plumber of the kitchen?", {"talk", "other"}), ("which receipt?", {"other"})):
        hits = user.search_transcripts(question, 40)
        plumbers = [hit.text for hit in hits if "plumber" in hit.text]
        assert len(set(plumbers)) == len(plumbers)
        assert {hit.session_id for hit in hits if "plumber" in hit.text} == found_in
    assert sum("receipt" in hit.text for hit in user.search_transcripts("which receipt?", 40)) == 8


@pytest.mark.parametrize("forks", [1, 12, 70])
def test_forks_change_nothing_of_what_is_found(user: memspan.Scope, forks: int) -> None:
    talk = user.session("talk", model="gpt-4o")
    talk.add_many([said(line(number), ("user", "assistant")[number % 2]) for number in range(120)])
    questions = ("who paid the plumber of the kitchen?", "number 17", "which invoice was paid?")
    before = {question: user.search_transcripts(question)[0].text for question in questions}
    for number in range(forks):
        talk.fork(f"fork {number}", at=(120, 60, 117)[number % 3])
    for question in questions:
        for limit in (1, 10, 40):
            hits = user.search_transcripts(question, limit=limit)
            assert len(hits) == limit
            assert len({hit.text for hit in hits}) == limit, "each once"
            assert {hit.session_id for hit in hits} == {"talk"}, "as it was said"
            assert hits[0].text == before[question]


def test_a_fork_that_alone_matches_answers_for_its_session(user: memspan.Scope) -> None:
    talk = user.session("talk", model="gpt-4o", metadata={"project": "apollo"})
    talk.add_many([said(line(number)) for number in range(30)])
    for number in range(8):
        talk.fork(f"fork {number}")
    talk.delete()
    assert len({hit.text for hit in user.search_transcripts("which plumber?", 20)}) == 20
    assert len({hit.session_id for hit in user.search_transcripts("which plumber?", 20)}) == 1
    user.session("fork 3", metadata={"project": "zeus"})
    for project, found_in in (("zeus", {"fork 3"}), ("apollo", {"fork 0"})):
        hits = user.search_transcripts("which plumber?", 20, where={"project": project})
        assert (len({hit.text for hit in hits}), {hit.session_id for hit in hits}) == (20, found_in)


def test_a_fork_recalls_its_own_messages(user: memspan.Scope, session: memspan.Session) -> None:
    copies = [session.fork(f"copy {number}") for number in range(6)]
    asking = copies[2]
    asking.add(said(ASKED))
    shown = str(asking.assemble().messages)
    assert shown.count(SAID) == 1, "its window has it"
    other = user.session("other", model="gpt-4o")
    other.add(said(ASKED))
    assert str(other.assemble().messages).count(SAID) == 1
