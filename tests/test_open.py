"""Opening: what is made, what is refused, what two engines of a process share."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

import memspan
from memspan.testing import FakeClock


def test_a_store_is_made_and_opened_again(store: Path) -> None:
    with memspan.open(store) as engine:
        assert engine.path == store
        engine.user("u").remember("Prefers tea")
    with memspan.open(str(store), read_only=True) as engine:
        assert [memory.text for memory in engine.user("u").memories()] == ["Prefers tea"]


def test_a_relative_path_and_a_link_open_the_same_store(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(store.parent)
    link = store.parent / "link"
    with memspan.open(store.name) as engine:
        link.symlink_to(store)
        with memspan.open(link) as other:
            other.user("u").remember("Prefers tea")
            assert engine.path == other.path == store
            assert len(list(engine.user("u").memories())) == 1


def test_read_only_makes_nothing_and_writes_nothing(store: Path) -> None:
    with pytest.raises(memspan.NotFound, match="there is none"):
        memspan.open(store, read_only=True)
    assert not store.exists()
    memspan.open(store).close()
    with memspan.open(store, read_only=True) as engine:
        user = engine.user("u")
        for write in (lambda: user.remember("x"), lambda: user.slots.declare("s", multi=True), lambda: engine.maintain(compact=True)):
            with pytest.raises(memspan.ReadOnly):
                write()
        assert len(user.recall("x")) == 0


READ_ONLY_MOUNT = """
import sys, memspan
try:
    with memspan.open(sys.argv[1], read_only=True) as engine:
        print(len(list(engine.user("u").memories())), flush=True)
        sys.stdin.readline()
        print(len(list(engine.user("u").memories())), engine.check().sound, flush=True)
except memspan.Error as error:
    print(type(error).__name__, error, flush=True)
