"""The RPCs: message in, message out; what they mean is elsewhere."""

from typing import Any

from memoria.index.v1 import index_pb2 as pb
from memoria.index.v1.index_pb2_grpc import IndexServiceServicer
from memoria_contract.types import ItemId
from memoria_contract.wire import pair_to_wire
from memoria_search import wire
from memoria_search.gate import Gate, SpokenDocument
from memoria_search.library import Library
from memoria_search.notices import Notice
from memoria_search.search import MAX_PAGE_SIZE, Searcher


class IndexServer(IndexServiceServicer):
    """Serves memoria.index.v1."""

    def __init__(self, library: Library, gate: Gate, searcher: Searcher) -> None:
        self._library = library
        self._gate = gate
        self._searcher = searcher

    async def Search(self, request: pb.SearchRequest, context: Any) -> pb.SearchResponse:
        """Rank, rule in one round, return what may be spoken."""
        async with self._library.awake():
            found = await self._searcher.search(
                wire.subject(request), request.query, request.page, request.page_size or MAX_PAGE_SIZE
            )
            return pb.SearchResponse(
                results=[wire.result(row.passage, row.snippet) for row in found.rows],
                notices=[wire.notice(line) for line in found.page.notices],
                more=found.page.more,
                refine=found.page.refine,
            )

    async def GetDocument(self, request: pb.GetDocumentRequest, context: Any) -> pb.GetDocumentResponse:
        """One document, after the same ruling."""
        async with self._library.awake():
            match await self._gate.document(wire.subject(request), request.document_id):
                case SpokenDocument() as spoken:
                    return pb.GetDocumentResponse(document=wire.document(spoken))
                case Notice() as withheld:
                    return pb.GetDocumentResponse(withheld=wire.notice(withheld))

    async def PutDocument(self, request: pb.PutDocumentRequest, context: Any) -> pb.PutDocumentResponse:
        """Store; answered once durable and found."""
        async with self._library.awake():
            ref, replaced = await self._library.put(wire.new_document(request))
            outcome = pb.PUT_OUTCOME_REPLACED if replaced else pb.PUT_OUTCOME_CREATED
            return pb.PutDocumentResponse(
                document_id=ref.document_id, revision=ref.revision, outcome=outcome, number=ref.number
            )

    async def DeleteDocument(self, request: pb.DeleteDocumentRequest, context: Any) -> pb.DeleteDocumentResponse:
        """Delete what memoria owns."""
        async with self._library.awake():
            return pb.DeleteDocumentResponse(deleted=await self._library.delete(request.document_id))

    async def RetireItems(self, request: pb.RetireItemsRequest, context: Any) -> pb.RetireItemsResponse:
        """Remove a sibling's items."""
        async with self._library.awake():
            retired = await self._library.retire(wire.app(request.app), map(ItemId, request.item_ids))
            return pb.RetireItemsResponse(retired=retired)

    async def ListItems(self, request: pb.ListItemsRequest, context: Any) -> pb.ListItemsResponse:
        """What is held of a sibling."""
        async with self._library.awake():
            return pb.ListItemsResponse(
                items=[pair_to_wire(pair) for pair in self._library.items(wire.app(request.app))]
            )

    async def CountItems(self, request: pb.CountItemsRequest, context: Any) -> pb.CountItemsResponse:
        """How much is held of a sibling; an empty catalogue of a library asleep would say none."""
        async with self._library.awake():
            return pb.CountItemsResponse(held=sum(1 for _ in self._library.catalogue.items(wire.app(request.app))))

    async def FindUploads(self, request: pb.FindUploadsRequest, context: Any) -> pb.FindUploadsResponse:
        """What is held under external ids; like a count, it needs the library awake."""
        wanted = wire.external_ids(request)
        async with self._library.awake():
            return pb.FindUploadsResponse(uploads=[wire.held_upload(self._library.upload(each)) for each in wanted])

    async def PutSource(self, request: pb.PutSourceRequest, context: Any) -> pb.PutSourceResponse:
        """How a source stands."""
        await self._library.sources.put(wire.source(request))
        return pb.PutSourceResponse()

    async def GetLineage(self, request: pb.GetLineageRequest, context: Any) -> pb.GetLineageResponse:
        """Whether this corpus is still the one that was written."""
        keeper = self._library.keeper
        return pb.GetLineageResponse(lineage=keeper.standing.lineage, last_number=(await keeper.cursor()).last_number)
