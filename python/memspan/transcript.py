"""What was said in a session, and what its models were sent: views that read only what is looked at.

`Messages` and `Turns` are sequences over the store: their length is read anew at each use, an index reads one entry, and an
iteration reads pages. `Turn` and `Call` are frozen; the prompt of a call is composed again when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import index as whole_number
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from memspan._kept import Message
from memspan._results import TranscriptHit
from memspan._values import dataclass
from memspan.working import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from memspan._core import SessionCore
    from memspan._records import StoredCall, StoredTurn

__all__ = ["Call", "Message", "Messages", "TranscriptHit", "Turn", "Turns", "Usage"]

_PAGE = 64


@dataclass(frozen=True)
class Usage:
    """What a provider billed, in its own tokens.

    Attributes:
        input_tokens: The whole prompt, what was read from a cache and written to it included.
        output_tokens: The reply, hidden thinking included.
        cached_tokens: Of the prompt: read from a cache.
        cache_write_tokens: Of the prompt: written to a cache.
        raw: The usage as the provider gave it; `None` for a sum of several calls.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    raw: Mapping[str, Any] | None = None

    def __hash__(self) -> int:
        return hash((self.input_tokens, self.output_tokens, self.cached_tokens, self.cache_write_tokens))

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


class Call:
    """One call of a model in a turn. Frozen.

    Attributes:
        turn: Number of its turn.
        number: Its place in the turn, from 0.
        reply: Index of the message that it answered with.
        added_at: When that was added.
        response_id: The provider's id of the response.
        model: The model that answered, as the provider names it.
        finish: Why the reply ended, in the provider's word: "stop", "tool_calls", "end_turn".
        usage: What was billed; `None` where the response did not say it in a known form.
    """

    __slots__ = ("_core", "_sent", "added_at", "finish", "model", "number", "reply", "response_id", "turn", "usage")

    turn: int
    number: int
    reply: int
    added_at: datetime
    response_id: str | None
    model: str | None
    finish: str | None
    usage: Usage | None

    def __init__(self, core: SessionCore, turn: int, call: StoredCall) -> None:
        billed = call.usage
        usage = billed and Usage(billed.input_tokens, billed.output_tokens, billed.cached_tokens, billed.cache_write_tokens, billed.raw)
        values = (core, call.sent, call.added_at, call.finish, call.model, call.number, call.reply, call.response_id, turn, usage)
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    _core: SessionCore
    _sent: bool

    @property
    def prompt(self) -> Prompt | None:
        """What the model was sent, composed again: the same bytes, and the same reasons.

        `None` where `add_response` was not told. Texts that were erased since are missing, and `Prompt.erased` names them.
        """
        core = self._core.sent_prompt(self.turn, self.number) if self._sent else None
        return None if core is None else Prompt(core)

    def _fields(self) -> tuple[object, ...]:
        return (self.turn, self.number, self.reply, self.added_at, self.response_id, self.model, self.finish, self.usage)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Call is frozen: {name} cannot be set")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Call) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        return f"Call(turn={self.turn}, number={self.number}, reply={self.reply}, model={self.model!r}, finish={self.finish!r})"


class Turn:
    """A turn: one user message with everything up to the reply that ends it, and the calls that were made in it. Frozen.

    Attributes:
        number: Its place in the session, from 0.
        start: Index of its first message.
        end: The index behind its last.
        calls: The calls of its models, in order.

    Examples:
        >>> session = user.session("s-1", model="gpt-4o")
        >>> _ = session.add({"role": "user", "content": "2 + 2?"})
        >>> prompt = session.assemble()
        >>> turn = session.add_response({"role": "assistant", "content": "4"}, prompt=prompt)
        >>> turn.number, [message.text for message in turn.messages], turn.prompt == prompt
        (0, ['2 + 2?', '4'], True)
    """

    __slots__ = ("_core", "calls", "end", "number", "start")

    number: int
    start: int
    end: int
    calls: tuple[Call, ...]
    _core: SessionCore

    def __init__(self, core: SessionCore, turn: StoredTurn) -> None:
        values = (core, tuple(Call(core, turn.number, call) for call in turn.calls), turn.end, turn.number, turn.start)
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    @property
    def messages(self) -> Sequence[Message]:
        """Its messages: a view, read when it is looked at."""
        return Messages(self._core, self.start, self.end)

    @property
    def prompt(self) -> Prompt | None:
        """What the model was sent last in this turn; `None` where no call of it was told."""
        last = next((call for call in reversed(self.calls) if call._sent), None)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  of this module
        return None if last is None else last.prompt

    @property
    def usage(self) -> Usage | None:
        """What its calls were billed together; `None` where none of them said."""
        known = [call.usage for call in self.calls if call.usage is not None]
        if not known:
            return None
        total = known[0]
        for usage in known[1:]:
            total = total + usage
        return total

    @property
    def model(self) -> str | None:
        """The model that answered last, as the provider names it."""
        return self.calls[-1].model if self.calls else None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Turn is frozen: {name} cannot be set")

    def _fields(self) -> tuple[object, ...]:
        return (self.number, self.start, self.end, self.calls)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Turn) and self._core.is_same(other._core) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        return f"Turn({self.number}, messages {self.start}..{self.end}, {len(self.calls)} calls, model={self.model!r})"


