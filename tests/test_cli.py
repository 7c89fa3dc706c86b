"""The `memspan` command: one line for an error, exit codes that a script can rely on, tables with and without `rich`."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import memspan
from memspan import cli

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
    assert report == {"users": 2, "memories": 3, "damage": []}


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
