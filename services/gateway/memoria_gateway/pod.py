"""The pod's own routes: alive, ready, idle. No session, no content."""

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from memoria_chassis.errors import ServiceError
from memoria_chassis.process import Process
from memoria_gateway.desk import Desk


def routes(desk: Desk, process: Process) -> list[Route]:
    """GET /healthz, /readyz, /idle."""

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(_: Request) -> Response:
        """Ready only if every process that a page needs answers a call."""
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
        missing = [name for name, answer in zip(peers, asked, strict=True) if isinstance(answer, ServiceError)]
        if missing or not await process.ready():
            return PlainTextResponse(f"not ready: {', '.join(missing) or 'gateway'}\n", 503)
        return PlainTextResponse("ready\n")

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
