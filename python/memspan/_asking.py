"""How a turn asks a model that can be awaited: it yields an `Asked`, and its driver in an event loop awaits that there.

A turn is a generator. All else that it does, and models that cannot be awaited, have a thread of their own (`memspan._twins.Steps`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from memspan._fence import kind_of
from memspan._twins import Steps
from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator

    from memspan.providers.provider import Provider
    from memspan.working import Prompt

__all__ = ["END", "Asked", "awaited"]

END: Any = object()
"""Behind the last chunk of a stream, and behind the last step of a turn."""


class Asked:
    """A call of a model that is to be awaited. It is yielded once for a response, and for each chunk of a stream."""

    __slots__ = ("_chunks", "_prompt", "_provider", "_streams")

    def __init__(self, provider: Provider, prompt: Prompt, *, streams: bool) -> None:
        self._provider, self._prompt, self._streams = provider, prompt, streams
        self._chunks: AsyncIterator[Any] | None = None

    async def answer(self) -> Any:
        """The response; of a stream the next chunk, `END` behind the last."""
        if not self._streams:
            return await _whole(self._provider.acomplete(self._prompt))
        if self._chunks is None:
            chunks: Any = await _whole(self._provider.astream(self._prompt))
            if not hasattr(chunks, "__aiter__"):
                raise InvalidInput(
                    f"asking a model: astream() of a provider yields chunks, and that of {type(self._provider).__name__} returns an object "
                    f"of type {kind_of(chunks)}: make it an async generator"
                )
            self._chunks = aiter(chunks)
        return await anext(self._chunks, END)

    async def aclose(self) -> None:
        """Ends a stream, however far it came."""
        close = getattr(self._chunks, "aclose", None)
        if close is not None:
            await close()


async def awaited(turn: Generator[Any, Any], *, whole: bool) -> AsyncGenerator[Any]:
    """The items that a turn yields. The models that it asks are awaited here, and all else happens in threads of its own.

    A caller that is cancelled while a model is awaited ends that call, and the turn.

    Args:
        turn: The turn.
        whole: Only the last of all is yielded. Then the thread of a caller that is cancelled goes on to the next call that is to be
            awaited, or to the end. Otherwise it ends with the step that is under way. Nobody waits for either.
    """
    import asyncio  # noqa: PLC0415  programs without an event loop do not pay for it

    steps, asked = Steps(turn), None
    go_on: Callable[[], Any] = partial(next, turn)
    try:
        while (found := await asyncio.shield(steps.begun(partial(_on, turn, go_on, whole=whole)))) is not END:
            go_on = partial(next, turn)
            if not isinstance(found, Asked):
                yield found
                continue
            if asked is not None and asked is not found:
                await asked.aclose()  # a stream that failed
            asked = found
            try:
                go_on = partial(turn.send, await asked.answer())
            except Exception as error:  # noqa: BLE001  the turn knows what is to be done
                go_on = partial(turn.throw, error)
    finally:
        try:
            if asked is not None and not (whole and not steps.at_rest):
                await asked.aclose()
        finally:
            await steps.left()


def _on(turn: Generator[Any, Any], go_on: Callable[[], Any], *, whole: bool) -> Any:
    """Goes on with a turn, and returns what it yields next; of a whole one the last of all, or what is to be awaited."""
    found = END
    try:
        found = go_on()
        while whole and not isinstance(found, Asked):
            found = next(turn)
    except StopIteration:
        pass
    return found


async def _whole(value: Any) -> Any:
    return await value if hasattr(value, "__await__") else value
