"""When to pull: once on waking and on each question, never by a timer (RUL-10).

Every source has at most one pull under way and one waiting, however many questions arrive meanwhile.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from memoria_chassis import log
from memoria_chassis.errors import ServiceError
from memoria_chassis.rpc import deadline
from memoria_ingest.orders_client import Order, OrdersClient
from memoria_ingest.siblings.puller import Puller
from memoria_ingest.siblings.state import History

_AFTER_THE_QUESTION = 0.03
"""Seconds: longer than the apps take to rule on a page, shorter than anybody takes to read one."""


class Rounds:
    """Starts pulls and keeps them apart."""

    def __init__(
        self,
        pullers: list[Puller],
        orders: OrdersClient,
        history: Callable[[], Awaitable[History]],
        after: float = _AFTER_THE_QUESTION,
        patience: Sequence[float] = (),
    ) -> None:
        """`history` asks search for that of its corpus. `patience`: seconds to wait between the first tries, for search
        starts beside ingest, and what is pulled under no history is announced anew as if it had been put back."""
        self._after = after
        self._history = history
        self._patience = list(patience)
        self._asking: asyncio.Future[History] | None = None
        self._pullers = pullers
        self._orders = orders
        self._running: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._taking: asyncio.Future[list[Order]] | None = None
        self._closed = False

    def nudge(self) -> None:
        """Pull every source soon. Returns at once."""
        for puller in self._pullers:
            self.nudge_one(puller)

    def nudge_one(self, puller: Puller) -> None:
        """Pull one source soon. Returns at once."""
        if self._closed:
            return
        if puller.app in self._running:
            self._again.add(puller.app)
        else:
            self._running[puller.app] = asyncio.create_task(self._pull(puller))

    async def _pull(self, puller: Puller) -> None:
        deadline.forget()  # a nudge's own deadline is over in a moment; the pull that it starts is not
        # The question that nudged is on its way to the same apps, and somebody waits for it.
        await asyncio.sleep(self._after)
        try:
            while True:
                self._again.discard(puller.app)
                try:
                    await self._once(puller)
                except Exception as error:
                    log.get_logger().error("a pull broke", app=puller.app, exc_info=error)
                if puller.app not in self._again:
                    return
        finally:
            self._running.pop(puller.app, None)

    async def _once(self, puller: Puller) -> None:
        try:
            orders = await self._open_orders()
        except ServiceError as error:
            log.get_logger().warning("orders could not be taken", app=puller.app, kind=error.kind.value)
            orders = []
        configured = {other.app for other in self._pullers}
        # Orders of an app that was taken out of the settings are nobody's to carry out, and would stand before others.
        done = [order for order in orders if order.app not in configured]
        history = await self._known_history()
        done += await puller.pull([order for order in orders if order.app == puller.app], history)
        try:
            await self._orders.complete(done)
        except ServiceError as error:
            log.get_logger().warning("orders could not be completed", app=puller.app, kind=error.kind.value)
        try:  # also where nothing was fetched: the history may be another
            await self._orders.report(puller.app, puller.fetches, history.lineage if history else "")
        except ServiceError as error:  # told with the next pull's
            log.get_logger().warning("fetches could not be counted", app=puller.app, kind=error.kind.value)

    async def _open_orders(self) -> list[Order]:
        """The open orders, asked for once for all the pulls that a nudge starts."""
        if self._taking is None or self._taking.done():
            self._taking = asyncio.ensure_future(self._orders.take())
        return await asyncio.shield(self._taking)

    async def _known_history(self) -> History | None:
        """The history of search's corpus, asked for once a nudge; None where it cannot be had now."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.ensure_future(self._ask_history())
        try:
            return await asyncio.shield(self._asking)
        except ServiceError as error:
            log.get_logger().warning("search did not name its corpus", kind=error.kind.value)
            return None

    async def _ask_history(self) -> History:
        while self._patience:
            try:
                return await self._history()
            except ServiceError:
                await asyncio.sleep(self._patience.pop(0))
        return await self._history()

    async def settled(self) -> None:
        """Wait until no pull is under way."""
        while self._running:
            await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def close(self) -> None:
        """Stop the pulls; what they had not stored is pulled again after the next start."""
        self._closed = True
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
