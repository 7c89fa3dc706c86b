"""The `memspan` command: one line for an error, exit codes that a script can rely on, tables with and without `rich`."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import memspan
from memspan import _core, cli

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "a.memspan"
    with memspan.open(folder) as engine:
        user = engine.user("u-42")
        user.remember("payments-api listens on port 8443", kind="semantic")
        user.remember("[bold]Prefers Go[/bold] for scripting", kind="preference", slot="scripting-language")
        engine.user("u-43").remember("Prefers tea")
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = cli.main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_recall_prints_the_memory_and_why(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "recall", store, "u-42", "which port does payments-api use?", "--json")
    [best, *_] = json.loads(out)["memories"]
    assert code == 0
    assert best["text"] == "payments-api listens on port 8443"
    assert best["why"]


def test_recall_stays_within_its_user_and_its_limit(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [only] = json.loads(run(capsys, "recall", store, "u-43", "who prefers payments-api?", "--json")[1])["memories"]
    assert only["text"] == "Prefers tea"
    assert len(json.loads(run(capsys, "recall", store, "u-42", "port scripting", "--limit", 1, "--json")[1])["memories"]) == 1


def test_stats_counts_users(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "stats", store, "--json")
    assert code == 0
    assert json.loads(out)["users"] == 2


def test_a_table_shows_what_a_user_wrote_as_text_and_not_as_markup(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "recall", store, "u-42", "scripting")
    assert code == 0
    assert "[bold]" in out


def test_backup_opens_as_a_store(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "backup", store, tmp_path / "copy.memspan")[0] == 0
    with memspan.open(tmp_path / "copy.memspan", read_only=True) as engine:
        assert [memory.text for memory in engine.user("u-43").memories()] == ["Prefers tea"]


def test_maintain_keeps_everything(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "maintain", store, "--compact")[0] == 0
    with memspan.open(store, read_only=True) as engine:
        assert len(list(engine.user("u-42").memories())) == 2


def test_the_doctor_reads_every_memory_of_a_sound_store(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "check", store, "--json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert report.pop("values") > 10
    assert report == {"scopes": 2, "users": 2, "memories": 3, "damage": []}


def test_the_doctor_reports_damage(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [data] = store.glob("gen-*/data.mdb")
    content = data.read_bytes()
    assert content.count(b"listens on port 8443") >= 1
    data.write_bytes(content.replace(b"listens on port 8443", b"listens on port 8444"))
    code, out, _ = run(capsys, "check", store)
    assert code == 1
    assert "checksum" in out


@pytest.mark.parametrize("command", [["stats"], ["recall"], ["backup"], ["maintain"], ["check"], ["export"]])
def test_a_store_that_is_not_there_is_one_line_and_is_not_made(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    extra = {"recall": ["u", "q"], "backup": [str(tmp_path / "copy")], "export": [str(tmp_path / "file")]}.get(command[0], [])
    code, out, err = run(capsys, *command, tmp_path / "missing", *extra)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "no such store" in err
    assert not (tmp_path / "missing").exists()


def test_a_folder_that_is_no_store_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    code, _, err = run(capsys, "stats", tmp_path)
    assert (code, err.count("\n")) == (2, 1)


def test_without_the_extra_tables_are_plain_text(store: Path) -> None:
    code = "import sys; sys.modules['rich'] = None; from memspan.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", code, "users", str(store)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["type  id    tenant", "user  u-42", "user  u-43", ""]


def test_the_command_alone_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys)
    assert code == 0
    assert out.startswith("usage: memspan")
    assert "stats" in out


def test_json_needs_no_extra(store: Path) -> None:
    code = "import sys; sys.modules['rich'] = None; from memspan.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", code, "stats", str(store), "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["users"] == 2


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["explode"])
    assert "invalid choice" in capsys.readouterr().err


def test_the_console_script_is_installed() -> None:
    from importlib.metadata import entry_points

    [script] = entry_points(group="console_scripts", name="memspan")
    assert script.load() is cli.main


def test_a_reader_that_closes_early_is_no_error(store: Path) -> None:
    command = f"{sys.executable} -m memspan.cli stats {store} --json | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("0", "")


TALK = [
    {"role": "system", "content": "You help."},
    {"role": "user", "content": "which port does payments-api use?"},
    {"role": "assistant", "content": "8443"},
    {"role": "user", "content": "and in staging?"},
    {"role": "assistant", "content": "9443"},
]


def test_replay_plays_a_transcript_of_messages_or_of_lists_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines, lists = tmp_path / "lines.jsonl", tmp_path / "lists.jsonl"
    lines.write_text("\n".join(map(json.dumps, TALK)), encoding="utf-8")
    lists.write_text(json.dumps({"messages": TALK}), encoding="utf-8")
    code, out, _ = run(capsys, "replay", lines, "--model", "gpt-4o", "--turn", 0, "--turn", -1, "--json")
    played = json.loads(out)
    assert code == 0
    assert (played["messages"], played["prompts"], [one["turn"] for one in played["shown"]]) == (4, 2, [0, 1])
    assert played["shown"][1]["sections"][0]["name"] == "system"
    assert json.loads(run(capsys, "replay", lists, "--model", "gpt-4o", "--turn", 0, "--turn", -1, "--json")[1]) == played
    assert "before the cache boundary" in run(capsys, "replay", lines, "--model", "gpt-4o")[1]


@pytest.mark.parametrize("line", ["no json", "[1]", '{"content": "no role"}', '{"messages": 7}', ""])
def test_replay_says_which_line_is_no_message(tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(f"{line}\n", encoding="utf-8")
    code, _, err = run(capsys, "replay", file, "--model", "gpt-4o")
    assert code == 2
    assert "bad.jsonl" in err


def test_replay_says_which_line_is_not_utf_8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "latin1.jsonl"
    file.write_bytes(b'{"role": "user", "content": "a"}\n' + '{"role": "user", "content": "ü"}\n'.encode("latin-1"))
    code, _, err = run(capsys, "replay", file, "--model", "gpt-4o")
    assert code == 2
    assert "latin1.jsonl, line 2" in err
    assert "UTF-8" in err


def test_a_turn_without_its_session_is_refused(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option in (("--turn", "0"), ("--text",)):
        code, _, error = run(capsys, "show", store, "u-42", *option)
        assert code == 2
        assert "give SESSION" in error


def test_loading_a_file_that_is_not_there_leaves_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = run(capsys, "load", tmp_path / "new.memspan", tmp_path / "nothing.jsonl")
    assert code == 2
    assert "nothing.jsonl" in error
    assert not (tmp_path / "new.memspan").exists()


def test_show_lists_sessions_and_turns_and_what_a_model_saw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "a.memspan"
    with memspan.open(store) as engine:
        session = engine.user("u-42").session("s-1", "gpt-4o", system="You help.")
        session.add({"role": "user", "content": "which port?"})
        sent = session.assemble()
        session.add_response({"role": "assistant", "content": "8443"}, prompt=sent)
        session.add({"role": "user", "content": "thanks"})
        session.add_response({"role": "assistant", "content": "welcome"})
    [listed] = json.loads(run(capsys, "show", store, "u-42", "--json")[1])
    assert listed == {"session": "s-1", "model": "gpt-4o", "messages": 4, "turns": 2, "epoch": 0}
    turns = json.loads(run(capsys, "show", store, "u-42", "s-1", "--json")[1])
    assert [turn["prompt_tokens"] for turn in turns] == [sent.total_tokens, None]
    code, out, _ = run(capsys, "show", store, "u-42", "s-1", "--turn", 0, "--json")
    assert (code, json.loads(out)["prefix_hash"]) == (0, sent.prefix_hash)
    assert "stands in every prompt" in " ".join(run(capsys, "show", store, "u-42", "s-1", "--turn", 0, "--text")[1].split())
    for missing in (["s-9"], ["s-1", "--turn", "7"], ["s-1", "--turn", "-1"]):
        code, _, err = run(capsys, "show", store, "u-42", *missing)
        assert (code, err.startswith("memspan: ")) == (2, True)


def test_shared_scopes_are_named_too(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """check printed users as scopes; show and recall knew users alone, and gave an empty table for one that nobody knows."""
    with memspan.open(store) as engine:
        shared = engine.shared("handbook", tenant="acme")
        shared.remember("The port of payments-api is 8443")
        shared.session("s-1", "gpt-4o")
    assert "scopes: 3, memories: 4" in run(capsys, "check", store)[1]
    of_it = ["handbook", "--tenant", "acme", "--shared"]
    assert "8443" in run(capsys, "recall", store, *of_it, "which port?")[1]
    assert [row["session"] for row in json.loads(run(capsys, "show", store, *of_it, "--json")[1])] == ["s-1"]
    for command in (["show", store, "handbook"], ["show", store, "u-42", "--tenant", "acme"], ["recall", store, "nobody", "q"]):
        code, out, err = run(capsys, *command)
        assert (code, out) == (2, "")
        assert "memspan users" in err


def test_turns_that_are_not_there_are_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """show --turn -9 showed turn 0, replay --turn 9 nothing; a session that is not there said `name a model, session(...)`."""
    store, talk, silent = tmp_path / "a.memspan", tmp_path / "talk.jsonl", tmp_path / "silent.jsonl"
    with memspan.open(store) as engine:
        session = engine.user("u").session("s", "gpt-4o")
        for text in ("one", "two"):
            session.add({"role": "user", "content": text})
            session.add_response({"role": "assistant", "content": text}, prompt=session.assemble())
    talk.write_text("\n".join(map(json.dumps, TALK)), encoding="utf-8")
    silent.write_text(json.dumps(TALK[1]), encoding="utf-8")
    for turn, found in ((0, 0), (-2, 0), (-1, 1), (1, 1)):
        assert json.loads(run(capsys, "show", store, "u", "s", "--turn", turn, "--json")[1])["turn"] == found
        assert json.loads(run(capsys, "replay", talk, "--model", "gpt-4o", "--turn", turn, "--json")[1])["shown"][0]["turn"] == found
    for turn in (2, -3, -9, 9):
        for command in (["show", store, "u", "s"], ["replay", talk, "--model", "gpt-4o"]):
            code, out, err = run(capsys, *command, "--turn", turn)
            assert (code, out) == (2, "")
            assert "0 to 1" in err
    assert run(capsys, "replay", silent, "--model", "gpt-4o")[0] == 0
    assert run(capsys, "replay", silent, "--model", "gpt-4o", "--turn", 0)[0] == 2
    code, _, err = run(capsys, "show", store, "u", "nobody")
    assert (code, "session(" in err) == (2, False)


def test_numbers_of_a_replay_are_numbers_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They were "22 (78.6%)" and "none"."""
    talk = tmp_path / "talk.jsonl"
    talk.write_text("\n".join(map(json.dumps, TALK)), encoding="utf-8")
    played = json.loads(run(capsys, "replay", talk, "--model", "gpt-4o", "--json")[1])
    told = [played[name] for name in ("before_the_cache_boundary", "the_same_as_in_the_prompt_before", "epochs_begun_at_turns")]
    assert 0 < told[1] <= told[0] < played["prompt_tokens"]
    assert told[2] == []
    assert "%)" in run(capsys, "replay", talk, "--model", "gpt-4o")[1]


