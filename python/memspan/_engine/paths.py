"""Which paths a store, a backup and an export may have."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

_NO_FILE = frozenset({"", ":memory:", "file::memory:", "file::memory:?cache=shared"})


def local_path(doing: str, path: object, *, what: str = "folder") -> Path:
    """The path that a caller gave, where it names something on this machine: a folder, or a file."""
    if isinstance(path, str | os.PathLike):
        text = os.fspath(path)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if isinstance(text, str):
            _check_path(doing, text, what)
            from pathlib import Path  # noqa: PLC0415  what `open` needs is not paid for at import

            return Path(text)
    kind = type(path).__name__  # pyright: ignore[reportUnknownArgumentType]
    raise InvalidInput(
        f"{doing}: the path must be that of a {what} on this machine, a str or a pathlib.Path, and it is {kind}: pass one of them"
    )


def _check_path(doing: str, text: str, what: str) -> None:
    """Refuses what other databases take for a store and would be a folder of an odd name here."""
    if text.strip().casefold() in _NO_FILE:
        raise InvalidInput(
            f"{doing}: a store is a folder on this machine, and {text!r} names none: nothing is kept in memory alone; pass a path, or "
            "use memspan.testing.temporary_engine(), whose folder is deleted at its end",
            path=text,
        )
    if "\0" in text:
        raise InvalidInput(
            f"{doing}: the path of a {what} on this machine has no NUL character, and {text!r} has one: take it out", path=text
        )
    if "://" in text or text.startswith("file:"):
        raise InvalidInput(
            f"{doing}: the path must be that of a {what} on this machine, and {text!r} is a URL: URLs are not available in this version, "
            "pass a path",
            path=text,
        )
