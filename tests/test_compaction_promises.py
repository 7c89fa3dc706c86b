"""What compaction promises over a long life: canaries through twenty compactions and two switches, flushes by policy, alerts, rivals."""

# ruff: noqa: E501, PT012, SIM905  an answer a line; what fails is made in the block

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from tests.vendors.server import Vendor, serving

import memspan
from memspan.testing import FakeClock, anthropic_response, openai_response

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SUBJECTS = (
    "invoices reports dashboards alerts backups migrations deployments releases logs queues caches tickets contracts audits "
    "surveys payrolls budgets meetings newsletters exports"
).split()
NAMES = (
    "Brindlewick Ostrava Quillon Maristow Fennimore Tarquin Oldhollow Vexley Corrigan Ashdown Pemberly Wrenfield Halcyon "
    "Drummond Larkspur Stonebridge Fairlight Northgate Eastwick Thornbury Lindqvist Okafor Marchetti Delacroix Novak Petrov "
    "Yamamoto Castellan Rowanberry Silvermere Blackwater Greystone Summerfield Winterbourne Kingsmere Holloway Ravenscroft "
    "Bellweather Dunmore Ellsworth"
).split()
FORMS = (
    "I prefer {name} for {subject}.",
    "The {subject} must never leave {name}.",
    "We decided to use {name} for {subject}.",
    "{subject} always need approval by {name}.",
)


