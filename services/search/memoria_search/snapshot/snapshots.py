"""The snapshots of one instance: which generation counts, reading it, writing the next, letting go of old ones.

Generations are numbered above everything that this instance has seen in the bucket, so that a deletion which another
instance still has under way hits nothing of ours, and what lies above the head is an upload that came to nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from memoria_chassis import log
from memoria_chassis.aead import Sealer
from memoria_chassis.bucket import Bucket
from memoria_chassis.clock import Clock
from memoria_chassis.errors import ServiceError
from memoria_chassis.keys import ServiceKey
from memoria_search.fencing import tolerating
from memoria_search.snapshot import retention
from memoria_search.snapshot.fence import Fence
from memoria_search.snapshot.manifest import Manifest
from memoria_search.snapshot.names import MANIFESTS, PIECES, SUPERSEDED, epoch, number
from memoria_search.snapshot.publish import Content, Publisher
from memoria_search.snapshot.restore import DamagedError, Restorer
from memoria_search.snapshot.strays import strays
from memoria_search.snapshot.superseded import Superseded, parse

_AT_A_TIME = 32  # generations deleted after one is written, so that a backlog does not hold up the next
_FAILURES = 3  # of them that fail: the bucket is away


class Snapshots:
    """Holds the fence. `manifest` is the generation that counts, None where there is none or it cannot be read."""

    def __init__(self, bucket: Bucket, key: ServiceKey, clock: Clock, kept: timedelta) -> None:
        self._sealer = Sealer(key)
        self._bucket = bucket
        self._clock = clock
        self._kept = kept
        self._publishing = asyncio.Lock()
        self.fence = Fence(bucket, self._sealer)
        self.restorer = Restorer(bucket, self._sealer)
        self._publisher = Publisher(bucket, self._sealer, self.fence)
        self._unsettled = True  # something may lie in the bucket that came to nothing
        self._listed = False  # what is superseded is known
        self._highest = 0
        self._left: list[str] = []  # objects of no generation, which go with the next one that is superseded
        self._unopened: set[str] = set()
        self._stuck: set[str] = set()  # records of generations that could not be deleted: tried last
        self._disputed: set[int] = set()  # generations of which an untrue record could not be deleted
        self._began = 0  # the generation that counted when this instance took the bucket
        self.superseded: list[Superseded] = []
        """The generations that still lie in the bucket because a backup may name them."""
        self.manifest: Manifest | None = None
        self.damage: str | None = None
        """Why the generation that counts could not be used, as a fixed word; None where it could."""
        self.uploaded = 0
        """Sealed bytes that the last generation cost."""

    async def open(self) -> None:
        """Take the bucket and read the manifest that counts. A damaged one is noted, not raised."""
        await self.fence.acquire()
        head = self.fence.head
        self._began = head.generation
        try:
            if self.fence.damaged:
                raise DamagedError("head does not open")
            if head.generation:
                self.manifest = await self.restorer.manifest(head.generation)
        except DamagedError as error:
            self.spoil(error)
            # What lies there may still be named by a backup: it stays as long as any superseded generation.
            self._left = await retention.everything(self._bucket)
        with tolerating("the bucket was not tidied"):
            await self._settle()
            await self._delete_due()
            await self._drop_unfinished()

    def spoil(self, error: DamagedError) -> None:
        """Note that the generation that counts cannot be used; the index is rebuilt, and said to be."""
        self.damage = error.reason
        log.get_logger().error("snapshot generation cannot be used", kind=error.reason)

    async def publish(self, content: Content, intend: Callable[[int], Awaitable[None]]) -> Manifest:
        """Write the next generation. `intend` is told its number before it can count, and must make that durable.

        Raises FencedError; UNAVAILABLE where the bucket fails, and then the generation before still counts, unless only
        the answer was lost, which the next attempt finds out.
        """
        async with self._publishing:
            await self._settle()
            reuse = {} if self.damage or not self.manifest else {file.name: file for file in self.manifest.files}
            self._unsettled = True
            done = await self._publisher.publish(
                content, self._highest + 1, self.manifest, reuse, self._left, self._now(), self._record, intend
            )
            self._unsettled = False
            self._took(done.manifest, done.superseded)
            self.uploaded = done.uploaded
            log.get_logger().info(
                "snapshot written",
                generation=done.manifest.generation,
                count=len(content.numbers),
                bytes=done.uploaded,
            )
            with tolerating("old snapshots were not deleted"):
                await self._retire()
            return done.manifest

    def _took(self, manifest: Manifest, superseded: Superseded | None) -> None:
        self.manifest, self.damage, self._left = manifest, None, []
        self._highest = max(self._highest, manifest.generation)
        if superseded:
            self.superseded.append(superseded)

    def _record(self, previous: Manifest | None) -> Superseded:
        """What is said of the generation that counts, `previous` where it can be read, once it is superseded."""
        if previous is None:  # under its own number: until the head moves on, the record says nothing
            generation, purged = self.fence.head.generation, 0
        else:
            generation, purged = previous.generation, previous.purged
        return Superseded(self._now(), generation, purged, self.fence.head.epoch, self._highest + 1)

    async def _settle(self) -> None:
        """Before anything is written: look at the fence, for a record that a fenced instance writes could outlive the
        true one; find out what became of the last attempt, and delete what is left of it."""
        if not self._unsettled:
            await self.fence.check()
            return
        await self.fence.settle()
        listing = await self._look()
        attempted, generation = self._publisher.attempted, self.fence.head.generation
        tried, self._publisher.tried = self._publisher.tried, []
        if attempted and attempted.generation == generation and self.manifest != attempted:
            self._took(attempted, None)  # it was only the answer that got lost
        else:  # what has not landed yet still may, and goes when the next generation supersedes this one
            seen = {*self._left, *listing.above(generation)}
            self._left += [name for name in tried if name not in seen]
        await self._tidy(listing)
        self._unsettled = False

    async def _look(self) -> retention.Listing:
        """What lies in the bucket, listed before the fence was looked at: so none of it is a later instance's."""
        listing = await retention.look(self._bucket)
        await self.fence.check()
        return listing

    async def _tidy(self, listing: retention.Listing) -> None:
        """Note what is superseded, and delete what is listed there and of no use to anybody."""
        generation = self.fence.head.generation
        above = listing.above(generation)
        self._highest = max([self._highest, generation, *map(number, (*above, *self._left))])
        self.superseded, self._listed = retention.counting(listing.records, generation), True
        untrue = {record.name: record for record in listing.untrue(self.superseded)}
        self._disputed = {untrue[name].generation for name in await retention.discard(self._bucket, untrue)}
        if self.manifest is None and generation:
            # Nothing is deleted beside a generation that cannot be read; what failed since goes with it.
            self._left += [name for name in above if name not in self._left]
            return
        self._left += await retention.discard(self._bucket, above)
        held = [(self._began, self.fence.head.epoch), *((old.generation, old.epoch) for old in self.superseded)]
        await retention.discard(self._bucket, await strays(listing, generation, held, self._live, self.restorer))

    def _due(self) -> list[Superseded]:
        """What no backup can name any more and can be deleted, those last that could not be before."""
        if self.manifest is None:
            return []
        due = [
            old
            for old in retention.due(self.superseded, self._kept, self._now())
            if old.name not in self._unopened
            and old.generation not in self._disputed
            and old.generation < self.manifest.generation
        ]
        return sorted(due, key=lambda old: old.name in self._stuck)

    async def _retire(self) -> None:
        """Delete what is due; before a record goes, whatever it tells strays by."""
        if self._due():
            await self._tidy(await self._look())
            await self._delete_due()

    async def _delete_due(self) -> None:
        """Delete what is due and was listed. One that cannot be deleted holds up no other."""
        due = self._due()[:_AT_A_TIME]
        if not due:
            return
        await self.fence.check()
        live, failures = self._live, 0
        for old in due:
            try:
                if await retention.retire(self._bucket, self._sealer, old, live):
                    self.superseded.remove(old)
                else:
                    self._unopened.add(old.name)  # said once; its pieces stay, and its deletions incomplete
            except ServiceError as error:
                log.get_logger().warning("an old snapshot was not deleted", kind=error.kind.value)
                self._stuck.add(old.name)
                failures += 1
                if failures == _FAILURES:
                    break

    async def _drop_unfinished(self) -> None:
        """Remove what puts of earlier instances left that were killed half-way: those that only they could finish."""
        head = self.fence.head

        def earlier(piece: str) -> bool:
            of = epoch(piece)
            return of is not None and of < head.epoch

        def older(name: str) -> bool:
            record = parse(name)
            return record is not None and record.epoch < head.epoch

        await self._bucket.drop_unfinished(PIECES, earlier)
        await self._bucket.drop_unfinished(SUPERSEDED, older)
        await self._bucket.drop_unfinished(MANIFESTS, lambda name: 0 < number(name) <= head.generation)

    @property
    def _live(self) -> frozenset[str]:
        """The objects that the generation which counts consists of."""
        return self.manifest.objects if self.manifest else frozenset()

    @property
    def completed(self) -> int:
        """The last deletion that is complete (ING-24)."""
        if self.manifest is None or self.damage or not self._listed:
            return 0
        return retention.completed(self.manifest.purged, self.superseded)

    @property
    def renewal_due(self) -> bool:
        """Words of something deleted have been in the files for longer than backups are kept."""
        since = self.manifest.unpurged_since if self.manifest else 0
        return since > 0 and since + self._kept.total_seconds() <= self._now()

    def _now(self) -> int:
        return int(self._clock.now().timestamp())
