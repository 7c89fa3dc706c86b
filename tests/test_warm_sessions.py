"""What a process keeps of a session it has read: a prompt is the same bytes as in a process that has read nothing, whoever wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.testing import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SCRIPT = """
import json, sys, memspan
from memspan.testing import FakeClock
with memspan.open(sys.argv[1], clock=FakeClock()) as engine:
    user = engine.user("u")
    session = user.session("s-1")
    exec(sys.argv[2])
    prompt = session.assemble(max_input_tokens=3_000)
    found = [(hit.text, hit.score) for hit in user.search_transcripts("Which port does the service use?", limit=20)]
    print(json.dumps([prompt.to_openai(), str(prompt.explain()), found]))
"""
WRITES = {
    "add": 'session.add({"role": "user", "content": "Which port does service 7 use?"})',
    "add_response": 'session.add_response({"role": "assistant", "content": "Port 8447."}, prompt=session.assemble())',
    "add_many": 'session.add_many([{"role": role, "content": "a " * 900} for role in ("user", "assistant") * 4])',
    "rewind": "session.rewind(len(session.messages) - 3)",
    "redact": "session.redact(len(session.messages) - 2)",
    "switch_model": 'session.switch_model("claude-sonnet-4-5")',
    "remember": 'user.remember("The port of service 7 is 9001", slot="port")',
    "forget": '[user.forget(hit.memory.id) for hit in user.recall("service 7")]',
    "note": 'session.note("service 7 moves on Friday")',
    "compact": "session.compact(max_tokens=400)",
}


def ask(store: Path, code: str = "") -> Any:
    """What another process, which has read nothing before, answers after this write."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", SCRIPT, str(store), code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture
def warm(store: Path) -> Iterator[Callable[[str], Any]]:
    """A process that has the session open: it writes, and answers."""
    with memspan.open(store, clock=FakeClock()) as engine:
        user = engine.user("u")
        user.remember("The port of service 7 is 8447", slot="port")
        session = user.session("s-1", model="gpt-4o", system="You help.")
        for number in range(24):
            session.add({"role": "user", "content": f"Which port does service {number} use, and who asks?"})
            session.add_response(
                {"role": "assistant", "content": f"Service {number} uses port {8440 + number}."}, prompt=session.assemble()
            )

        def answer(code: str = "") -> Any:
            exec(code, {"session": session, "user": user})  # noqa: S102  our own lines
            prompt = session.assemble(max_input_tokens=3_000)
            found = [(hit.text, hit.score) for hit in user.search_transcripts("Which port does the service use?", limit=20)]
            return json.loads(json.dumps([prompt.to_openai(), str(prompt.explain()), found]))

        yield answer


@pytest.mark.parametrize("write", sorted(WRITES))
def test_a_warm_session_answers_as_a_cold_one(write: str, warm: Callable[[str], Any], store: Path) -> None:
    before = warm("")
    assert before == ask(store), "nothing was written"
    assert warm(WRITES[write]) == ask(store), "this process wrote"
    elsewhere = ask(store, WRITES[write])
    assert warm("") == elsewhere, "another process wrote"
    assert warm(WRITES["add"]) == ask(store), "and the session went on"


@pytest.mark.parametrize("reopened", [False, True])
def test_a_writer_knows_which_turns_show_what_is_forgotten(reopened: bool, tmp_path: Path) -> None:
    """Blocks stay in turns with long replies. When a text that one of them shows is forgotten, the next turn begins another epoch,
    whether the writer has read the turn in this process or not."""
    engine = memspan.open(tmp_path / "store.memspan", clock=FakeClock())
    memory = engine.user("u").remember("The port of service 7 is 8447", kind="episodic").memory
    epochs, shown = [], []
    for number in range(6):
        if reopened:
            engine.close()
            engine = memspan.open(tmp_path / "store.memspan", clock=FakeClock())
        user = engine.user("u")
        session = user.session("s-1", model="gpt-4o")
        if number == 4:
            user.forget(memory.id)
        asked = "Which port does service 7 use?" if number == 0 else f"And what is the weather on day {number}?"
        session.add({"role": "user", "content": asked})
        prompt = session.assemble()
        epochs.append(prompt.epoch)
        shown.append("8447" in json.dumps(prompt.to_openai()))
        session.add_response({"role": "assistant", "content": f"It is fine on day {number}. " * 60}, prompt=prompt)
    engine.close()
    assert shown == [True, True, True, True, False, False], "the block stays in the first turn"
    assert epochs == [0, 0, 0, 0, 1, 1], "what was forgotten ends the epoch, once"


def test_histories_of_many_lengths_do_not_mix(memspan_engine: memspan.Engine) -> None:
    """Arrays by document number are kept from one search to the next: a long history leaves nothing in them for a short one."""
    question = "Which port does the service use?"
    long, short = memspan_engine.user("long"), memspan_engine.user("short")
    talk = [{"role": "user", "content": f"Service {number} uses port {number} of machine-{number % 7}"} for number in range(700)]
    long.session("s-1", model="gpt-4o").add_many(talk)
    short.session("s-1", model="gpt-4o").add_many(talk[:90])

    def answers(scope: memspan.Scope) -> list[tuple[str, float]]:
        return [(hit.text, hit.score) for hit in scope.search_transcripts(question, limit=40)]

    first = answers(short)
    assert len(first) == 40
    assert answers(long) != first
    assert answers(short) == first
    nothing = short.search_transcripts("xyzzy", limit=40)
    assert answers(short) == first
    assert [hit.text for hit in nothing] == [hit.text for hit in short.search_transcripts("xyzzy", limit=40)]
