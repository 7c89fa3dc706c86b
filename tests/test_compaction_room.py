"""The room that a summary leaves: what fits before a compaction, a refusal or a switch fits afterwards, and no summary is lost by one."""

from __future__ import annotations

import json
from typing import Any

import pytest

import memspan
from memspan.testing import FakeProvider


def talk(session: memspan.Session, exchanges: int, about: str = "") -> None:
    """Exchanges full of decisions and identifiers."""
    session.add_many(
        message
        for n in range(exchanges)
        for message in (
            {
                "role": "user",
                "content": f"Agreed: service-{n} runs on host-{n} port {9000 + n}. Never restart it before OPS-{n + 100}. {about}",
            },
            {"role": "assistant", "content": f"Noted, I will look at service-{n} again with build {n}.{n}.0."},
        )
    )


def fits(session: memspan.Session, limit: int) -> bool:
    try:
        return session.assemble().total_tokens <= limit
    except memspan.BudgetExceeded:
        return False


@pytest.mark.parametrize("limit", [1_000, 2_000, 4_000, 8_000])
@pytest.mark.parametrize("keep", [None, 0, 1])
def test_what_fits_before_a_compaction_fits_afterwards(memspan_engine: memspan.Engine, limit: int, keep: int | None) -> None:
    """A message of 7,208 of 8,000 tokens was due for a compaction, whose summary left it no room: no prompt could be assembled any more."""
    made = 0
    for share in (0.5, 0.8, 0.88, 0.9, 0.95, 0.985):
        budget = memspan.Budget(max_input_tokens=limit, compact=memspan.Compact())
        session = memspan_engine.user("u").session(f"{share}", model="gpt-4o", budget=budget)
        talk(session, limit // 30)
        session.add({"role": "user", "content": "word " * int(limit * share)})
        assert fits(session, limit), "the control"
        was_due, done = session.compaction_due, session.compact(keep_exchanges=keep)
        assert fits(session, limit), share
        made += bool(done.covers)
        if not done.covers:
            assert (session.summary, done.tokens_before) == (None, done.tokens_after), "nothing is written"
            assert keep is not None or was_due is None, "and a program that compacts while it is due comes to an end"
    assert 2 <= made < 6, "a summary gets less, and where that would be too little the turns wait"


def test_turns_that_waited_are_compacted_when_there_is_room(memspan_engine: memspan.Engine) -> None:
    budget = memspan.Budget(max_input_tokens=4_000, compact=memspan.Compact())
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=budget)
    talk(session, 100)
    session.add({"role": "user", "content": "word " * 3_900})
    assert not session.compact().covers
    session.add_many([{"role": "assistant", "content": "That is long."}, {"role": "user", "content": "Go on."}])
    done = session.compact()
    assert len(done.covers) >= 200
    assert done.summary is not None
    assert done.summary.tokens > 400, "as much as ever"
    assert fits(session, 4_000)


def test_pinned_memory_that_came_meanwhile_is_counted(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("u")
    for words in range(500, 1_000, 50):
        session = user.session(f"s{words}", model="gpt-4o", budget=memspan.Budget(max_input_tokens=1_000))
        talk(session, 40)
        for n in range(4):
            user.remember(f"Never deploy service-{words}-{n} to region-{n} without ticket OPS-{n}.", kind="constraint")
        session.add({"role": "user", "content": "word " * words})
        before = fits(session, 1_000)
        session.compact()
        assert fits(session, 1_000) or not before, words


def due(session: memspan.Session) -> str | None:
    return session.compaction_due


@pytest.mark.parametrize("words", [500, 700, 850])
def test_a_message_that_came_after_a_compaction_makes_the_summary_smaller(memspan_engine: memspan.Engine, words: int) -> None:
    """It stayed as large as it was: no prompt fitted, and neither `compaction_due` nor `compact` did anything about it."""
    budget = memspan.Budget(max_input_tokens=1_000, compact=memspan.Compact())
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=budget)
    talk(session, 40)
    session.add({"role": "assistant", "content": "All noted."})
    large = session.compact(keep_exchanges=0, max_tokens=490).summary
    assert large is not None
    session.add({"role": "user", "content": "word " * words})
    with pytest.raises(memspan.BudgetExceeded, match=r"call session\.compact\(\) for a smaller summary"):
        session.assemble()
    assert due(session) == "threshold"
    done = session.compact()
    assert (len(done.covers), done.epoch is not None, "smaller" in str(done)) == (0, True, True)
    small = session.summary
    assert small is not None
    assert 0 < small.tokens < large.tokens
    assert small.covers == large.covers
    assert fits(session, 1_000)
    again = session.compact()
    assert (due(session), again.epoch, session.summary) == (None, None, small), "nothing is left to do"


