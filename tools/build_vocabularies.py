#!/usr/bin/env python3
"""Writes rust/engine/src/tokens/data/{cl100k_base,o200k_base}.bin from OpenAI's published vocabularies.

    python tools/build_vocabularies.py [FOLDER]

FOLDER holds tiktoken's cached files (named by the SHA-1 of their address); without it the litellm 1.109.1 wheel, which ships
them, is downloaded from PyPI. Both files are checked against the SHA-256 that tiktoken itself pins, and every token is checked
to be what its two parents spell. The same input gives the same bytes.

Source: OpenAI tiktoken (https://github.com/openai/tiktoken), MIT licence, copyright (c) 2022 OpenAI, Shantanu Jain.

Format: a byte-pair token is the merge of two older tokens, so a vocabulary is a list of pairs.
    4 bytes   number of tokens, little endian
    4 bytes   CRC-32 of all tokens in order, each as one length byte and its bytes
    256 bytes the single-byte tokens, in the order of their ids
    bits      for each further token its left and its right parent, low bit first: 4 bits m; then the id in 3 bits if m = 0,
              else the m + 2 bits of the id below its leading one
"""

import base64
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import zipfile
import zlib
from itertools import pairwise

DATA = pathlib.Path(__file__).resolve().parent.parent / "rust/engine/src/tokens/data"
WHEEL = "litellm==1.109.1"
SOURCES = {
    "cl100k_base": ("9b5ad71b2ce5302211f9c61530b329a4922fc6a4", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"),
    "o200k_base": ("fb374d419588a4632f3f557e76b4b70aebbca790", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
}


def from_wheel(name: str) -> bytes:
    """One cached file out of the wheel; pip keeps the download, so the second call costs nothing."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, WHEEL], check=True)
        with zipfile.ZipFile(next(pathlib.Path(folder).glob("*.whl"))) as wheel:
            return wheel.read(f"litellm/litellm_core_utils/tokenizers/{name}")


def read_ranks(raw: bytes) -> dict[bytes, int]:
    """Token bytes to id, from tiktoken's text format: base64, a space, the id."""
    pairs = (line.split() for line in raw.splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


def parents(token: bytes, ranks: dict[bytes, int]) -> tuple[int, int]:
    """The last two parts that merging gives before they become `token`."""
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 2:
        rank, at = min((ranks.get(a + b, len(ranks)), i) for i, (a, b) in enumerate(pairwise(parts)))
        assert rank < ranks[token], f"{token!r} cannot be reached by merges"
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    left, right = (ranks[part] for part in parts)
    assert max(left, right) < ranks[token], f"{token!r} is older than its parents"
    return left, right


class BitWriter:
    """Bits, low first, in one growing integer per chunk."""

    def __init__(self) -> None:
        self.out, self.pending, self.used = bytearray(), 0, 0

    def write(self, value: int, width: int) -> None:
        self.pending |= value << self.used
        self.used += width
        while self.used >= 8:
            self.out.append(self.pending & 255)
            self.pending >>= 8
            self.used -= 8

    def write_id(self, value: int) -> None:
        magnitude = max(value.bit_length(), 3) - 3
        self.write(magnitude, 4)
        if magnitude == 0:
            self.write(value, 3)
        else:
            width = magnitude + 2
            self.write(value & ((1 << width) - 1), width)

    def finish(self) -> bytes:
        return bytes(self.out) + (bytes([self.pending]) if self.used else b"")


def pack(ranks: dict[bytes, int]) -> bytes:
    """The blob of one vocabulary."""
    tokens = sorted(ranks, key=ranks.__getitem__)
    assert [ranks[token] for token in tokens] == list(range(len(tokens))), "ids have gaps"
    assert all(len(token) == 1 for token in tokens[:256]), "the first 256 tokens are not the bytes"
    bits = BitWriter()
    for token in tokens[256:]:
        for parent in parents(token, ranks):
            bits.write_id(parent)
    checksum = zlib.crc32(b"".join(bytes([len(token)]) + token for token in tokens))
    head = len(tokens).to_bytes(4, "little") + checksum.to_bytes(4, "little")
    return head + b"".join(tokens[:256]) + bits.finish()


def main() -> None:
    for encoding, (name, sha256) in SOURCES.items():
        raw = (pathlib.Path(sys.argv[1]) / name).read_bytes() if len(sys.argv) > 1 else from_wheel(name)
        assert hashlib.sha256(raw).hexdigest() == sha256, f"{encoding}: not the file that tiktoken pins"
        blob = pack(read_ranks(raw))
        (DATA / f"{encoding}.bin").write_bytes(blob)
        print(f"{encoding}: {len(blob):,} bytes")


if __name__ == "__main__":
    main()
