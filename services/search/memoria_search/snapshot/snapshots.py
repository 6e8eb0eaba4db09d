"""The snapshots of one instance: which generation counts, reading it, writing the next, letting go of old ones."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from memoria_chassis import log
from memoria_chassis.aead import Sealer
from memoria_chassis.bucket import Bucket
from memoria_chassis.clock import Clock
from memoria_chassis.keys import ServiceKey
from memoria_search.snapshot import retention
from memoria_search.snapshot.fence import Fence
from memoria_search.snapshot.manifest import Manifest, Retired
from memoria_search.snapshot.publish import Content, Publisher
from memoria_search.snapshot.restore import DamagedError, Restorer


class Snapshots:
    """Holds the fence. `manifest` is the generation that counts, None where there is none or it cannot be read."""

    def __init__(self, bucket: Bucket, key: ServiceKey, clock: Clock, kept: timedelta) -> None:
        sealer = Sealer(key)
        self._bucket = bucket
        self._clock = clock
        self._kept = kept
        self._publisher_lock = asyncio.Lock()
        self.fence = Fence(bucket, sealer)
        self.restorer = Restorer(bucket, sealer)
        self._publisher = Publisher(bucket, sealer, self.fence)
        self._inherited: Retired | None = None
        self.manifest: Manifest | None = None
        self.damage: str | None = None
        """Why the generation that counts could not be used, as a fixed word; None where it could."""
        self.uploaded = 0
        """Sealed bytes that the last generation cost."""

    async def open(self) -> None:
        """Take the bucket and read the manifest that counts. A damaged one is noted, not raised."""
        await self.fence.acquire()
        head = self.fence.head
        try:
            if self.fence.damaged:
                raise DamagedError("head does not open")
            if head.generation:
                self.manifest = await self.restorer.manifest(head.generation)
        except DamagedError as error:
            self.spoil(error)
        if self.damage:
            self.manifest = None
            # What lies there may still be named by a backup: it is kept as long as any superseded generation.
            self._inherited = await retention.inherit(self._bucket, self._now())
        elif self.manifest:
            await self._tidy(self.manifest, sweep=True)

    def spoil(self, error: DamagedError) -> None:
        """Note that the generation that counts cannot be used; the index is rebuilt, and said to be."""
        self.damage = error.reason
        log.get_logger().error("snapshot generation cannot be used", kind=error.reason)

    async def publish(self, content: Content, intend: Callable[[int], Awaitable[None]]) -> Manifest:
        """Write the next generation. `intend` is told its number before it can count, and must make that durable.

        Raises FencedError; UNAVAILABLE where the bucket fails, and then the generation before still counts.
        """
        async with self._publisher_lock:
            reuse = {} if self.damage or not self.manifest else {file.name: file for file in self.manifest.files}
            published = await self._publisher.publish(
                content, self.manifest, reuse, self._history(), self._now(), intend
            )
            self.manifest, self.uploaded = published.manifest, published.uploaded
            self.damage, self._inherited = None, None
            log.get_logger().info(
                "snapshot written",
                generation=published.manifest.generation,
                count=len(content.numbers),
                bytes=published.uploaded,
            )
            await self._tidy(published.manifest)
            return published.manifest

    def _history(self) -> tuple[Retired, ...]:
        """Superseded generations to go on remembering."""
        if self.manifest is None:
            return (self._inherited,) if self._inherited else ()
        gone = retention.due(self.manifest, self._kept, self._now())
        return tuple(old for old in self.manifest.retired if old not in gone)

    async def _tidy(self, manifest: Manifest, sweep: bool = False) -> None:
        """Delete what no backup can name. A bucket that fails here is asked again with the next generation."""
        try:
            for old in retention.due(manifest, self._kept, self._now()):
                await retention.retire(self._bucket, old)
            if sweep:
                await retention.sweep(self._bucket, manifest)
        except Exception as error:
            log.get_logger().warning("old snapshots were not deleted", exc_info=error)

    @property
    def completed(self) -> int:
        """The last deletion that is complete (ING-24)."""
        return retention.completed(self.manifest) if self.manifest and not self.damage else 0

    def _now(self) -> int:
        return int(self._clock.now().timestamp())
