"""A whole store as a file, and back: the second file has the bytes of the first, and the same questions have the same answers."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import subprocess
import sys
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan import cli
from memspan.testing import FakeClock, FakeEmbedder, anthropic_response

if TYPE_CHECKING:
    from pathlib import Path

QUESTIONS = ("which port does payments-api use?", "what does she like to drink?", "who is allergic?", "secret word")


def fill(engine: memspan.Engine, clock: FakeClock) -> None:
    """Something of everything that a store can hold."""
    user, acme = engine.user("u-42"), engine.shared("acme", tenant="t")
    moved = user.remember("payments-api listens on port 8443 in prod-eu-west-1", metadata={"n": [1, 2.5, None, b"\xff", {"$x": 1}]}).memory
    user.revise(moved.id, "payments-api listens on port 9443", reason="moved")
    for taste in ("tea", "coffee"):
        clock.advance(hours=1)
        user.remember(f"Prefers {taste}", "preference", slot="drink", importance=0.9, occurred_at=clock())
    user.slots.declare("allergy", multi=True)
    user.remember_many([{"text": f"Is allergic to {food}", "kind": "constraint", "slot": "allergy"} for food in ("nuts", "milk")])
    gone = user.remember("The secret word is xyzzyplugh", id="gone", ttl_seconds=3_600).memory
    user.forget(gone.id, reason="asked to")
    user.remember("Lives for an hour", ttl_seconds=3_600)
    user.relate("payments-api", "owned by", "Ada")
    user.remember("x " * 4_000 + "\u2028 \0 end", kind="episodic")
    acme.remember("The deploy freeze begins on Friday", "constraint")
    docs = acme.collection("handbook")
    docs.add("ports.md", "# Ports\n\npayments-api listens on port 9443.\n\n" + "filler text. " * 900, metadata={"team": "pay"}, version="3")
    docs.add("old.md", "xyzzyplugh was here")
    docs.delete("old.md")
    session = user.session("s-1", model="claude-sonnet-4-5", system="You are terse.", reads=[acme], collections=[docs], metadata={"a": 1})
    session.add({"role": "user", "content": "which port does payments-api use?"}, id="m-1")
    session.add_response(anthropic_response("9443", input_tokens=80), prompt=session.assemble())
    session.add({"role": "user", "content": "the password is xyzzyplugh " * 200})
    session.redact(2)
    session.note("speaks German")
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgo" * 900 + "AA=="}}
    user.session("s-2", model="gpt-4o", tools=[], budget=memspan.Budget(compact=memspan.Compact())).add(
        {"role": "user", "content": [image]}
    )
    session.task("review").set("plan", {"steps": [1, 2]})
    for number in range(12):
        session.add({"role": "user", "content": f"We decided to use option {number} for ticket-{number}."})
        session.add({"role": "assistant", "content": f"Noted: ticket-{number} gets option {number}."})
    session.compact()
    session.fork("s-3")
    engine.user("passing").remember("Nobody needs this: xyzzyplugh")
    engine.user("passing").erase(reason="asked to")
    user.recall(QUESTIONS[0])


def answers(engine: memspan.Engine) -> list[Any]:
    user = engine.user("u-42")
    found = [
        (hit.source, hit.text, hit.score)
        for question in QUESTIONS
        for answer in (user.recall(question, relevant_only=False), user.search(question, also=[engine.shared("acme", tenant="t")]))
        for hit in answer
    ]
    session = user.session("s-1")
    memories = [memory.to_dict() for memory in user.memories(states="all")]
    turns = [(turn.number, turn.usage, turn.prompt and turn.prompt.text) for turn in session.turns]
    prompt = session.assemble("which port?")
    kept = (session.metadata, session.notes, session.task("review").get("plan"), session.summary, session.budget)
    return [found, memories, [message.text for message in session.messages], turns, prompt.prefix_hash, prompt.text, kept, session.usage()]


def reopen(path: Path, clock: FakeClock, **options: Any) -> memspan.Engine:
    return memspan.open(path, clock=clock, **options)


def test_what_is_loaded_is_what_was_exported(tmp_path: Path) -> None:
    clock = FakeClock()
    with reopen(tmp_path / "a", clock) as engine:
        fill(engine, clock)
        values = engine.export(tmp_path / "a.jsonl")
        before = answers(engine)
    text = (tmp_path / "a.jsonl").read_bytes()
    assert stat.S_IMODE((tmp_path / "a.jsonl").stat().st_mode) == 0o600
    assert b"xyzzyplugh" not in text
    lines = [json.loads(line) for line in text.decode().split("\n")[:-1]]
    assert (lines[0]["memspan"], lines[-1]["end"]["lines"], len(lines)) == ("export", values, values + 2)
    assert [line["value"]["text"] for line in lines if line.get("table") == "Memory" and line["value"].get("slot") == "drink"] == [
        "Prefers coffee"
    ]
    assert len({line.get("table") for line in lines}) > 35
    with reopen(tmp_path / "b", clock) as engine:
        assert engine.load(tmp_path / "a.jsonl") == values
        assert engine.check().sound
        assert answers(engine) == before
    with reopen(tmp_path / "b", clock) as engine:
        engine.export(tmp_path / "b.jsonl")
        assert engine.user("u-42").remember("Life goes on").action == "added"
        assert engine.check().sound
    # What `answers` recalled was counted meanwhile, and nothing else is different.
    assert [line for line in (tmp_path / "b.jsonl").read_bytes().split(b"\n") if b'"Access"' not in line and b'"end"' not in line] == [
        line for line in text.split(b"\n") if b'"Access"' not in line and b'"end"' not in line
    ]


def test_the_second_export_has_equal_bytes(tmp_path: Path) -> None:
    clock = FakeClock()
    with reopen(tmp_path / "a", clock) as engine:
        fill(engine, clock)
        engine.maintain(compact=True)
        engine.export(tmp_path / "a.jsonl")
    for name in ("b", "c"):
        with reopen(tmp_path / name, clock) as engine:
            engine.load(tmp_path / "a.jsonl")
            engine.export(tmp_path / f"{name}.jsonl")
        assert (tmp_path / f"{name}.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()


def test_the_vectors_of_a_caller_come_along_and_are_not_given_up(tmp_path: Path) -> None:
    embedder = FakeEmbedder(48)
    with memspan.open(tmp_path / "a", embedder=embedder) as engine:
        engine.user("u").remember_many(["payments-api listens on port 8443", "Prefers tea"])
        before = [(hit.text, hit.score) for hit in engine.user("u").recall("port of payments-api", relevant_only=False)]
        engine.export(tmp_path / "a.jsonl")
    with memspan.open(tmp_path / "b") as engine, pytest.raises(memspan.InvalidInput, match="open the empty store with that embedder"):
        engine.load(tmp_path / "a.jsonl")
    with memspan.open(tmp_path / "c", embedder=embedder) as engine:
        engine.load(tmp_path / "a.jsonl")
        assert [(hit.text, hit.score) for hit in engine.user("u").recall("port of payments-api", relevant_only=False)] == before
        assert engine.metrics()["to_embed"] == 0


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    with memspan.open(tmp_path / "a") as engine:
        engine.user("u").remember_many([f"Fact {number} of many, about subject-{number}" for number in range(30)])
        engine.export(tmp_path / "a.jsonl")
    return tmp_path / "a.jsonl"


def refused(tmp_path: Path, text: bytes, says: str, line: int | None = None) -> None:
    (tmp_path / "bad.jsonl").write_bytes(text)
    with memspan.open(tmp_path / "new") as engine:
        with pytest.raises(memspan.Error, match=says) as caught:
            engine.load(tmp_path / "bad.jsonl")
        assert line is None or caught.value.fields["line"] == line
        assert list(engine.scopes()) == []
        assert engine.check().sound
        assert [one.name for one in (tmp_path / "new").iterdir() if one.name.startswith("gen-")] == ["gen-1"]


def test_the_export_of_one_user_is_told_from_that_of_a_store(tmp_path: Path) -> None:
    """It said: give a file that `memspan export` wrote. That command wrote it."""
    with memspan.open(tmp_path / "of-one") as engine:
        engine.user("u-42").remember("Prefers tea")
        engine.user("u-42").export(tmp_path / "one.jsonl", everything=True)
    refused(tmp_path, (tmp_path / "one.jsonl").read_bytes(), r"line 1: it is the export of one user .* docs/import.md", 1)


def test_what_is_no_export_is_refused_with_the_line(exported: Path, tmp_path: Path) -> None:
    lines = exported.read_bytes().split(b"\n")
    joined = b"\n".join
    refused(tmp_path, b"", "line 1: it is not an export", 1)
    refused(tmp_path, b"\x7fELF" + os.urandom(100_000), "line 1", 1)
    refused(tmp_path, b'{"role": "user"}\n', "line 1: it is not an export", 1)
    refused(tmp_path, joined(lines[:-2]) + b"\n", "the file ends before its last line", len(lines) - 1)
    refused(tmp_path, exported.read_bytes()[:-3], "the line has no end", len(lines) - 1)
    refused(tmp_path, joined([*lines[:4], b"{not json", *lines[5:]]), "line 5: it is not a JSON object", 5)
    refused(tmp_path, joined([*lines[:4], *lines[5:]]), "vouches for")
    refused(tmp_path, joined([*lines[:4], lines[5], lines[4], *lines[6:]]), "line 6: it stands behind", 6)
    refused(tmp_path, exported.read_bytes() + b"{}\n", "something stands behind the last line")
    refused(tmp_path, exported.read_bytes().replace(b"Fact 7 of", b"Fact 8 of"), "checksum")
    refused(tmp_path, exported.read_bytes().replace(b'"format":', b'"format":9', 1), "newer memspan: upgrade")


def test_values_that_contradict_each_other_are_refused_by_the_doctor(exported: Path, tmp_path: Path) -> None:
    lines = [line for line in exported.read_bytes().split(b"\n")[:-2] if b'"Memory"' not in line or b'"number":7,' not in line]
    body = b"\n".join(lines) + b"\n"
    end = json.dumps({"end": {"lines": len(lines) - 1, "crc32": f"{zlib.crc32(body):08x}"}}, separators=(",", ":")).encode()
    refused(tmp_path, body + end + b"\n", "contradict each other")


def test_the_order_of_messages_is_counted_where_an_older_version_did_not(tmp_path: Path) -> None:
    """Until maintenance a question for a time took the order of adding for the order of saying."""
    clock, exported, old = FakeClock(), tmp_path / "new.jsonl", tmp_path / "old.jsonl"
    with reopen(tmp_path / "new", clock) as engine:
        for name in ("u-1", "u-2"):
            session = engine.user(name).session("s", model="gpt-4o")
            for days in (3, 9, 1):
                session.add({"role": "user", "content": f"said {days} days ago"}, created_at=clock() - timedelta(days=days))
        engine.export(exported)
    lines = exported.read_bytes().split(b"\n")[:-2]
    known = [line for line in lines if b'"SessionsHead"' in line]
    assert len(known) == 2
    for line in known:
        value = json.loads(line)
        assert value["value"]["most_behind"] == 6 * 86_400_000_000
        value["value"] |= {"newest_said_at": None, "most_behind": None}
        lines[lines.index(line)] = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    body = b"\n".join(lines) + b"\n"
    end = json.dumps({"end": {"lines": len(lines) - 1, "crc32": f"{zlib.crc32(body):08x}"}}, separators=(",", ":")).encode()
    old.write_bytes(body + end + b"\n")
    for key in (None, bytes(range(32))):
        with reopen(tmp_path / f"loaded-{key is None}", clock, key=key) as engine:
            engine.load(old)
            assert engine.check().sound
            engine.export(tmp_path / "again.jsonl")
        again = (tmp_path / "again.jsonl").read_bytes().split(b"\n")
        assert [line for line in again if b'"SessionsHead"' in line] == known


def test_every_cut_and_many_flips_are_refused(exported: Path, tmp_path: Path) -> None:
    text = exported.read_bytes()
    with memspan.open(tmp_path / "new") as engine:
        for at in range(0, len(text), max(1, len(text) // 60)):
            for changed in (text[:at], text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :]):
                (tmp_path / "bad.jsonl").write_bytes(changed)
                with pytest.raises(memspan.Error):
                    engine.load(tmp_path / "bad.jsonl")
        assert engine.load(exported) > 0
        assert engine.check().sound


def test_only_an_empty_store_is_filled(exported: Path, tmp_path: Path) -> None:
    with memspan.open(tmp_path / "full") as engine:
        engine.user("u").remember("mine")
        with pytest.raises(memspan.InvalidInput, match="the store must be empty"):
            engine.load(exported)
        assert [memory.text for memory in engine.user("u").memories()] == ["mine"]
    with memspan.open(tmp_path / "full", read_only=True) as engine, pytest.raises(memspan.ReadOnly):
        engine.load(exported)
    with memspan.open(tmp_path / "new") as engine:
        engine.load(exported)
        with pytest.raises(memspan.InvalidInput, match="the store must be empty"):
            engine.load(exported)
    with memspan.open(tmp_path / "other") as engine, pytest.raises(memspan.Error, match=r"missing\.jsonl.*No such file"):
        engine.load(tmp_path / "missing.jsonl")


def test_other_handles_of_the_store_see_what_was_loaded(exported: Path, tmp_path: Path) -> None:
    with memspan.open(tmp_path / "new") as engine, memspan.open(tmp_path / "new") as other:
        user = other.user("u")
        assert not user.recall("subject-3")
        engine.load(exported)
        assert user.recall("subject-3")[0].text == "Fact 3 of many, about subject-3"
        assert user.remember("Fact 3 of many, about subject-3").action == "duplicate"
        assert other.check().sound


def test_an_encrypted_store_is_exported_plain_and_loaded_encrypted(exported: Path, tmp_path: Path) -> None:
    key = bytes(range(32))
    with memspan.open(tmp_path / "sealed", key=key) as engine:
        engine.load(exported)
        assert engine.user("u").recall("subject-3")[0].text == "Fact 3 of many, about subject-3"
        assert engine.check().sound
    assert b"subject-3" not in b"".join(file.read_bytes() for file in (tmp_path / "sealed").rglob("data.mdb"))
    with pytest.raises(memspan.WrongKey):
        memspan.open(tmp_path / "sealed")
    with memspan.open(tmp_path / "sealed", key=key) as engine:
        assert engine.user("u").remember("Fact 3 of many, about subject-3").action == "duplicate"
        engine.export(tmp_path / "again.jsonl")
    with memspan.open(tmp_path / "plain") as engine:
        engine.load(tmp_path / "again.jsonl")
        assert engine.check().sound


def test_an_export_replaces_a_file_whole_and_leaves_nothing_beside_it(exported: Path, tmp_path: Path) -> None:
    before = exported.read_bytes()
    with memspan.open(tmp_path / "a", read_only=True) as engine:
        engine.export(exported)
        assert exported.read_bytes() == before
        with pytest.raises(memspan.Error):
            engine.export(tmp_path / "no-folder" / "x.jsonl")
        with pytest.raises(memspan.InvalidInput, match="names none"):
            engine.export("/")
    assert not list(tmp_path.glob(".*.part"))


@pytest.mark.parametrize("whole", [True, False])
def test_no_export_takes_the_place_of_the_stores_own_files(tmp_path: Path, whole: bool) -> None:
    """The export of a scope replaced the data file, and all was lost."""
    with memspan.open(tmp_path / "a") as engine:
        user = engine.user("u")
        user.remember("Prefers tea")
        export = engine.export if whole else user.export
        for path in (engine.path / "gen-1" / "data.mdb", engine.path / "new.jsonl"):
            with pytest.raises(memspan.InvalidInput, match="must lie outside of the store"):
                export(path)
        for wrong in ("file:///tmp/x.jsonl", "x\0y", b"x.jsonl"):
            with pytest.raises(memspan.InvalidInput, match="of a file on this machine"):
                export(wrong)  # type: ignore[arg-type]
        assert [memory.text for memory in user.memories()] == ["Prefers tea"]
        assert engine.check().sound


@pytest.mark.parametrize("whole", [True, False])
def test_an_export_replaces_nothing_but_regular_files(tmp_path: Path, whole: bool) -> None:
    (tmp_path / "real").write_text("what it names")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "lost").symlink_to("nothing")
    os.mkfifo(tmp_path / "pipe")
    with memspan.open(tmp_path / "a") as engine:
        export = engine.export if whole else engine.user("u").export
        for name in ("link", "lost", "pipe"):
            before = (tmp_path / name).lstat()
            with pytest.raises(memspan.InvalidInput, match="regular file or of nothing"):
                export(tmp_path / name)
            assert (tmp_path / name).lstat().st_ino == before.st_ino
    assert (tmp_path / "real").read_text() == "what it names"


@pytest.mark.parametrize("whole", [True, False])
def test_several_exports_to_one_path_do_not_meet(tmp_path: Path, whole: bool) -> None:
    """They wrote one file beside it, and the second one failed."""
    with memspan.open(tmp_path / "a", durability="relaxed") as engine:
        user = engine.user("u")
        user.remember_many([f"Fact {number} of subject-{number}" for number in range(300)])
        export = engine.export if whole else user.export
        with ThreadPoolExecutor(4) as pool:
            counts = set(pool.map(lambda _: export(tmp_path / "all.jsonl"), range(16)))
        assert len(counts) == 1
    assert not list(tmp_path.glob(".*.part"))


def test_an_export_removes_what_dead_processes_left_beside_it(tmp_path: Path) -> None:
    """A container gives every process the same id, and each day's file has another name: what was left stayed for ever."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = [
        tmp_path / ".memspan-0123456789abcdef.part",
        tmp_path / f".all.jsonl.0.{os.getpid()}.part",  # of versions before 0.18.0
        tmp_path / f".all.jsonl.999.{dead.pid}.part",
    ]
    others = [tmp_path / f".all.jsonl.0.{os.getppid()}.part", tmp_path / ".memspan-mine.part", tmp_path / ".all.jsonl.part"]
    with memspan.open(tmp_path / "a") as engine:
        for export in (engine.export, engine.user("u").export):
            for path in (*left, *others):
                path.write_text("what somebody asked to forget")
            export(tmp_path / "all.jsonl")
            assert [path for path in left if path.exists()] == []
            assert all(path.exists() for path in others)


