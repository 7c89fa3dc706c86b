"""Which paths a store, a backup and an export may have."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
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


def outside_of(store: Path, doing: str, what: str, target: Path) -> Path:
    """The target itself; refuses one among the store's own files, which come and go."""
    if store.resolve() in target.resolve().parents:
        raise InvalidInput(
            f"{doing}: the {what} must lie outside of the store, whose files are its own, and {str(target)!r} lies inside of "
            f"{str(store)!r}: pass another path",
            path=str(target),
        )
    return target


def file_to_write(store: Path, doing: str, path: object) -> Path:
    """The path of a file that is written beside its place and takes it: refuses one inside of the store, and all but regular files."""
    target = outside_of(store, doing, "file", local_path(doing, path, what="file"))
    if not target.name:
        raise InvalidInput(f"{doing}: path names a file to be written, and {str(path)[:300]!r} names none: give a file name")
    with suppress(OSError):  # a path that cannot be looked at is refused where it is written
        mode = target.lstat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            kind = "a symbolic link" if stat.S_ISLNK(mode) else "a pipe, a socket or a device"
            raise InvalidInput(
                f"{doing}: the file takes the place of a regular file or of nothing, and {str(target)!r} is {kind}: pass another path",
                path=str(target),
            )
    return target


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
