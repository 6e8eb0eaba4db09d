"""Store, index and backfill of one space, kept as one: what a service with an embedder wakes, tells of every write and
puts to sleep."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import numpy as np

from memoria_chassis import log
from memoria_chassis.errors import ServiceError
from memoria_chassis.sqlite import Database
from memoria_search.corpus.model import Change
from memoria_search.corpus.vault import Vault
from memoria_search.corpus.vectors import Loaded, VectorStore
from memoria_search.index.vectors.backfill import Backfill
from memoria_search.index.vectors.index import VectorIndex
from memoria_search.index.vectors.space import Embedder, space_of

Saved = AsyncIterator[tuple[str, bytes]]
"""Pieces of a snapshot as they arrive: name and content."""

_KEYS_AT_ONCE = 4096


class VectorLibrary:
    """The vectors of one embedder. Asleep, it holds nothing readable."""

    def __init__(
        self, store: VectorStore, embedder: Embedder, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.embedder = embedder
        self.store = store
        self._sleep = sleep
        self._task: asyncio.Task[None] | None = None
        self._empty()

    def _empty(self) -> None:
        self.index = VectorIndex(self.store.space)
        self.backfill = Backfill(self.store, self.index, self.embedder, self._sleep)
        self._late: list[int] | None = []
        self._before: dict[str, list[int]] = {}  # numbers that a document had earlier: they go when it goes

    @classmethod
    async def open(cls, database: Database, vault: Vault, embedder: Embedder) -> "VectorLibrary":
        """A library that sleeps. Raises PRECONDITION where the vectors were sealed under another key."""
        return cls(await VectorStore.open(database, vault, space_of(embedder)), embedder)

    def wake(self, saved: Saved | None = None) -> None:
        """Behind the searches: take pieces of a snapshot in, bring them level with the store, fill what has no vector.

        `saved` may raise ServiceError, or give a piece that is damaged: what it does not bring is read from the store.
        """
        self._task = asyncio.create_task(self._run(saved))

    async def _run(self, saved: Saved | None) -> None:
        try:
            if saved is not None:
                await self._load(saved)
            await self.reconcile()
            await self.backfill.run()
        except Exception as error:
            # Lexical search goes on; coverage stays where it is, and below the floor each reply says so.
            log.get_logger().error("vectors are not kept any more", kind=type(error).__name__)
            self._late = None

    async def _load(self, saved: Saved) -> None:
        try:
            async for name, data in saved:
                await asyncio.to_thread(self.index.load, name, data)
        except ServiceError as error:
            log.get_logger().warning("vectors of a snapshot cannot be used", kind=error.kind.value)

    async def reconcile(self) -> None:
        """Mask what the index holds and the store does not; load what the store holds and the index does not."""
        lacking = await asyncio.to_thread(self.index.retain, await self.store.keys())
        if len(lacking):
            log.get_logger().info("vectors read from the store", count=len(lacking))
        for at in range(0, len(lacking), _KEYS_AT_ONCE):
            self._take(await self.store.load_keys(lacking[at : at + _KEYS_AT_ONCE].tolist()))
        while self._late:
            self._take(await self.store.load_document(self._late.pop()))
        self._late = None

    async def follow(self, change: Change) -> None:
        """Follow a durable write. What is gone is not found once this returns; what was carried over is."""
        replaced = {ref.document_id for ref in change.added}
        self.index.remove([ref.number for ref in change.removed if ref.document_id in replaced])
        for ref in change.removed:
            if ref.document_id in replaced:
                self._before.setdefault(ref.document_id, []).append(ref.number)
            else:
                self.index.remove([ref.number, *self._before.pop(ref.document_id, ())], purge=True)
        for ref in change.added:
            if self._late is not None:
                self._late.append(ref.number)  # `reconcile` may be between its look at the keys and their loading
            else:
                self._take(await self.store.load_document(ref.number))
        if change.added:
            self.backfill.notify()

    def _take(self, loaded: Loaded) -> None:
        keys = np.array([place.key for place in loaded.places], dtype=np.int64)
        self.index.add(keys, [place.app for place in loaded.places], loaded.made)

    @property
    def loading(self) -> bool:
        """Not level with the store yet: what a snapshot took now would lack vectors that are there."""
        return self._late is not None

    async def sleep(self) -> None:
        """End the work and drop what is readable. What was embedded is in the store."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None
        self._empty()
