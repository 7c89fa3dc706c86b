"""Text that UTF-8 can hold. JSON may write a character as two halves (surrogates), and a stream may cut between them."""

from __future__ import annotations

import math
from typing import Any, cast

__all__ = ["Halves", "whole", "whole_text"]


def whole_text(text: str) -> str:
    """The text with two halves made one character, and a half that is alone U+FFFD, the sign for what cannot be read."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def whole(value: Any) -> Any:
    """The same of every text in JSON. A number that JSON does not have (NaN) becomes its name: a provider may hand one out all the same."""
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, dict):
        return {whole(key): whole(one) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [whole(one) for one in cast("list[object]", value)]
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
