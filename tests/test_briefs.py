"""A brief is about its task and says what binds the session; a line says what became of the rounds that left a prompt."""

from __future__ import annotations

import re

import pytest

import memspan


def builds(user: memspan.Scope) -> memspan.Session:
    """A session about builds that failed."""
    session = user.session("s-1", model="gpt-4o")
    for n in range(30):
        session.add({"role": "user", "content": f"Build build-{n:03d} failed on host-{n % 7}. What does log /var/log/b{n}.log say?"})
        session.add({"role": "assistant", "content": f"It says error E{4000 + n}. We go with retry policy rp-{n} for build-{n:03d}."})
    return session


ABOUT = {
    "billing": [
        "billing-api must listen on port 7443",
        "the invoices must be in s3://acme-inv/2026",
        "never retry card charges more than 2 times",
    ],
    "search": ["the search index must be named idx-prod-9", "reindex must run after 02:00 UTC", "the query timeout must be 350 ms"],
    "mobile": [
        "the mobile build must be signed with key MK-88",
        "the minimum iOS version must be 17.2",
        "crash reports must go to sentry-mob-3",
    ],
    "warehouse": ["the warehouse job must use db-wh-4", "always exclude region LATAM-2", "the nightly load must start at 03:15"],
    "support": ["support macros must be in German and French", "escalate to queue ESC-71 only", "refunds above $250 must go to Jonas"],
    "auth": ["tokens must expire after 900 seconds", "always use the issuer https://id.acme.test/v2", "never log the header X-Acme-Sig"],
}


def test_a_brief_is_about_its_task(user: memspan.Scope) -> None:
    """It was the same for every task: as many facts of the task as of anything else."""
    session = user.session("s-1", model="gpt-4o")
    for subject, facts in ABOUT.items():
        for n, fact in enumerate(facts):
            session.add_many([{"role": "user", "content": f"For {subject}: {fact}."}, {"role": "assistant", "content": "Noted."}])
            session.add_many(
                [{"role": "user", "content": f"what is the state of job {n}?"}, {"role": "assistant", "content": f"Run run-{n}7."}]
            )
    own = others = 0
    for subject, facts in ABOUT.items():
        brief = session.brief(f"go on with {subject}", max_tokens=200)
        assert brief.tokens <= 200
        own += sum(fact in brief.text for fact in facts)
        others += sum(fact in brief.text for other in ABOUT if other != subject for fact in ABOUT[other])
    assert own == 18
    assert others < 6 * 15 * 0.6, "a brief of 200 tokens has no room for all of them"


def test_a_brief_says_what_binds_the_session(user: memspan.Scope) -> None:
    session = builds(user)
    session.note("Never touch table audit_7.")
    session.task("plan").set("open", ["drain node-3", "drain node-4"])
    session.task("plan").set("empty", "")
    user.remember("Every change needs the approval of Marta", kind="constraint")
    user.remember("Prefers tea", kind="preference")
    for llm in (None, lambda *_, **__: "no JSON"):
        brief = session.brief("drain the nodes", max_tokens=400, llm=llm)
        assert brief.tokens <= 400
        lines = brief.text.partition("## Constraints & Requirements\n")[2].splitlines()
        for line in (
            "Never touch table audit_7.",
            'plan, open: ["drain node-3","drain node-4"]',
            "Every change needs the approval of Marta",
        ):
            assert f"- {line}" in lines
        assert "tea" not in brief.text
        assert "host-" in brief.text, "and what was said"
        assert memspan.compaction.Summary.from_json(brief.summary.to_json()) == brief.summary
        assert memspan.compact([{"role": "user", "content": "We go with port 8443."}], previous=brief.summary).text


def test_what_binds_has_half_of_a_brief(user: memspan.Scope) -> None:
    session = builds(user)
    for number in range(40):
        session.note(f"Note {number}: {'word ' * (number % 7) * 20}")
    brief = session.brief("find out why build-029 failed", max_tokens=300)
    assert brief.tokens <= 300
    assert "- Note 0:\n" in brief.text
    assert "build-029" in brief.text.partition("\n## ")[2]


