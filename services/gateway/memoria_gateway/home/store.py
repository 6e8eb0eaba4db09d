"""What is kept of the home's sign-in: assertions that wait to be picked up, those already used, and the bindings.

What waits is sealed by the gateway's own key. A binding is under the exchange key, which opens nothing else (AUT-22,
AUT-24).
"""

import hashlib
import json
import secrets
import sqlite3
from dataclasses import dataclass, field

from memoria_chassis.aead import SealContext, Sealer
from memoria_chassis.clock import Clock
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import ServiceKey, fingerprint
from memoria_chassis.sqlite import Database
from memoria_gateway.home.model import Assertion, Rejected

MIGRATION = """
    CREATE TABLE home_seen (id BLOB PRIMARY KEY, expires INTEGER NOT NULL) STRICT;
    CREATE TABLE home_parked (id BLOB PRIMARY KEY, answer BLOB NOT NULL, expires INTEGER NOT NULL) STRICT;
    CREATE TABLE home_candidates (session BLOB PRIMARY KEY, subject BLOB NOT NULL, expires INTEGER NOT NULL) STRICT;
    CREATE TABLE home_identities (
        id TEXT PRIMARY KEY, address_print BLOB NOT NULL UNIQUE, address BLOB NOT NULL
    ) STRICT;
    CREATE TABLE home_bindings (
        subject_print BLOB PRIMARY KEY, identity TEXT NOT NULL UNIQUE REFERENCES home_identities (id), id TEXT NOT NULL
    ) STRICT
"""

PARKED_SECONDS = 120  # a redirect's time and a slow line's; the browser follows at once
CANDIDATE_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Binding:
    """A confirmed binding. Each one has an id of its own: a session rests on this one and not on a later one."""

    id: str
    address: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Parked:
    """An assertion that was verified, and the state that came with it."""

    state: str = field(repr=False)
    nonce: str = field(repr=False)
    subject: str = field(repr=False)


