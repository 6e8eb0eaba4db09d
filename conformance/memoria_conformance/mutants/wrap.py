"""Small ASGI wrappers for faults that lie in bytes rather than in answers."""

import json
from collections.abc import Callable
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

Json = Any


def replies(change: Callable[[str, Json], Json]) -> Callable[[ASGIApp], ASGIApp]:
    """Every JSON reply of status 200 goes through `change(method, document)`."""

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
                is_json = (b"content-type", b"application/json") in started["headers"]
                if started["status"] == 200 and is_json:
                    body = json.dumps(change(scope["path"].rpartition("/")[2], json.loads(body))).encode()
                    headers = [(key, value) for key, value in started["headers"] if key != b"content-length"]
                    started = {**started, "headers": [*headers, (b"content-length", str(len(body)).encode())]}
                await send(started)
                await send({"type": "http.response.body", "body": body})

            await app(scope, receive, hold)

        return changed

    return around


def requests(change: Callable[[Scope, bytes], tuple[Scope, bytes] | tuple[int, bytes]]) -> Callable[[ASGIApp], ASGIApp]:
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
