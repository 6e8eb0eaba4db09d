"""Ingest's calls to authz: what is told, and when there is nothing to tell."""

from collections.abc import Callable
from typing import Any

from memoria.gate.v1 import gate_pb2 as pb
from memoria_ingest.orders_client import FetchCounts, OrdersClient


class FakePeer:
    """authz's socket: remembers what was sent; `meanwhile` runs while a call is under way."""

    channel = None

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.meanwhile: Callable[[], None] = lambda: None

    async def call(self, method: Any, request: Any, timeout: float) -> Any:
        """One call."""
        self.sent.append(request)
        self.meanwhile()
        return pb.ReportFetchesResponse()


def client(peer: FakePeer, monkeypatch: Any) -> OrdersClient:
    """A client over it."""

    class Stub:
        ReportFetches = None

    monkeypatch.setattr("memoria_ingest.orders_client.gate_pb2_grpc.GateServiceStub", lambda channel: Stub)
    return OrdersClient(peer)  # type: ignore[arg-type] # a fake


async def test_nothing_new_is_not_sent_and_another_history_is(monkeypatch: Any) -> None:
    """A pull follows every question, so a call that says nothing is left out; another history always says something."""
    peer = FakePeer()
    orders = client(peer, monkeypatch)
    nothing = FetchCounts()
    for lineage in ("", "one", "one", "", "two"):
        await orders.report("docs", nothing, lineage)
    assert [request.lineage for request in peer.sent] == ["one", "two"]
    await orders.report("docs", FetchCounts(fetched=1), "two")
    assert [(count.fetched, count.not_found) for count in peer.sent[-1].counts] == [(1, 0)]


async def test_what_is_fetched_while_a_report_is_under_way_is_told_with_the_next(monkeypatch: Any) -> None:
    """Broken to see it red: the counts set to nothing after the call."""
    peer = FakePeer()
    orders = client(peer, monkeypatch)
    counts = FetchCounts(fetched=3, not_found=1)

    def more() -> None:
        counts.fetched += 2

    peer.meanwhile = more
    await orders.report("docs", counts, "one")
    assert counts == FetchCounts(fetched=2)
