"""What the gateway keeps: sessions, links that wait to be followed, personal tokens.

Secrets are held as SHA-256 only (each is 256 random bits, so no slow hash is needed), addresses sealed. The keys come
from the instance key, never from the DEK: nothing here could open a chunk.
"""

import hashlib
import secrets
import sqlite3
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from memoria_chassis.aead import SealContext, Sealer
from memoria_chassis.clock import Clock
from memoria_chassis.keys import ServiceKey, fingerprint
from memoria_chassis.sqlite import Database
from memoria_gateway.home.store import MIGRATION

MIGRATIONS = [
    """
    CREATE TABLE sessions (id BLOB PRIMARY KEY, address BLOB NOT NULL, expires INTEGER NOT NULL) STRICT;
    CREATE TABLE links (id BLOB PRIMARY KEY, address BLOB NOT NULL, next BLOB NOT NULL, expires INTEGER NOT NULL)
        STRICT;
    CREATE TABLE tokens (
        id BLOB PRIMARY KEY, public_id TEXT NOT NULL UNIQUE, owner BLOB NOT NULL, address BLOB NOT NULL,
        name BLOB NOT NULL, scope TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX tokens_by_owner ON tokens (owner)
    """,
    # A session from before has no time of its beginning, and is fresh for nothing.
    """
    ALTER TABLE sessions ADD COLUMN method TEXT NOT NULL DEFAULT 'link';
    ALTER TABLE sessions ADD COLUMN began INTEGER NOT NULL DEFAULT 0
    """,
    MIGRATION,
]

SESSION_DAYS = 30
LINK_MINUTES = 15
TOKEN_PREFIX = "memoria_pat_"  # noqa: S105 - what a token starts with, so that secret scanners know one
SCOPES = ("read", "write")
MAX_TOKENS = 50


class Method(StrEnum):
    """How a session was begun, which says what its holder is (AUT-27)."""

    LINK = "link"  # an address, by a link in a mail
    HOME = "home"  # a binding's id and the home's subject, by its assertion


_PURPOSE = {Method.LINK: "session", Method.HOME: "home-session"}
"""Sealed apart: a row whose method was changed in the file does not open."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session that has not expired. `id` is the cookie's digest; `began` is in seconds since the epoch."""

    id: bytes = field(repr=False)
    method: Method
    holder: str = field(repr=False)
    began: int


@dataclass(frozen=True, slots=True)
class PersonalToken:
    """A personal access token as its owner sees it listed; the token itself is shown once and not kept."""

    public_id: str
    name: str = field(repr=False)
    scope: str
    created: datetime
    expires: datetime


def digest(secret: str) -> bytes:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).digest()


