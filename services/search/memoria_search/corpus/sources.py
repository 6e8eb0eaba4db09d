"""How each source stands, as ingest said last. Kept in the file and in memory, because every search asks."""

import sqlite3
from collections.abc import Iterable
from datetime import datetime

from memoria_chassis.sqlite import Database
from memoria_search.corpus.model import Source, SourceState


class Sources:
    """The sources' states."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._held: dict[str, Source] = {}

    async def load(self) -> None:
        """Read what was written before this start."""
        found = await self._database.read(lambda db: db.execute("SELECT app, state, as_of FROM sources").fetchall())
        self._held = {
            app: Source(app, SourceState(state), datetime.fromisoformat(as_of) if as_of else None)
            for app, state, as_of in found
        }

    async def put(self, source: Source) -> None:
        """State how a source stands; in force for every search that starts afterwards."""

        def change(db: sqlite3.Connection) -> None:
            db.execute(
                "INSERT INTO sources VALUES (?, ?, ?) ON CONFLICT (app) DO UPDATE SET state = excluded.state,"
                " as_of = excluded.as_of",
                (source.app, source.state.value, source.as_of.isoformat() if source.as_of else None),
            )

        await self._database.write(change)
        self._held[source.app] = source

    def all(self) -> list[Source]:
        """Every source, by app."""
        return [self._held[app] for app in sorted(self._held)]


def reconciling(standing: Iterable[Source]) -> tuple[str, ...]:
    """The apps that are left out of the ranking (AUT-06)."""
    return tuple(source.app for source in standing if source.state is SourceState.RECONCILING)
