"""The write path: durable first, then searchable, then answered; and how long the readable index is held.

A kill between the steps leaves a store that is ahead of the index; the next wake makes the index equal to the store.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import ItemId, Pair
from memoria_search.corpus.catalogue import Catalogue
from memoria_search.corpus.model import Change, Chunk, DocumentRef, NewDocument
from memoria_search.corpus.sources import Sources
from memoria_search.corpus.store import Store
from memoria_search.handle import Handle
from memoria_search.index import scratch
from memoria_search.index.analysis import QueryTerms
from memoria_search.index.ranking import Hit
from memoria_search.index.schema import MAX_ORDINALS
from memoria_search.keeper import Keeper
from memoria_search.snapshot.fence import FencedError
from memoria_search.wake import wake

T = TypeVar("T")

_LAST_SNAPSHOT_SECONDS = 5.0  # a stop is not held up for longer: what is not in a snapshot is indexed at the next wake


class Library:
    """Store, catalogue and index, kept as one."""

    def __init__(
        self, store: Store, sources: Sources, keeper: Keeper, directory: Path, on_failure: Callable[[], None]
    ) -> None:
        """`directory`: scratch of our own. `on_failure` ends the process: what it holds can no longer be trusted."""
        self.store = store
        self.sources = sources
        self.keeper = keeper
        self.catalogue = Catalogue()
        self._directory = scratch.fresh(directory)
        self._on_failure = on_failure
        self._handle: Handle | None = None
        self._waking = asyncio.Lock()
        self._order = asyncio.Lock()
        self._uses = 0
        self._last_use = time.monotonic()
        self._publishing = asyncio.Lock()
        self._opened = False
        self._failed = False
        self._under_way: set[asyncio.Task[Any]] = set()
        self.damaged = 0
        self.rebuilt: str | None = None
        """Why the index in use was made from sealed chunks and not from a snapshot; None where it was not."""
        self.changed = 0
        """Documents put or removed since the last snapshot."""
        self.last_change = time.monotonic()
        self.woken = asyncio.Event()

    async def open(self) -> None:
        """Take the bucket, and wake for the first time. Ready only afterwards."""
        await self.sources.load()
        await self.keeper.open()
        async with self.awake():
            self._opened = True

    @asynccontextmanager
    async def awake(self) -> AsyncIterator[Handle]:
        """Hold the index handle; the first to come after an eviction wakes it. All use of the index is inside one."""
        self._uses += 1
        try:
            if self._handle is None:
                async with self._waking:
                    if self._handle is None:
                        self._handle = await self._wake()
                        self.woken.set()
            yield self._handle
        finally:
            self._uses -= 1
            self._last_use = time.monotonic()

    async def _wake(self) -> Handle:
        began = time.monotonic()
        await self.keeper.settle(self.store)
        found = await wake(
            self.store,
            self.keeper.snapshots,
            self.catalogue,
            self._directory,
            self._fail,
            self._checkpoint_if_possible,
        )
        self.damaged, self.rebuilt = found.damaged, found.rebuilt
        self.changed = found.differing
        log.get_logger().info("awake", duration_ms=round((time.monotonic() - began) * 1000))
        return found.handle

    def _fail(self) -> None:
        self._failed = True
        self._on_failure()

    @property
    def handle(self) -> Handle:
        """The handle that `awake` holds. Raises UNAVAILABLE outside of one while there is none."""
        if self._handle is None:
            raise ServiceError(Kind.UNAVAILABLE, "the index is asleep")
        return self._handle

    @property
    def asleep(self) -> bool:
        """Nothing readable is held."""
        return self._handle is None

    @property
    def ready(self) -> bool:
        """Opened, and not fallen behind the store. A library that sleeps is ready: the next question wakes it."""
        return self._opened and not self._failed

    def idle_seconds(self) -> float:
        """Since the last use ended; 0 during one."""
        return 0.0 if self._uses else time.monotonic() - self._last_use

    def search(self, terms: QueryTerms, limit: int, without_apps: Sequence[str] = ()) -> list[Hit]:
        """The best `limit` chunks of the index held."""
        return self.handle.index.search(terms, limit, without_apps)

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
            self._follow(change)
            added = self.handle.indexed(ref, document.metadata, enumerate(document.chunks))
            searchable = self.handle.committer.submit(_numbers(change), added)
        await searchable
        if any(gone.document_id != ref.document_id for gone in change.removed):
            await self._recorded()
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
            self._follow(change)  # from here on nobody finds it, whatever the index still says (IDX-03)
            searchable = self.handle.committer.submit(_numbers(change), ())
        await searchable
        await self._recorded()
        return len(change.removed)

    def _follow(self, change: Change) -> None:
        self.catalogue.apply(change)
        if change.added or change.removed:
            self.changed += len(change.added) + len(change.removed)
            self.last_change = time.monotonic()

    async def _recorded(self) -> None:
        """Have deletions in the bucket's log before they are acknowledged (ING-23)."""
        try:
            await self.keeper.tombstones.flush()
        except FencedError:
            self._fail()
            raise

    def items(self, app: str) -> list[Pair]:
        """What is held of one sibling."""
        return [Pair(ref.item_id, ref.revision) for ref in self.catalogue.items(app) if ref.item_id is not None]

    async def snapshot(self) -> bool:
        """Write a generation if anything changed; whether one was written. Raises UNAVAILABLE where the bucket fails,
        and then the one before still counts."""
        if self._handle is None or not self.changed or self._failed:
            return False
        async with self.awake() as handle:
            await self._checkpoint(handle)
        return True

    async def _checkpoint(self, handle: Handle) -> None:
        async with self._publishing:
            async with self._order:  # what was submitted before is in it, what comes later is not
                changed, cursor = self.changed, await self.keeper.cursor()
                frozen = handle.freeze()
            try:
                await self.keeper.publish(await frozen, cursor)
            except FencedError:
                self._fail()
                raise
            finally:
                handle.thaw()
        self.changed -= min(changed, self.changed)

    async def _checkpoint_if_possible(self, handle: Handle) -> None:
        """One more or less: the chunks it is made from stay."""
        try:
            await self._checkpoint(handle)
        except FencedError:
            raise
        except ServiceError as error:
            log.get_logger().warning("snapshot was not written", kind=error.kind.value)

    async def evict(self) -> bool:
        """Drop all that is readable, unless somebody uses it; whether it was dropped."""
        async with self._waking:
            if self._uses or self._handle is None:
                return False
            handle, self._handle = self._handle, None
            self.catalogue.clear()
            self.woken.clear()
            await handle.close()
        log.get_logger().info("index evicted")
        return True

    async def _whole(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end even if whoever asked has gone: half a write would part catalogue and store."""

        async def hold() -> T:
            async with self.awake():
                return await work

        task = asyncio.create_task(hold())
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Let writes end, write a last generation if that is quick, leave nothing in scratch."""
        if self._under_way:
            await asyncio.wait(self._under_way)
        try:
            async with asyncio.timeout(_LAST_SNAPSHOT_SECONDS):
                await self.snapshot()
        except (ServiceError, TimeoutError) as error:
            log.get_logger().warning("no snapshot at the end", kind=type(error).__name__)
        if self._handle is not None:
            await self._handle.close()
        scratch.wipe(self._directory)


def _numbers(change: Change) -> tuple[int, ...]:
    return tuple(ref.number for ref in change.removed)