@pytest.mark.parametrize(
    ("then", "told"),
    [
        ("cancelled", "deploy x 1 (cancelled), read_log x N. The others have results, which are stored."),
        ("failed", "deploy x 1 (failed), read_log x N. The others have results, which are stored."),
        ("unanswered", "deploy x 1 (no result), read_log x N. The others have results, which are stored."),
        ("done", "read_log x N, deploy x 1. They have results, which are stored."),
        ("said", "read_log x N, deploy x 1. They have results, which are stored."),
        ("begins", "read_log x N, deploy x 1. They have results, which are stored."),
        ("brackets", "read_log x N, deploy x 1. They have results, which are stored."),
        ("in brackets", "deploy x 1 (cancelled), read_log x N. The others have results, which are stored."),
    ],
)
def test_a_round_that_left_the_window_is_done_only_where_it_is(user: memspan.Scope, then: str, told: str) -> None:
    """Of a call that was cancelled, that failed or that never ran the line said that it is done."""
    session = user.session("s-1", model="claude-sonnet-4-5", budget=memspan.Budget(max_input_tokens=4_000, output_tokens=500))

    def call(number: str, name: str) -> None:
        session.add({"role": "assistant", "content": [{"type": "tool_use", "id": number, "name": name, "input": {}}]})

    def result(number: str, text: str, *, is_error: bool = False) -> None:
        block = {"type": "tool_result", "tool_use_id": number, "content": text, "is_error": is_error}
        session.add({"role": "user", "content": [block]})

    session.add({"role": "user", "content": "Deploy build 4711 and check the logs."})
    call("d0", "deploy")
    if then == "cancelled":
        session.cancel_tool_calls(reason="the user said stop")
    elif then == "in brackets":
        session.cancel_tool_calls(reason="the user said [stop]")
    elif then != "unanswered":
        result(
            "d0",
            {
                "failed": "permission denied",
                "done": "ok",
                "said": "It was not cancelled: [cancelled: no]",
                "begins": "[cancelled: the queue was emptied] deployed build 7, 3 jobs were cancelled",
                "brackets": "[cancelled: 3 jobs] deployed build [7]",
            }[then],
            is_error=then == "failed",
        )
    for number in range(25):
        call(f"c{number}", "read_log")
        result(f"c{number}", f"row {number} ok\n" * 60)
    prompt = session.assemble()
    assert prompt.total_tokens <= 4_000
    line = next(line for line in prompt.text.splitlines() if line.startswith("[Rounds 1 to "))
    assert re.sub(r"read_log x \d+", "read_log x N", line.partition(": ")[2]) == f"{told}]"
    session.add_response({"role": "assistant", "content": "All is well."}, prompt=prompt)
    assert (sent := session.turns[-1].prompt) is not None
    assert sent.to_anthropic() == prompt.to_anthropic()


def test_the_outcomes_of_many_tools_are_told_in_the_room_of_one_line(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o", budget=memspan.Budget(max_input_tokens=3_000))
    session.add({"role": "user", "content": "find out why build-7 failed"})
    for n in range(60):
        name = f"tool_{'xq'[n % 2]}_{n % 12}_of_a_server_with_a_long_name"
        call = {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        session.add({"role": "assistant", "tool_calls": [call]})
        if n % 3 == 0:
            session.cancel_tool_calls(reason="stop")
        elif n % 3 == 1:
            session.add({"role": "tool", "tool_call_id": f"c{n}", "content": f"line {n} says nothing new. " * 12})
    prompt = session.assemble()
    assert prompt.total_tokens <= 3_000
    line = next(line for line in prompt.text.splitlines() if line.startswith("[Rounds 1 to "))
    assert re.search(r"\d+ cancelled.* no result.*The others have results, which are stored\.", line), line
