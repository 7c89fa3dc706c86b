"""Writes what the engine embeds with into rust/engine/src/embedding/data: classes.bin, wordpiece.bin and table.bin. All little endian.

classes.bin    runs of characters that the normaliser treats alike, 4 bytes each: first code point * 8 + class, with the classes
               0 letter, 1 dropped, 2 white space, 3 ideograph, 4 combining mark, 5 punctuation. Read off `tokenizers`' BertNormalizer and
               BertPreTokenizer character by character.
wordpiece.bin  u32 tokens; for each token u32 end of its text, the highest bit set where it continues a word; 65,536 slots of u16: the
               token whose hash leads there, or 0xFFFF; the texts. The hash is FNV-1a (32 bits, basis xor 1 for a piece that continues a
               word), folded as h >> 16 ^ h; a taken slot leads to the next one. Token 0 is the unknown one, without text. Tokens that the
               normaliser cannot produce ([CLS], [unused7], ...) are left out, the others keep their order.
table.bin      f32 scale for each dimension; for each token a row of int8.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
from tokenizers import normalizers, pre_tokenizers

DATA = Path(__file__).resolve().parents[2] / "rust/engine/src/embedding/data"
SLOTS = 1 << 16
EMPTY = 0xFFFF
CONTINUES = 1 << 31
UNKNOWN = "[UNK]"


def kept(vocabulary: list[str]) -> list[int]:
    """Ids of the tokens that a text can have, the unknown one first."""
    reachable = [at for at, token in enumerate(vocabulary) if not (token.startswith("[") and len(token) > 1)]
    return [vocabulary.index(UNKNOWN), *reachable]


def character_classes() -> list[int]:
    """The class of every code point; surrogates count as letters, texts have none."""

    def normaliser(**steps: bool) -> normalizers.BertNormalizer:
        every = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
        return normalizers.BertNormalizer(**every | steps)

    clean, ideographs, accents = (normaliser(**{name: True}) for name in ("clean_text", "handle_chinese_chars", "strip_accents"))
    words = pre_tokenizers.BertPreTokenizer()

    def class_of(code_point: int) -> int:
        if 0xD800 <= code_point < 0xE000:
            return 0
        c = chr(code_point)
        cleaned = clean.normalize_str(c)
        if cleaned != c:
            return 2 if cleaned == " " else 1
        if c == " ":
            return 2
        if ideographs.normalize_str(c) != c:
            return 3
        if accents.normalize_str(c) == "":
            return 4
        return 5 if len(words.pre_tokenize_str(f"a{c}b")) == 3 else 0

    return [class_of(code_point) for code_point in range(sys.maxunicode + 1)]


def classes_file() -> bytes:
    """classes.bin."""
    runs, start = bytearray(), 0
    for kind, run in itertools.groupby(character_classes()):
        runs += (start << 3 | kind).to_bytes(4, "little")
        start += sum(1 for _ in run)
    return bytes(runs)


def fnv(text: bytes, *, continues: bool) -> int:
    """The hash of a piece."""
    state = 0x811C9DC5 ^ continues
    for byte in text:
        state = ((state ^ byte) * 0x01000193) & 0xFFFFFFFF
    return (state >> 16 ^ state) % SLOTS


def wordpiece_file(vocabulary: list[str]) -> bytes:
    """wordpiece.bin."""
    tokens = [vocabulary[at] for at in kept(vocabulary)]
    slots = np.full(SLOTS, EMPTY, dtype="<u2")
    ends, texts = np.zeros(len(tokens), dtype="<u4"), bytearray()
    for number, token in enumerate(tokens):
        if number == 0:
            continue
        continues = token.startswith("##") and len(token) > 2
        piece = token.removeprefix("##").encode() if continues else token.encode()
        slot = fnv(piece, continues=continues)
        while slots[slot] != EMPTY:
            slot = (slot + 1) % SLOTS
        slots[slot] = number
        texts += piece
        ends[number] = len(texts) | (CONTINUES if continues else 0)
    return len(tokens).to_bytes(4, "little") + ends.tobytes() + slots.tobytes() + bytes(texts)


def table_file(table: np.ndarray) -> bytes:
    """table.bin, from float32 rows in the order of `kept`."""
    scale = (np.abs(table).max(axis=0) / 127).astype("<f4")
    return scale.tobytes() + np.clip(np.rint(table / scale), -127, 127).astype(np.int8).tobytes()


def write(vocabulary: list[str], table: np.ndarray) -> None:
    """All three files."""
    DATA.mkdir(parents=True, exist_ok=True)
    for name, content in (
        ("classes.bin", classes_file()),
        ("wordpiece.bin", wordpiece_file(vocabulary)),
        ("table.bin", table_file(table[kept(vocabulary)])),
    ):
        (DATA / name).write_bytes(content)
        print(f"{name}: {len(content):,} bytes")
