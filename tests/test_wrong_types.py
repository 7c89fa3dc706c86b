"""Arguments of a wrong type: the error names the argument and the rule, and shows a value's beginning, however the value behaves."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan._flags import shown
from memspan.erasure import Retention
from memspan.testing import FakeEmbedder, openai_response

if TYPE_CHECKING:
    from collections.abc import Callable


class NoRepr:
    """A value that nobody can show."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


def deep() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(5_000):
        found = {"a": found}
    return found


WRONG = {
    "long": "k" * 3_000,
    "list": ["k" * 3_000],
    "no repr": NoRepr(),
    "deep": deep(),
    "huge": 10**5_000,
    "half a character": "\ud800",
}

CALLS: dict[str, Callable[[memspan.Scope, memspan.Session, Any], object]] = {
    "closeness": lambda user, _, given: user.consolidate(closeness=given),
    "min_points": lambda user, _, given: user.consolidate(min_points=given),
    "dry_run": lambda user, _, given: user.forget_stale(dry_run=given),
    "dry_run ": lambda user, _, given: user.forget_from(source="web", dry_run=given),
    "derived": lambda user, _, given: user.forget_from(source="web", derived=given),
    "consolidating: dry_run": lambda user, _, given: user.consolidate(dry_run=given),
    "multi": lambda user, _, given: user.slots.declare("allergy", multi=given),
    "stream": lambda user, _, given: prompt_of(user).to_openai(stream=given),
    "stream ": lambda user, _, given: prompt_of(user).to_anthropic(stream=given),
    "stream  ": lambda user, _, given: prompt_of(user).to_openai_responses(stream=given),
    "read_only": lambda _1, _2, given: memspan.open("never-made", read_only=given),
    "count": lambda _, session, given: session.assemble(count=given),
    "progress": lambda user, _, given: memspan.Engine(user._store).reembed(progress=given),
    "progress ": lambda user, _, given: user.collection("c").add_path(".", progress=given),
    "memory": lambda user, _, given: user.relate("a", "b", "c", memory=given),
    "holds": lambda user, _, given: user.relate("a", "b", "c", holds=given),
    "newest_first": lambda user, _, given: list(user.sessions(newest_first=given)),
    "states": lambda user, _, given: user.memories(states=given),
    "timezone": lambda user, _, given: user.recall("tea", timezone=given),
    "relevant_only": lambda user, _, given: user.recall("tea", relevant_only=given),
    "relevant_only ": lambda user, _, given: user.search("tea", relevant_only=given),
    "relevant_only  ": lambda user, _, given: user.collection("c").search("tea", relevant_only=given),
    "sources": lambda user, _, given: user.search("tea", sources=given),
    "collections": lambda user, _, given: user.session("t", model="gpt-4o", collections=given),
    "allow": lambda user, _, given: user.tools(allow=[given]),
    "task": lambda _, session, given: session.brief(given if not isinstance(given, str) else 5),  # type: ignore[arg-type]
    "call": lambda _, session, given: session.answer(given),
    "lease": lambda _, session, given: session.add_response(openai_response("4"), lease=given),
    "wait_seconds": lambda _, session, given: session.lease(wait_seconds=given),
    "overflow": lambda _1, _2, given: memspan.fit([], model="gpt-4o", max_input_tokens=9, overflow=given),
    "summary": lambda _1, _2, given: memspan.fit([], model="gpt-4o", max_input_tokens=9, summary=given),
    "timeout_seconds": lambda _1, _2, given: memspan.compact([], llm=lambda *_, **__: "", timeout_seconds=given),
    "on_error": lambda user, _, given: memspan.Engine(user._store).remember_many([], on_error=given),
    "every": lambda user, _, given: memspan.Engine(user._store).maintenance(every=given),
    "secrets": lambda _1, _2, given: memspan.Policy(secrets=given),
    "detector_seconds": lambda _1, _2, given: memspan.Policy(detector_seconds=given),
    "ttl_days": lambda _1, _2, given: memspan.KindRule(ttl_days=given),
    "order": lambda _1, _2, given: memspan.Budget(order=given),
    "fill": lambda _1, _2, given: memspan.Budget(fill=given),
    "score": lambda _1, _2, given: memspan.Item("x", score=given),
    "roles": lambda _1, _2, given: memspan.Recalls(roles=given),
    "min_confidence": lambda _1, _2, given: memspan.Recalls(min_confidence=given),
    "kinds": lambda _1, _2, given: Retention(kinds=given),
}


def prompt_of(user: memspan.Scope) -> memspan.Prompt:
    session = user.session("p", model="gpt-4o")
    session.add({"role": "user", "content": "which port?"})
    return session.assemble()


