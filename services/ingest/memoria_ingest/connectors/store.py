"""What ingest remembers of push connectors: a keyed hash of each token, a sealed name, and what each brought."""

import json
import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memoria_chassis.aead import SealContext, Sealer
from memoria_chassis.clock import Clock
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import ServiceKey, fingerprint
from memoria_chassis.origins import checked_origin
from memoria_chassis.sqlite import Database
from memoria_contract.limits import (
    CONNECTOR_ID_PREFIX,
    CONNECTOR_NAME,
    CONNECTOR_ORIGINS,
    CONNECTOR_TOKEN_PREFIX,
    ORIGIN_LENGTH,
)

MAX_CONNECTORS = 50
_USED_FOLLOWS = 60


@dataclass(frozen=True, slots=True)
class ConnectorKey:
    """What a program shows at a connector's door. `origin` is empty unless a browser said one."""

    connector_id: str
    token: str = field(repr=False)
    origin: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Connector:
    """A push connector as its owner sees it listed; the token is shown once and not kept."""

    connector_id: str
    name: str = field(repr=False)
    origins: tuple[str, ...] = field(repr=False)
    created_at: datetime
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Pushed:
    """What was stored last of one item: a keyed fingerprint of its content, and the number search gave it."""

    content: bytes = field(default=b"", repr=False)
    number: int = 0


