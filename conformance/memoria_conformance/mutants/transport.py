"""Faults of HTTP, encodings, tokens and Describe."""

import gzip
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace

from starlette.types import ASGIApp, Scope

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_conformance.consumers import Consumer, Consumers
from memoria_conformance.mutants.build import Mutant
from memoria_conformance.mutants.wrap import (
    INVALID,
    Around,
    Changed,
    Whole,
    headers_of,
    let_in,
    not_in,
    requests,
    whole_replies,
    with_headers,
)
from memoria_contract.codec import JSON, PROTO

_KNOWN = {"cursor", "pageToken", "subject", "items", "itemId", "revision", "function", "cells"}


def _get_served(scope: Scope, body: bytes) -> Changed:
    scope = {**scope, "method": "POST"}
    return (
        (scope, body)
        if b"content-type" in headers_of(scope)
        else (with_headers(scope, content_type="application/json"), body)
    )


def _any_content_type(scope: Scope, body: bytes) -> Changed:
    known = headers_of(scope).get(b"content-type") in (b"application/json", b"application/proto")
    return (scope, body) if known else (with_headers(scope, content_type="application/json"), body)


def _strict_fields(scope: Scope, body: bytes) -> Changed:
    try:
        unknown = set(json.loads(body)) - _KNOWN
    except (ValueError, TypeError, RecursionError):
        return scope, body
    return (400, INVALID) if unknown else (scope, body)


def _bad_is_empty(scope: Scope, body: bytes) -> Changed:
    if headers_of(scope).get(b"content-type") == b"application/json":
        try:
            json.loads(body)
        except ValueError:
            return scope, b"{}"
        return scope, body
    try:
        pb.AuthorizeRequest.FromString(body)
    except Exception:
        return scope, b""
    return scope, body


def _wrong_type_is_empty(scope: Scope, body: bytes) -> Changed:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return scope, body
    if isinstance(document, dict) and not isinstance(document.get("items", []), list):
        return scope, json.dumps({**document, "items": []}).encode()
    return scope, body


def _any_size(scope: Scope, body: bytes) -> Changed:
    if len(body) < 1_000_000:
        return scope, body
    small = json.dumps(json.loads(body)).encode()
    return with_headers(scope, content_length=str(len(small))), small


def _inflates(scope: Scope, body: bytes) -> Changed:
    if headers_of(scope).get(b"content-encoding") != b"gzip":
        return scope, body
    small = json.dumps(json.loads(gzip.decompress(body))).encode()
    return with_headers(scope, content_encoding="identity", content_length=str(len(small))), small


def _one_token(which: int) -> Callable[[Scope, bytes], Changed]:
    def change(scope: Scope, body: bytes) -> Changed:
        tokens = [value for key, value in scope["headers"] if key == b"authorization"]
        if len(tokens) < 2:
            return scope, body
        return with_headers(scope, authorization=tokens[which].decode("latin-1")), body

    return change


def _list_is_empty(scope: Scope, body: bytes) -> Changed:
    return scope, body if body.lstrip().startswith(b"{") or b"json" not in _content_type(scope) else b"{}"


def _content_type(scope: Scope) -> bytes:
    return headers_of(scope).get(b"content-type", b"")


def _redirects(scope: Scope, body: bytes) -> Changed:
    return (308, b"") if scope["path"].endswith("/") else (scope, body)


def _breaks_when_deep(app: ASGIApp) -> ASGIApp:
    broken = False

    def change(scope: Scope, body: bytes) -> Changed:
        nonlocal broken
        broken = broken or b"[[[[[[[[[[" in body
        return (500, b"") if broken else (scope, body)

    return requests(change)(app)


def _errors(change: Callable[[Whole], Whole]) -> Around:
    """Every error reply goes through `change`."""
    return whole_replies(lambda method, reply: reply if reply.status == 200 else change(reply))


class _ScopesIgnored(Consumers):
    def admit(self, authorization: str | None, method: str) -> Consumer:
        return super().admit(authorization, "Describe")


class _OldTokenDropped(Consumers):
    def add_token(self, consumer: str, scope: str, token: str) -> None:
        with self._store.transaction() as db:
            db.execute("delete from tokens where consumer = ?", (consumer,))
        super().add_token(consumer, scope, token)


class _NeverRetires(Consumers):
    def retire_others(self, consumer: str, token: str) -> None:
        if not token:  # the suite cleans up after itself, and the next case needs room
            super().retire_others(consumer, token)


class _TokenIsConsumer(Consumers):
    def admit(self, authorization: str | None, method: str) -> Consumer:
        consumer = super().admit(authorization, method)
        mark = hashlib.sha256((authorization or "").encode()).hexdigest()[:6]
        return Consumer(f"{consumer.name}.{mark}", consumer.scope)


class _RotationVoidsCursors(Consumers):
    def retire_others(self, consumer: str, token: str) -> None:
        super().retire_others(consumer, token)
        self.expire(None)


MUTANTS = (
    Mutant("get-served", "Other verbs than POST are served.", around=requests(_get_served)),
    Mutant("any-content-type", "Every body is read as JSON.", around=requests(_any_content_type)),
    Mutant("no-proto", "Binary is not understood.", around=not_in(PROTO)),
    Mutant("no-json", "JSON is not understood.", around=not_in(JSON)),
    Mutant("strict-fields", "Unknown fields are an error.", around=requests(_strict_fields)),
    Mutant("token-optional", "No token is needed.", around=let_in(lambda value: not value)),
    Mutant("any-token", "Any bearer token will do.", around=let_in(lambda value: value.startswith("Bearer x"))),
    Mutant("any-scheme", "Any scheme will do.", around=let_in(lambda value: value.startswith("Basic"))),
    Mutant("empty-bearer", "An empty token will do.", around=let_in(lambda value: value.strip() == "Bearer")),
    Mutant("scopes-ignored", "Every token is good for every call.", consumers=_ScopesIgnored),
    Mutant("bad-body-is-empty", "What does not parse is an empty message.", around=requests(_bad_is_empty)),
    Mutant("wrong-type-is-empty", "A field of another type is dropped.", around=requests(_wrong_type_is_empty)),
    Mutant("any-size", "A body of any size is read.", around=requests(_any_size)),
    Mutant("inflates", "A compressed body is unpacked to any size.", around=requests(_inflates)),
    Mutant("first-token-wins", "Of two tokens the first counts.", around=requests(_one_token(0))),
    Mutant("last-token-wins", "Of two tokens the last counts.", around=requests(_one_token(-1))),
    Mutant("breaks-when-deep", "A nested body ends the service.", around=_breaks_when_deep),
    Mutant("list-is-empty", "JSON that is no object is an empty message.", around=requests(_list_is_empty)),
    Mutant("redirects", "A trailing slash is redirected.", around=requests(_redirects)),
    Mutant(
        "plain-errors",
        "Errors are plain text.",
        around=_errors(lambda r: Whole(r.status, b"text/plain", b"that did not work")),
    ),
    Mutant("errors-with-400", "Every error has status 400.", around=_errors(lambda r: replace(r, status=400))),
    Mutant("errors-with-200", "Every error has status 200.", around=_errors(lambda r: replace(r, status=200))),
    Mutant("old-token-dropped", "A new token replaces the old one at once.", consumers=_OldTokenDropped),
    Mutant("never-retires", "A retired token still works.", consumers=_NeverRetires),
    Mutant("token-is-consumer", "A new token is a new consumer.", consumers=_TokenIsConsumer),
    Mutant("rotation-voids-cursors", "A rotation voids everybody's cursors.", consumers=_RotationVoidsCursors),
)
