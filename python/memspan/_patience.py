"""Functions of a caller's in threads of their own: one that hangs holds up neither its caller nor the end of the process.

`answered` is the one call with a deadline: embedders, detectors and language models are asked by it.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from memspan._twins import loop_to_use
from memspan.exceptions import StateError

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Sequence

__all__ = ["MOST_THREADS", "Begun", "answered", "begun"]

MOST_THREADS = 32
"""In which the calls of one reply run."""

GRACE_SECONDS = 0.05
"""In which a function that hung may return before its next call is refused."""

T = TypeVar("T")

_hanging: dict[threading.Thread, object] = {}
"""The threads that nobody waits for any more, with the functions that they call. No lock: each step on it is one of the dict's."""
_own = threading.local()


def answered(function: object, work: Callable[[], object], seconds: float | None) -> list[object]:
    """The result or the exception of `work`, which calls `function`; empty where it takes longer, or an earlier call of it still hangs.

    A function that hangs so costs one thread for each caller that waits for it at once, however often it is asked. One that calls
    itself again through memspan would wait for itself, so the inner call is not made. An awaitable is awaited: in the event loop of the
    awaitable twin that is waiting, else in one of its own.

    Raises:
        StateError: The system gives no more threads.
    """
    from memspan._threads import started  # noqa: PLC0415  import memspan is spared it

    asking: tuple[object, ...] = getattr(_own, "asking", ())
    if any(_same(one, function) for one in asking) or _hangs(function, seconds):
        return []
    outcome: list[object] = []
    loop, until = loop_to_use(), None if seconds is None else time.monotonic() + seconds

    def call() -> None:
        _own.asking = (*asking, function)
        try:
            outcome.extend(_settled(work(), loop, until))
        except BaseException as error:  # noqa: BLE001  whatever a caller's function raises, it ends this call and no thread
            outcome.append(error)

    thread = threading.Thread(target=call, name="memspan-caller", daemon=True)
    try:
        started(thread, "calling a function of yours")
        thread.join(seconds)
    finally:  # also where Ctrl-C ends the wait
        if not outcome:
            _hanging[thread] = function
    return outcome[:1]


def _hangs(function: object, seconds: float | None) -> bool:
    """Whether an earlier call of a function still hangs, after a last moment of patience."""
    earlier: list[threading.Thread] = []
    for thread, one in _hanging.copy().items():
        if not thread.is_alive():
            _hanging.pop(thread, None)
        elif _same(one, function):
            earlier.append(thread)
    until = time.monotonic() + min(GRACE_SECONDS if seconds is None else seconds, GRACE_SECONDS)
    for thread in earlier:
        thread.join(max(until - time.monotonic(), 0.0))
    return any(thread.is_alive() for thread in earlier)


def _same(one: object, other: object) -> bool:
    """A method of an object is another value each time it is named, and equal."""
    return one is other or (type(one) is type(other) and (one == other) is True)


def _settled(value: Any, loop: AbstractEventLoop | None, until: float | None) -> list[object]:
    """The value, awaited where it must be; empty where that takes too long."""
    if not hasattr(value, "__await__"):
        return [value]
    import asyncio  # noqa: PLC0415  programs without an event loop do not pay for it

    left = None if until is None else max(until - time.monotonic(), 0.0)

    async def settled() -> list[object]:
        limit = asyncio.timeout(left)
        try:
            async with limit:
                return [await value]
        except TimeoutError:
            if limit.expired():
                return []
            raise

    if loop is None:
        return asyncio.run(settled())
    future = asyncio.run_coroutine_threadsafe(settled(), loop)
    try:
        return future.result(left)
    except TimeoutError:
        if future.done():
            raise  # its own
        future.cancel()  # or the call would go on in the caller's loop
        return []


class Begun(Generic[T]):
    """A work that was begun, or waits for that."""

    __slots__ = ("_done", "_error", "_result")

    def __init__(self) -> None:
        from memspan._threads import Latch  # noqa: PLC0415  import memspan is spared it

        self._done = Latch()
        self._result: list[T] = []
        self._error: BaseException | None = None

    def run(self, work: Callable[[], T]) -> None:
        """Does the work, whose error is kept for those who ask for the result."""
        try:
            self._result.append(work())
        except BaseException as error:  # noqa: BLE001  it is raised where the result is asked for
            self._error = error
        self._done.open()

    def error(self, seconds: float) -> BaseException | None:
        """The error of the work, or `None`, once it is done.

        Raises:
            TimeoutError: It is not done within that time.
        """
        if not self._done.wait(seconds):
            raise TimeoutError
        return self._error

    def result(self) -> T:
        """The result of a work that is done without an error."""
        return self._result[0]


def begun(works: Sequence[Callable[[], T]]) -> tuple[list[Begun[T]], Callable[[], None]]:
    """All works, in their order, and a function that takes those back that have not begun.

    Raises:
        StateError: The system gives no thread at all.
    """
    from memspan._threads import started  # noqa: PLC0415  import memspan is spared it

    all_of_them: list[Begun[T]] = [Begun() for _ in works]
    waiting = list(zip(all_of_them, works, strict=True))[::-1]

    def run() -> None:
        while waiting:
            try:
                one, work = waiting.pop()
            except IndexError:
                return  # another thread took the last one
            one.run(work)

    for number in range(min(len(works), MOST_THREADS)):
        try:
            started(threading.Thread(target=run, name="memspan-tool", daemon=True), "running tools")
        except StateError:
            if not number:
                raise
            break  # those that there are do all of them
    return all_of_them, waiting.clear
