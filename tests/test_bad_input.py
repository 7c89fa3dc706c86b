"""Input that nobody should give, and somebody will: a typed error in whole sentences, and a store as it was before."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import memspan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MIB = 1 << 20


@pytest.fixture
def kept(user: memspan.Scope) -> Iterator[memspan.Scope]:
    """A user with one memory, which the test must leave alone."""
    first = user.remember("Prefers tea", id="tea").memory
    yield user
    assert list(user.memories()) == [first]
    assert user.recall("tea")[0].memory == first


def whole_sentence(error: memspan.Error) -> bool:
    """Doing: rule and value: what to do next."""
    return str(error).count(":") >= 2 and len(str(error)) > 40


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": ""},
        {"text": "  \n\t"},
        {"text": "x" * (MIB + 1)},
        {"text": "é" * (MIB // 2 + 1)},
        {"text": "lone \ud800 surrogate"},
        {"text": None},
        {"text": b"bytes"},
        {"text": 5},
        {"kind": "opinion"},
        {"kind": ""},
        {"kind": 5},
        {"importance": 7},
        {"importance": -0.1},
        {"importance": float("nan")},
        {"importance": "high"},
        {"confidence": 1.0001},
        {"confidence": float("inf")},
        {"trust": 4},
        {"trust": -1},
        {"trust": 1.5},
        {"trust": 10**30},
        {"source": ""},
        {"source": "x" * 1_025},
        {"source": 5},
        {"slot": ""},
        {"slot": "\u200b" * 500},
        {"slot": 5},
        {"id": ""},
        {"id": "x" * 1_025},
        {"id": "\udfff"},
        {"id": 5},
        {"ttl_seconds": 0},
        {"ttl_seconds": -5},
        {"ttl_seconds": float("nan")},
        {"ttl_seconds": float("inf")},
        {"ttl_seconds": 1e18},
        {"ttl_seconds": "soon"},
        {"occurred_at": "yesterday"},
        {"occurred_at": 1_700_000_000},
        {"metadata": "x"},
        {"metadata": 5},
        {"metadata": {"k": object()}},
        {"vector": [1.0]},
    ],
    ids=lambda arguments: repr(arguments)[:40],
)
def test_arguments_of_remember(kept: memspan.Scope, arguments: dict[str, Any]) -> None:
    with pytest.raises(memspan.InvalidInput) as caught:
        kept.remember(**({"text": "Prefers coffee"} | arguments))
    assert whole_sentence(caught.value), caught.value
    with pytest.raises(memspan.InvalidInput):
        kept.remember_many([{"text": "Prefers coffee"} | arguments])


def test_what_cannot_be_written_is_named_with_its_key(kept: memspan.Scope) -> None:
    for metadata in ({"a": 1, "tags": {"b": [object()]}}, {"tags": 2**70}, {"tags": "\ud800"}):
        with pytest.raises(memspan.InvalidInput, match='reading metadata, in "tags": '):
            kept.remember("Prefers coffee", metadata=metadata)
    with pytest.raises(memspan.InvalidInput, match="reading metadata: every key"):
        kept.remember("Prefers coffee", metadata={"tags": 1, 5: 2})  # type: ignore[dict-item]
    with pytest.raises(memspan.InvalidInput, match=', in "content": JSON has no number'):
        kept.session("s-1", model="gpt-4o").add({"role": "user", "content": [{"type": "text", "text": float("nan")}]})


def test_an_unknown_option_is_pythons_own_error(kept: memspan.Scope) -> None:
    with pytest.raises(TypeError, match="colour"):
        kept.remember("x", colour="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="colour"):
        kept.recall("x", colour="red")  # type: ignore[call-arg]  # callers without types
    with pytest.raises(TypeError, match="positional"):
        kept.remember("x", "semantic", "slot")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "text", ["\0", "a\0b", "x" * MIB, "x" * 100_000, "x " * 100_000, "\u202e\u200b", "🤷", "\x1b[31m", "{}", "%s", "é" * (MIB // 2)]
)
def test_odd_texts_that_are_texts(user: memspan.Scope, text: str) -> None:
    memory = user.remember(text).memory
    assert memory.text == text
    assert user.get(memory.id).text == text
    assert user.remember(text).action == "duplicate"


@pytest.mark.parametrize(
    "name",
    [
        {"user_id": ""},
        {"user_id": "x" * 1_025},
        {"user_id": "\ud800"},
        {"user_id": None},
        {"user_id": 42},
        {"user_id": "u", "tenant": ""},
        {"user_id": "u", "tenant": "x" * 1_025},
        {"user_id": "u", "tenant": 5},
    ],
    ids=lambda name: repr(name)[:40],
)
def test_ids_of_scopes_that_cannot_be(memspan_engine: memspan.Engine, name: dict[str, Any]) -> None:
    with pytest.raises(memspan.InvalidInput) as caught:
        memspan_engine.user(**name)
    assert whole_sentence(caught.value)


@pytest.mark.parametrize("user_id", ["u" * 600, "é" * 300, "x" * 1_024, "a\0b", "../../etc/passwd", "u/1", " ", "🤷"])
def test_long_and_odd_ids_of_users_work(memspan_engine: memspan.Engine, user_id: str) -> None:
    user = memspan_engine.user(user_id)
    user.remember("Prefers tea")
    assert [scope.id for scope in memspan_engine.users()] == [user_id]
    assert len(user.recall("tea")) == 1
    assert len(memspan_engine.user(user_id + "x" if len(user_id) < 1_000 else "x").recall("tea")) == 0


@pytest.mark.parametrize("memory_id", ["", "nobody", "mem-0", "mem-99999999999", "mem--1", "mem-01", "\0", "x" * 100_000])
def test_ids_that_no_memory_has(kept: memspan.Scope, memory_id: str) -> None:
    calls: list[Callable[[], object]] = [
        lambda: kept.get(memory_id),
        lambda: kept.history(memory_id),
        lambda: kept.forget(memory_id),
        lambda: kept.revise(memory_id, "x"),
    ]
    for call in calls:
        with pytest.raises(memspan.NotFound) as caught:
            call()
        assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("memory_id", [None, 5, b"tea", "\ud800"])
def test_ids_that_are_no_texts(kept: memspan.Scope, memory_id: Any) -> None:
    for call in (kept.get, kept.history, kept.forget, lambda value: kept.revise(value, "x")):
        with pytest.raises(memspan.InvalidInput):
            call(memory_id)


# --- files


def refused(path: Path, *kinds: type[memspan.Error], **options: Any) -> None:
    with pytest.raises(kinds) as caught:
        memspan.open(path, **options)
    assert whole_sentence(caught.value), caught.value


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    refused(file, memspan.StoreCorrupt)
    refused(file / "below", memspan.StoreIo, memspan.StoreCorrupt)
    assert file.read_text() == "mine"


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    refused(tmp_path, memspan.StoreCorrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def written(store: Path) -> Path:
    with memspan.open(store) as engine:
        engine.user("u").remember_many(f"fact {number}" for number in range(300))
    [data] = store.glob("gen-*/data.mdb")
    return data


@pytest.mark.parametrize("keep", [0, 1, 4_096, 8_192, 0.5])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_data_file_cut_short_is_refused_before_it_is_mapped(store: Path, keep: float, read_only: bool) -> None:
    data = written(store)
    size = data.stat().st_size
    os.truncate(data, int(size * keep) if keep == 0.5 else int(keep))
    refused(store, memspan.StoreCorrupt, read_only=read_only)


def test_a_data_file_of_something_else(store: Path) -> None:
    data = written(store)
    data.write_bytes(os.urandom(data.stat().st_size))
    refused(store, memspan.StoreCorrupt)


def test_a_missing_data_file(store: Path) -> None:
    written(store).unlink()
    refused(store, memspan.StoreCorrupt)


def test_a_newer_format(store: Path) -> None:
    written(store)
    [manifest] = store.glob("gen-*/manifest*")
    text = manifest.read_text()
    assert "memspan=8\n" in text
    manifest.write_text(text.replace("memspan=8\n", "memspan=99\n"))
    refused(store, memspan.StoreVersion)
    manifest.write_text("")
    refused(store, memspan.StoreCorrupt)


def test_a_value_that_was_changed_is_noticed(store: Path) -> None:
    data = written(store)
    content = data.read_bytes()
    data.write_bytes(content.replace(b"fact 123", b"fact 124"))
    with memspan.open(store) as engine, pytest.raises(memspan.StoreCorrupt, match="checksum"):
        list(engine.user("u").memories())


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root may write anywhere, and cannot step down here")
def test_a_folder_that_may_not_be_written(store: Path, tmp_path: Path) -> None:
    # Reading needs a slot of LMDB's reader table, that is a right to write: without one a writer could reuse pages under the reader.
    written(store)
    (tmp_path / "closed").mkdir()
    for path in (store, *store.rglob("*"), tmp_path / "closed"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    code = f"""
