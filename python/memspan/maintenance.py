"""Maintenance that runs by itself: a thread that calls `Engine.maintain`, one maintainer at a time over all processes of a store."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self
from weakref import ref

from memspan._fence import is_mapping, is_number
from memspan._flags import shown
from memspan._forks import renewed_in_child
from memspan._threads import Latch, started
from memspan._values import asdict
from memspan.exceptions import InvalidInput, StateError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from memspan.engine import Engine, MaintenanceReport
    from memspan.erasure import Retention

__all__ = ["Maintenance"]

_FILE = "maintenance"
_MOST_BYTES = 1 << 16
_LONGEST = 1e9
_LOG = logging.getLogger("memspan")


class Maintenance:
    """Maintains a store again and again while its `with` block runs, and the engine is open. Made by `Engine.maintenance`.

    The process that maintains the store locks the file `maintenance` in its folder. The file keeps the last report with its time, so that
    a process that is started anew does not begin again before `every` is over.
    """

    def __init__(self, engine: Engine, every: timedelta | float, *, compact: bool = False, retention: Retention | None = None) -> None:
        seconds = every.total_seconds() if isinstance(every, timedelta) else every
        if not is_number(seconds) or not 1 <= seconds <= _LONGEST:
            raise InvalidInput(f"maintaining a store: every= is a timedelta or seconds, 1 at least, and it is {shown(every)}: change it")
        self._engine = engine
        self._seconds = float(seconds)
        self._compact = compact
        self._retention = retention
        self._stop = Latch()
        self._reported = Latch()
        self._file: int | None = None
        """The file while this object has locked it."""
        self._report: MaintenanceReport | None = None
        self._error: Exception | None = None
        self._thread: threading.Thread | None = None
        renewed_in_child(self)

    @property
    def report(self) -> MaintenanceReport | None:
        """The last report of this object; `None` before the first."""
        return self._report

    @property
    def error(self) -> Exception | None:
        """The error of its last attempt; `None` where that succeeded."""
        return self._error

    @property
    def last(self) -> Mapping[str, Any] | None:
        """The last report of any process, with `finished_at` (seconds since 1970); `None` where there is none."""
        return _read(self._path)

    def wait_for_report(self, timeout_seconds: float = 60.0) -> MaintenanceReport:
        """Waits for its first report.

        Raises:
            StateError: There is none in that time.
        """
        if self._reported.wait(timeout_seconds) and self._report is not None:
            return self._report
        raise StateError(
            f"waiting for maintenance: no report within {timeout_seconds} seconds: another process may be at it"
        ) from self._error

    @property
    def _path(self) -> str:
        return str(self._engine.path / _FILE)

    def _attempt(self) -> float:
        """Maintains where nobody else is at it and the time has come; seconds until the next attempt."""
        try:
            file = self._claimed()
            if file is None:
                return min(self._seconds, 60.0)
            try:
                left = _due(file, self._seconds)
                if left > 0:
                    return left
                self._report = self._engine.maintain(compact=self._compact, retention=self._retention)
                self._error = None
                _write(file, {**asdict(self._report), "finished_at": time.time()})
                self._reported.open()
            finally:
                self._release()
        except Exception as error:  # noqa: BLE001  a clock or an embedder of the caller's may raise anything, and must not end the thread
            self._error = error
            if self._engine.closed:
                return 0.0
            _LOG.warning("maintenance of %s failed, and is tried again: %r", self._engine.path, error)
            return min(self._seconds, 60.0)
        return self._seconds

    def _claimed(self) -> int | None:
        """The file, locked; `None` where another process has it. The lock goes with the process that holds it."""
        import fcntl  # noqa: PLC0415  where there is none there is no store either

        self._file = file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException as error:
            self._file = None
            os.close(file)
            if isinstance(error, BlockingIOError):
                return None
            raise
        return file

    def _release(self) -> None:
        """Gives the file back. It is unlocked first: a child that was forked meanwhile may have it too, and with it the lock."""
        import fcntl  # noqa: PLC0415

        file, self._file = self._file, None
        if file is None:
            return
        try:
            fcntl.flock(file, fcntl.LOCK_UN)
        finally:
            os.close(file)

    def _renew(self) -> None:
        """In the child of a fork, which has no thread that maintains: the lock is not to live as long as the child."""
        self._stop, self._reported, self._thread = Latch(), Latch(), None
        if self._report is not None:
            self._reported.open()
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        self._stop = stop = Latch()
        own = ref(self, stop.wake)  # also where the end of the block is interrupted before it begins
        self._thread = threading.Thread(target=_run, args=(own, stop), name="memspan-maintenance", daemon=True)
        try:
            self._engine._store.maintaining.add(stop)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            started(self._thread, "maintaining a store")
        except BaseException:
            self._thread = None
            stop.open()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._stop.open()
        if self._thread is not None:
            self._thread.join()


def _run(own: ref[Maintenance], stop: Latch) -> None:
    """Maintains until it is told to stop, the engine is closed, or nobody has the object any more."""
    pause = 0.0
    while not stop.wait(pause):
        maintenance = own()
        if maintenance is None or maintenance._engine.closed:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            break
        pause = maintenance._attempt()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        del maintenance


def _due(file: int, seconds: float) -> float:
    """Seconds until the next is due, by the report in the file; 0 for now, also where the clock was set back."""
    before = _parsed(os.pread(file, _MOST_BYTES, 0))
    age = time.time() - before["finished_at"] if before else seconds
    return seconds - age if 0 <= age < seconds else 0.0


def _write(file: int, report: dict[str, Any]) -> None:
    body = json.dumps(report).encode()
    os.ftruncate(file, 0)
    os.pwrite(file, body, 0)


def _read(path: str) -> Mapping[str, Any] | None:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return _parsed(os.pread(file, _MOST_BYTES, 0))
    finally:
        os.close(file)


def _parsed(body: bytes) -> Mapping[str, Any] | None:
    try:
        value = json.loads(body)
    except ValueError:
        return None
    return value if is_mapping(value) and isinstance(value.get("finished_at"), int | float) else None
