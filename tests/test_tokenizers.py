"""Tokenizers from files: exact against Hugging Face's `tokenizers` and tiktoken, and a typed error for what is not understood."""

from __future__ import annotations

import base64
import functools
import json
import os
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tiktoken
import tiktoken.load
import tokenizers
from tokenizers import Regex, models, normalizers, pre_tokenizers, trainers

import memspan

sys.path.insert(0, str(Path(__file__).parent.parent / "benches"))

from rivals import vocabularies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parent.parent
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CASED = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]%s[\p{Ll}\p{Lm}\p{Lo}\p{M}]%s(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
LLAMA4 = CASED % ("*", "+") + CASED % ("+", "*") + r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
WORDS = [
    "the",
    " of",
    "Tokens",
    "memory",
    "naïve",
    "中文字",
    "カタカナ",
    "😀",
    "👩\u200d👧",
    "\u2581",
    "e\u0301",
    "\u212b",
    "12",
    "345",
    "'ll",
    "'S",
    "\x07",
]
SPACES = [" ", "  ", "\n", "\r\n", "\t", "\n\n", "   ", "", "", ".", "!", "_", "-", "\u00a0", "<s>", "<tag>"]


def texts(seed: int, number: int) -> Iterator[str]:
    """Words, spaces, slices of our own source, and any characters."""
    source = random.Random(seed)  # noqa: S311  pseudo-random on purpose
    prose = (ROOT / "README.md").read_text()
    for _ in range(number):
        kind, length = source.randrange(4), source.choice((1, 2, 4, 9, 30))
        if kind == 0:
            start = source.randrange(len(prose))
            yield prose[start : start + 10 * length]
        elif kind == 1:
            yield "".join(chr(source.choice((source.randrange(0x20, 0x250), source.randrange(0xD800)))) for _ in range(length))
        else:
            yield "".join(source.choice(WORDS) + source.choice(SPACES) for _ in range(length))


def trained(tokenizer: tokenizers.Tokenizer, alphabet: list[str]) -> dict[str, Any]:
    """A tokenizer.json with merges learned from our own documents."""
    trainer = trainers.BpeTrainer(vocab_size=2_500, initial_alphabet=alphabet, special_tokens=["<unk>", "<s>"], show_progress=False)
    tokenizer.train_from_iterator([path.read_text() for path in sorted(ROOT.glob("*.md"))], trainer)
    made: dict[str, Any] = json.loads(tokenizer.to_str())
    return made


def byte_level() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(_byte_level())
    return made


@functools.cache
def _byte_level() -> str:
    tokenizer = tokenizers.Tokenizer(models.BPE())
    cuts = [pre_tokenizers.Split(Regex(LLAMA3), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(cuts)
    return json.dumps(trained(tokenizer, pre_tokenizers.ByteLevel.alphabet()))


def add(made: dict[str, Any], *tokens: str) -> None:
    for token in tokens:
        made["model"]["vocab"].setdefault(token, len(made["model"]["vocab"]))


def characters(normalizer: normalizers.Normalizer | None, pre_tokenizer: pre_tokenizers.PreTokenizer | None) -> dict[str, Any]:
    tokenizer = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))  # noqa: S106  a token of text
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=True)
    made = trained(tokenizer, [])
    add(made, *(f"<0x{byte:02X}>" for byte in range(256)))
    made["pre_tokenizer"] = None
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
        made["pre_tokenizer"] = json.loads(tokenizer.to_str())["pre_tokenizer"]
    return made


def sentencepiece() -> normalizers.Normalizer:
    return normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])


def ignoring_merges() -> dict[str, Any]:
    made = byte_level()
    add(
        made, "Ġmemorization", "Ġæ", "".join(vocabularies.byte_letters()[byte] for byte in "中文".encode()), "ĠTokens", "README"
    )  # tokens that no merge reaches
    made["model"]["ignore_merges"] = True
    return made


def gpt2() -> dict[str, Any]:
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return trained(tokenizer, pre_tokenizers.ByteLevel.alphabet())


def normalizing() -> dict[str, Any]:
    made = byte_level()
    made["normalizer"] = {"type": "NFC"}
    return made


def with_added_words() -> dict[str, Any]:
    made = byte_level()
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    made["added_tokens"] += [plain | {"id": 2_600 + at, "content": word} for at, word in enumerate(["<tag>", "the", "<ta", "中文"])]
    return made