"""


def on_a_read_only_mount(store: Path, mounted: Path) -> subprocess.Popen[str]:
    """A process that reads the store by another mount of its folder, which is read-only, as a container with a volume `:ro` has it."""
    mount = f'mount --bind "{store}" "{mounted}" && mount -o remount,ro,bind "{mounted}" && exec "$@"'
    command = ["unshare", "-m", "sh", "-c", mount, "sh", sys.executable, "-c", READ_ONLY_MOUNT, str(mounted)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def can_mount() -> bool:
    tried = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"]
    return bool(shutil.which("unshare")) and subprocess.run(tried, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="this user may not mount a file system")
def test_nobody_writes_under_a_reader_on_a_read_only_mount(store: Path, tmp_path: Path) -> None:
    """Such a reader has no lock that LMDB knows. Writers wrote over the pages that it read, and it died of that."""
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    with memspan.open(store) as engine:
        user = engine.user("u")
        user.remember("Prefers tea")
        said = on_a_read_only_mount(store, mounted).communicate(timeout=60)[0]
        assert said.startswith("StoreNotShareable opening the store")
        assert "read a backup" in said
        user.remember("Lives in Lisbon")
    with on_a_read_only_mount(store, mounted) as reader, on_a_read_only_mount(store, mounted) as other:
        for process in (reader, other):
            assert process.stdout is not None
            assert process.stdout.readline() == "2\n"
        with memspan.open(store, busy_timeout_seconds=1) as engine:
            with pytest.raises(memspan.StoreBusy, match="on a mount that is read-only"):
                engine.user("u").remember("Has a dog")
            assert len(list(engine.user("u").memories())) == 2
        for process in (reader, other):
            assert process.communicate("\n", timeout=60)[0] == "2 True\n"
    with memspan.open(store) as engine:
        assert engine.user("u").remember("Has a dog").action == "added"
        assert engine.check().sound


def test_two_engines_of_a_process_share_a_store_and_close_apart(store: Path) -> None:
    first, second = memspan.open(store), memspan.open(store)
    first.user("u").remember("Prefers tea")
    first.close()
    first.close()
    assert len(second.user("u").recall("tea")) == 1
    with pytest.raises(memspan.Closed, match="open it again"):
        first.user("u").recall("tea")
    second.close()
    assert first.closed
    assert "closed" in repr(first)


@pytest.mark.parametrize(
    "use",
    [
        lambda _, user: user.remember("x"),
        lambda _, user: user.remember_many(["x"]),
        lambda _, user: user.recall("x"),
        lambda _, user: user.get("mem-1"),
        lambda _, user: user.history("mem-1"),
        lambda _, user: list(user.memories()),
        lambda _, user: user.slots["x"],
        lambda _, user: list(user.slots),
        lambda _, user: user.forget("mem-1"),
        lambda _, user: user.revise("mem-1", "y"),
        lambda _, user: user.forget_stale(),
        lambda _, user: user.export("x.jsonl"),
        lambda engine, _: list(engine.users()),
        lambda engine, user: engine.remember_many([{"scope": user, "text": "x"}]),
        lambda engine, _: engine.backup("copy"),
        lambda engine, _: engine.maintain(),
        lambda engine, _: engine.metrics(),
    ],
)
def test_every_call_after_close_is_a_closed_error(use: object, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(store.parent)
    engine = memspan.open(store)
    user = engine.user("u")
    engine.close()
    with pytest.raises(memspan.Closed):
        use(engine, user)  # type: ignore[operator]
    assert not list(store.parent.glob("*.part"))


async def listens(event: memspan.Event) -> None:
    """It was taken, and never ran."""


class Listens:
    """The same."""

    async def __call__(self, event: memspan.Event) -> None:
        del event


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"durability": "half"}, "durability"),
        ({"durability": 1}, "durability"),
        ({"busy_timeout_seconds": -1}, "busy_timeout_seconds"),
        ({"busy_timeout_seconds": float("nan")}, "busy_timeout_seconds"),
        ({"busy_timeout_seconds": "soon"}, "busy_timeout_seconds"),
        ({"clock": 5}, "clock"),
        ({"embedder": object()}, "embedder"),
        ({"on_event": 5}, "on_event"),
        ({"on_event": listens}, "on_event is a function, and no coroutine"),
        ({"on_event": partial(listens)}, "on_event is a function, and no coroutine"),
        ({"on_event": Listens()}, "on_event is a function, and no coroutine"),
        ({"graph": 5}, "graph must be a memspan.GraphOptions, and it is a int"),
    ],
)
def test_options_that_cannot_be(options: dict[str, object], says: str, store: Path) -> None:
    with pytest.raises(memspan.InvalidInput, match=says):
        memspan.open(store, **options)  # type: ignore[arg-type]
    assert not store.exists()


def test_an_unknown_option_is_pythons_own_error(store: Path) -> None:
    with pytest.raises(TypeError, match="colour"):
        memspan.open(store, colour="red")  # type: ignore[call-arg]


@pytest.mark.parametrize("path", ["", 5, None, b"bytes", "a\0b", "postgresql://somewhere/db"])
def test_paths_that_cannot_be(path: object) -> None:
    with pytest.raises(memspan.InvalidInput, match="folder on this machine"):
        memspan.open(path)  # type: ignore[arg-type]


def test_a_path_of_bytes_that_are_no_utf8_works(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.memspan"))
    with memspan.open(path) as engine:
        engine.user("u").remember("x")
        assert engine.path == path


def test_a_naive_clock_is_refused_and_an_aware_one_is_used(store: Path) -> None:
    with pytest.raises(memspan.InvalidInput, match="aware"):
        memspan.open(store, clock=lambda: datetime(2025, 1, 1))  # noqa: DTZ001  the point of the test
    clock = FakeClock()
    with memspan.open(store, clock=clock) as engine:
        assert engine.user("u").remember("x").memory.created_at == clock()


def test_a_clock_that_raises_is_heard_and_nothing_is_written(store: Path) -> None:
    def broken() -> datetime:
        if calls:
            raise LookupError("no time")
        calls.append(1)
        return FakeClock()()

    calls: list[int] = []
    with memspan.open(store, clock=broken) as engine:
        with pytest.raises(LookupError, match="no time"):
            engine.user("u").remember("x")
        assert engine.metrics()["memories"] == 0


def test_scopes_are_apart_by_tenant_type_and_id(memspan_engine: memspan.Engine) -> None:
    scopes = [
        memspan_engine.user("a"),
        memspan_engine.user("a", tenant="t"),
        memspan_engine.user("ta"),
        memspan_engine.shared("a"),
        memspan_engine.shared("a", tenant="t"),
    ]
    assert len(set(scopes)) == 5
    for number, scope in enumerate(scopes):
        scope.remember(f"tea number {number}")
    for number, scope in enumerate(scopes):
        assert [hit.memory.text for hit in scope.recall("tea")] == [f"tea number {number}"]
    assert [scope.type for scope in memspan_engine.scopes()] == ["user", "user", "user", "shared", "shared"]
    assert list(memspan_engine.users()) == scopes[:3]
    assert memspan_engine.user("a") == scopes[0] != memspan_engine.user("b")


def test_users_are_paged(memspan_engine: memspan.Engine) -> None:
    rows = [{"scope": memspan_engine.user(f"u-{number}"), "text": "Prefers tea"} for number in range(600)]
    memspan_engine.remember_many(rows)
    assert [user.id for user in memspan_engine.users()] == [f"u-{number}" for number in range(600)]


def test_metrics_count(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("u")
    user.remember("Prefers tea")
    user.recall("tea")
    metrics = memspan_engine.metrics()
    assert {name: metrics[name] for name in ("scopes", "memories", "vectors", "recalls", "commits", "recalls_degraded")} == {
        "scopes": 1,
        "memories": 1,
        "vectors": 0,
        "recalls": 1,
        "commits": 1,
        "recalls_degraded": 0,
    }


def test_relaxed_durability_keeps_what_a_killed_process_acknowledged(store: Path) -> None:
    code = f"""
import memspan, os, signal
engine = memspan.open({str(store)!r}, durability="relaxed")
for n in range(20):
    engine.user("u").remember(f"fact {{n}}")
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code], check=False)
    with memspan.open(store) as engine:
        assert len(list(engine.user("u").memories())) == 20


