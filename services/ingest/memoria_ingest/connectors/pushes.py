"""Takes in what connectors push: one item at a time, whole or not at all, and the same again without effect."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from weakref import WeakValueDictionary

from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import ServiceKey, fingerprint
from memoria_contract.limits import ITEM_TOO_LARGE, MAX_ITEM_TEXT, usable_link
from memoria_ingest.connectors.store import Connector, ConnectorKey, ConnectorStore, Pushed
from memoria_ingest.convert.result import Converted
from memoria_ingest.document import Document, plain_trail
from memoria_ingest.index_client import IndexClient
from memoria_ingest.uploads import documents_of

_AT_ONCE = 10_000
_UNTITLED = "Untitled"


class Outcome(Enum):
    """What became of an item."""

    STORED = "stored"
    UNCHANGED = "unchanged"
    REPLACED = "replaced"
    DELETED = "deleted"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Item:
    """One item as its connector has it."""

    external_id: str = field(repr=False)
    title: str = field(default="", repr=False)
    trail: tuple[str, ...] = field(default=(), repr=False)
    text: str = field(default="", repr=False)
    date: datetime | None = None
    link: str = field(default="", repr=False)
    gone: bool = False


class Pushes:
    """The connectors and their items.

    A connector's items go in one after the other, and its removal waits for the one under way: nothing comes in behind
    it. What search holds is asked of search each time, for a person may have deleted it, or a backup put it back.
    """

    def __init__(self, store: ConnectorStore, index: IndexClient, key: ServiceKey) -> None:
        self._store = store
        self._index = index
        self._items = key.purpose("connector-item")
        self._contents = key.purpose("connector-content")
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def create(self, name: str, origins: Sequence[str]) -> tuple[str, str]:
        """A new connector: its id, and its token, this once. Raises INVALID or EXHAUSTED."""
        return await self._store.new(name, origins)

    async def connectors(self) -> list[Connector]:
        """Every connector, the oldest first."""
        return await self._store.all()

    async def held(self, connector_id: str) -> int | None:
        """How many items search holds of a connector; None where it does not say."""
        items = await self._store.items(connector_id)
        try:
            found = [
                held
                for first in range(0, len(items), _AT_ONCE)
                for held in await self._index.uploads(items[first : first + _AT_ONCE], patient=False)
            ]
        except ServiceError as error:
            log.get_logger().warning("search did not say what it holds of a connector", kind=error.kind.value)
            return None
        return sum(1 for held in found if held.document_id)

    async def remove(self, connector_id: str) -> None:
        """End a connector; what it brought stays. Raises NOT_FOUND."""
        # At once: the item under way may wait for search, and a token in wrong hands must not be good until then.
        await self._store.revoke(connector_id)
        async with self._turn(connector_id):
            await self._store.remove(connector_id)

    async def renew(self, connector_id: str) -> str:
        """Another token, this once. The old one is good for the item under way at most. Raises NOT_FOUND."""
        return await self._store.renew(connector_id)

    async def check(self, key: ConnectorKey) -> None:
        """Return if the token opens the connector. Raises UNAUTHENTICATED or REFUSED."""
        await self._store.admit(key)

    async def push(self, key: ConnectorKey, item: Item) -> Outcome:
        """Take one item. Raises UNAUTHENTICATED or REFUSED at the door, INVALID or TOO_LARGE for the item."""
        async with self._turn(key.connector_id):
            await self._store.admit(key)
            if not item.external_id:
                raise ServiceError(Kind.INVALID, "An item has an external id.")
            # Bound to the connector, so that two that number their items alike do not write over one another.
            external_id = fingerprint(self._items, f"{key.connector_id}\0{item.external_id}".encode())
            if item.gone:
                return await self._delete(external_id)
            _check(item)
            return await self._put(key.connector_id, external_id, item)

    async def _put(self, connector_id: str, external_id: bytes, item: Item) -> Outcome:
        content = fingerprint(self._contents, _canonical(item))
        before = await self._store.begin(connector_id, external_id)
        (held,) = await self._index.uploads([external_id])
        if held.number and held.number == before.number and before.content == content:
            return Outcome.UNCHANGED
        # In a thread, as uploads are: long texts take a second.
        documents = await asyncio.to_thread(_documents, item, external_id)
        stored = [await self._index.put(document) for document in documents]
        await self._store.put(external_id, Pushed(content, stored[0].number))
        return Outcome.REPLACED if held.document_id else Outcome.STORED

    async def _delete(self, external_id: bytes) -> Outcome:
        (held,) = await self._index.uploads([external_id])
        deleted = 0
        if held.document_id:
            try:
                deleted = await self._index.delete(held.document_id)
            except ServiceError as error:
                if error.kind is not Kind.NOT_FOUND:  # a person may have deleted it a moment ago
                    raise
        await self._store.forget(external_id)
        return Outcome.DELETED if deleted else Outcome.ABSENT

    def _turn(self, connector_id: str) -> asyncio.Lock:
        return self._turns.setdefault(connector_id, asyncio.Lock())


def _check(item: Item) -> None:
    if len(item.text.encode()) > MAX_ITEM_TEXT:
        raise ServiceError(Kind.TOO_LARGE, ITEM_TOO_LARGE)
    if item.link and not usable_link(item.link):
        raise ServiceError(Kind.INVALID, "A link is an address that begins with http:// or https://.")


def _canonical(item: Item) -> bytes:
    date = item.date.isoformat() if item.date else ""
    return json.dumps([item.title, item.trail, item.text, date, item.link]).encode()


def _documents(item: Item, external_id: bytes) -> list[Document]:
    converted = Converted(item.text, title=item.title)
    documents = documents_of(converted, external_id, _UNTITLED, plain_trail(item.trail))
    return [replace(document, date=item.date, link=item.link) for document in documents]
