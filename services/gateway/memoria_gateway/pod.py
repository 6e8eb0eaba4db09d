"""The pod's own routes: alive, ready, idle. No session, no content."""

import asyncio
import time

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from memoria_chassis.errors import ServiceError
from memoria_chassis.process import Process
from memoria_gateway.desk import Desk

_KEPT_SECONDS = 0.5  # anybody may ask; the four calls behind an answer are made twice a second at most


def routes(desk: Desk, process: Process) -> list[Route]:
    """GET /healthz, /readyz, /idle."""

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    kept: tuple[float, list[str]] = (0.0, [])

    async def readyz(_: Request) -> Response:
        """Ready only if every process that a page needs answers a call."""
        nonlocal kept
        if time.monotonic() - kept[0] > _KEPT_SECONDS:
            kept = (time.monotonic(), await missing())
        if kept[1] or not await process.ready():
            return PlainTextResponse(f"not ready: {', '.join(kept[1]) or 'gateway'}\n", 503)
        return PlainTextResponse("ready\n")

    async def missing() -> list[str]:
        peers = {
            "authz": desk.gate.alive,
            "search": desk.index.alive,
            "ingest": desk.intake.alive,
            "extract": desk.extract.alive,
        }
        asked = await asyncio.gather(*(alive() for alive in peers.values()), return_exceptions=True)
        for answer in asked:
            if isinstance(answer, BaseException) and not isinstance(answer, ServiceError):
                raise answer
        return [name for name, answer in zip(peers, asked, strict=True) if isinstance(answer, ServiceError)]

    async def idle(_: Request) -> Response:
        activity = process.activity
        return JSONResponse(
            {"idle_seconds": round(activity.idle_seconds(), 3), "safe_to_stop": activity.in_flight == 0}
        )

    return [
        Route("/healthz", healthz, methods=["GET"]),
        Route("/readyz", readyz, methods=["GET"]),
        Route("/idle", idle, methods=["GET"]),
    ]
