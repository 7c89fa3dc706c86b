"""Arguments that are true or false (a text such as "no" would count as true), and how an error shows a value."""

from __future__ import annotations

from memspan._fence import kind_of
from memspan.exceptions import InvalidInput

__all__ = ["check_flags", "shown"]

_MOST = 80


def shown(value: object) -> str:
    """The beginning of its repr; its type where that fails, as of a number with more digits than Python prints."""
    try:
        return repr(value)[:_MOST]
    except Exception:  # noqa: BLE001  a broken __repr__ of the caller's must not hide what is wrong
        return f"a {kind_of(value)}"


def check_flags(doing: str, **flags: object) -> None:
    """Refuses what is not a bool."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise InvalidInput(f"{doing}: {name} is True or False, and it is of type {kind_of(value)}: pass one of them")
