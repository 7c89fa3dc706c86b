"""tiktoken without its download: its vocabulary files, written anew from those that memspan has packed.

tiktoken checks each file against the SHA-256 that it pins, so what it then counts by is OpenAI's, whatever memspan did to it.
"""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import tiktoken

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(__file__).parent.parent.parent / "rust/engine/src/tokens/data"
ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"


def encoding(name: str, folder: Path) -> tiktoken.Encoding:
    """Tiktoken's encoding of that name; `folder` keeps its files."""
    file = folder / hashlib.sha1(ADDRESS.format(name=name).encode()).hexdigest()  # noqa: S324  how tiktoken names them
    if not file.exists():
        lines = (f"{base64.b64encode(token).decode()} {rank}\n" for rank, token in enumerate(tokens((DATA / f"{name}.bin").read_bytes())))
        file.write_text("".join(lines))
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        return tiktoken.get_encoding(name)
    finally:
        os.environ.pop("TIKTOKEN_CACHE_DIR")
        if before is not None:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


def tokens(packed: bytes) -> list[bytes]:
    """What every token spells, in the order of the ids; the format is documented in tools/build_vocabularies.py."""
    found = [bytes([byte]) for byte in packed[8:264]]
    ids = _ids(packed[264:])
    for _ in range(int.from_bytes(packed[:4], "little") - 256):
        found.append(found[next(ids)] + found[next(ids)])
    return found


def _ids(packed: bytes) -> Iterator[int]:
    """Bits, low first: 4 of magnitude, then those of the id below its leading one."""
    held, have, at = 0, 0, 0
    while True:
        while have < 32:
            held |= int.from_bytes(packed[at : at + 8], "little") << have
            have, at = have + 64, at + 8
        magnitude = held & 15
        width = magnitude + 2 if magnitude else 3
        value = held >> 4 & ((1 << width) - 1)
        yield value | 1 << width if magnitude else value
        held >>= 4 + width
        have -= 4 + width
