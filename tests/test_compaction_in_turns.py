"""A compaction inside of a long turn: its first rounds become a summary, its user message stays, and nothing is lost behind it."""

from __future__ import annotations

import random
from typing import Any

import pytest

import memspan
from memspan.testing import FakeProvider, openai_response

FINDINGS = {
    "a missing index": "The timeout in checkout comes from a missing index on orders.customer_id.",
    "memcached": "Decision: we keep Redis 7.2 and drop memcached.",
    "14 March": "The staging password rotates on 14 March, so the deploy must end before.",
    "Priya": "Priya owns the payments module and must approve changes there.",
    "test_refund_rounding": "The failing test is test_refund_rounding in tests/billing/test_refunds.py, line 212.",
    "retry.toml": "The retry limit is 5 and lives in config/retry.toml.",
    "9f3c2ab": "Commit 9f3c2ab introduced the regression.",
    "in German": "The customer asked that invoices stay in German.",
    "migrate.lock": "The lock file is at /var/lib/app/migrate.lock and must be removed by hand.",
    "9443": "Port 8443 is taken by the old gateway, so the new one uses 9443.",
}
TASK = "Fix the checkout outage and finish the migration. Do not touch the billing database."
WORDS = ("build", "log", "parse", "module", "import", "check", "lint", "type", "stub", "mock", "patch", "queue", "cache", "route", "table")
DUE = memspan.Compact(at=0.75)


def seeded(seed: object) -> random.Random:
    return random.Random(str(seed))  # noqa: S311  the same numbers in each run


def a_round(session: memspan.Session, number: int, said: str, result: str) -> None:
    call = (f"c{number}", "read_file", {"path": f"src/part_{number}.py"})
    session.add_response(openai_response(said, tool_calls=[call]))
    session.add({"role": "tool", "tool_call_id": f"c{number}", "content": result})


def noise(chance: random.Random, count: int = 80) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(count))


def work(session: memspan.Session, rounds: int, chance: random.Random) -> int:
    """One request, what was found first, and rounds of reading; how often the session was compacted."""
    session.add({"role": "user", "content": TASK})
    compactions = 0
    findings = list(FINDINGS.values())
    for number in range(rounds):
        said = findings[number] if number < len(findings) else f"Reading {chance.choice(WORDS)}_{chance.choice(WORDS)}.py next."
        a_round(session, number, said, noise(chance))
        due = session.compaction_due
        if due:
            assert due == "threshold"
            made = session.compact()
            assert made.tokens_after < made.tokens_before
            assert session.compaction_due is None, "it is not due at once again"
            compactions += 1
    return compactions


def check_pairs(prompt: memspan.Prompt) -> None:
    """Every result follows its call, and every call has its result or is open."""
    called: set[str] = set()
    for message in prompt.to_openai()["messages"]:
        called |= {call["id"] for call in message.get("tool_calls") or ()}
        if message["role"] == "tool":
            assert message["tool_call_id"] in called
            called.remove(message["tool_call_id"])


@pytest.mark.parametrize(("limit", "least"), [(2_000, 6), (4_000, 10)])
def test_what_the_first_rounds_found_stays_in_prompts(memspan_engine: memspan.Engine, limit: int, least: int) -> None:
    """Without a compaction one of these findings is left, which the block finds again."""
    budget = memspan.Budget(max_input_tokens=limit, compact=DUE)
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=budget)
    compactions = work(session, 60, seeded(2))
    prompt = session.assemble()
    assert compactions >= 3
    assert sum(key in prompt.text for key in FINDINGS) >= least, prompt.text
    assert prompt.total_tokens <= limit
    roles = [message["role"] for message in prompt.to_openai()["messages"]]
    assert roles[:2] == ["system", "user"], "the summary, and the user message of the turn"
    assert "finish the migration" in str(prompt.to_openai()["messages"][1])
    assert "Rounds 1 to " in prompt.text
    check_pairs(prompt)
    rows = {row.id: row.why for row in prompt.explain() if row.section in ("history", "turn") and row.id.startswith("messages")}
    assert rows["messages 0..1"].startswith("in the window")
    summary = session.summary
    assert summary is not None
    covered = summary.covers.stop
    assert rows[f"messages 1..{covered}"] == "left behind when the model was switched or the session compacted"
    bare = memspan_engine.user("bare").session("s", model="gpt-4o", budget=memspan.Budget(max_input_tokens=limit))
    work(bare, 60, seeded(2))
    assert sum(key in bare.assemble().text for key in FINDINGS) < least / 2
    assert not memspan_engine.check().findings


