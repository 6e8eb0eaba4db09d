"""Many questions at once: a sibling is asked by so many at a time, so that some are answered and not all too late."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_authz.admission import LoneAdmission
from memoria_authz.anomaly.counters import Counters
from memoria_authz.ask import sibling_client
from memoria_authz.ask.bench import Bench
from memoria_authz.ask.sibling_client import SiblingAsker
from memoria_authz.claims import Ruling, SiblingClaim
from memoria_authz.orders import WorkOrders
from memoria_authz.schema import MIGRATIONS
from memoria_chassis.clock import FakeClock
from memoria_chassis.keys import ServiceKey
from memoria_chassis.sqlite import Database
from memoria_contract.connect_client import ConnectClient
from memoria_contract.types import ItemId, Pair, Revision, Subject, SubjectKind

ANN = Subject(SubjectKind.ADDRESS, "ann@example.test")
SEARCHES, PAIRS, AT_ONCE = 40, 256, 16


class Crowded:
    """An app over a real socket that answers nobody until as many ask as may ask at once, or as are left."""

    def __init__(self) -> None:
        self.at_once = 0
        self._left = SEARCHES
        self._inside: list[asyncio.Event] = []

    async def authorize(self, request: web.Request) -> web.Response:
        """S2."""
        asked = pb.AuthorizeRequest.FromString(await request.read())
        inside = asyncio.Event()
        self._inside.append(inside)
        self.at_once = max(self.at_once, len(self._inside))
        if len(self._inside) == min(AT_ONCE, self._left):
            await asyncio.sleep(0.1)  # whoever could come in besides does
            self._left -= len(self._inside)
            for one in self._inside:
                one.set()
            self._inside.clear()
        await inside.wait()
        rows = [pb.ItemVerdict(item_id=i.item_id, revision=i.revision, verdict=pb.VERDICT_VISIBLE) for i in asked.items]
        return web.Response(
            body=pb.AuthorizeResponse(verdicts=rows).SerializeToString(), content_type="application/proto"
        )


@pytest.fixture
async def crowded() -> AsyncIterator[tuple[Crowded, str]]:
    """The app and its address."""
    app, served = Crowded(), web.Application()
    served.router.add_post("/memoria.sibling.v1.SiblingService/Authorize", app.authorize)
    runner = web.AppRunner(served)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server: Any = site._server
    yield app, f"http://demo.docs.localhost:{server.sockets[0].getsockname()[1]}"
    await runner.cleanup()


async def test_forty_searches_of_256_pairs_each_are_all_answered(
    crowded: tuple[Crowded, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never more than the pool's sixteen at the app, the rest behind them; every pair of every search is ruled.

    The deadline is out of the way: what is shown is the order, whatever the machine. Broken to see it red: no bound,
    with which all forty are in the app at once; a pool of eight, in which the app waits for more than may come.
    """
    monkeypatch.setattr(sibling_client, "SIBLING_SECONDS", 20.0)
    app, url = crowded
    database = Database.open(tmp_path / "authz.db", MIGRATIONS)
    key, clock = ServiceKey(b"k" * 32), FakeClock()
    counters = Counters(database, key, clock, ["docs"])
    await counters.open()
    client = ConnectClient(url, "t", team="demo", zone="localhost", app="docs")
    bench = Bench(
        LoneAdmission([ANN.value]), {"docs": SiblingAsker("docs", client)}, WorkOrders(database, key), counters
    )
    try:
        claims = [
            [SiblingClaim("docs", Pair(ItemId(f"{s}-{n}"), Revision("1"))) for n in range(PAIRS)]
            for s in range(SEARCHES)
        ]
        rulings = await asyncio.gather(*(bench.rule(ANN, each) for each in claims))
    finally:
        await client.close()
        await counters.close()
        database.close()
    assert [set(each) for each in rulings] == [{Ruling.SPEAK}] * SEARCHES
    assert app.at_once == AT_ONCE
