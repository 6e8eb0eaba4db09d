"""Who may call a sibling: bearer tokens kept as hashes, at most two a consumer and scope (CON-15, CON-17)."""

import hashlib
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from hmac import compare_digest

from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import SCOPES

_BEARER = re.compile(r"[Bb]earer +([\x21-\x7e]+)")


@dataclass(frozen=True, slots=True)
class Consumer:
    """A caller that showed a token."""

    name: str
    scope: str


@dataclass(frozen=True, slots=True)
class TokenHash:
    """A token as it may be stored: SHA-256 of a random token, from which nobody finds the token again."""

    consumer: str
    scope: str
    sha256: bytes


class Consumers:
    """The tokens that are accepted now. Safe from any thread; `hashes` and the constructor are for your database.

    ServiceError(INVALID) for a hash of an unknown scope.
    """

    def __init__(self, hashes: Iterable[TokenHash] = ()) -> None:
        self._hashes = tuple(hashes)
        if not all(held.scope in SCOPES for held in self._hashes):
            raise ServiceError(Kind.INVALID, "a scope is pull or ask")
        self._lock = threading.Lock()

    @property
    def hashes(self) -> tuple[TokenHash, ...]:
        """What to store, after `add_token` or `retire_tokens`."""
        return self._hashes

    def add_token(self, consumer: str, scope: str, token: str) -> None:
        """Accept `token` beside the one there is; again is nothing.

        ServiceError(INVALID) for an unknown scope, a token that is empty or not printable ASCII, or one that is
        somebody else's; ServiceError(PRECONDITION) where there are two already.
        """
        if scope not in SCOPES:
            raise ServiceError(Kind.INVALID, "a scope is pull or ask")
        if _BEARER.fullmatch(f"Bearer {token}") is None or token != token.strip():
            raise ServiceError(Kind.INVALID, "a token is printable ASCII without spaces")
        new = TokenHash(consumer, scope, _digest(token))
        with self._lock:
            if new in self._hashes:
                return
            if any(held.sha256 == new.sha256 for held in self._hashes):
                raise ServiceError(Kind.INVALID, "the token is another consumer's or of another scope")
            if sum((held.consumer, held.scope) == (consumer, scope) for held in self._hashes) >= 2:
                raise ServiceError(Kind.PRECONDITION, "a consumer has at most two tokens a scope")
            self._hashes = (*self._hashes, new)

    def retire_tokens(self, consumer: str, scope: str, keep: str) -> None:
        """Accept only `keep` of this consumer and scope from now on, or none at all where it is ""; again is nothing.

        ServiceError(PRECONDITION) where the consumer does not have it, for then nobody could call any more.
        """
        kept = TokenHash(consumer, scope, _digest(keep))
        with self._lock:
            if keep and kept not in self._hashes:
                raise ServiceError(Kind.PRECONDITION, "the token to keep is not one of the consumer's")
            self._hashes = tuple(
                held for held in self._hashes if (held.consumer, held.scope) != (consumer, scope) or held == kept
            )

    def admit(self, authorization: str | None, call: str) -> Consumer:
        """The consumer behind `Bearer …`, for a call by its name (`ListChanges`).

        ServiceError(UNAUTHENTICATED) without a token that is accepted, REFUSED where its scope lacks the call.
        """
        match = _BEARER.fullmatch(authorization or "")
        digest = _digest(match[1] if match else "")
        found = None
        for held in self._hashes:  # all of them, so that the time taken says nothing about which one it was
            if compare_digest(held.sha256, digest):
                found = held
        if match is None or found is None:
            raise ServiceError(Kind.UNAUTHENTICATED, "this call needs a consumer's token")
        if call not in SCOPES[found.scope]:
            raise ServiceError(Kind.REFUSED, "this token is not good for this call")
        return Consumer(found.consumer, found.scope)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
