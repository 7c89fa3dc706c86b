"""tiktoken and Hugging Face's `tokenizers` without a download: made of the vocabularies that memspan has packed.

For OpenAI's encodings tiktoken's own files are written anew, and tiktoken checks them against the SHA-256 that it pins. For the others the
published pattern is written down here, and the vocabulary was checked against its file's SHA-256 when it was packed.
"""

from __future__ import annotations

import base64
import hashlib
import os
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


def byte_letters() -> list[str]:
    """GPT-2's letter for each byte: printable ones stand for themselves, the others for U+0100 and following, in order."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]
