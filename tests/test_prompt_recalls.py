"""What prompts recall: the right memory, whatever was asked before; the part of a long message that answers; and how to steer it."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan import Grant, InvalidInput, Recalls
from memspan.testing import FakeClock

if TYPE_CHECKING:
    from pathlib import Path

MEMORIES = (
    ("The staging database listens on port 6543.", "Which port does our staging DB use?"),
    ("My daughter Mia is allergic to peanuts.", "What can my girl Mia not eat?"),
    ("We deploy to production on Tuesdays and Thursdays only.", "On which days may we release to production?"),
    ("I prefer vim over every other editor.", "What editor do I like best?"),
    ("Our office moved to Lindenstrasse 12 in Berlin.", "What is the address of the office?"),
    ("The on-call rotation is handled by PagerDuty schedule ops-eu.", "Who handles the on-call schedule?"),
    ("My flight to Lisbon leaves on March 14 at 9:40.", "When does my plane to Lisbon depart?"),
    ("Invoices above 5,000 euros need approval by Karin.", "Who must approve large invoices?"),
    ("The payments service is written in Rust.", "What language is the payments service implemented in?"),
    ("I am training for the Hamburg marathon in April.", "Which race am I preparing for?"),
    ("Backups are kept for 35 days in the Frankfurt region.", "How long do we keep backups?"),
    ("My sister's birthday is on October 3.", "When was my sister born, which day should I congratulate her?"),
)
PARAPHRASES = (
    "what's the port of the staging database again",
    "is there food that Mia must avoid?",
    "tell me when production releases are allowed",
    "which text editor is my favourite?",
    "where is our office located now?",
    "which rotation is used for on-call?",
    "at what time do I fly to Lisbon?",
    "whose approval do big invoices need?",
    "do you know which programming language payments uses?",
    "what marathon am I training for?",
    "for how many days are backups retained?",
    "when is the birthday of my sister?",
)
NO_IDEA = "Sorry, I don't know that."


def _sent(prompt: memspan.Prompt) -> str:
    return json.dumps(prompt.to_openai()["messages"], ensure_ascii=False)


@pytest.fixture
def user(memspan_engine: memspan.Engine) -> memspan.Scope:
    return memspan_engine.user("u-42")


def _shown(user: memspan.Scope, before: tuple[str, ...]) -> int:
    """Of twelve questions, each in a session of its own, the prompts that show the memory that answers."""
    for text, _ in MEMORIES:
        user.remember(text)
    for number, question in enumerate(before):
        earlier = user.session(f"before-{number}", model="gpt-4o")
        earlier.add({"role": "user", "content": question})
        earlier.add({"role": "assistant", "content": NO_IDEA})
    shown = 0
    for number, (text, question) in enumerate(MEMORIES):
        session = user.session(f"now-{number}", model="gpt-4o")
        session.add({"role": "user", "content": question})
        sent = _sent(session.assemble())
        shown += text in sent
        assert NO_IDEA not in sent
        session.delete()
    return shown


@pytest.mark.parametrize(
    "before",
    [(), tuple(question for _, question in MEMORIES), PARAPHRASES],
    ids=["fresh", "the same question asked before", "a paraphrase asked before"],
)
def test_the_right_memory_is_in_the_prompt_whatever_was_asked_before(user: memspan.Scope, before: tuple[str, ...]) -> None:
    assert _shown(user, before) >= 11


def test_a_question_is_no_answer_and_the_reply_that_knows_is(user: memspan.Scope) -> None:
    before = user.session("before", model="gpt-4o")
    before.add({"role": "user", "content": "Which region do we deploy payments-api to?"})
    before.add({"role": "assistant", "content": "payments-api is deployed to eu-west-1."})
    before.add({"role": "user", "content": "And which region does the search service use?"})
    before.add({"role": "assistant", "content": "I'm sorry, but I don't know the region of the search service."})
    session = user.session("now", model="gpt-4o")
    session.add({"role": "user", "content": "which region is payments-api deployed to"})
    sent = _sent(session.assemble())
    assert "deployed to eu-west-1." in sent
    assert "Which region do we" not in sent
    assert "don't know" not in sent


def _log() -> str:
    lines = [f"INFO request {line} served by node-{line % 8} in {line * 7 % 90} ms" for line in range(170)]
    lines[150] = "ERROR code ZX-4471 while writing to disk on node-9"
    return "\n".join(lines)


@pytest.mark.parametrize("limit", [3_000, None])
def test_the_line_of_a_long_log_that_answers_is_shown(user: memspan.Scope, limit: int | None) -> None:
    user.session("before", model="gpt-4o").add({"role": "user", "content": "Here is the log:\n" + _log()})
    session = user.session("now", model="gpt-4o")
    session.add({"role": "user", "content": "what was the error code on node-9?"})
    prompt = session.assemble(max_input_tokens=limit)
    assert "ZX-4471" in _sent(prompt)
    assert prompt.total_tokens < 400
    session.add_response({"role": "assistant", "content": "ZX-4471."}, prompt=prompt)
    old = session.turn(0).prompt
    assert old is not None
    assert old.same_bytes
    assert _sent(old) == _sent(prompt)


def test_what_the_window_shows_shortened_is_a_candidate_by_part(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o", budget=memspan.Budget(max_input_tokens=4_000, output_tokens=500))
    session.add({"role": "user", "content": "read the log"})
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    session.add({"role": "assistant", "content": None, "tool_calls": [call]})
    session.add({"role": "tool", "tool_call_id": "c1", "content": _log()})
    session.add({"role": "assistant", "content": "It is long."})
    session.add({"role": "user", "content": "what was the error code on node-9?"})
    prompt = session.assemble()
    [row] = [one for one in prompt.explain() if one.id == "s-1#2" and one.section == "recalled"]
    assert row.included
    assert "ZX-4471" in _sent(prompt)


def _switching(user: memspan.Scope) -> tuple[memspan.Session, str]:
    """A session whose first turn keeps its block, which says what was true then."""
    session = user.session("s-1", model="gpt-4o", budget=memspan.Budget(max_input_tokens=6_000, output_tokens=500))
    session.add({"role": "user", "content": "hello"})
    session.add({"role": "assistant", "content": "Hello."})
    user.remember("Prefers Python", kind="preference", slot="lang")
    session.add({"role": "user", "content": "write me a script"})
    prompt = session.assemble()
    assert '<updated at="' in prompt.text
    session.add_response({"role": "assistant", "content": "Here it is. " * 200}, prompt=prompt)
    session.add({"role": "user", "content": "thanks"})
    return session, prompt.text


def test_a_superseded_value_never_stands_behind_the_current_one(user: memspan.Scope) -> None:
    session, _ = _switching(user)
    assert "Prefers Python" in session.assemble().text, "the block stays: the turn behind it is long"
    user.remember("Prefers Go", kind="preference", slot="lang")
    assert "Prefers Python" in session.assemble().text, "what was sent stands still within its epoch"
    before = session.epoch
    for turn in range(8):
        session.add({"role": "assistant", "content": f"As I said, {turn}. " * 40})
        session.add({"role": "user", "content": "go on"})
        if session.epoch > before:
            break
    user.session("s-1", system="Be terse.")
    prompt = session.assemble()
    assert session.epoch > before
    assert "Prefers Go" in prompt.text
    assert "Prefers Python" not in prompt.text


def test_blocks_of_earlier_turns_have_rows(user: memspan.Scope) -> None:
    session, sent = _switching(user)
    [row] = [one for one in session.assemble().explain() if one.memory == "mem-1" and "turn 1" in one.why]
    assert row.included
    user.remember("Prefers Go", kind="preference", slot="lang")
    user.session("s-1", system="Be terse.")
    rows = {one.memory: one for one in session.assemble().explain() if one.memory}
    assert not rows["mem-1"].included
    assert rows["mem-2"].included
    old = session.turn(1).prompt
    assert old is not None
    assert old.text == sent
    assert old.same_bytes


def test_recalled_memories_have_dates(user: memspan.Scope) -> None:
    user.remember("The deploy region of payments-api is eu-west-1.")
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "what is the deploy region of payments-api?"})
    assert re.search(r'<memory kind="semantic" date="20\d\d-\d\d-\d\d">The deploy region', session.assemble().text)


def test_recalls_steer_and_switch_off(user: memspan.Scope, memspan_engine: memspan.Engine) -> None:
    handbook = memspan_engine.shared("acme").collection("handbook")
    handbook.add("ports.md", "payments-api listens on port 8443 in production.")
    user.remember("payments-api listens on port 8443 everywhere.")
    before = user.session("before", model="gpt-4o")
    before.add({"role": "user", "content": "payments-api listens on port 8443 since May."})
    before.add({"role": "assistant", "content": "Noted: payments-api listens on port 8443."})

    def sources(recalls: Recalls | None, question: str = "which port does payments-api listen on?") -> set[str]:
        session = user.session("now", model="gpt-4o", collections=[handbook], recalls=recalls)
        session.add({"role": "user", "content": question})
        included = [one for one in session.assemble().explain() if one.included and one.section in {"recalled", "retrieved"}]
        session.delete()
        return {"memory" if one.memory else one.id for one in included}

    passage = "handbook/ports.md#0-48"
    assert sources(None) == {"memory", "before#0", "before#1", passage}
    assert sources(Recalls(memories=0)) == {"before#0", "before#1", passage}
    assert sources(Recalls(messages=0)) == {"memory", passage}
    assert len(sources(Recalls(messages=1))) == 3
    assert sources(Recalls(passages=0)) == {"memory", "before#0", "before#1"}
    assert sources(Recalls(other_sessions=False)) == {"memory", passage}
    assert sources(Recalls(roles=("assistant",))) == {"memory", "before#1", passage}
    # The passage has every word of the question, in one form or another, but not of this one.
    assert sources(Recalls(min_confidence=1.0)) == {passage}
    assert sources(Recalls(min_confidence=1.0), "which port does payments-api listen on at night?") == set()


def test_recalls_are_kept_with_the_session(user: memspan.Scope) -> None:
    user.session("s-1", model="gpt-4o", recalls=Recalls(memories=0))
    user.remember("payments-api listens on port 8443")
    session = user.session("s-1")
    session.add({"role": "user", "content": "which port does payments-api listen on?"})
    assert "8443" not in session.assemble().text
    user.session("s-1", recalls=Recalls())
    assert "8443" in session.assemble().text


@pytest.mark.parametrize(
    "wrong",
    [
        {"memories": -1},
        {"messages": 1.5},
        {"passages": 10_000},
        {"min_confidence": 20},
        {"roles": "user"},
        {"roles": ("system",)},
        {"roles": None},
        {"other_sessions": 1},
    ],
)
def test_wrong_recalls_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="Recalls"):
        Recalls(**wrong)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_roles_may_come_from_a_generator() -> None:
    assert Recalls(roles=(role for role in ("user", "tool"))).roles == ("user", "tool")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_whatever_was_found_is_shown_where_no_confidence_is_asked_for(user: memspan.Scope) -> None:
    user.session("s-1", model="gpt-4o").add({"role": "user", "content": "I have two kids, Leo (7) and Ida (4)."})
    session = user.session("s-2", model="gpt-4o", recalls=Recalls(min_confidence=0))
    assert "Leo" in session.assemble("how many children do I have?").text


def test_messages_behind_the_best_need_a_quarter_of_its_confidence(user: memspan.Scope) -> None:
    """They were held against all of it, as a relevance floor, which explain() named."""
    session = user.session("o", model="gpt-4o")
    for said in ("payments-api listens on port 7000", "The payments team meets on Monday.", "payments-api is written in Go"):
        session.add({"role": "user", "content": said})
    shown: dict[float | None, list[str]] = {}
    for least in (None, 0.15, 0.6, 0.99):
        session = user.session("now", model="gpt-4o", recalls=Recalls(min_confidence=least))
        session.add({"role": "user", "content": "which port does payments-api use?"})
        lines = [line for line in session.assemble().explain() if line.section == "recalled"]
        assert all(line.included for line in lines), "what is not sure enough is no candidate"
        shown[least] = [line.id for line in lines]
        session.delete()
    assert shown[0.6] == shown[0.15] == shown[None] == ["o#0", "o#2", "o#1"]
    assert shown[0.99] == [], "the best is not sure enough"


@pytest.mark.parametrize(
    "request_again", ["staging database of billing", "I need the staging database of billing", "tell me billing's staging database"]
)
def test_a_request_that_is_made_again_does_not_answer_itself(user: memspan.Scope, request_again: str) -> None:
    user.session("s-1", model="gpt-4o").add({"role": "user", "content": "The staging database of billing is db-stg-3.internal:5433."})
    for number in range(3):
        user.session(f"again {number}", model="gpt-4o").add({"role": "user", "content": request_again})
    session = user.session("now", model="gpt-4o", recalls=Recalls(messages=1))
    session.add({"role": "user", "content": request_again})
    assert "db-stg-3" in session.assemble().text


def test_nothing_answers_a_request_because_it_was_made_before(user: memspan.Scope) -> None:
    said = user.session("s-1", model="gpt-4o")
    for text in ("My landlord's name is Mr. Petrescu.", "The week after Easter I fly to Oslo.", "The server room is on floor 3."):
        said.add({"role": "user", "content": text})
    user.session("s-2", model="gpt-4o").add({"role": "user", "content": "install lodash please"})
    session = user.session("now", model="gpt-4o")
    session.add({"role": "user", "content": "install lodash please"})
    assert [one for one in session.assemble().explain() if one.included and one.section == "recalled"] == []


LOG = "2026-06-01 10:00:00 INFO svc handled req 1\n2026-06-01 10:00:01 INFO svc handled req 2\n2026-06-01 10:00:02 WARN slow"


@pytest.mark.parametrize("asked", ["Which team does the checkout service page?", "staging database of billing"])
def test_what_was_asked_before_beside_a_log_is_no_answer(user: memspan.Scope, asked: str) -> None:
    user.session("s-1", model="gpt-4o").add({"role": "user", "content": f"{asked}\n\n{LOG}"})
    session = user.session("now", model="gpt-4o")
    session.add({"role": "user", "content": f"{asked}\n\n{LOG}"})
    assert [one for one in session.assemble().explain() if one.included and one.section == "recalled"] == []


def test_a_misspelt_word_beside_a_log_is_read_as_one_that_is_there(user: memspan.Scope) -> None:
    user.session("s-1", model="gpt-4o").add({"role": "user", "content": "The checkout service pages the team called Kestrel."})
    session = user.session("now", model="gpt-4o")
    session.add({"role": "user", "content": f"Which team does the chekcout service page?\n\n{LOG}"})
    assert [one.id for one in session.assemble().explain() if "read it as" in one.why] == ["chekcout"]


def test_a_query_of_the_caller_finds_a_text_of_the_same_words(user: memspan.Scope) -> None:
    text = "The staging database of billing is db-stg-3"
    user.session("s-1", model="gpt-4o").add({"role": "user", "content": text})
    session = user.session("now", model="gpt-4o")
    session.add({"role": "user", "content": "good morning"})
    assert "db-stg-3" in session.assemble(query=text).text
    session.add({"role": "assistant", "content": "Good morning."})


@pytest.mark.parametrize("nothing", ["", [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]])
def test_messages_without_words_keep_other_sessions_recalled(user: memspan.Scope, nothing: object) -> None:
    user.session("old", model="gpt-4o").add({"role": "user", "content": "The vault of Lisbon opens with ticket OPS-7731."})
    session = user.session("now", model="gpt-4o")
    if nothing:
        session.add({"role": "user", "content": nothing})
    else:
        call = {"id": "c-1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
        session.add({"role": "user", "content": "please run make clean"})
        session.add({"role": "assistant", "content": None, "tool_calls": [call]})
        session.add({"role": "tool", "tool_call_id": "c-1", "content": nothing})
    session.add({"role": "assistant", "content": "Done."})
    session.add({"role": "user", "content": "which ticket opens the vault of Lisbon?"})
    assert "OPS-7731" in session.assemble().text


def test_copies_of_forks_take_no_places(user: memspan.Scope) -> None:
    words = "amber birch cedar delta ember flint grove heron ivory jade kite lotus maple north ocean pearl quartz river stone tulip"
    talk = user.session("a", model="gpt-4o")
    for number, word in enumerate(words.split()):
        talk.add({"role": "user", "content": f"The {word} vault of Lisbon opens with ticket OPS-{7000 + number}."})
        talk.add({"role": "assistant", "content": "ok"})
    for number in range(40):
        talk.fork(f"fork {number}")
    session = user.session("now", model="gpt-4o")
    session.add({"role": "user", "content": "which tickets open the vaults of Lisbon?"})
    text = session.assemble().text
    assert all(f"OPS-{7000 + number}" in text for number in range(20))
    assert len({hit.text for hit in user.search_transcripts("which tickets open the vaults of Lisbon?", limit=10)}) == 10


def _kept_block(engine: memspan.Engine) -> tuple[memspan.Session, memspan.Session]:
    """A session in whose first turn a block stayed, which shows a message of another session and a memory; and that other session."""
    user = engine.user("u-42")
    user.remember("The gate keeper is called PAPAYA.", ttl_seconds=3600)
    old = user.session("old", model="gpt-4o")
    old.add({"role": "user", "content": "The gate was painted in MANGO green."})
    old.add({"role": "assistant", "content": "ok"})
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    session = user.session("s-1", model="gpt-4o", tools=[tool])
    session.add({"role": "user", "content": "who keeps the gate and how was it painted?"})
    call = {"id": "c-1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    session.add_response({"role": "assistant", "content": None, "tool_calls": [call]}, prompt=session.assemble())
    session.add({"role": "tool", "tool_call_id": "c-1", "content": "long result " * 900})
    session.add_response({"role": "assistant", "content": "Done."}, prompt=session.assemble())
    session.add({"role": "user", "content": "now write a haiku about rain"})
    return session, old


@pytest.mark.parametrize("how", ["redact", "rewind", "delete", "expire"])
def test_a_block_that_stayed_loses_what_another_session_takes_back(tmp_path: Path, how: str) -> None:
    clock = FakeClock()
    with memspan.open(tmp_path / "a.memspan", clock=clock) as engine:
        session, old = _kept_block(engine)
        before = _sent(session.assemble())
        assert "MANGO" in before
        assert "PAPAYA" in before
        match how:
            case "redact":
                old.redact(0)
            case "rewind":
                old.rewind(0)
            case "delete":
                old.delete()
            case _:
                clock.advance(hours=2)
        after = _sent(session.assemble())
        with memspan.open(tmp_path / "a.memspan", clock=clock, read_only=True) as other:
            assert after == _sent(other.user("u-42").session("s-1").assemble())
    assert ("MANGO" in after) == (how == "expire")
    assert ("PAPAYA" in after) == (how != "expire")


@pytest.mark.parametrize("is_memory", [True, False])
def test_a_question_beside_a_pasted_log_finds_what_answers_it(user: memspan.Scope, is_memory: bool) -> None:
    fact = "The checkout service pages the team called Kestrel."
    if is_memory:
        user.remember(fact)
    else:
        user.session("s-1", model="gpt-4o").add({"role": "user", "content": fact})
    log = "\n".join(f"2026-06-01 10:00:{second % 60:02} INFO svc handled req {second}" for second in range(400))
    for number, asked in enumerate(
        (f"{log}\n\nWhich team does the checkout service page?", f"Which team does the checkout service page?\n{log[:200]}")
    ):
        session = user.session(f"now {number}", model="gpt-4o")
        session.add({"role": "user", "content": asked})
        assert "Kestrel" in session.assemble().text


def test_why_answers_for_what_was_not_nominated(user: memspan.Scope, memspan_engine: memspan.Engine) -> None:
    other = memspan_engine.user("u-43").remember("payments-api listens on port 8443", id="theirs").memory
    kept = user.remember("payments-api listens on port 8443").memory
    gone = user.remember("the old port of payments-api was 8080").memory
    user.forget(gone.id)
    first = user.remember("Prefers tea", kind="semantic", slot="drink").memory
    user.remember("Prefers coffee", kind="semantic", slot="drink")
    session = user.session("s-1", model="gpt-4o", recalls=Recalls(memories=1))
    for number in range(3):
        user.remember(f"payments-api has {number} ports in zone {number}")
    session.add({"role": "user", "content": "which port does payments-api listen on?"})
    prompt = session.assemble()
    assert prompt.why(kept.id).included
    assert "u-42" in prompt.why(other.id).why
    assert "forgotten" in prompt.why(gone.id).why
    assert "newer value" in prompt.why(first.id).why
    assert "raise Recalls(memories=1)" in prompt.why("mem-6").why
    late = user.remember("payments-api listens on port 9443 from now on").memory
    assert "after the prompt was made" in prompt.why(late.id).why or "raise Recalls" in prompt.why(late.id).why


def test_why_answers_for_messages(user: memspan.Scope) -> None:
    old = user.session("old", model="gpt-4o")
    old.add_many(
        [
            {"role": "user", "content": "my agent is Tobias Frell"},
            {"role": "assistant", "content": "Nice to know that."},
            {"role": "user", "content": "what time is it in Rome?"},
            {"role": "assistant", "content": "Nine in the evening."},
        ]
    )
    asked = [{"role": "user", "content": "who is my agent?"}]

    def why(message: str, **recalls: Any) -> str:
        session = user.session(f"new-{recalls}", model="gpt-4o", recalls=Recalls(**recalls))
        if not len(session.messages):
            session.add_many(asked)
        row = session.assemble().why(message)
        assert (row.included, row.memory, row.id) == (False, None, message)
        return row.why

    assert user.session("new", model="gpt-4o").add_many(asked)
    assert user.session("new", model="gpt-4o").assemble().why("old#0").included
    assert why("old#2") == "it only asks, or says nothing that answers"
    assert 'session "old" has 4 messages' in why("old#99")
    assert "no memory or message of that id" in why("never#0")
    assert why("old#0", messages=0) == "messages are switched off: raise Recalls(messages=0)"
    assert "other_sessions=True" in why("old#0", other_sessions=False)
    assert "Recalls(roles=...)" in why("old#0", roles=("assistant",))
    assert "nearer to the question" in why("old#3", messages=1)
    assert why("new-{}#0") == "the prompt has it in its history"


def test_why_says_where_nothing_was_asked(user: memspan.Scope) -> None:
    memory = user.remember("Thanks to Bob we got the flat").memory
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": "thanks!"})
    assert session.assemble().why(memory.id).why == "the message asks memory nothing"


def test_why_says_that_a_memory_is_of_another_time(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    now = memspan_clock()
    last = user.remember("Cried on my last day at Voltera", kind="episodic", occurred_at=now - timedelta(days=30)).memory
    user.remember("Ran 10 km", kind="episodic", occurred_at=now - timedelta(days=1))
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": "What did I do yesterday?"})
    assert "it is of another time" in session.assemble().why(last.id).why


def test_why_names_what_took_the_place_by_its_id(user: memspan.Scope) -> None:
    user.remember("Badge B-1", slot="badge", id="badge-a")
    user.remember("Badge B-2", slot="badge", id="badge-b")
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "hello"})
    assert session.assemble().why("badge-a").why == "a newer value took its place: badge-b"


def test_what_the_pinned_block_has_no_room_for_is_recalled(user: memspan.Scope) -> None:
    for number in range(75):
        user.remember(f"Prefers option {number} for tool {number} when working on module {number}", kind="preference", id=f"p{number}")
    session = user.session("s-1", model="gpt-4o", budget=memspan.Budget(max_input_tokens=8_000, output_tokens=100))
    session.add({"role": "user", "content": "which option do I prefer for tool 18?"})
    prompt = session.assemble()
    rows = prompt.explain()
    assert 20 < sum(row.section == "pinned" for row in rows) < 40
    assert prompt.why("p74").section == "pinned", "of equals the newest are pinned"
    assert not any(row.section == "updated" for row in rows), "nothing changed since the epoch began"
    assert "Prefers option 18 for" in _sent(prompt)
    assert (prompt.why("p18").section, prompt.why("p18").included) == ("recalled", True)
    assert not any(row.why == "the same text is shown already" for row in rows)
    session.add_response({"role": "assistant", "content": "Option 18."}, prompt=prompt)
    user.remember("Prefers tea", kind="preference", id="tea")
    user.revise("p74", "Prefers option 100 for tool 74 when working on module 74")
    session.add({"role": "user", "content": "which option do I prefer for tool 20?"})
    later = session.assemble()
    assert {row.id for row in later.explain() if row.section == "updated"} == {"tea", "p74"}
    assert "Prefers option 20 for" in _sent(later)
    assert later.epoch == prompt.epoch
    assert later.messages[0] == prompt.messages[0], "what is pinned stays as it was"


def test_room_that_history_leaves_is_used_up_to_a_ceiling(user: memspan.Scope) -> None:
    talk = user.session("before", model="gpt-4o")
    talk.add_many({"role": "user", "content": f"In chapter {n} the gardener plants {n} roses of kind {n}."} for n in range(100))
    session = user.session("now", model="gpt-4o")
    session.add({"role": "user", "content": "what does the gardener plant in which chapter?"})
    prompt = session.assemble(max_input_tokens=2_000)
    assert prompt.total_tokens > 1_500
    small = session.assemble(budget=memspan.Budget(max_input_tokens=2_000, sections={"recalled": Grant(ceiling=300)}))
    assert small.total_tokens < 350
    [row, *_] = [one for one in small.explain() if one.section == "recalled" and not one.included]
    assert "300 tokens" in row.why
    assert "Grant(ceiling=...)" in row.why


def test_sections_that_do_not_exist_are_refused() -> None:
    for wrong, meant in (("recaled", "recalled"), ("tool_results", "history"), ("retreived", "retrieved"), ("memories", "recalled")):
        with pytest.raises(InvalidInput, match=f"did you mean '{meant}'"):
            memspan.Budget(sections={wrong: Grant(ceiling=100)})
    assert memspan.Budget(sections={"notes": Grant(ceiling=100)}).sections["notes"].ceiling == 100


def test_alerts_measure_prompts_and_fire_once_an_epoch() -> None:
    told: list[memspan.Event] = []
    with memspan.testing.temporary_engine(on_event=told.append) as engine:
        session = engine.user("u").session("s", model="gpt-4", budget=memspan.Budget(max_input_tokens=2_000, output_tokens=500))
        for turn in range(40):
            session.add({"role": "user", "content": f"question {turn} " * 40})
            session.add_response({"role": "assistant", "content": "answer " * 60}, prompt=session.assemble())
        assert not told, "a prompt of 2,000 tokens is a quarter of the window, however long the session is"
        full = engine.user("u").session("t", model="gpt-4", budget=memspan.Budget(max_input_tokens=7_500, output_tokens=500))
        for turn in range(16):
            full.add({"role": "user", "content": f"question {turn} " * 100})
            full.add_response({"role": "assistant", "content": "answer " * 200}, prompt=full.assemble())
        window = [event for event in told if event.kind == "window"]
        assert [event.fraction for event in window][:2] == [0.70, 0.85]
        assert len(window) <= 2 * (full.epoch + 1)


def test_of_two_that_say_the_same_the_older_says_that_there_is_a_newer(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("u-42")
    user.remember("My employer is Acme.", occurred_at=datetime(2024, 5, 1, tzinfo=UTC))
    user.remember("My employer is Globex now.", occurred_at=datetime(2025, 12, 1, tzinfo=UTC))
    user.remember("Karin's employer is Initech.", occurred_at=datetime(2025, 12, 9, tzinfo=UTC))
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "who is my employer?"})
    text = session.assemble().text
    assert 'date="2024-05-01" newer_on="2025-12-0' in text
    assert '<memory kind="semantic" date="2025-12-01">My employer is Globex' in text or "Globex now" in text


def _said_before(user: memspan.Scope, role: str, text: str, question: str) -> str:
    """The prompt of a question in a new session, after a message of another one."""
    talk = user.session("before", model="gpt-4o")
    if role == "assistant":
        talk.add({"role": "user", "content": "please check"})
    talk.add({"role": role, "content": text})
    session = user.session("now", model="gpt-4o", recalls=Recalls(min_confidence=0))
    session.add({"role": "user", "content": question})
    return session.assemble().text


@pytest.mark.parametrize(
    ("role", "text", "question"),
    [
        ("user", "My flight is LH1172, right?", "what is my flight number?"),
        ("user", "Can you note that my passport number is X1234567?", "what is my passport number?"),
        ("user", "Remind me of the dentist appointment on 14 July at 9:30.", "when is my dentist appointment?"),
        ("user", "I'm unable to eat gluten.", "what can I not eat?"),
        ("assistant", "Just to confirm: a table for four at Nobu on Friday at 19:00?", "when is our table at Nobu?"),
        ("assistant", "The build fails because ld cannot find libssl.so.3.", "why does the build fail?"),
    ],
)
def test_statements_that_look_like_questions_or_excuses_are_shown(user: memspan.Scope, role: str, text: str, question: str) -> None:
    assert text in _said_before(user, role, text, question)


@pytest.mark.parametrize(
    ("role", "text"),
    [
        ("user", "Give me the name of my landlord."),
        ("user", "Sag mir, wie mein Vermieter hei\u00dft"),
        ("assistant", "There is nothing about your landlord in my notes."),
        ("assistant", "I have no details about your landlord."),
        ("assistant", "No tengo el nombre de tu casero."),
    ],
)
def test_orders_that_ask_and_excuses_in_other_words_are_not_shown(user: memspan.Scope, role: str, text: str) -> None:
    assert text not in _said_before(user, role, text, "who is my landlord? mein Vermieter, mi casero")


def _prose(words: int) -> str:
    """Sentences of many distinct words, about nothing."""
    makers = ("ba", "co", "di", "fu", "ge", "ha", "ki", "lo", "mu", "ne", "po", "ra", "si", "tu", "ve", "wa")
    made = [makers[n % 16] + makers[n // 16 % 16] + makers[n // 5 % 16] + "n" for n in range(words)]
    return " ".join(" ".join(made[at : at + 9]).capitalize() + "." for at in range(0, words, 9))


@pytest.mark.parametrize("role", ["user", "tool", "memory"])
def test_a_fact_at_the_end_of_a_long_text_reaches_the_prompt(user: memspan.Scope, role: str) -> None:
    fact = "The boat is moored at pier 14."
    text = f"{_prose(700)} {fact} {_prose(30)}"
    talk = user.session("before", model="gpt-4o")
    if role == "memory":
        user.remember(text)
        for day in range(12):
            user.remember(f"The weather was nice on day {day} and I walked to the lake.")
    elif role == "tool":
        call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        talk.add({"role": "user", "content": "read notes.txt"})
        talk.add({"role": "assistant", "content": None, "tool_calls": [call]})
        talk.add({"role": "tool", "tool_call_id": "c", "content": text})
    else:
        talk.add({"role": "user", "content": text})
    talk.add({"role": "assistant", "content": "Read it."})
    session = user.session("now", model="gpt-4o")
    session.add({"role": "user", "content": "where is the boat moored?"})
    prompt = session.assemble()
    assert fact in prompt.text
    assert any(row.included for row in prompt.explain() if row.section == "recalled")
    other = user.session("other", model="gpt-4o")
    other.add({"role": "user", "content": "who won the chess tournament in Oslo?"})
    assert fact not in other.assemble().text


@pytest.mark.parametrize("note", ["", "rack " * 50])
def test_a_record_of_one_line_of_json_is_shown_whole(user: memspan.Scope, note: str) -> None:
    records = [
        {"id": f"srv-{n:03}", "ip": f"10.0.{n // 250}.{n % 250}", "owner": "ann", "note": note, "status": f"ok-{n}"} for n in range(300)
    ]
    records[150]["status"] = "degraded: fan 3 failed"
    talk = user.session("before", model="gpt-4o")
    call = {"id": "c", "type": "function", "function": {"name": "get", "arguments": "{}"}}
    talk.add({"role": "user", "content": "fetch the fleet"})
    talk.add({"role": "assistant", "content": None, "tool_calls": [call]})
    talk.add({"role": "tool", "tool_call_id": "c", "content": json.dumps(records)})
    for number, question in enumerate(("what is the status of srv-150?", "which server is degraded?")):
        session = user.session(f"now-{number}", model="gpt-4o")
        session.add({"role": "user", "content": question})
        assert json.dumps(records[150]) in session.assemble().text


def test_thanks_recall_nothing(user: memspan.Scope) -> None:
    talk = user.session("before", model="gpt-4o")
    talk.add_many({"role": "user", "content": f"thanks for number {n}, it was good"} for n in range(20))
    session = user.session("now", model="gpt-4o")
    session.add({"role": "user", "content": "thanks!"})
    assert session.assemble().total_tokens < 20


def test_a_misspelt_word_is_read_as_one_that_is_there_and_the_prompt_says_so(user: memspan.Scope) -> None:
    user.remember("The gardener plants hydrangeas behind the greenhouse.")
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "where do the hydrangaes grow?"})
    prompt = session.assemble()
    assert "behind the greenhouse" in prompt.text
    assert prompt.text.endswith("where do the hydrangaes grow?\n"), "the user's own message is sent as it is"
    [row] = [one for one in prompt.explain() if one.id == "hydrangaes"]
    assert "hydrangeas" in row.why


@pytest.mark.parametrize("question", ["where is the deploi scrpt?", "please run the deploi scrpt"])
def test_a_misspelt_word_is_read_so_although_the_question_itself_has_it(user: memspan.Scope, question: str) -> None:
    user.session("before", model="gpt-4o").add({"role": "user", "content": "The deploy script lives in tools/release/deploy.sh"})
    for name in ("s-1", "s-2", "s-3"):
        session = user.session(name, model="gpt-4o")
        session.add({"role": "user", "content": question})
        prompt = session.assemble()
        assert "tools/release/deploy.sh" in prompt.text, name
        assert {row.id: '"script"' in row.why for row in prompt.explain() if "read it as" in row.why} == {"deploi": False, "scrpt": True}


def test_a_question_that_was_asked_does_not_spoil_its_search(user: memspan.Scope) -> None:
    user.session("before", model="gpt-4o").add({"role": "user", "content": "The deploy script lives in tools/release/deploy.sh"})
    question = "where is the deploi scrpt?"
    before = user.search_transcripts(question).confidence
    user.session("asked", model="gpt-4o").add({"role": "user", "content": question})
    found = user.search_transcripts(question)
    assert found[0].text.endswith("deploy.sh")
    assert found.confidence > before - 0.1


def test_a_word_that_the_user_states_is_not_misspelt(user: memspan.Scope) -> None:
    session = user.session("before", model="gpt-4o")
    for text in ("Grafana runs on node-7", "Our parrot is called Grafna", "How old is Grafna?"):
        session.add({"role": "user", "content": text})
        session.add({"role": "assistant", "content": "OK."})
    asking = user.session("now", model="gpt-4o")
    asking.add({"role": "user", "content": "who is Grafna?"})
    prompt = asking.assemble()
    assert "Our parrot" in prompt.text
    assert not [row for row in prompt.explain() if "read it as" in row.why]


def test_texts_in_scripts_that_the_table_does_not_know_are_found_by_words_alone(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "a.memspan") as engine:
        _check_scripts(engine.user("u-42"))


def _check_scripts(user: memspan.Scope) -> None:
    foreign = (
        "\u042f \u0436\u0438\u0432\u0443 \u0432 \u041c\u043e\u0441\u043a\u0432\u0435.",
        "\u0645\u0646\u0632\u0644\u064a \u0641\u064a \u0627\u0644\u0642\u0627\u0647\u0631\u0629",
        "\u6211\u559c\u6b22\u7eff\u8336\u3002",
        "\uc81c \uac15\uc544\uc9c0\ub294 \ucd08\ucf54\uc785\ub2c8\ub2e4.",
        "\U0001f600 \U0001f680",
    )
    for text in foreign:
        user.remember(text)
    user.remember("The cat sleeps on the red sofa.")
    assert [hit.memory.text for hit in user.recall("\u0645\u0646\u0632\u0644\u064a")] == [foreign[1]]
    answer = user.recall("where does the kitten rest?")
    assert answer[0].memory.text.startswith("The cat")
    assert not {hit.memory.text for hit in answer if hit.score > 0.5} & set(foreign)
    asked = user.recall("\u0645\u0646\u0632\u0644\u064a")
    assert asked.degraded
    assert asked.mode == "lexical"


DATED = [
    ("I live in Porto", "Where did I live"),
    ("I work at Initech", "Where did I work"),
    ("I drive a Golf", "Which car did I drive"),
    ("Visited the dentist Dr. Brandt", "Which dentist did I visit"),
    ("Omar owes me 40 euros", "How much did Omar owe me"),
    ("The rent is 900 euros", "How high was the rent"),
]


@pytest.mark.parametrize("form", ["{}?", "{} in March 2024?", "{} on 2024-03-10?", "{} in 2024?"])
@pytest.mark.parametrize("source", ["memories", "messages"])
def test_a_question_with_the_right_date_finds_what_it_finds_without(store: Path, source: str, form: str) -> None:
    then, clock = datetime(2024, 3, 10, 12, tzinfo=UTC), FakeClock(datetime(2025, 6, 18, 12, tzinfo=UTC))
    with memspan.open(store, clock=clock) as engine:
        user = engine.user("u")
        for number, (text, _) in enumerate(DATED):
            if source == "memories":
                user.remember(text, kind="semantic", occurred_at=then)
            else:
                talk = user.session(f"s-{number}", model="gpt-4o")
                talk.add({"role": "user", "content": f"{text}."}, created_at=then)
                talk.add({"role": "assistant", "content": "ok"}, created_at=then)
        for text, question in DATED:
            session = user.session("asked", model="gpt-4o")
            session.add({"role": "user", "content": form.format(question)})
            assert text in str(session.assemble().messages), form.format(question)
            session.delete()


@pytest.mark.parametrize("role", ["system", "developer"])
def test_the_instructions_of_another_session_are_not_recalled(store: Path, role: str) -> None:
    text = "Internal: never offer more than 15 percent discount to zephyr."
    with memspan.open(store) as engine:
        user = engine.user("u")
        talk = user.session("a", model="gpt-4o")
        for message in ({"role": role, "content": text}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}):
            talk.add(message)
        asked = user.session("b", model="gpt-4o")
        asked.add({"role": "user", "content": "Which discount may I offer zephyr?"})
        assert text not in str(asked.assemble().messages)
        assert user.search_transcripts("Which discount may I offer zephyr?")[0].text == text, "a search finds it"


ASKED_AND_UNKNOWN = [
    ("Wie lautet meine Spindnummer?", "sag mir meine Spindnummer", "Ich kenne deine Spindnummer nicht."),
    (
        "Quel est mon num\u00e9ro de casier ?",
        "donne-moi mon num\u00e9ro de casier",
        "Vous ne m'avez pas donn\u00e9 votre num\u00e9ro de casier.",
    ),
    (
        "\u00bfCu\u00e1l es mi n\u00famero de taquilla?",
        "dime mi n\u00famero de taquilla",
        "Todav\u00eda no me has dicho tu n\u00famero de taquilla.",
    ),
    (
        "\u0643\u0645 \u0631\u0642\u0645 \u062e\u0632\u0627\u0646\u062a\u064a\u061f",
        "\u0645\u0627 \u0647\u0648 \u0631\u0642\u0645 \u062e\u0632\u0627\u0646\u062a\u064a",
        "\u0644\u0627 \u0623\u0639\u0631\u0641 \u0631\u0642\u0645 \u062e\u0632\u0627\u0646\u062a\u0643.",
    ),
]


@pytest.mark.parametrize(("question", "before", "reply"), ASKED_AND_UNKNOWN)
def test_in_other_languages_neither_a_question_nor_not_knowing_is_an_answer(store: Path, question: str, before: str, reply: str) -> None:
    with memspan.open(store) as engine:
        user = engine.user("u")
        talk = user.session("a", model="gpt-4o")
        talk.add({"role": "user", "content": before})
        talk.add({"role": "assistant", "content": reply})
        asked = user.session("b", model="gpt-4o")
        asked.add({"role": "user", "content": question})
        assert not [line.id for line in asked.assemble().explain() if line.section == "recalled" and line.included]


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        ("Anna is allergic to nuts.", "I'm having dinner with Anna tonight, what should I cook?"),
        ("Anna moved to Rome.", "Where does Anna live?"),
        ("Anna is allergic to nuts.", "Anything I should know about Anna?"),
    ],
)
def test_a_memory_about_whom_the_message_names_is_shown(store: Path, fact: str, message: str) -> None:
    with memspan.open(store) as engine:
        user = engine.user("u")
        user.remember(fact)
        user.remember("Bob is allergic to soy.")
        session = user.session("s", model="gpt-4o")
        session.add({"role": "user", "content": message})
        shown = [line.id for line in session.assemble().explain() if line.section == "recalled" and line.included]
        assert shown
        assert shown[0] == "mem-1"


def test_two_questions_of_one_message_find_the_values_of_both(store: Path) -> None:
    with memspan.open(store) as engine:
        user = engine.user("u")
        user.remember("Dr. Vogt", slot="vet")
        user.remember("My cat is called Moritz.")
        session = user.session("s", model="gpt-4o")
        session.add({"role": "user", "content": "What is my cat called, and who is my vet?"})
        text = str(session.assemble().messages)
        assert "Dr. Vogt" in text
        assert "Moritz" in text


def test_a_message_is_marked_whatever_the_question_finds_of_what_took_its_place(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    """The mark needed the newer memory among what was recalled: a cancelled meeting was shown as if it stood."""
    for number, text in enumerate(["I have a meeting with Karin on Thursday at 14:00.", "The meeting with Karin was cancelled."]):
        session = user.session(f"s-{number}", model="gpt-4o")
        session.add({"role": "user", "content": text}, created_at=memspan_clock())
        user.learn(session)
        memspan_clock.advance(days=1)
    asking = user.session("asks", model="gpt-4o")
    for question in ("what's on Thursday at 14:00?", "what do I have on Thursday?", "do I have any meetings?"):
        asking.add({"role": "user", "content": question})
        items = [line for line in asking.assemble().text.splitlines() if "on Thursday at 14:00." in line]
        assert items, question
        assert all("newer_on=" in line for line in items), (question, items)
        asking.rewind(0)


def test_a_thing_of_nobody_may_be_the_users(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    """It was taken for somebody else's, and what says "my" of anything stood before it."""
    for text in ("The rent is 9,800 kronor.", "My landlord is Mr Persson."):
        user.remember(text)
        memspan_clock.advance(days=1)
    assert user.recall("how much is my rent?")[0].memory.text == "The rent is 9,800 kronor."