def test_an_export_leaves_a_file_alone_that_another_writes(tmp_path: Path) -> None:
    written = tmp_path / ".memspan-fedcba9876543210.part"
    with memspan.open(tmp_path / "a") as engine, written.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        for export in (engine.export, engine.user("u").export):
            export(tmp_path / "all.jsonl")
            assert written.exists()


@pytest.mark.parametrize("whole", [True, False])
def test_a_file_is_locked_while_an_export_writes_it(tmp_path: Path, whole: bool) -> None:
    script = """
import sys, memspan
with memspan.open(sys.argv[1]) as engine:
    export = engine.export if sys.argv[3] == "True" else engine.user("u").export
    while True:
        export(sys.argv[2])
"""
    with memspan.open(tmp_path / "a", durability="relaxed") as engine:
        engine.user("u").remember_many([f"Fact {number} of subject-{number}" for number in range(300)])
    held = 0
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "a"), str(tmp_path / "all.jsonl"), str(whole)]) as other:
        deadline = time.monotonic() + 30
        while held < 3 and time.monotonic() < deadline:
            for part in tmp_path.glob(".memspan-*.part"):
                with suppress(FileNotFoundError), part.open("rb") as file:
                    try:
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except BlockingIOError:
                        held += 1
            assert other.poll() is None
        other.kill()
    assert held >= 3


