"""Assertions of the home: a JWS in compact form (RFC 7515), checked against the pinned keys and claim by claim.

What the field calls a JWT (RFC 7519). It is refused in one sentence whatever is wrong with it, so that nobody learns
from the answer which of the checks stopped them.
"""

import base64
import json
import re
import warnings
from collections.abc import Callable
from datetime import datetime
from typing import Any

from joserfc import jws
from joserfc.errors import JoseError, SecurityWarning
from joserfc.jwk import ECKey, OKPKey

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.home.model import Assertion, Rejected

MAX_BYTES = 8 * 1024
LIFETIME_SECONDS = 300
SKEW_SECONDS = 30  # a home's clock may be ahead of ours by so much; what has expired here has expired
_ALGORITHMS = {"OKP": ("EdDSA", "Ed25519"), "EC": ("ES256",)}  # EdDSA: its older name, which most libraries write
# The library warns at every use of that name (RFC 9864); a home may not know the new one yet.
warnings.filterwarnings("ignore", "EdDSA is deprecated", SecurityWarning)
_COMPACT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)
_NAME = re.compile(r"[!-~]{1,256}")
_NONCE = re.compile(r"[\w-]{43}", re.ASCII)


class Verifier:
    """Knows the issuer, whom it must be speaking to, and its keys."""

    def __init__(self, issuer: str, consumer_id: str, keys_base64: str) -> None:
        """`keys_base64`: a JWK set (RFC 7517) of public Ed25519 and P-256 keys, each with a `kid`. Raises INVALID."""
        self._issuer = issuer
        self._consumer_id = consumer_id
        self._keys = _keys(keys_base64)

    def verify(self, token: str, now: datetime) -> Assertion:
        """The assertion. Raises Rejected. That it is new, and this browser's, is for others to check."""
        return self._claims(self._payload(token), int(now.timestamp()))

    def _payload(self, token: str) -> dict[str, Any]:
        if len(token) > MAX_BYTES or not _COMPACT.fullmatch(token):
            raise Rejected
        header = _object(_decode(token.partition(".")[0]))
        # Nothing but these: a key or an address of one that travels in the header is the sender's word for itself.
        if not header.keys() <= {"alg", "kid", "typ"} or header.get("typ", "JWT") != "JWT":
            raise Rejected
        kid = header.get("kid")
        key = self._keys.get(kid) if isinstance(kid, str) else None
        if key is None:
            raise Rejected
        try:  # by the algorithms of the pinned key's kind, whatever the header says
            signed = jws.deserialize_compact(token, key, algorithms=list(_ALGORITHMS[key.key_type]))
        except (JoseError, ValueError, TypeError):
            raise Rejected from None
        return _object(signed.payload)

    def _claims(self, claims: dict[str, Any], now: int) -> Assertion:
        expires, issued, start = (_seconds(claims.get(name)) for name in ("exp", "iat", "nbf"))
        if claims.get("iss") != self._issuer or claims.get("aud") not in (self._consumer_id, [self._consumer_id]):
            raise Rejected
        if not now < expires <= issued + LIFETIME_SECONDS or max(issued, start) > now + SKEW_SECONDS:
            raise Rejected
        named = (_text(claims.get("sub"), _NAME), _text(claims.get("nonce"), _NONCE), _text(claims.get("jti"), _NAME))
        return Assertion(*named, expires)


def _keys(encoded: str) -> dict[str, ECKey | OKPKey]:
    refused = ServiceError(Kind.INVALID, "home.keys_base64 is not a base64 JWK set of public Ed25519 or P-256 keys")
    try:
        padded = "".join(encoded.split()).rstrip("=")
        found = _object(_decode(padded.translate(str.maketrans("+/", "-_"))))["keys"]
        keys: dict[str, ECKey | OKPKey] = {}
        for jwk in found:
            if "d" in jwk or not isinstance(jwk["kid"], str) or not _NAME.fullmatch(jwk["kid"]) or jwk["kid"] in keys:
                raise refused  # a private key has no business here, and two of one name leave open which is meant
            match jwk["kty"], jwk["crv"]:
                case "OKP", "Ed25519":
                    keys[jwk["kid"]] = OKPKey.import_key({name: jwk[name] for name in ("kty", "crv", "x")})
                case "EC", "P-256":
                    keys[jwk["kid"]] = ECKey.import_key({name: jwk[name] for name in ("kty", "crv", "x", "y")})
                case _:
                    raise refused
    except (JoseError, ServiceError, KeyError, TypeError, ValueError, AttributeError):
        raise refused from None
    if not keys:
        raise refused
    return keys


def _decode(part: str) -> bytes:
    try:
        return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise Rejected from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Two members of one name: which of them counts would depend on the parser (RFC 7515, 4).
    if len({name for name, _ in pairs}) != len(pairs):
        raise Rejected
    return dict(pairs)


def _object(data: bytes) -> dict[str, Any]:
    hook: Callable[[list[tuple[str, Any]]], dict[str, Any]] = _once
    try:
        found = json.loads(data.decode(), object_pairs_hook=hook)
    except (ValueError, RecursionError):
        raise Rejected from None
    if not isinstance(found, dict):
        raise Rejected
    return found


def _seconds(value: Any) -> int:
    if type(value) is not int or not 0 < value < 1 << 40:  # neither a bool nor a float that compares like one
        raise Rejected
    return value


def _text(value: Any, pattern: re.Pattern[str]) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise Rejected
    return value