@pytest.mark.parametrize("given", WRONG)
@pytest.mark.parametrize("name", CALLS)
def test_an_error_names_the_argument_and_is_short(user: memspan.Scope, name: str, given: str) -> None:
    """Thirteen said that one of the arguments is of a wrong type, and 39 carried a value of a megabyte."""
    session = user.session("s", model="gpt-4o")
    with pytest.raises(memspan.InvalidInput, match=name.strip()) as error:
        CALLS[name](user, session, WRONG[given])
    assert "the types that its docstring names" not in str(error.value)
    assert len(str(error.value)) < 500
    assert all(len(str(field)) < 500 for field in error.value.fields.values() if isinstance(field, str))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("reads", lambda user: user.session("t", model="gpt-4o", reads=5)),
        ("rows", lambda user: user.collection("c").add_many(5)),
        ("documents", lambda user: user.collection("c").search("tea", documents=5)),
        ("questions", lambda user: memspan.evaluate(memspan.Engine(user._store), 5)),  # type: ignore[arg-type]
        ("path", lambda user: user.collection("c").add_path(5)),
        ("max_tokens", lambda user: user.session("s", model="gpt-4o").brief("do", max_tokens="5")),
        ("functions", lambda user: answered(user, functions=5)),
        ("allow", lambda user: answered(user, allow=5)),
        ("on_error", lambda user: memspan.Engine(user._store).remember_many([], on_error=[])),  # type: ignore[arg-type]
    ],
)
def test_an_argument_of_one_kind_in_place_of_several(user: memspan.Scope, name: str, call: Callable[[memspan.Scope], object]) -> None:
    with pytest.raises(memspan.InvalidInput, match=name) as error:
        call(user)
    assert "the types that its docstring names" not in str(error.value)


def answered(user: memspan.Scope, **options: Any) -> object:
    session = user.session("s", model="gpt-4o")
    session.add({"role": "user", "content": "which port?"})
    session.add_response(openai_response(None, tool_calls=[("call-1", "look_up", {})]), prompt=session.assemble())
    return session.answer(session.pending_tool_calls[0], **options)


def test_what_fits_is_taken(user: memspan.Scope) -> None:
    """Whatever can be iterated over, and numbers of either type."""
    session = user.session("s", model="gpt-4o", reads=[memspan.Engine(user._store).shared("team")])
    memory = user.remember("Prefers tea").memory
    user.relate("a", "b", "c", memory=memory, holds=True)
    user.consolidate(closeness=1)
    user.collection("c").add_many(iter([("a", "Tea at four")]))
    assert len(user.collection("c").search("tea", documents={"a"})) == 1
    assert len(user.collection("c").search("tea", documents="a")) == 1
    assert len(memspan.fit([{"role": "user", "content": "hi"}], model="gpt-4o", max_input_tokens=99, summary=None).messages) == 1
    assert session.brief("do it").text
    assert memspan.evaluate(memspan.Engine(user._store), iter([{"user": "u-42", "question": "tea?"}])).questions == 1


@pytest.mark.parametrize("given", WRONG)
def test_any_value_is_shown(given: str) -> None:
    assert 0 < len(shown(WRONG[given])) <= 80
    shown(WRONG[given]).encode()


def test_a_budget_and_factors_become_dicts() -> None:
    """`dataclasses.asdict` could not copy the mapping within."""
    budget = memspan.Budget(sections={"retrieved": memspan.Grant(floor=10)})
    assert dataclasses.asdict(budget)["sections"]["retrieved"]["floor"] == 10
    assert dataclasses.asdict(memspan.Budget())["sections"] == {}
    for change in (
        lambda: budget.sections.update({}),  # type: ignore[attr-defined]
        lambda: budget.sections.__setitem__("history", memspan.Grant()),  # type: ignore[index]
        budget.sections.clear,  # type: ignore[attr-defined]
    ):
        with pytest.raises(TypeError, match="cannot be changed"):
            change()
    assert hash(budget) == hash(dataclasses.replace(budget))


def test_the_factors_of_a_model_become_a_dict(user: memspan.Scope) -> None:
    session = user.session("s", model="claude-sonnet-4-5")
    session.add({"role": "user", "content": "a question of some length, asked again and again " * 60})
    session.add_response(memspan.testing.anthropic_response("so it is", input_tokens=750), prompt=session.assemble())
    [factors] = memspan.Engine(user._store).token_factors.values()
    assert dataclasses.asdict(factors)["factors"] == dict(factors.factors)


def test_an_embedder_that_cannot_be_shown_is_refused(tmp_path: Any) -> None:
    with memspan.open(tmp_path / "s", embedder=FakeEmbedder(8)) as engine:
        for given in WRONG.values():
            with pytest.raises(memspan.InvalidInput, match="embedder") as error:
                engine.reembed(given)  # type: ignore[arg-type]
            assert len(str(error.value)) < 500


async def awaits(*_: object) -> int:
    raise AssertionError("nobody calls it")


