"""The texts that the table is fitted to, each from a source whose licence is known. No benchmark's text is among them.

    wordnet     glosses, examples and lemmas of WordNet 3.0 (WordNet licence; Debian's package wordnet-base)
    pydoc       paragraphs of the Python 3.11 documentation (PSF licence; Debian's package python3.11-doc)
    rustdoc     paragraphs of the Rust books (MIT or Apache-2.0; Debian's package rust-doc)
    vocabulary  every whole word of the teacher's vocabulary
    everyday    sentences, and questions about them, made here from WordNet's words by templates with a fixed seed
    dialogues   turns of dialogues in a file that the caller has: JSON lines with {"turns": [{"text": ...}]}
    mixture     two to four sentences of example, everyday and dialogues in a row, half of them behind a speaker's name: as long as what
                people say, and what taught the table most

Every source is shuffled by a hash of each text and cut to what is asked for, so that the same inputs give the same texts.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import re
import subprocess
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
from templates import ENVIRONMENTS, NAMES, QUESTIONS, SERVICES, STATEMENTS, TIMES, TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGES = {"wordnet-base": "wn", "python3.11-doc": "pydoc", "rust-doc": "rustdoc"}


def unpacked(folder: Path, package: str) -> Path:
    """A Debian package's files, fetched where they are not there yet."""
    target = folder / PACKAGES[package]
    if not target.exists():
        subprocess.run(["apt-get", "download", package], cwd=folder, check=True)  # noqa: S607  where Debian puts it
        [archive] = sorted(folder.glob(f"{package}_*.deb"))
        subprocess.run(["dpkg-deb", "-x", str(archive), str(target)], check=True)  # noqa: S607
    return target


def shuffled(texts: set[str]) -> list[str]:
    """In the order of a hash: as good as random, and the same everywhere."""
    return sorted(texts, key=lambda text: hashlib.blake2b(text.encode(), digest_size=8).digest())


def synsets(folder: Path) -> Iterator[tuple[str, int, list[str], str]]:
    """Part of speech, lexicographer's file, lemmas and gloss of every entry of WordNet."""
    base = unpacked(folder, "wordnet-base") / "usr/share/wordnet"
    for part in ("noun", "verb", "adj", "adv"):
        for line in (base / f"data.{part}").read_text(encoding="latin-1").splitlines():
            if line.startswith("  "):
                continue
            entry, gloss = line.split(" | ", 1)
            fields = entry.split(" ")
            words = [re.sub(r"\(.*\)$", "", fields[4 + 2 * n]).replace("_", " ") for n in range(int(fields[3], 16))]
            yield part, int(fields[1]), words, gloss.strip()


def wordnet(folder: Path) -> dict[str, set[str]]:
    """Its glosses, examples and lemmas."""
    glosses, examples, lemmas = set(), set(), set()
    for _, _, words, gloss in synsets(folder):
        definition = gloss.split('; "', 1)[0].strip().rstrip(";")
        glosses.add(f"{words[0]}: {definition}" if len(words) == 1 else definition)
        examples.update(re.findall(r'"([^"]{12,})"', gloss))
        lemmas.update(word for word in words if " " in word)
    return {"gloss": glosses, "example": examples, "lemma": lemmas}


def paragraphs(folder: Path, package: str) -> set[str]:
    """Paragraphs of HTML documentation, without mark-up and code."""
    found = set()
    for file in sorted(unpacked(folder, package).rglob("*.html")):
        raw = file.read_text(encoding="utf-8", errors="replace")
        for inner in re.findall(r"<(?:p|li|dd)>(.*?)</(?:p|li|dd)>", raw, re.DOTALL):
            text = " ".join(html.unescape(re.sub(r"<[^>]*>", "", inner)).split()).replace("¶", "")
            if 40 <= len(text) <= 400 and not text.startswith("Redirecting"):
                found.add(text)
    return found


def dialogues(path: Path) -> set[str]:
    """Turns of dialogues."""
    turns = set()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            turns.update(turn["text"] for turn in json.loads(line)["turns"])
    return turns


# WordNet's lexicographer files, by what a template calls their words.
FILES = {
    4: "act", 5: "animal", 6: "thing", 9: "idea", 10: "topic", 11: "event", 12: "feeling", 13: "food", 14: "group", 15: "place",
    18: "person", 20: "plant", 26: "state",
}  # fmt: skip
VERBS = {29: "verb", 30: "verb", 31: "think", 32: "say", 35: "verb", 36: "make", 38: "move", 40: "verb", 41: "verb"}


