"""Vectors on their way out: numpy arrays where numpy is installed, rows of `array.array` where it is not.

On their way in nothing here is needed: the engine reads the buffer protocol and sequences of floats.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["matrix", "stacked"]

_FLOAT_BYTES = 4


def matrix(flat: bytes | bytearray | array[float], rows: int, columns: int) -> Any:
    """Packed float32 numbers as `rows` vectors.

    Returns:
        A numpy array, float32 of shape (rows, columns), read-only where `flat` is bytes; without numpy a list of `array("f")`.
    """
    try:
        import numpy as np  # noqa: PLC0415  optional, and slower to import than all of memspan
    except ImportError:
        packed = memoryview(flat).cast("B")
        size = columns * _FLOAT_BYTES
        return [array("f", packed[row * size : (row + 1) * size].tobytes()) for row in range(rows)]
    return np.frombuffer(flat, dtype=np.float32).reshape(rows, columns)


def stacked(rows: Iterable[Sequence[float]], columns: int) -> Any:
    """Vectors of any kind as `matrix` gives them; without a row, a matrix of `columns`.

    Rows of unequal lengths stay as they are: the engine refuses them with the shape that it wants.
    """
    vectors = [vector if isinstance(vector, array) else array("f", vector) for vector in rows]
    lengths = {len(vector) for vector in vectors} or {columns}
    if len(lengths) > 1:
        return vectors
    flat = array("f")
    for vector in vectors:
        flat.extend(vector)
    return matrix(flat, len(vectors), lengths.pop())
