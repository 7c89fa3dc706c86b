"""The messages of a session and the calls of its models: views that read only what you look at.

`Messages` and `Turns` are sequences over the store: their length is read anew at each use, an index reads one entry, and an
iteration reads pages. `Turn` and `Call` are frozen; the prompt of a call is composed again when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import index as whole_number
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from memspan._copies import of_engine
from memspan._kept import Message
from memspan._records import StoredCall
from memspan._results import TranscriptHit, Usage
from memspan._values import dataclass, field
from memspan.exceptions import Error
from memspan.working import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable

    from memspan._core import SessionCore
    from memspan._records import StoredTurn

__all__ = ["Call", "Message", "Messages", "TranscriptHit", "Turn", "Turns", "Usage"]

_PAGE = 64


@of_engine("pickle what you need of its fields")
@dataclass(frozen=True)
class Call(StoredCall):
    """One call of a model in a turn.

    Attributes:
        turn: Number of its turn.
        number: Its place in the turn, from 0.
        reply: Index of the message that it answered with.
        added_at: When that was added.
        response_id: The provider's id of the response.
        model: The model that answered, as the provider names it.
        finish: Why the reply ended, in the provider's word: "stop", "tool_calls", "end_turn".
        usage: The billed tokens; `None` where the response did not report them in a known form.
        sent: Whether `add_response` was told what the model was sent.
    """

    turn: int
    _core: SessionCore = field(repr=False, compare=False)

    @property
    def prompt(self) -> Prompt | None:
        """The prompt that the model was sent, composed again: the same bytes, and the same reasons.

        `None` where `add_response` was not told. Texts that were erased since are missing, and `Prompt.erased` names them.

        Raises:
            NotFound: The call was taken back.
        """
        core = self._core.sent_prompt(self.turn, self.number, self.reply, self.added_at) if self.sent else None
        return None if core is None else Prompt(core)

    def __repr__(self) -> str:
        return f"Call(turn={self.turn}, number={self.number}, reply={self.reply}, model={self.model!r}, finish={self.finish!r})"


@of_engine("pickle tuple() of its messages, which are values")
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

    def __init__(self, core: SessionCore, turn: StoredTurn, known: tuple[Call, ...] = ()) -> None:
        read = tuple(Call(**vars(call), turn=turn.number, _core=core) for call in turn.calls)
        values = (core, known[: turn.first] + read, turn.end, turn.number, turn.start)
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    @property
    def messages(self) -> Sequence[Message]:
        """Its messages: a view, read when it is looked at."""
        return Messages(self._core, self.start, self.end)

    @property
    def prompt(self) -> Prompt | None:
        """The prompt of the last call of this turn; `None` where `add_response` was told none."""
        last = next((call for call in reversed(self.calls) if call.sent), None)
        return None if last is None else last.prompt

    @property
    def usage(self) -> Usage | None:
        """The billed tokens of its calls together; `None` where none of them reported any."""
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


@of_engine("pickle tuple() of it")
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
        return f"<{_length(self)}messages of session {self._core.id!r}>"

    def _page(self, first: int, limit: int) -> list[Message]:
        return self._core.messages(self._start + first, limit)


@of_engine("pickle the messages of its turns, which are values")
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
        return f"<{_length(self)}turns of session {self._core.id!r}>"

    def _page(self, first: int, limit: int) -> list[Turn]:
        return [Turn(self._core, self._core.turn(number, None)) for number in range(first, first + limit)]


def _length(view: Sequence[Any]) -> str:
    """How many it has, before their name; nothing where it cannot be read any more: a debugger asks for a repr at any time."""
    try:
        return f"{len(view)} "
    except Error:
        return ""


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
