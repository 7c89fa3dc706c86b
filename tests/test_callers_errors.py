"""An exception of the caller's own code keeps its type, wherever that code runs from; a wrong argument becomes an error of memspan."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import pytest

import memspan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PROGRAM = """
import json, sys, memspan

def texts():
    yield "Prefers tea"
    {raises}

def messages():
    yield {{"role": "user", "content": "Call me Ana."}}
    {raises}

class Clock:
    broken = False
    def __call__(self):
        import datetime
        if self.broken:
            {raises}
        return datetime.datetime.now(datetime.timezone.utc)

clock = Clock()
with memspan.open({store!r}, embedder=None, clock=clock) as engine:
    user = engine.user("u")
    def broken():
        clock.broken = True
        user.remember("x")
    fit = lambda: memspan.fit(messages(), model='gpt-4o')
    for call in (lambda: user.remember_many(texts()), fit, lambda: user.learn(messages()), broken):
        try:
            call()
        except Exception as error:
            print(type(error).__name__, end=" ")
        finally:
            clock.broken = False
    for wrong in (lambda: user.remember(7), lambda: user.recall("x", limit="y"), lambda: user.recall(None)):
        try:
            wrong()
        except Exception as error:
            print(type(error).__name__, end=" ")
"""


def from_file(program: str, folder: Path) -> list[str]:
    (folder / "program.py").write_text(program)
    return [str(folder / "program.py")]


def from_exec(name: str) -> Callable[[str, Path], list[str]]:
    """As a notebook does: compiled under a name of its own."""
    return lambda program, _: ["-c", f"exec(compile({program!r}, {name!r}, 'exec'), {{'__name__': '__main__'}})"]


@pytest.mark.parametrize("raises", ["raise ValueError('line 7')", "raise KeyError('name')", "json.loads('{')", "int('x')", "[][0]"])
@pytest.mark.parametrize(
    "runs",
    [
        pytest.param(from_file, id="file"),
        pytest.param(lambda program, _: ["-c", program], id="-c"),
        pytest.param(lambda _program, _: ["-"], id="stdin"),
        pytest.param(from_exec("<string>"), id="exec"),
        pytest.param(from_exec("<ipython-input-3-0a1b2c>"), id="notebook"),
        pytest.param(from_exec("<python-input-0>"), id="repl"),
    ],
)
def test_it_keeps_its_type(tmp_path: Path, runs: Callable[[str, Path], list[str]], raises: str) -> None:
    """ValueError from a file, and InvalidInput that blamed the arguments from -c, stdin, exec, the REPL or a notebook."""
    program = PROGRAM.format(store=str(tmp_path / "store"), raises=raises)
    done = subprocess.run([sys.executable, *runs(program, tmp_path)], input=program, capture_output=True, text=True, check=True)
    raised = {"raise ValueError('line 7')": "ValueError", "raise KeyError('name')": "KeyError", "int('x')": "ValueError"}
    expected = raised.get(raises, "JSONDecodeError" if "json" in raises else "IndexError")
    assert done.stdout.split() == [expected] * 4 + ["InvalidInput"] * 3


class Interrupted:
    """A number that is not read to its end."""

    def __index__(self) -> int:
        raise KeyboardInterrupt

    def __float__(self) -> float:
        raise KeyboardInterrupt


def test_what_is_no_error_passes_where_a_number_is_read(memspan_engine: memspan.Engine) -> None:
    """Ctrl-C in __float__ was told as an argument that is no number."""
    user, wrong = memspan_engine.user("u"), cast("Any", Interrupted())
    with pytest.raises(KeyboardInterrupt):
        user.recall("tea?", limit=wrong)
    with pytest.raises(KeyboardInterrupt):
        user.remember("Likes tea", ttl_seconds=wrong)


def test_a_number_that_is_none_is_a_wrong_argument(memspan_engine: memspan.Engine) -> None:
    with pytest.raises(memspan.InvalidInput, match="a whole number, 0 or more, or None, and it is Decimal"):
        list(memspan_engine.user("u").memories(limit=cast("Any", Decimal("NaN"))))


def test_conditions_that_change_while_they_are_read_are_those_that_were_given(memspan_engine: memspan.Engine) -> None:
    """pyo3 panicked, with an exception that is no Exception."""
    user = memspan_engine.user("u")
    user.remember("Likes tea", metadata={"a": 1, "b": 2})
    where: dict[str, Any] = {}

    class Grows(list[int]):
        def __iter__(self) -> Iterator[int]:
            where["c"] = 3
            return iter([1])

    where.update(a=Grows([1]), b=2)
    assert [hit.memory.text for hit in user.recall("tea", where=where)] == ["Likes tea"]
