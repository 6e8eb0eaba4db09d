"""Sends requests to the sibling as they are, wrong ones too: over the network, or into an ASGI app of this process."""

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx

REPLY_LIMIT = 16 * 1024 * 1024
"""Bytes of a reply that are read; a sibling that sends more has failed whatever was asked."""

_ORIGIN = re.compile(r"https?://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?/?")

_VARIES = re.compile(r"^(date|content-length|age|x-response-time|server-timing)$|request-id|correlation|trace")
"""Headers whose value is of the moment and not of the item; that one is there still counts."""

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request. `cut` sends half of the body under the whole length, then closes the sending side."""

    path: str
    headers: Headers
    body: bytes = b""
    verb: str = "POST"
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP reply, headers in lower case."""

    status: int
    headers: Headers = field(repr=False)
    body: bytes = field(repr=False)

    def comparable_head(self) -> bytes:
        """Status and headers as far as they may tell one reply from another of the same kind."""
        told = sorted((key, "" if _VARIES.search(key) else value) for key, value in self.headers)
        return f"{self.status} {told} ".encode()

    def header(self, name: str) -> str:
        """The first header of this name, or ""."""
        return next((value for key, value in self.headers if key == name), "")


class NoReply(Exception):
    """No whole reply came. `connected` is false where nobody listens."""

    def __init__(self, reason: str, connected: bool = True) -> None:
        super().__init__(reason)
        self.connected = connected


class Channel(Protocol):
    """A way to the sibling."""

    origin: str
    network: bool

    async def send(self, request: Request) -> Reply:
        """The reply, or NoReply."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class _Httpx:
    def __init__(self, origin: str, transport: httpx.AsyncBaseTransport | None, timeout: float) -> None:
        self.origin, self._timeout = origin.rstrip("/"), timeout
        self._client = httpx.AsyncClient(transport=transport, timeout=timeout, follow_redirects=False, trust_env=False)
        self._client.headers.clear()  # what is sent is what the case says, and nothing that httpx likes to add

    async def send(self, request: Request) -> Reply:
        """The reply, or NoReply."""
        url, host, extensions = _dial(self.origin + request.path)
        headers = [("Host", host), *request.headers]
        built = self._client.build_request(
            request.verb, url, headers=headers, content=request.body, extensions=extensions
        )
        try:
            async with asyncio.timeout(self._timeout):
                reply = await self._client.send(built, stream=True)
                try:
                    body = bytearray()
                    async for part in reply.aiter_raw():
                        body += part
                        if len(body) > REPLY_LIMIT:
                            raise NoReply(f"the reply is larger than {REPLY_LIMIT} bytes")
                finally:
                    await reply.aclose()
        except (TimeoutError, httpx.TimeoutException):
            raise NoReply(f"no whole reply within {self._timeout:g} s") from None
        except httpx.ConnectError as error:
            tls = "certificate" in str(error).lower() or "ssl" in str(error).lower()
            raise NoReply("TLS could not be agreed on" if tls else "nobody listens there", connected=False) from None
        except httpx.HTTPError as error:
            raise NoReply(f"the connection broke ({type(error).__name__})") from None
        pairs = ((key.decode("latin-1").lower(), value.decode("latin-1")) for key, value in reply.headers.raw)
        return Reply(reply.status_code, tuple(pairs), bytes(body))

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.aclose()


class NetworkChannel(_Httpx):
    """Over HTTP. `*.localhost` is the loopback without asking DNS (RFC 6761)."""

    network = True

    def __init__(self, origin: str, timeout: float = 10.0) -> None:
        """ValueError for what is not scheme://host[:port]."""
        match = _ORIGIN.fullmatch(origin)
        if match is None or int(match[1] or 0) > 65535:
            raise ValueError("the URL must be scheme://host[:port], with http or https, and nothing more")
        super().__init__(origin, None, timeout)

    async def send(self, request: Request) -> Reply:
        """The reply, or NoReply; a `cut` request goes over a connection of its own."""
        if not request.cut:
            return await super().send(request)
        return await self._cut(request)

    async def _cut(self, request: Request) -> Reply:
        url, host, extensions = _dial(self.origin)
        lines = [f"{request.verb} {request.path} HTTP/1.1", f"Host: {host}", f"Content-Length: {len(request.body)}"]
        head = "\r\n".join([*lines, *(f"{key}: {value}" for key, value in request.headers), "", ""])
        writer = None
        try:
            async with asyncio.timeout(self._timeout):
                reader, writer = await asyncio.open_connection(
                    url.host,
                    url.port or (443 if url.scheme == "https" else 80),
                    ssl=url.scheme == "https",
                    server_hostname=extensions.get("sni_hostname"),
                )
                writer.write(head.encode("latin-1") + request.body[: len(request.body) // 2])
                await writer.drain()
                if url.scheme == "http":
                    writer.write_eof()  # TLS cannot be half closed here: there the length stays unmet until the end
                first = await reader.readline()
                parts = first.split()
                if len(parts) < 2 or not parts[1].isdigit():
                    raise NoReply("the connection was closed without a reply")
                return Reply(int(parts[1]), (), b"")
        except (TimeoutError, OSError, ValueError):
            raise NoReply("the connection was closed without a reply") from None
        finally:
            if writer is not None:
                writer.close()


class AsgiChannel(_Httpx):
    """Into an ASGI app of this process."""

    network = False

    def __init__(self, app: Any, origin: str = "http://sibling.localhost", timeout: float = 10.0) -> None:
        super().__init__(origin, httpx.ASGITransport(app, raise_app_exceptions=False), timeout)


def _dial(url: str) -> tuple[httpx.URL, str, dict[str, Any]]:
    """(the URL to dial, the Host header, httpx extensions)."""
    parsed = httpx.URL(url)
    host = parsed.netloc.decode()
    if parsed.host == "localhost" or parsed.host.endswith(".localhost"):
        return parsed.copy_with(host="127.0.0.1"), host, {"sni_hostname": parsed.host}
    return parsed, host, {}
