"""One peer service, called with a token and a deadline, failing with ServiceError."""

import asyncio
from collections.abc import AsyncIterable, Callable
from typing import Any, cast

import grpc
from google.protobuf.message import Message

from memoria_chassis.config import Settings
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc.allow import TOKEN_KEY
from memoria_chassis.rpc.deadline import budget
from memoria_chassis.rpc.status import error_from

MAX_MESSAGE = 16 * 1024 * 1024
"""Bytes of one message between our services: a 2 MiB document with its chunks several times over."""


class Peer:
    """A channel to one service, shared by everything in this process that calls it."""

    def __init__(
        self,
        service: str,
        address: str,
        token: str | Callable[[], str],
        credentials: grpc.ChannelCredentials | None,
    ) -> None:
        self.service = service
        options = [
            ("grpc.max_receive_message_length", MAX_MESSAGE),
            ("grpc.max_send_message_length", MAX_MESSAGE),
            # A peer that `memoria up` restarts is back within a second; the default back-off would wait for minutes.
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 1000),
            ("grpc.enable_http_proxy", 0),
        ]
        if credentials is None:
            self.channel = grpc.aio.insecure_channel(address, options=options)
        else:
            self.channel = grpc.aio.secure_channel(address, credentials, options=options)
        self._token = token if callable(token) else lambda: token

    async def send(self, method: Any, messages: AsyncIterable[Message], *, timeout: float) -> Any:
        """Call a stream-unary `method`, writing `messages` as they come. Raises ServiceError.

        What `messages` raises cancels the call and is raised here, so that a body cut short never looks whole.
        (Handed to gRPC as an iterator, its exception would cancel this very task instead.)
        """
        call = method(timeout=budget(timeout), metadata=self._metadata())
        try:
            try:
                async for message in messages:
                    await call.write(message)
                await call.done_writing()
            except asyncio.InvalidStateError:
                pass  # the peer answered before it had read everything: its answer says why
            return await call
        except grpc.aio.AioRpcError as failure:
            raise error_from(failure, self.service) from None
        except BaseException:
            call.cancel()
            raise

    async def call(self, method: Any, request: Message, *, timeout: float) -> Any:
        """Call `method`, a multicallable of a stub on `self.channel`, with at most `timeout` seconds.

        Less if the request being served has less left: each hop keeps back 20 ms. Raises ServiceError.
        """
        try:
            return await method(request, timeout=budget(timeout), metadata=self._metadata())
        except grpc.aio.AioRpcError as failure:
            raise error_from(failure, self.service) from None

    def _metadata(self) -> tuple[tuple[str, str], ...]:
        token = self._token()
        if not (token.isascii() and token.isprintable()):  # gRPC would fail with an exception of its own
            raise ServiceError(Kind.UNAVAILABLE, "this service's caller token cannot be sent")
        return ((TOKEN_KEY, token),)

    async def close(self) -> None:
        """Close the channel."""
        await self.channel.close()


def dial(settings: Settings, service: str) -> Peer:
    """A peer as the settings describe it. A TCP address without the TLS files is refused."""
    address = settings.address_of(service)
    credentials = None if address.startswith("unix:") else client_credentials(settings)
    return Peer(service, address, settings.rpc.live("caller_token"), credentials)


def client_credentials(settings: Settings) -> grpc.ChannelCredentials:
    """Mutual TLS from the three files. Raises PRECONDITION."""
    cert, key, ca = tls_files(settings)
    return cast(grpc.ChannelCredentials, grpc.ssl_channel_credentials(ca, key, cert))


def tls_files(settings: Settings) -> tuple[bytes, bytes, bytes]:
    """Certificate, key and authority, PEM. Raises PRECONDITION unless all three are set and readable."""
    files = (settings.rpc.tls_cert_file, settings.rpc.tls_key_file, settings.rpc.tls_ca_file)
    if not all(files):
        raise ServiceError(Kind.PRECONDITION, "calls over TCP need rpc.tls_cert_file, tls_key_file and tls_ca_file")
    try:
        cert, key, ca = (file.read_bytes() for file in files if file)
    except OSError as error:
        raise ServiceError(Kind.PRECONDITION, "a TLS file cannot be read") from error
    return cert, key, ca