def test_the_next_turn_goes_on_with_the_answer(memspan_engine: memspan.Engine) -> None:
    budget = memspan.Budget(max_input_tokens=3_000, compact=DUE)
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=budget)
    work(session, 40, seeded(3))
    session.add_response(openai_response("All services run on the new cluster. Shall I remove the old one?"), prompt=session.assemble())
    session.add({"role": "user", "content": "yes"})
    prompt = session.assemble()
    texts = [str(message.get("content")) for message in prompt.to_openai()["messages"]]
    assert any("finish the migration" in text for text in texts), "the request that the answer is to"
    assert any("Shall I remove the old one?" in text for text in texts)
    check_pairs(prompt)
    session.add_response(openai_response("Removed."), prompt=prompt)
    again = session.turns[-1].prompt
    assert again is not None
    assert again.text == prompt.text, "it is composed again byte for byte"


def test_prompts_only_grow_between_two_compactions(memspan_engine: memspan.Engine) -> None:
    budget = memspan.Budget(max_input_tokens=3_000, compact=DUE)
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=budget)
    session.add({"role": "user", "content": TASK})
    chance, before, epochs = seeded(4), session.assemble(), set[int]()
    for number in range(40):
        a_round(session, number, "Reading on.", noise(chance, 40))
        if session.compaction_due:
            session.compact()
        prompt = session.assemble()
        if prompt.epoch == before.epoch:
            assert prompt.shared_prefix(before).tokens >= before.prefix_tokens
        epochs.add(prompt.epoch)
        before = prompt
    assert 1 < len(epochs) < 20


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5"])
@pytest.mark.parametrize("taken_back", ["rewind", "fork", "fork behind a switch"])
def test_a_turn_that_is_taken_back_to_its_summary_keeps_its_request(memspan_engine: memspan.Engine, model: str, taken_back: str) -> None:
    """Prompts said nothing but "(Nothing was said yet.)" there."""
    budget = memspan.Budget(max_input_tokens=3_000, compact=DUE)
    session = memspan_engine.user("u").session("s", model=model, budget=budget)
    work(session, 30, seeded(6))
    if taken_back == "fork behind a switch":
        session.switch_model("gemini-2.5-pro")
    summary = session.summary
    assert summary is not None
    boundary = summary.covers.stop
    if taken_back == "rewind":
        session.rewind(boundary)
    else:
        session = session.fork("copy", at=boundary)
    prompt = session.assemble()
    messages = prompt.to_openai()["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "user"]
    assert TASK in str(messages[1]["content"])
    assert f"Rounds 1 to {boundary // 2} of this turn are not shown" in messages[2]["content"]
    first = prompt.to_anthropic()["messages"][0]
    assert first["role"] == "user"
    assert TASK in str(first)
    assert sum(row.tokens for row in prompt.sections) == prompt.total_tokens
    session.add_response(openai_response("Going on.", tool_calls=[("next", "read_file", {})]), prompt=prompt)
    again = session.turns[-1].prompt
    assert again is not None
    assert again.text == prompt.text
    session.add({"role": "tool", "tool_call_id": "next", "content": "ok"})
    later = session.assemble()
    check_pairs(later)
    assert later.shared_prefix(prompt).tokens >= prompt.prefix_tokens
    assert not memspan_engine.check().findings


def test_a_long_request_counts_when_a_compaction_is_due(memspan_engine: memspan.Engine) -> None:
    """Its rounds left the prompt before they were due, and no summary had them."""
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=memspan.Budget(max_input_tokens=4_000, compact=DUE))
    session.add({"role": "user", "content": TASK + " " + noise(seeded(8), 1_800)})
    chance, compactions = seeded(7), 0
    for number in range(40):
        a_round(session, number, f"Decision: finding F{number:03d}X is that host-{number:03d} fails.", noise(chance))
        if session.compaction_due:
            session.compact()
            compactions += 1
            assert session.compaction_due is None
        covered = 0 if session.summary is None else session.summary.covers.stop
        text = session.assemble().text
        assert all(f"F{told:03d}X" in text for told in range(number + 1) if 1 + 2 * told >= covered)
    assert 1 < compactions < 20


def test_an_exchange_stays_whose_first_rounds_have_left(memspan_engine: memspan.Engine) -> None:
    """Its left rounds were counted among what stays, and the question left that the user answers."""
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=memspan.Budget(max_input_tokens=8_000, compact=DUE))
    session.add({"role": "user", "content": TASK})
    for number in range(60):
        a_round(session, number, f"Reading {number}.", noise(seeded(number), 100))
    a_round(session, 60, "A large one.", noise(seeded(60), 6_000))
    for number in range(61, 64):
        a_round(session, number, f"Reading {number}.", noise(seeded(number), 340))
    assert session.compact().covers.stop == 123
    session.add_response(openai_response("eu-7 has 3 nodes, eu-8 has 5. Which of the two shall I drain?"))
    session.add({"role": "user", "content": "the second"})
    made = session.compact()
    texts = [str(message.get("content")) for message in session.assemble().to_openai()["messages"]]
    assert made.epoch is None
    assert any("Which of the two" in text for text in texts)


