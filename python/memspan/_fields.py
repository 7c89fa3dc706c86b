"""Fields of what providers send: of dicts, of an SDK's objects, of JSON."""

from __future__ import annotations

import json
from typing import Any, cast

from memspan._fence import is_list

_NOT_PYDANTIC = object()
_ALPHABET = str.maketrans("-_", "+/")
_BYTES = frozenset({"data", "thought_signature", "thoughtSignature"})
_FREE = frozenset({"args", "response", "parameters"})
"""Fields of Gemini's parts that hold bytes, and those whose contents are the application's."""


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


def dumped(value: Any, **options: Any) -> Any:
    """The fields that an SDK's object has, as the vendor's API takes them back: it refuses many of its own as null."""
    if hasattr(cast("object", type(value)), "model_fields"):  # pydantic's; an object of the caller's own takes the mode alone
        options["exclude_none"] = True
    fields = value.model_dump(mode="json", **options)
    return _standard(fields) if type(value).__module__.startswith("google.genai") else fields


def _standard(fields: Any) -> Any:
    """The same with bytes in the standard alphabet of base64. Pydantic writes them in that of addresses, which other vendors refuse."""
    if is_list(fields):
        return [_standard(item) for item in fields]
    if not isinstance(fields, dict):
        return fields
    known = cast("dict[str, Any]", fields)
    return {key: standard_base64(item) if key in _BYTES else item if key in _FREE else _standard(item) for key, item in known.items()}


def standard_base64(text: Any) -> Any:
    """A text of base64 in the standard alphabet, with its end filled up; anything else as it is."""
    if not isinstance(text, str):
        return text
    text = text.translate(_ALPHABET).rstrip("=")
    return text + "=" * (-len(text) % 4)


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
