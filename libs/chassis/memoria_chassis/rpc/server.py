"""The gRPC server: who calls, may they, by when, and one place where errors become statuses."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from memoria_chassis import log, metrics
from memoria_chassis.activity import Activity
from memoria_chassis.config import Settings
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc import deadline
from memoria_chassis.rpc.allow import TOKEN_KEY, AllowList, Callers, UnknownCaller
from memoria_chassis.rpc.client import MAX_MESSAGE, tls_files
from memoria_chassis.rpc.status import OURS, UNKNOWN_CALLER, code_of

_DRAIN_BYTES = 64 * 1024 * 1024  # twice the largest file
_DRAIN_SECONDS = 2.0

Behaviour = Callable[[Any, grpc.aio.ServicerContext], Awaitable[Any]]
Parse = Callable[[bytes], Any]


class Guard(grpc.aio.ServerInterceptor):
    """Wraps every handler: identify the caller, check the allow-list, start the deadline, map errors, count."""

    def __init__(self, callers: Callers, allow: AllowList, activity: Activity) -> None:
        self._callers = callers
        self._allow = allow
        self._activity = activity

    async def intercept_service(self, continuation: Any, details: grpc.HandlerCallDetails) -> Any:
        """Replace the handler's behaviour with the guarded one. A streaming reply has no handler here: refused."""
        handler = await continuation(details)
        if handler is None:
            return None
        token = next((value for key, value in details.invocation_metadata if key == TOKEN_KEY), None)
        if handler.unary_unary:
            behaviour, make = handler.unary_unary, grpc.unary_unary_rpc_method_handler
        elif handler.stream_unary:
            behaviour, make = handler.stream_unary, grpc.stream_unary_rpc_method_handler
        else:
            return None
        guarded = self._guard(behaviour, details.method, token, handler.request_deserializer)
        # The bytes as they are: nothing is parsed before it is known who sent it, and what cannot be parsed is theirs.
        return make(guarded, None, handler.response_serializer)

    def _guard(self, behaviour: Behaviour, path: str, token: str | None, parse: Parse) -> Behaviour:
        method = path.rpartition("/")[2]

        async def guarded(request: Any, context: grpc.aio.ServicerContext) -> Any:
            began = time.perf_counter()
            kind = "cancelled"  # until it has ended otherwise: a caller that goes away raises through all of this
            try:
                with self._activity.request():
                    self._allow.check(path, self._callers.identify(token))
                    left = context.time_remaining()
                    if left is None:
                        raise ServiceError(Kind.INVALID, "a call needs a deadline")
                    deadline.start(left)
                    reply = await behaviour(_parsed(request, parse), context)
                kind = "ok"
                return reply
            except ServiceError as error:
                kind = error.kind.value
                if error.kind is Kind.INTERNAL:
                    log.get_logger().error("request failed", method=method, kind=kind, exc_info=error)
                await _drain(request)
                mark = UNKNOWN_CALLER if isinstance(error, UnknownCaller) else OURS
                await context.abort(code_of(error.kind), error.message, (mark,))
            except Exception as error:
                kind = Kind.INTERNAL.value
                log.get_logger().error("request failed", method=method, kind=kind, exc_info=error)
                await _drain(request)
                await context.abort(grpc.StatusCode.INTERNAL, "an internal error; the log has its trace", (OURS,))
            finally:
                metrics.observe_rpc(method, kind, time.perf_counter() - began)

        return guarded


def _parsed(request: Any, parse: Parse) -> Any:
    """A message, or a stream of them, from its bytes. Raises INVALID."""
    if not hasattr(request, "__aiter__"):
        return _message(request, parse)

    async def messages() -> AsyncIterator[Any]:
        async for raw in request:
            yield _message(raw, parse)

    return messages()


def _message(raw: bytes, parse: Parse) -> Any:
    try:
        return parse(raw)
    except DecodeError:
        raise ServiceError(Kind.INVALID, "a message cannot be read") from None


async def _drain(request: Any) -> None:
    """Read on a little where the caller is still writing, and keep nothing.

    A caller whose write fails because the call has ended does not hear how it ended: gRPC reports the failed write in
    its place, and a refusal with its reason would arrive as "cannot be reached".
    """
    if not hasattr(request, "__aiter__"):
        return
    size = 0
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for message in request:
                size += len(message)
                if size > _DRAIN_BYTES:
                    return
    except (TimeoutError, grpc.RpcError, asyncio.InvalidStateError):
        return  # gone, or too slow: then it hears what it hears


def make_server(callers: Callers, allow: AllowList, activity: Activity) -> grpc.aio.Server:
    """A server that guards everything added to it."""
    options = [
        ("grpc.max_receive_message_length", MAX_MESSAGE),
        ("grpc.max_send_message_length", MAX_MESSAGE),
        ("grpc.so_reuseport", 0),
    ]
    return grpc.aio.server(interceptors=[Guard(callers, allow, activity)], options=options)


def bind(server: grpc.aio.Server, settings: Settings, service: str) -> None:
    """Listen where the settings say. TCP takes mutual TLS or nothing. Raises PRECONDITION."""
    address = settings.address_of(service)
    try:
        if address.startswith("unix:"):
            server.add_insecure_port(address)
            return
        cert, key, ca = tls_files(settings)
        credentials = grpc.ssl_server_credentials([(key, cert)], root_certificates=ca, require_client_auth=True)
        server.add_secure_port(address, credentials)
    except RuntimeError:
        raise ServiceError(
            Kind.PRECONDITION,
            "cannot listen at the address of rpc.addresses: taken, no such folder, or a socket path above 107 bytes",
        ) from None
