"""The state of a task: short-lived keys and values of a session that stand in every prompt until the task is over.

A turn whose tool rounds go on keeps the block of its first prompt, and shows a change in the next turn or epoch (docs/prompt.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from memspan._copies import of_engine
from memspan._fence import fenced
from memspan._flags import shown
from memspan._twins import awaitable
from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from memspan import _core

__all__ = ["Task"]

_MOST_TRIES = 1_000


@of_engine("take it from the session there")
@fenced
class Task:
    """The state of one task of a session: made by `Session.task`, cleared when its `with` block ends.

    Values are what JSON can hold: None, bool, int, float, str, lists and dicts of these; a tuple comes back as a list. They are durable
    when a call returns, and seen by every process. Without a `with` block it stays until `clear`, or until its time to live is over,
    which begins anew with each write. A prompt that has no room for all keys shows those that were set last and says how many it leaves
    out. All methods may be called from any thread; each has an awaitable twin.

    Examples:
        >>> session = user.session("s-1", model="gpt-4o")
        >>> with session.task("review", ttl_seconds=1800) as task:
        ...     task.set("plan", "read the diff, run the tests")
        ...     task.update("done", lambda done: done + ["diff"], [])
        ...     task.items()
        ['diff']
        (('plan', 'read the diff, run the tests'), ('done', ['diff']))
        >>> session.task("review").items()
        ()
    """

    __slots__ = ("_core", "_session")

    def __init__(self, core: _core.TaskCore, session: _core.SessionCore) -> None:
        self._core = core
        self._session = session

    @property
    def name(self) -> str:
        """Its name in the session."""
        return self._core.name

    def set(self, key: str, value: Any) -> None:
        """Gives a key its value: in its old place, or behind all others.

        Args:
            key: 1 to 1,024 bytes of UTF-8.
            value: At most 1 MiB as JSON; a task has at most 1,024 keys and 4 MiB.

        Raises:
            InvalidInput: The value is not JSON, or one of these limits is exceeded.
            Closed: The session was ended.
        """
        self._core.set(key, value, None)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, a fresh one at each call; `default` where it has none, or the time to live is over."""
        _, found = self._core.get(key)
        return default if found is None else found[0]

    def update(self, key: str, change: Callable[[Any], Any], default: Any = None) -> Any:
        """Sets a key to what `change` makes of its value; tries again, with the new value, where another writer came between.

        Args:
            key: The key.
            change: Called with the value, or with `default` where there is none. It may be called several times, and outside of any
                transaction. It may write other keys of the task, and not this one.
            default: The value that it is called with where there is none yet.

        Returns:
            The new value.

        Raises:
            InvalidInput: The key had another value after each of 1,000 calls of `change`, as where that writes it. The last result was not
                written.
        """
        value, before = None, None
        for _ in range(_MOST_TRIES):
            version, found = self._core.get(key)
            if (now := repr(found)) != before:  # the version is that of the whole task: another key alone asks for no other value
                value, before = change(default if found is None else found[0]), now
            if self._core.set(key, value, version):
                return value
        raise InvalidInput(
            f"updating a task: its key must stay as it is while change runs, and {shown(key)} of task {self.name!r:.80} had another value "
            f"after each of {_MOST_TRIES:,} calls: write that key nowhere in change, or let fewer workers update it at once",
            key=key,
        )

    def remove(self, key: str) -> None:
        """Takes a key out; nothing happens where there is none."""
        self._core.remove(key)

    def items(self) -> tuple[tuple[str, Any], ...]:
        """Keys and values, in the order in which the keys were first set."""
        return tuple(self._core.items())

    def clear(self) -> bool:
        """Clears the task: the next turn's prompts do not show it. Whether there was something."""
        return self._core.clear()

    def __enter__(self) -> Self:
        self._core.touch()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self.clear():
            self._session.task_ended()

    async def __aenter__(self) -> Self:
        await awaitable(self._core.touch)()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if await self.aclear():
            await awaitable(self._session.task_ended)()

    def __repr__(self) -> str:
        return f"Task({self.name!r})"

    aset = awaitable(set)  # noqa: A003  the field's own word
    aget = awaitable(get)
    aupdate = awaitable(update)
    aremove = awaitable(remove)
    aitems = awaitable(items)
    aclear = awaitable(clear)
