"""A page of 50 from three siblings on loopback, beside the slowest sibling asked directly with as many pairs."""

import asyncio
import json
from pathlib import Path

import httpx

from bench.fleet import demo_fleet
from bench.measure import Figure, figure, time_async
from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_contract.connect_client import ConnectClient
from memoria_contract.types import Subject, SubjectKind
from memoria_contract.wire import authorize_request, pair_from_wire

REQUESTS = 300
QUERY = "ferry boat pier crew winter harbour the revenue meeting"
_SERVICE = "memoria.sibling.v1.SiblingService"


def run() -> list[tuple[Figure, Figure | None]]:
    """(figure, peer) rows."""
    return asyncio.run(_run())


async def _run() -> list[tuple[Figure, Figure | None]]:
    with demo_fleet() as fleet:
        headers = {"Authorization": f"Bearer {fleet.token}"}
        async with httpx.AsyncClient(base_url=fleet.url, headers=headers) as client:
            reply = (await client.get("/api/v1/search", params={"q": QUERY})).json()
            assert len(reply["results"]) == 50, len(reply["results"])
            assert not reply["notices"], reply["notices"]
            siblings = await _siblings(fleet.data)
            pages = await time_async(REQUESTS, lambda: client.get("/api/v1/search", params={"q": QUERY}))
        slowest = max(siblings, key=lambda row: row.p50)
        return [(row, None) for row in siblings] + [(figure("page of 50, three siblings", pages), slowest)]


async def _siblings(data: Path) -> list[Figure]:
    ports = json.loads((data / "demo/ports.json").read_text())
    rows = []
    for app in ("calendar", "docs", "sheets"):
        url = f"http://demo.{app}.localhost:{ports[app]}"
        named = {"team": "demo", "zone": "localhost", "app": app}
        pull = ConnectClient(url, (data / f"tokens/{app}.pull").read_text().strip(), **named)
        ask = ConnectClient(url, (data / f"tokens/{app}.ask").read_text().strip(), **named)
        feed = await pull.call(f"{_SERVICE}/ListChanges", pb.ListChangesRequest(), pb.ListChangesResponse, 10)
        pairs = [pair_from_wire(row) for row in feed.rows if not row.gone]
        request = authorize_request(Subject(SubjectKind.ADDRESS, "you@localhost"), pairs)

        async def once(ask: ConnectClient = ask, request: pb.AuthorizeRequest = request) -> None:
            await ask.call(f"{_SERVICE}/Authorize", request, pb.AuthorizeResponse, 5)

        rows.append(figure(f"{app} alone, {len(pairs)} pairs", await time_async(REQUESTS, once)))
        await pull.close()
        await ask.close()
    return rows
