"""How long the readable index is held: woken by whoever needs it, dropped whole when nobody does."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc import deadline
from memoria_search.checkpoints import Checkpointer
from memoria_search.corpus.catalogue import Catalogue
from memoria_search.corpus.sources import Sources
from memoria_search.corpus.store import Store
from memoria_search.fencing import ending
from memoria_search.handle import Handle
from memoria_search.index import scratch
from memoria_search.index.analysis import QueryTerms
from memoria_search.index.ranking import Hit
from memoria_search.index.vectors.library import VectorLibrary
from memoria_search.keeper import Keeper
from memoria_search.wake import wake

OPENING = "your team's index is being opened; ask again in a few seconds"
"""What a request is told whose time is over before the index is there; a person reads it on the page."""

_LAST_SNAPSHOT_SECONDS = 5.0  # a stop is not held up for longer: what is not in a snapshot is indexed at the next wake

_SPARE = 0.05  # seconds of a request's time that are left to say that the index is not there yet


class Resident:
    """Catalogue, index and vectors while they are held."""

    def __init__(
        self,
        store: Store,
        sources: Sources,
        keeper: Keeper,
        directory: Path,
        on_failure: Callable[[], None],
        vectors: VectorLibrary | None = None,
    ) -> None:
        """`directory`: scratch of our own. `on_failure` ends the process: what it holds can no longer be trusted.
        `vectors`: of an embedder, where there is one.
        """
        self.vectors = vectors
        self.store = store
        self.sources = sources
        self.keeper = keeper
        self.catalogue = Catalogue()
        self._directory = scratch.fresh(directory)
        self._on_failure = on_failure
        self._handle: Handle | None = None
        self._waking = asyncio.Lock()
        self._order = asyncio.Lock()
        self.checkpoints = Checkpointer(keeper, vectors, self._order)
        self._wake_task: asyncio.Task[bool] | None = None
        self._renewal: asyncio.Task[bool] | None = None
        self._uses = 0
        self._last_use = time.monotonic()
        self._under_way: set[asyncio.Task[Any]] = set()
        self._opened = False
        self._failed = False
        self.damaged = 0
        self.rebuilt: str | None = None
        """Why the index in use was made from sealed chunks and not from a snapshot; None where it was not."""
        self.woken = asyncio.Event()

    async def open(self) -> None:
        """Take the bucket, and wake for the first time. Ready only afterwards."""
        await self.keeper.snapshots.open()
        async with self.awake():
            self._opened = True

    @asynccontextmanager
    async def awake(self) -> AsyncIterator[Handle]:
        """Hold the index handle; all use of the index is inside one.

        The first to come after an eviction starts a wake, which goes on whoever stops waiting for it. Raises what the
        wake raised; UNAVAILABLE where the request's time is over before the index is there.
        """
        self._uses += 1
        if self._renewal:
            self._renewal.cancel()
        try:
            while self._handle is None:
                await self._woken_in_time()
            yield self._handle
        finally:
            self._uses -= 1
            self._last_use = time.monotonic()

    async def _woken_in_time(self) -> None:
        if self._wake_task is None or self._wake_task.done():
            self._wake_task = asyncio.create_task(self._wake_alone())
            self._wake_task.add_done_callback(_told)
        left = deadline.remaining()
        done, _ = await asyncio.wait([self._wake_task], timeout=None if left is None else max(0.0, left - _SPARE))
        if not done:
            raise ServiceError(Kind.UNAVAILABLE, OPENING)
        self._wake_task.result()

    async def _wake_alone(self, *, anew: bool = False) -> bool:
        """Whether there was no index before; `anew` makes it from sealed chunks alone."""
        deadline.forget()  # it serves whoever comes, not the request that found the index asleep
        async with self._waking:
            if self._handle is not None:
                return False
            with ending(self.give_up):
                self._handle = await self._wake(anew=anew)
            self.woken.set()
            return True

    async def _wake(self, *, anew: bool) -> Handle:
        began = time.monotonic()
        await self.keeper.settle(self.store)
        await self.sources.load()  # after a restore they stand otherwise than before
        found = await wake(
            self.store,
            self.keeper.snapshots,
            self.catalogue,
            self._directory,
            self.give_up,
            self.checkpoints.write_if_possible,
            anew=anew,
        )
        self.damaged, self.rebuilt = found.damaged, found.rebuilt
        self.checkpoints.changed = found.differing
        if self.vectors:
            self.vectors.wake(self.keeper.vectors())  # behind the first searches
        log.get_logger().info("awake", duration_ms=round((time.monotonic() - began) * 1000))
        return found.handle

    def give_up(self) -> None:
        """What is held can no longer be trusted, or is another's: not ready any more, and the process is to end."""
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

    async def snapshot(self) -> bool:
        """Write a generation if anything changed; whether one was written. Raises UNAVAILABLE where the bucket fails,
        and then the one before still counts."""
        if self._handle is None or not self.checkpoints.unsaved or self._failed:
            return False
        await self._checkpoint()
        return True

    async def _checkpoint(self) -> None:
        async with self.awake() as handle:
            with ending(self.give_up):
                await self.checkpoints.write(handle)

    async def evict(self, idle: float = 0.0) -> bool:
        """Drop all that is readable, unless somebody uses it or did so in the last `idle` seconds; whether it was."""
        async with self._waking:
            if self._uses or self._handle is None or self.idle_seconds() < idle:
                return False
            handle, self._handle = self._handle, None
            self.catalogue.clear()
            self.woken.clear()
            if self.vectors:
                await self.vectors.sleep()
            await handle.close()
        log.get_logger().info("index evicted")
        return True

    async def renew(self, idle: float = 0.0) -> bool:
        """Make the index anew from sealed chunks where words of deleted texts have been in its files for longer than
        backups are kept (ING-24); whether it was.

        For when nobody asked for `idle` seconds: whoever comes meanwhile ends it, and is answered from the generation
        there is.
        """
        if not self.keeper.snapshots.renewal_due or not await self.evict(idle):
            return False
        self._renewal = renewal = asyncio.create_task(self._wake_alone(anew=True))
        try:
            await asyncio.wait([renewal])
        finally:
            self._renewal = None
            renewal.cancel()  # where it was we who were cancelled
            await asyncio.wait([renewal])
        if renewal.cancelled() or not renewal.result():
            return False
        await self._checkpoint()  # whatever changed: the files are others
        return True

    async def close(self) -> None:
        """Let writes end, write a last generation if that is quick, leave nothing in scratch."""
        if self._under_way:
            await asyncio.wait(self._under_way)
        if self._wake_task is not None and not self._wake_task.done():
            self._wake_task.cancel()
            await asyncio.wait([self._wake_task])
        try:
            async with asyncio.timeout(_LAST_SNAPSHOT_SECONDS):
                await self.snapshot()
        except Exception as error:
            log.get_logger().warning("no snapshot at the end", kind=type(error).__name__)
        try:
            if self.vectors:
                await self.vectors.sleep()
            if self._handle is not None:
                await self._handle.close()
        finally:
            scratch.wipe(self._directory)


def _told(wake: asyncio.Task[bool]) -> None:
    """A wake that failed is told here: whoever waited for it may be gone."""
    if not wake.cancelled() and (error := wake.exception()):
        log.get_logger().error("the index could not be opened", kind=type(error).__name__)
