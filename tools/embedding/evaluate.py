"""Evidence-turn recall on LoCoMo (Maharana et al., 2024; CC BY-NC 4.0, so its file is the caller's): words, vectors, and both.

    R@10 = mean share of a question's evidence turns among the ten best turns of its conversation, categories 1 to 4

Words: BM25 (k1 .9, b .4) over Snowball stems, question filler dropped. Both: a weighted sum of the two, each scaled from 0 to 1.
A turn is "speaker: text [image: caption]". Ties go to the earlier turn.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import snowballstemmer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILLER = frozenset(
    """what when where who which how why did does do is are was were the a an of to in on for and has have had with at by from s it that
    this""".split()  # noqa: SIM905  words, not a list of them
)
WEIGHTS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0)
Questions = list[tuple[str, int, set[str]]]


def conversations(path: Path) -> list[tuple[dict[str, str], Questions]]:
    """Of each: turns by id, and questions with category and evidence."""
    found = []
    for sample in json.loads(path.read_text(encoding="utf-8")):
        turns = {}
        for name, session in sample["conversation"].items():
            if re.fullmatch(r"session_\d+", name):
                for turn in session:
                    image = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
                    turns[turn["dia_id"]] = f"{turn['speaker']}: {turn['text']}{image}"
        questions = []
        for asked in sample["qa"]:
            named = re.findall(r"D:?(\d+):(\d+)", " ".join(asked.get("evidence", [])))
            evidence = {f"D{int(a)}:{int(b)}" for a, b in named} & turns.keys()
            if evidence:
                questions.append((asked["question"], asked["category"], evidence))
        found.append((turns, questions))
    return found


def bm25(documents: list[list[str]], questions: list[list[str]], k1: float = 0.9, b: float = 0.4) -> np.ndarray:
    """Scores, questions by documents."""
    counts = [Counter(document) for document in documents]
    frequency = Counter(term for count in counts for term in count)
    lengths = np.array([len(document) for document in documents])
    norms = k1 * (1 - b + b * lengths / lengths.mean())
    scores = np.zeros((len(questions), len(documents)))
    for row, question in enumerate(questions):
        for term in dict.fromkeys(question):
            idf = np.log(1 + (len(documents) - frequency[term] + 0.5) / (frequency[term] + 0.5))
            tf = np.array([count[term] for count in counts])
            scores[row] += idf * tf * (k1 + 1) / (tf + norms)
    return scores


def scaled(scores: np.ndarray) -> np.ndarray:
    low, high = scores.min(1, keepdims=True), scores.max(1, keepdims=True)
    return (scores - low) / np.maximum(high - low, 1e-9)


def report(path: Path, embed: Callable[[list[str]], np.ndarray]) -> dict[float, float]:
    """Prints R@10 by the weight of the words."""
    stemmer = snowballstemmer.stemmer("english")

    def terms(text: str) -> list[str]:
        return stemmer.stemWords(re.findall(r"\w+", text.lower()))

    shares: dict[float, list[float]] = {weight: [] for weight in WEIGHTS}
    for turns, questions in conversations(path):
        names = list(turns)
        asked = [[term for term in terms(text) if term not in FILLER] or terms(text) for text, _, _ in questions]
        words = scaled(bm25([terms(text) for text in turns.values()], asked))
        vectors = scaled(embed([text for text, _, _ in questions]) @ embed(list(turns.values())).T)
        for weight in WEIGHTS:
            best = np.argsort(-(weight * words + (1 - weight) * vectors), axis=1, kind="stable")[:, :10]
            for (_, category, evidence), row in zip(questions, best, strict=True):
                if category != 5:
                    shares[weight].append(len(evidence & {names[at] for at in row}) / len(evidence))
    found = {weight: 100 * float(np.mean(values)) for weight, values in shares.items()}
    print("R@10 by the weight of the words:", ", ".join(f"{weight}: {value:.1f}" for weight, value in found.items()))
    return found
