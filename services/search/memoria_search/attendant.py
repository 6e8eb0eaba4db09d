"""The attendant: writes a snapshot when writers rest, and drops the readable index when nobody asks (TRU-04).

One task, asleep while the index is. It pulls nothing and asks nobody; it only looks after what this process holds.
"""

import asyncio
import time
from dataclasses import dataclass

from memoria_chassis import log
from memoria_chassis.errors import ServiceError
from memoria_search.finish import finish
from memoria_search.library import Library
from memoria_search.snapshot.fence import FencedError

_MANY = 2_000
"""Changed documents that are not left waiting for writers to rest: an import of hours is saved on the way."""


@dataclass(frozen=True, slots=True)
class Habits:
    """Seconds without a change until a snapshot is written, and without a use until eviction (0: never)."""

    quiet: float
    idle: float

    @property
    def tick(self) -> float:
        """How often to look."""
        return max(0.05, min(each for each in (self.quiet, self.idle, 10.0) if each) / 4)


class Attendant:
    """Looks after one library."""

    def __init__(self, library: Library, habits: Habits) -> None:
        self._library = library
        self._habits = habits
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look."""
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Stop looking; a snapshot under way is given up, and the one before still counts."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        not_before = 0.0
        while True:
            await self._library.woken.wait()
            await asyncio.sleep(self._habits.tick)
            try:
                if time.monotonic() >= not_before:
                    await self._look()
            except FencedError:
                return  # the library has given up, and the process ends
            except ServiceError as error:
                log.get_logger().warning("snapshot was not written", kind=error.kind.value)
                not_before = time.monotonic() + self._habits.quiet
            except Exception as error:
                log.get_logger().error("looking after the index failed", exc_info=error)
                not_before = time.monotonic() + self._habits.quiet

    async def _look(self) -> None:
        library, habits = self._library, self._habits
        if library.keeper.tombstones.waiting:
            await library.record_deletions()
        checkpoints = library.checkpoints
        rested = time.monotonic() - checkpoints.last_change >= habits.quiet
        idle = habits.idle > 0 and library.idle_seconds() >= habits.idle
        if checkpoints.unsaved and (rested or idle or checkpoints.changed >= _MANY):
            await library.snapshot()
        if idle:
            # Each looks again: a snapshot takes time, and somebody may have come meanwhile.
            await library.renew(habits.idle)
            await finish(library.evict(habits.idle))  # half an eviction would leave something readable behind
