"""The gateway's side of ingest's calls about push connectors. A token is handed on and never looked at here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memoria.intake.v1 import intake_pb2, intake_pb2_grpc
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc.client import Peer
from memoria_contract.wire import timestamp_to_wire
from memoria_gateway.push_items import PushedItem

_QUICK = 2.0
_ITEM_SECONDS = 60.0
"""search may be restarted meanwhile, which ingest waits out."""

_REMOVE_SECONDS = 10.0

_STATUSES = {
    intake_pb2.PUSH_OUTCOME_STORED: "stored",
    intake_pb2.PUSH_OUTCOME_UNCHANGED: "unchanged",
    intake_pb2.PUSH_OUTCOME_REPLACED: "replaced",
    intake_pb2.PUSH_OUTCOME_DELETED: "deleted",
    intake_pb2.PUSH_OUTCOME_ABSENT: "absent",
}


@dataclass(frozen=True, slots=True)
class Presented:
    """What a program shows at a connector's door."""

    connector_id: str
    token: str = field(repr=False)
    origin: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class PushConnector:
    """A push connector as its owner sees it. `held` is None where search did not say."""

    connector_id: str
    name: str = field(repr=False)
    origins: tuple[str, ...] = field(default=(), repr=False)
    created_at: datetime | None = None
    used_at: datetime | None = None
    held: int | None = None


class PushClient:
    """ingest's connectors."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._stub = intake_pb2_grpc.IntakeServiceStub(peer.channel)

    async def create(self, name: str, origins: Sequence[str]) -> tuple[str, str]:
        """A new connector: its id, and its token, which is shown this once. Raises INVALID or EXHAUSTED."""
        request = intake_pb2.CreateConnectorRequest(name=name, origins=origins)
        reply = await self._peer.call(self._stub.CreateConnector, request, timeout=_QUICK)
        return reply.connector_id, reply.token

    async def connectors(self) -> list[PushConnector]:
        """Every connector, and how much is held of it."""
        request = intake_pb2.ListConnectorsRequest(count=True)
        reply = await self._peer.call(self._stub.ListConnectors, request, timeout=_QUICK)
        return [
            PushConnector(
                each.connector_id,
                each.name,
                tuple(each.origins),
                each.created_at.ToDatetime(UTC),
                each.used_at.ToDatetime(UTC) if each.HasField("used_at") else None,
                each.held if each.HasField("held") else None,
            )
            for each in reply.connectors
        ]

    async def remove(self, connector_id: str) -> None:
        """End a connector; what it brought stays. Raises NOT_FOUND."""
        request = intake_pb2.RemoveConnectorRequest(connector_id=connector_id)
        await self._peer.call(self._stub.RemoveConnector, request, timeout=_REMOVE_SECONDS)

    async def renew(self, connector_id: str) -> str:
        """Another token, this once: the old one opens nothing any more. Raises NOT_FOUND."""
        request = intake_pb2.RenewConnectorRequest(connector_id=connector_id)
        reply = await self._peer.call(self._stub.RenewConnector, request, timeout=_REMOVE_SECONDS)
        return reply.token

    async def check(self, presented: Presented) -> None:
        """Return if the token opens the connector. Raises UNAUTHENTICATED, or REFUSED for a page of another origin."""
        request = intake_pb2.CheckConnectorRequest(key=_key(presented))
        await self._peer.call(self._stub.CheckConnector, request, timeout=_QUICK)

    async def push(self, presented: Presented, item: PushedItem) -> str:
        """What became of one item: stored, unchanged, replaced, deleted or absent. Durable and found on return."""
        request = intake_pb2.PushItemRequest(
            key=_key(presented),
            external_id=item.external_id,
            gone=item.gone,
            title=item.title,
            trail=item.trail,
            text=item.text,
            date=timestamp_to_wire(item.date),
            link=item.link,
        )
        reply = await self._peer.call(self._stub.PushItem, request, timeout=_ITEM_SECONDS)
        if reply.outcome not in _STATUSES:
            raise ServiceError(Kind.INTERNAL, "It was not said what became of it; push it again.")
        return _STATUSES[reply.outcome]


def _key(presented: Presented) -> intake_pb2.ConnectorKey:
    return intake_pb2.ConnectorKey(connector_id=presented.connector_id, token=presented.token, origin=presented.origin)
