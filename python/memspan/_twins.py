"""The awaitable twins of calls that can wait: one mechanism, no second copy of a body.

A twin runs the plain call in a thread. Short calls of the store take one of the event loop's pool. Calls that may wait for a model, a
tool or a slow embedder have a thread of their own, so that no other call waits for them; nobody waits for these threads when the process
ends. Cancelling the await frees the caller at once, and does not undo a write that is under way.
"""

from __future__ import annotations

import functools
import os
from contextlib import suppress
from contextvars import ContextVar, copy_context
from itertools import islice
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from memspan.exceptions import StateError

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future, Semaphore
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterator, MutableMapping
    from contextvars import Context
    from queue import SimpleQueue

    from memspan._threads import Latch

__all__ = ["MOST_ASKING", "Steps", "alone", "async_iterable", "awaitable", "awaiting_loop", "each_alone", "ended", "loop_to_use"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

_PAGE = 256
_END = object()

MOST_ASKING = 64
"""How many calls of one event loop may ask functions of the caller's at once, embedders for instance. The others wait for their turn.

A call whose caller was cancelled has its place until its thread is done with it.
"""

_AWAITING = "awaiting a call"

_IDLE_SECONDS = 5.0
"""How long a thread that has nothing to do waits for more."""

awaiting_loop: ContextVar[AbstractEventLoop | None] = ContextVar("awaiting_loop", default=None)
"""The event loop in which a twin waits for the plain call that runs in this thread: what has an awaitable form of its own is run there."""

_idle: list[SimpleQueue[Callable[[], object]]] = []
"""What the threads that have nothing to do read their next work from."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # its threads are not there any more
_rooms: MutableMapping[AbstractEventLoop, Semaphore] | None = None


def _asks(owner: Any, options: dict[str, Any]) -> bool:
    """Whether a call of a part of a store may ask a function of the caller's: an embedder, a detector, what counts or sums up."""
    return owner._store.asks or getattr(owner, "_results", None) is not None or options.get("count") is not None  # noqa: SLF001


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


def awaitable(plain: Callable[_P, _R], *, waits: bool = False, asks: bool = False) -> Callable[_P, Coroutine[Any, Any, _R]]:
    """The twin of a function or a method: the same arguments, result and errors.

    Args:
        plain: The function.
        waits: It may wait for a model or a tool, or work for long. It has a thread of its own, however many there are.
        asks: It asks functions of the caller's where the store has any, an embedder for instance. Then it has a thread of its own too,
            and `MOST_ASKING` run at once.
    """

    async def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        work = functools.partial(plain, *args, **kwargs)
        if waits:
            return await alone(work)
        if asks and _asks(args[0], kwargs):
            return await _in_room(work)
        return await _pooled(work)

    own = "a thread of its own" if waits else "a worker thread"
    _describe(call, plain, f"the same call in {own}. Cancelling it does not undo a write.")
    return call


def async_iterable(plain: Callable[_P, Iterator[_R]]) -> Callable[_P, AsyncIterator[_R]]:
    """The twin of a method that returns an iterator: each page of it is fetched in a worker thread."""

    async def call(*args: _P.args, **kwargs: _P.kwargs) -> AsyncIterator[_R]:
        items = plain(*args, **kwargs)
        while page := await _pooled(lambda: list(islice(items, _PAGE))):
            for item in page:
                yield item

    _describe(call, plain, f"{_PAGE} items at a time are fetched in a worker thread.")
    return call


async def alone(work: Callable[[], _R]) -> _R:
    """A function's result or error, in a thread of its own, with the caller's context. A cancelled caller leaves the thread behind."""
    return await _started(work)


async def _in_room(work: Callable[[], _R]) -> _R:
    """The same, of a call that asks a function of the caller's: it waits for a place, which is free again when the thread is done."""
    import asyncio  # noqa: PLC0415  programs without an event loop do not pay for it

    loop, room = asyncio.get_running_loop(), _room()
    await room.acquire()
    try:
        done = _started(work, then=functools.partial(_told, loop, room.release))
    except BaseException:
        room.release()
        raise
    return await done


async def _pooled(work: Callable[[], _R]) -> _R:
    """A function's result or error, in a thread of the event loop's pool, with the caller's context."""
    import asyncio  # noqa: PLC0415  programs without an event loop do not pay for it

    loop, wanted = asyncio.get_running_loop(), [work]
    context = _context(loop)

    def run() -> _R:
        return context.run(_kept, wanted.pop())

    try:
        done = loop.run_in_executor(None, run)
    except RuntimeError as error:
        from memspan._threads import no_thread  # noqa: PLC0415  the same

        wanted.clear()  # the pool has it in its queue all the same
        raise (no_thread(_AWAITING, error) or error) from None
    return await done


async def ended(work: Callable[[], _R]) -> _R:
    """The same of the end of a block: a caller that is cancelled meanwhile waits for it all the same, unless it is cancelled again."""
    import asyncio  # noqa: PLC0415

    done = _started(work)
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done])
        _heard(done)
        raise


async def each_alone(items: Generator[_R]) -> AsyncGenerator[_R]:
    """Waits for each item of a generator in a thread. A cancelled caller is free at once; the generator is closed behind the item."""
    import asyncio  # noqa: PLC0415

    steps = Steps(items)
    try:
        while (item := await asyncio.shield(steps.begun(functools.partial(next, items, _END)))) is not _END:
            yield item  # pyright: ignore[reportReturnType]  no end
    finally:
        await steps.left()


