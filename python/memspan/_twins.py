"""The awaitable twins of calls that can wait: one mechanism, no second copy of a body.

A twin runs the plain call in a thread of the event loop's pool. Cancelling the await does not undo a write that is under way.
"""

from __future__ import annotations

import functools
from itertools import islice
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator

_P = ParamSpec("_P")
_R = TypeVar("_R")
_S = TypeVar("_S")

_PAGE = 256


def awaitable(method: Callable[Concatenate[_S, _P], _R]) -> Callable[Concatenate[_S, _P], Coroutine[Any, Any, _R]]:
    """The twin of a method: the same arguments, result and errors."""

    async def call(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        import asyncio  # noqa: PLC0415  programs without an event loop do not pay for it

        return await asyncio.to_thread(method, self, *args, **kwargs)

    _describe(call, method, "the same call in a worker thread. Cancelling it does not undo a write.")
    return call


def async_iterable(method: Callable[Concatenate[_S, _P], Iterator[_R]]) -> Callable[Concatenate[_S, _P], AsyncIterator[_R]]:
    """The twin of a method that returns an iterator: each page of it is fetched in a worker thread."""

    async def call(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> AsyncIterator[_R]:
        import asyncio  # noqa: PLC0415

        items = method(self, *args, **kwargs)
        while page := await asyncio.to_thread(lambda: list(islice(items, _PAGE))):
            for item in page:
                yield item

    _describe(call, method, f"{_PAGE} items at a time are fetched in a worker thread.")
    return call


def _describe(call: Callable[..., object], method: Callable[..., object], how: str) -> None:
    functools.update_wrapper(call, method)
    call.__name__ = f"a{method.__name__}"
    call.__qualname__ = method.__qualname__.removesuffix(method.__name__) + call.__name__
    call.__doc__ = f"The awaitable twin of `{method.__name__}`: {how}"
