#!/usr/bin/env python3
"""Writes rust/engine/src/tokens/data/unicode16.bin and unicode16_signs.bin: the character classes that the tokenizers' patterns tell apart.

    pip install unicodedata2==16.0.0 && python tools/build_unicode_classes.py

Unicode 16.0, because tiktoken's regular expressions behave like it: tables of another version cut text at other places.
Source: the Unicode Character Database 16.0 (Unicode License v3) by way of the PyPI package unicodedata2 16.0.0.

Format: runs of code points from U+0000 to U+10FFFF, each a LEB128 number: length * 8 + class, with the classes
0 other, 1 upper or title case (Lu Lt), 2 lower case (Ll), 3 letter without case (Lm Lo), 4 mark (M), 5 number (N),
6 white space but for line ends, 7 carriage return and line feed. Surrogates count as other: text has none.
The second file has class 1 for punctuation and symbols (P, S), which are "other" in the first, and 0 for all else, up to U+1FFFF.
"""

from __future__ import annotations

import itertools
import pathlib
import sys
from typing import TYPE_CHECKING

import unicodedata2

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = pathlib.Path(__file__).resolve().parent.parent / "rust/engine/src/tokens/data"
LAST_SIGN = 0x1FFFF
BY_CATEGORY = {"Lu": 1, "Lt": 1, "Ll": 2, "Lm": 3, "Lo": 3, "Mn": 4, "Mc": 4, "Me": 4, "Nd": 5, "Nl": 5, "No": 5}
# The property White_Space of PropList.txt 16.0, which no category equals.
WHITE_SPACE = {0x9, 0xB, 0xC, 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}


def class_of(code_point: int) -> int:
    if code_point in (0xA, 0xD):
        return 7
    if code_point in WHITE_SPACE:
        return 6
    return BY_CATEGORY.get(unicodedata2.category(chr(code_point)), 0)


def leb128(value: int) -> bytes:
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def is_sign(code_point: int) -> int:
    return int(unicodedata2.category(chr(code_point))[0] in "PS")


def write(name: str, classes: Iterator[int]) -> None:
    runs = [(kind, sum(1 for _ in run)) for kind, run in itertools.groupby(classes)]
    blob = b"".join(leb128(length * 8 + kind) for kind, length in runs)
    (DATA / name).write_bytes(blob)
    print(f"{name}: {len(runs):,} runs, {len(blob):,} bytes")


def main() -> None:
    assert unicodedata2.unidata_version == "16.0.0", unicodedata2.unidata_version
    assert not any(is_sign(code_point) for code_point in range(LAST_SIGN + 1, sys.maxunicode + 1))
    write("unicode16.bin", (class_of(code_point) for code_point in range(sys.maxunicode + 1)))
    write("unicode16_signs.bin", (is_sign(code_point) for code_point in range(LAST_SIGN + 1)))


if __name__ == "__main__":
    main()
