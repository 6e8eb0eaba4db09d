"""Tombstones: deletions as objects of their own in the bucket, so that no restored database can undo one.

Each deletion has the next number of one sequence and is one sealed object that is written once and never removed: what
is kept for ever outlives every backup. The table `deletions` is written in the same transaction as the deletion itself
and is the log's outbox; a restored database holds fewer rows than the log has objects, and what it lacks is replayed
before anything is served (ING-23, ING-27).
"""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterable

from memoria_chassis import log
from memoria_chassis.aead import SealError
from memoria_chassis.bucket import Bucket
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.sqlite import Database
from memoria_search.corpus.vault import Vault
from memoria_search.snapshot.fence import Fence, FencedError

PREFIX = "tombstones/"

_UNRECORDED = "it is deleted here; its record has not reached the bucket yet and will follow, so ask again"


def object_name(sequence: int) -> str:
    """Zero-padded, so that names sort as the sequence does."""
    return f"{PREFIX}{sequence:016d}"


def record(db: sqlite3.Connection, vault: Vault, document_ids: Iterable[str]) -> None:
    """Number a deletion, inside the transaction that makes it. Nothing deleted is no deletion."""
    ids = sorted(document_ids)
    if ids:
        sequence = last(db) + 1
        sealed = _seal(vault, sequence, ids)
        db.execute("INSERT INTO deletions (sequence, sealed, stored) VALUES (?, ?, 0)", (sequence, sealed))


def stored(db: sqlite3.Connection) -> int:
    """The last sequence whose record is in the bucket: what a snapshot may name, for a restore asks the log for it."""
    return db.execute("SELECT coalesce(max(sequence), 0) FROM deletions WHERE stored = 1").fetchone()[0]


def last(db: sqlite3.Connection) -> int:
    """The sequence at which this database stands; 0 before the first deletion."""
    return db.execute("SELECT coalesce(max(sequence), 0) FROM deletions").fetchone()[0]


def _seal(vault: Vault, sequence: int, ids: list[str]) -> bytes:
    return vault.seal_text("tombstone", "tombstones", str(sequence), "documents", json.dumps(ids))


def _unseal(vault: Vault, sequence: int, sealed: bytes) -> list[str]:
    try:
        return json.loads(vault.open_text("tombstone", "tombstones", str(sequence), "documents", sealed))
    except SealError as error:
        raise ServiceError(
            Kind.PRECONDITION, "a deletion record in the bucket does not open: what it deletes is not known"
        ) from error


class TombstoneLog:
    """The log in the bucket and its outbox in the database."""

    def __init__(self, database: Database, vault: Vault, bucket: Bucket, fence: Fence) -> None:
        self._database = database
        self._vault = vault
        self._bucket = bucket
        self._fence = fence
        self._order = asyncio.Lock()
        self.waiting = 0
        """Deletions whose record has not reached the bucket."""

    async def flush(self) -> None:
        """Write what waits, in order. Raises UNAVAILABLE where the bucket fails; FencedError where it is another's.

        Called before a deletion is acknowledged: one that nobody could replay is not acknowledged.
        """
        async with self._order:
            rows = await self._database.read(_waiting)
            self.waiting = len(rows)
            if not rows:
                return
            try:
                await self._fence.check()
                for sequence, sealed in rows:
                    await self._append(sequence, sealed)
                    self.waiting -= 1
                # Again: who took over in between has read the log without these, and would go on serving.
                await self._fence.check()
            except FencedError:
                raise
            except ServiceError as error:
                raise ServiceError(Kind.UNAVAILABLE, _UNRECORDED) from error

    async def _append(self, sequence: int, sealed: bytes) -> None:
        name = object_name(sequence)
        try:
            await self._bucket.put_if_absent(name, sealed)
        except ServiceError as error:
            if error.kind is not Kind.CONFLICT:
                raise
            if (await self._bucket.get(name)).data != sealed:  # the same bytes: ours, killed before it was marked
                raise FencedError from error
        await self._database.write(
            lambda db: db.execute("UPDATE deletions SET stored = 1 WHERE sequence = ?", (sequence,))
        )

    async def replay(self, remove: Callable[[sqlite3.Connection, Iterable[str]], int], at_least: int) -> int:
        """Apply every deletion of the log that this database has not; how many. Before the first query.

        `remove` takes documents out by their ids, inside the transaction. `at_least`: the cursor that the snapshot
        names. Raises PRECONDITION where the log has a hole or ends before that: then nobody knows what was deleted.
        """
        async with self._order:
            known, pending = await self._database.read(lambda db: (stored(db), _waiting(db)))
            if known and await self._bucket.get_or_none(object_name(known)) is None:
                known, pending = await self._database.write(_all_again)  # another bucket: give it the whole log
            names = await self._bucket.names(PREFIX, after=object_name(known))
            for at, name in enumerate(names, start=known + 1):
                if name != object_name(at):
                    raise ServiceError(Kind.PRECONDITION, "a deletion record is missing from the bucket")
            if max(known + len(names), *(row[0] for row in pending), 0) < at_least:
                raise ServiceError(
                    Kind.PRECONDITION, "the bucket lacks deletion records that its snapshot was made after"
                )
            foreign = 0
            for sequence, name in enumerate(names, start=known + 1):
                foreign += await self._take(sequence, (await self._bucket.get(name)).data, remove)
            self.waiting = len(await self._database.read(_waiting))
            if foreign:
                log.get_logger().warning("deletions replayed from the bucket", count=foreign)
            return foreign

    async def _take(
        self, sequence: int, sealed: bytes, remove: Callable[[sqlite3.Connection, Iterable[str]], int]
    ) -> int:
        """Apply one record; 0 where it is our own. Our waiting records make room for one that is not."""

        def change(db: sqlite3.Connection) -> int:
            own = db.execute("SELECT sealed FROM deletions WHERE sequence = ?", (sequence,)).fetchone()
            if own is not None and own[0] == sealed:
                db.execute("UPDATE deletions SET stored = 1 WHERE sequence = ?", (sequence,))
                return 0
            ids = _unseal(self._vault, sequence, sealed)
            remove(db, ids)
            moved = db.execute(
                "SELECT sequence, sealed FROM deletions WHERE sequence >= ? ORDER BY sequence DESC", (sequence,)
            ).fetchall()
            for at, waiting in moved:
                again = _seal(self._vault, at + 1, _unseal(self._vault, at, waiting))
                db.execute("UPDATE deletions SET sequence = ?, sealed = ? WHERE sequence = ?", (at + 1, again, at))
            db.execute("INSERT INTO deletions (sequence, sealed, stored) VALUES (?, ?, 1)", (sequence, sealed))
            return 1

        return await self._database.write(change)


def _waiting(db: sqlite3.Connection) -> list[tuple[int, bytes]]:
    return db.execute("SELECT sequence, sealed FROM deletions WHERE stored = 0 ORDER BY sequence").fetchall()


def _all_again(db: sqlite3.Connection) -> tuple[int, list[tuple[int, bytes]]]:
    db.execute("UPDATE deletions SET stored = 0")
    return 0, _waiting(db)
