"""What ingest remembers of each source: its cursor, how it stands, and the items it still owes.

A cursor and an item id are content, so both are sealed.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import Enum

from memoria_chassis.aead import SealContext, Sealer
from memoria_chassis.keys import ServiceKey, fingerprint
from memoria_chassis.sqlite import Database
from memoria_contract.types import ItemId, Pair, Revision

MIGRATIONS = [
    """
    CREATE TABLE sources (
        app TEXT PRIMARY KEY, cursor BLOB NOT NULL, state TEXT NOT NULL,
        as_of INTEGER, tried_at INTEGER, failure TEXT NOT NULL
    ) STRICT;
    CREATE TABLE owed (
        app TEXT NOT NULL, item BLOB NOT NULL, sealed_pair BLOB NOT NULL, PRIMARY KEY (app, item)
    ) STRICT
    """,
    # Which history of search's corpus the cursor belongs to: one that was put back from a backup lacks what came since.
    """
    ALTER TABLE sources ADD COLUMN lineage TEXT NOT NULL DEFAULT '';
    ALTER TABLE sources ADD COLUMN acknowledged INTEGER NOT NULL DEFAULT 0
    """,
    # What an owner stopped. A table and no column: a pull under way writes its row of `sources` whole.
    """
    CREATE TABLE stops (app TEXT PRIMARY KEY, removing INTEGER NOT NULL) STRICT
    """,
    # Push connectors, and what each brought: keyed fingerprints of item and content, and the number search gave last.
    """
    CREATE TABLE connectors (
        id TEXT PRIMARY KEY, token BLOB NOT NULL UNIQUE, about BLOB NOT NULL, created INTEGER NOT NULL, used INTEGER
    ) STRICT;
    CREATE TABLE connector_items (
        item BLOB PRIMARY KEY, connector TEXT NOT NULL REFERENCES connectors (id) ON DELETE CASCADE,
        content BLOB NOT NULL, number INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX connector_items_by_connector ON connector_items (connector)
    """,
]

_FILE_FOLLOWS = timedelta(minutes=1)


class SourceState(Enum):
    """How a source stands."""

    CURRENT = "current"
    AS_OF = "as_of"
    RECONCILING = "reconciling"
    PARTIAL = "partial"


class Stop(Enum):
    """Why an owner's source stands still."""

    PAUSED = 0
    REMOVING = 1
    """Paused too, and a removal of what is held was begun and has not come to its end."""


@dataclass(frozen=True, slots=True)
class Source:
    """One source. `cursor` is the sibling's, byte for byte; empty before the first page. It belongs to the history of
    search's corpus that `lineage` names, and to all numbers up to `acknowledged`."""

    app: str
    cursor: str = field(default="", repr=False)
    state: SourceState = SourceState.AS_OF
    as_of: datetime | None = None
    tried_at: datetime | None = None
    failure: str = ""
    lineage: str = ""
    acknowledged: int = 0


@dataclass(frozen=True, slots=True)
class History:
    """Which history search's corpus has, and the number it gave last."""

    lineage: str
    last_number: int


class SourceStore:
    """The sources, durable."""

    def __init__(self, database: Database, key: ServiceKey) -> None:
        self._database = database
        self._sealer = Sealer(key)
        self._items = key.purpose("owed-item")
        self._owings = 0
        self._owes_nothing: set[str] = set()  # every question asks, and hardly ever is anything owed
        self._held: dict[str, tuple[Source, datetime | None]] = {}  # as it stands, and its `as_of` in the file
        self._stops: dict[str, Stop | None] = {}

    async def get(self, app: str) -> Source:
        """A source; one never seen before stands as never read."""
        if app in self._held:
            return self._held[app][0]
        source = await self._read(app)
        # Not over what a pull has stored while this was read.
        return self._held.setdefault(app, (source, source.as_of))[0]

    async def _read(self, app: str) -> Source:
        row = await self._database.read(
            lambda c: c.execute(
                "SELECT cursor, state, as_of, tried_at, failure, lineage, acknowledged FROM sources WHERE app = ?",
                (app,),
            ).fetchone()
        )
        if row is None:
            return Source(app)
        cursor = self._sealer.open(row[0], _cursor_context(app)).decode()
        return Source(app, cursor, SourceState(row[1]), _moment(row[2]), _moment(row[3]), *row[4:])

    async def put(self, source: Source) -> None:
        """Store a source.

        Where nothing but the times moved on, the file follows only once a minute: each question pulls, and would
        otherwise wait for the disk. After a crash `as_of` is then up to a minute too old, never too young.
        """
        held, written = self._held.get(source.app, (None, None))
        moved = held is None or replace(held, as_of=source.as_of, tried_at=source.tried_at) != source
        if not moved and written and source.as_of and source.as_of - written < _FILE_FOLLOWS:
            self._held[source.app] = (source, written)
            return
        row = (
            source.app,
            self._sealer.seal(source.cursor.encode(), _cursor_context(source.app)),
            source.state.value,
            _seconds(source.as_of),
            _seconds(source.tried_at),
            source.failure,
            source.lineage,
            source.acknowledged,
        )
        await self._database.write(lambda c: c.execute("REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row))
        self._held[source.app] = (source, source.as_of)

    async def owe(self, app: str, pairs: Iterable[Pair]) -> None:
        """Remember items whose content could not be fetched, for the next pull."""
        rows = [(app, *self._owed(app, pair)) for pair in pairs]
        self._owes_nothing.discard(app)
        self._owings += 1
        await self._database.write(lambda c: c.executemany("REPLACE INTO owed VALUES (?, ?, ?)", rows))

    async def settle(self, app: str, item_ids: Iterable[str]) -> None:
        """Forget items that are owed no longer."""
        rows = [(app, self._fingerprint(app, item_id)) for item_id in item_ids]

        def change(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM owed WHERE app = ? AND item = ?", rows)

        if rows:
            await self._database.write(change)

    async def owed(self, app: str) -> list[Pair]:
        """The items owed of an app."""
        if app in self._owes_nothing:
            return []
        owings = self._owings
        rows = await self._database.read(
            lambda c: c.execute("SELECT item, sealed_pair FROM owed WHERE app = ? ORDER BY item", (app,)).fetchall()
        )
        if not rows and owings == self._owings:  # else something came to be owed while this was read
            self._owes_nothing.add(app)
        pairs = []
        for item, sealed in rows:
            item_id, _, revision = self._sealer.open(sealed, _owed_context(app, item)).decode().partition("\0")
            pairs.append(Pair(ItemId(item_id), Revision(revision)))
        return pairs

    async def stop(self, app: str) -> Stop | None:
        """Whether an owner stopped a source."""
        if app not in self._stops:
            row = await self._database.read(
                lambda c: c.execute("SELECT removing FROM stops WHERE app = ?", (app,)).fetchone()
            )
            self._stops.setdefault(app, Stop(row[0]) if row else None)  # not over what was written meanwhile
        return self._stops[app]

    async def put_stop(self, app: str, stop: Stop | None) -> None:
        """Stop a source, or let it go on."""

        def change(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM stops WHERE app = ?", (app,))
            if stop is not None:
                connection.execute("INSERT INTO stops VALUES (?, ?)", (app, stop.value))

        await self._database.write(change)
        self._stops[app] = stop

    async def forget(self, app: str) -> None:
        """Forget where the feed stood and what is owed of a source that was removed; it stays paused."""

        def change(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM sources WHERE app = ?", (app,))
            connection.execute("DELETE FROM owed WHERE app = ?", (app,))
            connection.execute("REPLACE INTO stops VALUES (?, ?)", (app, Stop.PAUSED.value))

        await self._database.write(change)
        self._held[app] = (Source(app), None)
        self._stops[app] = Stop.PAUSED

    def _fingerprint(self, app: str, item_id: str) -> bytes:
        return fingerprint(self._items, f"{app}\0{item_id}".encode())

    def _owed(self, app: str, pair: Pair) -> tuple[bytes, bytes]:
        item = self._fingerprint(app, pair.item_id)
        # NUL cannot be part of an id: the feed's rows are refused for it.
        return item, self._sealer.seal(f"{pair.item_id}\0{pair.revision}".encode(), _owed_context(app, item))


def _cursor_context(app: str) -> SealContext:
    return SealContext("cursor", "sources", app, "cursor")


def _owed_context(app: str, item: bytes) -> SealContext:
    return SealContext("owed-item", "owed", f"{app}/{item.hex()}", "sealed_pair")


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