import memspan
for path, options in (({str(store)!r}, {{}}), ({str(store)!r}, {{"read_only": True}}), ({str(tmp_path / "closed" / "new")!r}, {{}})):
    try:
        memspan.open(path, **options)
    except memspan.ReadOnly as error:
        print("right to write" in str(error), "a reader writes its lock" in str(error))
"""
    step_down = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder.is_relative_to(tempfile.gettempdir()) and folder != Path(tempfile.gettempdir()):
            folder.chmod(folder.stat().st_mode | 0o055)
    done = subprocess.run([*step_down, sys.executable, "-c", code], capture_output=True, text=True, check=False)
    for path in (store, *store.rglob("*"), tmp_path / "closed"):
        path.chmod(0o755)
    if "No module named" in done.stderr or "Permission denied" in done.stderr.partition("\n")[0]:
        pytest.skip("another user cannot import the package here")
    assert (done.stdout.split(), done.stderr) == (["True", "False", "True", "True", "True", "False"], "")
    with memspan.open(store) as engine:
        assert len(list(engine.user("u").memories())) == 300


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can step down")
def test_an_open_that_may_not_write_leaves_who_reads_alone(store: Path, tmp_path: Path) -> None:
    """It opened the store anew for writing, which failed, and every later call of the reader failed too."""
    written(store)
    for path in (tmp_path, *store.parents):
        path.chmod(path.stat().st_mode | 0o055)
    for path in (store, *store.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o444)
    next(store.rglob("lock.mdb")).chmod(0o666)  # a reader has a slot in it
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.seteuid(65534)
            with memspan.open(store, read_only=True) as engine:
                with pytest.raises(memspan.ReadOnly):
                    memspan.open(store)
                code = 0 if len(list(engine.user("u").memories())) == 300 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_a_full_disk_loses_nothing(store: Path) -> None:
    # A limit on file sizes is what a test can set without being root; the write that hits it fails as on a full disk.
    written(store)
    code = f"""
