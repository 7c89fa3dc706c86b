"""`remember_many`: a batch is all or nothing, a stream is read as it is written, and running it again is harmless."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

import memspan
from memspan.testing import temporary_engine

if TYPE_CHECKING:
    from collections.abc import Iterator


def texts(scope: memspan.Scope) -> list[str]:
    return [memory.text for memory in scope.memories()]


def test_rows_of_every_form(memspan_engine: memspan.Engine) -> None:
    user, acme = memspan_engine.user("u"), memspan_engine.shared("acme")
    report = memspan_engine.remember_many(
        [
            {"scope": user, "text": "Prefers tea", "kind": "preference", "metadata": {"a": 1}, "slot": None},
            memspan.NewMemory(acme, "Floor 3 has the tea kitchen", id="kitchen", importance=0.9),
            MappingProxyType({"scope": user, "text": "Lives in Porto", "slot": "home"}),
            {"scope": user, "text": "Lives in Faro", "slot": "home"},
            {"scope": user, "text": "Prefers tea", "kind": "preference"},
        ]
    )
    assert (report.rows, report.added, report.superseded, report.duplicates, report.rejected, report.chunks) == (5, 3, 1, 1, 0, 1)
    assert report.errors == ()
    assert texts(user) == ["Prefers tea", "Lives in Faro"]
    assert acme.get("kitchen").importance == 0.9
    done = user.remember_many(["One", {"text": "Two"}, memspan.NewMemory(None, "Three"), memspan.NewMemory(user, "Four")])
    assert [one.memory.text for one in done] == ["One", "Two", "Three", "Four"]


def test_a_scope_writes_to_itself_only(memspan_engine: memspan.Engine) -> None:
    # A row that named another scope was written there: the one way in which a call on one user reached another.
    user, acme = memspan_engine.user("u"), memspan_engine.shared("acme")
    with pytest.raises(memspan.InvalidInput, match="belongs to this scope") as caught:
        user.remember_many(["One", memspan.NewMemory(acme, "Two")])
    assert caught.value.row == 1
    assert texts(user) == texts(acme) == []


def test_scopes_that_alternate_share_their_transactions(memspan_engine: memspan.Engine) -> None:
    users = [memspan_engine.user(f"u-{number}") for number in range(20)]
    before = memspan_engine.metrics()["commits"]
    report = memspan_engine.remember_many({"scope": users[n % 20], "text": f"fact {n}"} for n in range(2_500))
    assert (report.added, report.chunks, memspan_engine.metrics()["commits"] - before) == (2_500, 3, 3)
    for number, user in enumerate(users):
        assert texts(user) == [f"fact {n}" for n in range(number, 2_500, 20)]


def test_a_batch_is_all_or_nothing(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("u")
    user.remember("Prefers tea", id="tea")
    rows = [{"text": f"fact {number}", "id": f"f-{number}"} for number in range(500)]
    wrongs: tuple[Any, ...] = (
        {"text": ""},
        {"text": "Prefers coffee", "id": "tea"},
        {"text": "x", "colour": "red"},
        {},
        5,
        {"text": "x", "importance": 7},
    )
    for wrong in wrongs:
        with pytest.raises(memspan.InputError) as caught:
            user.remember_many([*rows[:321], wrong, *rows[321:]])
        assert caught.value.fields["row"] == 321
        assert caught.value.row == 321
        assert caught.value.__notes__ == ["in row 321"]
        assert texts(user) == ["Prefers tea"]


def test_chunks_before_the_error_are_kept_and_running_it_again_goes_on(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("u")
    rows: list[dict[str, Any]] = [{"scope": user, "text": f"fact {number}", "id": f"f-{number}"} for number in range(2_500)]
    rows[1_700] = rows[1_700] | {"importance": 7}
    with pytest.raises(memspan.InvalidInput) as caught:
        memspan_engine.remember_many(rows)
    assert caught.value.fields["row"] == 1_700
    assert len(texts(user)) == 1_000
    rows[1_700]["importance"] = 0.7
    report = memspan_engine.remember_many(rows)
    assert (report.duplicates, report.added) == (1_000, 1_500)
    assert texts(user) == [f"fact {number}" for number in range(2_500)]


def test_skipping_reports_every_error_with_its_row(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("u")
    user.remember("Prefers tea", id="tea")
    user.forget("tea")
    user.remember("Prefers milk", id="milk")
    rows = [
        {"scope": user, "text": "good one", "id": "a"},
        {"scope": user, "text": "", "id": "empty"},
        {"scope": user, "text": "Prefers tea", "id": "tea"},
        {"scope": user, "text": "Prefers water", "id": "milk"},
        {"text": "whose?", "id": "nobody"},
        None,
        {"scope": user, "text": "good two"},
    ]
    report = memspan_engine.remember_many(rows, on_error="skip")  # type: ignore[arg-type]
    assert (report.rows, report.added, report.rejected, report.chunks) == (7, 2, 1, 1)
    assert [(row, row_id, type(error).__name__) for row, row_id, error in report.errors] == [
        (1, "empty", "InvalidInput"),
        (3, "milk", "IdConflict"),
        (4, "nobody", "InvalidInput"),
        (5, None, "InvalidInput"),
    ]
    assert texts(user) == ["Prefers milk", "good one", "good two"]


def test_a_stream_is_not_read_ahead(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("u")
    lead: list[int] = []

    def rows() -> Iterator[str]:
        for number in range(3_500):
            if number % 1_000 == 0:
                lead.append(number - memspan_engine.metrics()["memories"])
            yield f"fact {number}"

    user.remember_many(rows())
    assert lead == [0, 0, 0, 0]


def test_a_stream_that_breaks_keeps_what_was_written(memspan_engine: memspan.Engine) -> None:
    def rows() -> Iterator[str]:
        yield from (f"fact {number}" for number in range(1_500))
        raise LookupError("the source is gone")

    with pytest.raises(LookupError):
        memspan_engine.user("u").remember_many(rows())
    assert memspan_engine.metrics()["memories"] == 1_000


def test_large_texts_are_split_by_their_bytes(memspan_engine: memspan.Engine) -> None:
    user = memspan_engine.user("u")
    report = memspan_engine.remember_many({"scope": user, "text": f"{number} " + "word " * 20_000} for number in range(10))
    assert report.added == 10
    assert report.chunks == 5


def test_no_rows_are_no_transaction(memspan_engine: memspan.Engine) -> None:
    assert memspan_engine.remember_many([]) == memspan.engine.ImportReport(0, 0, 0, 0, 0, (), 0)
    assert memspan_engine.user("u").remember_many([]) == ()
    assert memspan_engine.metrics()["commits"] == 0


@pytest.mark.parametrize("rows", ["text", b"text", {"text": "x"}, 5, None])
def test_one_row_is_not_several(user: memspan.Scope, memspan_engine: memspan.Engine, rows: Any) -> None:
    for call in (user.remember_many, memspan_engine.remember_many):
        with pytest.raises(memspan.InvalidInput, match="several"):
            call(rows)


def test_a_scope_of_another_engine_is_refused(memspan_engine: memspan.Engine) -> None:
    with temporary_engine() as elsewhere, pytest.raises(memspan.InvalidInput, match="belongs to another"):
        memspan_engine.remember_many([{"scope": elsewhere.user("u"), "text": "x"}])
    for scope in ("u", 5, None):
        with pytest.raises(memspan.InvalidInput, match="scope"):
            memspan_engine.remember_many([{"scope": scope, "text": "x"}])


def test_an_unknown_policy_is_refused(memspan_engine: memspan.Engine) -> None:
    with pytest.raises(memspan.InvalidInput, match="on_error"):
        memspan_engine.remember_many([], on_error="ignore")  # type: ignore[arg-type]


def test_a_scope_writes_to_no_other(memspan_engine: memspan.Engine) -> None:
    """A mapping that named another scope was written to that; a NewMemory that did was refused. Both are, and nothing is written."""
    ours, other = memspan_engine.user("a"), memspan_engine.user("b")
    rows: list[Any] = [{"text": "x", "scope": other}, memspan.NewMemory(other, "x")]
    for row in rows:
        with pytest.raises(memspan.InvalidInput, match="belongs to Scope") as raised:
            ours.remember_many(["y", row])
        assert raised.value.fields["row"] == 1
    assert [list(scope.memories()) for scope in (ours, other)] == [[], []]
    assert ours.remember_many([{"text": "x", "scope": ours}, {"text": "y", "scope": None}])[1].memory.text == "y"
