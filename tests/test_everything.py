"""`Scope.export(everything=True)`: all that the store has of a user is in the file, and a script moves it to another store."""

from __future__ import annotations

import json
import re
import stat
import tracemalloc
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.testing import FakeClock, anthropic_response, openai_response, temporary_engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOLD = ("text", "kind", "slot", "importance", "confidence", "trust", "source", "id", "occurred_at", "metadata", "expires_at")


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line, parse_constant=pytest.fail) for line in path.read_text("utf-8").splitlines()]


def of_kind(rows: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["row"] == kind]


def lived(user: memspan.Scope, clock: FakeClock) -> None:
    """A user with something of every kind."""
    user.slots.declare("Allergy", multi=True)
    user.remember("Lives in Lisbon", slot="home", occurred_at=datetime(2020, 1, 1, tzinfo=UTC))
    user.remember("Lives in Porto", slot="home", occurred_at=datetime(2024, 1, 1, tzinfo=UTC))
    user.remember_many([{"text": f"Is allergic to {food}", "kind": "constraint", "slot": "allergy"} for food in ("nuts", "milk")])
    user.remember("payments-api runs on prod-eu-west-1", id="deploy", metadata={"tags": ["a", 1], "raw": b"\xff", "nan": float("nan")})
    user.revise("deploy", "payments-api runs on prod-eu-west-2", reason="moved")
    user.remember("It rains ✓", "episodic", ttl_seconds=3600, importance=0.9, confidence=0.5, source="web")
    user.forget(user.remember("A secret of long ago").memory.id)
    user.remember("Never deploy to host-9", "constraint", trust=0, source="document")
    user.relate("ada", "owns", "payments-api")
    user.collection("handbook").add("a.md", "# Tea\n\nAt four.", version="7", metadata={"lang": "en"}, source="wiki", ttl_seconds=60)
    user.collection("handbook").add("b.md", "")
    talk = user.session("s-1", model="gpt-4o", system="Be terse.", tools=[tool()], metadata={"channel": "web"})
    asked = {"role": "user", "content": [{"type": "text", "text": "Which port?"}]}
    talk.add(asked, id="m-1", author="ann", created_at=datetime(2024, 3, 6, tzinfo=UTC))
    call = {"id": "call_1", "type": "function", "function": {"name": "port", "arguments": '{"of": "payments-api"}'}}
    reply = openai_response("", input_tokens=12)
    reply["choices"][0]["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
    talk.add_response(reply, prompt=talk.assemble())
    talk.add({"role": "tool", "tool_call_id": "call_1", "content": "8443"})
    talk.add_response(openai_response("8443."))
    talk.add({"role": "user", "content": "My PIN is 4711."}, id="m-5")
    talk.redact(4, reason="asked to")
    talk.note("Keep answers short.")
    talk.task("review").set("plan", ["read", {"then": "test"}])
    other = user.session("s-2", model="claude-sonnet-4-5")
    for number in range(9):
        other.add({"role": "user", "content": f"Build {number} runs on host-{number}."}, id=f"b-{number}", created_at=clock())
        other.add_response(anthropic_response(f"Noted, host-{number}."), created_at=clock() + timedelta(seconds=1))
    other.compact()
    other.end()
    user.session("s-3", model="gpt-4o")


def tool() -> dict[str, Any]:
    return {"type": "function", "function": {"name": "port", "description": "A port", "parameters": {"type": "object", "properties": {}}}}


@pytest.fixture
def move(repository: Path) -> Callable[[Path, memspan.Scope], None]:
    """The script of docs/import.md."""
    [script] = re.findall(
        r"```python\n(from itertools import groupby\n.*?)\n\nwith ", (repository / "docs/import.md").read_text(), re.DOTALL
    )
    names: dict[str, Any] = {"json": json, "datetime": datetime}
    exec(script, names)  # noqa: S102  our own document
    return names["move"]  # type: ignore[no-any-return]


def test_everything_that_a_scope_has_is_in_the_file(user: memspan.Scope, memspan_clock: FakeClock, tmp_path: Path) -> None:
    lived(user, memspan_clock)
    target = tmp_path / "all.jsonl"
    count = user.export(target, everything=True)
    rows = rows_of(target)
    assert (count, stat.S_IMODE(target.stat().st_mode)) == (len(rows), 0o600)
    assert list(dict.fromkeys(row["row"] for row in rows)) == [
        *["scope", "slot", "memory", "relation", "collection", "document", "session", "message", "note", "task", "call", "summary"],
    ]
    who = {"type": "user", "id": user.id, "tenant": None}
    assert rows[0] == {"row": "scope", "version": 1, "exported_at": memspan_clock().isoformat()} | who
    assert [(row["arguments"]["name"], row["arguments"]["multi"], len(row["stored"]["current"])) for row in of_kind(rows, "slot")] == [
        ("allergy", True, 2),
        ("home", False, 1),
    ]
    memories = of_kind(rows, "memory")
    assert [(row["arguments"]["text"], row["stored"]["state"], row["stored"]["revision"]) for row in memories] == [
        ("Lives in Lisbon", "superseded", 1),
        ("Lives in Porto", "current", 1),
        ("Is allergic to nuts", "current", 1),
        ("Is allergic to milk", "current", 1),
        ("payments-api runs on prod-eu-west-1", "revised", 1),
        ("payments-api runs on prod-eu-west-2", "current", 2),
        ("It rains ✓", "current", 1),
        ("Never deploy to host-9", "quarantined", 1),
    ]
    fields = {name for row in memories for name in (*row["arguments"], *row["stored"])}
    assert fields == {name for name in memspan.Memory.__match_args__ if name != "_number"} | {"ttl_seconds"}
    assert memories[6]["arguments"]["ttl_seconds"] == 3600
    assert memories[4]["arguments"]["metadata"] == {"tags": ["a", 1], "raw": "/w==", "nan": "NaN"}
    assert [(row["arguments"]["subject"], row["stored"]["memory_id"]) for row in of_kind(rows, "relation")][-1] == ("ada", None)
    documents = of_kind(rows, "document")
    assert [(row["collection"], row["arguments"]["id"], row["arguments"]["ttl_seconds"]) for row in documents] == [
        ("handbook", "a.md", 60),
        ("handbook", "b.md", None),
    ]
    assert documents[0]["arguments"]["text"] == "# Tea\n\nAt four."
    assert "4711" not in target.read_text("utf-8")
    assert "secret" not in target.read_text("utf-8")


def test_a_session_is_in_the_file_with_all_that_it_has(user: memspan.Scope, memspan_clock: FakeClock, tmp_path: Path) -> None:
    lived(user, memspan_clock)
    user.export(tmp_path / "all.jsonl", everything=True)
    rows = rows_of(tmp_path / "all.jsonl")
    first, second, third = of_kind(rows, "session")
    opened = {"session_id": "s-1", "model": "gpt-4o", "system": "Be terse.", "tools": [tool()]}
    assert first["arguments"] == opened | {"metadata": {"channel": "web"}}
    assert (first["stored"]["messages"], second["stored"]["ended"], third["stored"]["messages"]) == (5, True, 0)
    assert first["stored"]["versions"]["system"][0]["value"] == "Be terse."
    assert {"max_input_tokens": None, "order": "cache_first", "sections": {}}.items() <= first["stored"]["budget"].items()
    messages = [row for row in of_kind(rows, "message") if row["session"] == "s-1"]
    assert [(row["stored"]["index"], row["stored"]["role"], row["stored"]["redacted"]) for row in messages] == [
        *[(0, "user", False), (1, "assistant", False), (2, "tool", False), (3, "assistant", False), (4, "user", True)],
    ]
    stored = user.session("s-1").messages
    assert [row["arguments"]["message"] for row in messages] == [message.given for message in stored]
    given = messages[0]["arguments"]
    assert (given["id"], given["author"], given["created_at"], given["format"]) == ("m-1", "ann", "2024-03-06T00:00:00+00:00", "openai")
    assert messages[4]["stored"]["reason"] == "asked to"
    assert [row["arguments"]["text"] for row in of_kind(rows, "note")] == ["Keep answers short."]
    [task] = of_kind(rows, "task")
    assert (task["arguments"]["name"], task["stored"]["items"]) == ("review", {"plan": ["read", {"then": "test"}]})
    [summary] = of_kind(rows, "summary")
    assert (summary["session"], summary["stored"]["text"]) == ("s-2", user.session("s-2").summary.text)  # type: ignore[union-attr]
    calls = of_kind(rows, "call")
    assert len(calls) == 2 + 9
    first_call = calls[0]["stored"]
    assert (first_call["usage"]["input_tokens"], first_call["planned"] is not None, first_call["sent"]) == (12, True, True)
    assert (calls[1]["stored"]["planned"], calls[1]["stored"]["reply"]) == (None, 3)


def test_a_partial_reply_is_in_the_file(user: memspan.Scope, tmp_path: Path) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "2 + 2?"})
    with pytest.raises(memspan.Error), session.reply(session.assemble()) as reply:
        reply.feed(memspan.testing.openai_stream("It is 4.")[1])
    user.export(tmp_path / "all.jsonl", everything=True)
    [row] = of_kind(rows_of(tmp_path / "all.jsonl"), "partial_reply")
    assert (row["session"], row["stored"]["text"]) == ("s-1", "It ")


