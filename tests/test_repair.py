"""The report of `memspan check --repair`: where the new store may stand, and which losses it tells."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

import memspan
from memspan import cli

if TYPE_CHECKING:
    from pathlib import Path

KEY = bytes(range(32))


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = cli.main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    file = tmp_path / "key"
    file.write_bytes(KEY)
    return file


def fill(store: Path, key: bytes | None = None) -> Path:
    with memspan.open(store, key=key) as engine:
        engine.user("u").remember_many([{"text": f"memory number {n}", "id": f"m{n}"} for n in range(200)])
        engine.maintain(compact=True)
    return store


def damage(capsys: pytest.CaptureFixture[str], store: Path, key: str) -> None:
    """Changes a byte of the value whose key, in hexadecimal digits, begins so."""
    [data] = store.glob("gen-*/data.mdb")
    content, start = data.read_bytes(), bytes.fromhex(key)
    at = content.find(start)
    while at >= 0:
        data.write_bytes(content[: at + 60] + bytes([content[at + 60] ^ 4]) + content[at + 61 :])
        said = run(capsys, "check", store)[1]
        if f"the value at key {key}" in said:
            return
        at = content.find(start, at + 1)
    raise AssertionError(f"no value at {key} was damaged")


def test_an_index_that_was_made_anew_is_no_loss(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It was said to be lost, with the advice to run the command that ran, and the exit code was that of a damaged store."""
    store, saved = fill(tmp_path / "s"), tmp_path / "new"
    damage(capsys, store, "0000000111")  # a block of vectors that are searched first
    code, out, err = run(capsys, "check", store, "--repair", saved)
    assert (code, err) == (0, ""), out
    first, second = out.splitlines()
    assert first.endswith("; nothing was lost")
    assert second.startswith("rebuilt from others: the value at key 0000000111")
    assert "memspan check" not in out
    with memspan.open(saved) as engine:
        assert engine.check().sound
        assert len(list(engine.user("u").memories())) == 200
        assert engine.user("u").recall("memory number 117")[0].memory.id == "m117"


def test_a_repair_counts_the_order_of_messages_that_an_older_version_did_not(tmp_path: Path, repository: Path) -> None:
    def orders(store: Path) -> list[tuple[int | None, int | None]]:
        with memspan.open(store, read_only=True) as engine:
            engine.export(tmp_path / "lines")
        lines = [json.loads(line) for line in (tmp_path / "lines").read_text().splitlines()]
        heads = [line["value"] for line in lines if line.get("table") == "SessionsHead" and line["value"]["last_document"] > 0]
        return [(head.get("newest_said_at"), head.get("most_behind")) for head in heads]

    store, saved = shutil.copytree(repository / "tests/golden/format-8/store", tmp_path / "old"), tmp_path / "new"
    before = orders(store)
    assert cli.main(["check", str(store), "--repair", str(saved)]) == 0
    after = orders(saved)
    assert len(after) == len(before) > 0
    assert all(newest is None for newest, _ in before)
    assert all(newest is not None for newest, _ in after)
    with memspan.open(saved) as engine:
        engine.maintain()
    assert orders(saved) == after


def test_a_lost_vector_is_told_with_what_makes_it_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, saved = fill(tmp_path / "s"), tmp_path / "new"
    damage(capsys, store, "0000000110")
    code, out, _ = run(capsys, "check", store, "--repair", saved)
    assert code == 1
    assert [line.rpartition("; ")[2] for line in out.splitlines()[1:]] == ["it is a vector, which `memspan maintain` makes again"]
    with memspan.open(saved, embedder=None) as engine:
        assert engine.metrics()["vectors"] == 199
    assert run(capsys, "maintain", saved)[0] == 0
    with memspan.open(saved) as engine:
        assert engine.metrics()["vectors"] == 200
        assert len(list(engine.user("u").memories())) == 200


