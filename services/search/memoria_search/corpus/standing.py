"""Where this database stands towards the snapshots in the bucket, and whether it has been restored."""

import secrets
import sqlite3
from dataclasses import dataclass

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.sqlite import Database
from memoria_search.corpus.model import SourceState
from memoria_search.snapshot.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Standing:
    """`lineage` names this database's history; it changes with every restore from a backup. `restored`: just now."""

    lineage: str
    restored: bool


async def refuse_new(database: Database, manifest: Manifest | None, *, damaged: bool) -> None:
    """Raises PRECONDITION where the database is new and the bucket is not, readable or `damaged`: serving nothing would
    look like a team that has written nothing."""

    def is_new(db: sqlite3.Connection) -> bool:
        return last_number(db) == 0 and db.execute("SELECT 1 FROM snapshot").fetchone() is None

    if (damaged or (manifest is not None and manifest.numbers)) and await database.read(is_new):
        raise ServiceError(
            Kind.PRECONDITION,
            "the database is new and the bucket holds a snapshot: restore the database from its replica, "
            "or give memoria an empty bucket to begin anew",
        )


async def adopt(database: Database, generation: int, manifest: Manifest | None, replayed: int) -> Standing:
    """Settle the database with the generation that counts in the bucket, once a wake, before any write.

    A database that does not know of the generation that counts, or lacked deletions of the log, is an older one put
    back: it gets a new lineage, so that every source is announced anew (ING-27) and out of the ranking until then. It
    goes on numbering documents above all that the snapshot holds, because a number names one text for ever.
    """

    def change(db: sqlite3.Connection) -> Standing:
        held = db.execute("SELECT lineage, generation FROM snapshot").fetchone()
        last = last_number(db)
        known = held[1] if held else 0
        restored = generation > known or replayed > 0 or (manifest is not None and manifest.last_number > last)
        lineage = held[0] if held and not restored else secrets.token_hex(16)
        if restored:  # until each is announced anew, none is in the ranking, and the page says so (AUT-06)
            db.execute("UPDATE sources SET state = ?", (SourceState.RECONCILING.value,))
        db.execute("INSERT OR REPLACE INTO snapshot VALUES (1, ?, ?)", (lineage, max(known, generation)))
        if manifest is not None and manifest.last_number > last:
            db.execute("DELETE FROM sqlite_sequence WHERE name = 'documents'")
            db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('documents', ?)", (manifest.last_number,))
        return Standing(lineage, restored)

    return await database.write(change)


async def intend(database: Database, generation: int) -> None:
    """Note a generation before it can count, so that a kill in between is not taken for a restore."""
    await database.write(lambda db: db.execute("UPDATE snapshot SET generation = ?", (generation,)))


def last_number(db: sqlite3.Connection) -> int:
    """The highest document number ever given here; 0 before the first."""
    found = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'documents'").fetchone()
    return found[0] if found else 0
