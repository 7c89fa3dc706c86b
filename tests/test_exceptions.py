"""The exception tree: one class for each kind of the engine, the standard class beside it, and nothing lost on the way."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path

import pytest

import memspan
from memspan import exceptions
from memspan.exceptions import Error, from_engine

KINDS = re.findall(
    r"^    (\w+),$",
    (Path(__file__).parent.parent / "rust/engine/src/error.rs").read_text().partition("pub enum ErrorKind {")[2].partition("\n}")[0],
    re.MULTILINE,
)
KINDS.remove("MapResized")  # the gate tries again: no caller sees it
KINDS.remove("FilesReplaced")  # the gate opens the store anew; where that does not help, it is a StoreIo: tested below
KINDS.remove("Internal")  # a defect of the engine: memspan.Error itself
KINDS.remove("Interrupted")  # becomes what the signal's handler raised, KeyboardInterrupt mostly
STANDARD = re.findall(r"[├└]── (\w+) +(\w+(?:Error)) +\S", exceptions.__doc__ or "")


def test_the_engine_has_kinds_and_the_docstring_has_a_tree() -> None:
    assert {"InvalidInput", "StoreBusy", "Tokenizer"} <= set(KINDS)
    assert len(STANDARD) == len(KINDS) + 2  # MissingExtra and ProviderError are Python's alone


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_the_engine_has_its_own_class(kind: str) -> None:
    error = from_engine(kind, "message", {})
    assert type(error).__name__ in {kind, f"{kind}Error"}


def test_a_file_that_was_replaced_is_an_error_of_the_system() -> None:
    error = from_engine("FilesReplaced", "it was removed", {"path": "/tmp/x"})  # noqa: S108  only a text
    assert (type(error), error.path) == (memspan.StoreIo, "/tmp/x")  # noqa: S108


@pytest.mark.parametrize(("name", "standard"), STANDARD)
def test_each_class_is_the_standard_class_that_the_tree_promises(name: str, standard: str) -> None:
    import builtins

    assert issubclass(getattr(memspan, name), getattr(builtins, standard))
    assert issubclass(getattr(memspan, name), memspan.Error)


def test_the_tree_names_every_class() -> None:
    drawn = set(re.findall(r"[├└]── (\w+)", exceptions.__doc__ or "")) | {"Error"}
    assert drawn == set(exceptions.__all__)


@pytest.mark.parametrize("kind", KINDS)
def test_message_fields_and_notes_survive_pickle_and_copy(kind: str) -> None:
    # A KeyError prints the repr of its argument, an OSError puts its errno in front, and the default pickle drops attributes.
    error = from_engine(kind, "the limit is 'eight', got 9", {"limit": 8, "errno": 28, "path": "/tmp/x"})  # noqa: S108  only a text
    error.add_note("while remembering")
    for copied in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):  # noqa: S301  our own bytes
        assert type(copied) is type(error)
        assert str(copied) == "the limit is 'eight', got 9"
        assert copied.fields == {"limit": 8, "errno": 28, "path": "/tmp/x"}  # noqa: S108
        assert (copied.limit, copied.errno, copied.__notes__) == (8, 28, ["while remembering"])


def test_a_copy_does_not_share_its_fields() -> None:
    error = from_engine("NotFound", "no such memory", {"id": 3})
    copied = copy.copy(error)
    copied.fields["id"] = 4
    assert error.fields == {"id": 3}


def test_an_unknown_kind_keeps_its_message() -> None:
    error = from_engine("FromTheFuture", "something new", {"limit": 1})
    assert type(error) is Error
    assert (str(error), error.limit) == ("something new", 1)


def test_an_unknown_outcome_says_so_without_being_told() -> None:
    assert from_engine("OutcomeUnknown", "the sync failed", {}).outcome == "unknown"


def test_standard_clauses_catch_them() -> None:
    with pytest.raises(TimeoutError):
        raise from_engine("StoreBusy", "held by process 7", {"holder": 7})
    with pytest.raises(KeyError, match=r"^no such memory$"):
        raise from_engine("NotFound", "no such memory", {})


def test_an_error_of_the_system_says_whether_the_call_was_done() -> None:
    """The attribute was missing where it was not."""
    assert memspan.StoreIo("the disk failed").outcome is None
    assert memspan.StoreIo("files are left", outcome="done").outcome == "done"