IDLE = (
    "ok",
    "thanks!",
    "yes please",
    "lol",
    "\U0001f44d",
    "...",
    "ty",
    "\u0441\u043f\u0430\u0441\u0438\u0431\u043e",
    "\u8c22\u8c22",
    "idk",
    "1",
)
SHORT = ("signed!", "71.5 kg", "offer: 78k", "passed!!!")


@pytest.mark.parametrize("question", ["What did I say in February 2025?", "What did I say between 3 and 20 February 2025?"])
def test_a_word_or_two_answers_what_was_said_at_a_time(store: Path, question: str) -> None:
    said = datetime(2025, 2, 3, tzinfo=UTC)
    with memspan.open(store, clock=FakeClock(datetime(2025, 9, 20, tzinfo=UTC))) as engine:
        user = engine.user("u")
        for place, text in enumerate((*SHORT, *IDLE)):
            session = user.session(f"s-{place}", model="gpt-4o")
            session.add({"role": "user", "content": text}, created_at=said + timedelta(days=place))
            session.add({"role": "assistant", "content": "ok"}, created_at=said + timedelta(days=place, minutes=1))
        asking = user.session("now", model="gpt-4o")
        asking.add({"role": "user", "content": question})
        shown = _sent(asking.assemble())
        assert [text for text in SHORT if text not in shown] == []
        assert [text for text in IDLE if f">{text}<" in shown] == []