def words_by_class(folder: Path) -> dict[str, dict[str, float]]:
    """Words for the templates, each with a weight: the root of how often WordNet's tagged texts have it; those never met stay out."""
    counts = defaultdict(int)
    base = unpacked(folder, "wordnet-base") / "usr/share/wordnet"
    for line in (base / "cntlist.rev").read_text(encoding="latin-1").splitlines():
        sense, _, count = line.split(" ")
        lemma, rest = sense.split("%")
        counts[lemma.replace("_", " "), int(rest.split(":")[1])] += int(count)
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for part, file, words, _ in synsets(folder):
        for word in words:
            if not word.isascii() or word != word.lower() or counts[word, file] < 1:
                continue
            if part == "noun" and file in FILES:
                found[FILES[file]][word] = counts[word, file] ** 0.5
            elif part == "verb" and file in VERBS and " " not in word:
                found[VERBS[file]][word] = counts[word, file] ** 0.5
            elif part == "adj" and " " not in word:
                found["adjective"][word] = counts[word, file] ** 0.5
    return {name: dict(sorted(members.items())) for name, members in sorted(found.items())}


def everyday(folder: Path, count: int, seed: int = 1) -> list[str]:
    """Sentences of the kind that people tell an assistant, and questions about them."""
    rng = np.random.default_rng(seed)
    plain = {"name": NAMES, "time": TIMES, "service": SERVICES, "tool": TOOLS, "environment": ENVIRONMENTS}
    plain["number"] = [str(n) for n in rng.integers(2, 9999, 500)]
    classes = words_by_class(folder) | {name: dict.fromkeys(words, 1.0) for name, words in plain.items()}
    words = {name: list(members) for name, members in classes.items()}
    ends = {name: np.cumsum(list(members.values())) for name, members in classes.items()}

    def word(name: str) -> str:
        return words[name][int(np.searchsorted(ends[name], rng.random() * ends[name][-1], side="right"))]

    def fill(template: str) -> str:
        chosen = re.sub(r"{(\w+)}", lambda match: word(match[1]), template)
        return chosen[0].upper() + chosen[1:]

    made: dict[str, None] = {}
    while len(made) < count:
        templates = STATEMENTS if rng.random() < 0.6 else QUESTIONS
        text = fill(templates[rng.integers(len(templates))])
        if rng.random() < 0.2:  # two sentences in one turn
            text += " " + fill(STATEMENTS[rng.integers(len(STATEMENTS))])
        made[text] = None
    return list(made)


def mixtures(sources: dict[str, list[str]], count: int, seed: int = 5) -> list[str]:
    """Texts of several sentences each."""
    rng = np.random.default_rng(seed)
    drawn = ["dialogues", "everyday", "everyday", "example", "example"]
    made = []
    for _ in range(count):
        parts = []
        for _ in range(rng.integers(2, 5)):
            texts = sources[drawn[rng.integers(len(drawn))]]
            text = texts[rng.integers(len(texts))]
            parts.append(text if text[-1] in ".!?" else text[0].upper() + text[1:] + ".")
        mixture = " ".join(parts)
        made.append(NAMES[rng.integers(len(NAMES))] + ": " + mixture if rng.random() < 0.5 else mixture)
    return made


def collect(folder: Path, vocabulary: list[str], dialogue_file: Path, sizes: dict[str, int]) -> dict[str, list[str]]:
    """The texts of every source, at most `sizes[source]` of each."""
    sources: dict[str, list[str]] = {name: shuffled(texts) for name, texts in wordnet(folder).items()}
    sources["pydoc"] = shuffled(paragraphs(folder, "python3.11-doc"))
    sources["rustdoc"] = shuffled(paragraphs(folder, "rust-doc"))
    sources["vocabulary"] = [token for token in vocabulary if token.isalnum() and len(token) > 1]
    sources["everyday"] = everyday(folder, sizes["everyday"])
    sources["dialogues"] = shuffled(dialogues(dialogue_file))
    cut = {name: texts[: sizes.get(name, len(texts))] for name, texts in sources.items()}
    cut["mixture"] = mixtures(cut, sizes["mixture"])
    return cut
