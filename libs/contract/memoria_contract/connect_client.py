"""The one constructor of clients for siblings and the home: host rule, no redirects, capped bodies (CON-19, G11)."""

import asyncio
import functools
import re
from collections.abc import Callable
from typing import Any, Self, TypeVar

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import RawResponseMessage
from google.protobuf.message import Message
from yarl import URL

from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.codec import ENCODINGS, JSON, MalformedBody, decode, encode, error_kind, media_type
from memoria_contract.hosts import Origin, check_sibling_url
from memoria_contract.limits import CONTENT_BYTES, REPLY_BYTES
from memoria_contract.resolver import LoopbackResolver

MessageT = TypeVar("MessageT", bound=Message)

REPLY_LIMIT = REPLY_BYTES
CONTENT_LIMIT = CONTENT_BYTES

_ERROR_LIMIT = 64 * 1024
_WIRE_LIMIT = 2 * CONTENT_LIMIT  # bytes that one question brings, framing included: what is thrown away costs time too
_INTERIM = 4  # an ordinary server sends none to a request without Expect
_POOL = 16  # one search asks a sibling once, rarely twice (over 256 pairs); the rest is room for many readers at once
_KEEPALIVE = 4.0  # seconds; below uvicorn's 5, or the two ends race to close and a question is lost

_SENTENCE = {
    Kind.INVALID: "the app says the request is wrong",
    Kind.UNAUTHENTICATED: "the app does not accept our token",
    Kind.REFUSED: "the app refuses this call to us",
    Kind.NOT_FOUND: "the app has no such item",
    Kind.CONFLICT: "the app reports a conflict",
    Kind.PRECONDITION: "the app says a precondition failed",
    Kind.TOO_LARGE: "the app says a value is out of range",
    Kind.EXHAUSTED: "the app says the request is too much",
    Kind.UNIMPLEMENTED: "the app does not serve this call",
    Kind.UNAVAILABLE: "the app is unavailable",
    Kind.DEADLINE: "the app did not answer in time",
    Kind.INTERNAL: "the app failed",
}
"""Ours, because the app's own sentence could hold anything, and would end up in a log or on a page."""

_TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")


def _checked(token: str) -> str:
    """Raises INVALID: what stands in a header must not end it."""
    if _TOKEN.fullmatch(token) is None:
        raise ServiceError(Kind.INVALID, "an app's token must be printable ASCII without spaces")
    return token


def _malformed() -> ServiceError:
    return ServiceError(Kind.UNAVAILABLE, "malformed reply")


class _OneReply(ResponseHandler):
    """A connection on which a question has one reply, a few interim ones (1xx) before it, and nothing is said unasked.

    aiohttp takes in whatever arrives, in the pool too, and gives it to the next question: an app could answer before it
    is asked (RUL-01), one person's answer could reach another, and what is never read would fill memory. Interim ones
    it skips without letting go of the event loop, which would cost every other app's answer its time.

    What has arrived unread when a question is sent counts as its answer: it cannot be told from a fast one. It is the
    only one, and shifts nothing to the next question.
    """

    _answered = True  # there is no question open
    _interim = _received = 0

    def set_response_params(self, **params: Any) -> None:
        """Called before each question is sent."""
        super().set_response_params(**params)
        self._answered, self._interim, self._received = False, 0, 0

    def data_received(self, data: bytes) -> None:
        """Hangs up where nothing is due, which is behind the end of a reply and before a question, and on a flood."""
        self._received += len(data)
        if data and self._answered and (self._payload is None or self._payload.is_eof()):
            self._hang_up()
        elif self._received > _WIRE_LIMIT:
            self._refuse("too much for one reply")
        else:
            super().data_received(data)

    def feed_data(self, data: tuple[RawResponseMessage, aiohttp.StreamReader], size: int = 0) -> None:
        """Called with the head of each reply, in order."""
        if 100 <= data[0].code < 200 and data[0].code != 101:
            self._interim += 1
            if self._interim > _INTERIM:
                self._refuse("too many interim replies")
        else:
            self._answered = True
            super().feed_data(data, size)  # one that came in one piece with another makes aiohttp close behind both

    def _refuse(self, why: str) -> None:
        error = aiohttp.ClientPayloadError(why)
        self.set_exception(error)
        if self._payload is not None:
            self._payload.set_exception(error)
        self._hang_up()

    def _hang_up(self) -> None:
        self.force_close()
        if self.transport is not None:
            self.transport.abort()


