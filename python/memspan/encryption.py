"""Keys of encrypted stores: where one comes from, before it goes to the engine. The encryption itself is in the engine.

A key is 32 random bytes (`os.urandom(32)`), or a function that returns them, such as a client of a key service. It is called once for each
opening, and its exceptions pass through unchanged. Without its key a store cannot be read by anybody: keep it apart from the store.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeAlias

from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ENVIRONMENT", "ENVIRONMENT_FILE", "KEY_BYTES", "Key", "key_bytes", "key_of_environment", "read_key_file"]

KEY_BYTES = 32
"""Bytes of a key."""

ENVIRONMENT = "MEMSPAN_KEY"
"""The environment variable that the `memspan` command takes a key from: 64 hexadecimal digits."""

ENVIRONMENT_FILE = "MEMSPAN_KEY_FILE"
"""The one that names a file with the key."""

Key: TypeAlias = "bytes | Callable[[], bytes]"


def key_bytes(doing: str, key: object) -> bytes | None:
    """The bytes of a key that a caller gave; `None` for none."""
    if key is None:
        return None
    given = key() if callable(key) else key
    if not isinstance(given, bytes):
        raise InvalidInput(
            f"{doing}: key must be {KEY_BYTES} bytes, or a function that returns them, and it is a {type(given).__name__}: give bytes"
        )
    if len(given) != KEY_BYTES:
        raise InvalidInput(f"{doing}: a key has {KEY_BYTES} bytes, and this one has {len(given)}: draw one with os.urandom({KEY_BYTES})")
    return given


def read_key_file(path: str | os.PathLike[str]) -> bytes:
    """The key in a file: 32 bytes as they are, or 64 hexadecimal digits.

    Raises:
        InvalidInput: The file holds something else, or cannot be read.
    """
    try:
        from pathlib import Path  # noqa: PLC0415  a program that keeps its key elsewhere does not pay for it

        found = Path(path).read_bytes()
    except OSError as error:
        raise InvalidInput(f"reading a key from {os.fspath(path)}: the system refused: {error.strerror}: check the path") from error
    return found if len(found) == KEY_BYTES else _from_digits(found.decode("ascii", "replace"), os.fspath(path))


def key_of_environment() -> bytes | None:
    """The key that `MEMSPAN_KEY` holds or `MEMSPAN_KEY_FILE` names; `None` where neither is set."""
    if digits := os.environ.get(ENVIRONMENT):
        return _from_digits(digits, ENVIRONMENT)
    if path := os.environ.get(ENVIRONMENT_FILE):
        return read_key_file(path)
    return None


def _from_digits(digits: str, where: str) -> bytes:
    try:
        key = bytes.fromhex(digits.strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise InvalidInput(
            f"reading a key from {where}: it must hold {2 * KEY_BYTES} hexadecimal digits, or {KEY_BYTES} bytes, and it has something else"
        )
    return key
