"""Arguments of a wrong type, and how an error shows a value."""

from __future__ import annotations

from collections.abc import Mapping

from memspan._fence import is_async, kind_of
from memspan.exceptions import InvalidInput

__all__ = ["check_flags", "check_function", "check_kinds", "check_messages", "check_several", "is_several", "shown"]

_MOST = 80


def shown(value: object, most: int = _MOST) -> str:
    """The beginning of its repr; its type where that fails, as of a number with more digits than Python prints."""
    try:
        return repr(value)[:most].encode("utf-8", "replace").decode()
    except Exception:  # noqa: BLE001  a broken __repr__ of the caller's must not hide what is wrong
        return f"a {kind_of(value)}"


def check_flags(doing: str, **flags: object) -> None:
    """Refuses what is not a bool: a text such as "no" would count as true."""
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise InvalidInput(f"{doing}: {name} is True or False, and it is of type {kind_of(value)}: pass one of them")


def check_function(doing: str, name: str, function: object) -> None:
    """Refuses what is neither `None` nor a function that returns when it is done: a coroutine would be made and never awaited."""
    if function is None:
        return
    if not callable(function):
        raise InvalidInput(f"{doing}: {name} is a function, or None, and it is of type {kind_of(function)}: pass one")
    if is_async(function):
        raise InvalidInput(
            f"{doing}: {name} is a function, and no coroutine, and it is {shown(function)}: give a function, which is called synchronously"
        )


def check_kinds(doing: str, what: str, remedy: str, kinds: type | tuple[type, ...], **values: object) -> None:
    """Refuses what is of another type."""
    for name, value in values.items():
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise InvalidInput(f"{doing}: {name} must be {what}, and it is of type {kind_of(value)} ({name}=): {remedy}")


def check_several(doing: str, what: str, **values: object) -> None:
    """Refuses what cannot be iterated over."""
    for name, value in values.items():
        if not hasattr(value, "__iter__") and not hasattr(value, "__getitem__"):
            raise InvalidInput(f"{doing}: {name} must be {what}, and it is of type {kind_of(value)} ({name}=): put it into a list")


def is_several(value: object) -> bool:
    """Whether it can be iterated over, and is neither a text nor bytes nor one message."""
    can_be = hasattr(value, "__iter__") or hasattr(value, "__getitem__")
    return can_be and not isinstance(value, str | bytes | bytearray | memoryview | Mapping) and not hasattr(value, "model_dump")


def check_messages(doing: str, messages: object) -> None:
    """Refuses one message or text in the place of several, and what cannot be iterated over."""
    if not is_several(messages):
        raise InvalidInput(f"{doing}: messages must be several, and this is one {kind_of(messages)}: put it into a list")
