"""A hand-off under way: what it is for, sealed in a cookie of the browser that began it (RFC 6265bis, `__Host-`)."""

import base64
import hashlib
import hmac
import json
import secrets
from binascii import Error as Base64Error
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from memoria_chassis.aead import SealContext, Sealer, SealError
from memoria_chassis.keys import ServiceKey
from memoria_gateway.forms import local_path

PENDING_SECONDS = 600
_MAX_NEXT = 1800  # characters as they are sealed; browsers drop a cookie of more than 4 KiB
_CONTEXT = SealContext("home-handoff", "cookie", "", "pending")


class Purpose(StrEnum):
    """What a hand-off is for."""

    SIGN_IN = "sign-in"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Pending:
    """One hand-off. The home signs its nonce, which is a hash of what only this browser's cookie holds."""

    purpose: Purpose
    next_path: str
    expires: int
    session: str = ""  # of linking: the digest of the session that began it, hex
    state: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def nonce(self) -> str:
        """The S256 code challenge of the verifier (RFC 7636, 4.2)."""
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).decode().rstrip("=")

    def matches(self, state: str, nonce: str) -> bool:
        """Whether a parked assertion answers this hand-off."""
        same = hmac.compare_digest(self.state.encode(), state.encode())
        return hmac.compare_digest(self.nonce.encode(), nonce.encode()) and same


class PendingSealer:
    """Pending hand-offs to cookies and back, under a key that hangs on the instance key and never on the DEK."""

    def __init__(self, key: ServiceKey) -> None:
        self._sealer = Sealer(key)

    def begin(self, purpose: Purpose, next_path: str, now: int, session: str = "") -> Pending:
        """A new hand-off; a path that leads elsewhere, or is overlong, leads to the start page instead."""
        next_path = local_path(next_path)
        fits = len(json.dumps(next_path)) <= _MAX_NEXT
        return Pending(purpose, next_path if fits else "/", now + PENDING_SECONDS, session)

    def seal(self, pending: Pending) -> str:
        """The cookie's value."""
        sealed = self._sealer.seal(json.dumps(asdict(pending)).encode(), _CONTEXT)
        return base64.urlsafe_b64encode(sealed).decode()

    def open(self, cookie: str, now: int) -> Pending | None:
        """What a cookie holds; None where it is not ours or its ten minutes are over."""
        try:
            values = json.loads(self._sealer.open(base64.b64decode(cookie, altchars=b"-_", validate=True), _CONTEXT))
            pending = Pending(**(values | {"purpose": Purpose(values["purpose"])}))
        except (SealError, Base64Error, ValueError, TypeError, KeyError):  # the last two: sealed by another version
            return None
        return pending if now < pending.expires else None