import memspan, resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
engine = memspan.open({str(store)!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
user, stored = engine.user("u"), 0
try:
    for number in range(1_000):
        user.remember(f"more {{number}} " + "word " * 2_000)
        stored += 1
except memspan.StoreError as error:
    print(type(error).__name__, stored)
print(len(list(user.memories())), len(user.recall("more 0")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    kind, stored, held, found = done.stdout.split()
    assert kind in {"StoreFull", "StoreIo", "OutcomeUnknown"}
    assert int(held) == 300 + int(stored)
    assert int(found) > 0
    with memspan.open(store) as engine:
        assert len(list(engine.user("u").memories())) == int(held)
        assert engine.user("u").remember("The disk has room again").action == "added"


def test_a_store_serves_a_process_that_may_open_nothing_more(store: Path) -> None:
    written(store)
    code = f"""
import memspan, os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
engine = memspan.open({str(store)!r})
user, taken = engine.user("u"), []
user.recall("more")
try:
    while True:
        taken.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
try:
    engine.maintain(compact=True)
except memspan.StoreError as error:
    print(type(error).__name__, "ulimit -n" in str(error), user.remember("more of it").action, len(user.recall("more")) > 0)
for descriptor in taken:
    os.close(descriptor)
engine.maintain(compact=True)
print(engine.check().sound)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["StoreIo", "True", "added", "True", "True"]


def test_the_process_that_runs_the_tests_was_not_limited() -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("target", ["full", "file"])
def test_a_backup_overwrites_nothing(memspan_engine: memspan.Engine, tmp_path: Path, target: str) -> None:
    if target == "full":
        (tmp_path / target).mkdir()
        (tmp_path / target / "mine").write_text("mine")
    else:
        (tmp_path / target).write_text("mine")
    with pytest.raises(memspan.Error) as caught:
        memspan_engine.backup(tmp_path / target)
    assert whole_sentence(caught.value)
    with pytest.raises(memspan.InvalidInput):
        memspan_engine.backup("")
    assert "mine" in ((tmp_path / target / "mine").read_text() if target == "full" else (tmp_path / target).read_text())


def test_a_number_that_is_too_large_is_told_so(user: memspan.Scope) -> None:
    """It was "at least 0", which it is."""
    for limit in (2**64, 2**63):
        with pytest.raises(memspan.InvalidInput, match=r"from 0 to 9223372036854775807, and it is"):
            user.recall("tea", limit=limit)
    with pytest.raises(memspan.InvalidInput, match="at least 0, and it is -1"):
        user.recall("tea", limit=-1)


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda user: memspan.Engine(user._store).user(""), "give the user's own id"),
        (lambda user: memspan.Engine(user._store).user("u", tenant=""), "give the tenant's own id, or leave it out"),
        (lambda user: user.session("", model="gpt-4o"), "give the session's own id"),
        (lambda user: user.collection(""), "give the collection's own id"),
        (lambda user: user.collection("c").add("", "text"), "give the document's own id"),
        (lambda user: user.collection("c").add("a", "text", source=""), "give the source's own id, or leave it out"),
        (lambda user: user.session("s", model="gpt-4o").task("").set("key", 1), "give at least one character"),
        (lambda user: user.session("s", model="gpt-4o").task("t").set("", 1), "give at least one character"),
        (lambda user: user.remember("Prefers tea", id=""), "give at least one character, or leave it out"),
        (lambda user: user.remember("Prefers tea", source=""), "give at least one character, or leave it out"),
        (lambda user: user.slots.declare("", multi=True), "give at least one character"),
    ],
)
def test_an_empty_name_is_not_to_be_hashed_or_shortened(user: memspan.Scope, call: Callable[[memspan.Scope], object], advice: str) -> None:
    with pytest.raises(memspan.InvalidInput) as caught:
        call(user)
    assert str(caught.value).endswith(f": {advice}")


def test_a_name_that_is_too_long_is(user: memspan.Scope) -> None:
    with pytest.raises(memspan.InvalidInput, match=r"give another id, for instance a hash of this one$"):
        memspan.Engine(user._store).user("x" * 1_025)
    with pytest.raises(memspan.InvalidInput, match=r"choose a shorter name$"):
        user.session("s", model="gpt-4o").task("x" * 1_025).set("key", 1)
    with pytest.raises(memspan.InvalidInput, match=r"shorten it, or leave it out$"):
        user.remember("Prefers tea", id="x" * 1_025)
    with pytest.raises(memspan.InvalidInput, match=r"shorten it$"):
        user.slots.declare("x" * 1_025, multi=True)


def test_a_budget_of_another_type_is_named(user: memspan.Scope) -> None:
    for given, kind in (("", "a str"), (5, "an int")):
        with pytest.raises(memspan.InvalidInput, match=f"a memspan.Budget, and it is {kind}: make one of it"):
            user.session("s", model="gpt-4o", budget=given)  # type: ignore[arg-type]


def test_an_export_to_a_folder_is_told_so(memspan_engine: memspan.Engine, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(memspan.StoreIo, match="it is a folder: give the path of a file"):
        memspan_engine.export(tmp_path / "folder")


def test_a_misspelt_part_is_told_the_types_of_both_formats(user: memspan.Scope) -> None:
    """It named those of Anthropic alone, also in a session of OpenAI."""
    session = user.session("s", model="gpt-4o")
    for kind in ("txt", "image_ur"):
        with pytest.raises(memspan.InvalidInput, match=rf'text, image_url, .* \(OpenAI\), or of text, image, .*, got "{kind}"'):
            session.add({"role": "user", "content": [{"type": kind, "text": "x"}]})
    named = memspan.NewMessage({"role": "user", "content": [{"type": "txt", "text": "x"}]}, format="openai")
    with pytest.raises(memspan.InvalidInput, match="in the openai format must be one of text, image_url"):
        session.add_many([named])
    mixed = [{"type": "tool_use", "id": "a", "name": "f", "input": {}}, {"type": "image_url", "image_url": {"url": "https://x/y.png"}}]
    with pytest.raises(memspan.InvalidInput, match=r"in the anthropic format .* or name the other format"):
        session.add({"role": "assistant", "content": mixed})


def test_another_model_is_told_how_to_open_the_session(user: memspan.Scope) -> None:
    user.session("s", model="gpt-4o").switch_model("claude-sonnet-4-5")
    with pytest.raises(memspan.ModelMismatch, match=r"switch_model\(\) .* open_session\(default_model=\)"):
        user.session("s", model="gpt-4o")
    assert user.open_session("s", default_model="gpt-4o").model == "claude-sonnet-4-5"
