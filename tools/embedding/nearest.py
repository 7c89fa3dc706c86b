#!/usr/bin/env python3
"""Writes rust/engine/src/embedding/data/nearest.bin: of each token of the built-in table the 32 tokens that are most like it.

    pip install numpy; python tools/embedding/nearest.py

For each token 32 pairs, the nearest first: u16 token (little endian), then u8 cosine in units of 1/255. What is not near at all (below
LEAST), and the unknown token, is left out: 0 and 0 stand for it. The products are those of whole numbers below 2^53, so that they are exact
in any order and on any machine; a root and a division are what IEEE 754 says; of equals the smaller number comes first. So the file has the
same bytes wherever it is made. Two minutes and 1 GB on two cores.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parents[2] / "rust/engine/src/embedding/data"
DIMENSIONS = 256
NEAREST = 32
SPARE = 8
"""More than are kept, so that ties at the end are settled by number."""
LEAST = 0.25
SCALE_BITS = 15
ROWS = 512


def table() -> tuple[np.ndarray, np.ndarray]:
    """The codes of each token, and the weight of a product in each dimension: the squared scale as a whole number."""
    raw = (DATA / "table.bin").read_bytes()
    scales = np.frombuffer(raw[: 4 * DIMENSIONS], "<f4").astype(np.float64)
    squares = scales * scales
    codes = np.frombuffer(raw[4 * DIMENSIONS :], np.int8).reshape(-1, DIMENSIONS).astype(np.float64)
    return codes, np.floor(squares / squares.max() * (1 << SCALE_BITS))


def nearest(codes: np.ndarray, weighed: np.ndarray, lengths: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    """The tokens most like those from `first` on, and the cosines."""
    rows = slice(first, first + ROWS)
    cosines = (weighed[rows] @ codes.T) / np.sqrt(lengths[rows, None] * lengths[None])
    cosines[:, 0] = 0.0  # the unknown token is like nothing
    some = np.argpartition(-cosines, NEAREST + SPARE, axis=1)[:, : NEAREST + SPARE]
    values = np.take_along_axis(cosines, some, 1)
    order = np.lexsort((some, -values), axis=1)[:, :NEAREST]
    return np.take_along_axis(some, order, 1), np.take_along_axis(values, order, 1)


def main() -> None:
    codes, weights = table()
    weighed = codes * weights
    lengths = np.maximum((weighed * codes).sum(1), 1.0)
    out = np.zeros((len(codes), NEAREST), dtype=[("token", "<u2"), ("cosine", "u1")])
    for first in range(0, len(codes), ROWS):
        tokens, cosines = nearest(codes, weighed, lengths, first)
        rows = slice(first, first + ROWS)
        near = cosines >= LEAST
        out["token"][rows] = np.where(near, tokens, 0)
        out["cosine"][rows] = np.where(near, np.floor(np.clip(cosines, 0.0, 1.0) * 255.0 + 0.5), 0)
    out[0] = (0, 0)
    (DATA / "nearest.bin").write_bytes(out.tobytes())
    print(f"{len(codes)} tokens, {int((out['cosine'] > 0).sum())} neighbours, {out.nbytes} bytes")


if __name__ == "__main__":
    main()