def test_a_user_moves_to_another_store(
    user: memspan.Scope, memspan_clock: FakeClock, tmp_path: Path, move: Callable[[Path, memspan.Scope], None]
) -> None:
    lived(user, memspan_clock)
    target = tmp_path / "all.jsonl"
    user.export(target, everything=True)
    with temporary_engine(clock=FakeClock()) as engine:
        copy = engine.user("u-42")
        move(target, copy)

        def told(scope: memspan.Scope) -> list[dict[str, Any]]:
            return [{name: getattr(memory, name) for name in TOLD} for memory in scope.memories()]

        before, after = told(user), told(copy)
        assert before[3].pop("metadata") == {"tags": ["a", 1], "raw": b"\xff", "nan": pytest.approx(float("nan"), nan_ok=True)}
        assert after[3].pop("metadata") == {"tags": ["a", 1], "raw": "/w==", "nan": "NaN"}
        assert after == before
        assert {name: copy.slots.all(name)[0].text for name in copy.slots} == {"allergy": "Is allergic to nuts", "home": "Lives in Porto"}
        for info in user.sessions():
            old, new = user.session(info.id), copy.session(info.id)
            assert (new.model, new.system, new.tools, new.metadata) == (old.model, old.system, old.tools, old.metadata)
            assert [(one.given, one.id, one.author, one.created_at, one.format, one.role, one.turn) for one in new.messages] == [
                *[
                    (one.given, one.id or f"{info.id}#{one.index}", one.author, one.created_at, one.format, one.role, one.turn)
                    for one in old.messages
                ],
            ]
            assert [text for _, text in new.notes] == [text for _, text in old.notes]
        assert [document.id for document in copy.collection("handbook").documents()] == ["a.md", "b.md"]
        assert copy.collection("handbook").get("a.md").text == "# Tea\n\nAt four."
        assert engine.check().sound


