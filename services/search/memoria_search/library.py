"""The write path: durable first, then searchable, then answered.

A kill between the steps leaves a store that is ahead of the index; the next wake makes the index equal to the store.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import ItemId, Pair
from memoria_search.corpus.model import Change, Chunk, DocumentRef, NewDocument
from memoria_search.index.schema import MAX_ORDINALS, IndexedChunk
from memoria_search.resident import Resident
from memoria_search.snapshot.fence import FencedError

T = TypeVar("T")


class Library(Resident):
    """Store, catalogue and index, kept as one."""

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
            added = self.handle.indexed(ref, document.metadata, enumerate(document.chunks))
            searchable = await self._follow(change, added)
        await searchable
        if any(gone.document_id != ref.document_id for gone in change.removed):
            await self._recorded_if_possible()  # parts beyond the last of a shorter conversion
        await self._ours()
        return ref, any(gone.document_id == ref.document_id for gone in change.removed)

    async def delete(self, document_id: str) -> int:
        """Delete a memoria-owned document with its parts; how many went. Raises NOT_FOUND, also for a sibling's."""
        async with self.awake():
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
            searchable = await self._follow(change, ())
        await searchable
        await self._recorded()
        return len(change.removed)

    async def _follow(self, change: Change, added: Iterable[IndexedChunk]) -> asyncio.Future[None]:
        """Catalogue, index and vectors after the store, in this order: from the first on nobody finds what is gone,
        whatever the index still says (IDX-03), and no step that can fail stands before the index's."""
        self.catalogue.apply(change)
        searchable = self.handle.committer.submit(_numbers(change), added)
        if change.added or change.removed:
            self.changed += len(change.added) + len(change.removed)
            self.last_change = time.monotonic()
        if self.vectors:
            await self.vectors.follow(change)
        return searchable

    async def _ours(self) -> None:
        """Raises FencedError, and ends this process, where another instance has taken over."""
        try:
            await self.keeper.still_ours()
        except FencedError:
            self.give_up()
            raise

    async def _recorded(self) -> None:
        """Have deletions in the bucket's log before they are acknowledged (ING-23)."""
        try:
            await self.keeper.tombstones.flush()
        except FencedError:
            self.give_up()
            raise

    async def _recorded_if_possible(self) -> None:
        """The same for what nobody asked to have deleted: its record follows when the bucket answers."""
        try:
            await self._recorded()
        except FencedError:
            raise
        except ServiceError as error:
            log.get_logger().warning("a deletion is not recorded yet", kind=error.kind.value)

    def items(self, app: str) -> list[Pair]:
        """What is held of one sibling."""
        return [Pair(ref.item_id, ref.revision) for ref in self.catalogue.items(app) if ref.item_id is not None]

    async def _whole(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end even if whoever asked has gone: half a write would part catalogue and store."""

        async def hold() -> T:
            async with self.awake():
                return await work

        task = asyncio.create_task(hold())
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)


def _numbers(change: Change) -> tuple[int, ...]:
    return tuple(ref.number for ref in change.removed)