@pytest.mark.parametrize(("limit", "words"), [(8_000, 1_500), (16_000, 3_900), (4_000, 900)])
def test_large_results_do_not_compact_every_round(memspan_engine: memspan.Engine, limit: int, words: int) -> None:
    budget = memspan.Budget(max_input_tokens=limit, compact=DUE, tool_results=memspan.ToolResults(keep_rounds=3))
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=budget)
    session.add({"role": "user", "content": TASK})
    compactions = 0
    for number in range(30):
        a_round(session, number, f"Decision: F{number:03d}X.", noise(seeded(number), words))
        if session.compaction_due:
            session.compact()
            compactions += 1
            assert session.compaction_due is None
        covered = 0 if session.summary is None else session.summary.covers.stop
        text = session.assemble().text
        assert all(f"F{told:03d}X" in text for told in range(number + 1) if 1 + 2 * told >= covered)
    assert 5 < compactions <= 16


@pytest.mark.parametrize("compacts_before", [True, False])
def test_a_switch_compacts_the_rounds_that_do_not_fit(memspan_engine: memspan.Engine, compacts_before: bool) -> None:
    """Nothing of the running turn was compacted: its first rounds were in neither prompt nor summary."""
    session = memspan_engine.user("u").session("s", model="gpt-4o")
    session.add({"role": "user", "content": TASK})
    for number in range(60):
        if compacts_before and number == 30:
            session.compact(max_tokens=200)
        a_round(session, number, f"Decision: finding F{number:03d}X is that host-{number:03d} fails.", noise(seeded(number), 120))
    plan = session.plan_switch("gpt-4")
    switch = session.switch_model("gpt-4")
    assert (plan.kept_messages, plan.left_out_messages) == (switch.kept_messages, switch.left_out_messages)
    prompt, summary = session.assemble(), session.summary
    assert summary is not None
    covered = summary.covers.stop
    assert 41 < covered < 120
    assert covered % 2 == 1, "it ends behind a round"
    assert switch.left_out_messages == covered
    assert all(f"F{told:03d}X" in prompt.text for told in range(60) if 1 + 2 * told >= covered)
    messages = prompt.to_openai()["messages"]
    assert [message["role"] for message in messages[:2]] == ["system", "user"]
    assert TASK in str(messages[1])
    check_pairs(prompt)
    assert session.plan_switch("gpt-4o").summary is None or session.switch_model("gpt-4o").summary is not None


def test_a_switch_of_a_turn_that_fits_compacts_nothing(memspan_engine: memspan.Engine) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o")
    session.add({"role": "user", "content": TASK})
    for number in range(12):
        a_round(session, number, f"Reading {number}.", noise(seeded(number), 120))
    assert session.switch_model("gpt-4").summary is None
    assert "Reading 0." in session.assemble().text


def test_without_an_older_round_nothing_is_due(memspan_engine: memspan.Engine) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=memspan.Budget(max_input_tokens=2_000, compact=DUE))
    session.add({"role": "user", "content": TASK + " " + noise(seeded(5), 1_400)})
    assert session.compaction_due is None
    assert session.compact().epoch is None
    a_round(session, 0, "Reading.", "done")
    assert session.compaction_due is None, "the only round stays"


def test_an_exchange_that_is_to_stay_stays_whole(memspan_engine: memspan.Engine) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o", budget=memspan.Budget(max_input_tokens=2_000))
    session.add({"role": "user", "content": TASK})
    for number in range(20):
        a_round(session, number, "Reading on.", noise(seeded(number)))
    assert session.compact(keep_exchanges=1).epoch is None
    made = session.compact()
    assert made.epoch is not None
    assert 1 < made.covers.stop < 41