class _Connector(aiohttp.TCPConnector):
    """A pool of such connections."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit=limit, keepalive_timeout=_KEEPALIVE, resolver=LoopbackResolver(), ttl_dns_cache=10)
        self._factory = functools.partial(_OneReply, loop=self._loop)  # type: ignore[assignment] # partial is invariant


class ConnectClient:
    """Calls one app of our team. Every client of a sibling or of the home is made here (CON-19).

    Raises ServiceError(INVALID or REFUSED) for a URL that is not `<team>.<app>.<zone>`. Calls raise ServiceError only.
    Holds one connection pool; close it, or use it as an async context manager.
    """

    def __init__(
        self,
        base_url: str,
        token: str | Callable[[], str],
        *,
        team: str,
        zone: str,
        app: str,
        encoding: str = "proto",
        pool: int = _POOL,
    ) -> None:
        """`token`: itself, or what gives the one of now, so that it can be rotated while calls go on (CON-17)."""
        self.origin: Origin = check_sibling_url(base_url, team, zone, app)
        self._token: Callable[[], str] = token if callable(token) else lambda: token
        _checked(self._token())
        self.accepted = ""
        """The token that the app last answered a call with; empty before the first."""
        self._content_type = ENCODINGS[encoding]
        self._headers = {
            "Connect-Protocol-Version": "1",
            "Content-Type": self._content_type,
            "Accept-Encoding": "identity",
            "User-Agent": "memoria",
        }
        self._pool = pool
        self._urls: dict[str, URL] = {}
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    def __repr__(self) -> str:
        return f"ConnectClient({self.origin.host})"  # never the token

    async def call(
        self,
        service_method: str,
        request: Message,
        response_type: type[MessageT],
        timeout: float,
        *,
        limit: int = REPLY_LIMIT,
    ) -> MessageT:
        """One unary call, `pkg.Service/Method`; `timeout` in seconds bounds all of it, slow drips included.

        Raises ServiceError: DEADLINE when time is up, UNAVAILABLE for a redirect, a refused connection and every reply
        that is not what it should be, otherwise the app's own kind under our own sentence.
        """
        if timeout <= 0:
            raise ServiceError(Kind.DEADLINE, _SENTENCE[Kind.DEADLINE])
        body = encode(request, self._content_type)
        try:
            async with asyncio.timeout(timeout):
                try:
                    return await self._once(service_method, body, response_type, timeout, limit)
                except aiohttp.ClientConnectorError:
                    raise  # nobody listens, and asking again would not help
                except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                    # An idle connection of the pool was closed under us. Every call of the contract is a read, so
                    # asking again is safe; once, within the same deadline.
                    return await self._once(service_method, body, response_type, timeout, limit)
        except TimeoutError:
            raise ServiceError(Kind.DEADLINE, _SENTENCE[Kind.DEADLINE]) from None
        except aiohttp.ClientConnectionError:
            raise ServiceError(Kind.UNAVAILABLE, "the app could not be reached") from None
        except (aiohttp.ClientError, MalformedBody, ValueError):
            raise _malformed() from None  # their texts quote the reply

    async def _once(
        self, service_method: str, body: bytes, response_type: type[MessageT], timeout: float, limit: int
    ) -> MessageT:
        token = _checked(self._token())
        headers = {
            **self._headers,
            "Authorization": f"Bearer {token}",
            "Connect-Timeout-Ms": str(max(1, min(int(timeout * 1000), 9_999_999_999))),
        }
        async with self._open().post(
            self._url(service_method), data=body, headers=headers, allow_redirects=False
        ) as reply:
            if 300 <= reply.status < 400:
                reply.close()
                raise ServiceError(Kind.UNAVAILABLE, "redirect refused")
            if reply.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
                reply.close()  # unread: nothing of ours unpacks a body, so no body can unpack into a bomb
                raise _malformed()
            kind = media_type(reply.headers.get("Content-Type"))
            if reply.status != 200:
                raise self._error(reply.status, kind, await _read(reply, _ERROR_LIMIT))
            if kind != self._content_type:
                reply.close()
                raise _malformed()
            answer = decode(response_type, await _read(reply, limit), kind)
            self.accepted = token
            return answer

    def _error(self, status: int, content_type: str, body: bytes) -> ServiceError:
        if 200 < status < 300:
            return _malformed()
        kind = error_kind(status, JSON if content_type == JSON else "", body)
        return ServiceError(kind, _SENTENCE[kind])

    def _url(self, service_method: str) -> URL:
        url = self._urls.get(service_method)
        if url is None:
            url = self._urls[service_method] = URL(f"{self.origin.url}/{service_method}", encoded=True)
        return url

    def _open(self) -> aiohttp.ClientSession:
        if self._closed:
            raise ServiceError(Kind.UNAVAILABLE, "this client is closed")
        if self._session is None:  # here and not in __init__, for it belongs to the running loop
            self._session = aiohttp.ClientSession(
                connector=_Connector(self._pool),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),  # `call` keeps the one deadline
                auto_decompress=False,
                trust_env=False,  # no proxy, no .netrc: the host rule says where bytes go
            )
        return self._session

    async def close(self) -> None:
        """Close the pool; later calls raise ServiceError(UNAVAILABLE)."""
        self._closed = True
        if self._session is not None:
            await self._session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def _read(reply: aiohttp.ClientResponse, limit: int) -> bytes:
    """The whole body if it is at most `limit` bytes; counted while it arrives, whatever Content-Length says."""
    parts, size = [], 0
    async for part in reply.content.iter_any():
        size += len(part)
        if size > limit:
            reply.close()
            raise ServiceError(Kind.UNAVAILABLE, "the reply is too large")
        parts.append(part)
    return b"".join(parts)
