"""Small ASGI wrappers for faults that lie in bytes rather than in answers."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoria_contract.codec import JSON
from memoria_contract.types import SCOPES

Json = Any
Around = Callable[[ASGIApp], ASGIApp]
Changed = tuple[Scope, bytes] | tuple[int, bytes]
"""Another request, or (status, body) to answer at once."""

INVALID = json.dumps({"code": "invalid_argument", "message": "no"}).encode()


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole reply: its status, its content type and its body. Other headers stay as they are."""

    status: int
    kind: bytes
    body: bytes


def whole_replies(change: Callable[[str, Whole], Whole]) -> Around:
    """Every reply goes through `change(method, reply)`."""

    def around(app: ASGIApp) -> ASGIApp:
        async def changed(scope: Scope, receive: Receive, send: Send) -> None:
            started: Message = {}
            body = b""

            async def hold(message: Message) -> None:
                nonlocal started, body
                if message["type"] == "http.response.start":
                    started = message
                    return
                body += message.get("body", b"")
                if message.get("more_body"):
                    return
                headers = dict(started["headers"])
                reply = change(method_of(scope), Whole(started["status"], headers.get(b"content-type", b""), body))
                headers |= {b"content-type": reply.kind, b"content-length": str(len(reply.body)).encode()}
                await send({**started, "status": reply.status, "headers": list(headers.items())})
                await send({"type": "http.response.body", "body": reply.body})

            await app(scope, receive, hold)

        return changed

    return around


def replies(change: Callable[[str, Json], Json]) -> Around:
    """Every JSON reply of status 200 goes through `change(method, document)`."""

    def changed(method: str, reply: Whole) -> Whole:
        if reply.status != 200 or reply.kind != JSON.encode():
            return reply
        return replace(reply, body=json.dumps(change(method, json.loads(reply.body))).encode())

    return whole_replies(changed)


def requests(change: Callable[[Scope, bytes], Changed]) -> Around:
    """Every request goes through `change(scope, body)`: another request, or (status, body) to answer at once."""

    def around(app: ASGIApp) -> ASGIApp:
        async def changed(scope: Scope, receive: Receive, send: Send) -> None:
            body = b""
            while True:
                message = await receive()
                body += message.get("body", b"")
                if not message.get("more_body"):
                    break
            first, rest = change(scope, body)
            if isinstance(first, int):
                headers = [(b"content-type", b"application/json"), (b"location", b"/elsewhere")]
                await send({"type": "http.response.start", "status": first, "headers": headers})
                await send({"type": "http.response.body", "body": rest})
                return

            async def again() -> Message:
                return {"type": "http.request", "body": rest, "more_body": False}

            await app(first, again, send)

        return changed

    return around


def headers_of(scope: Scope) -> dict[bytes, bytes]:
    """The request's headers; the last of a name counts."""
    return dict(scope["headers"])


def with_headers(scope: Scope, **values: str) -> Scope:
    """The scope with these headers in the place of those of the same name; `_` reads as `-`."""
    new = {key.replace("_", "-").encode(): value.encode() for key, value in values.items()}
    kept = [(key, value) for key, value in scope["headers"] if key not in new]
    return {**scope, "headers": [*kept, *new.items()]}


def method_of(scope: Scope) -> str:
    """The last part of the path."""
    return str(scope["path"].rpartition("/")[2])


def let_in(admits: Callable[[str], bool], call: str = "") -> Around:
    """A right token takes the place of an Authorization header that `admits` likes; of one call, or of all."""

    def change(scope: Scope, body: bytes) -> Changed:
        method = method_of(scope)
        shown = headers_of(scope).get(b"authorization", b"").decode("latin-1")
        if (call and method != call) or not admits(shown):
            return scope, body
        token = "pull-token" if method in SCOPES["pull"] else "ask-token"
        return with_headers(scope, authorization=f"Bearer {token}"), body

    return requests(change)


def not_in(content_type: str, call: str = "") -> Around:
    """What comes in this content type is refused; of one call, or of all."""

    def change(scope: Scope, body: bytes) -> Changed:
        shown = headers_of(scope).get(b"content-type") == content_type.encode()
        return (415, INVALID) if shown and call in ("", method_of(scope)) else (scope, body)

    return requests(change)
