"""Python's limit of recursion: reached by the caller's own calls, or by an argument whose parts stand too deep in one another."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any

import pytest

import memspan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(autouse=True)
def no_collection() -> Iterator[None]:
    """Garbage of other tests is not to be collected where the stack has no room for what pytest does then."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def below(depth: int, work: Callable[[], object]) -> object:
    return work() if depth == 0 else below(depth - 1, work)


def test_a_deep_stack_of_the_caller_is_told_as_one(user: memspan.Scope) -> None:
    """It was told as a wrong argument, for arguments that were right."""
    session = user.session("s", "gpt-4o")
    session.add({"role": "user", "content": "hello"})
    raised = set[type[BaseException]]()
    limit = sys.getrecursionlimit()
    for depth in range(limit - 150, limit - 20):
        for work in (session.assemble, lambda: user.learn(session)):
            try:
                below(depth, work)
            except (RecursionError, memspan.Error) as error:
                raised.add(type(error))
    assert raised == {RecursionError}


def test_an_argument_that_is_nested_too_deeply_is_told_as_wrong(user: memspan.Scope) -> None:
    session = user.session("s", "gpt-4o")
    nested: Any = []
    for _ in range(5_000):
        nested = [nested]
    with pytest.raises(memspan.InvalidInput, match="RecursionError"):
        below(100, lambda: session.add_response(nested))
