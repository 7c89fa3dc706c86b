"""Functions of a caller's in threads of their own: one that hangs holds up neither its caller nor the end of the process."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["MOST_THREADS", "answered", "begun"]

MOST_THREADS = 32
"""In which the calls of one reply run."""

GRACE_SECONDS = 0.05
"""In which a function that hung may return before its next call is refused."""

T = TypeVar("T")

_hanging: dict[int, threading.Thread] = {}


def answered(function: object, work: Callable[[], object], seconds: float) -> list[object]:
    """What `work` returned or raised, which calls `function`; empty where it takes longer, or where an earlier call of it still hangs.

    A function that hangs so costs one thread, however often it is asked.
    """
    earlier = _hanging.get(id(function))
    if earlier is not None:
        earlier.join(min(seconds, GRACE_SECONDS))
        if earlier.is_alive():
            return []
        _hanging.pop(id(function), None)
    outcome: list[object] = []

    def call(kept: object = function) -> None:  # its id is nobody else's while the thread has it
        try:
            outcome.append(work())
        except BaseException as error:  # noqa: BLE001  whatever a caller's function raises, it ends this call and no thread
            outcome.append(error)
        del kept

    thread = threading.Thread(target=call, name="memspan-caller", daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        _hanging[id(function)] = thread
    return outcome[:1]


def begun(works: Sequence[Callable[[], T]]) -> tuple[list[Future[T]], Callable[[], None]]:
    """The results to be of all works, in their order, and what takes back those that have not begun."""
    futures: list[Future[T]] = [Future() for _ in works]
    waiting = list(zip(futures, works, strict=True))[::-1]

    def run() -> None:
        while waiting:
            try:
                future, work = waiting.pop()
            except IndexError:
                return  # another thread took the last one
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001  it is raised to whoever asks for the result
                future.set_exception(error)

    for _ in range(min(len(works), MOST_THREADS)):
        threading.Thread(target=run, name="memspan-tool", daemon=True).start()
    return futures, waiting.clear
