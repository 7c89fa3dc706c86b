"""The parts of one call of a model: a reply captured as it comes (`Reply`), a partial one (`PartialReply`), a waiting call (`ToolCall`).

`Session.reply`, `Session.partial_reply` and `Session.pending_tool_calls` give these out. The chunks of a stream are
understood by `memspan.stream`.
"""

from __future__ import annotations

import json
import math
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

from memspan._copies import of_engine
from memspan._fence import text_of
from memspan._fields import json_object
from memspan._twins import ended
from memspan._values import dataclass, field
from memspan.embedding import Event
from memspan.exceptions import Error, ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from types import TracebackType

    from memspan import _core, _records
    from memspan.lease import Lease
    from memspan.short_term import Session
    from memspan.transcript import Turn
    from memspan.working import Prompt

__all__ = ["PartialReply", "Reply", "ToolCall"]

_CHECKPOINT_SECONDS = 2.0

_E = TypeVar("_E", bound=BaseException)


@dataclass(frozen=True)
class ToolCall:
    """A tool call of a model that waits for its result.

    Attributes:
        id: The id that the result must name.
        name: The tool.
        arguments: The model's arguments, a dict; the text itself where it is not a JSON object, or has numbers that none can hold (1e999).
        message_index: The message that makes the call.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | str = field(hash=False)
    message_index: int

    @classmethod
    def _of(cls, call: _records.PendingCall) -> ToolCall:
        text = call.arguments
        value = json_object(text) if text.strip() else {}
        return cls(call.id, call.name, text if value is None else value, call.message_index)


@dataclass(frozen=True)
class PartialReply:
    """The part of a streamed reply that is not whole: its worker died, its stream broke, or it is coming now.

    Taking messages back (`rewind`) or their text out (`redact`) drops it, and later parts of such a reply are not kept.

    Attributes:
        text: The reply's text until then.
        messages: How many messages the session had when its prompt was assembled; it went on since where it has more.
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


@of_engine("keep the response that it gathers", changes=True)
class Reply:
    """A streamed reply, captured as it comes. Made by `Session.reply`; used in a `with` or `async with` block.

    The block's end adds the reply to the session. Where the stream fails, ends early or is cancelled, and where the reply cannot be added,
    what came is kept as `Session.partial_reply` and the error goes on. While chunks come, it is kept every two seconds. A copy that cannot
    be kept (a busy store, a full disk) ends no stream: `on_event` is told, and the error that ends the block, if there is one, has a note.

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

    __slots__ = ("_began", "_core", "_gatherer", "_lease", "_lost", "_next", "_prompt", "_report", "_session", "turn")

    turn: Turn | None

    def __init__(
        self, session: Session, core: _core.SessionCore, prompt: Prompt, lease: Lease | None, report: Callable[[Event], object]
    ) -> None:
        from memspan.stream import Gatherer  # noqa: PLC0415  for programs that stream

        self._session, self._core, self._prompt, self._lease, self._report = session, core, prompt, lease, report
        self._gatherer = Gatherer()
        self._lost: str | None = None
        self._began: datetime | None = None
        self._next = 0.0
        self.turn = None

    def __repr__(self) -> str:
        return f"Reply(session={self._session.id!r}, {len(self.text):,} characters, finish={self.finish!r})"

    @property
    def text(self) -> str:
        """The reply's text so far."""
        return self._gatherer.text

    @property
    def finish(self) -> str | None:
        """Why the reply ended, in the provider's word; `None` while it goes on."""
        return self._gatherer.finish

    def feed(self, chunk: Any) -> str:
        """Takes a chunk as the SDK's stream yields it, its dict, or bytes of the events, cut anywhere.

        Returns:
            The text that it added, for display.

        Raises:
            ProviderError: The chunk says that the reply failed; `error.refusal` says how.
            InvalidInput: It is not a chunk.
        """
        said = self._gatherer.feed(chunk)
        now = time.monotonic()
        if self._began is None:
            from datetime import UTC, datetime  # noqa: PLC0415  once for each reply

            self._began, self._next = datetime.now(UTC), now + _CHECKPOINT_SECONDS
        elif now >= self._next:
            self._checkpoint(None)
            self._next = time.monotonic() + _CHECKPOINT_SECONDS
        return said

    def _checkpoint(self, ended: str | None) -> None:
        """Keeps the partial reply, for another process in case this one dies. The stream is paid for, and never ends over the copy."""
        if not self._gatherer.started or self._began is None:
            return
        try:
            response = json.dumps(_finite(self._gatherer.response()), ensure_ascii=False, default=str)
            asked = self._prompt._core  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  its core is the engine's
            self._core.keep_partial(response, asked, self._began, ended)
        except Exception as error:  # noqa: BLE001  a store that is busy or full, a copy that is too large, a chunk that JSON cannot say
            told, self._lost = self._lost is not None, f"what came could not be kept: {text_of(error)}"
            if not told:
                self._report(Event("partial", self._lost, self._session.scope, session=self._session.id))
        else:
            self._lost = None

    def _noted(self, error: _E) -> _E:
        if self._lost is not None:
            error.add_note(self._lost)
        return error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None:
            self._checkpoint(f"{type(error).__name__}: {text_of(error)}"[:500])
            self._noted(error)
            return
        if not self._gatherer.finished:
            self._checkpoint("the stream ended before the reply did")
            raise self._noted(
                ProviderError(
                    f"adding a streamed reply to session {self._session.id!r}: the stream must say that the reply ended, and it stopped "
                    f"after {len(self.text):,} characters: what came is in partial_reply, send the request again",
                    session_id=self._session.id,
                )
            )
        try:
            self.turn = self._session.add_response(self._gatherer.response(), prompt=self._prompt, lease=self._lease)
        except Error as refused:
            if getattr(refused, "outcome", None) != "done":
                self._checkpoint(f"{type(refused).__name__}: {text_of(refused)}"[:500])
            self._noted(refused)
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await ended(partial(self.__exit__, kind, error, trace))


def _finite(value: Any) -> Any:
    """The same without numbers that JSON does not have, which a provider streamed all the same."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value
