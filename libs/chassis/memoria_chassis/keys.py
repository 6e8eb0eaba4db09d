"""The key tree: DEK → service key → purpose key.

The DEK exists only at provisioning. Each service is started with its own service key and derives one purpose key per
kind of content, so a stolen gateway key opens no chunk, and a stolen title key no text (TRU-01).
"""

import base64
import hmac
import secrets
from binascii import Error as Base64Error
from dataclasses import dataclass, field
from functools import lru_cache

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from memoria_chassis.errors import Kind, ServiceError

KEY_BYTES = 32
KEY_ID_BYTES = 4


def _derive(key: bytes, info: str, length: int = KEY_BYTES) -> bytes:
    # No salt: the input keys are uniformly random already, so HKDF serves for separation only (RFC 5869, 3.1).
    return HKDF(algorithm=SHA256(), length=length, salt=None, info=info.encode()).derive(key)


@dataclass(frozen=True, slots=True)
class PurposeKey:
    """A key for one purpose. Its id is derived from it, so a sealed value says which key it wants without naming it."""

    purpose: str
    key: bytes = field(repr=False)
    key_id: bytes


@dataclass(frozen=True)
class ServiceKey:
    """One service's own 32-byte key."""

    key: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.key) != KEY_BYTES:
            raise ServiceError(Kind.INVALID, f"a service key has {KEY_BYTES} bytes")

    def purpose(self, name: str) -> PurposeKey:
        """The purpose key called `name`, derived once per process."""
        return _purpose_key(self.key, name)


@lru_cache(maxsize=256)
def _purpose_key(service_key: bytes, name: str) -> PurposeKey:
    key = _derive(service_key, f"memoria/purpose/{name}/v1")
    return PurposeKey(name, key, _derive(key, "memoria/key-id/v1", KEY_ID_BYTES))


def service_key_from(root: bytes, service: str) -> ServiceKey:
    """Derive the key of `service` from a 32-byte root: the DEK, or the instance key for the gateway."""
    if len(root) != KEY_BYTES:
        raise ServiceError(Kind.INVALID, f"a root key has {KEY_BYTES} bytes")
    return ServiceKey(_derive(root, f"memoria/service/{service}/v1"))


def fingerprint(key: PurposeKey, data: bytes) -> bytes:
    """HMAC-SHA256 of `data`, 32 bytes: recognised again by us, and a guess is testable by nobody else (TRU-05)."""
    return hmac.digest(key.key, data, "sha256")


def new_key() -> bytes:
    """A fresh 32-byte root key."""
    return secrets.token_bytes(KEY_BYTES)


def encode_key(key: bytes) -> str:
    """A key as it stands in a file or a variable: base64url without padding."""
    return base64.urlsafe_b64encode(key).decode().rstrip("=")


def decode_key(text: str) -> bytes:
    """The inverse of `encode_key`. Raises INVALID on anything but 32 bytes; the text is not repeated."""
    stripped = text.strip()
    try:
        key = base64.b64decode(stripped + "=" * (-len(stripped) % 4), altchars=b"-_", validate=True)
    except (Base64Error, ValueError) as error:
        raise ServiceError(Kind.INVALID, "a key is not base64url") from error
    if len(key) != KEY_BYTES:
        raise ServiceError(Kind.INVALID, f"a key has {KEY_BYTES} bytes")
    return key
