"""SentencePiece's `.model` files: exact against the library itself, and a typed error for what is not understood.

`MEMSPAN_SENTENCEPIECE` names further files, with the separator of `PATH`, that are compared too: Gemma's, for example.
"""

from __future__ import annotations

import io
import itertools
import os
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sentencepiece

import memspan

sys.path.insert(0, str(Path(__file__).parent.parent / "benches"))

from rivals import vocabularies

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).parent.parent
GIVEN = [Path(path) for path in os.environ.get("MEMSPAN_SENTENCEPIECE", "").split(os.pathsep) if path]
USER_DEFINED = ["the", "\u2581\u2581", "\u4e2d\u6587", "the\u2581t", "<tag>", "\n", "\n\n"]
OPTIONS = list(itertools.product((False, True), (False, True), (False, True), ((), USER_DEFINED)))


def trained(path: Path, *, kind: str = "bpe", **options: Any) -> Path:
    """A model learned from our own documents, without a table of characters unless the options say so."""
    lines = [line for page in sorted(ROOT.glob("*.md")) for line in page.read_text().splitlines() if line]
    made = io.BytesIO()
    chosen: dict[str, Any] = {"vocab_size": 1_500, "normalization_rule_name": "identity", "character_coverage": 0.99} | options
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*lines, *["\u4e2d\u6587\u5b57 \u30ab\u30bf\u30ab\u30ca \u0434\u043e\u043c"] * 5]),
        model_writer=made,
        model_type=kind,
        minloglevel=2,
        hard_vocab_limit=False,
        **chosen,
    )
    path.write_bytes(made.getvalue())
    return path


WORDS = [
    *USER_DEFINED,
    " ",
    "   ",
    "\u2581",
    "the the  t",
    "<tag",
    "\0",
    "\U00020000",
    "memory",
    " of",
    "na\u00efve",
    "\u4e2d",
    "\U0001f600",
    "e\u0301",
]


def strings(seed: int, number: int) -> Iterable[str]:
    """Slices of our own documents, any characters, and words with user-defined pieces and with spaces at all places."""
    source, prose = random.Random(seed), (ROOT / "README.md").read_text()  # noqa: S311  pseudo-random on purpose
    for _ in range(number):
        kind, length = source.randrange(4), source.choice((1, 2, 4, 9, 30))
        if kind == 0:
            start = source.randrange(len(prose))
            yield prose[start : start + 10 * length]
        elif kind == 1:
            yield "".join(chr(source.choice((source.randrange(0x20, 0x250), source.randrange(0xD800)))) for _ in range(length))
        else:
            yield "".join(source.choice(WORDS) + source.choice(("", " ", "\n")) for _ in range(length))


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.timeout(300)
def test_texts_are_counted_as_the_library_counts_them(
    options: tuple[bool, bool, bool, list[str]], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    prefix, trim, byte_fallback, user_defined = options
    path = trained(
        tmp_path / "own.model",
        add_dummy_prefix=prefix,
        remove_extra_whitespaces=trim,
        byte_fallback=byte_fallback,
        user_defined_symbols=user_defined,
    )
    compare(path, 100_000 if request.config.getoption("--soak") else 1_000)


@pytest.mark.skipif(not GIVEN, reason="MEMSPAN_SENTENCEPIECE names no file")
@pytest.mark.parametrize("path", GIVEN)
@pytest.mark.timeout(1_800)
def test_a_given_file_is_counted_as_the_library_counts_it(path: Path, request: pytest.FixtureRequest) -> None:
    compare(path, 1_000_000 if request.config.getoption("--soak") else 20_000)


def test_gemma3_is_embedded_as_its_own_file_says(tmp_path: Path) -> None:
    path = tmp_path / "gemma3.model"
    path.write_bytes(vocabularies.pieces("gemma3"))
    loaded = memspan.tokenizers.load(path)
    assert not [text for text in strings(10, 3_000) if loaded.count(text) != memspan.count_tokens(text, "gemini-2.5-flash")]


def compare(path: Path, number: int) -> None:
    ours, theirs = memspan.tokenizers.load(path), sentencepiece.SentencePieceProcessor(model_file=str(path))
    assert not [text for text in ["", " ", "  ", *strings(8, number)] if ours.count(text) != len(theirs.encode(text))]


def test_a_growing_text_is_counted_as_the_whole(tmp_path: Path) -> None:
    tokenizer = memspan.tokenizers.load(trained(tmp_path / "own.model", user_defined_symbols=USER_DEFINED))
    memspan.models.register(
        memspan.Model(name="test-sentencepiece", context_window=8_192, max_output_tokens=1_024, encoding=tokenizer.name)
    )
    for text in strings(9, 200):
        counter = memspan.TokenCounter("test-sentencepiece")
        for at in range(0, len(text), 7):
            assert counter.append(text[at : at + 7]) == tokenizer.count(text[: at + 7])
        part = memspan.truncate(text, 5, model="test-sentencepiece")
        assert text.startswith(part)
        assert tokenizer.count(part) <= 5


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("unigram", {}, "unigram"),
        ("word", {}, "model of words"),
        ("char", {"vocab_size": 60}, "model of characters"),
        ("bpe", {"normalization_rule_name": "nmt_nfkc"}, "precompiled_charsmap"),
        ("bpe", {"treat_whitespace_as_suffix": True}, "treat_whitespace_as_suffix"),
        ("bpe", {"control_symbols": ["#"]}, "more than one character"),
    ],
)
def test_a_model_of_another_kind_is_an_error(kind: str, options: dict[str, object], said: str, tmp_path: Path) -> None:
    path = trained(tmp_path / "other.model", kind=kind, **options)
    with pytest.raises(memspan.TokenizerError, match=said) as caught:
        memspan.tokenizers.load(path)
    assert str(path) in str(caught.value)


