"""`Lease`: the right to answer a session, of one worker at a time. `Session.lease` makes it.

A holder that dies holds until its time is over, unless it can be seen to be dead: on Linux a lease names the boot, the space of process
numbers, the process and when that began, and a waiting process on the same machine takes over at once. A holder that hangs, and one on a
machine or in a container that cannot be looked into, is waited for.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Self

from memspan._copies import of_engine
from memspan._core import Limits
from memspan._fence import is_number
from memspan._flags import shown
from memspan._forks import Lock
from memspan._twins import alone, ended
from memspan.exceptions import Error, InvalidInput, StateError, StoreBusy

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from datetime import datetime

    from memspan import _core, _records
    from memspan.short_term import Added, NewMessage

__all__ = ["Lease"]

_FIRST_PAUSE = 0.01
_LONGEST_PAUSE = 0.2
_STARTED = 19
"""Where a line of /proc/PID/stat has the start of the process, counted from the field behind its name."""


@of_engine("take another one of the session", changes=True)
class Lease:
    """The right to answer a session, of one worker at a time. Made by `Session.lease`; used in a `with` or `async with` block.

    It ends with the block, with the reply that is added by it and answers (it calls no tool and is not a pause), or by its time where the
    worker died. A block that is interrupted or cancelled while it is entered leaves no lease behind. Messages are added by anybody
    meanwhile.

    Attributes:
        added: The outcome of the message that it was taken with.

    Examples:
        >>> session = user.session("s-1", model="gpt-4o")
        >>> with session.lease(message={"role": "user", "content": "2 + 2?"}, id="webhook-77") as lease:
        ...     turn = session.add_response(memspan.testing.openai_response("4"), prompt=session.assemble(), lease=lease)
        ...     lease.added.action, lease.held
        ('added', False)
    """

    __slots__ = (
        "_changing",
        "_core",
        "_entered",
        "_held",
        "_holder",
        "_left",
        "_renewed",
        "_row",
        "_seconds",
        "_trying",
        "_unsure",
        "_wait",
        "_written",
        "added",
    )

    def __init__(
        self,
        core: _core.SessionCore,
        seconds: float,
        wait_seconds: float,
        row: NewMessage | None = None,
        written: Callable[[Added], Added] | None = None,
    ) -> None:
        if not is_number(wait_seconds) or not 0 <= wait_seconds <= Limits.MAX_WAIT_SECONDS:
            raise InvalidInput(
                f"taking a lease: wait_seconds must be from 0 to a day, got {shown(wait_seconds)} (wait_seconds=): change it"
            )
        self._core, self._seconds, self._wait, self._row, self._written = core, seconds, wait_seconds, row, written
        self._holder = _name_of_a_holder()
        self._entered = self._held = False
        self._changing = Lock()
        self._renewed = False
        """Whether it was renewed since the reply began to be added."""
        self._unsure = False
        """Whether it is not known if it was taken: the call was interrupted."""
        self._trying = self._left = False
        """Whether a thread tries to take it now, and whether nobody waits for that any more."""
        self.added: Added | None = None

    def __repr__(self) -> str:
        return f"Lease(session={self._core.id!r}, held={self._held})"

    @property
    def held(self) -> bool:
        """Whether it is held: taken, and not given back. Its time may be over all the same."""
        return self._held

    def renew(self, seconds: float | None = None) -> None:
        """Prolongs the lease to this many seconds from now; by default to the original length.

        Raises:
            StateError: It is not held: its block is over, or the reply was added by it.
            StoreBusy: Its time was over, and another worker answers now.
        """
        with self._changing.native:  # a thread that renews now and then must not take again what the reply ends
            if not self._held:
                raise StateError(
                    f"renewing the lease of session {self._core.id!r}: it must be held, and it is not: its block is over, or the reply was "
                    "added by it"
                )
            self._renewed = True
            other = self._core.take_lease(self._holder, self._seconds if seconds is None else seconds, None)
            if other is not None:
                self._held = False
                raise self._busy(other)

    def add_response(self, response: Any, prompt: _core.PromptCore | None, created_at: datetime | None) -> _records.Replied:
        """Adds a reply by it, and ends it where the reply calls no tool; what became of it. Private."""
        with self._changing.native:
            self._renewed = False
            replied = self._core.add_response(response, prompt, self._holder, None, created_at)
            if replied.is_last:
                self._held = False
                if self._renewed:  # by a signal's handler meanwhile
                    self._core.release_lease(self._holder)
            return replied

    def __enter__(self) -> Self:
        self._enter()
        try:
            for pause in self._tries():
                time.sleep(pause)
        except BaseException:
            self._undo()
            raise
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._entered = False
        try:
            self._release()
        except Error:
            raise
        except BaseException:
            self._undo()  # a signal came, which must not keep it
            raise

    async def __aenter__(self) -> Self:
        from asyncio import sleep  # noqa: PLC0415  programs without an event loop do not pay for it

        self._enter()
        tries = self._tries()
        try:
            while (pause := await alone(partial(self._tried, tries))) is not None:  # noqa: ASYNC110  another process holds it
                await sleep(pause)
        except BaseException:
            self._left = True  # a try that is under way gives back what it takes
            if not self._trying and (self._held or self._unsure):
                await ended(self._undo)
            self._entered = False
            raise
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        await ended(partial(self.__exit__, kind, error, trace))

    def __del__(self) -> None:
        """Gives it back where the end of its block was interrupted before it began. A fork's copy of it is not the holder."""
        try:
            if (self._held or self._unsure) and self._holder.split("/")[-3] == str(os.getpid()):
                self._undo()
        except Exception:  # noqa: BLE001, S110  it is not whole, or the interpreter ends: nobody can be told
            pass

    def _enter(self) -> None:
        if self._entered:
            raise InvalidInput(
                f"taking the lease of session {self._core.id!r}: a lease is entered once at a time, and this one is in use: take another "
                "by Session.lease"
            )
        self._entered, self._left = True, False

    def _undo(self) -> None:
        """Gives back what was taken, or may have been: a call that was interrupted does not say."""
        self._entered = False
        with suppress(Error):
            self._release()

    def _release(self) -> None:
        with self._changing.native:
            if self._held or self._unsure:
                try:
                    self._core.release_lease(self._holder)
                except Error:
                    self._held = self._unsure = False
                    raise
                self._held = self._unsure = False

    def _tried(self, tries: Generator[float]) -> float | None:
        """One try in a thread: how long to wait before the next; `None` where it is taken."""
        if self._left:
            return None
        self._trying = True
        try:
            return next(tries, None)
        finally:
            self._trying = False
            self._undo_if_left()

    def _undo_if_left(self) -> None:
        if self._left:
            self._undo()

    def _tries(self) -> Generator[float]:
        """Tries until it is taken; yields how long to wait before the next."""
        until, pause = time.monotonic() + self._wait, _FIRST_PAUSE
        while (other := self._take(None)) is not None:
            if _is_dead(other.holder) and self._take(other.holder) is None:
                return
            left = until - time.monotonic()
            if left <= 0:
                raise self._busy(other)
            yield min(pause, left)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _take(self, dead: str | None) -> _records.LeaseHolder | None:
        """Takes it, with its message where it has one. Returns the holder, where that is another who lives."""
        added = None
        self._unsure = True
        try:
            if self._row is None:
                other = self._core.take_lease(self._holder, self._seconds, dead)
            else:
                added, other = self._core.add_leased(self._row, self._holder, self._seconds, dead)
        except Error:
            self._unsure = False
            raise
        self._held = other is None
        self._unsure = False
        if added is not None and self._written is not None:
            self.added = self._written(added)
        return other

    def _busy(self, other: _records.LeaseHolder) -> StoreBusy:
        return StoreBusy(
            f"answering session {self._core.id!r}: one worker answers at a time, and {other.holder} does since {other.since:%H:%M:%S}, "
            f"until {other.until:%H:%M:%S} (UTC) at the latest: wait longer (wait_seconds=), or leave the answer to it",
            session_id=self._core.id,
            holder=other.holder,
            until=other.until,
        )


