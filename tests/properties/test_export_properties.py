"""Random stores: what is exported, loaded and exported again has equal bytes, and the same questions have the same answers."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hypothesis import given
from hypothesis import strategies as st

import memspan
from memspan.testing import FakeClock, FakeEmbedder, openai_response

if TYPE_CHECKING:
    from collections.abc import Callable

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  a sync costs nothing there, and every run has a folder of its own

words = st.lists(
    st.sampled_from(["port", "tea", "Graz", "payments-api", "8443", "cat", "Ada", "deploy", "Friday", "milk"]), min_size=1, max_size=12
).map(" ".join)
texts = st.one_of(words, words, st.text(min_size=1, max_size=40).filter(str.strip), words.map(lambda text: f"{text} " * 700))
plain = st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.text(max_size=6), st.binary(max_size=6))
metadata = st.none() | st.dictionaries(
    st.text(max_size=5) | st.just("$bytes"), st.recursive(plain, lambda inner: st.lists(inner, max_size=3), max_leaves=4), max_size=3
)
scopes = st.sampled_from(["ada", "bob"])
picks = st.integers(0, 30)

steps = st.one_of(
    st.tuples(
        st.just("remember"), scopes, texts, st.sampled_from(["semantic", "episodic", "preference"]), st.none() | st.just("drink"), metadata
    ),
    st.tuples(st.just("expire"), scopes, texts),
    st.tuples(st.just("revise"), scopes, picks, texts),
    st.tuples(st.just("forget"), scopes, picks),
    st.tuples(st.just("add"), scopes, texts),
    st.tuples(st.just("reply"), scopes, texts),
    st.tuples(st.just("redact"), scopes, picks),
    st.tuples(st.just("rewind"), scopes, picks),
    st.tuples(st.just("task"), scopes, texts),
    st.tuples(st.just("document"), scopes, st.integers(0, 3), texts),
    st.tuples(st.just("delete"), scopes, st.integers(0, 3)),
    st.tuples(st.just("relate"), scopes, words),
    st.tuples(st.just("compact"), scopes),
    st.tuples(st.just("recall"), scopes, words),
    st.tuples(st.just("erase"), scopes),
)


def picked(found: list[Any], pick: int) -> Any:
    return found[pick % len(found)] if found else None


class Steps:
    """Each of them as calls; what cannot be done now is left out."""

    def __init__(self, engine: memspan.Engine, clock: FakeClock) -> None:
        self.engine, self.clock = engine, clock

    def run(self, step: tuple[Any, ...]) -> None:
        self.clock.advance(minutes=1)
        action: Callable[..., object] = getattr(self, step[0])
        action(self.engine.user(step[1]), *step[2:])

    def session(self, user: memspan.Scope) -> memspan.Session:
        return user.session("s", model="gpt-4o", collections=[user.collection("docs")])

    def remember(self, user: memspan.Scope, text: str, kind: str, slot: str | None, data: Any) -> None:
        user.remember(text, kind, slot=slot, metadata=data)

    def expire(self, user: memspan.Scope, text: str) -> None:
        user.remember(text, ttl_seconds=90)

    def revise(self, user: memspan.Scope, pick: int, text: str) -> None:
        if memory := picked(list(user.memories()), pick):
            user.revise(memory.id, text)

    def forget(self, user: memspan.Scope, pick: int) -> None:
        if memory := picked(list(user.memories()), pick):
            user.forget(memory.id)

    def add(self, user: memspan.Scope, text: str) -> None:
        self.session(user).add({"role": "user", "content": text})

    def reply(self, user: memspan.Scope, text: str) -> None:
        session = self.session(user)
        session.add_response(openai_response(text, input_tokens=50), prompt=session.assemble())

    def redact(self, user: memspan.Scope, pick: int) -> None:
        session = self.session(user)
        if session.messages:
            session.redact(pick % len(session.messages))

    def rewind(self, user: memspan.Scope, pick: int) -> None:
        session = self.session(user)
        session.rewind(pick % (len(session.messages) + 1))

    def task(self, user: memspan.Scope, text: str) -> None:
        self.session(user).task("t").set("note", text)

    def document(self, user: memspan.Scope, number: int, text: str) -> None:
        user.collection("docs").add(f"d-{number}", text)

    def delete(self, user: memspan.Scope, number: int) -> None:
        user.collection("docs").delete(f"d-{number}")

    def relate(self, user: memspan.Scope, text: str) -> None:
        user.relate("Ada", "owns", text)

    def compact(self, user: memspan.Scope) -> None:
        self.session(user).compact()

    def recall(self, user: memspan.Scope, text: str) -> None:
        user.recall(text)

    def erase(self, user: memspan.Scope) -> None:
        user.erase()


def answers(engine: memspan.Engine) -> list[Any]:
    found: list[Any] = []
    for user in engine.users():
        for question in ("payments-api port 8443", "what is drunk in Graz?"):
            found += [(hit.source, hit.text, hit.score) for hit in user.search(question)]
            found += [(hit.text, hit.score) for hit in user.recall(question, relevant_only=False)]
        found += [repr(memory.to_dict()) for memory in user.memories(states="all")]
        for info in user.sessions():
            session = user.session(info.id)
            found += [message.text for message in session.messages]
            found.append(session.assemble("payments-api").text)
    return found


@given(embed=st.booleans(), taken=st.lists(steps, max_size=25))
def test_an_export_comes_back_to_the_byte(embed: bool, taken: list[tuple[Any, ...]]) -> None:
    place = str(SHARED_MEMORY) if SHARED_MEMORY.is_dir() else None
    embedder: memspan.Embedder | Literal["default"] = FakeEmbedder(16) if embed else "default"
    clock = FakeClock()
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        with memspan.open(folder / "a", clock=clock, embedder=embedder) as engine:
            calls = Steps(engine, clock)
            for step in taken:
                calls.run(step)
            engine.export(folder / "a.jsonl")
            expected = answers(engine)
        with memspan.open(folder / "b", clock=clock, embedder=embedder) as engine:
            engine.load(folder / "a.jsonl")
            engine.export(folder / "b.jsonl")
            assert answers(engine) == expected
            assert engine.check().sound
        assert (folder / "b.jsonl").read_bytes() == (folder / "a.jsonl").read_bytes()
