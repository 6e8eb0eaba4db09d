"""When to pull: once on waking and on each question, never by a timer (RUL-10).

Every source has at most one pull under way and one waiting, however many questions arrive meanwhile.
"""

import asyncio

from memoria_chassis import log
from memoria_chassis.errors import ServiceError
from memoria_chassis.rpc import deadline
from memoria_ingest.orders_client import Order, OrdersClient
from memoria_ingest.siblings.puller import Puller


class Rounds:
    """Starts pulls and keeps them apart."""

    def __init__(self, pullers: list[Puller], orders: OrdersClient) -> None:
        self._pullers = pullers
        self._orders = orders
        self._running: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._closed = False

    def nudge(self) -> None:
        """Pull every source soon. Returns at once."""
        if self._closed:
            return
        for puller in self._pullers:
            if puller.app in self._running:
                self._again.add(puller.app)
            else:
                task = asyncio.create_task(self._pull(puller))
                self._running[puller.app] = task

    async def _pull(self, puller: Puller) -> None:
        deadline.forget()  # a nudge's own deadline is over in a moment; the pull that it starts is not
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
            orders = [order for order in await self._orders.take() if order.app == puller.app]
        except ServiceError as error:
            log.get_logger().warning("orders could not be taken", app=puller.app, kind=error.kind.value)
            orders = []
        done: list[Order] = await puller.pull(orders)
        try:
            await self._orders.complete(done)
        except ServiceError as error:
            log.get_logger().warning("orders could not be completed", app=puller.app, kind=error.kind.value)

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
