"""Checkpoints: what the index holds at one moment, written as the generation that the next wake begins with."""

import asyncio
import time

from memoria_search.fencing import tolerating
from memoria_search.handle import Handle
from memoria_search.index.vectors.index import SavedPiece
from memoria_search.index.vectors.library import VectorLibrary
from memoria_search.keeper import Keeper


class Checkpointer:
    """Counts what no generation holds yet, and writes one generation after the other."""

    def __init__(self, keeper: Keeper, vectors: VectorLibrary | None, order: asyncio.Lock) -> None:
        """`order` is held by whoever changes store and index: a generation holds all that was changed before it took
        its place, and nothing of what came later."""
        self._keeper = keeper
        self._vectors = vectors
        self._order = order
        self._writing = asyncio.Lock()
        self._vector_bytes = 0  # held when the last generation was made
        self.changed = 0
        """Documents put or removed since the last generation."""
        self.last_change = time.monotonic()

    def note(self, documents: int) -> None:
        """So many were put or removed just now."""
        if documents:
            self.changed += documents
            self.last_change = time.monotonic()

    @property
    def unsaved(self) -> bool:
        """A generation now would hold more than the last one. Vectors count once all are there: the store has them."""
        if self._vectors is None:
            return self.changed > 0
        if self._vectors.loading:
            return False
        covered = self._vectors.backfill.covered.is_set()
        return self.changed > 0 or (covered and self._vectors.index.bytes_held != self._vector_bytes)

    async def write(self, handle: Handle) -> None:
        """Write a generation. Raises FencedError; UNAVAILABLE where the bucket fails, and then the one before still
        counts."""
        async with self._writing:
            async with self._order:
                changed, cursor = self.changed, await self._keeper.cursor()
                pieces, held = await self._vector_pieces()
                frozen = handle.freeze()
            try:
                await self._keeper.publish(await frozen, cursor, {piece.name: piece for piece in pieces})
            finally:
                handle.thaw()
        self.changed -= min(changed, self.changed)
        self._vector_bytes = held

    async def _vector_pieces(self) -> tuple[list[SavedPiece], int]:
        """The pieces of the vectors and their bytes; none while they are not level with the store."""
        if self._vectors is None or self._vectors.loading:
            return [], 0
        pieces = await asyncio.to_thread(self._vectors.index.pieces)
        return pieces, self._vectors.index.bytes_held

    async def write_if_possible(self, handle: Handle) -> None:
        """The same for one more or less: the chunks it is made from stay. Raises FencedError."""
        with tolerating("snapshot was not written"):
            await self.write(handle)
