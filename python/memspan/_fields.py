"""Fields of what providers send: of dicts, of an SDK's objects, of JSON."""

from __future__ import annotations

import json
from typing import Any, cast

from memspan._fence import is_list

_NOT_PYDANTIC = object()


def get(place: Any, name: str) -> Any:
    """A field of a dict or of an SDK's object; `None` where there is none."""
    if isinstance(place, dict):
        return cast("dict[str, Any]", place).get(name)
    extra: Any = getattr(place, "__pydantic_extra__", _NOT_PYDANTIC)
    if extra is _NOT_PYDANTIC:
        return getattr(place, name, None)
    # Asking a pydantic model for a missing field by getattr costs 5 us, and a chunk lacks most of the fields that are asked for.
    value = place.__dict__.get(name)
    return value if value is not None or not extra else extra.get(name)


def plain(value: Any) -> Any:
    """An SDK's object as the JSON that came."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json", exclude_unset=True)
    return value


def json_object(text: str) -> dict[str, Any] | None:
    """The object that a text is in JSON; `None` for anything else, and for an object with NaN or a number too large to hold (1e999)."""
    try:
        value = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _no_number(word: str) -> float:
    raise ValueError(word)


def _finite(digits: str) -> float:
    value = float(digits)
    if value - value != 0:
        raise ValueError(digits)
    return value


def items(value: Any) -> list[Any]:
    """A list that came, or none. A provider may send anything, so it is neither hashed nor trusted."""
    return value if is_list(value) else []


def said(value: Any) -> str:
    return value if isinstance(value, str) else ""
