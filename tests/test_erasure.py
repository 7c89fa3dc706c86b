"""What is erased is gone: from what can be asked, and from every byte of every file."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

import memspan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

SECRETS = (
    b"zqmemory",
    b"zqold",
    b"zqmessage",
    b"zqsystem",
    b"zqdocument",
    b"zqtask",
    b"zqmeta",
    b"alice@example.org",
    b"zqslot",
    b"zqcollection",
)


def fill(engine: memspan.Engine, name: str) -> memspan.Scope:
    user = engine.user(name)
    user.remember("Lives at zqold street", slot="zqslot", id="a")
    user.remember("Lives at zqmemory street", slot="zqslot", id="b", metadata={"note": "zqmeta"})
    user.remember_many([f"zqmemory number {n}" for n in range(50)])
    letters = user.collection("zqcollection")
    letters.add("letter.md", "# Letter\n\nThe zqdocument says that the port is 8443.")
    session = user.session("s-1", model="gpt-4o", system="You know zqsystem.", collections=[letters])
    session.add({"role": "user", "content": "zqmessage: what does the letter say of the port?"})
    session.add_response(memspan.testing.openai_response("8443, says zqmessage", input_tokens=90, id="r1"), prompt=session.assemble())
    session.add({"role": "user", "content": "zqmessage " * 40_000})
    session.task("t").set("plan", "zqtask")
    return user


def left(folder: Path) -> dict[bytes, int]:
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return {secret: count for secret in SECRETS if (count := sum(data.count(secret) for data in files))}


def test_an_erased_scope_is_in_no_byte_of_any_file_and_others_are_as_they_were(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "s") as engine:
        other = engine.user("bob")
        other.remember("Prefers tea", id="tea")
        user = fill(engine, "alice@example.org")
        assert left(tmp_path)
        receipt = user.erase(reason="request 4711")
        assert left(tmp_path) == {}
        assert (receipt.memories, receipt.documents, receipt.ledger_entries, receipt.messages) == (51, 1, 1, 3)
        assert receipt.revisions >= 1 and receipt.vectors >= 51 and receipt.terms > 0 and receipt.bytes_checked > 0  # noqa: PT018
        assert receipt.reason == "request 4711" and len(receipt.digest) == 64  # noqa: PT018
        assert [memory.text for memory in other.memories()] == ["Prefers tea"]
        assert list(user.memories()) == [] and list(user.sessions()) == [] and tuple(user.collections()) == ()  # noqa: PT018
        assert [scope.id for scope in engine.users()] == ["bob"]
        assert engine.check().sound
        assert user.erase().memories == 0, "nothing is left to erase"
        user.remember("A new beginning")
        assert [memory.text for memory in user.memories()] == ["A new beginning"]


@pytest.mark.parametrize("wait", [0.002, 0.01, 0.03, 0.06, 0.12])
def test_an_erasure_that_was_killed_is_completed_by_the_next_open(tmp_path: Path, wait: float) -> None:
    with memspan.open(tmp_path / "s") as engine:
        user = fill(engine, "alice@example.org")
        user.remember_many([f"zqmemory more {n} " + "words " * 30 for n in range(1500)])
        engine.user("bob").remember("Prefers tea")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        engine = memspan.open(tmp_path / "s")
        user = engine.user("alice@example.org")
        os.write(write, b"x")
        user.erase()
        os._exit(0)
    os.read(read, 1)
    import time

    time.sleep(wait)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with memspan.open(tmp_path / "s") as engine:
        scopes = {scope.id for scope in engine.users()}
        if "alice@example.org" not in scopes:
            assert left(tmp_path) == {}
        else:
            assert len(list(engine.user("alice@example.org").memories())) == 1551, "killed before it began"
        assert engine.check().sound
        assert [memory.text for memory in engine.user("bob").memories()] == ["Prefers tea"]


def test_what_is_forgotten_deleted_and_dropped_is_in_no_byte_after_a_compaction(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "s") as engine:
        user = fill(engine, "u")
        for memory in [*user.memories(), *user.history("b")]:
            if memory.state != "forgotten":
                user.forget(memory.id)
        user.session("s-1").delete()
        user.collection("zqcollection").delete_all()
        engine.maintain(compact=True)
        assert left(tmp_path) == {}, "not the name of the slot either"
        assert engine.check().sound


def test_a_passage_of_a_deleted_document_leaves_the_ledger(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "s") as engine:
        user = fill(engine, "u")
        turn = user.session("s-1").turn(0)
        assert turn.prompt is not None
        assert "zqdocument" in turn.prompt.text
        user.collection("zqcollection").delete("letter.md")
        engine.maintain(compact=True)
        assert b"zqdocument" not in left(tmp_path)
        prompt = user.session("s-1").turn(0).prompt
        assert prompt is not None
        assert "zqdocument" not in prompt.text
        assert any("letter.md" in erased for erased in prompt.erased)
        assert engine.check().sound


def test_neither_name_nor_text_of_an_erased_shared_scope_stays_with_those_who_read_it(tmp_path: Path) -> None:
    texts = (b"zqsecret", b"zqpinned", b"zqtitle", b"zqpassage", b"zqteam")

    def found() -> set[bytes]:
        files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        return {text for text in texts if any(text in data for data in files)}

    with memspan.open(tmp_path / "s") as engine:
        team = engine.shared("zqteam")
        team.remember("The zqsecret port is 8443")
        team.remember("zqpinned: never deploy on a Friday", "constraint")
        docs = team.collection("letters")
        docs.add("letter.md", "# zqtitle\n\nThe zqpassage says that the port is 9000.")
        session = engine.user("bob").session("s", model="gpt-4o", reads=[team], collections=[docs])
        session.add({"role": "user", "content": "which port is secret? what does the passage say?"})
        prompt = session.assemble()
        assert all(text.decode() in prompt.text for text in texts if text not in {b"zqtitle", b"zqteam"})
        session.add_response(memspan.testing.openai_response("8443", input_tokens=90, id="r1"), prompt=prompt)
        assert found() == set(texts)
        team.erase()
        assert found() == set()
        session.add({"role": "user", "content": "and now?"})
        assert "zqpinned" not in session.assemble().text
        assert found() == set()
        engine.shared("zqteam").remember("Another team of that name", "constraint")
        session.add({"role": "assistant", "content": "Hm."})
        session.add({"role": "user", "content": "and now?"})
        assert "Another team" not in session.assemble().text
        assert engine.check().sound


PASSAGE = b"zqpassage"


def is_left(folder: Path, text: bytes = PASSAGE) -> bool:
    return any(text in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def shows(scope: memspan.Scope, session_id: str, *collections: memspan.Collection) -> tuple[memspan.Session, memspan.Prompt]:
    """A session with a prompt that shows the passage, and no reply yet."""
    session = scope.session(session_id, model="gpt-4o", collections=list(collections))
    session.add({"role": "user", "content": "which port does the letter name?"})
    prompt = session.assemble()
    assert PASSAGE.decode() in prompt.text
    return session, prompt


def reply(session: memspan.Session, prompt: memspan.Prompt) -> None:
    session.add_response(memspan.testing.openai_response("8443", input_tokens=90), prompt=prompt)


def letters(scope: memspan.Scope, name: str = "letters") -> memspan.Collection:
    collection = scope.collection(name)
    collection.add("letter.md", "# Letter\n\nThe zqpassage of the letter names port 8443.")
    return collection


GOES = {
    "the document": lambda engine: engine.shared("team").collection("letters").delete("letter.md"),
    "its collection": lambda engine: engine.shared("team").collection("letters").delete_all(),
    "its scope": lambda engine: engine.shared("team").erase(),
}


@pytest.mark.parametrize("goes", GOES)
@pytest.mark.parametrize("order", ["stored before", "stored before a switch", "read no more", "copied", "stored afterwards"])
def test_a_passage_goes_with_its_document_whatever_a_session_reads_and_whenever_it_stores(tmp_path: Path, goes: str, order: str) -> None:
    # A passage was known by the name of its collection, and looked for among those that the session still read.
    with memspan.open(tmp_path / "s") as engine:
        docs = letters(engine.shared("team"))
        session, prompt = shows(engine.user("bob"), "s", docs)
        if order != "stored afterwards":
            reply(session, prompt)
        if order == "stored before a switch":
            session.switch_model("gpt-4o-mini")
        if order == "copied":
            session.fork("copy")
        if order != "stored before":
            engine.user("bob").session("s", collections=[])
        assert is_left(tmp_path)
        GOES[goes](engine)
        if order == "stored afterwards":
            engine.maintain(compact=True)
            reply(session, prompt)
            assert not is_left(tmp_path), "nothing is brought back, not even until the next compaction"
        engine.maintain(compact=True)
        assert not is_left(tmp_path)
        shown = session.turn(0).prompt
        assert shown is not None
        assert (shown.same_bytes, [erased for erased in shown.erased if "letter.md" in erased] != []) == (False, True)
        assert engine.check().sound


def test_another_process_brings_no_passage_back(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "s") as engine:
        letters(engine.shared("team"))
    to_child, to_parent = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        with memspan.open(tmp_path / "s") as engine:
            session, prompt = shows(engine.user("bob"), "s", engine.shared("team").collection("letters"))
            os.write(to_parent[1], b"x")
            os.read(to_child[0], 1)
            reply(session, prompt)
        os._exit(0)
    os.read(to_parent[0], 1)
    with memspan.open(tmp_path / "s") as engine:
        engine.shared("team").erase()
        os.write(to_child[1], b"x")
        assert os.waitpid(child, 0)[1] == 0
        assert not is_left(tmp_path)
        assert engine.user("bob").session("s").turn(0).prompt is not None


def test_the_passage_of_a_living_document_stays_whatever_another_collection_is_called(tmp_path: Path) -> None:
    # "a" has no document "b/letter.md", and both scopes have a collection "letters": the living one's passage went.
    with memspan.open(tmp_path / "s") as engine:
        bob, team = engine.user("bob"), engine.shared("team")
        bob.collection("a").add("other.md", "Something else.")
        session, prompt = shows(bob, "prefix", letters(bob, "a/b"), bob.collection("a"))
        reply(session, prompt)
        team.collection("letters").add("other.md", "Something else.")
        twin, prompt = shows(bob, "twin", letters(bob), team.collection("letters"))
        reply(twin, prompt)
        bob.collection("a").delete("other.md")
        team.erase()
        for shown in (session.turn(0).prompt, twin.turn(0).prompt):
            assert shown is not None
            assert (PASSAGE.decode() in shown.text, shown.same_bytes, shown.erased) == (True, True, ())


def test_a_document_of_the_same_id_does_not_keep_the_passage_of_the_one_before(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "s") as engine:
        user = engine.user("bob")
        docs = letters(user)
        reply(*shows(user, "s", docs))
        docs.add("letter.md", "# Letter\n\nAnother text.")
        engine.maintain(compact=True)
        assert is_left(tmp_path), "a revision of the document: the ledger shows what was sent"
        docs.delete("letter.md")
        docs.add("letter.md", "# Letter\n\nAnother text.")
        engine.maintain(compact=True)
        assert not is_left(tmp_path)


def rows(user: memspan.Scope, *, named: bool) -> Iterator[Mapping[str, Any]]:
    """3,000 rows, before the last thousand of which the user is erased."""
    for at in range(3_000):
        if at == 2_000:
            assert user.erase().memories == 2_000
        yield {"text": f"fact {at}", **({"scope": user} if named else {})}


@pytest.mark.parametrize("whose", ["scope", "engine"])
def test_a_call_of_many_rows_does_not_bring_an_erased_user_back(tmp_path: Path, whose: str) -> None:
    with memspan.open(tmp_path / "s", durability="relaxed", embedder=None) as engine:
        user = engine.user("alice")
        of_many: Callable[[Iterator[Mapping[str, Any]]], object] = engine.remember_many if whose == "engine" else user.remember_many
        with pytest.raises(memspan.NotFound, match="erased"):
            of_many(rows(user, named=whose == "engine"))
        assert list(engine.users()) == []
        assert user.remember("begins anew").action == "added"


def test_documents_of_a_call_do_not_bring_an_erased_user_back(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("a.md", "b.md", "c.md"):
        (folder / name).write_text(f"note {name}")
    with memspan.open(tmp_path / "s", embedder=None) as engine:
        notes = engine.user("alice").collection("notes")

        def erased(done: int, files: int, name: str) -> None:
            if done == 2:
                assert notes.scope.erase().documents == 2, (files, name)

        with pytest.raises(memspan.NotFound, match="erased"):
            notes.add_path(folder, progress=erased)
        assert list(engine.users()) == []

        def documents() -> Iterator[tuple[str, str]]:
            yield "a", "first"
            notes.scope.erase()
            yield "b", "second"

        with pytest.raises(memspan.NotFound, match="erased"):
            notes.add_many(documents())
        assert list(engine.users()) == []
        assert notes.add_many([("a", "first"), ("b", "second")])[1].action == "added"


def test_what_a_model_was_asked_about_an_erased_user_is_not_learnt(tmp_path: Path) -> None:
    with memspan.open(tmp_path / "s", embedder=None) as engine:
        user = engine.user("alice")
        user.remember("Prefers tea")

        def model(messages: list[dict[str, str]], *, max_tokens: int) -> str:
            assert messages, max_tokens
            user.erase()
            return "[]"

        said = [{"role": "user", "content": "My name is Ana."}, {"role": "user", "content": "Ich wohne jetzt in Hamburg."}]
        with pytest.raises(memspan.NotFound, match="erased"):
            user.learn(said, llm=model)
        assert list(engine.users()) == []
