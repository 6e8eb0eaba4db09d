"""Answers only under our own names, so that another site's name cannot be pointed at us (DNS rebinding)."""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

PROBES = frozenset({"/healthz", "/readyz", "/idle"})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


class OwnHosts:
    """Refuses a Host that is not the origin's; on a development origin every loopback name of ours will do."""

    def __init__(self, app: ASGIApp, *, origin: str, team: str, zone: str) -> None:
        self._app = app
        host = urlsplit(origin).hostname or ""
        self._hosts = {host}
        if host in _LOOPBACK or host.endswith(".localhost"):
            self._hosts |= _LOOPBACK | {f"{team}.memoria.{zone}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is addressed to us."""
        if scope["type"] == "http":
            host = Headers(scope=scope).get("host", "").lower()
            name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
            # Probes come by address, from the platform and not from a browser; their answers hold nothing.
            if name not in self._hosts and scope["path"] not in PROBES:
                await PlainTextResponse("This host is not served here.\n", 421)(scope, receive, send)
                return
        await self._app(scope, receive, send)