@pytest.mark.parametrize("progress", [5, awaits])
def test_progress_is_refused_before_anything_is_written(tmp_path: Any, progress: Any) -> None:
    """The new vectors and the first file were stored when it failed."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("Tea at four")
    with memspan.open(tmp_path / "s", embedder=FakeEmbedder(8)) as engine:
        user = engine.user("u-42")
        user.remember("Prefers tea")
        for embedder in (FakeEmbedder(16), None):  # with work to do, and without
            with pytest.raises(memspan.InvalidInput, match="progress is a function"):
                engine.reembed(embedder, progress=progress)
        assert engine.reembed(FakeEmbedder(16)).made == 1
        for folder in (tmp_path / "docs", tmp_path / "none"):
            with pytest.raises(memspan.InvalidInput, match="progress is a function"):
                user.collection("c").add_path(folder, progress=progress)
        assert list(user.collection("c").documents()) == []
        seen: list[object] = []
        assert user.collection("c").add_path(tmp_path / "docs", progress=lambda *step: seen.append(step)).added == ("a.md",)
        assert seen == [(1, 1, "a.md")]


@pytest.mark.parametrize("count", [5, awaits])
def test_a_count_that_cannot_be_called_is_refused(user: memspan.Scope, count: Any) -> None:
    """Each call was reported by `on_event`, and the prompt had no count."""
    session = user.session("s", model="claude-sonnet-4-5")
    session.add({"role": "user", "content": "which port?"})
    with pytest.raises(memspan.InvalidInput, match="count is a function"):
        session.assemble(count=count)


def test_an_id_without_a_message_takes_no_lease(user: memspan.Scope) -> None:
    session = user.session("s", model="gpt-4o")
    with pytest.raises(memspan.InvalidInput, match="id= is the message's"):
        session.lease(id="webhook-77")
    with session.lease(message={"role": "user", "content": "2 + 2?"}, id="webhook-77") as lease:
        assert lease.added is not None


def test_a_name_instead_of_an_embedder(user: memspan.Scope) -> None:
    """It said that "default" is what it may be, and that it is that."""
    with pytest.raises(memspan.InvalidInput, match=r"or None for that of memspan.open, and it is 'default': pass one, .*BuiltIn\(\)"):
        memspan.Engine(user._store).reembed("default")  # type: ignore[arg-type]


def test_numbers_of_numpy_are_numbers(user: memspan.Scope, tmp_path: Any) -> None:
    numpy = pytest.importorskip("numpy")
    whole, real = numpy.int64, numpy.float32
    user.remember("Prefers tea")
    assert len(list(user.memories(limit=whole(1)))) == 1
    assert user.profile(max_tokens=whole(9)).memories == ()
    assert user.summaries("tea", limit=whole(2)) == ()
    assert user.consolidate(closeness=real(0.75), min_points=whole(2), llm_timeout_seconds=whole(9)).clusters == ()
    session = user.session("s", model="gpt-4o")
    assert session.brief("do it", max_tokens=whole(500)).text
    with session.lease(seconds=whole(5), wait_seconds=real(1)) as lease:
        assert lease.held
    old = Retention(sessions_days=whole(36_000), kinds={"episodic": real(4)})
    assert memspan.Engine(user._store).maintain(retention=old).sessions_deleted == 0
    budget = memspan.Budget(max_input_tokens=whole(8_000), fill=real(0.5), compact=memspan.Compact(at=real(0.5), every_turns=whole(3)))
    plain = memspan.Budget(max_input_tokens=8_000, fill=0.5, compact=memspan.Compact(at=0.5, every_turns=3))
    assert (repr(budget), budget, hash(budget)) == (repr(plain), plain, hash(plain))
    assert user.session("s", budget=budget).budget == plain
    rule = memspan.KindRule(ttl_days=whole(3), half_life_days=real(2), cap=numpy.int32(4))
    assert repr(rule) == "KindRule(ttl_days=3, half_life_days=2.0, cap=4)"
    assert type(memspan.Item("x", score=real(0.5)).score) is float
    with memspan.open(tmp_path / "s", kinds={"episodic": rule}, embed_timeout_seconds=real(3)) as engine:
        assert engine.user("u-42").remember("Prefers tea").action == "added"


@pytest.mark.parametrize("name", ["bool_", "timedelta64", "datetime64", "str_", "array"])
def test_what_is_not_a_number_of_numpy_is_none(user: memspan.Scope, name: str) -> None:
    numpy = pytest.importorskip("numpy")
    given = {
        "bool_": numpy.bool_(1),
        "timedelta64": numpy.timedelta64(1, "D"),
        "datetime64": numpy.datetime64("2024-01-01"),
        "str_": numpy.str_("1"),
        "array": numpy.array([1]),
    }[name]
    calls: list[Callable[[], object]] = [
        lambda: user.memories(limit=given),
        lambda: user.profile(max_tokens=given),
        lambda: user.consolidate(closeness=given),
        lambda: memspan.KindRule(ttl_days=given),
        lambda: memspan.Budget(max_input_tokens=given),
        lambda: memspan.Budget(fill=given),
        lambda: Retention(sessions_days=given),
    ]
    for call in calls:
        with pytest.raises(memspan.InvalidInput) as error:
            call()
        assert "the types that its docstring names" not in str(error.value)
