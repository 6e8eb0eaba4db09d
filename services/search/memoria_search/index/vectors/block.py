"""A block: one contiguous matrix in RAM. Rows are only ever added behind the others, or masked where they are."""

from dataclasses import dataclass

import numpy as np
import simsimd
from numpy.typing import NDArray

BLOCK_ROWS = 16_384
"""Rows in a full block, 8 MB at the full width. A block is scored in one call of some 0.3 ms, during which no other
thread of the process runs."""

_LINE = 64  # bytes in a cache line, and in the widest register that the dot product reads with
_NONE = np.float32(-np.inf)


@dataclass(slots=True)
class Piece:
    """Rows `start` to `stop` of a block, as they are serialised. `name` is empty until they are."""

    start: int
    stop: int
    name: str = ""
    purge: bool = False  # holds what was deleted: it may not be in another snapshot (ING-24)


class Block:
    """Rows, and which pieces they are serialised in. One thread changes it; any may score it meanwhile.

    `count` is raised last, so a reader that took it sees whole rows.
    """

    def __init__(self, width: int, capacity: int = BLOCK_ROWS) -> None:
        self.matrix = _aligned(capacity, width)
        self.keys = np.empty(capacity, dtype=np.int64)
        self.scales = np.empty(capacity, dtype=np.float32)
        self.codes = np.empty(capacity, dtype=np.uint16)
        self.live = np.ones(capacity, dtype=np.bool_)
        self.count = 0
        self.dead = 0
        self.pieces: list[Piece] = []

    @property
    def room(self) -> int:
        """Rows that still fit."""
        return len(self.keys) - self.count

    def begin_piece(self, name: str = "") -> None:
        """Rows appended from now on are in a new piece."""
        self.pieces.append(Piece(self.count, self.count, name))

    def open_piece(self, rows: int) -> int:
        """Make the last piece, or a new one where that has `rows`, one to append to: without a name. How many fit."""
        if not self.pieces or self.pieces[-1].stop - self.pieces[-1].start >= rows:
            self.begin_piece()
        last = self.pieces[-1]
        last.name = ""
        return min(self.room, rows - (last.stop - last.start))

    def append(
        self,
        keys: NDArray[np.int64],
        scales: NDArray[np.float32],
        codes: NDArray[np.uint16],
        matrix: NDArray[np.int8],
    ) -> None:
        """Copy rows in behind the last, into the last piece, where the caller has seen that they fit."""
        start, stop = self.count, self.count + len(keys)
        self.matrix[start:stop] = matrix
        self.keys[start:stop] = keys
        self.scales[start:stop] = scales
        self.codes[start:stop] = codes
        self.count = self.pieces[-1].stop = stop

    def mask(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Mask those of the first len(rows) rows that are set; the ones that were live until now."""
        fresh = rows & self.live[: len(rows)]
        self.live[: len(rows)][fresh] = False
        self.dead += int(fresh.sum())
        return fresh

    def score(
        self, query: NDArray[np.int8], barred: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Raw dot products of `query` with every row, and the keys; -inf for a masked row and for `barred` app codes.

        The sum of 512 products of bytes is below 2^24, so float32 holds it exactly.
        """
        count = self.count
        scores = np.empty(0, dtype=np.float32)
        if count:
            # Not with `out`: simsimd 6.5 then gives a reference to None away at each call, and once all are given away
            # the interpreter ends.
            scores = np.asarray(simsimd.dot(self.matrix[:count], query, out_dtype="float32")) * self.scales[:count]
        if self.dead:
            scores[~self.live[:count]] = _NONE
        if barred is not None:
            scores[barred[self.codes[:count]]] = _NONE
        return scores, self.keys[:count]


def _aligned(rows: int, width: int) -> NDArray[np.int8]:
    raw = np.empty(rows * width + _LINE, dtype=np.int8)
    start = -raw.ctypes.data % _LINE
    return raw[start : start + rows * width].reshape(rows, width)