def test_a_compacted_turn_lives_through_everything(memspan_engine: memspan.Engine) -> None:
    """Random rounds, turns, compactions, switches, forks, rewinds and redactions: prompts stay valid, and are composed again alike."""
    user, parted = memspan_engine.user("u"), 0
    for seed in range(6):
        chance = seeded(seed)
        session = user.session(
            f"s{seed}", model="gpt-4o", budget=memspan.Budget(max_input_tokens=chance.choice([1_500, 3_000]), compact=DUE)
        )
        session.add({"role": "user", "content": TASK})
        for number in range(60):
            did = chance.random()
            if did < 0.70 or len(session.messages) < 4:
                a_round(session, number, f"Step {number} of the migration is done.", noise(chance, chance.randrange(5, 120)))
            elif did < 0.80:
                session.add_response(openai_response(f"Part {number} is finished."))
                session.add({"role": "user", "content": f"Go on with part {number}. " + noise(chance, chance.randrange(40))})
            elif did < 0.86:
                session.rewind(max(1, len(session.messages) - chance.randrange(1, 9)))
            elif did < 0.90:
                session.switch_model(chance.choice(["gpt-4o", "gpt-4o-mini", "claude-sonnet-4-5"]))
            elif did < 0.95:
                session = session.fork(f"s{seed}-{number}")
            else:
                session.redact(chance.randrange(len(session.messages)))
            if session.pending_tool_calls:
                session.cancel_tool_calls(reason="taken back")
            if session.compaction_due:
                session.compact()
            prompt = session.assemble()
            check_pairs(prompt)
            assert prompt.total_tokens <= prompt.max_input_tokens
            assert any(message["role"] == "user" for message in prompt.to_openai()["messages"])
            summary = session.summary
            rows = [row.id for row in prompt.explain() if row.section == "turn"]
            parted += summary is not None and any(row.endswith(f"..{summary.covers.stop}") for row in rows)
            session.add_response(openai_response(None, tool_calls=[(f"x{number}", "read_file", {})]), prompt=prompt)
            again = session.turns[-1].prompt
            assert again is not None
            assert again.text == prompt.text
            session.add({"role": "tool", "tool_call_id": f"x{number}", "content": "ok"})
    assert parted > 50, "sessions were compacted inside of their turns"
    assert not memspan_engine.check().findings


def read_file(path: str) -> str:
    """Reads a file.

    Args:
        path: Which one.
    """
    return f"{path}: " + noise(seeded(path), 120)


def test_an_assistant_compacts_between_rounds(memspan_engine: memspan.Engine) -> None:
    class Working(FakeProvider):
        """Says what it found, and calls a tool again and again."""

        def complete(self, prompt: memspan.Prompt, **_options: Any) -> Any:
            number = len(self.prompts)
            self.prompts.append(prompt)
            if number == 30:
                return openai_response("Done.")
            said = list(FINDINGS.values())[number] if number < len(FINDINGS) else "Reading on."
            return openai_response(said, tool_calls=[(f"c{number}", "read_file", {"path": f"p{number}"})])

    provider, budget = Working(["unused"]), memspan.Budget(max_input_tokens=3_000, compact=DUE)
    options: dict[str, Any] = {"model": "gpt-4o", "tools": [read_file], "budget": budget, "max_rounds": 40, "learn": False}
    assistant = memspan.Assistant(memspan_engine, provider, **options)
    reply = assistant.respond("u", TASK, session="s")
    assert (reply.text, reply.rounds) == ("Done.", 30)
    last = provider.prompts[-1].text
    assert sum(key in last for key in FINDINGS) >= 8, last
    off = memspan.Assistant(memspan_engine, Working(["unused"]), compact=False, **options)
    off.respond("v", TASK, session="s")
    assert memspan_engine.user("v").session("s").summary is None


def test_an_assistant_compacts_what_is_due_behind_a_switch(memspan_engine: memspan.Engine) -> None:
    """A smaller model takes over in the middle of a turn: what its window has no room for stands in the summary that it is shown."""

    class Failing(FakeProvider):
        """Is out of order from the 40th call on, and its substitute answers."""

        def complete(self, prompt: memspan.Prompt, **_options: Any) -> Any:
            number = len(self.prompts)
            self.prompts.append(prompt)
            if prompt.model == "gpt-4":
                return openai_response("Done.")
            if number == 40:
                raise ConnectionError("503")
            said = f"Decision: finding F{number:03d}X is that host-{number:03d} fails."
            return openai_response(said, tool_calls=[(f"c{number}", "read_file", {"path": f"p{number}"})])

    provider = Failing(["unused"])
    options: dict[str, Any] = {"model": "gpt-4o", "fallbacks": ["gpt-4"], "tools": [read_file], "max_rounds": 50, "learn": False}
    assistant = memspan.Assistant(memspan_engine, provider, budget=memspan.Budget(compact=DUE), **options)
    assert assistant.respond("u", TASK, session="s").text == "Done."
    last = provider.prompts[-1]
    assert (last.model, last.max_input_tokens) == ("gpt-4", 4_096)
    assert last.total_tokens < 3_072, "it is not due"
    assert "<summary" in last.text
    assert TASK in last.text
    check_pairs(last)