MADE: dict[str, Callable[[], dict[str, Any]]] = {
    "byte-level": byte_level,
    "ignore-merges": ignoring_merges,
    "gpt2": gpt2,
    "nfc": normalizing,
    "added-words": with_added_words,
    "sentencepiece": lambda: characters(sentencepiece(), None),
    "no-prefix": lambda: characters(normalizers.Replace(" ", "\u2581"), None),
    "metaspace": lambda: characters(None, pre_tokenizers.Metaspace(split=False, prepend_scheme="first")),
    "metaspace-split": lambda: characters(None, pre_tokenizers.Metaspace(split=True, prepend_scheme="always")),
}


@pytest.fixture(scope="module", params=MADE)
def sides(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[memspan.tokenizers.Tokenizer, tokenizers.Tokenizer]:
    """A file, loaded by us and by Hugging Face; special tokens are taken out of the latter, for which text is not always text."""
    made = MADE[request.param]()
    made["added_tokens"] = [token for token in made["added_tokens"] if not token["special"]]
    path = tmp_path_factory.mktemp("tokenizers") / f"{request.param}.json"
    path.write_text(json.dumps(made, ensure_ascii=False))
    return memspan.tokenizers.load(path), tokenizers.Tokenizer.from_file(str(path))


@pytest.mark.timeout(300)
def test_texts_are_counted_as_hugging_face_counts_them(
    sides: tuple[memspan.tokenizers.Tokenizer, tokenizers.Tokenizer], request: pytest.FixtureRequest
) -> None:
    ours, theirs = sides
    number = 300_000 if request.config.getoption("--soak") else 8_000
    wrong = [text for text in texts(3, number) if ours.count(text) != len(theirs.encode(text, add_special_tokens=False).ids)]
    assert not wrong


def test_a_growing_text_and_its_parts_are_counted_alike(sides: tuple[memspan.tokenizers.Tokenizer, tokenizers.Tokenizer]) -> None:
    tokenizer = sides[0]
    name = f"test-tokenizers-{tokenizer.name}"
    memspan.models.register(memspan.Model(name=name, context_window=8_192, max_output_tokens=1_024, encoding=tokenizer.name))
    for text in texts(4, 300):
        counter = memspan.TokenCounter(name)
        for at in range(0, len(text), 3):
            assert counter.append(text[at : at + 3]) == tokenizer.count(text[: at + 3])
        for keep in ("start", "end"):
            part = memspan.truncate(text, 5, model=name, keep=keep)
            assert tokenizer.count(part) <= 5
            assert text.startswith(part) if keep == "start" else text.endswith(part)


@pytest.mark.parametrize("pattern", ["cl100k_base", "llama3"])
def test_a_tiktoken_file_is_counted_as_tiktoken_counts_it(pattern: str, tmp_path: Path) -> None:
    ranks = vocabularies.ranks("cl100k_base")
    path = tmp_path / "vocabulary.tiktoken"
    path.write_text("".join(f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in ranks.items()))
    ours = memspan.tokenizers.load(path, pattern=pattern)
    spelled = LLAMA3 if pattern == "llama3" else vocabularies.openai("cl100k_base", tmp_path)._pat_str
    theirs = tiktoken.Encoding("test", pat_str=spelled, mergeable_ranks=ranks, special_tokens={})
    assert not [text for text in texts(5, 3_000) if ours.count(text) != len(theirs.encode_ordinary(text))]


@pytest.mark.parametrize(("pattern", "variable"), [("llama3", "MEMSPAN_LLAMA3"), ("llama4", "MEMSPAN_LLAMA4")])
@pytest.mark.timeout(600)
def test_llamas_own_file_is_counted_as_its_library_counts_it(pattern: str, variable: str) -> None:
    """The variables name `tokenizer.model` of llama-models, which Meta's licence keeps out of here."""
    path = os.environ.get(variable)
    if path is None:
        pytest.skip(f"{variable} names no file")
    ranks = tiktoken.load.load_tiktoken_bpe(path)
    theirs = tiktoken.Encoding("test", pat_str=LLAMA3 if pattern == "llama3" else LLAMA4, mergeable_ranks=ranks, special_tokens={})
    ours = memspan.tokenizers.load(path, pattern=pattern)
    assert not [text for text in texts(8, 20_000) if ours.count(text) != len(theirs.encode_ordinary(text))]


def test_a_tekken_file_is_counted_as_the_embedded_one(tmp_path: Path) -> None:
    ranks = vocabularies.ranks("tekken")
    vocabulary = [{"rank": rank, "token_bytes": base64.b64encode(token).decode()} for token, rank in ranks.items()]
    vocabulary.append({"rank": len(ranks), "token_bytes": "bm90IHVzZWQ="})
    config = {"pattern": vocabularies.TEKKEN, "default_vocab_size": len(ranks) + 1_000, "default_num_special_tokens": 1_000}
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps({"config": config, "vocab": vocabulary}))
    ours = memspan.tokenizers.load(path)
    embedded = memspan.models["open-mistral-nemo"].name
    assert not [text for text in texts(6, 3_000) if ours.count(text) != memspan.count_tokens(text, embedded)]


