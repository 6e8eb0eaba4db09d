"""The recipe every service follows: config, dependencies, server, serve; then drain and close."""

import asyncio
import contextlib
import gc
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import grpc
import uvloop
from google.protobuf.descriptor import ServiceDescriptor

from memoria_chassis import log
from memoria_chassis.activity import Activity
from memoria_chassis.clock import Clock, SystemClock
from memoria_chassis.config import Settings, load_settings
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.internal import EmbeddedServer, http_server, internal_app
from memoria_chassis.keys import ServiceKey
from memoria_chassis.rpc.allow import AllowList, Callers
from memoria_chassis.rpc.client import Peer, dial
from memoria_chassis.rpc.server import bind, make_server

DRAIN_SECONDS = 5.0
"""How long requests under way get to end after a stop was asked for."""


class Process:
    """What a recipe builds on. Everything registered here is closed in reverse order when the process ends."""

    def __init__(self, service: str, settings: Settings, clock: Clock | None = None) -> None:
        self.service = service
        self.settings = settings
        self.clock = clock or SystemClock()
        self.activity = Activity()
        self.stopping = asyncio.Event()
        self._closers: list[Callable[[], Any]] = []
        self._checks: list[Callable[[], Awaitable[bool]]] = []
        self._statuses: list[Callable[[], Awaitable[dict[str, Any]]]] = []
        self._servers: list[EmbeddedServer] = []
        self._grpc: grpc.aio.Server | None = None

    def key(self) -> ServiceKey:
        """This service's own key. Raises PRECONDITION where it was not handed one."""
        return ServiceKey(self.settings.keys.root("service_key"))

    def database_path(self) -> Path:
        """This service's one SQLite file."""
        return self.settings.data.dir / self.service / f"{self.service}.db"

    def peer(self, service: str) -> Peer:
        """A channel to another service, closed with this process."""
        peer = dial(self.settings, service)
        self.on_close(peer.close)
        return peer

    def on_close(self, close: Callable[[], Any]) -> None:
        """Call `close`, which may be a coroutine function, when the process ends."""
        self._closers.append(close)

    def check_ready(self, check: Callable[[], Awaitable[bool]]) -> None:
        """The process is ready only while `check` says so."""
        self._checks.append(check)

    def report(self, status: Callable[[], Awaitable[dict[str, Any]]]) -> None:
        """Add counts to `/status`."""
        self._statuses.append(status)

    def serve_grpc(self, package: str, services: Iterable[ServiceDescriptor]) -> grpc.aio.Server:
        """A guarded gRPC server; `package` holds the allow.toml. Add servicers to what is returned."""
        with as_file(files(package) / "allow.toml") as shipped:
            allow = AllowList.load(self.settings.rpc.allow_file or shipped, services)
        callers = Callers(self.settings.rpc.known_callers())

        async def status() -> dict[str, Any]:
            return {"callers": dict(callers.seen)}

        self.report(status)
        self._grpc = make_server(callers, allow, self.activity)
        return self._grpc

    def serve_http(self, app: Any, **options: Any) -> None:
        """Serve an ASGI app for as long as the process runs."""
        self._servers.append(http_server(app, **options))

    async def ready(self) -> bool:
        """Every check passes and no stop was asked for."""
        if self.stopping.is_set():
            return False
        try:
            return all([await check() for check in self._checks])
        except Exception as error:
            log.get_logger().warning("a readiness check failed", exc_info=error)
            return False

    async def status(self) -> dict[str, Any]:
        """Counts from every reporter."""
        merged: dict[str, Any] = {"service": self.service, "pid": os.getpid(), "ready": await self.ready()}
        for status in self._statuses:
            merged |= await status()
        return merged

    async def serve(self) -> None:
        """Serve until asked to stop, then drain."""
        internal = http_server(
            internal_app(self.ready, self.activity, self.status),
            host=self.settings.internal.host,
            port=self.settings.internal.port,
        )
        self._servers.append(internal)
        if self._grpc is not None:
            bind(self._grpc, self.settings, self.service)
            await self._grpc.start()
        tasks = [asyncio.create_task(self._serve(server)) for server in self._servers]
        up = asyncio.gather(*(server.up.wait() for server in self._servers))
        first: list[asyncio.Future[Any]] = [up, *tasks]
        await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        if up.done():
            (self.settings.data.run_dir / f"{self.service}.port").write_text(str(internal.port))
            log.get_logger().info("serving", pid=os.getpid(), port=internal.port)
            # What was built at start lives as long as the process: taken out of the collector's rounds.
            gc.collect()
            gc.freeze()
            stop = asyncio.create_task(self.stopping.wait())
            await asyncio.wait([stop, *tasks], return_when=asyncio.FIRST_COMPLETED)
            stop.cancel()
        up.cancel()
        self.stopping.set()
        if self._grpc is not None:
            await self._grpc.stop(DRAIN_SECONDS)
        for server in self._servers:
            server.should_exit = True
        await asyncio.gather(*tasks)

    @staticmethod
    async def _serve(server: EmbeddedServer) -> None:
        try:
            await server.serve()
        except SystemExit:  # how uvicorn says that it cannot bind; the reason went to its log
            raise ServiceError(Kind.PRECONDITION, "cannot listen on an HTTP port: it is taken, or not ours") from None

    async def close(self) -> None:
        """Close what was registered, last first; one that fails does not keep the others open."""
        for close in reversed(self._closers):
            try:
                result = close()
                if asyncio.iscoroutine(result):
                    await result
            except Exception as error:
                log.get_logger().error("closing failed", exc_info=error)


async def _lifeline(stopping: asyncio.Event) -> None:
    """Stop when standard input ends: `memoria up` holds its other end, and the kernel closes it however `up` dies."""
    reader = asyncio.StreamReader()
    try:
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while await reader.read(1024):
            pass  # nothing is ever sent; only the end matters
    finally:
        stopping.set()  # also where it cannot be watched: a service nobody could stop is worse than none


async def _run(service: str, build: Callable[[Process], Awaitable[None]]) -> None:
    process = Process(service, load_settings())
    process.settings.data.run_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, process.stopping.set)
    lifeline = asyncio.create_task(_lifeline(process.stopping)) if os.environ.get("MEMORIA_LIFELINE") else None
    try:
        await build(process)
        await process.serve()
    finally:
        if lifeline:
            lifeline.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await lifeline
        await process.close()


def run_service(service: str, build: Callable[[Process], Awaitable[None]]) -> None:
    """Run one service until it is told to stop. A refusal to start is one clear line and exit code 1."""
    os.umask(0o077)  # everything this process makes, sockets included, is its user's alone
    log.configure(service)
    try:
        uvloop.run(_run(service, build))
    except ServiceError as error:
        print(f"{service}: {error.message}", file=sys.stderr)  # noqa: T201 - said to whoever started it
        log.get_logger().error("refused to start", kind=error.kind.value)
        sys.exit(1)
    except Exception as error:  # a folder that cannot be made, a file that is no database
        print(f"{service}: stopped by an error, {type(error).__name__}; its trace is in the log", file=sys.stderr)  # noqa: T201 - as above
        log.get_logger().error("stopped by an error", exc_info=error)
        sys.exit(1)
