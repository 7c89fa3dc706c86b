"""Around one call of a model: who answers a session (`Lease`), a reply captured as it comes (`Reply`), what waits (`ToolCall`).

`Session.lease`, `Session.reply`, `Session.partial_reply` and `Session.pending_tool_calls` give these out. The chunks of a stream are
understood by `memspan.stream`.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any, Self

from memspan._fence import is_mapping, is_number
from memspan._values import dataclass, field
from memspan.exceptions import Error, InvalidInput, ProviderError, StoreBusy
from memspan.stream import Gatherer

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from datetime import datetime
    from types import TracebackType

    from memspan import _core
    from memspan.short_term import Session
    from memspan.transcript import Turn
    from memspan.working import Prompt

__all__ = ["Lease", "PartialReply", "Reply", "ToolCall"]

_CHECKPOINT_SECONDS = 2.0
_FIRST_PAUSE = 0.01
_LONGEST_PAUSE = 0.2


@dataclass(frozen=True)
class ToolCall:
    """A tool call of a model that waits for its result.

    Attributes:
        id: The id that the result must name.
        name: The tool.
        arguments: What the model gave, a dict; the text itself where it is no JSON object.
        message_index: The message that makes the call.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | str = field(hash=False)
    message_index: int

    @classmethod
    def _of(cls, call: _core.PendingCall) -> ToolCall:
        text = call.arguments
        try:
            value: object = json.loads(text) if text.strip() else {}
        except ValueError:
            value = text
        return cls(call.id, call.name, value if is_mapping(value) else text, call.message_index)


@dataclass(frozen=True)
class PartialReply:
    """What came of a streamed reply that is not whole: its worker died, its stream broke, or it is coming now.

    Attributes:
        text: What the model said until then.
        messages: How many messages the session had when the model was asked; it went on since where it has more.
        began_at: When the first piece came.
        written_at: When the last checkpoint was written.
        error: Why the stream ended, where that is known.
        response: The response as far as it came, in its provider's shape.
    """

    text: str
    messages: int
    began_at: datetime
    written_at: datetime
    error: str | None
    response: Mapping[str, Any] = field(hash=False)


class Lease:
    """The right to answer a session, of one worker at a time. Made by `Session.lease`; used in a `with` or `async with` block.

    It ends with the block, or by its time where the worker died. Messages are added by anybody meanwhile.

    Examples:
        >>> session = user.session("s-1", model="gpt-4o")
        >>> with session.lease(seconds=30) as lease:
        ...     lease.held
        True
        >>> lease.held
        False
    """

    __slots__ = ("_core", "_held", "_holder", "_id", "_seconds", "_wait")

    def __init__(self, core: _core.ReplyCore, session_id: str, seconds: float, wait_seconds: float) -> None:
        if not is_number(wait_seconds) or not 0 <= wait_seconds < 86_400:  # noqa: PLR2004  a day
            raise InvalidInput(f"taking a lease: wait_seconds must be from 0 to a day, got {wait_seconds!r} (wait_seconds=): change it")
        self._core, self._id, self._seconds, self._wait = core, session_id, seconds, wait_seconds
        import socket  # noqa: PLC0415  few programs take a lease, and these two are a tenth of the import
        import uuid  # noqa: PLC0415

        self._holder = f"{socket.gethostname()[:80]}/{os.getpid()}/{uuid.uuid4().hex}"
        self._held = False

    @property
    def held(self) -> bool:
        """Whether it is held: taken, and not given back. Its time may be over all the same."""
        return self._held

    def renew(self, seconds: float | None = None) -> None:
        """Prolongs it: so many seconds from now, as many as at first by default.

        Raises:
            StoreBusy: Its time was over, and another worker answers now.
        """
        other = self._core.take_lease(self._holder, self._seconds if seconds is None else seconds)
        if other is not None:
            self._held = False
            raise self._busy(other)

    def __enter__(self) -> Self:
        for pause in self._tries():
            time.sleep(pause)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._held:
            self._held = False
            self._core.release_lease(self._holder)

    async def __aenter__(self) -> Self:
        import asyncio  # noqa: PLC0415  programs without an event loop do not pay for it

        tries = self._tries()
        while (pause := await asyncio.to_thread(next, tries, None)) is not None:  # noqa: ASYNC110  another process holds it
            await asyncio.sleep(pause)
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        import asyncio  # noqa: PLC0415

        await asyncio.to_thread(self.__exit__, kind, error, trace)

    def _tries(self) -> Generator[float]:
        """Tries until it is taken; yields how long to wait before the next."""
        until, pause = time.monotonic() + self._wait, _FIRST_PAUSE
        while (other := self._core.take_lease(self._holder, self._seconds)) is not None:
            left = until - time.monotonic()
            if left <= 0:
                raise self._busy(other)
            yield min(pause, left)
            pause = min(2 * pause, _LONGEST_PAUSE)
        self._held = True

    def _busy(self, other: _core.HeldLease) -> StoreBusy:
        holder, since, until = other.holder, other.since, other.until
        return StoreBusy(
            f"answering session {self._id!r}: one worker answers at a time, and {holder} does since {since:%H:%M:%S}, until "
            f"{until:%H:%M:%S} (UTC) at the latest: wait longer (wait_seconds=), or leave the answer to it",
            session_id=self._id,
            holder=holder,
            until=until,
        )


