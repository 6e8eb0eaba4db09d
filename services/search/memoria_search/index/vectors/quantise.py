"""From an embedder's floats to what is kept: the first values, unit length, one byte each (IDX-05)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoria_chassis.errors import Kind, ServiceError

NORM_TOLERANCE = 0.01
"""How far from 1 a stored vector's length may be (IDX-05, G28)."""

_STEPS = 127  # symmetric: -128 stays unused, so that the sign of a value never changes its size


@dataclass(frozen=True, slots=True, eq=False)
class Quantised:
    """`rows` int8 [n, width]; `scales` float32 [n]: row times scale is the vector."""

    rows: NDArray[np.int8]
    scales: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.rows)


def quantise(vectors: NDArray[np.floating], count: int, native: int, width: int) -> Quantised:
    """Keep the first `width` of `native` values of each of `count` vectors, at unit L2, as int8 with a scale each.

    Raises INVALID for another count or length, for NaN and infinity, and for a vector with nothing in what is kept.
    """
    if vectors.ndim != 2 or len(vectors) != count:
        raise ServiceError(Kind.INVALID, "the embedder returned another number of vectors than it was given texts")
    if vectors.shape[1] != native or width > native:
        raise ServiceError(Kind.INVALID, "the embedder returned vectors of another length than its model's")
    if not np.issubdtype(vectors.dtype, np.floating):
        raise ServiceError(Kind.INVALID, "the embedder returned something else than floating-point numbers")
    if not np.isfinite(vectors).all():  # all of it, also what is cut off: a model that returns NaN is not to be trusted
        raise ServiceError(Kind.INVALID, "the embedder returned a value that is not a finite number")
    unit = _unit(vectors[:, :width].astype(np.float64))
    scales = (np.abs(unit).max(axis=1, initial=0.0) / _STEPS).astype(np.float32)
    rows = np.rint(unit / scales[:, None]).astype(np.int8)
    made = Quantised(rows, scales)
    check_unit(made, width)
    return made


def _unit(kept: NDArray[np.float64]) -> NDArray[np.float64]:
    # Twice: a float that is tiny squares to zero, so the largest value is brought to 1 before anything is squared.
    largest = np.abs(kept).max(axis=1, keepdims=True, initial=0.0)
    if not largest.all():
        raise ServiceError(Kind.INVALID, "the embedder returned a vector without direction")
    kept = kept / largest
    return kept / np.linalg.norm(kept, axis=1, keepdims=True)


def check_unit(made: Quantised, width: int) -> None:
    """Refuse, with INVALID, rows that are not `width` wide or whose dequantised length is not 1 within NORM_TOLERANCE.

    Asked again by whatever writes, because scores are raw dot products (IDX-06): with those a vector that is too long
    outranks better ones, quietly.
    """
    if made.rows.dtype != np.int8 or made.rows.ndim != 2 or made.rows.shape[1] != width:
        raise ServiceError(Kind.INVALID, "a vector is not of its space's width")
    if made.scales.dtype != np.float32 or made.scales.shape != (len(made.rows),):
        raise ServiceError(Kind.INVALID, "each vector has one scale")
    lengths = np.sqrt(np.square(made.rows, dtype=np.float64).sum(axis=1)) * made.scales
    if not (np.abs(lengths - 1.0) <= NORM_TOLERANCE).all():  # NaN fails the comparison, as it should
        raise ServiceError(Kind.INVALID, "a vector is not of unit length")
