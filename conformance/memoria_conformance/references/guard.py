"""What the connectrpc package lets through and the contract does not, refused before the package is asked."""

import json

from starlette.types import ASGIApp, Receive, Scope, Send

_CONTENT_TYPES = frozenset({b"application/json", b"application/proto"})
_ONCE = frozenset({b"authorization", b"content-type", b"content-encoding", b"content-length", b"connect-timeout-ms"})


class Guard:
    """Around an ASGI app: POST only, one header of a kind, no compression, and the two content types of unary calls.

    The package also speaks gRPC, gRPC-Web and compressed bodies, and joins a header that comes twice.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        names = [name.lower() for name, _ in scope["headers"]]
        headers = dict(zip(names, (value for _, value in scope["headers"]), strict=True))
        media, _, parameters = headers.get(b"content-type", b"").lower().partition(b";")
        if scope["method"] != "POST":
            await _refuse(send, 405, "unimplemented", "only POST is answered", (b"allow", b"POST"))
        elif any(names.count(name) > 1 for name in _ONCE):
            await _refuse(send, 400, "invalid_argument", "a header that may appear once appears twice")
        elif not all(value.isascii() for value in headers.values()):
            await _refuse(send, 400, "invalid_argument", "headers are ASCII")
        elif media.strip() not in _CONTENT_TYPES or parameters.strip() not in (b"", b"charset=utf-8"):
            await _refuse(send, 415, "invalid_argument", "unknown content type")
        elif headers.get(b"content-encoding", b"identity").strip().lower() != b"identity":
            await _refuse(send, 501, "unimplemented", "compressed requests are not accepted")
        else:
            await self._app(scope, receive, send)


async def _refuse(send: Send, status: int, code: str, message: str, *headers: tuple[bytes, bytes]) -> None:
    body = json.dumps({"code": code, "message": message}).encode()
    length = (b"content-length", str(len(body)).encode())
    head = [(b"content-type", b"application/json"), length, *headers]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})
