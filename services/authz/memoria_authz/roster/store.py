"""The held copy at rest: one sealed row, which survives a restart with its own time running on."""

import json
import sqlite3
from datetime import UTC, datetime, timedelta

from memoria_authz.roster.model import Held, Roster
from memoria_chassis.aead import SealContext, Sealer, SealError
from memoria_chassis.keys import ServiceKey
from memoria_chassis.sqlite import Database

MIGRATION = """
    CREATE TABLE roster (id INTEGER PRIMARY KEY CHECK (id = 1), sealed BLOB NOT NULL) STRICT
"""

_CONTEXT = SealContext("roster", "roster", "1", "sealed")


class RosterStore:
    """One row. Who is on a team is nobody else's to read, so it is sealed whole."""

    def __init__(self, database: Database, key: ServiceKey) -> None:
        self._database = database
        self._sealer = Sealer(key)

    async def load(self) -> Held | None:
        """The held copy. None where there is none, and where it does not open: then it is fetched anew."""
        row = await self._database.read(lambda db: db.execute("SELECT sealed FROM roster").fetchone())
        if row is None:
            return None
        try:
            tree = json.loads(self._sealer.open(row[0], _CONTEXT))
            roster = Roster(
                frozenset(tree["members"]), tree["epoch"], timedelta(seconds=tree["ttl"]), tree["generation"]
            )
            return Held(roster, datetime.fromtimestamp(tree["fetched_at"], UTC))
        except (SealError, ValueError, KeyError, TypeError):
            return None

    async def keep(self, held: Held) -> None:
        """Put a copy in place of the one held."""
        roster = held.roster
        tree = {
            "members": sorted(roster.members),
            "epoch": roster.epoch,
            "ttl": roster.ttl.total_seconds(),
            "generation": roster.generation,
            "fetched_at": held.fetched_at.timestamp(),
        }
        sealed = self._sealer.seal(json.dumps(tree).encode(), _CONTEXT)

        def change(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO roster VALUES (1, ?)", (sealed,))

        await self._database.write(change)