class Store:
    """One SQLite file. Expired rows are removed when the next of their kind is written: there are no timers."""

    def __init__(self, database: Database, key: ServiceKey, clock: Clock) -> None:
        self._database = database
        self._sealer = Sealer(key)
        self._owners = key.purpose("token-owner")
        self._clock = clock

    def _now(self) -> int:
        return int(self._clock.now().timestamp())

    def _seal(self, purpose: str, table: str, row: bytes, column: str, text: str) -> bytes:
        return self._sealer.seal(text.encode(), SealContext(purpose, table, row.hex(), column))

    def _open(self, purpose: str, table: str, row: bytes, column: str, sealed: bytes) -> str:
        return self._sealer.open(sealed, SealContext(purpose, table, row.hex(), column)).decode()

    async def new_session(self, holder: str, method: Method = Method.LINK) -> str:
        """Begin a session of an address, or of a home's subject; returns the cookie's value."""
        secret = secrets.token_urlsafe(32)
        id_ = digest(secret)
        now = self._now()
        sealed = self._seal(_PURPOSE[method], "sessions", id_, "address", holder)
        row = (id_, sealed, now + SESSION_DAYS * 86400, method.value, now)

        def change(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM sessions WHERE expires <= ?", (now,))
            connection.execute("INSERT INTO sessions (id, address, expires, method, began) VALUES (?, ?, ?, ?, ?)", row)

        await self._database.write(change)
        return secret

    async def session(self, secret: str) -> Session | None:
        """The session that a cookie stands for, or None."""
        id_ = digest(secret)
        row = await self._database.read(
            lambda c: c.execute(
                "SELECT address, method, began FROM sessions WHERE id = ? AND expires > ?", (id_, self._now())
            ).fetchone()
        )
        if row is None:
            return None
        method = Method(row[1])
        return Session(id_, method, self._open(_PURPOSE[method], "sessions", id_, "address", row[0]), row[2])

    async def end_session(self, secret: str) -> None:
        """End a session; ending none is no error."""
        await self._database.write(lambda c: c.execute("DELETE FROM sessions WHERE id = ?", (digest(secret),)))

    async def new_link(self, address: str, next_path: str) -> str:
        """A single-use secret for a sign-in link."""
        secret = secrets.token_urlsafe(32)
        id_ = digest(secret)
        sealed = (
            self._seal("sign-in", "links", id_, "address", address),
            self._seal("sign-in", "links", id_, "next", next_path),
        )
        now = self._now()

        def change(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM links WHERE expires <= ?", (now,))
            connection.execute("INSERT INTO links VALUES (?, ?, ?, ?)", (id_, *sealed, now + LINK_MINUTES * 60))

        await self._database.write(change)
        return secret

    async def link_address(self, secret: str) -> str | None:
        """Whom a link was sent to, or None where it is unknown, used or expired. Uses nothing up."""
        id_ = digest(secret)
        row = await self._database.read(
            lambda c: c.execute("SELECT address FROM links WHERE id = ? AND expires > ?", (id_, self._now())).fetchone()
        )
        return None if row is None else self._open("sign-in", "links", id_, "address", row[0])

    async def take_link(self, secret: str) -> str | None:
        """Use up a link: the path to go on to, or None where it is unknown, used or expired."""
        id_ = digest(secret)
        now = self._now()
        row = await self._database.write(
            lambda c: c.execute("DELETE FROM links WHERE id = ? AND expires > ? RETURNING next", (id_, now)).fetchone()
        )
        return None if row is None else self._open("sign-in", "links", id_, "next", row[0])

    def _owner(self, address: str) -> bytes:
        return fingerprint(self._owners, address.encode())

    async def new_token(self, address: str, name: str, scope: str, days: int) -> str | None:
        """A personal token, shown this once; None where the person has MAX_TOKENS already."""
        secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
        id_ = digest(secret)
        now, owner = self._now(), self._owner(address)
        row = (
            id_,
            secrets.token_hex(6),
            owner,
            self._seal("token", "tokens", id_, "address", address),
            self._seal("token", "tokens", id_, "name", name),
            scope,
            now,
            now + days * 86400,
        )

        def change(connection: sqlite3.Connection) -> bool:
            connection.execute("DELETE FROM tokens WHERE expires <= ?", (now,))
            held = connection.execute("SELECT count(*) FROM tokens WHERE owner = ?", (owner,)).fetchone()[0]
            if held >= MAX_TOKENS:
                return False
            connection.execute("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            return True

        return secret if await self._database.write(change) else None

    async def token_bearer(self, secret: str) -> tuple[str, str] | None:
        """(address, scope) of a personal token, or None where it is unknown, revoked or expired."""
        id_ = digest(secret)
        row = await self._database.read(
            lambda c: c.execute(
                "SELECT address, scope FROM tokens WHERE id = ? AND expires > ?", (id_, self._now())
            ).fetchone()
        )
        return None if row is None else (self._open("token", "tokens", id_, "address", row[0]), row[1])

    async def tokens_of(self, address: str) -> list[PersonalToken]:
        """A person's tokens, newest first."""
        rows = await self._database.read(
            lambda c: c.execute(
                "SELECT id, public_id, name, scope, created, expires FROM tokens WHERE owner = ? AND expires > ?"
                " ORDER BY created DESC, public_id",
                (self._owner(address), self._now()),
            ).fetchall()
        )
        return [
            PersonalToken(
                public_id,
                self._open("token", "tokens", id_, "name", name),
                scope,
                datetime.fromtimestamp(created, UTC),
                datetime.fromtimestamp(expires, UTC),
            )
            for id_, public_id, name, scope, created, expires in rows
        ]

    async def revoke_token(self, address: str, public_id: str) -> None:
        """Revoke one of a person's own tokens; another person's is left alone, and revoking none is no error."""
        await self._database.write(
            lambda c: c.execute(
                "DELETE FROM tokens WHERE owner = ? AND public_id = ?", (self._owner(address), public_id)
            )
        )


def session_lifetime() -> timedelta:
    """How long a session's cookie is kept."""
    return timedelta(days=SESSION_DAYS)