def canaries() -> list[tuple[str, str]]:
    """Forty sentences: preferences, constraints and decisions, each with a name of its own."""
    return [(FORMS[n % 4].format(name=name, subject=SUBJECTS[n // 2]), name) for n, name in enumerate(NAMES)]


def filler(n: int) -> list[dict[str, str]]:
    return [
        {"role": "user", "content": f"The nightly job number {n} took {n % 50 + 3} minutes on host-{n % 9}. Can you look at why?"},
        {"role": "assistant", "content": f"Job {n} waited for a lock. It read /var/log/job-{n}.log twice, and then went on as usual."},
    ]


@pytest.fixture
def learning(tmp_path: Path) -> memspan.Engine:
    return memspan.open(tmp_path / "learning.memspan", clock=FakeClock(), policy=memspan.Policy(learn="compaction"))


def test_forty_canaries_survive_twenty_compactions_and_two_switches(learning: memspan.Engine) -> None:
    user = learning.user("u")
    session = user.session("s", model="gpt-4o", system="You are terse.")
    planted = canaries()
    assert len(planted) == len({name for _, name in planted}) == 40
    compactions = 0
    for number in range(20):
        for sentence, _ in planted[2 * number : 2 * number + 2]:
            session.add_many([{"role": "user", "content": sentence}, {"role": "assistant", "content": "Understood."}])
        for n in range(6):
            session.add_many(filler(6 * number + n))
        if number == 9:
            assert session.switch_model("gpt-4").max_input_tokens < 8_192
        if number == 13:
            session.switch_model("gpt-4o")
        compactions += session.compact(max_tokens=1_000, keep_exchanges=1).epoch is not None
    assert compactions == 20
    assert session.summary is not None
    memories = "\n".join(memory.text for memory in user.memories())
    lost = [sentence for sentence, name in planted if name not in session.summary.text and name not in memories]
    assert lost == []
    assert session.summary.tokens <= 1_000
    learning.check()
    learning.close()


def test_the_same_without_learning_keeps_what_binds(user: memspan.Scope) -> None:
    session, planted = user.session("s", model="gpt-4o"), canaries()
    for number in range(20):
        for sentence, _ in planted[2 * number : 2 * number + 2]:
            session.add_many([{"role": "user", "content": sentence}, {"role": "assistant", "content": "Understood."}])
        session.add_many([message for n in range(6) for message in filler(6 * number + n)])
        session.compact(max_tokens=2_000, keep_exchanges=1)
    assert session.summary is not None
    text = session.summary.text
    assert [sentence for sentence, name in planted if name not in text and name not in session.messages[-2].text] == []


def test_a_policy_flushes_before_messages_leave_and_once(learning: memspan.Engine) -> None:
    user = learning.user("u")
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": "Call me Ana. I prefer tabs over spaces."}, id="m-1")
    session.add_many([message for n in range(8) for message in filler(n)])
    first = session.compact()
    assert first.learned >= 1
    before = [memory.text for memory in user.memories()]
    assert any("Ana" in text for text in before)
    assert "Ana" in user.profile().text, "the user's profile is the digest above the sessions'"
    session.add_many([message for n in range(8, 16) for message in filler(n)])
    session.compact(learn=True)
    assert user.learn(session).decisions == (), "nothing is learnt twice"
    assert [memory.text for memory in user.memories()][: len(before)] == before
    other = user.session("next", model="gpt-4o")
    other.add({"role": "user", "content": "what is my name?"})
    assert "Ana" in json.dumps(other.assemble().to_openai())
    session.add({"role": "user", "content": "My favourite editor is Helix."})
    session.end()
    assert any("Helix" in memory.text for memory in user.memories())
    learning.close()


def test_without_the_policy_nothing_is_learnt(user: memspan.Scope) -> None:
    session = user.session("s", model="gpt-4o")
    session.add_many([{"role": "user", "content": "Call me Ana."}, *(message for n in range(8) for message in filler(n))])
    assert session.compact().learned == 0
    assert list(user.memories()) == []
    session.add_many([message for n in range(8, 16) for message in filler(n)])
    assert session.compact(learn=True).learned >= 1
    assert "Ana" in user.profile().text
    assert session.compact(learn=False).epoch is None
    with pytest.raises(memspan.InvalidInput, match="learn must be"):
        user.session("t", model="gpt-4o").add_many([message for n in range(8) for message in filler(n)])
        user.session("t").compact(learn="yes")  # type: ignore[arg-type]


def test_an_alert_fires_once_an_epoch_and_on_prompts(tmp_path: Path) -> None:
    """Alerts told of 23,873 tokens of 8,192 with a prompt of 2,938, and 39 times in 79 turns: they measured the transcript."""
    seen: list[memspan.Event] = []
    with memspan.open(tmp_path / "s.memspan", on_event=seen.append) as engine:
        budget = memspan.Budget(max_input_tokens=7_000, output_tokens=1_000)
        session = engine.user("u").session("s", model="gpt-4", budget=budget)
        largest = 0
        fired: list[tuple[int, float | None]] = []
        for n in range(79):
            session.add({"role": "user", "content": f"turn {n}: " + "what was said of the log " * 25})
            prompt = session.assemble()
            largest = max(largest, prompt.total_tokens)
            fired += [(session.epoch, event.fraction) for event in seen[len(fired) :]]
            session.add_response({"role": "assistant", "content": "It says nothing new about that. " * 20}, prompt=prompt)
            fired += [(session.epoch, event.fraction) for event in seen[len(fired) :]]
        assert len(session.messages) == 158
        assert all(event.kind == "window" for event in seen)
        assert len(fired) == len(set(fired)), "each once an epoch"
        assert 2 <= len(fired) <= 2 * (session.epoch + 1)
        for event in seen:
            assert event.tokens is not None
            assert event.limit == 8_192
            assert event.fraction is not None
            assert event.fraction * event.limit <= event.tokens <= largest


def test_due_fires_until_a_compaction_and_not_after(user: memspan.Scope) -> None:
    budget = memspan.Budget(max_input_tokens=4_000, compact=memspan.Compact(at=0.75))
    session, reasons = user.session("s", model="gpt-4o", budget=budget), []
    for n in range(200):
        session.add_many(filler(n))
        if (reason := session.compaction_due) is not None:
            reasons.append((n, reason))
            assert session.compact().epoch is not None
            assert session.compaction_due is None, "what was compacted is not due again"
    turns = [n for n, _ in reasons]
    assert {reason for _, reason in reasons} == {"threshold"}
    assert min(after - before for before, after in pairwise(turns)) > 5, "a compaction makes room for turns"


# --- rivals, crashes, models ------------------------------------------------------------------------------------------------------------

ADDER = """
import sys, memspan
with memspan.open(sys.argv[1], busy_timeout_seconds=60) as engine:
    session = engine.user("u").session("s")
    print("ready", flush=True)
    for n in range(40):
        session.add({"role": "user", "content": f"{sys.argv[2]} says line-{n}"}, id=f"{sys.argv[2]}-{n}")
"""


def test_two_other_processes_add_while_a_session_is_compacted(tmp_path: Path) -> None:
    path = tmp_path / "s.memspan"
    with memspan.open(path, busy_timeout_seconds=60) as engine:
        session = engine.user("u").session("s", model="gpt-4o")
        session.add_many([message for n in range(20) for message in filler(n)])
        others: list[Any] = [
            subprocess.Popen([sys.executable, "-c", ADDER, str(path), name], stdout=subprocess.PIPE) for name in ("ann", "bob")
        ]
        for other in others:
            assert other.stdout.readline() == b"ready\n"
        done, begun = list[memspan.compaction.Compaction](), list[int]()

        def slow_writer(messages: list[dict[str, str]], *, max_tokens: int) -> str:
            del messages, max_tokens
            begun.append(len(session.messages))
            time.sleep(0.05)
            return json.dumps({"summary": [], "decisions": [], "constraints": [], "open_questions": []})

        while any(other.poll() is None for other in others):
            compaction = session.compact(llm=slow_writer, max_tokens=800)
            if compaction.epoch is not None:
                done.append(compaction)
                assert compaction.covers.stop <= begun[-1], "messages that came while the model wrote stay"
        assert [other.wait(60) for other in others] == [0, 0]
        for other in others:
            other.stdout.close()
        assert done
        session.compact(max_tokens=800)
        texts = [message.text for message in session.messages]
        assert len(texts) == 40 + 80
        for name in ("ann", "bob"):
            assert [text for text in texts if text.startswith(name)] == [f"{name} says line-{n}" for n in range(40)]
        covers = [compaction.covers for compaction in done]
        assert all(one.stop == other.start for one, other in pairwise(covers)), "nothing twice, nothing left out"
        engine.check()


KILLED = """
import os, sys, memspan
engine = memspan.open(sys.argv[1])
session = engine.user("u").session("s")
step = sys.argv[2]
def die(*args, **options):
    os.kill(os.getpid(), 9)
if step == "learn":
    session.compact(learn=die)
elif step == "model":
    session.compact(llm=die)
elif step == "check":
    session.compact(llm=lambda messages, *, max_tokens: "{}", learn=lambda messages: [])  # two bad replies, then the rules
    die()
elif step == "commit":
    import threading, time
    threading.Thread(target=lambda: (time.sleep(float(sys.argv[3])), die()), daemon=True).start()
    for _ in range(1000):
        session.add({"role": "user", "content": "one more question about build-7?"})
        session.compact(keep_exchanges=1)
"""


@pytest.mark.parametrize(("step", "delay"), [("learn", 0.0), ("model", 0.0), ("check", 0.0), *(("commit", 0.03 * n) for n in range(1, 7))])
def test_killed_at_every_step(tmp_path: Path, step: str, delay: float) -> None:
    path = tmp_path / "s.memspan"
    with memspan.open(path) as engine:
        session = engine.user("u").session("s", model="gpt-4o")
        session.add_many([message for n in range(20) for message in filler(n)])
        before = session.assemble("").to_json()
    died = subprocess.run([sys.executable, "-c", KILLED, str(path), step, str(delay)], capture_output=True, check=False)
    assert died.returncode == -9, died.stderr.decode()
    with memspan.open(path) as engine:
        session = engine.user("u").session("s")
        if step in {"learn", "model"}:
            assert (session.epoch, session.summary) == (0, None)
            assert session.assemble("").to_json() == before
        elif step == "check":
            assert session.summary is not None
        assert [message.text for message in session.messages[:40]] == [message["content"] for n in range(20) for message in filler(n)]
        session.compact()
        assert session.summary is not None
        engine.check()


FULL = """
import resource, sys, memspan
engine = memspan.open(sys.argv[1])
session = engine.user("u").session("s")
size = max(file.stat().st_size for file in __import__("pathlib").Path(sys.argv[1]).rglob("*") if file.is_file())
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
compacted, told = 0, None
try:
    for _ in range(500):
        session.add({"role": "user", "content": "x" * 20_000})
        session.compact(keep_exchanges=1)
        compacted += 1
except memspan.Error as error:
    told = type(error).__name__
print(compacted, told)
"""


def test_a_full_disk_is_told_and_leaves_the_old_epoch(tmp_path: Path) -> None:
    path = tmp_path / "s.memspan"
    with memspan.open(path) as engine:
        session = engine.user("u").session("s", model="gpt-4o")
        session.add_many([message for n in range(20) for message in filler(n)])
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, check=True, text=True)
    _, told = done.stdout.split()
    assert told == "StoreFull", done.stdout + done.stderr
    with memspan.open(path) as engine:
        session = engine.user("u").session("s")
        assert [message.text for message in session.messages[:40]] == [message["content"] for n in range(20) for message in filler(n)]
        covers = 0 if session.summary is None else session.summary.covers.stop
        assert covers <= len(session.messages)
        engine.check()
        assert session.compact(keep_exchanges=1).summary is not None


def test_a_model_that_hangs_or_is_cancelled(user: memspan.Scope) -> None:
    session = user.session("s", model="gpt-4o")
    session.add_many([message for n in range(12) for message in filler(n)])
    entered, left = threading.Event(), threading.Event()

    async def hangs(messages: list[dict[str, str]], *, max_tokens: int) -> str:
        del messages, max_tokens
        entered.set()
        try:
            await asyncio.sleep(60)
        finally:
            left.set()
        return ""

    async def cancelled() -> None:
        task = asyncio.create_task(session.acompact(llm=hangs, timeout_seconds=0.5))
        await asyncio.to_thread(entered.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert session.summary is None
        assert await asyncio.to_thread(left.wait, 30), "the call ends by its time"

    asyncio.run(cancelled())
    while session.summary is None:  # the call goes on in its thread, by the rules
        time.sleep(0.01)
    start = time.monotonic()
    compaction = session.compact(llm=hangs, timeout_seconds=0.2)
    assert time.monotonic() - start < 10
    assert compaction.epoch is None or compaction.checked.startswith("rules: the model")
    assert session.summary is not None


# --- providers, versions, tool results ------------------------------------------------------------------------------------------------

RESPONSE = {
    "id": "r-1", "object": "response", "created_at": 1, "model": "gpt-4o", "status": "completed", "parallel_tool_calls": False,
    "tool_choice": "auto", "tools": [],
    "output": [{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "TEXT", "annotations": []}]}],
}  # fmt: skip
PROVIDERS: dict[str, tuple[Any, str, Callable[[str], dict[str, Any]]]] = {
    "openai": (memspan.providers.OpenAI, "/v1", openai_response),
    "responses": (memspan.providers.OpenAIResponses, "/v1", lambda text: json.loads(json.dumps(RESPONSE).replace('"TEXT"', json.dumps(text)))),
    "anthropic": (memspan.providers.Anthropic, "", anthropic_response),
}  # fmt: skip


@pytest.mark.parametrize("kind", PROVIDERS)
def test_a_provider_with_a_model_writes(user: memspan.Scope, kind: str) -> None:
    made, path, answer = PROVIDERS[kind]
    line = {"text": "The job number 0 took 3 minutes on host-0.", "messages": [0]}
    text = json.dumps({"summary": [line], "decisions": [], "constraints": [], "open_questions": []})
    session = user.session("s", model="gpt-4o")
    session.add_many([message for n in range(12) for message in filler(n)])
    vendor = Vendor([answer(text)])
    with serving(vendor) as base:
        writer = made(base_url=base + path, api_key="k", max_retries=0).with_model("small-1")
        compaction = session.compact(llm=writer)
    assert compaction.checked == "model", compaction
    assert compaction.summary is not None
    assert str(line["text"]) in compaction.summary.text
    body = vendor.requests[0][1]
    assert body["model"] == "small-1"
    assert "nightly job number 0" in json.dumps(body)
    limits = [body[name] for name in ("max_tokens", "max_completion_tokens", "max_output_tokens") if name in body]
    assert len(limits) == 1
    assert limits[0] > 512
    session.add_many([message for n in range(12) for message in filler(n)])
    with pytest.raises(memspan.InvalidInput, match="with_model"):
        session.compact(llm=made(base_url="http://127.0.0.1:9", api_key="k"))


def test_gemini_writes_too(user: memspan.Scope) -> None:
    genai = pytest.importorskip("google.genai", reason="google-genai is not installed: pip install 'memspan[gemini]'")
    said = {
        "responseId": "g",
        "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [{"text": "a summary"}]}}],
    }
    vendor = Vendor([said])
    with serving(vendor) as base:
        ours = memspan.providers.Gemini(api_key="k", http_options=genai.types.HttpOptions(base_url=base))
        talk = [{"role": "system", "content": "be short"}, {"role": "user", "content": "hello"}]
        assert ours.with_model("gemini-2.5-pro")(talk, max_tokens=77) == "a summary"
    sent = vendor.requests[0][1]
    assert sent["generationConfig"]["maxOutputTokens"] == 77
    assert "be short" in json.dumps(sent["systemInstruction"])
    assert "hello" in json.dumps(sent["contents"])
    assert user.session("s", model="gpt-4o").summary is None


def test_instructions_have_versions_and_a_switch_names_one(user: memspan.Scope) -> None:
    tool = {"type": "function", "function": {"name": "grep", "description": "Finds.", "parameters": {"type": "object", "properties": {}}}}
    session = user.session("s", model="gpt-4o", system="You are terse.", tools=[tool])
    session.add({"role": "user", "content": "hello"})
    user.session("s", system="You are kind.")
    session.switch_model("gpt-4.1", system="You are exact.", tools=[])
    versions = session.versions
    assert [(one.number, one.value) for one in versions.system] == [(1, "You are terse."), (2, "You are kind."), (3, "You are exact.")]
    assert [(one.number, one.value) for one in versions.tools] == [(1, [tool])]
    assert [one.epoch for one in versions.system] == [0, 1, 2]
    assert versions.system[0].since <= versions.system[2].since
    session.switch_model("gpt-4o", system=versions.system[0], tools=versions.tools[0])
    assert (session.system, list(session.tools)) == ("You are terse.", [tool])
    with pytest.raises(memspan.InvalidInput, match="pass it as tools="):
        session.switch_model("gpt-4.1", system=versions.tools[0])
    with pytest.raises(memspan.InvalidInput, match="pass it as system="):
        session.switch_model("gpt-4.1", tools=versions.system[0])
    assert session.model == "gpt-4o"
    assert user.session("plain", model="gpt-4o").versions.system == ()


def rounds_of(session: memspan.Session, count: int, words: int) -> list[dict[str, Any]]:
    session.add({"role": "user", "content": "find out why build-7 failed"})
    for n in range(count):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "cat", "arguments": "{}"}}
        session.add({"role": "assistant", "tool_calls": [call]})
        session.add({"role": "tool", "tool_call_id": f"c{n}", "content": f"round-{n}: " + "a line of a log " * words})
    messages: list[dict[str, Any]] = session.assemble().to_openai()["messages"]
    return messages


