"""Fits the weights of the write gate's two models and writes rust/engine/src/gate/weights.tsv.

    python tools/gate/fit.py SGD.jsonl.gz EVIDENCE.jsonl.gz [--judge LOCOMO.json] [--keep 8000]

SGD.jsonl.gz has a dialogue of the Schema-Guided Dialogue set a line (`id`, `turns` of `speaker`, `text` and `acts`): a user turn informs
where its acts have INFORM. One dialogue in five, by the hash of its id, is kept back and measured. The messages of `tools/gate/told` teach
it as well: each counts as three turns, once as the first of a session and once behind a reply. Each of its files is left out in turn and
measured, and those of its folder `kept_back` teach nothing. EVIDENCE.jsonl.gz has conversations
with questions and the turns that answer them (`source`, `sessions` of `turns`, `questions`); those of FriendsQA teach what matters.
LOCOMO.json is only judged, never fitted to. Features come from the engine (`memspan._core.gate_features`). Needs numpy.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from split import kept_back

from memspan import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

ONE = 1024
# What a message that was told counts, as the first one and behind a reply; a feature of fewer rows has no weight. Set by leaving out files.
TOLD_WEIGHT, LEAST = 3.0, 4
# Weights are drawn to nothing by so much.
RIDGE = 1e-3
REPLIES = (
    "Sure, here it is.",
    "Done. Let me know if you need anything else.",
    "Got it, thanks for telling me.",
    "Here is a version with your changes.",
    "You're welcome!",
    "That should fix it. Let me know how it goes.",
    "I hope this helps.",
    "Noted.",
)
TOLD = Path(__file__).parent / "told"
TARGET = Path(__file__).resolve().parents[2] / "rust/engine/src/gate/weights.tsv"


def lines_of(path: str) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from file


def user_turns(path: str) -> list[tuple[str, str, str, bool]]:
    """Dialogue, text, what the system said before, whether it informs."""
    rows = []
    for line in lines_of(path):
        dialogue, before = json.loads(line), ""
        for turn in dialogue["turns"]:
            if turn["speaker"] == "user":
                rows.append((dialogue["id"], turn["text"], before, "INFORM" in turn["acts"]))
            else:
                before = turn["text"]
    return rows


def told(path: Path) -> list[tuple[str, str, str, bool]]:
    """The file, text, nothing before, whether it is worth keeping."""
    rows = [line.split("\t", 1) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(path.stem, text, "", label == "1") for label, text in rows]


def behind_replies(rows: list[tuple[str, str, str, bool]]) -> list[tuple[str, str, str, bool]]:
    """The same messages, each behind something that assistants say."""
    return [(name, text, REPLIES[place % len(REPLIES)], label) for place, (name, text, _, label) in enumerate(rows)]


def sparse(
    rows: list[tuple[str, str, str, bool]], vocabulary: dict[str, int] | None, least: int
) -> tuple[list[np.ndarray], dict[str, int]]:
    """The places of each row's features; the vocabulary is made from the rows where none is given."""
    named = [_core.gate_features(text, before)[0] for _, text, before, _ in rows]
    if vocabulary is None:
        counts = Counter(name for names in named for name in names)
        vocabulary = {name: place for place, name in enumerate(sorted(name for name, count in counts.items() if count >= least))}
    return [np.array([vocabulary[name] for name in names if name in vocabulary], dtype=int) for names in named], vocabulary


def fit_sparse(rows: list[np.ndarray], labels: np.ndarray, counts: np.ndarray, size: int, epochs: int = 6) -> tuple[np.ndarray, float]:
    """Logistic regression by AdaGrad; `counts` is what each row counts."""
    weights, bias, grown, grown_bias = np.zeros(size), 0.0, np.full(size, 1e-8), 1e-8
    order, random = np.arange(len(rows)), np.random.default_rng(0)
    for _ in range(epochs):
        random.shuffle(order)
        for at in order:
            row = rows[at]
            error = (1 / (1 + np.exp(-np.clip(weights[row].sum() + bias, -30, 30))) - labels[at]) * counts[at]
            step = error + RIDGE * weights[row]
            grown[row] += step * step
            weights[row] -= 0.5 * step / np.sqrt(grown[row])
            grown_bias += error * error
            bias -= 0.5 * error / np.sqrt(grown_bias)
    return weights, bias


def fit_dense(values: np.ndarray, labels: np.ndarray, ridge: float = 1e-2) -> tuple[np.ndarray, float]:
    """Logistic regression by Newton's method; the weights are of the values as they are."""
    mean, spread = values.mean(0), values.std(0) + 1e-9
    inputs, weights = np.c_[(values - mean) / spread, np.ones(len(values))], np.zeros(values.shape[1] + 1)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (chance - labels) / len(labels) + ridge * np.r_[weights[:-1], 0]
        bend = (inputs * (chance * (1 - chance))[:, None]).T @ inputs / len(labels) + ridge * np.eye(len(weights))
        weights -= np.linalg.solve(bend, slope)
    plain = weights[:-1] / spread
    return plain, float(weights[-1] - plain @ mean)


