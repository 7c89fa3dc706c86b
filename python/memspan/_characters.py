"""Text that UTF-8 can hold, and that a terminal can show. JSON may write a character as two halves, and a stream may cut between them."""

from __future__ import annotations

import math
import re
from typing import Any, cast

__all__ = ["Halves", "visible", "whole", "whole_text", "with_finite_usage"]

_USAGES = ("usage", "usageMetadata", "usage_metadata")

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters but for tab and line feed, and those that set the direction of writing."""


def whole_text(text: str) -> str:
    """The text with two halves made one character, and a half that is alone U+FFFD, the sign for what cannot be read."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def whole(value: Any) -> Any:
    """The same of every text in JSON."""
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, dict):
        return {whole(key): whole(one) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [whole(one) for one in cast("list[object]", value)]
    return value


def visible(text: object) -> str:
    """A text for a terminal, where what strangers wrote moves no cursor, sets no title and turns no line around."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", str(text))


def with_finite_usage(response: Any) -> Any:
    """A response whose usage names the numbers that JSON lacks ("nan"), so that nothing counts them."""
    if not isinstance(response, dict):
        return response
    given = cast("dict[str, Any]", response)
    return {key: _named(one) if key in _USAGES else one for key, one in given.items()}


def _named(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _named(one) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_named(one) for one in cast("list[object]", value)]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


class Halves:
    """Text that comes in pieces: a half at a piece's end waits for the other."""

    __slots__ = ("_waits",)

    def __init__(self) -> None:
        self._waits = ""

    def take(self, piece: str) -> str:
        """The part of it that can be shown."""
        if not self._waits and piece.isascii():
            return piece
        piece, self._waits = self._waits + piece, ""
        if "\ud800" <= piece[-1:] <= "\udbff":
            piece, self._waits = piece[:-1], piece[-1]
        return whole_text(piece)
