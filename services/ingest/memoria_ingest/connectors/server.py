"""IntakeService's calls about connectors: message in, message out."""

import asyncio
from datetime import UTC, datetime

import grpc

from memoria.intake.v1 import intake_pb2 as pb
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.wire import timestamp_to_wire
from memoria_ingest.connectors.pushes import Item, Outcome, Pushes
from memoria_ingest.connectors.store import Connector, ConnectorKey

_OUTCOMES = {
    Outcome.STORED: pb.PUSH_OUTCOME_STORED,
    Outcome.UNCHANGED: pb.PUSH_OUTCOME_UNCHANGED,
    Outcome.REPLACED: pb.PUSH_OUTCOME_REPLACED,
    Outcome.DELETED: pb.PUSH_OUTCOME_DELETED,
    Outcome.ABSENT: pb.PUSH_OUTCOME_ABSENT,
}


class ConnectorCalls:
    """A part of the servicer."""

    def __init__(self, pushes: Pushes) -> None:
        self._pushes = pushes

    async def CreateConnector(
        self, request: pb.CreateConnectorRequest, context: grpc.aio.ServicerContext
    ) -> pb.CreateConnectorResponse:
        """Make one."""
        connector_id, token = await self._pushes.create(request.name, request.origins)
        return pb.CreateConnectorResponse(connector_id=connector_id, token=token)

    async def ListConnectors(
        self, request: pb.ListConnectorsRequest, context: grpc.aio.ServicerContext
    ) -> pb.ListConnectorsResponse:
        """Every one."""
        connectors = await self._pushes.connectors()
        return pb.ListConnectorsResponse(
            connectors=await asyncio.gather(*(self._connector(each, count=request.count) for each in connectors))
        )

    async def _connector(self, connector: Connector, *, count: bool) -> pb.Connector:
        return pb.Connector(
            connector_id=connector.connector_id,
            name=connector.name,
            origins=connector.origins,
            created_at=timestamp_to_wire(connector.created_at),
            used_at=timestamp_to_wire(connector.used_at),
            held=await self._pushes.held(connector.connector_id) if count else None,
        )

    async def RemoveConnector(
        self, request: pb.RemoveConnectorRequest, context: grpc.aio.ServicerContext
    ) -> pb.RemoveConnectorResponse:
        """End one."""
        await self._pushes.remove(request.connector_id)
        return pb.RemoveConnectorResponse()

    async def RenewConnector(
        self, request: pb.RenewConnectorRequest, context: grpc.aio.ServicerContext
    ) -> pb.RenewConnectorResponse:
        """Another token."""
        return pb.RenewConnectorResponse(token=await self._pushes.renew(request.connector_id))

    async def CheckConnector(
        self, request: pb.CheckConnectorRequest, context: grpc.aio.ServicerContext
    ) -> pb.CheckConnectorResponse:
        """Whether a token opens one."""
        await self._pushes.check(_key(request.key))
        return pb.CheckConnectorResponse()

    async def PushItem(self, request: pb.PushItemRequest, context: grpc.aio.ServicerContext) -> pb.PushItemResponse:
        """One item."""
        item = Item(
            request.external_id,
            request.title,
            tuple(request.trail),
            request.text,
            _date(request) if request.HasField("date") else None,
            request.link,
            request.gone,
        )
        return pb.PushItemResponse(outcome=_OUTCOMES[await self._pushes.push(_key(request.key), item)])


def _key(message: pb.ConnectorKey) -> ConnectorKey:
    return ConnectorKey(message.connector_id, message.token, message.origin)


def _date(request: pb.PushItemRequest) -> datetime:
    try:
        return request.date.ToDatetime(UTC)
    except (ValueError, OverflowError) as error:
        raise ServiceError(Kind.INVALID, "A date is out of range.") from error