def _name_of_a_holder() -> str:
    import uuid  # noqa: PLC0415  few programs take a lease

    return f"{_host()}/{os.getpid()}/{_process(os.getpid())}/{uuid.uuid4().hex}"


@lru_cache(maxsize=1)
def _host() -> str:
    import socket  # noqa: PLC0415  few programs take a lease

    return socket.gethostname().replace("/", "_")[:80]


@lru_cache(maxsize=1)
def _process(pid: int) -> str:
    """This process, as no other ever was or will be: boot, space of process numbers, start. "unknown" where the system does not say."""
    started = _started(pid)
    try:
        boot = _read("/proc/sys/kernel/random/boot_id").strip()
        space = os.readlink("/proc/self/ns/pid").strip("pid:[]")  # noqa: PTH115  pathlib is not paid for at import
    except OSError:
        return "unknown"
    return "unknown" if started is None else f"{boot}.{space}.{started}"


def _started(pid: int) -> str | None:
    """When a process began, in ticks since the boot. "ended" of one that only waits to be reaped, `None` where that cannot be read."""
    try:
        state, *fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    except (OSError, ValueError):
        return None
    return "ended" if state in {"Z", "X"} else fields[_STARTED - 1]


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123  pathlib costs a tenth of the import
        return file.read()


def _is_dead(holder: str) -> bool:
    """Whether a holder ran where this process can see it, and is not there any more."""
    *_, number, process, _ = ["", "", *holder.split("/")][-4:]
    place, _, started = process.rpartition(".")
    if not place or place != _process(os.getpid()).rpartition(".")[0] or not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # another user's: it is there
        pass
    return _started(int(number)) not in {None, started}
