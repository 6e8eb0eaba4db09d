"""IntakeService: uploads, deletions, nudges, sources and their owner's wishes; the calls about connectors beside it."""

import asyncio
from collections.abc import AsyncIterator

import grpc

from memoria.index.v1 import index_pb2
from memoria.intake.v1 import intake_pb2 as pb
from memoria.intake.v1 import intake_pb2_grpc
from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.wire import timestamp_to_wire
from memoria_ingest.connectors.pushes import Pushes
from memoria_ingest.connectors.server import ConnectorCalls
from memoria_ingest.index_client import IndexClient
from memoria_ingest.siblings.controls import Controls
from memoria_ingest.siblings.puller import Puller
from memoria_ingest.siblings.rounds import Rounds
from memoria_ingest.siblings.state import Stop
from memoria_ingest.uploads import Uploads, gather
from memoria_ingest.wire import SOURCE_STATES

_UPLOADS_AT_ONCE = 16  # each holds up to 32 MiB, twice that while it is converted, and two are converted at a time


class IntakeServer(ConnectorCalls, intake_pb2_grpc.IntakeServiceServicer):
    """The gateway's way down."""

    def __init__(
        self,
        uploads: Uploads,
        index: IndexClient,
        rounds: Rounds,
        pullers: list[Puller],
        controls: Controls,
        pushes: Pushes,
    ) -> None:
        super().__init__(pushes)
        self._uploads = uploads
        self._index = index
        self._rounds = rounds
        self._pullers = pullers
        self._controls = controls
        self._slots = asyncio.Semaphore(_UPLOADS_AT_ONCE)

    async def Upload(
        self, request_iterator: AsyncIterator[pb.UploadRequest], context: grpc.aio.ServicerContext
    ) -> pb.UploadResponse:
        """One file, whole."""
        first = await anext(request_iterator, None)
        if first is None or first.WhichOneof("part") != "header":
            raise ServiceError(Kind.INVALID, "an upload begins with its header")
        async with self._slots:  # for a slow sender's body too: what is bounded is memory, conversions have their own
            body = await gather(_data(request_iterator), first.header.size)
            taken = await self._uploads.take(first.header.filename, body)
        return pb.UploadResponse(
            documents=[
                pb.UploadedDocument(
                    document_id=stored.document_id,
                    title=document.title,
                    revision=stored.revision,
                    chunks=len(document.chunks),
                    outcome=index_pb2.PUT_OUTCOME_CREATED if stored.created else index_pb2.PUT_OUTCOME_REPLACED,
                )
                for document, stored in taken.documents
            ],
            warnings=taken.warnings,
        )

    async def DeleteDocument(
        self, request: pb.DeleteDocumentRequest, context: grpc.aio.ServicerContext
    ) -> pb.DeleteDocumentResponse:
        """Delete a memoria-owned document."""
        return pb.DeleteDocumentResponse(deleted=await self._index.delete(request.document_id))

    async def Nudge(self, request: pb.NudgeRequest, context: grpc.aio.ServicerContext) -> pb.NudgeResponse:
        """A question was asked."""
        self._rounds.nudge()
        return pb.NudgeResponse()

    async def ListSources(
        self, request: pb.ListSourcesRequest, context: grpc.aio.ServicerContext
    ) -> pb.ListSourcesResponse:
        """How every source stands."""
        pullers = sorted(self._pullers, key=lambda puller: puller.app)
        return pb.ListSourcesResponse(
            sources=await asyncio.gather(*(self._source(puller, count=request.count) for puller in pullers))
        )

    async def _source(self, puller: Puller, *, count: bool) -> pb.Source:
        source, owed, stop = await puller.source()
        return pb.Source(
            app=source.app,
            state=SOURCE_STATES[source.state],
            as_of=timestamp_to_wire(source.as_of),
            tried_at=timestamp_to_wire(source.tried_at),
            failure=source.failure,
            missed=owed,
            held=await self._held(puller.app) if count else None,
            paused=stop is not None,
            removing=stop is Stop.REMOVING,
        )

    async def _held(self, app: str) -> int | None:
        try:
            return await self._index.count(app)
        except ServiceError as error:
            log.get_logger().warning("search did not say what it holds", app=app, kind=error.kind.value)
            return None

    async def SyncSource(
        self, request: pb.SyncSourceRequest, context: grpc.aio.ServicerContext
    ) -> pb.SyncSourceResponse:
        """Pull one source now."""
        await self._controls.sync(request.app, reannounce=request.reannounce)
        return pb.SyncSourceResponse()

    async def PauseSource(
        self, request: pb.PauseSourceRequest, context: grpc.aio.ServicerContext
    ) -> pb.PauseSourceResponse:
        """Pause or resume one source."""
        await self._controls.pause(request.app, paused=request.paused)
        return pb.PauseSourceResponse()

    async def RemoveSource(
        self, request: pb.RemoveSourceRequest, context: grpc.aio.ServicerContext
    ) -> pb.RemoveSourceResponse:
        """Retire everything held of one source."""
        return pb.RemoveSourceResponse(retired=await self._controls.remove(request.app))


async def _data(messages: AsyncIterator[pb.UploadRequest]) -> AsyncIterator[bytes]:
    async for message in messages:
        if message.WhichOneof("part") != "data":
            raise ServiceError(Kind.INVALID, "an upload has one header")
        yield message.data
