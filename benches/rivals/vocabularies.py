"""tiktoken, Hugging Face's `tokenizers` and `sentencepiece` without a download: made of the vocabularies that memspan has packed.

For OpenAI's encodings tiktoken's own files are written anew, and tiktoken checks them against the SHA-256 that it pins. For the others the
published pattern is written down here, and the vocabulary was checked against its file's SHA-256 when it was packed.
"""

from __future__ import annotations

import base64
import hashlib
import os
import struct
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import tiktoken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import tokenizers

DATA = Path(__file__).parent.parent.parent / "rust/engine/src/tokens/data"
ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
# qwen.tiktoken's tokenization_qwen.py, tekken.json's config, and tokenizer.json of DeepSeek V3.
QWEN2 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK = [
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    (
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
]


def counter(name: str, folder: Path) -> Callable[[str], int]:
    """How the encoding of that name is counted by the library that its vendor uses; `folder` keeps files."""
    if name == "deepseek_v3":
        tokenizer = byte_level(name, DEEPSEEK)
        return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)
    if name == "gemma3":
        import sentencepiece  # noqa: PLC0415  only for this one

        gemma = sentencepiece.SentencePieceProcessor(model_proto=pieces(name))
        return lambda text: len(gemma.encode(text))
    if name == "qwen2":
        qwen = tiktoken.Encoding(name, pat_str=QWEN2, mergeable_ranks=ranks(name), special_tokens={})
        return lambda text: len(qwen.encode_ordinary(unicodedata.normalize("NFC", text)))
    if name == "tekken":
        encoding = tiktoken.Encoding(name, pat_str=TEKKEN, mergeable_ranks=ranks(name), special_tokens={})
    else:
        encoding = openai(name, folder)
    return lambda text: len(encoding.encode_ordinary(text))


def openai(name: str, folder: Path) -> tiktoken.Encoding:
    """The encoding of that name as tiktoken has it."""
    file = folder / hashlib.sha1(ADDRESS.format(name=name).encode()).hexdigest()  # noqa: S324  how tiktoken names them
    if not file.exists():
        file.write_text("".join(f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in ranks(name).items()))
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        return tiktoken.get_encoding(name)
    finally:
        os.environ.pop("TIKTOKEN_CACHE_DIR")
        if before is not None:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


def byte_level(name: str, patterns: list[str]) -> tokenizers.Tokenizer:
    """Hugging Face's byte-level BPE with that vocabulary, as a tokenizer.json describes it."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers  # noqa: PLC0415  heavy, and only for this one

    letters = byte_letters()
    spelled = ["".join(letters[byte] for byte in token) for token in ranks(name)]
    merges = [(spelled[left], spelled[right]) for left, right in parents(name)]
    tokenizer = Tokenizer(models.BPE(vocab={token: rank for rank, token in enumerate(spelled)}, merges=merges))
    cuts = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*cuts, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return tokenizer


def ranks(name: str) -> dict[bytes, int]:
    """What every token spells, in the order of the ids; the format is documented in tools/build_vocabularies.py."""
    packed = (DATA / f"{name}.bin").read_bytes()
    found = [bytes([byte]) for byte in packed[8:264]]
    for left, right in parents(name):
        found.append(found[left] + found[right])
    return {token: rank for rank, token in enumerate(found)}


def parents(name: str) -> list[tuple[int, int]]:
    """The two tokens that each but the single bytes was merged from."""
    packed = (DATA / f"{name}.bin").read_bytes()
    ids = _ids(packed[264:])
    return [(next(ids), next(ids)) for _ in range(int.from_bytes(packed[:4], "little") - 256)]


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


def pieces(name: str) -> bytes:
    """A SentencePiece model of a packed vocabulary of characters; without the few pieces that nothing can contain."""
    packed = (DATA / f"{name}.bin").read_bytes()
    at, point, found = 268, 128, []
    for _ in range(int.from_bytes(packed[264:268], "little")):
        step, shift = 0, 0
        while True:
            step, shift, at = step | (packed[at] & 127) << shift, shift + 7, at + 1
            if packed[at - 1] < 128:
                break
        point += step
        found.append(chr(point).encode())
    characters = len(found)
    count, at = int.from_bytes(packed[at : at + 4], "little"), at + 4
    for _ in range(count):
        found.append(packed[at + 1 : at + 1 + packed[at]])
        at += 1 + packed[at]
    found += [f"<unused{number}>".encode() for number in range(int.from_bytes(packed[at : at + 4], "little"))]
    words = len(found)
    at += 5 + 4 * packed[at + 4]
    spelled, ids = [bytes([byte]) for byte in range(256)] + found, _ids(packed[at:])
    for _ in range(int.from_bytes(packed[:4], "little") - len(spelled)):
        spelled.append(spelled[next(ids)] + spelled[next(ids)])
    merged = spelled[256 + words :]
    ascii_characters = sorted({token[i : i + 1] for token in merged for i in range(len(token)) if token[i] < 128})
    made = [(b"<unk>", 0, 2), (b"\n", 0, 4), (b"\t", 0, 4), *((token, 0, 4) for token in found[characters:])]
    made += [(b"<0x%02X>" % byte, 0, 6) for byte in range(256)]
    made += [(token, -rank, 1) for rank, token in enumerate(merged)]
    made += [(token, -len(merged) - rank, 1) for rank, token in enumerate(ascii_characters + found[:characters])]
    model = b"".join(
        _field(1, _field(1, text.replace(b" ", "\u2581".encode())) + b"\x15" + struct.pack("<f", score) + bytes([0x18, kind]))
        for text, score, kind in made
    )
    trainer = b"\x18\x02" + b"\x98\x02\x01"  # a byte-pair encoding, with pieces for bytes
    return model + _field(2, trainer) + _field(3, b"\x18\x00\x20\x00\x28\x01")  # spaces are shown, and no more


def _field(number: int, value: bytes) -> bytes:
    """A field of a protocol buffer."""
    assert len(value) < 128
    return bytes([number << 3 | 2, len(value)]) + value


def byte_letters() -> list[str]:
    """GPT-2's letter for each byte: printable ones stand for themselves, the others for U+0100 and following, in order."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]