def test_deepseeks_three_patterns_are_known(tmp_path: Path) -> None:
    path = tmp_path / "deepseek.json"
    vocabularies.byte_level("deepseek_v3", vocabularies.DEEPSEEK).save(str(path))
    ours = memspan.tokenizers.load(path)
    assert not [text for text in texts(7, 3_000) if ours.count(text) != memspan.count_tokens(text, "deepseek-chat")]


def test_a_model_counts_by_what_was_loaded_and_the_same_file_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_text(json.dumps(byte_level()))
    tokenizer = memspan.tokenizers.load(path)
    assert memspan.tokenizers.load(str(path)) == tokenizer
    assert tokenizer.name.startswith("own@")
    memspan.models.register(replace(memspan.models["llama-3.3-70b"], name="test-tokenizers-llama", encoding=tokenizer.name, factor=1.0))
    text = "Everything that computes or stores is here."
    assert memspan.count_tokens(text, "test-tokenizers-llama") == tokenizer.count(text) != memspan.count_tokens(text)


def test_a_long_text_without_a_border_is_counted_in_time(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text(json.dumps(characters(sentencepiece(), None)))
    text = "memory " * 60_000
    ours, theirs = memspan.tokenizers.load(path), tokenizers.Tokenizer.from_file(str(path))
    assert ours.count(text) == len(theirs.encode(text, add_special_tokens=False).ids)


def changed(change: dict[str, Any]) -> str:
    made = byte_level()
    return json.dumps(made | change | {"model": made["model"] | change.get("model", {})})


BAD: dict[str, tuple[str | dict[str, Any], str]] = {
    "empty": ("", "pattern"),
    "no JSON": ("{", "must be JSON"),
    "other JSON": ("{}", "neither"),
    "WordPiece": ('{"model": {"type": "WordPiece", "vocab": {}}}', "byte-pair"),
    "Unigram": ('{"model": {"type": "Unigram", "vocab": []}}', "byte-pair"),
    "no vocab": ('{"model": {"type": "BPE", "merges": []}}', "vocab"),
    "an unknown pattern": ({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "x+"}, "behavior": "Isolated"}}, "pattern"),
    "an unknown normalizer": ({"normalizer": {"type": "Lowercase"}}, "normalizer"),
    "a merge of nothing": ({"model": {"merges": [["zzz", "yyy"]]}}, "merge"),
    "a missing byte": ({"model": {"vocab": {"a": 0, "b": 1}, "merges": []}}, "every single byte"),
    "a negative id": ({"model": {"vocab": {"a": -1}, "merges": []}}, "vocab"),
    "dropout": ({"model": {"dropout": 0.1}}, "dropout"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_understood_is_an_error_that_names_the_file(name: str, tmp_path: Path) -> None:
    given, said = BAD[name]
    path = tmp_path / "bad.json"
    path.write_text(given if isinstance(given, str) else changed(given))
    with pytest.raises(memspan.TokenizerError, match=said) as caught:
        memspan.tokenizers.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("IQ== 0\nIg== 2\n", "llama3"),  # a gap
        ("IQ== 0\nIQ== 1\n", "llama3"),  # one token twice
        ("IQ== 0\n", "llama3"),  # bytes are missing
        ("!!!! 0\n", "llama3"),
        ("IQ==\n", "llama3"),
        ("IQ== -1\n", "llama3"),
        ("IQ== 0\n", "perl"),
        ("IQ== 0\n", None),
    ],
)
def test_a_damaged_tiktoken_file_is_an_error(text: str, pattern: str | None, tmp_path: Path) -> None:
    path = tmp_path / "bad.tiktoken"
    path.write_text(text)
    with pytest.raises(memspan.TokenizerError):
        memspan.tokenizers.load(path, pattern=pattern)


def test_a_file_that_is_not_there_or_binary_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(memspan.TokenizerError, match="readable"):
        memspan.tokenizers.load(tmp_path / "nowhere.json")
    path = tmp_path / "binary.model"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(memspan.TokenizerError, match="text"):
        memspan.tokenizers.load(path, pattern="llama3")


def test_an_unknown_encoding_is_told_to_be_loaded() -> None:
    with pytest.raises(memspan.InvalidInput, match=r"memspan\.tokenizers\.load"):
        memspan.models.register(replace(memspan.models["gpt-4o"], name="test-tokenizers-none", encoding="gone@0123456789abcdef"))
