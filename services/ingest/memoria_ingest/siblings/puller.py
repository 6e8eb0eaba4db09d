"""Pulls one source: orders first, then the feed from where it stood. A failure deletes nothing (ING-07)."""

import asyncio
import secrets
from dataclasses import replace

from memoria_chassis import log
from memoria_chassis.clock import Clock
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import ItemId, Pair, Revision
from memoria_ingest.index_client import IndexClient
from memoria_ingest.orders_client import FetchCounts, Order
from memoria_ingest.siblings.announce import read_announce
from memoria_ingest.siblings.calls import Calls, Interrupted
from memoria_ingest.siblings.content import document_from
from memoria_ingest.siblings.sibling_client import Content, FeedPage, SiblingClient
from memoria_ingest.siblings.state import History, Source, SourceState, SourceStore, Stop

_AT_ONCE = 6  # S3 calls under way at one sibling
_BATCH = 24  # items between two looks at whether anything comes at all
_RETIRED_AT_ONCE = 1000
_MAX_PAGES = 10_000
_TRIES = 3
_CURRENT = Revision("")
_shuffle = secrets.SystemRandom().shuffle


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
        self._stuck = ("", 0)  # (where nothing could be fetched, how many pulls in a row)
        self.fetches = FetchCounts()
        self.calls = Calls()
        self.app = client.app

    async def pull(self, orders: list[Order], history: History | None = None) -> list[Order]:
        """One pull. Returns the orders carried out; what went wrong is in the source's state, never raised.

        `history` is that of search's corpus, None where it is not known. Another one than the cursor belongs to says
        that the corpus was put back from a backup: the feed would not repeat what it lost (ING-27).
        """
        async with self.calls.pulling():
            if await self._store.stop(self.app):
                return await self._stand_still(orders)
            return await self._pull(orders, history)

    async def _stand_still(self, orders: list[Order]) -> list[Order]:
        """A paused source: nothing is asked of the sibling. Its orders are carried out by what a resume reads: the feed
        for single items, and the announce of a source that was restored, which leaves the ranking at once."""
        source = await self._store.get(self.app)
        if any(order.reannounce for order in orders):
            source = replace(source, state=SourceState.RECONCILING)
            await self._store.put(source)
        await self.tell(source)
        return orders

    async def _pull(self, orders: list[Order], history: History | None) -> list[Order]:
        source = await self._store.get(self.app)
        if source.as_of is None:
            await self.tell(source)  # a first pull can take minutes, and "nothing matched" would be untrue meanwhile
        done: list[Order] = []
        try:
            ordered = _put_back(source, history) or any(order.reannounce for order in orders)
            if ordered or source.state is SourceState.RECONCILING:
                source = await self._reannounce(source, ordered=ordered)
                source = self._in(source, history)
                done += [order for order in orders if order.reannounce]
            await self._fetch_owed()
            source = await self._follow_feed(source)
            done += await self._refetch([order for order in orders if not order.reannounce])
            owing = bool(await self._store.owed(self.app))
            state = SourceState.PARTIAL if owing else SourceState.CURRENT
            source = replace(self._in(source, history), state=state, as_of=self._clock.now(), failure="")
        except Interrupted:
            return done
        except Exception as error:
            kind = error.kind if isinstance(error, ServiceError) else Kind.INTERNAL
            broken = None if isinstance(error, ServiceError) else error  # ours say themselves what they are
            log.get_logger().warning("a pull failed", app=self.app, kind=kind.value, exc_info=broken)
            source = await self._store.get(self.app)  # with whatever pages went through
            if source.state is not SourceState.RECONCILING:
                source = replace(source, state=SourceState.AS_OF)
            source = replace(source, failure=kind.value)
        source = replace(source, tried_at=self._clock.now())
        await self._store.put(source)
        await self.tell(source)
        return done

    def _in(self, source: Source, history: History | None) -> Source:
        """The source, read to its end in this history."""
        if history is None:
            return source
        return replace(source, lineage=history.lineage, acknowledged=self._index.acknowledged)

    async def _follow_feed(self, source: Source) -> Source:
        seen = {hash(source.cursor)}  # not the cursors, of which each may be large
        for _ in range(_MAX_PAGES):
            page = await self.calls.ask(self._client.changes(source.cursor))
            if page.reannounce_required:
                return await self._reannounce(source)
            await self._apply(page, source.cursor)
            # Only now: a page half applied is applied again after a crash, and applying twice changes nothing.
            source = replace(source, cursor=page.next_cursor)
            await self._store.put(source)
            if not page.has_more:
                return source
            if hash(source.cursor) in seen:
                raise ServiceError(Kind.UNAVAILABLE, "the feed has more but does not advance")
            seen.add(hash(source.cursor))
        raise ServiceError(Kind.UNAVAILABLE, "the feed does not end")

    async def _apply(self, page: FeedPage, cursor: str) -> None:
        """A page's last word on each item: what is gone is deleted, not downgraded (ING-02), the rest is fetched."""
        last = {change.pair.item_id: change for change in page.changes}
        await self.retire([item_id for item_id, change in last.items() if change.gone])
        await self._fetch_or_owe([change.pair for change in last.values() if not change.gone], cursor)

    async def _reannounce(self, source: Source, *, ordered: bool = False) -> Source:
        """The four rules of a restore (AUT-06 … AUT-09): out of the ranking until a complete announce is applied."""
        source = replace(source, state=SourceState.RECONCILING)
        if ordered or source.cursor or source.as_of is not None:  # else a first contact, with nothing to reconcile
            await self._store.put(source)
            await self.tell(source)
        announced = await self.calls.ask(read_announce(self._client))
        held = {pair.item_id: pair.revision for pair in await self._index.held(self.app)}
        differing = [
            Pair(item_id, revision) for item_id, revision in announced.items.items() if held.get(item_id) != revision
        ]
        await self._fetch_or_owe(differing, "announce")
        await self.retire([item_id for item_id in held if item_id not in announced.items])
        # Owed but neither announced nor held: it left while we were not looking.
        owed = [pair.item_id for pair in await self._store.owed(self.app)]
        await self._store.settle(self.app, [item_id for item_id in owed if item_id not in announced.items])
        source = replace(source, cursor=announced.cursor, state=SourceState.CURRENT)
        await self._store.put(source)
        return source

    async def retire(self, item_ids: list[ItemId]) -> None:
        """Have items removed from search, in parts; none of them is owed any more."""
        for start in range(0, len(item_ids), _RETIRED_AT_ONCE):
            batch = item_ids[start : start + _RETIRED_AT_ONCE]
            await self._index.retire(self.app, batch)
            await self._store.settle(self.app, batch)

    async def _refetch(self, orders: list[Order]) -> list[Order]:
        """Orders for single items: those carried out. The others stay open; they say nothing of the feed."""
        pairs = {order.item_id: Pair(ItemId(order.item_id), _CURRENT) for order in orders}
        missed = {pair.item_id for pair in await self._fetch(list(pairs.values()))}
        return [order for order in orders if order.item_id not in missed]

    async def _fetch_owed(self) -> None:
        owed = await self._store.owed(self.app)
        _shuffle(owed)  # or the same few that never come would stand before all others
        # At the current revision: the one that was owed may be past by now.
        missed = {pair.item_id for pair in await self._fetch([Pair(pair.item_id, _CURRENT) for pair in owed])}
        await self._store.settle(self.app, [pair.item_id for pair in owed if pair.item_id not in missed])

    async def _fetch_or_owe(self, pairs: list[Pair], place: str) -> None:
        """Fetch, and owe what does not come. Raises where nothing came: the sibling or search is away then.

        But not for ever at one place: a page of which nothing can be had is passed at the third try, owing all of it,
        or it would keep everything behind it from us.
        """
        missed = await self._fetch(pairs)
        if len(missed) == len(pairs) > 1:
            self._stuck = (place, self._stuck[1] + 1 if self._stuck[0] == place else 1)
            if self._stuck[1] < _TRIES:
                raise ServiceError(Kind.UNAVAILABLE, "no content could be fetched")
        self._stuck = ("", 0)
        if missed:
            await self._store.owe(self.app, missed)
        came = {pair.item_id for pair in pairs} - {pair.item_id for pair in missed}
        await self._store.settle(self.app, came)

    async def _fetch(self, pairs: list[Pair]) -> list[Pair]:
        """Fetch and store; returns those that could not be. One the sibling does not show is none of them.

        Stops at the first batch of which nothing came, for each of its calls may have taken its whole time-out.
        """
        missed: list[Pair] = []
        for start in range(0, len(pairs), _BATCH):
            batch = pairs[start : start + _BATCH]
            came = await asyncio.gather(*(self._fetch_one(pair) for pair in batch))
            self.calls.check()  # else what was not asked for would be owed, as if it could not be had
            missed += [pair for pair, good in zip(batch, came, strict=True) if not good]
            if not any(came):
                return missed + pairs[start + _BATCH :]
        return missed

    async def _fetch_one(self, pair: Pair) -> bool:
        """Whether there is nothing left to fetch of it. Raises nothing: one item never costs the others."""
        async with self._slots:
            try:
                content = await self._content(pair)
                document = await asyncio.to_thread(
                    document_from, self.app, pair.item_id, content, with_body=self._with_bodies
                )
            except ServiceError as error:
                # Off the team rung or moved on since the row was written. Its own next row will say which; an
                # absence here is no deletion.
                return error.kind is Kind.NOT_FOUND
            except Exception as error:
                log.get_logger().error("an item could not be read", app=self.app, exc_info=error)
                return False
            try:
                await self._index.put(document)
            except ServiceError as error:
                log.get_logger().warning("search did not take an item", app=self.app, kind=error.kind.value)
                return False
            return True

    async def _content(self, pair: Pair) -> Content:
        """S3, counted: what was found and what was not; anything else is no answer (RET-12)."""
        try:
            content = await self.calls.ask(self._client.content(pair))
        except ServiceError as error:
            self.fetches.not_found += error.kind is Kind.NOT_FOUND
            raise
        self.fetches.fetched += 1
        return content

    async def tell(self, source: Source) -> None:
        """Tell search how the source stands, if it can be told now: the next pull tells it again."""
        try:
            await self._index.put_source(source)
        except ServiceError as error:
            log.get_logger().warning("search could not be told", app=self.app, kind=error.kind.value)

    async def source(self) -> tuple[Source, int, Stop | None]:
        """How it stands, how many items are owed, and whether an owner stopped it."""
        owed = len(await self._store.owed(self.app))
        return await self._store.get(self.app), owed, await self._store.stop(self.app)


def _put_back(source: Source, history: History | None) -> bool:
    """Search holds less than the cursor is past: it has another lineage, or gave its numbers up to a lower one."""
    if history is None or not source.cursor:
        return False
    return source.lineage != history.lineage or source.acknowledged > history.last_number
