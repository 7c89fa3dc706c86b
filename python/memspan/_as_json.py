"""Values of a program as JSON: what a tool returns is read by a model, which knows no repr of Python's.

Nothing is imported for it. Models of pydantic are known by their `model_dump`, decimals and UUIDs by their words.
"""

from __future__ import annotations

import json
import re
from collections import UserString
from collections.abc import Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from datetime import date, time
from enum import Enum
from typing import Any, cast

from memspan._fence import is_number, kind_of

__all__ = ["as_json"]

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
"""The place of an object in memory, which is another in each process."""


def as_json(value: object) -> str:
    """A value as JSON, the same in every process: `memspan.function_tools.result_text` has the rules.

    Raises:
        ValueError: A part of it contains itself, or it has a number with more digits than Python writes.
        RecursionError: Its parts stand too deep in one another.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)  # most results are JSON as they are
    except (TypeError, ValueError):
        return json.dumps(_plain(value, ()), ensure_ascii=False)


def _plain(value: object, around: tuple[int, ...]) -> Any:
    """A value of the types that JSON has. `around` has the ids of those that it stands in."""
    if isinstance(value, Enum):
        return _plain(value.value, around)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)  # JSON has no nan and no infinity
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return _of_bytes(bytes(cast("bytes", value)))
    if id(value) in around:
        raise ValueError(f"a {kind_of(value)} contains itself")
    return _of_parts(value, (*around, id(value)))


def _of_parts(value: object, around: tuple[int, ...]) -> Any:
    if callable(getattr(type(value), "model_dump", None)):
        return _plain(_dumped(value), around)
    if hasattr(type(value), "__dataclass_fields__"):
        from dataclasses import fields  # noqa: PLC0415  it takes longer to import than memspan

        names = [one.name for one in fields(cast("Any", value)) if not one.name.startswith("_")]
        return {name: _plain(getattr(value, name), around) for name in names}
    if isinstance(value, Mapping):
        given = cast("Mapping[object, object]", value)
        return {_key(key, around): _plain(one, around) for key, one in given.items()}
    if isinstance(value, set | frozenset):  # whose order is another in each process
        return sorted((_plain(one, around) for one in cast("AbstractSet[object]", value)), key=_rank)
    if isinstance(value, Sequence | AbstractSet | ValuesView) and not isinstance(value, UserString):  # whose letters are its like
        return [_plain(one, around) for one in cast("Sequence[object]", value)]
    return _words(value)


def _dumped(model: Any) -> object:
    """The fields of a model of pydantic; as it has them, where it has one that pydantic cannot write."""
    try:
        return model.model_dump(mode="json")
    except Exception:  # noqa: BLE001  whatever a serializer of the caller's raises
        return model.model_dump()


def _key(key: object, around: tuple[int, ...]) -> Any:
    """The name of a field. JSON writes None, bools and numbers by itself; of what has parts, the name is their JSON."""
    plain = _plain(key, around)
    return json.dumps(plain, ensure_ascii=False) if isinstance(plain, dict | list) else plain


def _rank(plain: Any) -> tuple[bool, float, str]:
    """The place of a set's member: numbers by their size, then all else by its JSON."""
    return (False, plain, "") if is_number(plain) else (True, 0, json.dumps(plain))


def _of_bytes(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return f"[{len(raw):,} bytes]"


def _words(value: object) -> str:
    try:
        return _ADDRESS.sub("", str(value))
    except Exception:  # noqa: BLE001  a broken __str__ of the caller's must not hide the rest
        return f"[{kind_of(value)}]"
