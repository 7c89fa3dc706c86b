"""Encrypted stores through the public face: which key opens what, what the files show, and every command with a key."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan import cli, encryption
from memspan.testing import FakeEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
FACT = "payments-api listens on port 8443"


def fill(path: Path, key: encryption.Key | None) -> Path:
    with memspan.open(path, key=key) as engine:
        user = engine.user("u-42-visible-name")
        user.remember(FACT)
        user.session("a-session-id", "gpt-4o").add({"role": "user", "content": "Featherstonehaugh is my name"})
        engine.shared("handbook").collection("rules").add("rules.md", "Deploy on Thursdays only.")
    return path


def seen(path: Path, text: str) -> int:
    return sum(file.read_bytes().count(text.encode()) for file in path.rglob("*") if file.is_file())


@pytest.mark.parametrize("text", [FACT, "payments", "u-42-visible-name", "a-session-id", "Featherstonehaugh", "Thursdays", "handbook"])
def test_files_show_nothing_without_the_key(tmp_path: Path, text: str) -> None:
    assert seen(fill(tmp_path / "plain", None), text) > 0
    encrypted = fill(tmp_path / "encrypted", KEY)
    with memspan.open(encrypted, key=KEY) as engine:
        engine.backup(tmp_path / "copy")
        engine.maintain(compact=True)
    assert seen(encrypted, text) == seen(tmp_path / "copy", text) == 0
    with memspan.open(tmp_path / "copy", key=KEY) as engine:
        assert engine.user("u-42-visible-name").recall("port 8443")[0].memory.text == FACT
        assert engine.check().sound


def test_values_that_shrink_within_a_write_are_not_told_as_damage(tmp_path: Path) -> None:
    """LMDB leaves a value its pages where a shorter one takes its place in the same transaction, and a full page of the index has two of
    them once it is encrypted. Reads took that for damage: of 8 stores whose documents were replaced 8 could not be used any more."""
    chance = random.Random(7)  # noqa: S311  the same numbers in each run
    with memspan.open(tmp_path / "s", key=KEY, durability="relaxed") as engine:
        user = engine.user("u")
        documents = user.collection("c")
        for number in range(120):
            documents.add(f"d{chance.randrange(20)}", f"doc {number} " + "lorem ipsum dolor " * chance.randrange(1, 3_000))
        assert not engine.check().findings

        def remember(worker: int) -> None:
            own = random.Random(worker)  # noqa: S311
            for number in range(25):
                words = " ".join(f"w{own.randrange(6_000)}" for _ in range(own.randrange(5, 400)))
                user.remember(f"{worker} {number} {words}")

        workers = [threading.Thread(target=remember, args=(worker,)) for worker in range(6)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert len(list(user.memories(limit=1_000))) == 150
        assert not engine.check().findings
        engine.backup(tmp_path / "copy")
    with memspan.open(tmp_path / "s", key=KEY) as engine:
        assert not engine.check().findings
        assert engine.user("u").collection("c").search("lorem ipsum")
        engine.user("u").erase()
        engine.maintain(compact=True)
        assert not engine.check().findings
    with memspan.open(tmp_path / "copy", key=KEY) as engine:
        assert not engine.check().findings


def test_a_key_may_come_from_a_function(tmp_path: Path) -> None:
    calls: list[int] = []

    def key() -> bytes:
        calls.append(1)
        return KEY

    with memspan.open(fill(tmp_path / "s", key), key=lambda: KEY) as engine:
        assert engine.encrypted
        assert [one.text for one in engine.user("u-42-visible-name").memories()] == [FACT]
    assert calls == [1], "once for each opening"

    def unreachable() -> bytes:
        raise ConnectionError("the key service is down")

    with pytest.raises(ConnectionError):
        memspan.open(tmp_path / "s", key=unreachable)


@pytest.mark.parametrize(
    ("made_with", "opened_with", "reason"), [(KEY, OTHER, "wrong"), (KEY, None, "missing"), (None, KEY, "not encrypted")]
)
@pytest.mark.parametrize("is_open", [True, False])
def test_any_other_key_is_a_typed_error(
    tmp_path: Path, made_with: bytes | None, opened_with: bytes | None, reason: str, is_open: bool
) -> None:
    path = fill(tmp_path / "s", made_with)
    opened = memspan.open(path, key=made_with)
    if not is_open:
        opened.close()
    for read_only in (True, False):
        with pytest.raises(memspan.WrongKey) as caught:
            memspan.open(path, key=opened_with, read_only=read_only)
        assert caught.value.reason == reason
    opened.close()
    with memspan.open(path, key=made_with) as engine:
        assert engine.check().sound


@pytest.mark.parametrize("key", [b"", b"short", bytes(33), "k" * 32, 7, lambda: "k" * 32, lambda: None])
def test_what_is_no_key_is_refused_before_anything_is_made(tmp_path: Path, key: Any) -> None:
    with pytest.raises(memspan.InvalidInput):
        memspan.open(tmp_path / "s", key=key)
    assert not (tmp_path / "s").exists()


def test_another_key_one_and_none(tmp_path: Path) -> None:
    path = fill(tmp_path / "s", None)
    with memspan.open(path) as engine:
        for step, key in enumerate((KEY, OTHER, None, KEY)):
            engine.rekey(key)
            assert engine.encrypted == (key is not None)
            assert engine.user("u-42-visible-name").recall("port 8443")[0].memory.text == FACT
            engine.user("later").remember(f"Was written in step {step}")
            assert engine.check().sound
    assert seen(path, "payments") == 0
    with pytest.raises(memspan.WrongKey):
        memspan.open(path, key=OTHER)
    with memspan.open(path, key=KEY) as engine:
        assert len(list(engine.user("later").memories())) == 4


def test_an_error_of_rekey_says_which_key_is_in_force(tmp_path: Path) -> None:
    path = fill(tmp_path / "s", KEY)
    with memspan.open(path, key=KEY) as engine:
        (path / "gen-2.new").write_text("in the way of the copy")
        with pytest.raises(memspan.StoreError, match="the key of the store is what it was") as raised:
            engine.rekey(OTHER)
        assert "outcome" not in raised.value.fields
    (path / "gen-2.new").unlink()
    with memspan.open(path, key=KEY) as engine:
        (path / "CURRENT.new").mkdir()
        with pytest.raises(memspan.StoreIo, match="the new key is in force") as raised:
            engine.rekey(OTHER)
        assert raised.value.outcome == "done"
        engine.user("later").remember("Was written afterwards")
    with pytest.raises(memspan.WrongKey):
        memspan.open(path, key=KEY)
    (path / "CURRENT.new").rmdir()
    with memspan.open(path, key=OTHER) as engine:
        assert [memory.text for memory in engine.user("later").memories()] == ["Was written afterwards"]
        assert engine.check().sound
    assert len(list(path.glob("gen-*"))) == 1


def interrupted_behind(path: Path, call: Callable[[], object]) -> object:
    """What `call`, a `rekey`, raises by a Ctrl-C that is heard when the new key is in force and the call is not over; or what it returns.

    It waits in that moment for a full pipe, into which it writes what should become CURRENT."""
    pipe, heard = path / "CURRENT.new", threading.Event()
    os.mkfifo(pipe)
    ours = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while os.write(ours, b"x"):
            pass

    def is_pipe(link: Path) -> bool:
        try:
            return link.readlink() == pipe
        except FileNotFoundError:
            return False

    def send() -> None:
        while sum(map(is_pipe, Path("/proc/self/fd").iterdir())) < 2:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)
        heard.wait()
        pipe.unlink()
        os.read(ours, 1 << 20)

    def hear(*_: object) -> None:
        heard.set()
        raise KeyboardInterrupt

    sender, was = threading.Thread(target=send, daemon=True), signal.signal(signal.SIGINT, hear)
    try:
        sender.start()
        return call()
    except KeyboardInterrupt as raised:
        return raised
    finally:
        sender.join()
        signal.signal(signal.SIGINT, was)
        os.close(ours)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="it is seen there who waits for a pipe")
def test_a_ctrl_c_behind_the_moment_says_that_the_new_key_is_in_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing told it from one that left the old key in force."""
    path = fill(tmp_path / "s", None)
    with memspan.open(path) as engine:
        raised = interrupted_behind(path, lambda: engine.rekey(KEY))
        assert isinstance(raised, KeyboardInterrupt)
        assert (getattr(raised, "outcome", None), raised.__cause__) == ("done", None)
        assert engine.encrypted
    (tmp_path / "old").write_bytes(KEY)
    (tmp_path / "new").write_bytes(OTHER)
    rekey = ["rekey", str(path), "--key-file", str(tmp_path / "old"), "--new-key-file", str(tmp_path / "new")]
    assert interrupted_behind(path, lambda: cli.main(rekey)) == 128 + signal.SIGINT
    assert "the new key is in force" in capsys.readouterr().err
    memspan.open(path, key=OTHER).close()


