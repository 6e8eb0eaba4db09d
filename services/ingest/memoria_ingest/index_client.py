"""Ingest's side of the calls to search: content and deletions flow down."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from google.protobuf.message import Message
from tenacity import AsyncRetrying, retry_if_exception, stop_after_delay, wait_exponential_jitter

from memoria.index.v1 import index_pb2 as pb
from memoria.index.v1 import index_pb2_grpc
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc.client import Peer
from memoria_contract.types import Pair
from memoria_contract.wire import author_to_wire, pair_from_wire, timestamp_to_wire
from memoria_ingest.document import Document, Held, SiblingOrigin, Stored
from memoria_ingest.siblings.state import History, Source, SourceState
from memoria_ingest.wire import SOURCE_STATES

_SECONDS = 30.0
_COUNT_SECONDS = 1.5  # an index that is asleep takes longer; the page then says that the number cannot be told
_RETRY_SECONDS = 20
"""A search that is restarted rebuilds its index first; uploads under way wait for it this long before they say so."""


def _passing(error: BaseException) -> bool:
    return isinstance(error, ServiceError) and error.kind is Kind.UNAVAILABLE


class IndexClient:
    """search. Every call here may be repeated without harm, so a restart of search is waited out."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._stub = index_pb2_grpc.IndexServiceStub(peer.channel)
        self._told: dict[str, tuple[SourceState, datetime | None]] = {}
        self._lineage = ""
        self.acknowledged = 0
        """The highest number that search has acknowledged a document under, in the history it has now."""

    async def _call(self, method: Any, request: Message) -> Any:
        attempts = AsyncRetrying(
            retry=retry_if_exception(_passing),
            stop=stop_after_delay(_RETRY_SECONDS),
            wait=wait_exponential_jitter(multiplier=0.1, max=1.0),
            reraise=True,
        )
        async for attempt in attempts:
            with attempt:
                return await self._peer.call(method, request, timeout=_SECONDS)
        raise AssertionError("unreachable: the attempts re-raise")

    async def put(self, document: Document) -> Stored:
        """Store a document, durable and found on return."""
        request = pb.PutDocumentRequest(
            title=document.title,
            trail=document.trail,
            author=author_to_wire(document.author),
            date=timestamp_to_wire(document.date),
            link=document.link,
            chunks=[pb.Chunk(trail=chunk.trail, text=chunk.text) for chunk in document.chunks],
        )
        origin = document.origin
        if isinstance(origin, SiblingOrigin):
            request.sibling.app = origin.app
            request.sibling.item_id = origin.pair.item_id
            request.sibling.revision = origin.pair.revision
        else:
            request.upload.external_id = origin.external_id
            request.upload.part = origin.part
            request.upload.parts = origin.parts
        reply = await self._call(self._stub.PutDocument, request)
        self.acknowledged = max(self.acknowledged, reply.number)
        return Stored(reply.document_id, reply.revision, reply.outcome == pb.PUT_OUTCOME_CREATED, reply.number)

    async def delete(self, document_id: str) -> int:
        """Delete a memoria-owned document with its parts; returns how many went."""
        reply = await self._call(self._stub.DeleteDocument, pb.DeleteDocumentRequest(document_id=document_id))
        return int(reply.deleted)

    async def uploads(self, external_ids: Sequence[bytes], *, patient: bool = True) -> list[Held]:
        """What is held under each. Raises ServiceError; without patience at once, where a page waits for a number."""
        request = pb.FindUploadsRequest(external_ids=external_ids)
        if patient:
            reply = await self._call(self._stub.FindUploads, request)
        else:
            reply = await self._peer.call(self._stub.FindUploads, request, timeout=_COUNT_SECONDS)
        return [Held(each.document_id, each.number) for each in reply.uploads]

    async def retire(self, app: str, item_ids: Iterable[str]) -> None:
        """Remove a sibling's items."""
        ids = list(item_ids)
        if ids:
            await self._call(self._stub.RetireItems, pb.RetireItemsRequest(app=app, item_ids=ids))

    async def held(self, app: str) -> list[Pair]:
        """What is held of a sibling."""
        reply = await self._call(self._stub.ListItems, pb.ListItemsRequest(app=app))
        return [pair_from_wire(item) for item in reply.items]

    async def count(self, app: str) -> int:
        """How many documents are held of a sibling. Raises ServiceError; not retried, for a page waits."""
        request = pb.CountItemsRequest(app=app)
        return int((await self._peer.call(self._stub.CountItems, request, timeout=_COUNT_SECONDS)).held)

    async def put_source(self, source: Source) -> None:
        """Say how a source stands, unless search was told already: of a current source it needs no newer time."""
        said = (source.state, None if source.state is SourceState.CURRENT else source.as_of)
        if self._told.get(source.app) == said:
            return
        request = pb.PutSourceRequest(
            app=source.app, state=SOURCE_STATES[source.state], as_of=timestamp_to_wire(source.as_of)
        )
        # Forgotten first: a call whose answer is lost may have been carried out all the same.
        self._told.pop(source.app, None)
        await self._call(self._stub.PutSource, request)
        self._told[source.app] = said

    async def history(self) -> History:
        """The history of what search holds. Raises ServiceError; not retried, for the next question asks again."""
        reply = await self._peer.call(self._stub.GetLineage, pb.GetLineageRequest(), timeout=_SECONDS)
        if reply.lineage != self._lineage or reply.last_number < self.acknowledged:
            self._told.clear()  # a corpus that was put back has forgotten how its sources stand
            self._lineage, self.acknowledged = reply.lineage, reply.last_number
        return History(reply.lineage, reply.last_number)