def field(number: int, value: bytes) -> bytes:
    """A field of a protocol buffer: bytes shorter than 128."""
    return bytes([number << 3 | 2, len(value)]) + value


def piece(text: bytes, kind: int = 1, score: bytes = bytes(4)) -> bytes:
    return field(1, field(1, text) + b"\x15" + score + bytes([0x18, kind]))


BPE = field(2, b"\x18\x02")
UNKNOWN = piece(b"<unk>", 2)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (UNKNOWN + piece(b"a") + piece(b"a") + BPE, "of its own"),
        (UNKNOWN + piece(b"a", score=b"\x00\x00\xc0\x7f") + BPE, "of its own"),  # not a number
        (UNKNOWN + piece(b"") + BPE, "of its own"),
        (UNKNOWN + piece(b"ab", 5) + BPE, "UNUSED"),
        (UNKNOWN + piece(b"ab", 9) + BPE, "type that is known"),
        (UNKNOWN + piece(b"<0xGG>", 6) + BPE, "<0x0A>"),
        (UNKNOWN + piece(b"a b", 4) + BPE, "U\\+2581"),
        (piece(b"<s>", 3) + piece(b"a") + BPE, "unknown piece"),
        (UNKNOWN + field(2, b"\x18\x02\x98\x02\x01"), "byte_fallback without all 256"),
        (UNKNOWN + piece(b"\xff") + BPE, "protocol buffer"),
        (UNKNOWN + b"\x0a\x7f" + b"a", "protocol buffer"),
        (UNKNOWN, "unigram"),  # the default
    ],
)
def test_a_damaged_model_is_an_error(made: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged.model"
    path.write_bytes(made)
    with pytest.raises(memspan.TokenizerError, match=said):
        memspan.tokenizers.load(path)


def test_every_cut_of_a_model_is_an_error_or_a_smaller_model(tmp_path: Path) -> None:
    whole = trained(tmp_path / "own.model", vocab_size=200).read_bytes()
    for size in range(1, len(whole), 97):
        path = tmp_path / "cut.model"
        path.write_bytes(whole[:size])
        with pytest.raises(memspan.TokenizerError):
            memspan.tokenizers.load(path)