@pytest.mark.parametrize("emptied", [True, False])
def test_no_store_is_made_where_one_was_removed_that_is_open(tmp_path: Path, emptied: bool) -> None:
    """A new store was made there, and nothing worked with either of them."""
    engine = memspan.open(tmp_path / "a")
    engine.user("u").remember("Prefers tea")
    engine.user("u").recall("tea")  # noted, and stored later
    shutil.rmtree(tmp_path / "a")
    if emptied:
        (tmp_path / "a").mkdir()
    with pytest.raises(memspan.StoreCorrupt, match="removed or emptied; nothing was changed: close every engine of that path"):
        memspan.open(tmp_path / "a")
    assert not emptied or not list((tmp_path / "a").iterdir())
    engine.close()
    assert engine.closed
    with memspan.open(tmp_path / "a") as again:
        assert again.user("u").remember("Prefers coffee").action == "added"


def test_an_engine_closes_whose_store_was_replaced_by_another(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "other") as other:
        other.user("u").remember("Prefers coffee")
    engine = memspan.open(tmp_path / "a")
    engine.user("u").remember("Prefers tea")
    engine.user("u").recall("tea")
    shutil.rmtree(tmp_path / "a")
    shutil.copytree(tmp_path / "other", tmp_path / "a")
    with pytest.raises(memspan.StoreCorrupt, match="close every engine of that path in this process, and open it again"):
        engine.user("u").remember("Prefers milk")
    engine.close()
    with memspan.open(tmp_path / "a") as again:
        assert [memory.text for memory in again.user("u").memories()] == ["Prefers coffee"]


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("how", ["copied", "renamed", "filled"])
def test_a_backup_in_the_place_of_an_open_store_is_noticed(tmp_path: Path, how: str, read_only: bool) -> None:
    """Opening the path again gave the store that was replaced, and `check` found it sound."""
    store, backup = tmp_path / "a", tmp_path / "backup"
    with memspan.open(store) as engine:
        engine.user("u").remember("Prefers tea")
        engine.backup(backup)
        engine.user("u").remember("Was removed by putting the backup there")
    engine, link = memspan.open(store, read_only=read_only), tmp_path / "link"
    link.symlink_to(store)
    assert len(list(engine.user("u").memories())) == 2
    with memspan.open(link, read_only=read_only) as second:  # the same store, in place
        assert len(list(second.user("u").memories())) == 2
        assert second.check().sound
    if how == "filled":
        for entry in list(store.iterdir()):
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        shutil.copytree(backup, store, dirs_exist_ok=True)
    elif how == "renamed":
        store.rename(tmp_path / "old")
        backup.rename(store)
    else:
        shutil.rmtree(store)
        shutil.copytree(backup, store)
    took = "another store took the place of the one that this process has open there; nothing was changed: close every engine of that path"
    for path in (store, link):
        with pytest.raises(memspan.StoreCorrupt, match=took):
            memspan.open(path, read_only=read_only)
    with pytest.raises(memspan.StoreCorrupt, match=took):
        engine.check()
    engine.close()
    with memspan.open(store, read_only=read_only) as again:
        assert [memory.text for memory in again.user("u").memories()] == ["Prefers tea"]
        assert again.check().sound


def test_a_check_notices_that_its_store_was_removed(tmp_path: Path) -> None:
    """It was sound, by the files that nobody else had any more."""
    engine = memspan.open(tmp_path / "a")
    engine.user("u").remember("Prefers tea")
    (tmp_path / "a").rename(tmp_path / "aside")
    with pytest.raises(memspan.StoreCorrupt, match="was removed or emptied"):
        engine.check()
    (tmp_path / "aside").rename(tmp_path / "a")
    assert engine.check().sound, "it was put back"
    engine.close()


def test_the_same_store_moved_away_and_copied_back_is_opened(tmp_path: Path) -> None:
    store = tmp_path / "a"
    with memspan.open(store) as engine:
        engine.user("u").remember("Prefers tea")
    engine = memspan.open(store)
    engine.user("u").recall("tea")
    store.rename(tmp_path / "old")
    shutil.copytree(tmp_path / "old", store)
    with memspan.open(store) as again:
        again.user("u").remember("Prefers coffee")
    assert {memory.text for memory in engine.user("u").memories()} == {"Prefers tea", "Prefers coffee"}
    assert engine.check().sound
    engine.close()


def test_a_clock_before_1970_is_refused(tmp_path: Path) -> None:
    """Its times were stored as the first moment of 1970."""
    with pytest.raises(memspan.InvalidInput, match="the clock: a time lies between the years 1970 and 9999"):
        memspan.open(tmp_path / "a", clock=lambda: datetime(1969, 6, 1, tzinfo=UTC))
    with memspan.open(tmp_path / "b", clock=lambda: datetime(1970, 1, 1, tzinfo=UTC)) as engine:
        old = datetime(1969, 6, 1, tzinfo=UTC)
        assert engine.user("u").remember("Saw the moon", occurred_at=old).memory.occurred_at == old