def evidence(path: str, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of each turn, and whether it answers a question."""
    values, labels = [], []
    for line in lines_of(path):
        conversation = json.loads(line)
        if conversation["source"] != source:
            continue
        answers = {turn for question in conversation["questions"] for turn in question[2]}
        for session in conversation["sessions"]:
            before = ""
            for turn, _, text in session["turns"]:
                values.append(_core.gate_features(text, before)[1])
                labels.append(turn in answers)
                before = text
    return np.array(values), np.array(labels, dtype=float)


def locomo(path: str) -> tuple[list[list[float]], list[bool], list[int]]:
    """Numbers of each turn of LoCoMo, whether it is evidence of a question that has an answer, and its length."""
    values, labels, lengths = [], [], []
    for sample in json.loads(Path(path).read_text(encoding="utf-8")):
        named = [one for question in sample["qa"] if question["category"] != 5 for one in question.get("evidence", [])]
        answers = {f"D{int(a)}:{int(b)}" for one in named for a, b in re.findall(r"D:?(\d+):(\d+)", one)}
        for name, turns in sample["conversation"].items():
            if not re.fullmatch(r"session_\d+", name):
                continue
            before = ""
            for turn in turns:
                values.append(_core.gate_features(turn["text"], before)[1])
                labels.append(turn["dia_id"] in answers)
                lengths.append(len(turn["text"]))
                before = turn["text"]
    return values, labels, lengths


def auroc(scores: np.ndarray, labels: np.ndarray) -> float:
    """The share of pairs in the right order; equals count half."""
    yes, no = np.sort(scores[labels]), np.sort(scores[~labels])
    below, upto = np.searchsorted(no, yes, "left"), np.searchsorted(no, yes, "right")
    return float((below + upto).sum() / 2 / (len(yes) * len(no)))


@dataclass
class Informs:
    """The first model: the places of its features, their weights and the bias, whole."""

    vocabulary: dict[str, int]
    weights: np.ndarray
    bias: int

    @classmethod
    def fitted(cls, turns: list[tuple[str, str, str, bool]], messages: list[tuple[str, str, str, bool]], keep: int) -> Informs:
        """From turns and messages that were told, with so many features."""
        train = turns + messages + behind_replies(messages)
        labels = np.array([row[3] for row in train], dtype=float)
        counts = np.array([1.0] * len(turns) + [TOLD_WEIGHT] * (len(train) - len(turns)))
        rows, vocabulary = sparse(train, None, LEAST)
        weights, _ = fit_sparse(rows, labels, counts, len(vocabulary))
        # Of a feature that is rare and of one that says little: the product is what leaving it out costs.
        seen = np.zeros(len(vocabulary))
        for row, count in zip(rows, counts, strict=True):
            seen[row] += count
        kept = set(np.argsort(-np.abs(weights) * np.sqrt(seen), kind="stable")[:keep].tolist())
        rows = [np.array([place for place in row if place in kept], dtype=int) for row in rows]
        weights, bias = fit_sparse(rows, labels, counts, len(vocabulary))
        return cls(vocabulary, np.round(weights * ONE), round(bias * ONE))

    def judged(self, rows: list[tuple[str, str, str, bool]]) -> np.ndarray:
        """Whether each informs."""
        return np.array([self.weights[row].sum() + self.bias > 0 for row in sparse(rows, self.vocabulary, LEAST)[0]])

    def lines(self) -> list[str]:
        """Its features, as the engine reads them."""
        return sorted(f"{name}\t{int(self.weights[place])}" for name, place in self.vocabulary.items() if self.weights[place])


def quality(said: np.ndarray, rows: list[tuple[str, str, str, bool]]) -> str:
    """How many of those worth keeping are kept, how many of the others, and F1."""
    truth = np.array([row[3] for row in rows])
    return f"{said[truth].mean():.3f} of what is worth keeping, {said[~truth].mean():.3f} of the rest, F1 {f1(said, truth):.3f}"


def f1(said: np.ndarray, labels: np.ndarray) -> float:
    """The harmonic mean of precision and recall."""
    return float(2 * (said & labels).sum() / (said.sum() + labels.sum()))


def main() -> None:
    """Fits, measures, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sgd")
    parser.add_argument("evidence")
    parser.add_argument("--judge")
    parser.add_argument("--keep", type=int, default=8000)
    given = parser.parse_args()
    turns = user_turns(given.sgd)
    train, test = [row for row in turns if not kept_back(row[0])], [row for row in turns if kept_back(row[0])]
    files = [told(path) for path in sorted(TOLD.glob("*.tsv"))]
    out = [Informs.fitted(train, [row for other in files if other is not file for row in other], given.keep).judged(file) for file in files]
    for file, said in zip(files, out, strict=True):
        print(f"told, {file[0][0]} left out: {quality(said, file)}")
    every = [row for file in files for row in file]
    print(f"told, each left out: {quality(np.concatenate(out), every)}")
    informs = Informs.fitted(train, every, given.keep)
    print(
        f"informs: {len(train):,} turns and {len(every):,} messages fitted, {len(test):,} kept back: {quality(informs.judged(test), test)}"
    )
    for path in sorted((TOLD / "kept_back").glob("*.tsv")):
        print(f"told, {path.stem}, which taught nothing: {quality(informs.judged(told(path)), told(path))}")
    values, matters = evidence(given.evidence, "FriendsQA")
    number_weights, number_bias = fit_dense(values, matters)
    print(f"matters: {len(values):,} turns fitted, AUROC on them: {auroc(values @ number_weights, matters > 0):.3f}")
    if given.judge:
        judged, evident, lengths = (np.array(one) for one in locomo(given.judge))
        print(
            f"judged: AUROC {auroc(judged @ number_weights, evident):.3f} on {len(evident):,} turns; "
            f"their length: {auroc(lengths, evident):.3f}"
        )
    lines = [f"#informs bias\t{informs.bias}", f"#matters bias\t{round(number_bias * ONE)}"]
    lines += [f"#matters {place}\t{round(weight * ONE)}" for place, weight in enumerate(number_weights)]
    lines += informs.lines()
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
