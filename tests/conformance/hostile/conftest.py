"""A puller of a wild sibling, with the real client and store, and a search that is a dict."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conformance.hostile.wild import Act, Timed, Wild, Wire, client_of, honest, running

from memoria_chassis.clock import FakeClock
from memoria_chassis.keys import ServiceKey
from memoria_chassis.sqlite import Database
from memoria_contract.types import ItemId, Pair
from memoria_ingest.document import Document, SiblingOrigin, Stored
from memoria_ingest.orders_client import Order
from memoria_ingest.siblings.puller import Puller
from memoria_ingest.siblings.sibling_client import SiblingClient
from memoria_ingest.siblings.state import MIGRATIONS, Source, SourceState, SourceStore


class Search:
    """What `IndexClient` is to the puller."""

    def __init__(self) -> None:
        self.documents: dict[ItemId, Document] = {}
        self.retired: list[str] = []
        self.acknowledged = 0
        self.current = asyncio.Event()  # the source was read to the end

    async def put(self, document: Document) -> Stored:
        """Keep it, in place of an earlier one."""
        pair = self._pair(document)
        self.documents[pair.item_id] = document
        return Stored("id", pair.revision, True)

    async def retire(self, app: str, item_ids: Iterable[str]) -> None:
        """Forget them, and remember that they were retired."""
        for item_id in item_ids:
            self.retired.append(item_id)
            self.documents.pop(ItemId(item_id), None)

    async def held(self, app: str) -> list[Pair]:
        """What is kept."""
        return [self._pair(document) for document in self.documents.values()]

    async def put_source(self, source: Source) -> None:
        """How it stands."""
        if source.state is SourceState.CURRENT:
            self.current.set()

    def forget(self, item_id: str) -> None:
        """Lose one without a word."""
        del self.documents[ItemId(item_id)]

    def texts(self) -> set[str]:
        """All texts."""
        return {chunk.text for document in self.documents.values() for chunk in document.chunks}

    def revisions(self) -> dict[str, str]:
        """Item id → revision, of all that is kept."""
        return {pair.item_id: pair.revision for pair in map(self._pair, self.documents.values())}

    @staticmethod
    def _pair(document: Document) -> Pair:
        assert isinstance(document.origin, SiblingOrigin)
        return document.origin.pair


@dataclass
class Rig:
    """A puller of one wild sibling."""

    wild: Wild
    client: Timed
    search: Search
    store: SourceStore
    puller: Puller

    async def pull(self, *, reannounce: bool = False) -> None:
        """One pull, ordered to re-announce or not."""
        await self.puller.pull([Order("1", self.puller.app, "", reannounce=True)] if reannounce else [])

    async def source(self) -> Source:
        """How it stands."""
        return (await self.puller.source())[0]

    async def owed(self) -> int:
        """How many items are owed."""
        return (await self.puller.source())[1]

    def only_later_pages(self, act: Act) -> Act:
        """An announce that begins honestly."""

        async def acted(wire: Wire, method: str, body: bytes) -> bool:
            return await (act if body else honest)(wire, method, body)

        return acted


MakeRig = Callable[..., Awaitable[Rig]]


@pytest.fixture
async def make_rig(tmp_path: Path) -> AsyncIterator[MakeRig]:
    """`await make_rig(app="docs")`: as much time as a slow machine wants, until a test makes it hurry."""
    async with AsyncExitStack() as stack:

        async def make(app: str = "docs") -> Rig:
            wild = await stack.enter_async_context(running(Wild()))
            client = await stack.enter_async_context(client_of(wild, app, seconds=10))
            database = Database.open(tmp_path / app / "ingest.db", MIGRATIONS)
            stack.callback(database.close)
            search, store = Search(), SourceStore(database, ServiceKey(b"k" * 32))
            fake: Any = search
            puller = Puller(SiblingClient(app, client), fake, store, FakeClock(), with_bodies=True)
            return Rig(wild, client, search, store, puller)

        yield make