def test_a_message_that_fits_no_prompt_takes_nothing_from_the_summary(memspan_engine: memspan.Engine) -> None:
    budget = memspan.Budget(max_input_tokens=1_000, compact=memspan.Compact())
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=budget)
    talk(session, 40)
    session.add({"role": "assistant", "content": "All noted."})
    large = session.compact(keep_exchanges=0).summary
    session.add({"role": "user", "content": "word " * 1_200})
    assert not fits(session, 1_000)
    assert session.compaction_due is None
    assert session.compact().epoch is None
    assert session.summary == large


def test_an_assistant_answers_what_the_summary_left_no_room(memspan_engine: memspan.Engine) -> None:
    session = memspan_engine.user("u").session("default", "gpt-4o", budget=memspan.Budget(max_input_tokens=1_000))
    talk(session, 40)
    session.add({"role": "assistant", "content": "All noted."})
    large = session.compact(keep_exchanges=0, max_tokens=490).summary
    steps: list[tuple[str, str]] = []
    for compact in (False, True):
        assistant = memspan.Assistant(
            memspan_engine,
            FakeProvider(["Fine."]),
            model="gpt-4o",
            compact=compact,
            budget=memspan.Budget(max_input_tokens=1_000),
            hook=lambda step, when, _session, _value: steps.append((step, when)),
        )
        if not compact:
            with pytest.raises(memspan.BudgetExceeded):
                assistant.respond("u", "word " * 700, id="m")
            assert session.summary == large
            continue
        assert assistant.respond("u", "word " * 700, id="m").text == "Fine."
        small = session.summary
        assert small is not None
        assert large is not None
        assert 0 < small.tokens < large.tokens
        assert ("compact", "after") in steps


def refusing(limit: int) -> Any:
    def answer(prompt: memspan.Prompt) -> Any:
        if prompt.total_tokens <= limit:
            return "Fine."
        return RuntimeError(
            f"Error code: 413 - Request too large for model on tokens per minute (TPM): Limit {limit}, Requested {prompt.total_tokens}, "
            "please reduce your message size and try again."
        )

    return FakeProvider([answer])


@pytest.mark.parametrize("compact", [True, False])
def test_a_recovered_session_goes_on(memspan_engine: memspan.Engine, compact: bool) -> None:
    """The summary was an eighth of the configured limit: 1,940 of the 2,500 tokens that the provider takes. No turn was answered."""
    assistant = memspan.Assistant(memspan_engine, refusing(2_500), model="gpt-4o", compact=compact)
    session = memspan_engine.user("u").session("default", "gpt-4o")
    talk(session, 60, "detail " * 120)
    for n in range(5):
        reply = assistant.respond("u", f"question {n}: " + "beta gamma " * 400)
        assert reply.text == "Fine."
        assert reply.turn.prompt is not None
        assert reply.turn.prompt.total_tokens <= 2_500
    assert (session.summary is not None) == compact
    if session.summary is not None:
        assert 200 < session.summary.tokens <= 2_500 // 8
        more = session.compact(keep_exchanges=0, max_tokens=5_000)
        assert more.summary is not None
        assert more.summary.tokens <= 1_250, "half of the limit in force"


@pytest.fixture
def tiny() -> str:
    memspan.models.register(memspan.Model(name="tiny-2k", context_window=3_072, max_output_tokens=1_024, encoding="o200k_base"))
    return "tiny-2k"


@pytest.mark.parametrize("words", [150, 300, 600])
def test_a_smaller_model_keeps_a_summary_and_the_larger_one_gets_it_back(memspan_engine: memspan.Engine, tiny: str, words: int) -> None:
    """A summary of 1,888 tokens became one of 38 in a prompt of 417 of 2,048, and stayed so for good."""
    session = memspan_engine.user("u").session("s", model="gpt-4o")
    talk(session, 260)
    session.compact()
    first = session.summary
    assert first is not None
    session.add({"role": "user", "content": "log line " * words})
    planned = session.plan_switch(tiny)
    done = session.switch_model(tiny)
    assert (done.summary, done.kept_messages) == (planned.summary, planned.kept_messages)
    small = session.summary
    assert small is not None
    assert small.tokens > 450, "half of what the other sections leave"
    assert len(small.identifiers) > 50
    assert fits(session, 2_048)
    assert session.assemble().total_tokens > 1_200
    session.add({"role": "assistant", "content": "It says that OPS-977 is closed."})
    back = session.switch_model("gpt-4o")
    session.add({"role": "user", "content": "go on"})
    again = session.summary
    assert again is not None
    assert again.tokens >= first.tokens * 0.95
    assert len(again.identifiers) >= len(first.identifiers) * 0.95
    assert back.kept_messages >= 2
    prompt = json.dumps(session.assemble().to_openai())
    assert "OPS-977" in prompt
    assert "log line" in prompt