def test_a_transcript_of_long_messages_gets_a_key(tmp_path: Path) -> None:
    """Its index is made anew in transactions that take pages at the end of the file and give them back."""
    with memspan.open(tmp_path / "s", durability="relaxed") as engine:
        session = engine.user("u").session("s", "gpt-4o")
        said = [" ".join(f"w{number * 7919 % 4001}x{word * number % 997}" for word in range(1_500)) for number in range(200)]
        session.add_many([{"role": ("user", "assistant")[number % 2], "content": text} for number, text in enumerate(said)])
        found = [hit.index for hit in engine.user("u").search_transcripts(said[123][:200])]
        engine.rekey(KEY)
        assert [hit.index for hit in engine.user("u").search_transcripts(said[123][:200])] == found
        session.add({"role": "user", "content": "one more"})
        assert engine.check().sound


def test_the_rest_of_the_face_works_with_a_key(tmp_path: Path) -> None:
    path = fill(tmp_path / "s", KEY)
    with memspan.open(path, key=KEY, embedder=FakeEmbedder()) as engine:
        user = engine.user("u-42-visible-name")
        engine.reembed()
        assert user.session("a-session-id").messages[0].content == "Featherstonehaugh is my name"
        assert engine.shared("handbook").collection("rules").search("Thursdays")[0].text.startswith("Deploy")
        user.forget(next(iter(user.memories())).id)
        engine.maintain(compact=True)
        receipt = user.erase(reason="asked to")
        assert receipt.messages == 1
        assert engine.check().sound
        assert [scope.id for scope in engine.scopes()] == ["handbook"]


