"""The write path: durable first, then searchable, then answered. Also what a start rebuilds.

A kill between the steps leaves a store that is ahead of an index in RAM; the next start makes the index from the store.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import ItemId, Pair
from memoria_search.corpus.catalogue import Catalogue
from memoria_search.corpus.model import Change, Chunk, DocumentRef, Metadata, NewDocument
from memoria_search.corpus.sources import Sources
from memoria_search.corpus.store import Store
from memoria_search.index import scratch
from memoria_search.index.analysis import Analyser, Terms
from memoria_search.index.committer import Committer
from memoria_search.index.lexical import LexicalIndex
from memoria_search.index.schema import MAX_ORDINALS, IndexedChunk

T = TypeVar("T")


class Library:
    """Store, catalogue and index, kept as one."""

    def __init__(self, store: Store, sources: Sources, directory: Path, on_failure: Callable[[], None]) -> None:
        self.store = store
        self.sources = sources
        self.catalogue = Catalogue()
        self.analyser = Analyser()
        self._directory = scratch.fresh(directory)
        self.index = LexicalIndex(self._directory, self.analyser)
        self._committer = Committer(self.index, on_failure)
        self._order = asyncio.Lock()
        self._under_way: set[asyncio.Task[Any]] = set()
        self.damaged = 0
        self.built = False

    async def build(self) -> None:
        """Fill catalogue and index from the store, one document at a time. Ready only afterwards."""
        await self.sources.load()

        def take(ref: DocumentRef, about: Metadata, chunks: Iterator[tuple[int, Chunk]]) -> None:
            self.index.add(self._indexed(ref, about, chunks))
            self.catalogue.apply(Change((ref,)))

        self.damaged = await self.store.replay(take)
        await asyncio.to_thread(self.index.commit)
        self.built = True
        log.get_logger().info("index built", count=self.index.chunks)
        if self.damaged:
            log.get_logger().error("rows of the corpus do not open", count=self.damaged)

    @property
    def ready(self) -> bool:
        """Built, and not fallen behind the store."""
        return self.built and not self._committer.failed

    async def put(self, document: NewDocument) -> tuple[DocumentRef, bool]:
        """Store a document in place of the revision held; True where there was one. Found once this returns."""
        if len(document.chunks) >= MAX_ORDINALS:
            raise ServiceError(Kind.TOO_LARGE, f"a document has fewer than {MAX_ORDINALS} chunks")
        if not document.chunks:  # a document that is only a title is found by it
            document = NewDocument(document.origin, document.metadata, (Chunk((), ""),))
        return await self._whole(self._put(document))

    async def _put(self, document: NewDocument) -> tuple[DocumentRef, bool]:
        async with self._order:
            ref, change = await self.store.put(document)
            self.catalogue.apply(change)
            added = self._indexed(ref, document.metadata, enumerate(document.chunks))
            searchable = self._committer.submit(_numbers(change), added)
        await searchable
        return ref, any(gone.document_id == ref.document_id for gone in change.removed)

    async def delete(self, document_id: str) -> int:
        """Delete a memoria-owned document with its parts; how many went. Raises NOT_FOUND, also for a sibling's."""
        ref = self.catalogue.document(document_id)
        if ref is None or not ref.owned:
            raise ServiceError(Kind.NOT_FOUND, "no such document")
        return await self._whole(self._remove(lambda: self.store.delete_owned(ref)))

    async def retire(self, app: str, item_ids: Iterable[ItemId]) -> int:
        """Remove a sibling's items; how many were held."""
        wanted = list(item_ids)
        return await self._whole(self._remove(lambda: self.store.retire(app, wanted)))

    async def _remove(self, remove: Callable[[], Coroutine[Any, Any, Change]]) -> int:
        async with self._order:
            change = await remove()
            self.catalogue.apply(change)  # from here on nobody finds it, whatever the index still says (IDX-03)
            searchable = self._committer.submit(_numbers(change), ())
        await searchable
        return len(change.removed)

    def items(self, app: str) -> list[Pair]:
        """What is held of one sibling."""
        return [Pair(ref.item_id, ref.revision) for ref in self.catalogue.items(app) if ref.item_id is not None]

    async def _whole(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end even if whoever asked has gone: half a write would part catalogue and store."""
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)

    def _indexed(
        self, ref: DocumentRef, about: Metadata, chunks: Iterable[tuple[int, Chunk]]
    ) -> Iterator[IndexedChunk]:
        title = self.analyser.terms(about.title)
        place = self.analyser.terms("\n".join(about.trail))
        for ordinal, chunk in chunks:
            above = self.analyser.terms("\n".join(chunk.trail))
            trail = Terms([*place.body, *above.body], [*place.exact, *above.exact])
            yield IndexedChunk(ref.number, ordinal, ref.app, title, trail, chunk.text)

    async def close(self) -> None:
        """Let writes end, then leave nothing in scratch."""
        if self._under_way:
            await asyncio.wait(self._under_way)
        await self._committer.drain()
        await asyncio.to_thread(self.index.close)
        scratch.wipe(self._directory)


def _numbers(change: Change) -> tuple[int, ...]:
    return tuple(ref.number for ref in change.removed)
