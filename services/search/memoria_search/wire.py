"""Plain types to and from `memoria.index.v1`. What is spoken goes out only as a Passage or a SpokenDocument."""

from datetime import UTC, datetime
from typing import assert_never

from google.protobuf.timestamp_pb2 import Timestamp

from memoria.index.v1 import index_pb2 as pb
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import ItemId, Revision, Subject
from memoria_contract.wire import author_from_wire, author_to_wire, subject_from_wire, timestamp_to_wire
from memoria_search.corpus.model import (
    FILES,
    Chunk,
    Metadata,
    NewDocument,
    SiblingOrigin,
    Source,
    SourceState,
    UploadOrigin,
)
from memoria_search.gate import Passage, SpokenDocument, State
from memoria_search.highlight import SnippetPart
from memoria_search.notices import Notice, NoticeKind

_NOTICES = {
    NoticeKind.NO_ANSWER: pb.NOTICE_KIND_NO_ANSWER,
    NoticeKind.STALE: pb.NOTICE_KIND_STALE,
    NoticeKind.RECONCILING: pb.NOTICE_KIND_RECONCILING,
    NoticeKind.AS_OF: pb.NOTICE_KIND_AS_OF,
    NoticeKind.DEGRADED: pb.NOTICE_KIND_DEGRADED,
}

_SOURCES = {
    pb.SOURCE_STATE_CURRENT: SourceState.CURRENT,
    pb.SOURCE_STATE_AS_OF: SourceState.AS_OF,
    pb.SOURCE_STATE_RECONCILING: SourceState.RECONCILING,
    pb.SOURCE_STATE_PARTIAL: SourceState.PARTIAL,
}

_FINGERPRINT_BYTES = 32
_MAX_UPLOADS = 10_000


def subject(message: "pb.SearchRequest | pb.GetDocumentRequest") -> Subject:
    """Who asks. Raises INVALID: nobody is asked about as nobody."""
    found = subject_from_wire(message.subject)
    if found is None:
        raise ServiceError(Kind.INVALID, "a request needs a subject")
    return found


def result(passage: Passage, snippet: tuple[SnippetPart, ...]) -> pb.SearchResult:
    """One row."""
    return pb.SearchResult(
        rank=passage.rank,
        app=passage.app,
        title=_text(passage.title),
        trail=map(_text, passage.trail),
        snippet=[pb.SnippetPart(text=_text(part.text), marked=part.marked) for part in snippet],
        date=timestamp_to_wire(passage.date),
        author=author_to_wire(passage.author),
        document_id=passage.document_id,
        ordinal=passage.ordinal,
        link=_text(passage.link),
        state=_state(passage.state),
    )


def document(spoken: SpokenDocument) -> pb.Document:
    """A document, whole."""
    ref, about = spoken.ref, spoken.metadata
    return pb.Document(
        document_id=ref.document_id,
        app=ref.app,
        title=_text(about.title),
        trail=map(_text, about.trail),
        date=timestamp_to_wire(about.date),
        author=author_to_wire(about.author),
        link=_text(about.link),
        revision=ref.revision,
        chunks=[
            pb.DocumentChunk(ordinal=ordinal, trail=map(_text, chunk.trail), text=_text(chunk.text))
            for ordinal, chunk in enumerate(spoken.chunks)
        ],
        owned=ref.owned,
        part_ids=spoken.parts,
    )


def notice(line: Notice) -> pb.Notice:
    """One notice."""
    return pb.Notice(app=line.app, kind=_NOTICES[line.kind], count=line.count, as_of=timestamp_to_wire(line.as_of))


def new_document(request: pb.PutDocumentRequest) -> NewDocument:
    """What is to be stored. Raises INVALID."""
    about = Metadata(
        title=request.title,
        trail=tuple(request.trail),
        author=author_from_wire(request.author),
        date=_datetime(request.date) if request.HasField("date") else None,
        link=request.link,
    )
    return NewDocument(_origin(request), about, tuple(Chunk(tuple(c.trail), c.text) for c in request.chunks))


def _origin(request: pb.PutDocumentRequest) -> SiblingOrigin | UploadOrigin:
    match request.WhichOneof("origin"):
        case "sibling":
            origin = request.sibling
            if not origin.item_id or not origin.revision:
                raise ServiceError(Kind.INVALID, "a sibling's document needs an item id and a revision")
            return SiblingOrigin(app(origin.app), ItemId(origin.item_id), Revision(origin.revision))
        case "upload":
            upload = request.upload
            _check_external_id(upload.external_id)
            if upload.part >= upload.parts:
                raise ServiceError(Kind.INVALID, "a part is counted from 0 and below the number of parts")
            return UploadOrigin(upload.external_id, upload.part, upload.parts)
        case _:
            raise ServiceError(Kind.INVALID, "a document needs an owner")


def external_ids(request: pb.FindUploadsRequest) -> list[bytes]:
    """What is asked for. Raises INVALID."""
    if len(request.external_ids) > _MAX_UPLOADS:
        raise ServiceError(Kind.INVALID, f"at most {_MAX_UPLOADS} external ids are looked up at once")
    for each in request.external_ids:
        _check_external_id(each)
    return list(request.external_ids)


def held_upload(found: tuple[str, int]) -> pb.HeldUpload:
    """What is held under one external id."""
    document_id, number = found
    return pb.HeldUpload(document_id=document_id, number=number)


def _check_external_id(external_id: bytes) -> None:
    if len(external_id) != _FINGERPRINT_BYTES:
        raise ServiceError(Kind.INVALID, f"an external id has {_FINGERPRINT_BYTES} bytes")


def app(label: str) -> str:
    """A sibling's app label. Raises INVALID for none, and for the name of what memoria owns itself."""
    if not label or label == FILES:
        raise ServiceError(Kind.INVALID, "this is no sibling's app label")
    return label


def source(request: pb.PutSourceRequest) -> Source:
    """How a source stands. Raises INVALID."""
    state = _SOURCES.get(request.state)
    if state is None:
        raise ServiceError(Kind.INVALID, "a source needs a state")
    return Source(app(request.app), state, _datetime(request.as_of) if request.HasField("as_of") else None)


def _state(state: State) -> "pb.ResultState":
    match state:
        case State.SPOKEN:
            return pb.RESULT_STATE_SPOKEN
        case State.UNAVAILABLE:
            return pb.RESULT_STATE_UNAVAILABLE
        case _:
            assert_never(state)


def _text(text: str) -> str:
    """A string as protobuf can carry it: a lone surrogate becomes U+FFFD, of the same length."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _datetime(message: Timestamp) -> datetime:
    try:
        return message.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise ServiceError(Kind.INVALID, "a time is out of range") from error
