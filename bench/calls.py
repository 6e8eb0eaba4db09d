"""One S2 call of 256 pairs to a demo sibling in a process of its own: our client beside httpx with the same bytes."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time

import httpx

from bench.measure import Figure, figure, time_async
from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_cli.up.demo import is_free
from memoria_contract.connect_client import ConnectClient
from memoria_contract.types import ItemId, Pair, Revision, Subject, SubjectKind
from memoria_contract.wire import authorize_request

COUNT = 300
_PATH = "memoria.sibling.v1.SiblingService/Authorize"


def run() -> list[tuple[Figure, Figure | None]]:
    """(figure, peer) rows."""
    port = next(port for port in range(9301, 9400) if is_free(port))
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "memoria_conformance.sibling", "--app", "docs", "--port", str(port)]
        command += ["--db", f"{folder}/docs.sqlite"]
        env = os.environ | {"MEMORIA_SIBLING_PULL_TOKEN": "pull", "MEMORIA_SIBLING_ASK_TOKEN": "ask"}
        process = subprocess.Popen(command, env=env)
        try:
            return asyncio.run(_measure(port))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


async def _measure(port: int) -> list[tuple[Figure, Figure | None]]:
    request = authorize_request(
        Subject(SubjectKind.ADDRESS, "you@localhost"),
        [Pair(ItemId(f"item-{number}"), Revision("r1")) for number in range(256)],
    )
    ours = ConnectClient(f"http://demo.docs.localhost:{port}", "ask", team="demo", zone="localhost", app="docs")
    deadline = time.monotonic() + 30
    while True:
        try:
            await ours.call(_PATH, request, pb.AuthorizeResponse, 5)
            break
        except Exception:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.2)
    headers = {"Authorization": "Bearer ask", "Content-Type": "application/proto"}
    body = request.SerializeToString()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers) as client:

        async def peer() -> None:
            pb.AuthorizeResponse.FromString((await client.post(f"/{_PATH}", content=body)).content)

        theirs = figure("S2, 256 pairs, httpx", await time_async(COUNT, peer))
    mine = figure(
        "S2, 256 pairs, ConnectClient",
        await time_async(COUNT, lambda: ours.call(_PATH, request, pb.AuthorizeResponse, 5)),
    )
    await ours.close()
    return [(theirs, None), (mine, theirs)]
