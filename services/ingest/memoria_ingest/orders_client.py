"""Ingest's side of the calls to authz: the work orders that rulings left behind, and what fetches came to."""

from dataclasses import dataclass, field

from memoria.gate.v1 import gate_pb2 as pb
from memoria.gate.v1 import gate_pb2_grpc
from memoria_chassis.rpc.client import Peer

_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Order:
    """One order; without an item it asks for a full announce of the app."""

    order_id: str
    app: str
    item_id: str = field(repr=False)
    reannounce: bool


@dataclass(slots=True)
class FetchCounts:
    """Answers to S3 that authz has not been told of."""

    fetched: int = 0
    not_found: int = 0


class OrdersClient:
    """authz."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._stub = gate_pb2_grpc.GateServiceStub(peer.channel)
        self._told: dict[str, str] = {}  # the history that was last named, by app

    async def take(self) -> list[Order]:
        """The open orders, oldest first."""
        reply = await self._peer.call(self._stub.TakeWorkOrders, pb.TakeWorkOrdersRequest(), timeout=_SECONDS)
        return [
            Order(order.order_id, order.app, order.item_id, order.kind == pb.WORK_ORDER_KIND_REANNOUNCE)
            for order in reply.orders
            if order.kind != pb.WORK_ORDER_KIND_UNSPECIFIED
        ]

    async def complete(self, orders: list[Order]) -> None:
        """End orders that were carried out."""
        if orders:
            request = pb.CompleteWorkOrdersRequest(order_ids=[order.order_id for order in orders])
            await self._peer.call(self._stub.CompleteWorkOrders, request, timeout=_SECONDS)

    async def report(self, app: str, counts: FetchCounts, lineage: str) -> None:
        """Tell what fetches came to and take it off `counts`. `lineage`: of search's database, empty if not known.

        Where there is nothing new to tell, nothing is sent: a pull follows every question.
        """
        if counts == FetchCounts() and lineage in ("", self._told.get(app)):
            return
        told = FetchCounts(counts.fetched, counts.not_found)
        count = pb.FetchCount(app=app, fetched=told.fetched, not_found=told.not_found)
        request = pb.ReportFetchesRequest(counts=[count], lineage=lineage)
        await self._peer.call(self._stub.ReportFetches, request, timeout=_SECONDS)
        counts.fetched -= told.fetched
        counts.not_found -= told.not_found
        self._told[app] = lineage