def test_the_model_is_shown_where_it_shares_a_word_or_is_near(user: memspan.Scope) -> None:
    before = user.session("before", model="gpt-4o")
    before.add_many(
        [
            {"role": "user", "content": "Henrik left, Aisha's running the team these days."},
            {"role": "assistant", "content": "Noted."},
        ]
    )
    for topic, reply in (
        ("soup", "A lentil soup with lemon is quick and warms you up."),
        ("keys", "You could ask the manager of the building for a spare key."),
        ("parties", "It depends on how many people you invite."),
        ("luck", "Good luck with the interview tomorrow."),
        ("trains", "The train to Ghent leaves every half hour."),
        ("focus", "Work on one thing at a time."),
    ):
        before.add_many([{"role": "user", "content": f"Tell me more of {topic}, please."}, {"role": "assistant", "content": reply}])
    asking = user.session("now", model="gpt-4o")
    asking.add({"role": "user", "content": "Who is my manager at the team?"})
    prompt = asking.assemble()
    shown = re.findall(r'by=\\"(\w+)\\" on=[^>]*>([^<]*)<', _sent(prompt))
    assert ("user", "Henrik left, Aisha's running the team these days.") in shown
    assert ("assistant", "You could ask the manager of the building for a spare key.") in shown
    assert not {"Good luck with the interview tomorrow.", "The train to Ghent leaves every half hour."} & {text for _, text in shown}
    assert "near" in str(prompt.why("before#11"))
    asking = user.session("soup", model="gpt-4o")
    asking.add({"role": "user", "content": "Which soup was it that you told me of?"})
    assert "lentil" in _sent(asking.assemble())


def test_why_says_that_a_message_is_too_short(user: memspan.Scope) -> None:
    before = user.session("before", model="gpt-4o")
    before.add_many([{"role": "user", "content": "signed!"}, {"role": "assistant", "content": "Congratulations on the new flat."}])
    asking = user.session("now", model="gpt-4o")
    asking.add({"role": "user", "content": "Which bicycle shop repairs gears?"})
    assert "a word or two" in str(asking.assemble().why("before#0"))
