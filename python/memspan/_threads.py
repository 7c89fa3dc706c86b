"""How threads begin here, and how they wait for one another.

A signal's handler runs between any two steps of the main thread's Python code, and so does `__del__` in any thread. Either may raise, or
call memspan again. So a thread waits for another one on a lock or a queue that is written in C. `Event`, `Condition` and `Future` of the
standard library are written in Python: they stay locked where a handler raises inside of them.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from memspan.exceptions import StateError

if TYPE_CHECKING:
    from collections.abc import Callable
    from queue import SimpleQueue

__all__ = ["GET_THREADS", "NO_THREAD", "Latch", "no_thread", "started"]

NO_THREAD = "it runs in a thread of its own, and the system gives no more threads"
GET_THREADS = "end threads that are not needed, or raise the limit (ulimit -u, pids.max of a container)"


class Latch:
    """Closed until it is opened, once and for all. Any number of threads may wait for that."""

    __slots__ = ("__weakref__", "_is_open", "_woken")

    def __init__(self) -> None:
        from queue import SimpleQueue  # noqa: PLC0415  import memspan is spared it

        self._is_open = False
        self._woken: SimpleQueue[object] = SimpleQueue()

    @property
    def is_open(self) -> bool:
        """Whether it was opened."""
        return self._is_open

    def open(self) -> None:
        """Lets those go who wait, and those who come later."""
        self._is_open = True
        self._woken.put(None)

    @property
    def wake(self) -> Callable[[object], None]:
        """A function in C that ends one wait, though it is not open."""
        return self._woken.put

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until it is open, or somebody is woken, or the time is over; whether it is open."""
        from queue import Empty  # noqa: PLC0415  the same

        if not self._is_open:
            try:
                self._woken.get(timeout=None if seconds is None else max(seconds, 0.0))
            except Empty:
                pass
            finally:
                if self._is_open:
                    self._woken.put(None)  # type: ignore[unreachable]  # another thread opened it: for the next who waits
        return self._is_open


class _Started(threading.Event):
    """The event by which `Thread.start` waits until the thread runs, which then runs for certain: Python's own may keep it from that."""

    def __init__(self) -> None:
        super().__init__()
        self._latch = Latch()

    def is_set(self) -> bool:
        return self._latch.is_open

    def set(self) -> None:
        self._latch.open()

    def wait(self, timeout: float | None = None) -> bool:
        return self._latch.wait(timeout)


def started(thread: threading.Thread, doing: str) -> None:
    """Starts a thread.

    Raises:
        StateError: The system gives no more threads.
    """
    setattr(thread, "_started", _Started())  # noqa: B010  Python's own, which is not declared
    try:
        thread.start()
    except RuntimeError as error:
        raise (no_thread(doing, error) or error) from None


def no_thread(doing: str, error: RuntimeError) -> StateError | None:
    """The error of a call that needs a thread and gets none; `None` where Python says something else."""
    if "new thread" not in str(error):
        return None
    return StateError(f"{doing}: {NO_THREAD} ({error}): {GET_THREADS}")