class HomeStore:
    """Tables of the gateway's one file. Expired rows go when the next of their kind is written (RUL-10)."""

    def __init__(self, database: Database, key: ServiceKey, exchange: ServiceKey, clock: Clock) -> None:
        self._database = database
        self._sealer = Sealer(key)
        self._bindings = Sealer(exchange)
        self._subjects = exchange.purpose("home-subject")
        self._addresses = exchange.purpose("home-address")
        self._clock = clock

    def now(self) -> int:
        """Seconds since the epoch."""
        return int(self._clock.now().timestamp())

    async def park(self, assertion: Assertion, state: str) -> str:
        """Keep an assertion for whoever began the hand-off; returns its handle. Raises Rejected for one seen before."""
        handle = secrets.token_urlsafe(32)
        id_ = _digest(handle)
        answer = json.dumps([state, assertion.nonce, assertion.subject]).encode()
        sealed = self._sealer.seal(answer, _parked(id_))
        seen, now = _digest(assertion.id), self.now()

        def change(connection: sqlite3.Connection) -> None:
            if assertion.expires <= now:  # or its row, gone below, would not tell that it came before
                raise Rejected
            connection.execute("DELETE FROM home_seen WHERE expires <= ?", (now,))
            connection.execute("DELETE FROM home_parked WHERE expires <= ?", (now,))
            # Its id and its handle in one transaction: of two that come at once, one finds the other's row.
            known = connection.execute("INSERT OR IGNORE INTO home_seen VALUES (?, ?)", (seen, assertion.expires))
            if known.rowcount != 1:
                raise Rejected
            connection.execute("INSERT INTO home_parked VALUES (?, ?, ?)", (id_, sealed, now + PARKED_SECONDS))

        await self._database.write(change)
        return handle

    async def parked(self, handle: str) -> Parked | None:
        """What is parked under a handle. Takes nothing: a stranger with the address must not use it up."""
        id_, now = _digest(handle), self.now()
        row = await self._database.read(
            lambda c: c.execute("SELECT answer FROM home_parked WHERE id = ? AND expires > ?", (id_, now)).fetchone()
        )
        return None if row is None else Parked(*json.loads(self._sealer.open(row[0], _parked(id_))))

    async def take(self, handle: str) -> bool:
        """Use a handle up; False where somebody was quicker."""
        id_ = _digest(handle)
        return bool(
            await self._database.write(lambda c: c.execute("DELETE FROM home_parked WHERE id = ?", (id_,)).rowcount)
        )

    async def propose(self, session: bytes, subject: str) -> None:
        """Keep a subject for the person of a session to confirm."""
        sealed = self._sealer.seal(subject.encode(), _candidate(session))
        now = self.now()

        def change(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM home_candidates WHERE expires <= ?", (now,))
            row = (session, sealed, now + CANDIDATE_SECONDS)
            connection.execute("INSERT OR REPLACE INTO home_candidates VALUES (?, ?, ?)", row)

        await self._database.write(change)

    async def candidate(self, session: bytes) -> str | None:
        """What names the subject that waits for a session's person, if one does: its keyed fingerprint, hex."""
        now = self.now()
        row = await self._database.read(
            lambda c: c.execute(
                "SELECT subject FROM home_candidates WHERE session = ? AND expires > ?", (session, now)
            ).fetchone()
        )
        return None if row is None else self._print(self._sealer.open(row[0], _candidate(session)).decode()).hex()

    async def bind(self, session: bytes, address: str, shown: str) -> None:
        """Bind what waits for a session to its address, and allocate its identity: the one place that does (AUT-24).

        `shown`: the candidate that the person was asked about; another may have come since. Raises PRECONDITION where
        it does not wait, CONFLICT where either end is bound to another.
        """
        fresh = secrets.token_hex(16)
        sealed = self._bindings.seal(address.encode(), _identity(fresh))
        address_print, now = self._address(address), self.now()

        def change(connection: sqlite3.Connection) -> None:
            found = connection.execute(
                "DELETE FROM home_candidates WHERE session = ? AND expires > ? RETURNING subject", (session, now)
            ).fetchone()
            if found is None:
                raise ServiceError(Kind.PRECONDITION, "This confirmation was sent already. Look again.")
            subject_print = self._print(self._sealer.open(found[0], _candidate(session)).decode())
            if subject_print.hex() != shown:
                raise ServiceError(Kind.PRECONDITION, "Another account was signed in with meanwhile. Begin again.")
            # Once allocated an identity stays, so that an address that is bound anew finds its own.
            row = (fresh, address_print, sealed)
            connection.execute("INSERT OR IGNORE INTO home_identities VALUES (?, ?, ?)", row)
            (identity,) = connection.execute(
                "SELECT id FROM home_identities WHERE address_print = ?", (address_print,)
            ).fetchone()
            try:
                connection.execute("INSERT INTO home_bindings VALUES (?, ?, ?)", (subject_print, identity, fresh))
            except sqlite3.IntegrityError:
                raise ServiceError(Kind.CONFLICT, "One of the two is linked already. Remove that link first.") from None

        await self._database.write(change)

    async def unbind(self, address: str) -> None:
        """Remove an address's binding; removing none is no error. Sessions that rest on it end with it."""
        print_ = self._address(address)
        await self._database.write(
            lambda c: c.execute(
                "DELETE FROM home_bindings WHERE identity IN (SELECT id FROM home_identities WHERE address_print = ?)",
                (print_,),
            )
        )

    async def bound(self, address: str) -> bool:
        """Whether an address is bound. Allocates nothing."""
        print_ = self._address(address)
        row = await self._database.read(
            lambda c: c.execute(
                "SELECT 1 FROM home_bindings b JOIN home_identities i ON i.id = identity WHERE address_print = ?",
                (print_,),
            ).fetchone()
        )
        return row is not None

    async def binding_of(self, subject: str) -> Binding | None:
        """The binding of a subject, or None where none was confirmed (AUT-23). Allocates nothing."""
        print_ = self._print(subject)
        row = await self._database.read(
            lambda c: c.execute(
                "SELECT b.id, i.id, i.address FROM home_bindings b JOIN home_identities i ON i.id = identity"
                " WHERE subject_print = ?",
                (print_,),
            ).fetchone()
        )
        return None if row is None else Binding(row[0], self._bindings.open(row[2], _identity(row[1])).decode())

    def _print(self, subject: str) -> bytes:
        return fingerprint(self._subjects, subject.encode())

    def _address(self, address: str) -> bytes:
        return fingerprint(self._addresses, address.encode())


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _parked(row: bytes) -> SealContext:
    return SealContext("home-parked", "home_parked", row.hex(), "answer")


def _candidate(row: bytes) -> SealContext:
    return SealContext("home-candidate", "home_candidates", row.hex(), "subject")


def _identity(row: str) -> SealContext:
    return SealContext("home-binding", "home_identities", row, "address")