def test_what_was_said_on_the_smaller_model_is_in_what_comes_back(memspan_engine: memspan.Engine, tiny: str) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o")
    talk(session, 260)
    session.compact()
    session.switch_model(tiny)
    talk(session, 20, "detail " * 20)
    session.add({"role": "user", "content": "Agreed: we keep the archive in vault-4711."})
    session.add({"role": "assistant", "content": "ok"})
    talk(session, 3)
    session.compact(keep_exchanges=1)
    small = session.summary
    assert small is not None
    assert small.tokens < 400, "an eighth of what the small model takes"
    session.redact(206)
    session.switch_model("gpt-4o")
    assert session.summary is not None
    assert session.summary.tokens > 1_000
    assert "vault-4711" in json.dumps(session.assemble().to_openai())
    assert "port 9103" not in session.summary.text, "redacted"
    assert "port 9104" in session.summary.text


def test_a_switch_takes_no_compaction_back(memspan_engine: memspan.Engine, tiny: str) -> None:
    """The version with the most tokens took the place of the shown one: 1,300 messages that had left came back into the prompt."""
    session = memspan_engine.user("u").session("s", model="gpt-4o")
    talk(session, 120)
    session.compact(max_tokens=4_500)
    talk(session, 200)
    session.compact()
    for model in (tiny, "gpt-4o", tiny, "gpt-4o"):
        before = session.summary
        session.switch_model(model)
        after = session.summary
        assert before is not None
        assert after is not None
        assert after.covers.stop >= before.covers.stop
        session.add({"role": "user", "content": "go on"})
        assert session.assemble().total_tokens < 8_000
        session.add({"role": "assistant", "content": "ok"})


def test_a_summary_is_made_smaller_where_only_it_does_not_fit_the_new_model(memspan_engine: memspan.Engine, tiny: str) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o")
    talk(session, 260)
    session.compact(keep_exchanges=0)
    session.add({"role": "user", "content": "word " * 1_500})
    session.switch_model(tiny, llm=lambda *_, **__: pytest.fail("no message is new"))
    assert session.summary is not None
    assert 200 < session.summary.tokens < 560
    assert session.summary.covers == range(520)
    assert fits(session, 2_048)


def test_refused_lines_are_told_where_all_were_refused(memspan_engine: memspan.Engine) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o")
    session.add_many({"role": ("user", "assistant")[n % 2], "content": f"Deploy runs on host-{n}."} for n in range(8))
    reply = {"summary": [{"text": "Ask Zoe on 2031-01-01.", "messages": [0]}], "decisions": [], "constraints": [], "open_questions": []}
    done = session.compact(keep_exchanges=0, llm=lambda _, **__: json.dumps(reply))
    assert done.checked.startswith("rules: nothing that the model wrote")
    assert [line.text for line in done.refused] == ["Ask Zoe on 2031-01-01."]
    assert session.summary is not None


def test_a_line_with_another_unit_is_refused() -> None:
    said = [
        {"role": "user", "content": "Increase the gateway timeout to 30 seconds"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Pay Anna 100 dollars on arrival"},
        {"role": "assistant", "content": "Done."},
    ]
    lines = [("Increased the gateway timeout to 30 minutes.", 0), ("Pay Anna 100 euros on arrival.", 2), ("Anna gets 100 dollars.", 2)]
    reply = {"summary": [{"text": text, "messages": [at]} for text, at in lines], "decisions": [], "constraints": [], "open_questions": []}
    done = memspan.compact(said, keep_exchanges=0, llm=lambda _, **__: json.dumps(reply))
    assert "minutes" not in done.text
    assert "euros" not in done.text
    assert "100 dollars" in done.text


def test_a_switch_takes_the_lines_of_its_model(memspan_engine: memspan.Engine) -> None:
    """They were checked and thrown away: the plan had made the summary before the model was asked, and `checked` said "model"."""
    session = memspan_engine.user("u").session("s", model="gpt-4o")
    talk(session, 100, "filler words here " * 20)
    line = {"text": "service-0 runs on host-0 as the first.", "messages": [0]}
    reply = {"summary": [line], "decisions": [], "constraints": [], "open_questions": []}
    done = session.switch_model("gpt-4", llm=lambda _, **__: json.dumps(reply))
    assert done.checked == "model"
    assert session.summary is not None
    assert "as the first" in session.summary.text
    assert done.summary == session.summary


def test_a_summary_that_a_rewind_goes_back_to_is_made_smaller_for_the_model_of_now(memspan_engine: memspan.Engine, tiny: str) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=memspan.Budget(compact=memspan.Compact()))
    talk(session, 260)
    session.compact()
    first = session.summary
    assert first is not None
    talk(session, 40)
    session.switch_model(tiny)
    session.rewind(first.covers.stop + 2)
    assert session.summary == first
    session.add({"role": "user", "content": "log line " * 100})
    assert not fits(session, 2_048), "the control"
    assert session.compaction_due == "threshold"
    session.compact()
    assert session.summary is not None
    assert session.summary.tokens > 200
    assert fits(session, 2_048)