@pytest.mark.parametrize("keep", [1, 3])
def test_the_newest_rounds_stay(user: memspan.Scope, keep: int) -> None:
    """Results of a third of the room: the rule alone would leave one or two rounds."""
    results = memspan.ToolResults(max_tokens=2_000, keep_rounds=keep)
    fewest = 9
    for count in range(4, 12):
        budget = memspan.Budget(max_input_tokens=3_000, cut_step=0.9, tool_results=results)
        session = user.session(f"s-{count}", model="gpt-4o", budget=budget, recalls=memspan.Recalls(memories=0, messages=0))
        shown = sum(message["role"] == "tool" for message in rounds_of(session, count, 150))
        assert session.assemble().total_tokens <= 3_000
        fewest = min(fewest, shown)
    assert fewest == keep


def call_with(session: memspan.Session, text: str) -> str:
    session.add({"role": "user", "content": "run the tests"})
    session.add({"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "run", "arguments": "{}"}}]})
    session.add({"role": "tool", "tool_call_id": "c", "content": text})
    content: str = session.assemble().to_openai()["messages"][-1]["content"]
    return content


LOG = "collected 9000 tests\n" + "test_a passed quickly on host-7\n" * 2_000 + "FAILED test_pay: port 8443 refused\n"


def summarises(told: Any) -> Callable[..., Any]:
    def answer(text: str, *, max_tokens: int) -> Any:
        assert text == LOG
        assert max_tokens == 300
        if isinstance(told, Exception):
            raise told
        return told

    return answer


def test_a_long_result_is_summarised_by_its_caller(tmp_path: Path) -> None:
    events: list[memspan.Event] = []
    with memspan.open(tmp_path / "s.memspan", on_event=events.append) as engine:
        user, answers = (
            engine.user("u"),
            ["Of 9000 tests test_pay failed: port 8443 refused.", "It failed on port 9443.", RuntimeError("no"), "", 7, "word " * 2_000],
        )
        shown, rule = list[str](), memspan.ToolResults()
        for n, told in enumerate(answers):
            rule = memspan.ToolResults(max_tokens=300, summarise=summarises(told))
            session = user.session(f"s-{n}", model="gpt-4o", budget=memspan.Budget(tool_results=rule))
            shown.append(call_with(session, LOG))
            assert session.messages[2].text == LOG, "the result is stored whole"
            assert memspan.count_tokens(shown[-1]) <= 300
        assert shown[0].startswith("Of 9000 tests test_pay failed: port 8443 refused.\n[... a summary of ")
        assert 'stored as "result-2"' in shown[0]
        assert all(text.startswith("collected 9000 tests") for text in shown[1:]), "what is wrong is not shown"
        assert [event.kind for event in events] == ["summarise"] * 4
        assert "9443" in events[0].reason
        assert "port 9443" not in shown[1]
        short = user.session("short", model="gpt-4o", budget=memspan.Budget(tool_results=rule))
        assert call_with(short, "fine") == "fine", "what is short is not asked for"
    with pytest.raises(memspan.InvalidInput, match="summarise must be"):
        memspan.ToolResults(summarise="yes")  # type: ignore[arg-type]


def test_summaries_of_earlier_sessions_are_searched(user: memspan.Scope) -> None:
    for name, subject in (("alpha", "payments"), ("beta", "invoices")):
        session = user.session(name, model="gpt-4o")
        session.add_many([{"role": "user", "content": f"We go with Postgres {n} for the {subject} table t{n}."} for n in range(10, 18)])
        session.compact(keep_exchanges=1)
    user.session("gamma", model="gpt-4o").add({"role": "user", "content": "The payments table is never shown."})
    assert [one.session_id for one in user.summaries()] == ["beta", "alpha"]
    found = user.summaries("which Postgres has the payments table t12?")
    assert found[0].session_id == "alpha"
    assert found[0].lines[0].text == "We go with Postgres 12 for the payments table t12."
    assert all(one.session_id != "gamma" for one in found), "it has no summary"
    user.session("alpha").redact(2)
    assert all(
        "payments table t12" not in line.text for one in user.summaries("which Postgres has the payments table t12?") for line in one.lines
    )
    assert user.summaries(limit=1)[0].session_id == "beta"
    user.session("beta").delete()
    assert [one.session_id for one in user.summaries()] == ["alpha"]
    assert user.summaries("zebra") == ()
