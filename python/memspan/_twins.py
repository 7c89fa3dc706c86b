"""The awaitable twins of calls that can wait: one mechanism, no second copy of a body.

A twin runs the plain call in a thread of the event loop's pool. Cancelling the await does not undo a write that is under way.
"""

from __future__ import annotations

import functools
from contextvars import ContextVar
from itertools import islice
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator

_P = ParamSpec("_P")
_R = TypeVar("_R")

_PAGE = 256

awaiting_loop: ContextVar[AbstractEventLoop | None] = ContextVar("awaiting_loop", default=None)
"""The event loop in which a twin waits for the plain call that runs in this thread: what has an awaitable form of its own is run there."""


def loop_to_use() -> AbstractEventLoop | None:
    """The event loop in which a twin waits for this thread; none on the loop's own thread, which cannot wait for itself."""
    loop = awaiting_loop.get()
    if loop is None or not loop.is_running():
        return None
    import asyncio  # noqa: PLC0415  programs without an event loop do not pay for it

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return loop
    return None


def awaitable(plain: Callable[_P, _R]) -> Callable[_P, Coroutine[Any, Any, _R]]:
    """The twin of a function or a method: the same arguments, result and errors."""

    async def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        import asyncio  # noqa: PLC0415  programs without an event loop do not pay for it

        token = awaiting_loop.set(asyncio.get_running_loop())
        try:
            return await asyncio.to_thread(plain, *args, **kwargs)
        finally:
            awaiting_loop.reset(token)

    _describe(call, plain, "the same call in a worker thread. Cancelling it does not undo a write.")
    return call


def async_iterable(plain: Callable[_P, Iterator[_R]]) -> Callable[_P, AsyncIterator[_R]]:
    """The twin of a method that returns an iterator: each page of it is fetched in a worker thread."""

    async def call(*args: _P.args, **kwargs: _P.kwargs) -> AsyncIterator[_R]:
        import asyncio  # noqa: PLC0415

        items = plain(*args, **kwargs)
        while page := await asyncio.to_thread(lambda: list(islice(items, _PAGE))):
            for item in page:
                yield item

    _describe(call, plain, f"{_PAGE} items at a time are fetched in a worker thread.")
    return call


def _describe(call: Callable[..., object], plain: Callable[..., object], how: str) -> None:
    functools.update_wrapper(call, plain)
    call.__name__ = f"a{plain.__name__}"
    call.__qualname__ = plain.__qualname__.removesuffix(plain.__name__) + call.__name__
    call.__doc__ = f"The awaitable twin of `{plain.__name__}`: {how}"
