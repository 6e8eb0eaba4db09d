"""The internal port: `/healthz`, `/readyz`, `/idle`, `/status`, `/metrics`. No person and no content."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from typing import Any

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from memoria_chassis.activity import Activity

Status = Callable[[], Awaitable[dict[str, Any]]]


class EmbeddedServer(uvicorn.Server):
    """A uvicorn server that leaves signals to the process it is embedded in, and says when it is up."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Bind and start."""
        await super().startup(sockets)
        self.up.set()

    @property
    def port(self) -> int:
        """The port bound. Only once `up`."""
        return int(self.servers[0].sockets[0].getsockname()[1])

    @contextmanager
    def capture_signals(self) -> Any:
        """Capture nothing."""
        yield


def http_server(app: Any, **options: Any) -> EmbeddedServer:
    """A server without access log (it would hold queries), without `Server` header, without proxy headers."""
    return EmbeddedServer(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=True,
            proxy_headers=False,
            lifespan="off",
            timeout_graceful_shutdown=5,
            **options,
        )
    )


def internal_app(ready: Callable[[], Awaitable[bool]], activity: Activity, status: Status) -> Starlette:
    """The internal routes."""

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(_: Request) -> Response:
        good = await ready()
        return PlainTextResponse("ready\n" if good else "not ready\n", 200 if good else 503)

    async def idle(_: Request) -> Response:
        seconds = activity.idle_seconds()
        return JSONResponse(
            {"idle_seconds": round(seconds, 3), "in_flight": activity.in_flight, "safe_to_stop": not activity.in_flight}
        )

    async def counts(_: Request) -> Response:
        return JSONResponse(await status())

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/readyz", readyz),
            Route("/idle", idle),
            Route("/status", counts),
            Route("/metrics", metrics),
        ]
    )
