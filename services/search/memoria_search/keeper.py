"""The keeper of what outlives the process: snapshots, the deletion log, and how the database stands to both."""

import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from memoria_chassis.sqlite import Database
from memoria_search.corpus import standing, tombstones
from memoria_search.corpus.standing import Standing
from memoria_search.corpus.store import Store
from memoria_search.corpus.tombstones import TombstoneLog
from memoria_search.fencing import tolerating
from memoria_search.index.analysis import ANALYSER_VERSION
from memoria_search.index.lexical import Frozen
from memoria_search.snapshot.publish import Content, Origin, Scratch
from memoria_search.snapshot.snapshots import Snapshots

_FENCE_SECONDS = 5.0  # between two looks at the fence while documents come in; a deletion always looks


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far the database is: the sequence of its last deletion, that of the last one whose record is in the bucket,
    and the last document number given."""

    deletions: int
    recorded: int
    last_number: int


class Keeper:
    """Bucket and database, in the order that each step needs."""

    def __init__(self, database: Database, snapshots: Snapshots, tombstones: TombstoneLog) -> None:
        self._database = database
        self.snapshots = snapshots
        self.tombstones = tombstones
        self.standing = Standing("", restored=False)
        self.restored = False
        """The database of this process was put back from a backup, at whichever of its wakes that was noticed."""
        self._looked = 0.0
        self.deletions = 0
        """The sequence of the last deletion, as of the last look at the database."""

    async def settle(self, store: Store) -> None:
        """Apply deletions that the database lacks and settle it with the generation that counts, before any query.

        Raises PRECONDITION where that cannot be done: then nothing is served. Raises FencedError where another instance
        has the bucket now; UNAVAILABLE where the bucket fails.
        """
        manifest = self.snapshots.manifest
        await self.snapshots.fence.check()
        await standing.refuse_new(self._database, manifest, damaged=self.snapshots.damage is not None)
        replayed = await self.tombstones.replay(store.replay_removal, manifest.deletions if manifest else 0)
        generation = self.snapshots.fence.head.generation
        self.standing = await standing.adopt(self._database, generation, manifest, replayed)
        self.restored |= self.standing.restored
        await self.tombstones.flush()
        await self.cursor()

    async def still_ours(self) -> None:
        """Look at the fence, at most once every few seconds: what an instance takes in after another has the bucket
        would be in no index but its own. A bucket that fails is no other instance. Raises FencedError."""
        now = time.monotonic()
        if now - self._looked < _FENCE_SECONDS:
            return
        self._looked = now
        with tolerating("the fence could not be looked at"):
            await self.snapshots.fence.check()

    async def cursor(self) -> Cursor:
        """How far the database is."""
        found = await self._database.read(
            lambda db: Cursor(tombstones.last(db), tombstones.stored(db), standing.last_number(db))
        )
        self.deletions = found.deletions
        return found

    async def publish(self, frozen: Frozen, cursor: Cursor, vectors: Mapping[str, Origin]) -> None:
        """Write a generation. Raises FencedError, UNAVAILABLE."""
        content = Content(
            analyser=ANALYSER_VERSION,
            deletions=cursor.recorded,
            clean=frozen.clean,
            last_number=cursor.last_number,
            numbers=frozen.numbers,
            meta=frozen.meta,
            lexical={name: Scratch(path) for name, path in frozen.files.items()},
            vectors=vectors,
        )
        await self.snapshots.publish(content, lambda generation: standing.intend(self._database, generation))

    async def vectors(self) -> AsyncIterator[tuple[str, bytes]]:
        """The vector pieces of the generation that counts, by name, as they arrive. Raises DamagedError."""
        manifest = self.snapshots.manifest
        async for name, body in self.snapshots.restorer.contents(manifest.vectors if manifest else ()):
            yield name, body