def test_exporting_goes_on_beside_writes(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "a", durability="relaxed") as engine:
        user, done = engine.user("u"), threading.Event()

        def write() -> None:
            number = 0
            while not done.is_set():
                user.remember(f"Fact {number} of subject-{number}")
                number += 1

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for turn in range(5):
                engine.export(tmp_path / f"{turn}.jsonl")
        finally:
            done.set()
            writer.join()
    for turn in range(5):
        with memspan.open(tmp_path / f"new-{turn}") as engine:
            engine.load(tmp_path / f"{turn}.jsonl")
            assert engine.check().sound


def test_the_command_exports_and_loads(exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = tmp_path / "again.jsonl"
    assert cli.main(["export", str(tmp_path / "a"), str(again)]) == 0
    assert again.read_bytes() == exported.read_bytes()
    assert cli.main(["load", str(tmp_path / "b"), str(again)]) == 0
    assert cli.main(["load", str(tmp_path / "b"), str(again)]) == 2
    assert "must be empty" in capsys.readouterr().err
    assert cli.main(["check", str(tmp_path / "b")]) == 0


def test_no_file_of_the_store_is_written_over(memspan_engine: memspan.Engine) -> None:
    memspan_engine.user("u").remember("Prefers tea")
    with pytest.raises(memspan.InvalidInput, match="lies inside of"):
        memspan_engine.export(memspan_engine.path / "gen-1" / "data.mdb")
    with pytest.raises(memspan.InvalidInput, match="lies inside of"):
        memspan_engine.backup(memspan_engine.path / "gen-2")
    assert memspan_engine.user("u").recall("tea")[0].text == "Prefers tea"


CALL = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}


