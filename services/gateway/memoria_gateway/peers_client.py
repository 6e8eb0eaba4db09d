"""The gateway's side of the calls to authz, search, ingest and extract: messages in and out, plain values between."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp

from memoria.extract.v1 import extract_pb2, extract_pb2_grpc
from memoria.gate.v1 import gate_pb2, gate_pb2_grpc
from memoria.index.v1 import index_pb2, index_pb2_grpc
from memoria.intake.v1 import intake_pb2, intake_pb2_grpc
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc.client import Peer
from memoria_contract.types import Subject, SubjectKind
from memoria_contract.wire import author_from_wire, subject_from_wire, subject_to_wire
from memoria_gateway.connectors import Finding, Findings, Roster, Source
from memoria_gateway.views import Chunk, Document, Notice, Page, Part, Person, Result, Uploaded

PAGE_SECONDS = 1.1
"""The page is there in 1.2 s (G23). The slowest sibling has 0.8 of it, and each hop keeps back 20 ms to say so."""

UPLOAD_SECONDS = 900.0
"""A file of 32 MiB over a slow line takes minutes to arrive; what follows is bounded by ingest itself, in seconds."""

_RULE = re.compile(r"\|(?: *:?-{3,}:? *\|)+\n?")
"""The line under a table's header: it says nothing in a snippet."""

_QUICK = 2.0

_OWNERS = 10.0
"""An owner's button may have to wait for writes that are on their way; what it began goes on without it."""

_STATES = {
    index_pb2.SOURCE_STATE_CURRENT: "current",
    index_pb2.SOURCE_STATE_AS_OF: "as_of",
    index_pb2.SOURCE_STATE_RECONCILING: "reconciling",
    index_pb2.SOURCE_STATE_PARTIAL: "partial",
}

_BREAKERS = {gate_pb2.BREAKER_STATE_QUIET: "quiet", gate_pb2.BREAKER_STATE_FIRED: "fired"}

_LACKS = {gate_pb2.BREAKER_LACK_WINDOW: "window", gate_pb2.BREAKER_LACK_BASELINE: "baseline"}

_ROSTERS = {gate_pb2.ROSTER_STATE_FRESH: "fresh", gate_pb2.ROSTER_STATE_NONE: "none"}

_NOTICES = {
    index_pb2.NOTICE_KIND_NO_ANSWER: "no_answer",
    index_pb2.NOTICE_KIND_STALE: "stale",
    index_pb2.NOTICE_KIND_RECONCILING: "reconciling",
    index_pb2.NOTICE_KIND_AS_OF: "as_of",
}


class GateClient:
    """authz."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._stub = gate_pb2_grpc.GateServiceStub(peer.channel)

    async def admit(self, address: str) -> Person:
        """The person behind an address. Raises REFUSED where they have no standing, whatever the reason."""
        reply = await self._peer.call(self._stub.Admit, gate_pb2.AdmitRequest(address=address), timeout=_QUICK)
        subject = subject_from_wire(reply.subject)
        if reply.admission != gate_pb2.ADMISSION_ADMITTED or subject is None:
            raise ServiceError(Kind.REFUSED, "You are not on this team's list.")
        return Person(address, subject, reply.owner)

    async def findings(self) -> list[Findings]:
        """What the breakers say of each app. For owners' eyes only (RET-15)."""
        reply = await self._peer.call(self._stub.ListFindings, gate_pb2.ListFindingsRequest(), timeout=_QUICK)
        return [
            Findings(found.app, _finding(found.refusal), _finding(found.fetch), _finding(found.restore))
            for found in reply.siblings
        ]

    async def roster(self, *, pull: bool = False) -> Roster | None:
        """How the home's list of members stands, read anew if asked to; None without a home. For owners alone."""
        reply = await self._peer.call(
            self._stub.DescribeRoster, gate_pb2.DescribeRosterRequest(pull=pull), timeout=_OWNERS if pull else _QUICK
        )
        if reply.state == gate_pb2.ROSTER_STATE_UNSPECIFIED:
            return None
        held = reply.HasField("fetched_at")
        at, until = (_moment(reply.fetched_at), _moment(reply.until)) if held else (None, None)
        return Roster(_ROSTERS.get(reply.state, "stale"), reply.members, at, until, reply.failure, reply.waiting)

    async def confirm_roster(self, waiting: str) -> None:
        """Take the list that waits for this team's. Raises PRECONDITION where it is not the one that waits by now."""
        request = gate_pb2.ConfirmRosterRequest(waiting=waiting)
        await self._peer.call(self._stub.ConfirmRoster, request, timeout=_OWNERS)

    async def alive(self) -> None:
        """Raises unless authz answers. Not by asking for admission, which would have the home asked too (RUL-10)."""
        await self._peer.call(self._stub.DescribeRoster, gate_pb2.DescribeRosterRequest(), timeout=_QUICK)


