"""The backfill: embeds what has no vector yet, a batch at a time, and goes on where the store says it stopped.

A batch is durable before it is found. Nothing of a batch that failed is kept, and it is tried again later.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError
from memoria_search.corpus.vectors import Pending, VectorStore
from memoria_search.index.vectors.index import VectorIndex
from memoria_search.index.vectors.quantise import Quantised, quantise
from memoria_search.index.vectors.space import Embedder

BATCH = 32
"""Chunks embedded and stored at once: some 40 KB of text, one transaction of about 20 KB."""

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0
"""Seconds before the next try after a failure; they double while failures follow one another."""


class Backfill:
    """Fills one space."""

    def __init__(
        self,
        store: VectorStore,
        index: VectorIndex,
        embedder: Embedder,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._store = store
        self._index = index
        self._embedder = embedder
        self._sleep = sleep
        self._news = asyncio.Event()
        self._batch = BATCH
        self._failures = 0
        self.covered = asyncio.Event()
        """Set while every chunk that opens has a vector, as far as this has been told."""

    def notify(self) -> None:
        """Chunks were added. Revisions are numbered upwards, so the walk meets them where it goes on."""
        self.covered.clear()
        self._news.set()

    async def run(self) -> None:
        """Go on until cancelled; waits, at no cost, while everything is covered."""
        after, again = -1, False
        while True:
            self._news.clear()  # before the look: what is added after it sets this once more
            pending = await self._store.missing(self._batch, after)
            if pending:
                after = pending[-1].place.key
                if not await self._fill([chunk for chunk in pending if chunk.text is not None]):
                    again = True
                    await self._pause()
                await asyncio.sleep(0)
            elif again:
                after, again = -1, False  # once more past those that failed
            else:
                if not self._news.is_set():
                    self._batch = BATCH
                    self.covered.set()
                await self._news.wait()

    async def _fill(self, chunks: Sequence[Pending]) -> bool:
        if not chunks:
            return True
        try:
            made = await self._embed([chunk.text or "" for chunk in chunks])
            stored = await self._store.insert([chunk.place for chunk in chunks], made)
        except Exception as error:  # the embedder is foreign code, the disk may be full: search goes on without
            kind = error.kind.value if isinstance(error, ServiceError) else type(error).__name__
            log.get_logger().warning("a batch was not embedded", count=len(chunks), kind=kind)
            if isinstance(error, ServiceError) and error.kind is Kind.INVALID:
                self._batch = max(1, self._batch // 2)  # until the one text that cannot be embedded is alone
            self._failures += 1
            return False
        self._failures = 0
        places = [chunks[at].place for at in stored]  # the others' text was replaced or deleted meanwhile
        keys = np.array([place.key for place in places], dtype=np.int64)
        self._index.add(keys, [place.app for place in places], Quantised(made.rows[stored], made.scales[stored]))
        return True

    async def _embed(self, texts: list[str]) -> Quantised:
        vectors = await self._embedder.embed(texts)
        return quantise(vectors, len(texts), self._embedder.native, self._store.space.width)

    async def _pause(self) -> None:
        await self._sleep(min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(self._failures - 1, 30)))