def test_a_lost_memory_is_a_loss_whatever_else_is_made_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = fill(tmp_path / "s")
    damage(capsys, store, "0000000111")
    damage(capsys, store, "0000000120")
    code, out, _ = run(capsys, "check", store, "--repair", tmp_path / "new", "--json")
    report = json.loads(out)
    assert (code, report["checked"], report["to_look_at"]) == (1, True, [])
    assert [one[:32] for one in report["rebuilt"]] == ["the value at key 000000011100010"], report
    value, memories = report["lost"]
    assert value.startswith("the value at key 0000000120")
    assert value.endswith("is damaged: its checksum does not match its bytes")
    assert memories.startswith('memories of user "u"')


def test_an_encrypted_store_is_repaired_without_its_key(tmp_path: Path, key_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The copy was written, and then it was an error that no key was given: nothing said what was saved, and a retry was refused."""
    store, saved = fill(tmp_path / "s", KEY), tmp_path / "new"
    code, out, err = run(capsys, "check", store, "--repair", saved)
    assert (code, err) == (0, ""), out
    first, second = out.splitlines()
    assert first.startswith("saved ")
    assert second == f"not checked: the copy is encrypted, and no key was given: run `memspan check {saved} --key-file FILE`"
    assert run(capsys, "check", saved, "--key-file", key_file)[0] == 0
    code, out, _ = run(capsys, "check", store, "--repair", tmp_path / "again", "--json")
    assert (code, json.loads(out)["checked"]) == (0, False)


def test_losses_of_an_encrypted_store_are_told_without_its_key(tmp_path: Path, key_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = fill(tmp_path / "s", KEY)
    [data] = store.glob("gen-*/data.mdb")
    content = bytearray(data.read_bytes())
    for at in range(len(content) // 2, len(content), 60_000):
        content[at] ^= 4
    data.write_bytes(content)
    code, out, err = run(capsys, "check", store, "--repair", tmp_path / "new")
    assert (code, err) == (1, ""), out
    assert "\nlost: " in out
    assert "rebuilt" not in out, "nobody reads the records without the key"
    assert "nor was it mended, which needs the key: repair the store again, into another folder, with --key-file FILE" in out
    assert run(capsys, "check", store, "--repair", tmp_path / "mended", "--key-file", key_file)[0] in (0, 1)
    assert run(capsys, "check", tmp_path / "mended", "--key-file", key_file)[0] == 0


@pytest.mark.parametrize("encrypted", [True, False])
def test_a_key_that_opens_nothing_leaves_nothing_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str], encrypted: bool) -> None:
    store, wrong = fill(tmp_path / "s", KEY if encrypted else None), tmp_path / "wrong"
    wrong.write_bytes(os.urandom(32))
    code, out, err = run(capsys, "check", store, "--repair", tmp_path / "new", "--key-file", wrong)
    assert (code, out) == (2, ""), err
    assert "key" in err
    right = ["--key-file", tmp_path / "right"] if encrypted else []
    (tmp_path / "right").write_bytes(KEY)
    assert run(capsys, "check", store, "--repair", tmp_path / "new", *right)[0] == 0


@pytest.mark.parametrize("inside", ["new", "gen-99", "gen-2/new"])
def test_a_store_is_not_repaired_into_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str], inside: str) -> None:
    """The next compaction of the store removed what was saved there."""
    store = fill(tmp_path / "s")
    code, out, err = run(capsys, "check", store, "--repair", store / inside)
    assert (code, out) == (2, "")
    assert "must lie outside of the store" in err
    assert not (store / inside).exists()
    (tmp_path / "link").symlink_to(store)
    assert run(capsys, "check", store, "--repair", tmp_path / "link" / inside)[0] == 2


def test_a_folder_of_other_files_is_no_damaged_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It was damage, with the exit code of that."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").write_text("mine")
    outcomes = [run(capsys, *command, other) for command in (["check"], ["stats"], ["check", "--json"])]
    assert outcomes[0] == outcomes[1] == outcomes[2]
    code, out, err = outcomes[0]
    assert (code, out) == (2, "")
    assert err.startswith(f"memspan: opening {other}: ")
    code, out, err = run(capsys, "check", other, "--repair", tmp_path / "new")
    assert (code, out) == (2, ""), err
    assert not (tmp_path / "new").exists()
