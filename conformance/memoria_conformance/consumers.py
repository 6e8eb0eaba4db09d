"""Who calls a demo app: hashed tokens, at most two a consumer, and state made when a consumer is first seen."""

import hashlib
from dataclasses import dataclass

from memoria_chassis.errors import Kind, ServiceError
from memoria_conformance.store import Store
from memoria_contract.types import SCOPES

DEFAULT_TTL = 14 * 24 * 3600.0
"""Seconds a cursor is good for."""


@dataclass(frozen=True, slots=True)
class Consumer:
    """A caller that showed a token."""

    name: str
    scope: str


@dataclass(frozen=True, slots=True)
class ConsumerState:
    """What an app remembers of one consumer. Moving `epoch` voids its cursors and nobody else's (CON-18)."""

    epoch: int
    ttl_seconds: float


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


class Consumers:
    """The consumers of one store."""

    def __init__(self, store: Store, ttl_seconds: float = DEFAULT_TTL) -> None:
        self._store, self._ttl = store, ttl_seconds

    def add_token(self, consumer: str, scope: str, token: str) -> None:
        """Accept `token` beside the one there is; again is nothing. ServiceError where there are two (CON-17)."""
        self.add_hash(consumer, scope, _digest(token))

    def add_hash(self, consumer: str, scope: str, hashed: bytes) -> None:
        """The same for the SHA-256 of a token."""
        with self._store.transaction() as db:
            held = db.execute("select hash, epoch from tokens where consumer = ?", (consumer,)).fetchall()
            if hashed in [row[0] for row in held]:
                return
            if len(held) >= 2:
                raise ServiceError(Kind.PRECONDITION, "a consumer has at most two tokens")
            epoch = max((row[1] for row in held), default=0) + 1
            db.execute("insert into tokens values (?, ?, ?, ?)", (consumer, scope, hashed, epoch))

    def keep_hash(self, consumer: str, scope: str, hashed: bytes) -> None:
        """Accept this token and no other, known before or not; again is nothing."""
        with self._store.transaction() as db:
            db.execute("delete from tokens where consumer = ? and hash != ?", (consumer, hashed))
        self.add_hash(consumer, scope, hashed)

    def retire_others(self, consumer: str, token: str) -> None:
        """Keep this token only, or none for ``; again is nothing. ServiceError for a foreign token (CON-17)."""
        with self._store.transaction() as db:
            if not token:  # an emergency: every token of the consumer is void at once
                db.execute("delete from tokens where consumer = ?", (consumer,))
                return
            known = db.execute(
                "select 1 from tokens where consumer = ? and hash = ?", (consumer, _digest(token))
            ).fetchone()
            if known is None:
                raise ServiceError(Kind.PRECONDITION, "the token to keep is not one of the consumer's")
            db.execute("delete from tokens where consumer = ? and hash != ?", (consumer, _digest(token)))

    def configure(self, consumer: str, scope: str, tokens: list[str]) -> None:
        """Exactly these tokens, as the command line or the environment says. Where it says the same as at the last
        start, the row stands as it is: what was rotated since must not come back with a restart."""
        key, said = f"tokens of {consumer}", b"".join(sorted(_digest(token) for token in tokens))
        if self._store.query("select 1 from meta where key = ? and value = ?", key, said):
            return
        with self._store.transaction() as db:
            db.execute("delete from tokens where consumer = ?", (consumer,))
            db.execute("insert or replace into meta values (?, ?)", (key, said))
        for token in tokens:
            self.add_token(consumer, scope, token)

    def admit(self, authorization: str | None, method: str) -> Consumer:
        """The consumer behind `Bearer …`. ServiceError UNAUTHENTICATED, or REFUSED where its scope lacks the method."""
        scheme, _, token = (authorization or "").partition(" ")
        rows = self._store.query("select consumer, scope from tokens where hash = ?", _digest(token))
        if scheme != "Bearer" or not rows:
            raise ServiceError(Kind.UNAUTHENTICATED, "this call needs a consumer's token")
        consumer = Consumer(*rows[0])
        if method not in SCOPES[consumer.scope]:
            raise ServiceError(Kind.REFUSED, "this token is not good for this call")
        return consumer

    def state(self, consumer: str) -> ConsumerState:
        """The consumer's state, made now if this is the first time it is seen (CON-16)."""
        rows = self._store.query("select epoch, ttl_seconds from consumers where consumer = ?", consumer)
        if not rows:
            with self._store.transaction() as db:
                db.execute("insert or ignore into consumers values (?, 1, ?, null)", (consumer, self._ttl))
            return ConsumerState(1, self._ttl)
        return ConsumerState(*rows[0])

    def expire(self, consumer: str | None = None) -> None:
        """Void the cursors of one consumer, or of all."""
        with self._store.transaction() as db:
            db.execute("update consumers set epoch = epoch + 1 where ?1 is null or consumer = ?1", (consumer,))
