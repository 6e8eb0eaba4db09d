"""Seal and open: AES-256-GCM, and the only file that touches it.

A sealed value is `version (1 byte) | key id (4) | nonce (12) | ciphertext and tag (n + 16)`. The associated data binds
the header and the place the value stands in, so a value moved to another row, column, table or purpose does not open.
"""

import os
from dataclasses import dataclass
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import KEY_ID_BYTES, ServiceKey

VERSION = 1
_NONCE_BYTES = 12
_TAG_BYTES = 16
_HEADER_BYTES = 1 + KEY_ID_BYTES
OVERHEAD = _HEADER_BYTES + _NONCE_BYTES + _TAG_BYTES
"""Bytes a sealed value is longer than its plaintext."""


@dataclass(frozen=True, slots=True)
class SealContext:
    """What a sealed value is bound to."""

    purpose: str
    table: str
    row: str
    column: str

    def associated_data(self, header: bytes) -> bytes:
        """The header and each part with its length before it, so that no two contexts share an encoding."""
        before, after = _fixed(self.purpose, self.table, self.column)
        return b"".join((header, before, _prefixed(self.row), after))


def _prefixed(part: str) -> bytes:
    encoded = part.encode()
    return len(encoded).to_bytes(4, "big") + encoded


@lru_cache(maxsize=1024)
def _fixed(purpose: str, table: str, column: str) -> tuple[bytes, bytes]:
    """What stands before and behind the row: the same few for every value of a page, and dearer than its AES."""
    return _prefixed(purpose) + _prefixed(table), _prefixed(column)


class SealError(ServiceError):
    """A sealed value did not open. `reason` is one of REASONS; the sentence says nothing of the value."""

    REASONS = ("truncated", "unknown version", "unknown key", "authentication failed")

    def __init__(self, reason: str) -> None:
        super().__init__(Kind.INTERNAL, f"a sealed value did not open: {reason}")
        self.reason = reason


class Sealer:
    """Seals and opens under one service's purpose keys."""

    def __init__(self, service_key: ServiceKey) -> None:
        self._service_key = service_key
        self._ciphers: dict[str, tuple[bytes, AESGCM]] = {}

    def _cipher(self, purpose: str) -> tuple[bytes, AESGCM]:
        if purpose not in self._ciphers:
            key = self._service_key.purpose(purpose)
            self._ciphers[purpose] = (bytes([VERSION]) + key.key_id, AESGCM(key.key))
        return self._ciphers[purpose]

    def seal(self, plaintext: bytes, context: SealContext) -> bytes:
        """Seal `plaintext` to `context`.

        The nonce is random: a purpose key stays far below the 2^32 messages at which random 96-bit nonces stop being
        safe (NIST SP 800-38D, 8.3); a corpus of a million chunks rewritten a thousand times is 2^30.
        """
        header, cipher = self._cipher(context.purpose)
        nonce = os.urandom(_NONCE_BYTES)
        return header + nonce + cipher.encrypt(nonce, plaintext, context.associated_data(header))

    def open(self, sealed: bytes, context: SealContext) -> bytes:
        """Open what `seal` made for the same context. Raises SealError otherwise."""
        if len(sealed) < OVERHEAD:
            raise SealError("truncated")
        header, cipher = self._cipher(context.purpose)
        if sealed[0] != VERSION:
            raise SealError("unknown version")
        if sealed[1:_HEADER_BYTES] != header[1:]:
            raise SealError("unknown key")
        nonce = sealed[_HEADER_BYTES : _HEADER_BYTES + _NONCE_BYTES]
        try:
            return cipher.decrypt(nonce, sealed[_HEADER_BYTES + _NONCE_BYTES :], context.associated_data(header))
        except InvalidTag as error:
            raise SealError("authentication failed") from error
