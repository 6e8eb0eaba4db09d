"""A home that people sign in by: asks for no password, and has their browser post an assertion of a made-up person."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

LIFETIME_SECONDS = 120


def encode(data: bytes) -> str:
    """base64url without padding (RFC 7515, 2)."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@dataclass
class HomeIssuer:
    """Issues for one consumer, under a key made when it starts; only the public half is ever shown."""

    issuer: str
    consumer_id: str
    consumer_origin: str
    clock: Callable[[], float] = time.time  # seconds since the epoch
    subject: str = "person-1"
    key: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate, repr=False)

    @property
    def kid(self) -> str:
        """The key's name: a hash of it."""
        return hashlib.sha256(self.key.public_key().public_bytes_raw()).hexdigest()[:16]

    def keys_base64(self) -> str:
        """The JWK set that a consumer pins (RFC 7517, RFC 8037)."""
        public = encode(self.key.public_key().public_bytes_raw())
        jwk = {"kty": "OKP", "crv": "Ed25519", "x": public, "kid": self.kid}
        return base64.b64encode(json.dumps({"keys": [jwk]}).encode()).decode()

    def claims(self, nonce: str) -> dict[str, Any]:
        """What is asserted of the person who signs in."""
        now = int(self.clock())
        return {
            "iss": self.issuer,
            "aud": self.consumer_id,
            "sub": self.subject,
            "nonce": nonce,
            "jti": secrets.token_urlsafe(16),
            "iat": now,
            "nbf": now,
            "exp": now + LIFETIME_SECONDS,
        }

    def sign(self, payload: bytes, header: dict[str, Any] | None = None) -> str:
        """A JWS in compact form. `header` replaces the one that belongs there."""
        protected = {"alg": "EdDSA", "kid": self.kid, "typ": "JWT"} if header is None else header
        signed = f"{encode(json.dumps(protected).encode())}.{encode(payload)}"
        return f"{signed}.{encode(self.key.sign(signed.encode()))}"

    def assertion(self, nonce: str, /, **changes: Any) -> str:
        """A signed assertion; a change to None leaves the claim out."""
        claims = self.claims(nonce) | changes
        return self.sign(json.dumps({name: value for name, value in claims.items() if value is not None}).encode())

    def app(self) -> Starlette:
        """GET /authorize, POST /signout."""

        async def authorize(request: Request) -> Response:
            asked = request.query_params
            if asked.get("consumer_id") != self.consumer_id:
                return PlainTextResponse("There is no such consumer.\n", 400)
            fields = {"assertion": self.assertion(asked.get("nonce", "")), "state": asked.get("state", "")}
            inputs = "".join(f'<input type="hidden" name="{n}" value="{escape(v)}">' for n, v in fields.items())
            target = escape(f"{self.consumer_origin}/auth/assertion")
            # A button and no script; and no `no-referrer`, under which browsers send `Origin: null`.
            form = f'<form method="post" action="{target}">{inputs}<button>Go on</button></form>'
            page = f"<!doctype html><title>Home</title>{form}"
            return HTMLResponse(page, headers={"Cache-Control": "no-store", "Referrer-Policy": "strict-origin"})

        async def signout(_: Request) -> Response:
            return RedirectResponse(f"{self.consumer_origin}/signed-out", 303)

        return Starlette(
            routes=[Route("/authorize", authorize, methods=["GET"]), Route("/signout", signout, methods=["POST"])]
        )
