"""Collections: what is added, found and cited, what replaces what, folders with everything that can be wrong with them."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.testing import FakeClock, FakeEmbedder, temporary_engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HANDBOOK = """# Handbook

Welcome.

## Deploys

We deploy on weekdays, never on a Friday. Überraschungen gibt es genug.

## Ports

| service | port |
|---|---|
| payments-api | 8443 |
| metrics | 9100 |
"""


@pytest.fixture
def engine() -> Iterator[memspan.Engine]:
    with temporary_engine(clock=FakeClock()) as engine:
        yield engine


@pytest.fixture
def docs(engine: memspan.Engine) -> memspan.Collection:
    return engine.shared("acme").collection("handbook")


def sound(engine: memspan.Engine) -> None:
    assert engine.check().findings == ()


def test_a_hit_cites_its_place(engine: memspan.Engine, docs: memspan.Collection) -> None:
    done = docs.add("handbook.md", HANDBOOK, version="3", metadata={"team": "core"}, source="wiki", chunk_tokens=32)
    assert (done.action, done.document.format, done.document.characters) == ("added", "markdown", len(HANDBOOK))
    assert done.document.size_bytes == len(HANDBOOK.encode())
    found = docs.search("which port does payments-api listen on?")
    hit = found[0]
    assert (hit.document.id, hit.document.version, hit.document.source, hit.document.metadata) == (
        "handbook.md",
        "3",
        "wiki",
        {"team": "core"},
    )
    assert hit.heading == ("Handbook", "Ports")
    assert "8443" in hit.text
    assert 0 < hit.score <= 1
    assert hit.tokens > 5
    for one in docs.search("weekdays deploy Überraschungen port", 10):
        assert docs.get("handbook.md").text[one.start : one.end] == one.text
        why = one.explain()
        assert why.score == pytest.approx(one.score)
        assert all(f"({term.frequency} of the collection's chunks)" in str(why) for term in why.terms)
    assert found.mode == "hybrid"
    assert not found.degraded
    assert found.confidence > 0.3
    assert isinstance(found[:1], memspan.Answer)
    assert found == docs.search("which port does payments-api listen on?")
    sound(engine)


def test_a_version_is_idempotent_and_another_replaces(engine: memspan.Engine, docs: memspan.Collection) -> None:
    assert docs.add("a", "walrus", version="1").action == "added"
    assert docs.add("a", "walrus", version="1").action == "duplicate"
    with pytest.raises(memspan.IdConflict):
        docs.add("a", "ocelot", version="1")
    assert docs.add("a", "ocelot", version="2").action == "replaced"
    assert [hit.text for hit in docs.search("walrus ocelot")] == ["ocelot"]
    assert docs.add("b", "quokka").action == "added"
    assert docs.add("b", "quokka").action == "duplicate"
    assert docs.add("b", "wombat").action == "replaced"
    assert [one.id for one in docs.documents()] == ["a", "b"]
    assert len(docs) == 2
    assert "a" in docs
    assert "c" not in docs
    assert docs.delete("a")
    assert not docs.delete("a")
    assert len(docs) == 1
    with pytest.raises(memspan.NotFound):
        docs.get("a")
    assert docs.delete_all() == 1
    assert len(docs) == 0
    assert docs
    assert list(docs.scope.collections()) == []
    assert docs.add("a", "again").action == "added"
    sound(engine)


def test_filters(docs: memspan.Collection) -> None:
    for number in range(60):
        docs.add(f"doc-{number}", f"the walrus number {number}", metadata={"even": number % 2 == 0, "n": number})
    assert {hit.document.metadata["even"] for hit in docs.search("walrus", 40, where={"even": False})} == {False}
    assert {hit.document.metadata["n"] for hit in docs.search("walrus", where={"n": [7, 8.0]})} == {7, 8}
    assert {hit.document.id for hit in docs.search("walrus", documents=["doc-3", "doc-9", "no such"])} == {"doc-3", "doc-9"}
    assert len(docs.search("walrus", documents="doc-3")) == 1
    assert len(docs.search("walrus", documents=[])) == 0
    assert docs.search("walrus number 5", min_score=1.0)[0].document.id == "doc-5"
    assert len(docs.search("", 5)) == len(docs.search("walrus", 0)) == 0


def test_what_expires_is_not_found() -> None:
    clock = FakeClock()
    with temporary_engine(clock=clock) as engine:
        docs = engine.user("u").collection("notes")
        docs.add("a", "walrus", ttl_seconds=60)
        docs.add("b", "walrus")
        assert docs.expire("b", 120).expires_at is not None
        clock.advance(seconds=61)
        assert [hit.document.id for hit in docs.search("walrus")] == ["b"]
        assert [one.id for one in docs.documents()] == ["b"]
        with pytest.raises(memspan.NotFound):
            docs.expire("a", None)
        assert engine.maintain().expired == 1
        assert len(docs) == 1
        docs.expire("b", None)
        clock.advance(seconds=1000)
        assert engine.maintain().expired == 0
        assert engine.metrics()["documents"] == 1
        sound(engine)


def test_a_document_that_is_added_again_is_kept_longer() -> None:
    clock = FakeClock()
    with temporary_engine(clock=clock) as engine:
        docs = engine.user("u").collection("notes")
        ends, actions = [], []
        for ttl in (60, 600, 6):
            again = docs.add("a", "walrus", ttl_seconds=ttl)
            assert again.document.expires_at is not None
            ends.append(again.document.expires_at)
            actions.append(again.action)
        assert actions[1:] == ["duplicate", "duplicate"]
        assert ends[1] == ends[2] == next(iter(docs.documents())).expires_at
        assert ends[1] - ends[0] >= timedelta(seconds=540)
        assert docs.add("a", "walrus").document.expires_at is None
        sound(engine)


def test_notes_of_a_day(engine: memspan.Engine) -> None:
    clock_day = "2025-01-01.md"
    notes = engine.user("u").collection("notes")
    threads = [threading.Thread(target=notes.note, args=(f"note number {n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = notes.get(clock_day).text
    assert text.startswith("# 2025-01-01\n")
    assert all(f"\n\nnote number {n}\n" in f"\n{text}" for n in range(8))
    assert notes.note("later", date(2025, 3, 4)).document.id == "2025-03-04.md"
    with pytest.raises(memspan.InvalidInput):
        notes.note("  ")
    sound(engine)


def test_collections_are_isolated(engine: memspan.Engine) -> None:
    scopes = [engine.user("u"), engine.user("v"), engine.shared("u"), engine.user("u", tenant="t")]
    for number, scope in enumerate(scopes):
        scope.collection("notes").add("a", f"secret {number}")
        scope.collection("other").add("a", f"other {number}")
    for number, scope in enumerate(scopes):
        assert [hit.text for hit in scope.collection("notes").search("secret other", 10)] == [f"secret {number}"]
        assert [one.name for one in scope.collections()] == ["notes", "other"]
    assert list(engine.scopes()) == scopes
    assert [scope.type for scope in engine.users()] == ["user"] * 3
    assert engine.metrics()["collections"] == 8
    assert engine.user("u").collection("notes") == scopes[0].collection("notes") != scopes[1].collection("notes")
    sound(engine)


def write(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def test_a_folder_is_brought_up_to_date(engine: memspan.Engine, docs: memspan.Collection, tmp_path: Path) -> None:
    root = tmp_path / "repository"
    files: dict[str, str | bytes] = {"a.md": HANDBOOK, "src/b.py": "def walrus():\n    return 1\n", "src/c.py": "x = 1\n", ".git/d": "no"}
    write(root, files)
    docs.add("by-hand", "stays")
    seen: list[tuple[int, int, str]] = []
    report = docs.add_path(root, progress=lambda *one: seen.append(one))
    assert report == memspan.collection.PathReport(("a.md", "src/b.py", "src/c.py"), (), (), 0, ())
    assert seen == [(1, 3, "a.md"), (2, 3, "src/b.py"), (3, 3, "src/c.py")]
    assert docs.search("walrus")[0].document.id == "src/b.py"
    (root / "src" / "b.py").write_text("def ocelot():\n    return 1\n")
    (root / "src" / "c.py").unlink()
    report = docs.add_path(root)
    assert report == memspan.collection.PathReport((), ("src/b.py",), ("src/c.py",), 1, ())
    assert "walrus" not in docs.search("walrus ocelot")[0].text
    assert docs.add_path(root, "*.md").removed == (), "what another pattern leaves out is still there"
    assert [one.id for one in docs.documents()] == ["by-hand", "a.md", "src/b.py"]
    write(tmp_path / "other", {"a.md": "other", "by-hand": "other"})
    assert [one.reason for one in docs.add_path(tmp_path / "other").skipped] == ["other source", "other source"]
    assert docs.add_path(tmp_path / "other", prefix="other/").added == ("other/a.md", "other/by-hand")
    assert docs.add_path(tmp_path / "other", "a.*", prefix="again/") == memspan.collection.PathReport(("again/a.md",), (), (), 0, ())
    assert docs.delete("again/a.md")
    assert docs.add_path(tmp_path / "other" / "a.md", prefix="one/").added == ("one/a.md",)
    with pytest.raises(memspan.NotFound):
        docs.add_path(tmp_path / "nothing")
    sound(engine)


def test_nothing_in_a_folder_is_fatal(engine: memspan.Engine, docs: memspan.Collection, tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(
        root,
        {"good.md": "fine", "binary.bin": b"\0\1\2", "latin.txt": "Wörter".encode("latin-1"), "bom.txt": "﻿with a mark", "empty.txt": ""},
    )
    write(root, {"closed/inside.txt": "hidden walrus"})
    (root / "sub").mkdir()
    (root / "sub" / "loop").symlink_to(root, target_is_directory=True)
    (root / "self").symlink_to(root / "self")
    (root / "broken").symlink_to(root / "nothing")
    (root / "etc").symlink_to("/etc", target_is_directory=True)
    (root / "inner.md").symlink_to(root / "good.md")
    os.mkfifo(root / "pipe")
    with (root / "huge.txt").open("wb") as huge:
        huge.truncate(100 << 20)
    (root / os.fsdecode(b"bad-\xff.txt")).write_text("x")
    docs.add_path(root)
    (root / "closed").chmod(0)
    (root / "empty.txt").chmod(0)
    report = docs.add_path(root)
    (root / "closed").chmod(0o755)
    reasons = {(Path(one.path).name, one.reason) for one in report.skipped}
    expected = {("binary.bin", "binary"), ("latin.txt", "not UTF-8"), ("loop", "loop"), ("self", "no file"), ("broken", "no file")}
    expected |= {("etc", "outside"), ("pipe", "no file"), ("huge.txt", "too large"), ("bad-�.txt", "name")}
    assert reasons >= expected
    if os.geteuid() != 0:
        assert reasons == expected | {("closed", "unreadable"), ("empty.txt", "unreadable")}
    assert report.removed == ()
    assert docs.get("bom.txt").text == "with a mark"
    assert docs.search("hidden walrus")[0].document.id == "closed/inside.txt"
    sound(engine)


def test_bad_input(docs: memspan.Collection) -> None:
    calls: list[Any] = [
        lambda: docs.add("", "x"),
        lambda: docs.add("a" * 2000, "x"),
        lambda: docs.add("a", "\ud800"),
        lambda: docs.add("a", b"bytes"),  # type: ignore[arg-type]
        lambda: docs.add("a", "x", format="pdf"),  # type: ignore[arg-type]
        lambda: docs.add("a", "x", ttl_seconds=0),
        lambda: docs.add("a", "x", ttl_seconds=float("nan")),
        lambda: docs.add("a", "x", chunk_tokens=1),
        lambda: docs.add("a", "x", metadata={"k": "v" * 70_000}),
        lambda: docs.add("a", "x" * (64 << 20) + "x"),
        lambda: docs.search("x", -1),
        lambda: docs.search("x", min_score=2),
        lambda: docs.search(None),  # type: ignore[arg-type]
        lambda: docs.add_many("abc"),  # type: ignore[arg-type]
        lambda: docs.add_many([{"id": "a"}]),
        lambda: docs.add_many([7]),  # type: ignore[list-item]
        lambda: docs.scope.collection(""),
        lambda: docs.get(7),  # type: ignore[arg-type]
    ]
    for call in calls:
        with pytest.raises(memspan.InvalidInput):
            call()
    assert len(docs) == 0
    assert docs.add("empty", "").document.chunks == 0
    assert len(docs.search("many words and more " * 50_000)) == 0
    docs.add("a", "many words")
    assert len(docs.search("many words and more " * 50_000)) == 1


def test_a_row_that_fails_is_named(docs: memspan.Collection) -> None:
    with pytest.raises(memspan.InvalidInput) as caught:
        docs.add_many([("a", "x"), memspan.NewDocument("b", "y"), {"id": "", "text": "z"}])
    assert caught.value.fields["row"] == 2
    assert len(docs) == 2
    with pytest.raises(memspan.InvalidInput, match="and this is a tuple of 1"):
        docs.add_many([("y",)])  # type: ignore[list-item]


def test_an_embedder_of_the_callers_that_fails(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    events: list[memspan.Event] = []
    broken = [True]

    class Sometimes:
        name, dimensions = embedder.name, embedder.dimensions

        def embed(self, texts: Sequence[str], /) -> Any:
            if broken[0]:
                raise RuntimeError("no")
            return embedder.embed(texts)

    with memspan.open(tmp_path / "store", embedder=Sometimes(), on_event=events.append) as engine:
        docs = engine.user("u").collection("notes")
        docs.add("a", "# One\n\nwalrus\n\n# Two\n\nocelot", chunk_tokens=16)
        assert docs.search("walrus").degraded
        broken[0] = False
        report = engine.maintain()
        assert (report.vectors_made, report.vectors_pending) == (docs.chunks, 0)
        docs.add("b", "quokka")
        found = docs.search("quokka")
        assert found[0].document.id == "b"
        assert not found.degraded
        assert found.mode == "hybrid"
        assert [event.kind for event in events] == ["pending", "degraded"]
        sound(engine)


def test_awaitable_twins(engine: memspan.Engine) -> None:
    async def run() -> None:
        docs = engine.user("u").collection("notes")
        assert (await docs.aadd("a", "walrus")).action == "added"
        assert (await docs.asearch("walrus"))[0].document.id == "a"
        assert [one.id async for one in docs.adocuments()] == ["a"]
        assert (await docs.aget("a")).text == "walrus"
        assert await docs.adelete("a")
        assert await docs.adelete_all() == 0

    asyncio.run(run())


def test_two_stores_are_alike(tmp_path: Path) -> None:
    answers = []
    for name in ("one", "two"):
        with memspan.open(tmp_path / name, clock=FakeClock()) as engine:
            docs = engine.user("u").collection("notes")
            for number in range(40):
                docs.add(f"d{number % 15}", HANDBOOK * (1 + number % 3) + f"walrus {number}", chunk_tokens=40)
            answers.append([(hit, hit.explain()) for hit in docs.search("walrus 7 on which port?", 20)])
    assert answers[0] == answers[1]


def test_a_note_keeps_what_is_known_of_it(user: memspan.Scope) -> None:
    notes, day = user.collection("notes"), date(2026, 1, 1)
    notes.add("2026-01-01.md", "# 2026-01-01\n\nhi\n", metadata={"k": 1}, ttl_seconds=1_000, source="diary")
    document = notes.note("more", day).document
    assert (document.metadata, document.source, document.expires_at is not None) == ({"k": 1}, "diary", True)
    assert notes.note("later", datetime(2026, 1, 1, 3, tzinfo=UTC)).document.id == "2026-01-01.md"
    with pytest.raises(memspan.InvalidInput, match=r"day= is a datetime\.date"):
        notes.note("x", "2026-01-01")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_another_pattern_removes_nothing_that_is_there(user: memspan.Scope, tmp_path: Path) -> None:
    docs = user.collection("docs")
    for name in ("a.md", "b.py"):
        (tmp_path / name).write_text("something")
    assert docs.add_path(tmp_path, "*.md").added == ("a.md",)
    report = docs.add_path(tmp_path, "*.py")
    assert (report.added, report.removed) == (("b.py",), ())
    (tmp_path / "a.md").unlink()
    assert docs.add_path(tmp_path, "*.py").removed == ("a.md",)


def test_a_pipe_is_never_opened(user: memspan.Scope, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert [one.reason for one in user.collection("docs").add_path(tmp_path / "pipe").skipped] == ["no file"]


@pytest.mark.parametrize("text", ["# h\n" * (8 << 20), "word " * (8 << 20)], ids=["headings", "one line"])
def test_a_long_document_is_interrupted_while_it_is_cut(user: memspan.Scope, text: str) -> None:
    """Ctrl-C was answered only after all blocks of a document were counted: seconds for 64 MiB.

    Cutting ends within a moment, and nothing of the document is stored."""
    notes = user.collection("notes")
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(0.5, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        notes.add("long.md", text)
    waited = time.monotonic() - sent[0]
    timer.join()
    assert waited < 1.0
    assert len(notes) == 0


def test_one_file_of_a_folder_that_was_added(user: memspan.Scope, tmp_path: Path) -> None:
    """A file watcher could not update one file: it was "other source: give prefix=". It is the folder's document, new ones too.

    What vanished meanwhile is the folder's to remove. A file that the folder leaves out, or with another prefix, stands by itself."""
    folder = tmp_path / "notes"
    (folder / "below").mkdir(parents=True)
    for name in ("a.md", "below/b.md"):
        (folder / name).write_text(f"# {name}")
    docs = user.collection("notes")
    docs.add_path(folder, prefix="n/")
    (folder / "below/b.md").write_text("# Tea at four")
    (folder / "below/c.md").write_text("# Scones")
    (folder / "a.md").unlink()
    assert docs.add_path(folder / "below/b.md", prefix="n/").replaced == ("n/below/b.md",)
    (folder / "link.md").symlink_to(folder / "below/b.md")
    assert docs.add_path(folder / "link.md", prefix="n/").added == ("n/link.md",)
    assert docs.add_path(folder / "below/c.md", prefix="n/").added == ("n/below/c.md",)
    assert docs.add_path(folder / "below/c.md", prefix="n/").unchanged == 1
    assert {one.source for one in docs.documents()} == {str(folder)}
    assert docs.add_path(folder, prefix="n/").removed == ("n/a.md",)
    (folder / ".hidden.md").write_text("# Mine")
    assert docs.add_path(folder / ".hidden.md", prefix="n/").added == ("n/.hidden.md",)
    assert docs.add_path(folder / "below/b.md", prefix="other/").added == ("other/b.md",)
    assert docs.add_path(folder / "below/b.md", prefix="other/").unchanged == 1
    report = docs.add_path(folder, prefix="n/")
    assert (report.removed, report.added, report.unchanged, report.skipped) == ((), (), 3, ())


def test_an_empty_path_is_no_folder(user: memspan.Scope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was the working directory, whatever lay there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.md").write_text("mine")
    docs = user.collection("notes")
    with pytest.raises(memspan.InvalidInput, match="working directory"):
        docs.add_path("")
    assert len(docs) == 0
    assert docs.add_path(".").added == ("mine.md",)


@pytest.mark.parametrize("copies", [12, 60])
def test_copies_of_a_text_push_no_other_one_out(engine: memspan.Engine, docs: memspan.Collection, copies: int) -> None:
    """Ten documents of one text had all places of an answer."""
    docs.add("answer.md", "payments-api listens on port 7000")
    for number in range(copies):
        docs.add(f"asked-{number}.md", "which port does payments-api use?")
    question = "which port does payments-api use?"
    for hits in (docs.search(question), engine.shared("acme").search(question, sources=("collections",))):
        assert len(hits) == 10, "copies have the places that stay free"
        assert [hit.text for hit in hits][-1] == "payments-api listens on port 7000"
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for number in range(20):
        docs.add(f"other-{number}.md", f"payments-api uses port {number}")
    texts = [hit.text for hit in docs.search(question)]
    assert len(texts) == len(set(texts)) == 10