def is_whole(engine: memspan.Engine, tmp_path: Path) -> bool:
    """Whether the store contradicts itself in nothing, and its export can be read back."""
    engine.export(tmp_path / "whole.jsonl")
    with memspan.open(tmp_path / "loaded") as again:
        again.load(tmp_path / "whole.jsonl")
    return engine.check().sound


def test_a_call_without_arguments_that_is_redacted_counts_no_more(memspan_engine: memspan.Engine, tmp_path: Path) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o")
    session.add({"role": "user", "content": "what time is it?"})
    call = {**CALL, "function": {"name": "now", "arguments": ""}}
    session.add({"role": "assistant", "content": None, "tool_calls": [call]})
    session.add({"role": "tool", "tool_call_id": "c1", "content": "12:00"})
    before = session.messages[1].tokens
    session.redact(1)
    assert session.messages[1].tokens <= before
    session.add({"role": "user", "content": "and now?"})
    assert '"c1"' in str(session.assemble().to_openai()["messages"]).replace("'", '"')
    assert is_whole(memspan_engine, tmp_path)


@pytest.mark.parametrize("way", ["rewind", "fork"])
def test_no_summary_stands_for_a_call_that_is_open_again(memspan_engine: memspan.Engine, tmp_path: Path, way: str) -> None:
    session = memspan_engine.user("u").session("s", model="gpt-4o")
    session.add({"role": "user", "content": "read the file"})
    session.add({"role": "assistant", "content": None, "tool_calls": [CALL]})
    session.add({"role": "user", "content": "never mind, what is 2+2?"})  # the call is closed without a result
    session.compact(keep_exchanges=0)
    if way == "rewind":
        session.rewind(2)
    else:
        session = session.fork("f", at=2)
    session.add({"role": "tool", "tool_call_id": "c1", "content": "file says: 42"})
    roles = [message["role"] for message in session.assemble().to_openai()["messages"]]
    assert roles[-2:] == ["assistant", "tool"], "a result stands behind its call"
    assert is_whole(memspan_engine, tmp_path)
