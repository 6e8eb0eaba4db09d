"""Vector search by brute force, beside reading the same bytes once, which nothing that looks at each can undercut."""

from collections.abc import Iterator

import numpy as np
import simsimd

from bench.measure import Figure, Quantity, Row, figure, time_sync
from bench.plan import WIDTH, Plan, random_vectors, resident_bytes
from memoria_search.index.vectors.index import VectorIndex
from memoria_search.index.vectors.quantise import Quantised, quantise

TOP = 50
_TIMES = 200


def run(plan: Plan) -> Iterator[Row]:
    """(figure, peer) rows for each size."""
    for size in plan.sizes:
        yield from _dot(size)
        yield from _search(size)


def _search(size: int) -> Iterator[Row]:
    before = resident_bytes()
    index = random_vectors(size)
    held = resident_bytes() - before
    reading = figure(f"reading {size:,} x {WIDTH} bytes of blocks", time_sync(_TIMES, lambda: _read(index)))
    yield reading, None
    yield search_times(index, size), reading
    yield Quantity(f"vectors in memory, {size:,} chunks", held / size, "B/chunk"), None
    saved = sum(piece.size for piece in index.pieces())
    yield Quantity(f"vectors in a snapshot, {size:,} chunks", saved / size, "B/chunk"), None


def search_times(index: VectorIndex, size: int) -> Figure:
    """The best 50 of all, one thread."""
    queries = iter(_queries(_TIMES + 20))
    return figure(f"vectors, top {TOP}, {size:,} chunks", time_sync(_TIMES, lambda: index.search(next(queries), TOP)))


def _dot(size: int) -> Iterator[Row]:
    """The bare dot product over one matrix, beside numpy reading it eight bytes at a time."""
    matrix = np.random.default_rng(3).integers(-127, 128, (size, WIDTH), dtype=np.int8)
    query, words = matrix[0].copy(), matrix.reshape(-1).view(np.int64)
    # In turn, so that whatever else the machine does falls on both.
    read, dot = [], []
    for _ in range(4):
        read += time_sync(_TIMES // 4, words.sum, warm=5)
        dot += time_sync(_TIMES // 4, lambda: simsimd.dot(matrix, query, out_dtype="float32"), warm=5)
    peer = figure(f"reading {size:,} x {WIDTH} bytes", read)
    yield peer, None
    yield figure(f"int8 dot product, {size:,} x {WIDTH}", dot), peer


def _read(index: VectorIndex) -> None:
    for block in index._blocks:
        block.matrix[: block.count].reshape(-1).view(np.int64).sum()


def _queries(count: int) -> list[Quantised]:
    floats = np.random.default_rng(5).standard_normal((count, WIDTH), dtype=np.float32)
    return [quantise(floats[at : at + 1], 1, WIDTH, WIDTH) for at in range(count)]
