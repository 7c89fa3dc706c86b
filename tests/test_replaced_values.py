"""What does not hold any more, in prompts and searches: a pinned value, the message that told it, a question that was asked before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from memspan import Budget, Recalls

if TYPE_CHECKING:
    from memspan import Prompt, Scope, Session
    from memspan.testing import FakeClock

# "My daughter Sakura's birthday is on 14 May.", and when it is.
BIRTHDAY = "\u5a18\u306e\u3055\u304f\u3089\u306e\u8a95\u751f\u65e5\u306f5\u670814\u65e5\u3067\u3059\u3002"
WHEN = "\u3055\u304f\u3089\u306e\u8a95\u751f\u65e5\u306f\u3044\u3064\u3067\u3059\u304b\uff1f"
# "I like cake on a birthday."
CAKE = "\u8a95\u751f\u65e5\u306b\u306f\u30b1\u30fc\u30ad\u304c\u597d\u304d\u3067\u3059\u3002"


def say(session: Session, text: str) -> str:
    """The prompt of a turn that says this, which is answered."""
    session.add({"role": "user", "content": text})
    prompt = session.assemble()
    session.add_response({"role": "assistant", "content": "Fine."}, prompt=prompt)
    return shown(prompt)


def shown(prompt: Prompt) -> str:
    return "\n".join(str(message["content"]) for message in prompt.to_openai()["messages"])


def items(text: str) -> list[str]:
    return re.findall(r"<(?:item|memory|updated) [^\n]*", text)


def test_a_pinned_value_that_another_kind_replaced_is_followed_by_what_holds(user: Scope) -> None:
    user.remember("Prefers Python for scripts", kind="preference", slot="scripting language")
    session = user.session("s", model="gpt-4o")
    assert "Prefers Python" in say(session, "hello")
    user.remember("Uses Go for scripts", slot="scripting language")
    text = say(session, "please write the job")
    assert re.search(r'<updated [^>]*slot="scripting language"[^>]*>Uses Go for scripts', text)
    user.remember("Uses Zig for scripts", slot="scripting language")
    text = say(session, "and the other job")
    assert "Uses Zig for scripts" in text
    assert "Uses Go" not in text.split("<updated")[-1]


def test_where_nothing_holds_the_old_value_goes(user: Scope) -> None:
    user.remember("Prefers Python for scripts", kind="preference", slot="scripting language")
    session = user.session("s", model="gpt-4o")
    say(session, "hello")
    newer = user.remember("Uses Go for scripts", slot="scripting language")
    user.forget(newer.memory.id)
    epoch = session.assemble("").epoch
    text = say(session, "please write the job")
    assert "Python" not in text
    assert session.assemble("").epoch > epoch


@pytest.mark.parametrize("kind", ["semantic", "preference", "profile"])
def test_what_took_the_place_of_a_pinned_value_comes_before_all_that_is_new(user: Scope, kind: str) -> None:
    user.remember("The user lives in Lisbon.", kind="profile", slot="home")
    session = user.session("s", model="gpt-4o", budget=Budget(max_input_tokens=2_000))
    assert "Lisbon" in say(session, "hello")
    for number in range(10):
        user.remember(f"Never call supplier number {number} before noon.", kind="constraint")
    user.remember("The user lives in Porto.", kind=kind, slot="home")
    first, *others = re.findall(r"<updated [^>]*>([^<]*)", say(session, "suggest a restaurant near my home"))
    assert first == "The user lives in Porto."
    assert others == [f"Never call supplier number {number} before noon." for number in range(len(others))]
    assert 0 < len(others) < 10


def test_where_a_newer_value_has_no_room_the_next_turn_begins_without_the_older_one(user: Scope) -> None:
    for number in range(8):
        user.remember(f"Uses tool {number}", kind="preference", slot=f"tool {number}")
    session = user.session("s", model="gpt-4o", budget=Budget(max_input_tokens=2_000), recalls=Recalls(memories=0))
    say(session, "hello")
    for number in range(4):
        user.remember(f"Took up {number}: " + "it is slow and it is sure " * 15, kind="preference", slot=f"tool {number}")
    first = say(session, "please write the job")
    left_out = [number for number in range(4) if f"Took up {number}" not in first]
    assert left_out
    assert all(f"Uses tool {number}<" in first for number in left_out), "the control: only the older value is shown"
    epoch, said = session.assemble("").epoch, say(session, "and the other job")
    assert session.assemble("").epoch == epoch + 1
    assert not any(f"Uses tool {number}<" in said for number in range(4))
    say(session, "and one more")
    assert session.assemble("").epoch == epoch + 1, "nothing has changed since"
    for turn in range(4):
        sent = session.turn(turn).prompt
        assert sent is not None
        assert sent.same_bytes


def test_the_message_that_told_an_older_value_says_so_and_stands_behind(user: Scope) -> None:
    for name, said in (("one", "I live in Lisbon."), ("two", "I moved to Porto last weekend.")):
        session = user.session(name, model="gpt-4o")
        say(session, said)
        user.learn(session)
    [home] = [memory for memory in user.memories() if "Porto" in memory.text]
    text = say(user.session("three", model="gpt-4o"), "where do I live?")
    [told] = re.findall(r"<item ([^>]*)>I live in Lisbon\.", text)
    assert "newer_on=" in told
    assert text.index(home.text) < text.index(told)
    sent = user.session("three", model="gpt-4o").turn(0).prompt
    assert sent is not None
    assert sent.same_bytes


def test_a_search_puts_the_message_that_told_an_older_value_behind(user: Scope) -> None:
    for name, said in (("one", "I live in Lisbon."), ("two", "I moved to Porto last weekend.")):
        session = user.session(name, model="gpt-4o")
        say(session, said)
        user.learn(session)
    found = [hit.text for hit in user.search("where do I live?")]
    assert found[0] == "The user lives in Porto."
    assert found.index("I live in Lisbon.") > found.index("I moved to Porto last weekend.")
    before = user.search("where did I live before?")
    assert any("Lisbon" in hit.text for hit in before[:2])


def test_a_message_is_marked_although_the_newer_value_has_its_words(user: Scope) -> None:
    for name, said in (("one", "My GP is Dr. Hall."), ("two", "My GP is Dr. Ames now, Dr. Hall retired.")):
        session = user.session(name, model="gpt-4o")
        say(session, said)
        user.learn(session)
    [told] = re.findall(r"<item ([^>]*)>My GP is Dr\. Hall\.", say(user.session("three", model="gpt-4o"), "who is my GP?"))
    assert "newer_on=" in told


OLD, NEW = "My locker number is 14.", "My locker number is now 92."
ASKED = "what is my locker number?"


def _said(user: Scope, clock: FakeClock, name: str, text: str, reply: str = "Fine.", *, learn: bool = True) -> None:
    clock.advance(hours=1)
    session = user.session(name, model="gpt-4o")
    session.add({"role": "user", "content": text})
    session.add({"role": "assistant", "content": reply})
    if learn:
        user.learn(session)


def _marks(user: Scope, question: str, recalls: Recalls | None = None) -> dict[str, bool]:
    """Whether each message that a prompt shows beside an answer says that something is newer."""
    session = user.session("now", model="gpt-4o", recalls=recalls)
    session.add({"role": "user", "content": question})
    found = re.findall(r"<item ([^>]*)>([^<]*)", session.assemble().text)
    return {text: "newer_on=" in frame for frame, text in found}


def test_the_reply_that_repeats_an_older_value_and_a_message_that_does_say_so(user: Scope, memspan_clock: FakeClock) -> None:
    echo, again, other = "Got it, your locker number is 14.", "As I said, my locker number is 14.", "My wife has locker number 14."
    _said(user, memspan_clock, "one", OLD, echo)
    _said(user, memspan_clock, "two", again)
    _said(user, memspan_clock, "other", other, learn=False)
    _said(user, memspan_clock, "three", NEW)
    marks = _marks(user, ASKED)
    assert [text for text in (OLD, echo, again, other, NEW) if marks[text]] == [OLD, echo, again]
    found = [hit.text for hit in user.search(ASKED)]
    assert max(found.index(NEW), found.index(other)) < min(found.index(one) for one in (OLD, echo, again))


CODE = ("My locker code is 2231.", "My locker code is 9087.", "what is my locker code?")
HOME = ("I live in Lisbon.", "I live in Porto.", "where do I live?")
EDITOR = ("My favourite editor is Vim.", "My favourite editor is Emacs.", "which editor do I like?")


@pytest.mark.parametrize(
    ("told", "reply"),
    [
        (CODE, "Noted: 2231."),
        (CODE, "Got it, 2231 it is."),
        (CODE, "I've saved that your locker code is 2231. Let me know if there is anything else I can help you with today!"),
        (CODE, "Thanks! I will remember locker code 2231 for you."),
        (HOME, "Lisbon is lovely in spring!"),
        (HOME, "Great, I have noted that you live in Lisbon. Would you like tips for the neighbourhood?"),
        (HOME, "Nice, Lisbon!"),
        (EDITOR, "Vim it is."),
        (EDITOR, "OK, I will use Vim in all examples from now on."),
    ],
)
def test_a_reply_that_takes_up_an_older_value_says_so(
    user: Scope, memspan_clock: FakeClock, told: tuple[str, str, str], reply: str
) -> None:
    _said(user, memspan_clock, "one", told[0], reply)
    _said(user, memspan_clock, "two", told[1], "Done.")
    marks = _marks(user, told[2], Recalls(min_confidence=0))
    assert marks[reply], "every reply is shown, however little sure it is of itself"


@pytest.mark.parametrize(
    ("told", "reply"),
    [
        (CODE, "Noted, 2231. By the way, Ana called: she has the key of the locker room."),
        (CODE, "Did you say 2231? I did not get your locker code."),
        (HOME, "You can reach 3 beaches from Lisbon by tram."),
        (HOME, "Lisbon has two clubs, Benfica and Sporting, in case you live for football."),
    ],
)
def test_a_reply_that_says_something_else_beside_an_older_value_has_no_mark(
    user: Scope, memspan_clock: FakeClock, told: tuple[str, str, str], reply: str
) -> None:
    _said(user, memspan_clock, "one", told[0], reply)
    _said(user, memspan_clock, "two", told[1], "Done.")
    assert _marks(user, told[2])[reply] is False


def test_the_message_of_a_memory_that_was_revised_says_so(user: Scope, memspan_clock: FakeClock) -> None:
    told = "Our guest wifi network at the office is sunflower-77."
    _said(user, memspan_clock, "one", told)
    [memory] = user.memories()
    user.revise(memory.id, importance=0.9)
    assert not any(_marks(user, "what is the guest wifi network?").values())
    memspan_clock.advance(hours=1)
    user.revise(memory.id, "Our guest wifi network at the office is marigold-12.")
    user.revise(memory.id, importance=0.8)
    assert _marks(user, "what is the guest wifi network?")[told]
    found = [hit.text for hit in user.search("what is the guest wifi network?")]
    assert "marigold-12" in found[0]


def test_a_message_that_nothing_was_learnt_from_says_that_its_value_is_older(user: Scope, memspan_clock: FakeClock) -> None:
    told = "The API keys are rotated every 30 days."
    _said(user, memspan_clock, "one", told, learn=False)
    for days in (30, 90):
        memspan_clock.advance(hours=1)
        user.remember(f"API keys are rotated every {days} days", slot="key-rotation")
    assert _marks(user, "how often are the API keys rotated?")[told]
    found = [hit.text for hit in user.search("how often are the API keys rotated?")]
    assert found[0].endswith("90 days")
    _said(user, memspan_clock, "two", told, learn=False)
    assert not _marks(user, "how often are the API keys rotated?")[told], "it was said again after the change"


def test_a_question_that_was_asked_before_is_no_answer(user: Scope) -> None:
    user.remember("The user's cat is called Miso")
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": "what is my cat called?"})
    found = user.search("what is my cat called?")
    assert found[0].text == "The user's cat is called Miso"
    assert found[-1].text == "what is my cat called?"
    before = user.search_transcripts("what is my blood type?").confidence
    session.add({"role": "user", "content": "what is my blood type?"})
    asked = user.search_transcripts("what is my blood type?")
    assert asked[-1].text == "what is my blood type?"
    assert asked.confidence <= before + 0.1
    assert asked[-1].score <= asked[0].score


def test_as_many_messages_are_found_behind_an_echo_as_are_asked_for(user: Scope) -> None:
    session = user.session("s", model="gpt-4o")
    for at in range(12):
        session.add({"role": "user", "content": f"My boat number {at} lies at pier {at + 20}."})
    session.add({"role": "user", "content": "where does my boat lie?"})
    assert all("pier" in hit.text for hit in user.search_transcripts("where does my boat lie?", limit=5))
    some, more = (user.search_transcripts("where does my boat lie?", limit=limit) for limit in (3, 10))
    assert [hit.text for hit in some] == [hit.text for hit in more][:3]


def test_messages_in_a_script_that_the_table_does_not_know_are_sure_by_their_words(user: Scope) -> None:
    user.remember(CAKE)
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": BIRTHDAY})
    found = user.search_transcripts(WHEN)
    assert found.confidence > 0.2
    assert (found.mode, found.degraded) == ("lexical", True)
    assert "words alone" in (found.degraded_reason or "")
    assert user.search(WHEN)[0].text == BIRTHDAY


def test_an_identifier_that_nothing_has_leaves_the_answer_unsure(user: Scope) -> None:
    user.remember("ticket OPS-7731 tracks the flaky migration")
    user.remember("ticket OPS-7732 is about the vault certificate")
    known, unknown = (user.recall(f"what does ticket {ticket} track?").confidence for ticket in ("OPS-7731", "OPS-7739"))
    assert unknown < 0.6 < known


def test_what_asks_nothing_recalls_no_memory(user: Scope) -> None:
    for text in ("My landlord is Mr. Okafor", "Always say thanks to Hillary", "The boat is moored at pier 14"):
        user.remember(text)
    for at, said in enumerate(("ok", "thanks!", "perfect", "okay, got it")):
        assert not items(say(user.session(f"s-{at}", model="gpt-4o"), said)), said


def test_a_polite_request_asks_memory(user: Scope) -> None:
    user.remember("payments-api runs on node-7")
    for at, said in enumerate(
        ("Please tell me the status of payments-api.", "Let me know how payments-api is.", "Please check payments-api.")
    ):
        assert any("node-7" in item for item in items(say(user.session(f"s-{at}", model="gpt-4o"), said))), said


def test_what_a_long_message_says_beside_an_older_value_stays(user: Scope) -> None:
    boiler = "Our boiler was serviced by Kowalski Heating in March, with a warranty of two years."
    aside = "The weather was fine and we walked along the river for hours. " * 30
    for name, said in (("one", f"I live in Porto with Eva. {aside}{boiler}"), ("two", "I moved to Lisbon.")):
        session = user.session(name, model="gpt-4o")
        say(session, said)
        user.learn(session)
    assert "Kowalski" in say(user.session("three", model="gpt-4o"), "Who serviced our boiler?")


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("what is my favourite number?", "42"),
        ("what's my dog's name?", "Rex"),
        ("which city is home?", "Ghent"),
        ("when is my birthday?", "14 May"),
    ],
)
def test_a_bare_value_is_found_by_the_name_of_its_slot(user: Scope, question: str, value: str) -> None:
    for text, slot in (("42", "favourite number"), ("Rex", "dog name"), ("Ghent", "home_city"), ("14 May", "birthday")):
        user.remember(text, slot=slot)
    user.remember_many([{"text": f"Note {at}: the meeting about project {at} moved to room {at}."} for at in range(60)])
    found = user.recall(question)
    assert found[0].text == value
    assert "the slot" in str(found[0].explain())
    assert any(value in item for item in items(say(user.session("s", model="gpt-4o"), question)))
    assert user.recall("when was the meeting about project 7?")[0].text.startswith("Note 7")


def test_a_message_that_tells_what_holds_now_is_not_marked_for_what_it_replaces(user: Scope) -> None:
    session = user.session("told", model="gpt-4o")
    for text in ("I work at Initech.", "I quit Initech. I now work at Hooli."):
        session.add_many([{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}])
        user.learn(session)
    asked = user.session("asked", model="gpt-4o")
    found = re.findall(r"<item ([^>]*)>([^<]*)<", say(asked, "where do I work?"))
    assert {text: "newer_on" in attributes for attributes, text in found} == {
        "I work at Initech.": True,
        "I quit Initech. I now work at Hooli.": False,
    }


def test_a_question_about_the_past_has_what_was(user: Scope) -> None:
    session = user.session("told", model="gpt-4o")
    for text in ("I live in Porto and work at Acme", "I moved to Berlin"):
        session.add_many([{"role": "user", "content": text}, {"role": "assistant", "content": "ok"}])
        user.learn(session)
    assert "Porto" in say(user.session("then", model="gpt-4o"), "Where did I live before?")