class Messages(Sequence[Message]):
    """The messages of a session or of a turn: a view, read anew at each use."""

    __slots__ = ("_core", "_end", "_start")

    def __init__(self, core: SessionCore, start: int = 0, end: int | None = None) -> None:
        self._core = core
        self._start = start
        self._end = end

    def __len__(self) -> int:
        """How many there are now."""
        count = self._core.status().messages
        end = count if self._end is None else min(self._end, count)
        return max(end - self._start, 0)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Message | tuple[Message, ...]:
        """One message, or a tuple of them."""
        if isinstance(index, slice):
            return _sliced(index, len(self), self._page)
        return self._page(_place("message", index, len(self)), 1)[0]

    def __iter__(self) -> Iterator[Message]:
        """Reads 64 at a time, and holds no transaction between; ends where the view ended when it began."""
        return _paged(len(self), self._page)

    def __repr__(self) -> str:
        return f"<{len(self)} messages of session {self._core.id!r}>"

    def _page(self, first: int, limit: int) -> list[Message]:
        return self._core.messages(self._start + first, limit)


class Turns(Sequence[Turn]):
    """The turns of a session: a view, read anew at each use."""

    __slots__ = ("_core",)

    def __init__(self, core: SessionCore) -> None:
        self._core = core

    def __len__(self) -> int:
        """How many there are now, the open one included."""
        return self._core.status().turns

    @overload
    def __getitem__(self, index: SupportsIndex) -> Turn: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Turn, ...]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Turn | tuple[Turn, ...]:
        """One turn, or a tuple of them."""
        if isinstance(index, slice):
            return _sliced(index, len(self), self._page)
        return self._page(_place("turn", index, len(self)), 1)[0]

    def __iter__(self) -> Iterator[Turn]:
        """Reads one at a time; ends where the view ended when it began."""
        return (self._page(number, 1)[0] for number in range(len(self)))

    def __repr__(self) -> str:
        return f"<{len(self)} turns of session {self._core.id!r}>"

    def _page(self, first: int, limit: int) -> list[Turn]:
        return [Turn(self._core, self._core.turn(number)) for number in range(first, first + limit)]


def _place(what: str, index: SupportsIndex, length: int) -> int:
    given = whole_number(index)
    place = given + length if given < 0 else given
    if not 0 <= place < length:
        raise IndexError(f"there are {length:,} {what}s, and none at index {given:,}")
    return place


def _sliced(wanted: slice, length: int, page: Callable[[int, int], list[Any]]) -> tuple[Any, ...]:
    places = range(*wanted.indices(length))
    if not places:
        return ()
    if abs(places.step) > 1:  # nothing between them is read
        return tuple(page(place, 1)[0] for place in places)
    first = min(places[0], places[-1])
    found: list[Any] = []
    for start in range(first, first + len(places), _PAGE):
        found += page(start, min(_PAGE, first + len(places) - start))
    return tuple(found if places.step > 0 else reversed(found))


def _paged(length: int, page: Callable[[int, int], list[Any]]) -> Iterator[Any]:
    for first in range(0, length, _PAGE):
        yield from page(first, min(_PAGE, length - first))