class ConnectorStore:
    """The connectors, durable."""

    def __init__(self, database: Database, key: ServiceKey, clock: Clock) -> None:
        self._database = database
        self._sealer = Sealer(key)
        self._tokens = key.purpose("connector-token")
        self._clock = clock

    def _now(self) -> int:
        return int(self._clock.now().timestamp())

    async def new(self, name: str, origins: Sequence[str]) -> tuple[str, str]:
        """Make a connector: its id, and its token, which is shown this once. Raises INVALID or EXHAUSTED."""
        if not 1 <= len(name) <= CONNECTOR_NAME:
            raise ServiceError(Kind.INVALID, f"A connector's name has 1 to {CONNECTOR_NAME} characters.")
        if len(origins) > CONNECTOR_ORIGINS or not all(_is_origin(origin) for origin in origins):
            raise ServiceError(
                Kind.INVALID, f"A connector allows at most {CONNECTOR_ORIGINS} origins of {ORIGIN_LENGTH} characters."
            )
        id_, token = CONNECTOR_ID_PREFIX + secrets.token_hex(8), _new_token()
        about = self._sealer.seal(json.dumps([name, *origins]).encode(), _about_context(id_))
        row = (id_, self._hash(token), about, self._now())

        def change(connection: sqlite3.Connection) -> None:
            if connection.execute("SELECT count(*) FROM connectors").fetchone()[0] >= MAX_CONNECTORS:
                raise ServiceError(Kind.EXHAUSTED, f"A team may have {MAX_CONNECTORS} connectors; remove one first.")
            connection.execute("INSERT INTO connectors VALUES (?, ?, ?, ?, NULL)", row)

        await self._database.write(change)
        return id_, token

    async def all(self) -> list[Connector]:
        """Every connector, the oldest first."""
        rows = await self._database.read(
            lambda c: c.execute("SELECT id, about, created, used FROM connectors ORDER BY created, id").fetchall()
        )
        return [
            Connector(id_, *self._about(id_, about), datetime.fromtimestamp(created, UTC), _moment(used))
            for id_, about, created, used in rows
        ]

    async def renew(self, connector_id: str) -> str:
        """Another token in place of the one there was, shown this once. Raises NOT_FOUND."""
        token = _new_token()
        hashed = self._hash(token)
        changed = await self._database.write(
            lambda c: c.execute("UPDATE connectors SET token = ? WHERE id = ?", (hashed, connector_id)).rowcount
        )
        if not changed:
            raise _none()
        return token

    async def revoke(self, connector_id: str) -> None:
        """Have its token open nothing; the connector is there as long as `remove` was not called. Raises NOT_FOUND."""
        await self.renew(connector_id)  # with one that nobody was told

    async def remove(self, connector_id: str) -> None:
        """End a connector and forget what it brought; search keeps it (AUT-12). Raises NOT_FOUND."""
        removed = await self._database.write(
            lambda c: c.execute("DELETE FROM connectors WHERE id = ?", (connector_id,)).rowcount
        )
        if not removed:
            raise _none()

    async def admit(self, key: ConnectorKey) -> None:
        """Return if this token is this connector's. Raises UNAUTHENTICATED, REFUSED for another page's origin.

        One sentence for a token that is unknown, another connector's, or of one that is gone: nothing to try by.
        """
        hashed = self._hash(key.token)
        row = await self._database.read(
            lambda c: c.execute(
                "SELECT about, used FROM connectors WHERE id = ? AND token = ?", (key.connector_id, hashed)
            ).fetchone()
        )
        if row is None:
            raise ServiceError(Kind.UNAUTHENTICATED, "This connector's own token is needed.")
        _, allowed = self._about(key.connector_id, row[0])
        if key.origin and allowed and key.origin.lower() not in allowed:
            raise ServiceError(Kind.REFUSED, "This connector takes nothing from pages of this origin.")
        now = self._now()
        if row[1] is None or now - row[1] >= _USED_FOLLOWS:  # once a minute is enough for the page that says it
            await self._database.write(
                lambda c: c.execute("UPDATE connectors SET used = ? WHERE id = ?", (now, key.connector_id))
            )

    async def begin(self, connector_id: str, item: bytes) -> Pushed:
        """Note an item before search is told of it, so that none is held that nobody here knows of."""

        def change(connection: sqlite3.Connection) -> Pushed:
            connection.execute("INSERT OR IGNORE INTO connector_items VALUES (?, ?, x'', 0)", (item, connector_id))
            return Pushed(
                *connection.execute("SELECT content, number FROM connector_items WHERE item = ?", (item,)).fetchone()
            )

        row = await self._database.read(
            lambda c: c.execute("SELECT content, number FROM connector_items WHERE item = ?", (item,)).fetchone()
        )
        return Pushed(*row) if row else await self._database.write(change)

    async def put(self, item: bytes, pushed: Pushed) -> None:
        """Remember what was stored of an item."""
        await self._database.write(
            lambda c: c.execute(
                "UPDATE connector_items SET content = ?, number = ? WHERE item = ?",
                (pushed.content, pushed.number, item),
            )
        )

    async def forget(self, item: bytes) -> None:
        """Forget an item that is held no more."""
        await self._database.write(lambda c: c.execute("DELETE FROM connector_items WHERE item = ?", (item,)))

    async def items(self, connector_id: str) -> list[bytes]:
        """The keyed fingerprints of what a connector brought."""
        rows = await self._database.read(
            lambda c: c.execute("SELECT item FROM connector_items WHERE connector = ?", (connector_id,)).fetchall()
        )
        return [item for (item,) in rows]

    def _hash(self, token: str) -> bytes:
        # Keyed, under a purpose of its own (TRU-07): a copy of this file alone lets nobody test a token they found.
        return fingerprint(self._tokens, token.encode("utf-8", "replace"))

    def _about(self, connector_id: str, sealed: bytes) -> tuple[str, tuple[str, ...]]:
        name, *origins = json.loads(self._sealer.open(sealed, _about_context(connector_id)))
        return name, tuple(origins)


def _is_origin(text: str) -> bool:
    try:
        return len(checked_origin(text, cleartext=True)) <= ORIGIN_LENGTH
    except ValueError:
        return False


def _new_token() -> str:
    return CONNECTOR_TOKEN_PREFIX + secrets.token_urlsafe(32)


def _none() -> ServiceError:
    return ServiceError(Kind.NOT_FOUND, "There is no such connector.")


def _about_context(connector_id: str) -> SealContext:
    return SealContext("connector", "connectors", connector_id, "about")


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
