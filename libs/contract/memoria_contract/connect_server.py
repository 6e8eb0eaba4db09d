"""Serves one protobuf service over the Connect protocol's unary form, as an ASGI app."""

import asyncio
import inspect
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any

from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.codec import JSON, PROTO, MalformedBody, decode, encode, encode_error, media_type, status_of

REQUEST_LIMIT = 1024 * 1024
"""Bytes of a request that are read before it is refused: 256 pairs with generous ids are 60 kB."""

Authenticate = Callable[[Headers, str], Any]
"""(headers, method name) -> the caller, or raises ServiceError(UNAUTHENTICATED or REFUSED). May be async."""

_SINGLE = ("authorization", "content-type", "content-encoding", "content-length", "connect-timeout-ms")
_TIMEOUT = re.compile(r"[0-9]{1,10}")
_log = logging.getLogger("memoria.connect")


class _Refusal(Exception):
    def __init__(self, status: int, error: ServiceError, headers: dict[str, str] | None = None) -> None:
        self.status, self.error, self.headers = status, error, headers or {}


class _Call:
    """One method: its messages and the coroutine that answers it."""

    def __init__(self, method: MethodDescriptor, implementation: object) -> None:
        self.name = method.name
        self.request_type: type[Message] = GetMessageClass(method.input_type)
        self.answer: Callable[[Any, Any], Awaitable[Message]] = getattr(implementation, snake_case(method.name))


def snake_case(name: str) -> str:
    """`ListChanges` → `list_changes`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def connect_app(
    service: ServiceDescriptor, implementation: object, *, authenticate: Authenticate, limit: int = REQUEST_LIMIT
) -> ASGIApp:
    """An ASGI app that answers `POST /pkg.Service/Method` with `implementation.method_in_snake_case(request, caller)`.

    Everything is refused before it costs: the method, the verb, the caller, the headers, then the size of the body,
    then its form. Whatever an implementation raises besides ServiceError is answered `internal` with a fixed sentence.
    Never redirects, never decompresses. AttributeError at once where the implementation lacks a method.
    """
    calls = {f"/{service.full_name}/{method.name}": _Call(method, implementation) for method in service.methods}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        try:
            response = await _answer(calls, request, authenticate, limit)
        except _Refusal as refusal:
            response = _error(refusal.error, refusal.status, refusal.headers)
        except ServiceError as error:
            response = _error(error, status_of(error.kind))
        except ClientDisconnect:
            return  # nobody is left to answer
        except Exception as error:
            # The class alone: a message or a traceback could hold what the request held (TRU-06).
            _log.error("a call failed unexpectedly (%s)", type(error).__name__)
            response = _error(ServiceError(Kind.INTERNAL, "internal error"), 500)
        await response(scope, receive, send)

    return app


async def _answer(calls: dict[str, _Call], request: Request, authenticate: Authenticate, limit: int) -> Response:
    call = calls.get(request.scope["path"])
    if call is None:
        raise _Refusal(404, ServiceError(Kind.UNIMPLEMENTED, "no such method"))
    if request.method != "POST":
        raise _Refusal(405, ServiceError(Kind.UNIMPLEMENTED, "only POST is answered"), {"Allow": "POST"})
    headers = request.headers
    for name in _SINGLE:
        if len(headers.getlist(name)) > 1:
            raise ServiceError(Kind.INVALID, "a header that may appear once appears twice")
    caller = authenticate(headers, call.name)
    if inspect.isawaitable(caller):
        caller = await caller
    content_type = media_type(headers.get("content-type"))
    if content_type not in (PROTO, JSON):
        raise _Refusal(415, ServiceError(Kind.INVALID, "unknown content type"), {"Accept-Post": f"{PROTO}, {JSON}"})
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise ServiceError(Kind.UNIMPLEMENTED, "compressed requests are not accepted")
    if headers.get("connect-protocol-version", "1") != "1":
        raise ServiceError(Kind.INVALID, "unknown protocol version")
    try:
        async with asyncio.timeout(_timeout(headers)):
            body = await _read(request, limit)
            try:
                message = decode(call.request_type, body, content_type)
            except MalformedBody:
                raise ServiceError(Kind.INVALID, "the body is not the request message") from None
            reply = await call.answer(message, caller)
    except TimeoutError:
        raise ServiceError(Kind.DEADLINE, "the time allowed is up") from None
    return Response(encode(reply, content_type), media_type=content_type, headers={"Cache-Control": "no-store"})


def _timeout(headers: Headers) -> float | None:
    """Seconds the caller allows (Connect-Timeout-Ms), or None."""
    text = headers.get("connect-timeout-ms")
    if text is None:
        return None
    if _TIMEOUT.fullmatch(text) is None:
        raise ServiceError(Kind.INVALID, "the time-out is not a number of milliseconds")
    return int(text) / 1000


async def _read(request: Request, limit: int) -> bytes:
    """The body, if it is at most `limit` bytes by its own word and by count."""
    too_large = ServiceError(Kind.EXHAUSTED, "the request is too large")
    length = request.headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit() or len(length) > 20:
        raise ServiceError(Kind.INVALID, "the length is not a number")
    if int(length) > limit:
        raise too_large
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise too_large
        parts.append(part)
    return b"".join(parts)


def _error(error: ServiceError, status: int, headers: dict[str, str] | None = None) -> Response:
    return Response(
        encode_error(error), status, media_type=JSON, headers={"Cache-Control": "no-store", **(headers or {})}
    )
