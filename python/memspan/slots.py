"""The slots of a scope: attributes that have one current value, or several where that was declared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memspan._copies import of_engine
from memspan._fence import fenced
from memspan._flags import check_flags
from memspan._twins import awaitable
from memspan.exceptions import Error, InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspan import _core
    from memspan._kept import Memory

__all__ = ["Slots"]


@of_engine("pickle dict() of it")
@fenced
class Slots(Mapping[str, Any]):
    """The slots of a scope, by name: a view, read anew at each use. Letter case does not count.

    `slots[name]` is the `Memory` that holds the slot, or a tuple of them, oldest first, where the slot is declared `multi`;
    `slots.all(name)` is a tuple in both cases.

    Examples:
        >>> _ = user.remember("Prefers Go for scripting", slot="scripting-language")
        >>> user.slots["Scripting-Language"].text, list(user.slots)
        ('Prefers Go for scripting', ['scripting-language'])
        >>> user.slots.declare("allergy", multi=True)
        >>> _ = user.remember_many([{"text": f"Is allergic to {food}", "slot": "allergy"} for food in ("nuts", "milk")])
        >>> [memory.text for memory in user.slots["allergy"]]
        ['Is allergic to nuts', 'Is allergic to milk']
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.ScopeCore) -> None:
        self._core = core

    def __getitem__(self, name: str) -> Any:
        """The current value of a slot.

        Raises:
            NotFound: The slot has no value.
        """
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without types
            raise InvalidInput(f"looking up a slot: its name is a str, and it is {type(name).__name__}: names are list(slots)")
        slot = next(iter(self._core.slots(name)), None)
        if slot is not None and slot.multi:
            return slot.memories
        if slot is None or not slot.memories:
            normal = name if slot is None else slot.name
            raise NotFound(f"looking up slot {name[:80]!r}: it has no current value: names that do are list(slots)", slot=normal)
        return slot.memories[-1]

    def all(self, name: str) -> tuple[Memory, ...]:
        """Every current value of a slot, oldest first; none where it has no value."""
        return tuple(memory for slot in self._core.slots(name) for memory in slot.memories)

    def declare(self, name: str, *, multi: bool) -> None:
        """Says whether a slot holds several values at a time. Cost: one write transaction.

        Raises:
            InvalidInput: `multi=False`, and it has several values now.
        """
        check_flags("declaring a slot", multi=multi)
        self._core.declare_slot(name, multi)

    def __iter__(self) -> Iterator[str]:
        return (slot.name for slot in self._core.slots(None) if slot.multi or slot.memories)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and any(slot.multi or slot.memories for slot in self._core.slots(name))

    def __repr__(self) -> str:
        try:
            return f"Slots({', '.join(map(repr, self))})"
        except Error:  # the engine is closed: a debugger asks for a repr at any time
            return "Slots(...)"

    adeclare = awaitable(declare)
