"""Pulls one source: orders first, then the feed from where it stood. A failure deletes nothing (ING-07)."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from memoria_chassis import log
from memoria_chassis.clock import Clock
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import ItemId, Pair, Revision
from memoria_ingest.index_client import IndexClient
from memoria_ingest.orders_client import Order
from memoria_ingest.siblings.announce import read_announce
from memoria_ingest.siblings.content import document_from
from memoria_ingest.siblings.sibling_client import FeedPage, SiblingClient
from memoria_ingest.siblings.state import Source, SourceState, SourceStore

_AT_ONCE = 6  # S3 calls under way at one sibling
_MAX_PAGES = 10_000
_CURRENT = Revision("")


class Puller:
    """Keeps what we hold of one sibling in step with what it lists on the team rung."""

    def __init__(
        self, client: SiblingClient, index: IndexClient, store: SourceStore, clock: Clock, *, with_bodies: bool
    ) -> None:
        self._client = client
        self._index = index
        self._store = store
        self._clock = clock
        self._with_bodies = with_bodies
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self.app = client.app

    async def pull(self, orders: list[Order]) -> list[Order]:
        """One pull. Returns the orders carried out; what went wrong is in the source's state, never raised."""
        source = await self._store.get(self.app)
        done: list[Order] = []
        try:
            if any(order.reannounce for order in orders) or source.state is SourceState.RECONCILING:
                source = await self._reannounce(source)
                done += [order for order in orders if order.reannounce]
            await self._fetch_owed()
            source = await self._follow_feed(source)
            refetch = [order for order in orders if not order.reannounce]
            failed = await self._fetch([Pair(ItemId(order.item_id), _CURRENT) for order in refetch])
            done += [order for order in refetch if order.item_id not in {pair.item_id for pair in failed}]
            source = replace(source, state=SourceState.CURRENT, as_of=self._clock.now(), failure="")
        except ServiceError as error:
            log.get_logger().warning("a pull failed", app=self.app, kind=error.kind.value)
            source = await self._store.get(self.app)  # with whatever pages went through
            if source.state is not SourceState.RECONCILING:
                source = replace(source, state=SourceState.AS_OF)
            source = replace(source, failure=error.kind.value)
        source = replace(source, tried_at=self._clock.now())
        await self._store.put(source)
        await self._tell(source)
        return done

    async def _follow_feed(self, source: Source) -> Source:
        for _ in range(_MAX_PAGES):
            page = await self._client.changes(source.cursor)
            if page.reannounce_required:
                return await self._reannounce(source)
            await self._apply(page)
            # Only now: a page half applied is applied again after a crash, and applying twice changes nothing.
            stalled = page.has_more and page.next_cursor == source.cursor
            source = replace(source, cursor=page.next_cursor)
            await self._store.put(source)
            if stalled:
                raise ServiceError(Kind.UNAVAILABLE, "the feed has more but does not advance")
            if not page.has_more:
                return source
        raise ServiceError(Kind.UNAVAILABLE, "the feed does not end")

    async def _apply(self, page: FeedPage) -> None:
        """A page's last word on each item: what is gone is deleted, not downgraded (ING-02), the rest is fetched."""
        last = {change.pair.item_id: change for change in page.changes}
        gone = [item_id for item_id, change in last.items() if change.gone]
        await self._index.retire(self.app, gone)
        await self._store.settle(self.app, gone)
        failed = await self._fetch(change.pair for change in last.values() if not change.gone)
        if failed:
            await self._store.owe(self.app, failed)

    async def _reannounce(self, source: Source) -> Source:
        """The four rules of a restore (AUT-06 … AUT-09): out of the ranking until a complete announce is applied."""
        source = replace(source, state=SourceState.RECONCILING)
        if source.as_of is not None:  # on first contact there is nothing to reconcile, only something to read
            await self._store.put(source)
            await self._tell(source)
        announced = await read_announce(self._client)
        held = {pair.item_id: pair.revision for pair in await self._index.held(self.app)}
        differing = [
            Pair(item_id, revision) for item_id, revision in announced.items.items() if held.get(item_id) != revision
        ]
        failed = await self._fetch(differing)
        omitted = [item_id for item_id in held if item_id not in announced.items]
        await self._index.retire(self.app, omitted)
        await self._store.settle(self.app, omitted)
        if failed:
            await self._store.owe(self.app, failed)
        source = replace(source, cursor=announced.cursor, state=SourceState.CURRENT)
        await self._store.put(source)
        return source

    async def _fetch_owed(self) -> None:
        owed = await self._store.owed(self.app)
        if owed:
            # At the current revision: the one that was owed may be past by now.
            failed = {pair.item_id for pair in await self._fetch(Pair(pair.item_id, _CURRENT) for pair in owed)}
            await self._store.settle(self.app, [pair.item_id for pair in owed if pair.item_id not in failed])

    async def _fetch(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Fetch and store; returns those that could not be. One the sibling does not show is none of them."""
        wanted = list(pairs)
        outcomes = await asyncio.gather(*(self._fetch_one(pair) for pair in wanted), return_exceptions=True)
        failed: list[Pair] = []
        for pair, outcome in zip(wanted, outcomes, strict=True):
            if isinstance(outcome, ServiceError):
                failed.append(pair)
            elif isinstance(outcome, BaseException):
                raise outcome
        if failed and len(failed) == len(wanted) > 1:
            # Not one came through: the sibling or search is away, and the cursor must not move past the page.
            raise ServiceError(Kind.UNAVAILABLE, "no content could be fetched")
        return failed

    async def _fetch_one(self, pair: Pair) -> None:
        async with self._slots:
            try:
                content = await self._client.content(pair)
            except ServiceError as error:
                if error.kind is Kind.NOT_FOUND:
                    # Off the team rung or moved on since the row was written. Its own next row will say which; an
                    # absence here is no deletion.
                    return
                raise
            document = document_from(self.app, pair.item_id, content, with_body=self._with_bodies)
            await self._index.put(document)

    async def _tell(self, source: Source) -> None:
        try:
            await self._index.put_source(source)
        except ServiceError as error:
            log.get_logger().warning("search could not be told", app=self.app, kind=error.kind.value)

    async def source(self) -> tuple[Source, int]:
        """How it stands, and how many items are owed."""
        return await self._store.get(self.app), len(await self._store.owed(self.app))