def test_moving_again_changes_nothing(memspan_engine: memspan.Engine, tmp_path: Path, move: Callable[[Path, memspan.Scope], None]) -> None:
    user, copy = memspan_engine.user("old"), memspan_engine.user("new")
    user.remember("It rains", ttl_seconds=3600)
    user.session("s-1", model="gpt-4o").add_many([memspan.NewMessage({"role": "user", "content": f"{n}"}, id=f"m-{n}") for n in range(300)])
    user.export(tmp_path / "all.jsonl", everything=True)
    for _ in range(2):
        move(tmp_path / "all.jsonl", copy)
    assert len(copy.session("s-1").messages) == 300
    assert [memory.text for memory in copy.memories()] == ["It rains"]


def test_memory_does_not_grow_with_the_scope(user: memspan.Scope, tmp_path: Path) -> None:
    def peak(messages: int) -> int:
        session = user.session("s-1", model="gpt-4o")
        session.add_many({"role": "user", "content": f"{number} " + "word " * 200} for number in range(messages))
        tracemalloc.start()
        user.export(tmp_path / "all.jsonl", everything=True)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    small = peak(200)
    assert peak(2_000) < small + 200_000  # ten times as many are 2 MB more


def test_what_goes_meanwhile_ends_its_own_rows_alone(user: memspan.Scope, memspan_clock: FakeClock) -> None:
    from memspan._scope.everything import rows

    lived(user, memspan_clock)
    seen: list[dict[str, Any]] = []
    for row in rows(user):
        if row["row"] == "document":
            user.collection("handbook").delete("b.md")
        if row["row"] == "message" and row["stored"]["index"] == 0 and row["session"] == "s-1":
            user.session("s-1").delete()
        seen.append(row)
    assert [row["arguments"]["id"] for row in of_kind(seen, "document")] == ["a.md"]
    assert [row["arguments"]["session_id"] for row in of_kind(seen, "session")] == ["s-1", "s-2", "s-3"]
    assert len([row for row in of_kind(seen, "message") if row["session"] == "s-2"]) == 18


def test_an_empty_scope_and_a_store_that_is_only_read(store: Path, tmp_path: Path) -> None:
    with memspan.open(store) as engine:
        assert engine.shared("acme", tenant="t").export(tmp_path / "none.jsonl", everything=True) == 1
        user = engine.user("u")
        own = memspan.Model(name="my-own", context_window=8_000, max_output_tokens=1_000, encoding="o200k_base")
        user.session("s-1", model=own).add({"role": "user", "content": "hi"})
    assert rows_of(tmp_path / "none.jsonl")[0]["tenant"] == "t"
    with memspan.open(store, read_only=True) as engine:
        assert engine.user("u").export(tmp_path / "all.jsonl", everything=True) == 3
        with pytest.raises(memspan.InvalidInput, match="everything is True or False"):
            engine.user("u").export(tmp_path / "all.jsonl", everything="no")  # type: ignore[arg-type]