def run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = cli.main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_commands_take_a_key_from_a_file_or_the_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, raw, digits = fill(tmp_path / "s", KEY), tmp_path / "raw", tmp_path / "digits"
    raw.write_bytes(KEY)
    digits.write_text(KEY.hex() + "\n")
    code, _, err = run(["stats", str(path)], capsys)
    assert code == 2
    assert "no key was given" in err
    for file in (raw, digits):
        for command in (["stats"], ["users"], ["maintain", "--compact"], ["check"]):
            assert run([*command, str(path), "--json", "--key-file", str(file)], capsys)[0] == 0, command
    monkeypatch.setenv(encryption.ENVIRONMENT, KEY.hex())
    assert json.loads(run(["stats", str(path), "--json"], capsys)[1])["memories"] == 1
    assert run(["check", str(path)], capsys)[0] == 0, "its child has the environment, too"
    assert run(["check", str(path), "--repair", str(tmp_path / "saved")], capsys)[0] == 0
    assert run(["backup", str(path), str(tmp_path / "copy")], capsys)[0] == 0
    monkeypatch.delenv(encryption.ENVIRONMENT)
    monkeypatch.setenv(encryption.ENVIRONMENT_FILE, str(digits))
    for store in (path, tmp_path / "saved", tmp_path / "copy"):
        assert json.loads(run(["stats", str(store), "--json"], capsys)[1])["memories"] == 1
    code, _, err = run(["stats", str(path), "--key-file", str(tmp_path / "nothing")], capsys)
    assert code == 2
    assert "reading a key" in err


def test_rekey_is_a_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, old, new = fill(tmp_path / "s", None), tmp_path / "old", tmp_path / "new"
    old.write_bytes(KEY)
    new.write_bytes(os.urandom(32))
    assert run(["rekey", str(path), "--new-key-file", str(old)], capsys)[0] == 0
    assert seen(path, "payments") == 0
    assert run(["rekey", str(path), "--key-file", str(old), "--new-key-file", str(new)], capsys)[0] == 0
    assert run(["stats", str(path), "--key-file", str(old)], capsys)[0] == 2
    assert run(["rekey", str(path), "--key-file", str(new), "--plain"], capsys)[0] == 0
    assert run(["stats", str(path)], capsys)[0] == 0