class Steps:
    """A generator whose steps run in threads, one at a time, in one context."""

    __slots__ = ("_context", "_items", "_last")

    def __init__(self, items: Generator[Any, Any]) -> None:
        import asyncio  # noqa: PLC0415

        self._items, self._context = items, _context(asyncio.get_running_loop())
        self._last: Latch | None = None
        """Open when the last step is done; `None` before the first."""

    @property
    def at_rest(self) -> bool:
        """Whether no step is under way."""
        return self._last is None or self._last.is_open

    def begun(self, work: Callable[[], _R]) -> Future[_R]:
        """The result of a step, which goes on even where nobody waits for it any more."""
        from memspan._threads import Latch  # noqa: PLC0415  import memspan is spared it

        before, self._last = self._last, Latch()
        try:
            step = _started(work, self._context, self._last.open)
        except StateError:  # there is no room for another thread
            self._last = before
            raise
        step.add_done_callback(_heard)
        return step

    async def left(self) -> None:
        """Closes the generator. That is waited for, unless a step is under way, which may never end: then it is closed behind that."""
        from asyncio import shield  # noqa: PLC0415

        leaves = not self.at_rest
        closed = self._closed()
        if leaves:
            closed.add_done_callback(_heard)
        else:
            await shield(closed)

    def _closed(self) -> Future[None]:
        """Closes the generator, behind the step that is under way; it is done whether or not somebody waits for it."""

        def close() -> None:
            if self._last is not None:
                self._last.wait()
            self._items.close()

        return _started(close, self._context.copy())


def _started(work: Callable[[], _R], context: Context | None = None, then: Callable[[], object] | None = None) -> Future[_R]:
    """The result of a function that begins in a thread of its own. It is not a task: the end of `asyncio.run` cancels those."""
    import asyncio  # noqa: PLC0415  programs without an event loop do not pay for it

    loop = asyncio.get_running_loop()
    done: Future[_R] = loop.create_future()
    context = _context(loop) if context is None else context

    def settle(result: Any, error: BaseException | None) -> None:
        if done.done():  # its caller was cancelled
            return
        if error is None:
            done.set_result(result)
        else:
            done.set_exception(error)

    def run() -> None:
        result, error = None, None
        try:
            result = context.run(_kept, work)
        except BaseException as raised:  # noqa: BLE001  it is raised to the caller that waits
            error = raised
        if then is not None:
            then()
        try:
            _told(loop, settle, result, error)
        finally:
            del result, error  # an error knows this frame

    _begin(run)
    return done


def _told(loop: AbstractEventLoop, what: Callable[..., object], *given: Any) -> None:
    """Has a function called in an event loop, unless that is closed: nobody waits any more."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(what, *given)


def _heard(done: Future[Any]) -> None:
    """Takes an error note of, which asyncio would log where nobody waits for it any more."""
    if not done.cancelled():
        done.exception()


def _kept(work: Callable[[], _R]) -> _R:
    """A function's result or error. An error that no future can hold becomes what it becomes in generators."""
    try:
        return work()
    except StopIteration as error:
        raise RuntimeError("the call raised StopIteration") from error


def _context(loop: AbstractEventLoop) -> Context:
    """A copy of the caller's context, in which it is known who waits."""
    context = copy_context()
    context.run(awaiting_loop.set, loop)
    return context


def _begin(work: Callable[[], object]) -> None:
    """Runs a function in a thread that does nothing else, which may be one that was idle."""
    from queue import SimpleQueue  # noqa: PLC0415  import memspan is spared it
    from threading import Thread  # noqa: PLC0415

    from memspan._threads import started  # noqa: PLC0415  the same

    try:
        queue = _idle.pop()
    except IndexError:
        queue = cast("SimpleQueue[Callable[[], object]]", SimpleQueue())
        started(Thread(target=_work, args=(queue,), name="memspan-call", daemon=True), _AWAITING)
    queue.put(work)


def _work(queue: SimpleQueue[Callable[[], object]]) -> None:
    from queue import Empty  # noqa: PLC0415

    while True:
        try:
            work = queue.get(timeout=_IDLE_SECONDS)
        except Empty:
            try:
                _idle.remove(queue)
            except ValueError:  # somebody took it just now
                continue
            return
        work()
        del work
        _idle.append(queue)


def _room() -> Semaphore:
    """The room that calls of this event loop have which ask the caller's functions."""
    global _rooms  # noqa: PLW0603
    import asyncio  # noqa: PLC0415

    if _rooms is None:
        from weakref import WeakKeyDictionary  # noqa: PLC0415  asyncio has it

        _rooms = WeakKeyDictionary()
    loop = asyncio.get_running_loop()
    room = _rooms.get(loop)
    if room is None:
        room = _rooms[loop] = asyncio.Semaphore(MOST_ASKING)
    return room


def _describe(call: Callable[..., object], plain: Callable[..., object], how: str) -> None:
    functools.update_wrapper(call, plain)
    call.__name__ = f"a{plain.__name__}"
    call.__qualname__ = plain.__qualname__.removesuffix(plain.__name__) + call.__name__
    call.__doc__ = f"The awaitable twin of `{plain.__name__}`: {how}"