@pytest.mark.parametrize("command", ["maintain", "export", "stats", "check"])
def test_an_empty_folder_is_no_store(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """maintain and export made a store there."""
    (tmp_path / "empty").mkdir()
    code, _, err = run(capsys, command, tmp_path / "empty", *([tmp_path / "file"] if command == "export" else []))
    assert (code, "no such store" in err, list((tmp_path / "empty").iterdir())) == (2, True, [])


def test_keys_are_told_as_one_types_them(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing key said `open it with key=`, which no command has; chat had no --key-file."""
    with memspan.open(tmp_path / "secret", key=b"k" * 32) as engine:
        engine.user("u").remember("x")
    memspan.open(tmp_path / "plain").close()
    (tmp_path / "key").write_bytes(b"k" * 32)
    (tmp_path / "other").write_bytes(b"o" * 32)
    for arguments, said in (
        (["users", tmp_path / "secret"], "no key was given: give it by --key-file FILE, MEMSPAN_KEY_FILE or MEMSPAN_KEY"),
        (["users", tmp_path / "secret", "--key-file", tmp_path / "other"], "give the right one by --key-file FILE"),
        (["users", tmp_path / "plain", "--key-file", tmp_path / "key"], "not encrypted: leave out --key-file FILE"),
    ):
        code, _, err = run(capsys, *arguments)
        assert (code, said in err, "key=" in err) == (2, True, False), err
    monkeypatch.setattr("sys.stdin", io.StringIO("/memory\n/quit\n"))
    chat = [
        "chat",
        tmp_path / "secret",
        "--key-file",
        tmp_path / "key",
        "--user",
        "u",
        "--model",
        "m",
        "--base-url",
        "http://localhost:1/v1",
    ]
    code, out, err = run(capsys, *chat)
    assert (code, "mem-1" in out, err) == (0, True, "")


def test_a_backup_goes_where_nothing_is(store: Path, tmp_path: Path) -> None:
    """Into a folder with other files it was StoreCorrupt, though its docstring says InvalidInput."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    with memspan.open(store) as engine:
        for target in (tmp_path / "other", tmp_path / "other" / "file", store):
            with pytest.raises(memspan.InvalidInput, match="must not exist or be an empty folder"):
                engine.backup(target)
        with pytest.raises(memspan.InvalidInput, match="a folder above it is a file"):
            engine.backup(tmp_path / "other" / "file" / "copy")
        with pytest.raises(memspan.InvalidInput, match="must not exist or be an empty folder"):
            _core.repair(store, tmp_path / "other", None)
        assert engine.backup(tmp_path / "empty") > 0
        assert engine.backup(tmp_path / "new" / "below" / "it") > 0
        for call in (engine.export, engine.load):
            with pytest.raises(memspan.InvalidInput, match="that of a file"):
                call(None)  # type: ignore[arg-type]
        with pytest.raises(memspan.InvalidInput, match="NUL"):
            engine.backup("a\0b")


def test_an_export_to_standard_output_is_refused(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It wrote a file of that name."""
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "export", store, "-")
    assert (code, out) == (2, "")
    assert "'-' names standard output: give the name of a file" in err
    assert not (tmp_path / "-").exists()


def test_an_export_of_one_user_has_that_user_alone(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with memspan.open(store) as engine:
        engine.user("other").remember("Is somebody else")
        engine.shared("acme", tenant="t").remember("Floor 3 has the tea kitchen")
    target = tmp_path / "one.jsonl"
    code, out, _ = run(capsys, "export", store, target, "--user", "u-42", "--json")
    rows = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
    assert (code, json.loads(out)) == (0, {"file": str(target), "rows": len(rows)})
    assert (rows[0]["id"], "somebody else" in target.read_text("utf-8")) == ("u-42", False)
    code, out, _ = run(capsys, "export", store, target, "--user", "acme", "--shared", "--tenant", "t")
    assert (code, out) == (0, f"{target}: 2 rows\n")
    for wrong, says in ((["--user", "nobody"], "must have been written to"), (["--shared"], "add --user USER")):
        code, _, err = run(capsys, "export", store, target, *wrong)
        assert (code, says in err) == (2, True)


def test_what_strangers_wrote_moves_no_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory of a web page cleared the operator's screen, set the title and wrote to the clipboard."""
    evil = "note \x1b]0;owned\x07\x1b[2J\x9b1m \u202etxt"
    with memspan.open(tmp_path / "s") as engine:
        user = engine.user("v\x1b[31mred")
        user.remember(evil, source="web")
        session = user.session("s", model="gpt-4o")
        session.add({"role": "user", "content": evil})
        session.add_response({"role": "assistant", "content": evil}, prompt=session.assemble())
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")  # rich's own escapes are not looked for
    monkeypatch.setenv("COLUMNS", "300")
    commands = [("users",), ("recall", "v\x1b[31mred", "note"), ("show", "v\x1b[31mred", "s"), ("recall", "v\x1b[31mred", "note", "--json")]
    for name, *arguments in [*commands, ("show", "v\x1b[31mred", "s", "--turn", "0", "--text"), ("show", "\x1b[2J", "s")]:
        _, out, err = run(capsys, name, tmp_path / "s", *arguments)
        assert not set("\x1b\x07\x9b\u202e") & set(out + err), (name, arguments)
        assert "\\u001b" in out + err or name == "show"  # which names what it found, and escapes the prompt's text as a prompt does


def test_a_damaged_manifest_is_reported_with_the_repair_that_saves_all(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = store / "gen-1" / "manifest"
    manifest.write_bytes(manifest.read_bytes().replace(b"memspan=", b"memspXn="))
    code, out, _ = run(capsys, "check", store)
    assert code == 1
    assert "save what is intact with `memspan check STORE --repair NEW`" in out
    code, out, _ = run(capsys, "check", store, "--repair", tmp_path / "new")
    assert code == 0, out
    with memspan.open(tmp_path / "new") as engine:
        assert [memory.text for memory in engine.user("u-43").memories()] == ["Prefers tea"]


def shell(command: str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


def test_output_that_cannot_be_written_is_an_error_and_no_damage(store: Path) -> None:
    """A traceback ended these with code 1, which is that of a damaged store."""
    with memspan.open(store) as engine:
        engine.user("u-42").remember("Prefers Caf\u00e9 \u2713")
    program = f"{sys.executable} -W ignore -m memspan.cli"
    code, _, err = shell(f"{program} check {store} >&-")
    assert (code, err) == (2, "memspan: running `memspan check`: it prints to standard output, which is closed: open it\n")
    code, _, err = shell(f"{program} recall {store} u-42 Caf\u00e9 --json", PYTHONIOENCODING="ascii")
    assert (code, err.count("\n")) == (2, 1)
    assert "set PYTHONIOENCODING=utf-8" in err
    if os.path.exists("/dev/full"):  # noqa: PTH110
        code, _, err = shell(f"{program} stats {store} > /dev/full")
        assert (code, err.count("\n")) == (2, 1)


def test_a_reader_of_a_table_that_closes_early_is_no_error(store: Path) -> None:
    program = f"{sys.executable} -W ignore -m memspan.cli"
    assert shell(f"{program} stats {store} | true; echo ${{PIPESTATUS[0]}}") == (0, "0\n", "")


def test_check_takes_a_path_that_begins_with_a_dash(store: Path, tmp_path: Path) -> None:
    store.rename(tmp_path / "-S")
    (tmp_path / "key").write_text("0" * 64)
    program = f"cd {tmp_path} && {sys.executable} -W ignore -m memspan.cli"
    assert shell(f"{program} check -- -S")[0] == 0
    code, _, err = shell(f"{program} check --key-file=key -- -S")
    assert code == 2
    assert "leave out --key-file" in err


def test_a_load_that_fails_leaves_no_store_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad").write_text('{"role": "user"}\n')
    code, _, err = run(capsys, "load", tmp_path / "folder" / "new", tmp_path / "bad")
    assert (code, "it is not an export" in err) == (2, True)
    assert not list((tmp_path / "folder").iterdir())


def test_a_file_that_is_not_there_is_reported_with_what_was_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command, file, why in (
        (["load", tmp_path / "new"], tmp_path / "missing", "No such file or directory"),
        (["load", tmp_path / "new"], tmp_path, "Is a directory"),
        (["replay", "--model", "gpt-4o"], tmp_path / "missing", "No such file or directory"),
    ):
        code, _, err = run(capsys, *command, file)
        assert code == 2
        assert err.startswith(f"memspan: running `memspan {command[0]}` at {file}: the system refused ({why}): check the path")