class IndexClient:
    """search."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._stub = index_pb2_grpc.IndexServiceStub(peer.channel)

    async def search(self, subject: Subject, query: str, page: int, page_size: int) -> Page:
        """One page of what may be spoken."""
        request = index_pb2.SearchRequest(subject=subject_to_wire(subject), query=query, page=page, page_size=page_size)
        reply = await self._peer.call(self._stub.Search, request, timeout=PAGE_SECONDS)
        return Page(
            tuple(_result(result) for result in reply.results),
            tuple(_notice(notice) for notice in reply.notices),
            reply.more,
            reply.refine,
        )

    async def document(self, subject: Subject, document_id: str) -> Document | Notice:
        """A document, or the notice that it is withheld. Raises NOT_FOUND for a refusal as for an absence."""
        request = index_pb2.GetDocumentRequest(subject=subject_to_wire(subject), document_id=document_id)
        reply = await self._peer.call(self._stub.GetDocument, request, timeout=PAGE_SECONDS)
        if reply.WhichOneof("outcome") == "document":
            return _document(reply.document)
        return _notice(reply.withheld)

    async def alive(self) -> None:
        """Raises unless search answers; an empty query ranks nothing and asks nobody."""
        nobody = Subject(SubjectKind.ADDRESS, "readyz@invalid")
        request = index_pb2.SearchRequest(subject=subject_to_wire(nobody), query="", page=1)
        await self._peer.call(self._stub.Search, request, timeout=_QUICK)


class IntakeClient:
    """ingest."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._stub = intake_pb2_grpc.IntakeServiceStub(peer.channel)

    async def upload(self, name: str, size: int, body: AsyncIterator[bytes]) -> tuple[list[Uploaded], list[str]]:
        """Send one file as it arrives; returns its documents and warnings once they are durable and found."""

        async def messages() -> AsyncIterator[intake_pb2.UploadRequest]:
            yield intake_pb2.UploadRequest(header=intake_pb2.UploadHeader(filename=name, size=size))
            async for part in body:
                yield intake_pb2.UploadRequest(data=part)

        reply = await self._peer.send(self._stub.Upload, messages(), timeout=UPLOAD_SECONDS)
        documents = [
            Uploaded(
                document.document_id,
                document.title,
                document.revision,
                document.chunks,
                document.outcome == index_pb2.PUT_OUTCOME_CREATED,
            )
            for document in reply.documents
        ]
        return documents, list(reply.warnings)

    async def delete(self, document_id: str) -> int:
        """Delete a memoria-owned document; returns how many documents went, its other parts included."""
        request = intake_pb2.DeleteDocumentRequest(document_id=document_id)
        reply = await self._peer.call(self._stub.DeleteDocument, request, timeout=10.0)
        return int(reply.deleted)

    async def nudge(self) -> None:
        """Say that a question was asked. The pull runs behind the answer."""
        await self._peer.call(self._stub.Nudge, intake_pb2.NudgeRequest(), timeout=_QUICK)

    async def sources(self) -> list[Source]:
        """How every source stands, by app, and how much is held of it."""
        request = intake_pb2.ListSourcesRequest(count=True)
        reply = await self._peer.call(self._stub.ListSources, request, timeout=_QUICK)
        return [_source(source) for source in reply.sources]

    async def sync(self, app: str, *, reannounce: bool) -> None:
        """Have a source pulled now, or announced anew. Raises NOT_FOUND, and PRECONDITION where it is paused."""
        request = intake_pb2.SyncSourceRequest(app=app, reannounce=reannounce)
        await self._peer.call(self._stub.SyncSource, request, timeout=_OWNERS)

    async def pause(self, app: str, *, paused: bool) -> None:
        """Pause or resume a source. Raises NOT_FOUND."""
        request = intake_pb2.PauseSourceRequest(app=app, paused=paused)
        await self._peer.call(self._stub.PauseSource, request, timeout=_OWNERS)

    async def remove(self, app: str) -> int:
        """Retire everything held of a source; how many items. Raises NOT_FOUND; DEADLINE where it is still going on."""
        request = intake_pb2.RemoveSourceRequest(app=app)
        return int((await self._peer.call(self._stub.RemoveSource, request, timeout=_OWNERS)).retired)

    async def alive(self) -> None:
        """Raises unless ingest answers."""
        await self._peer.call(self._stub.ListSources, intake_pb2.ListSourcesRequest(), timeout=_QUICK)


class ExtractClient:
    """extract."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._stub = extract_pb2_grpc.ExtractServiceStub(peer.channel)

    async def alive(self) -> None:
        """Raises unless extract answers."""
        await self._peer.call(self._stub.Describe, extract_pb2.DescribeRequest(), timeout=_QUICK)


def _moment(stamp: Timestamp) -> datetime:
    return stamp.ToDatetime(UTC)


def _result(message: index_pb2.SearchResult) -> Result:
    return Result(
        message.rank,
        message.app,
        message.title,
        tuple(message.trail),
        tuple(Part(_RULE.sub("", part.text), part.marked) for part in message.snippet),
        _moment(message.date) if message.HasField("date") else None,
        author_from_wire(message.author),
        message.document_id,
        message.ordinal,
        message.link,
        message.state == index_pb2.RESULT_STATE_SPOKEN,
    )


def _notice(message: index_pb2.Notice) -> Notice:
    as_of = _moment(message.as_of) if message.HasField("as_of") else None
    return Notice(message.app, _NOTICES.get(message.kind, "degraded"), message.count, as_of)


def _document(message: index_pb2.Document) -> Document:
    return Document(
        message.document_id,
        message.app,
        message.title,
        tuple(message.trail),
        _moment(message.date) if message.HasField("date") else None,
        author_from_wire(message.author),
        message.link,
        message.revision,
        tuple(Chunk(chunk.ordinal, tuple(chunk.trail), chunk.text) for chunk in message.chunks),
        message.owned,
        tuple(message.part_ids),
    )


def _source(message: intake_pb2.Source) -> Source:
    return Source(
        message.app,
        _STATES.get(message.state, "as_of"),
        _moment(message.as_of) if message.HasField("as_of") else None,
        _moment(message.tried_at) if message.HasField("tried_at") else None,
        message.failure,
        message.held if message.HasField("held") else None,
        message.missed,
        message.paused,
        message.removing,
    )


def _finding(message: gate_pb2.Finding) -> Finding:
    at = datetime.fromtimestamp(message.at, UTC) if message.at else None
    lacking = tuple(_LACKS[lack] for lack in message.lacking if lack in _LACKS)
    return Finding(_BREAKERS.get(message.state, "unknown"), lacking, at)
