"""The write path: durable first, then searchable, then answered.

A kill between the steps leaves a store that is ahead of the index; the next wake makes the index equal to the store.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import ItemId, Pair
from memoria_search.corpus.model import Change, Chunk, DocumentRef, NewDocument
from memoria_search.fencing import ending, tolerating
from memoria_search.finish import finish
from memoria_search.index.schema import MAX_ORDINALS, IndexedChunk
from memoria_search.resident import Resident

T = TypeVar("T")


class Library(Resident):
    """Store, catalogue and index, kept as one."""

    async def put(self, document: NewDocument) -> tuple[DocumentRef, bool]:
        """Store a document in place of the revision held; True where there was one. Found once this returns."""
        if len(document.chunks) >= MAX_ORDINALS:
            raise ServiceError(Kind.TOO_LARGE, f"a document has fewer than {MAX_ORDINALS} chunks")
        if not document.chunks:  # a document that is only a title is found by it
            document = NewDocument(document.origin, document.metadata, (Chunk((), ""),))
        return await self._whole(lambda: self._put(document))

    async def _put(self, document: NewDocument) -> tuple[DocumentRef, bool]:
        async with self._order:
            ref, change = await self.store.put(document)
            added = self.handle.indexed(ref, document.metadata, enumerate(document.chunks))
            searchable = await self._follow(change, added)
        await searchable
        if any(gone.document_id != ref.document_id for gone in change.removed):
            with tolerating("a deletion is not recorded yet"):  # parts beyond the last of a shorter conversion:
                await self.record_deletions()  # nobody asked for it, so it may follow when the bucket answers
        with ending(self.give_up):
            await self.keeper.still_ours()
        return ref, any(gone.document_id == ref.document_id for gone in change.removed)

    async def delete(self, document_id: str) -> int:
        """Delete a memoria-owned document with its parts; how many went. Raises NOT_FOUND, also for a sibling's."""
        async with self.awake():
            ref = self.catalogue.document(document_id)
            if ref is None or not ref.owned:
                raise ServiceError(Kind.NOT_FOUND, "no such document")
            return await self._whole(lambda: self._remove(lambda: self.store.delete_owned(ref)))

    async def retire(self, app: str, item_ids: Iterable[ItemId]) -> int:
        """Remove a sibling's items; how many were held."""
        wanted = list(item_ids)
        return await self._whole(lambda: self._remove(lambda: self.store.retire(app, wanted)))

    async def _remove(self, remove: Callable[[], Coroutine[Any, Any, Change]]) -> int:
        async with self._order:
            change = await remove()
            searchable = await self._follow(change, ())
        await searchable
        await self.record_deletions()
        return len(change.removed)

    async def _follow(self, change: Change, added: Iterable[IndexedChunk]) -> asyncio.Future[None]:
        """Catalogue, index and vectors after the store, in this order: from the first on nobody finds what is gone,
        whatever the index still says (IDX-03), and no step that can fail stands before the index's."""
        self.catalogue.apply(change)
        searchable = self.handle.committer.submit(_numbers(change), added)
        self.checkpoints.note(len(change.added) + len(change.removed))
        if self.vectors:
            await self.vectors.follow(change)
        return searchable

    async def record_deletions(self) -> None:
        """Have deletions in the bucket's log, which is what they are acknowledged by (ING-23). Raises UNAVAILABLE."""
        with ending(self.give_up):
            await self.keeper.tombstones.flush()

    def items(self, app: str) -> list[Pair]:
        """What is held of one sibling."""
        return [Pair(ref.item_id, ref.revision) for ref in self.catalogue.items(app) if ref.item_id is not None]

    def upload(self, external_id: bytes) -> tuple[str, int]:
        """(document id, number) of what is held under an external id, as the catalogue has it."""
        return self.catalogue.upload(self.store.upload(external_id))

    async def _whole(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run to the end, and awake, even if whoever asked has gone: half a write would part catalogue and store."""

        async def hold() -> T:
            async with self.awake():
                return await work()

        task = asyncio.create_task(hold())
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await finish(task)


def _numbers(change: Change) -> tuple[int, ...]:
    return tuple(ref.number for ref in change.removed)