class Reply:
    """A streamed reply, captured as it comes. Made by `Session.reply`; used in a `with` or `async with` block.

    The block's end adds the reply to the session. Where the stream fails, ends early or is cancelled, what came is kept as
    `Session.partial_reply` and the error goes on. While chunks come, it is kept every two seconds.

    Attributes:
        turn: The turn, once the block has ended well.

    Examples:
        >>> session = user.session("s-1", model="gpt-4o")
        >>> _ = session.add({"role": "user", "content": "2 + 2?"})
        >>> with session.reply(session.assemble()) as reply:
        ...     for chunk in memspan.testing.openai_stream("It is 4."):
        ...         print(reply.feed(chunk), end="|")
        |It |is |4.|||
        >>> reply.turn.messages[-1].text
        'It is 4.'
    """

    __slots__ = ("_began", "_core", "_gatherer", "_next", "_prompt", "_session", "turn")

    turn: Turn | None

    def __init__(self, session: Session, core: _core.ReplyCore, prompt: Prompt) -> None:
        self._session, self._core, self._prompt = session, core, prompt
        self._gatherer = Gatherer()
        self._began: datetime | None = None
        self._next = 0.0
        self.turn = None

    @property
    def text(self) -> str:
        """What the model said so far."""
        return self._gatherer.text

    @property
    def finish(self) -> str | None:
        """Why the reply ended, in the provider's word; `None` while it goes on."""
        return self._gatherer.finish

    def feed(self, chunk: Any) -> str:
        """Takes a chunk as the SDK's stream yields it, its dict, or bytes of the events, cut anywhere.

        Returns:
            The text that it added, for whoever shows it.

        Raises:
            ProviderError: The chunk says that the reply failed; `error.refusal` says how.
            InvalidInput: It is no chunk.
        """
        said = self._gatherer.feed(chunk)
        now = time.monotonic()
        if self._began is None:
            from datetime import UTC, datetime  # noqa: PLC0415  once for each reply

            self._began, self._next = datetime.now(UTC), now + _CHECKPOINT_SECONDS
        elif now >= self._next:
            self._checkpoint(None)
            self._next = now + _CHECKPOINT_SECONDS
        return said

    def _checkpoint(self, error: str | None) -> None:
        if self._gatherer.started and self._began is not None:
            response = json.dumps(self._gatherer.response(), ensure_ascii=False, default=str)
            self._core.keep_partial(response, len(self._session.messages), self._began, error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None:
            try:
                self._checkpoint(f"{type(error).__name__}: {error}"[:500])
            except Error as lost:  # the stream's error is the one to hear of
                error.add_note(f"what came could not be kept: {lost}")
            return
        if not self._gatherer.finished:
            self._checkpoint("the stream ended before the reply did")
            raise ProviderError(
                f"adding a streamed reply to session {self._session.id!r}: the stream must say that the reply ended, and it stopped after "
                f"{len(self.text):,} characters: what came is in partial_reply, send the request again",
                session_id=self._session.id,
            )
        self.turn = self._session.add_response(self._gatherer.response(), prompt=self._prompt)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        import asyncio  # noqa: PLC0415

        await asyncio.to_thread(self.__exit__, kind, error, trace)
