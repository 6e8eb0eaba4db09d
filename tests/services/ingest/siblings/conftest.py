"""A demo sibling on the loopback, everything that crosses the wire recorded, and a search that is a dict."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from memoria_chassis.clock import FakeClock
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.internal import http_server
from memoria_chassis.keys import ServiceKey
from memoria_chassis.sqlite import Database
from memoria_conformance.sibling import Sibling, make_sibling
from memoria_conformance.world import load_world
from memoria_contract.connect_client import ConnectClient
from memoria_contract.types import ItemId, Pair
from memoria_ingest.document import Document, SiblingOrigin, Stored
from memoria_ingest.orders_client import Order
from memoria_ingest.siblings.puller import Puller
from memoria_ingest.siblings.sibling_client import SiblingClient
from memoria_ingest.siblings.state import MIGRATIONS, Source, SourceStore

WORLD = """
company: Test
people:
  ann: {person_ref: p-ann, address: ann@example.test, name: Ann}
docs:
  - {alias: one, title: Title one, trail: [A, B], date: 2026-01-02, body: "# Head\\n\\nbody-one"}
  - {alias: two, title: Title two, date: 2026-01-03, body: body-two, author: machine}
  - {alias: three, title: Title three, date: 2026-01-03, body: body-three}
  - {alias: four, title: Title four, date: 2026-01-03, body: body-four}
  - {alias: five, title: Title five, date: 2026-01-03, body: body-five}
  - {alias: granted, title: Granted, date: 2026-01-03, body: body-granted, rung: granted, granted: [ann]}
sheets:
  - {alias: sheet, title: Sheet, date: 2026-01-02, tabs: [{name: P&L, columns: [Line, Jan], rows: [[Revenue, 1000]]}]}
calendar:
  - {alias: event, title: Review, start: 2026-01-02T09:00, end: 2026-01-02T10:00, body: event-body}
"""


class FakeSearch:
    """What `IndexClient` is to the puller; fails where it is told to."""

    def __init__(self) -> None:
        self.documents: dict[str, Document] = {}
        self.retired: list[str] = []
        self.sources: list[Source] = []
        self.away = False
        self.acknowledged = 0
        self.put_hook: Callable[[Document], None] = lambda document: None

    def _check(self) -> None:
        if self.away:
            raise ServiceError(Kind.UNAVAILABLE, "search cannot be reached")

    async def put(self, document: Document) -> Stored:
        """Keep it, in place of an earlier one."""
        self._check()
        self.put_hook(document)
        assert isinstance(document.origin, SiblingOrigin)
        self.documents[document.origin.pair.item_id] = document
        return Stored("id", document.origin.pair.revision, True)

    async def retire(self, app: str, item_ids: Iterable[str]) -> None:
        """Forget them."""
        self._check()
        for item_id in item_ids:
            self.retired.append(item_id)
            self.documents.pop(item_id, None)

    async def held(self, app: str) -> list[Pair]:
        """What is kept."""
        self._check()
        return [document.origin.pair for document in self.documents.values()]  # type: ignore[union-attr] # all siblings'

    async def put_source(self, source: Source) -> None:
        """How it stands."""
        self._check()
        self.sources.append(source)

    def revision(self, item_id: str) -> str:
        """The revision kept of an item."""
        origin = self.documents[item_id].origin
        assert isinstance(origin, SiblingOrigin)
        return origin.pair.revision

    def bodies(self) -> set[str]:
        """All texts."""
        return {chunk.text for document in self.documents.values() for chunk in document.chunks}


@dataclass
class Rig:
    """A puller of one sibling."""

    sibling: Sibling
    search: FakeSearch
    store: SourceStore
    puller: Puller
    seen: list[tuple[str, bytes, list[tuple[bytes, bytes]]]] = field(default_factory=list)
    answer: Callable[[str, int], Response | None] = lambda method, count: None
    """(method, how many requests of it so far) → what to answer in the sibling's place."""

    def id(self, alias: str) -> ItemId:
        """An item's id."""
        return ItemId(self.sibling.store.aliases()[alias])

    def do(self, verb: str, **params: object) -> None:
        """Put the sibling into a state."""
        self.sibling.state.apply(verb, dict(params))

    def calls(self, method: str) -> int:
        """How many requests of a method there were."""
        return sum(path.endswith(method) for path, _, _ in self.seen)

    async def pull(self, *orders: Order) -> list[Order]:
        """One pull."""
        return await self.puller.pull(list(orders))

    async def source(self) -> Source:
        """How it stands."""
        return (await self.puller.source())[0]

    async def owed(self) -> int:
        """How many items are owed."""
        return (await self.puller.source())[1]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The wire: records, and answers in the sibling's place where told to."""
        messages: list[Message] = []
        while not messages or messages[-1].get("more_body"):
            messages.append(await receive())
        body = b"".join(message.get("body", b"") for message in messages)
        method = scope["path"].rpartition("/")[2]
        count = self.calls(method)
        self.seen.append((scope["path"], body, scope["headers"]))

        async def again() -> Message:
            return messages.pop(0) if messages else await receive()

        await (self.answer(method, count) or self.sibling)(scope, again, send)


MakeRig = Callable[..., "asyncio.Future[Rig]"]


@pytest.fixture
async def make_rig(tmp_path: Path) -> AsyncIterator[MakeRig]:
    """`await make_rig(app="docs", with_bodies=True, page_rows=2, revisions="hash")`."""
    ends: list[Callable[[], object]] = []

    async def make(app: str = "docs", *, with_bodies: bool = True, **options: object) -> Rig:
        rig: Rig

        async def wire(scope: Scope, receive: Receive, send: Send) -> None:
            await rig(scope, receive, send)

        server = http_server(wire, host="127.0.0.1", port=0)
        serving = asyncio.create_task(server.serve())
        await server.up.wait()
        sibling = make_sibling(app, world=load_world(WORLD), port=server.port, **{"page_rows": 2} | options)
        url = f"http://demo.{app}.localhost:{server.port}"
        client = ConnectClient(url, "pull", team="demo", zone="localhost", app=app)
        database = Database.open(tmp_path / app / "ingest.db", MIGRATIONS)
        search, store = FakeSearch(), SourceStore(database, ServiceKey(b"k" * 32))
        puller = Puller(SiblingClient(app, client), search, store, FakeClock(), with_bodies=with_bodies)  # type: ignore[arg-type] # a fake
        rig = Rig(sibling, search, store, puller)

        async def end() -> None:
            await client.close()
            server.should_exit = server.force_exit = True  # a call that was told to sleep is not waited for
            await serving
            sibling.store.close()
            database.close()

        ends.append(end)
        return rig

    yield make  # type: ignore[misc] # a coroutine function is what it says
    for end in ends:
        await end()  # type: ignore[misc] # likewise


@pytest.fixture
async def rig(make_rig: MakeRig) -> Rig:
    """Docs, two rows a page."""
    return await make_rig()


def order(rig: Rig, item_id: str = "", number: str = "1") -> Order:
    """A work order: to refetch an item, or to re-announce."""
    return Order(number, rig.puller.app, item_id, reannounce=not item_id)


@pytest.fixture(name="order")
def _order() -> Callable[..., Order]:
    return order
