"""The vector index: brute force over blocks in RAM (IDX-06), serialised in pieces that are uploaded once.

One thread changes it at a time, which a lock sees to; searches take no lock and run beside anything.
"""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoria_chassis.errors import Kind, ServiceError
from memoria_search.index.ranking import Hit
from memoria_search.index.schema import MAX_ORDINALS, ORDINAL_BITS
from memoria_search.index.vectors.block import BLOCK_ROWS, Block, Piece
from memoria_search.index.vectors.piece import PIECE_ROWS, Rows, dump, parse, size
from memoria_search.index.vectors.quantise import Quantised, check_unit
from memoria_search.index.vectors.space import Space

DEAD_SHARE = 0.25
"""A piece with more masked rows than this is written anew: below it, scanning them costs less than uploading does."""

_REMEMBERED = 65_536  # removed documents that a vector under way may still come for; 4 MB


@dataclass(frozen=True, slots=True)
class SavedPiece:
    """A piece by its name, `size` bytes long. `data` serialises it: only needed if no such object is there already."""

    name: str
    size: int
    data: Callable[[], bytes]

    def read(self, start: int, length: int) -> bytes:
        """Up to `length` of its bytes from `start`: how a snapshot takes it."""
        return self.data()[start : start + length]


class VectorIndex:
    """Every vector of one space."""

    def __init__(self, space: Space, block_rows: int = BLOCK_ROWS, piece_rows: int = PIECE_ROWS) -> None:
        self.space = space
        self._block_rows, self._piece_rows = block_rows, piece_rows
        self._blocks: tuple[Block, ...] = ()
        self._apps: dict[str, int] = {}
        self._removed: OrderedDict[int, None] = OrderedDict()
        self._change = threading.RLock()

    def __len__(self) -> int:
        """Rows that can be found."""
        return sum(block.count - block.dead for block in self._blocks)

    @property
    def bytes_held(self) -> int:
        """Bytes of the rows in RAM, masked ones included."""
        return sum(block.count * (self.space.width + 15) for block in self._blocks)

    def keys(self) -> NDArray[np.int64]:
        """The keys that can be found, ascending."""
        with self._change:
            found = [block.keys[: block.count][block.live[: block.count]] for block in self._blocks]
        return np.sort(np.concatenate(found)) if found else np.empty(0, np.int64)

    def add(self, keys: NDArray[np.int64], apps: Sequence[str], made: Quantised) -> None:
        """Take vectors in; found by the next search. Raises INVALID for what is not a unit vector of this space.

        A document that was removed meanwhile stays out: its vectors were under way when it went. Keys are not compared
        with those held: whoever adds has looked.
        """
        check_unit(made, self.space.width)
        if not len(keys) == len(apps) == len(made):
            raise ServiceError(Kind.INVALID, "each vector has one key and one app")
        with self._change:
            wanted = np.fromiter(((key >> ORDINAL_BITS) not in self._removed for key in keys.tolist()), bool, len(keys))
            codes = np.fromiter(map(self._code, apps), np.uint16, len(apps))
            self._append(keys[wanted], made.scales[wanted], codes[wanted], made.rows[wanted])

    def _append(
        self, keys: NDArray[np.int64], scales: NDArray[np.float32], codes: NDArray[np.uint16], rows: NDArray[np.int8]
    ) -> None:
        at = 0
        while at < len(keys):
            tail = self._tail(1)
            stop = at + tail.open_piece(self._piece_rows)
            tail.append(keys[at:stop], scales[at:stop], codes[at:stop], rows[at:stop])
            at = stop

    def _tail(self, rows: int) -> Block:
        if not self._blocks or self._blocks[-1].room < rows:
            self._blocks = (*self._blocks, Block(self.space.width, max(self._block_rows, rows)))
        return self._blocks[-1]

    def _code(self, app: str) -> int:
        return self._apps.setdefault(app, len(self._apps))

    def remove(self, numbers: Iterable[int], *, purge: bool = False) -> None:
        """Mask the rows of documents, now and for vectors still under way. `purge`: they were deleted, not replaced,
        so that no later snapshot may hold them (ING-24)."""
        gone = np.fromiter(numbers, np.int64)
        if not len(gone):
            return  # what every put of a new document comes with
        with self._change:
            for number in gone.tolist():
                self._removed[number] = None
            while len(self._removed) > _REMEMBERED:
                self._removed.popitem(last=False)
            self._mask(lambda keys: np.isin(keys >> ORDINAL_BITS, gone), purge)

    def _mask(self, which: Callable[[NDArray[np.int64]], NDArray[np.bool_]], purge: bool) -> None:
        for block in self._blocks:
            self._mask_block(block, which(block.keys[: block.count]), purge)

    @staticmethod
    def _mask_block(block: Block, rows: NDArray[np.bool_], purge: bool) -> None:
        block.mask(rows)
        gone = rows & ~block.live[: block.count]  # what was masked before as well: a replaced text that is deleted now
        if purge and gone.any():
            for piece in block.pieces:
                piece.purge |= bool(gone[piece.start : piece.stop].any())

    def search(self, query: Quantised, limit: int, without_apps: Sequence[str] = ()) -> list[Hit]:
        """The best `limit` rows by raw dot product, score descending, equal scores by key.

        `query` is one row. Masked rows and those of `without_apps` are neither scored nor counted (IDX-03, AUT-06).
        """
        if query.rows.shape != (1, self.space.width) or query.rows.dtype != np.int8:
            raise ServiceError(Kind.INVALID, "a query is one vector of its space's width")
        row, barred = query.rows[0], self._barred(without_apps)
        found, names = (
            np.empty(0, np.float32),
            np.empty(0, np.int64),
        )  # the best so far, and as good as the last of them
        least = np.float32(-np.inf)
        for block in self._blocks if limit > 0 else ():
            scores, keys = block.score(row, barred)
            (worthy,) = np.nonzero((scores >= least) & (scores > -np.inf))
            if not len(worthy):
                continue
            found, names = np.concatenate((found, scores[worthy])), np.concatenate((names, keys[worthy]))
            if len(found) > limit:
                least = np.partition(found, len(found) - limit)[len(found) - limit]
                found, names = found[found >= least], names[found >= least]
        order = np.lexsort((names, -found))[:limit]
        scale = float(query.scales[0])
        return [
            Hit(key >> ORDINAL_BITS, key & (MAX_ORDINALS - 1), score * scale)
            for key, score in zip(names[order].tolist(), found[order].tolist(), strict=True)
        ]

    def _barred(self, without: Sequence[str]) -> NDArray[np.bool_] | None:
        codes = [self._apps[app] for app in without if app in self._apps]
        if not codes:
            return None
        table = np.zeros(1 << 16, dtype=np.bool_)  # every code there can be: an app may come in while this runs
        table[codes] = True
        return table

    def pieces(self) -> list[SavedPiece]:
        """What a snapshot is to hold, in order. A piece whose rows are the same has the name it had."""
        with self._change:
            self._clean()
            saved = []
            for block in self._blocks:
                for piece in block.pieces:
                    # Drawn, not a digest: the name of an object in the bucket must not tell what is in it (TRU-05).
                    piece.name = piece.name or secrets.token_hex(16)
                    saved.append(self._saved(piece.name, block, slice(piece.start, piece.stop)))
            return saved

    def _saved(self, name: str, block: Block, at: slice) -> SavedPiece:
        used, codes = np.unique(block.codes[at], return_inverse=True)
        names = list(self._apps)
        apps = [names[code] for code in used]
        # Rows are never changed in place, so they may be serialised later, and in another thread.
        rows = Rows(block.keys[at], block.scales[at], apps, codes.astype(np.uint16), block.matrix[at])
        return SavedPiece(name, size(rows), lambda: dump(self.space, rows))

    def load(self, name: str, data: bytes) -> None:
        """Take a piece of a snapshot in. Raises INVALID, with nothing taken in, for what is not one of this space.

        What it holds of documents that are gone is masked by `retain`, which is to follow the last piece.
        """
        rows = parse(self.space, data)
        with self._change:
            codes = np.array([self._code(app) for app in rows.apps], dtype=np.uint16)[rows.codes]
            tail = self._tail(len(rows.keys))
            tail.begin_piece(name)
            tail.append(rows.keys, rows.scales, codes, rows.matrix)
            if self._removed:
                removed = np.fromiter(self._removed, np.int64)
                self._mask(lambda keys: np.isin(keys >> ORDINAL_BITS, removed), True)

    def retain(self, stored: NDArray[np.int64]) -> NDArray[np.int64]:
        """Mask rows whose key is not among `stored`, and second rows of one key; the stored keys that have no row."""
        with self._change:
            blocks = self._blocks
            if blocks:
                alive = np.concatenate([block.live[: block.count] for block in blocks])
                (places,) = np.nonzero(alive)
                keys = np.concatenate([block.keys[: block.count] for block in blocks])[places]
                distinct, first = np.unique(keys, return_index=True)
                good = np.zeros(len(alive), dtype=np.bool_)
                good[places[first]] = np.isin(distinct, stored)
                for block, mine in zip(blocks, np.split(good, np.cumsum([b.count for b in blocks])[:-1]), strict=True):
                    self._mask_block(block, ~mine, True)
            return np.setdiff1d(stored, self.keys())

    def _clean(self) -> None:
        """Take pieces with too much dead in them apart and pack what is left of their blocks, and the tail, anew.

        In blocks of their own, put in place at once: a search beside this sees each row once, before or after.
        """
        stale = {id(piece) for block in self._blocks for piece in block.pieces if self._stale(block, piece)}
        if not stale:
            return
        held = self._blocks
        torn = [block for block in held if block is held[-1] or any(id(piece) in stale for piece in block.pieces)]
        fresh = VectorIndex(self.space, self._block_rows, self._piece_rows)
        for block in torn:
            for piece in block.pieces:
                if id(piece) not in stale:
                    fresh._adopt(block, piece)
        for block in torn:
            for piece in block.pieces:
                if id(piece) in stale:
                    rows = np.nonzero(block.live[piece.start : piece.stop])[0] + piece.start
                    fresh._append(block.keys[rows], block.scales[rows], block.codes[rows], block.matrix[rows])
        self._blocks = (*(block for block in held if block not in torn), *fresh._blocks)

    def _adopt(self, block: Block, piece: Piece) -> None:
        at = slice(piece.start, piece.stop)
        tail = self._tail(piece.stop - piece.start)
        start = tail.count
        tail.begin_piece(piece.name)
        tail.append(block.keys[at], block.scales[at], block.codes[at], block.matrix[at])
        dead = np.zeros(tail.count, dtype=np.bool_)
        dead[start:] = ~block.live[at]
        tail.mask(dead)

    @staticmethod
    def _stale(block: Block, piece: Piece) -> bool:
        dead = int((~block.live[piece.start : piece.stop]).sum())
        return piece.purge or dead > DEAD_SHARE * (piece.stop - piece.start)
