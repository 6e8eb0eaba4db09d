import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from memoria.sibling.v1 import sibling_pb2 as _sibling_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ResultState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RESULT_STATE_UNSPECIFIED: _ClassVar[ResultState]
    RESULT_STATE_SPOKEN: _ClassVar[ResultState]
    RESULT_STATE_UNAVAILABLE: _ClassVar[ResultState]

class NoticeKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NOTICE_KIND_UNSPECIFIED: _ClassVar[NoticeKind]
    NOTICE_KIND_NO_ANSWER: _ClassVar[NoticeKind]
    NOTICE_KIND_STALE: _ClassVar[NoticeKind]
    NOTICE_KIND_RECONCILING: _ClassVar[NoticeKind]
    NOTICE_KIND_AS_OF: _ClassVar[NoticeKind]
    NOTICE_KIND_DEGRADED: _ClassVar[NoticeKind]

class PutOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PUT_OUTCOME_UNSPECIFIED: _ClassVar[PutOutcome]
    PUT_OUTCOME_CREATED: _ClassVar[PutOutcome]
    PUT_OUTCOME_REPLACED: _ClassVar[PutOutcome]

class SourceState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SOURCE_STATE_UNSPECIFIED: _ClassVar[SourceState]
    SOURCE_STATE_CURRENT: _ClassVar[SourceState]
    SOURCE_STATE_AS_OF: _ClassVar[SourceState]
    SOURCE_STATE_RECONCILING: _ClassVar[SourceState]
    SOURCE_STATE_PARTIAL: _ClassVar[SourceState]
RESULT_STATE_UNSPECIFIED: ResultState
RESULT_STATE_SPOKEN: ResultState
RESULT_STATE_UNAVAILABLE: ResultState
NOTICE_KIND_UNSPECIFIED: NoticeKind
NOTICE_KIND_NO_ANSWER: NoticeKind
NOTICE_KIND_STALE: NoticeKind
NOTICE_KIND_RECONCILING: NoticeKind
NOTICE_KIND_AS_OF: NoticeKind
NOTICE_KIND_DEGRADED: NoticeKind
PUT_OUTCOME_UNSPECIFIED: PutOutcome
PUT_OUTCOME_CREATED: PutOutcome
PUT_OUTCOME_REPLACED: PutOutcome
SOURCE_STATE_UNSPECIFIED: SourceState
SOURCE_STATE_CURRENT: SourceState
SOURCE_STATE_AS_OF: SourceState
SOURCE_STATE_RECONCILING: SourceState
SOURCE_STATE_PARTIAL: SourceState

class SearchRequest(_message.Message):
    __slots__ = ("subject", "query", "page", "page_size")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    subject: _sibling_pb2.Subject
    query: str
    page: int
    page_size: int
    def __init__(self, subject: _Optional[_Union[_sibling_pb2.Subject, _Mapping]] = ..., query: _Optional[str] = ..., page: _Optional[int] = ..., page_size: _Optional[int] = ...) -> None: ...

class SnippetPart(_message.Message):
    __slots__ = ("text", "marked")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    MARKED_FIELD_NUMBER: _ClassVar[int]
    text: str
    marked: bool
    def __init__(self, text: _Optional[str] = ..., marked: _Optional[bool] = ...) -> None: ...

class SearchResult(_message.Message):
    __slots__ = ("rank", "app", "title", "trail", "snippet", "date", "author", "document_id", "ordinal", "link", "state")
    RANK_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    TRAIL_FIELD_NUMBER: _ClassVar[int]
    SNIPPET_FIELD_NUMBER: _ClassVar[int]
    DATE_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    rank: int
    app: str
    title: str
    trail: _containers.RepeatedScalarFieldContainer[str]
    snippet: _containers.RepeatedCompositeFieldContainer[SnippetPart]
    date: _timestamp_pb2.Timestamp
    author: _sibling_pb2.AuthorKind
    document_id: str
    ordinal: int
    link: str
    state: ResultState
    def __init__(self, rank: _Optional[int] = ..., app: _Optional[str] = ..., title: _Optional[str] = ..., trail: _Optional[_Iterable[str]] = ..., snippet: _Optional[_Iterable[_Union[SnippetPart, _Mapping]]] = ..., date: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., author: _Optional[_Union[_sibling_pb2.AuthorKind, str]] = ..., document_id: _Optional[str] = ..., ordinal: _Optional[int] = ..., link: _Optional[str] = ..., state: _Optional[_Union[ResultState, str]] = ...) -> None: ...

class Notice(_message.Message):
    __slots__ = ("app", "kind", "count", "as_of")
    APP_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    app: str
    kind: NoticeKind
    count: int
    as_of: _timestamp_pb2.Timestamp
    def __init__(self, app: _Optional[str] = ..., kind: _Optional[_Union[NoticeKind, str]] = ..., count: _Optional[int] = ..., as_of: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("results", "notices", "more", "refine")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    NOTICES_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    REFINE_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[SearchResult]
    notices: _containers.RepeatedCompositeFieldContainer[Notice]
    more: bool
    refine: bool
    def __init__(self, results: _Optional[_Iterable[_Union[SearchResult, _Mapping]]] = ..., notices: _Optional[_Iterable[_Union[Notice, _Mapping]]] = ..., more: _Optional[bool] = ..., refine: _Optional[bool] = ...) -> None: ...

class GetDocumentRequest(_message.Message):
    __slots__ = ("subject", "document_id")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    subject: _sibling_pb2.Subject
    document_id: str
    def __init__(self, subject: _Optional[_Union[_sibling_pb2.Subject, _Mapping]] = ..., document_id: _Optional[str] = ...) -> None: ...

class DocumentChunk(_message.Message):
    __slots__ = ("ordinal", "trail", "text")
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    TRAIL_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ordinal: int
    trail: _containers.RepeatedScalarFieldContainer[str]
    text: str
    def __init__(self, ordinal: _Optional[int] = ..., trail: _Optional[_Iterable[str]] = ..., text: _Optional[str] = ...) -> None: ...

class Document(_message.Message):
    __slots__ = ("document_id", "app", "title", "trail", "date", "author", "link", "revision", "chunks", "owned", "part_ids")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    TRAIL_FIELD_NUMBER: _ClassVar[int]
    DATE_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    OWNED_FIELD_NUMBER: _ClassVar[int]
    PART_IDS_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    app: str
    title: str
    trail: _containers.RepeatedScalarFieldContainer[str]
    date: _timestamp_pb2.Timestamp
    author: _sibling_pb2.AuthorKind
    link: str
    revision: str
    chunks: _containers.RepeatedCompositeFieldContainer[DocumentChunk]
    owned: bool
    part_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, document_id: _Optional[str] = ..., app: _Optional[str] = ..., title: _Optional[str] = ..., trail: _Optional[_Iterable[str]] = ..., date: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., author: _Optional[_Union[_sibling_pb2.AuthorKind, str]] = ..., link: _Optional[str] = ..., revision: _Optional[str] = ..., chunks: _Optional[_Iterable[_Union[DocumentChunk, _Mapping]]] = ..., owned: _Optional[bool] = ..., part_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class GetDocumentResponse(_message.Message):
    __slots__ = ("document", "withheld")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    WITHHELD_FIELD_NUMBER: _ClassVar[int]
    document: Document
    withheld: Notice
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., withheld: _Optional[_Union[Notice, _Mapping]] = ...) -> None: ...

class SiblingOrigin(_message.Message):
    __slots__ = ("app", "item_id", "revision")
    APP_FIELD_NUMBER: _ClassVar[int]
    ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    app: str
    item_id: str
    revision: str
    def __init__(self, app: _Optional[str] = ..., item_id: _Optional[str] = ..., revision: _Optional[str] = ...) -> None: ...

class UploadOrigin(_message.Message):
    __slots__ = ("external_id", "part", "parts")
    EXTERNAL_ID_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    external_id: bytes
    part: int
    parts: int
    def __init__(self, external_id: _Optional[bytes] = ..., part: _Optional[int] = ..., parts: _Optional[int] = ...) -> None: ...

class Chunk(_message.Message):
    __slots__ = ("trail", "text")
    TRAIL_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    trail: _containers.RepeatedScalarFieldContainer[str]
    text: str
    def __init__(self, trail: _Optional[_Iterable[str]] = ..., text: _Optional[str] = ...) -> None: ...

class PutDocumentRequest(_message.Message):
    __slots__ = ("sibling", "upload", "title", "trail", "author", "date", "link", "chunks")
    SIBLING_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    TRAIL_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    DATE_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    sibling: SiblingOrigin
    upload: UploadOrigin
    title: str
    trail: _containers.RepeatedScalarFieldContainer[str]
    author: _sibling_pb2.AuthorKind
    date: _timestamp_pb2.Timestamp
    link: str
    chunks: _containers.RepeatedCompositeFieldContainer[Chunk]
    def __init__(self, sibling: _Optional[_Union[SiblingOrigin, _Mapping]] = ..., upload: _Optional[_Union[UploadOrigin, _Mapping]] = ..., title: _Optional[str] = ..., trail: _Optional[_Iterable[str]] = ..., author: _Optional[_Union[_sibling_pb2.AuthorKind, str]] = ..., date: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., link: _Optional[str] = ..., chunks: _Optional[_Iterable[_Union[Chunk, _Mapping]]] = ...) -> None: ...

class PutDocumentResponse(_message.Message):
    __slots__ = ("document_id", "revision", "outcome", "number")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    revision: str
    outcome: PutOutcome
    number: int
    def __init__(self, document_id: _Optional[str] = ..., revision: _Optional[str] = ..., outcome: _Optional[_Union[PutOutcome, str]] = ..., number: _Optional[int] = ...) -> None: ...

class DeleteDocumentRequest(_message.Message):
    __slots__ = ("document_id",)
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    def __init__(self, document_id: _Optional[str] = ...) -> None: ...

class DeleteDocumentResponse(_message.Message):
    __slots__ = ("deleted",)
    DELETED_FIELD_NUMBER: _ClassVar[int]
    deleted: int
    def __init__(self, deleted: _Optional[int] = ...) -> None: ...

class RetireItemsRequest(_message.Message):
    __slots__ = ("app", "item_ids")
    APP_FIELD_NUMBER: _ClassVar[int]
    ITEM_IDS_FIELD_NUMBER: _ClassVar[int]
    app: str
    item_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, app: _Optional[str] = ..., item_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RetireItemsResponse(_message.Message):
    __slots__ = ("retired",)
    RETIRED_FIELD_NUMBER: _ClassVar[int]
    retired: int
    def __init__(self, retired: _Optional[int] = ...) -> None: ...

class ListItemsRequest(_message.Message):
    __slots__ = ("app",)
    APP_FIELD_NUMBER: _ClassVar[int]
    app: str
    def __init__(self, app: _Optional[str] = ...) -> None: ...

class ListItemsResponse(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[_sibling_pb2.ItemRevision]
    def __init__(self, items: _Optional[_Iterable[_Union[_sibling_pb2.ItemRevision, _Mapping]]] = ...) -> None: ...

class CountItemsRequest(_message.Message):
    __slots__ = ("app",)
    APP_FIELD_NUMBER: _ClassVar[int]
    app: str
    def __init__(self, app: _Optional[str] = ...) -> None: ...

class CountItemsResponse(_message.Message):
    __slots__ = ("held",)
    HELD_FIELD_NUMBER: _ClassVar[int]
    held: int
    def __init__(self, held: _Optional[int] = ...) -> None: ...

class FindUploadsRequest(_message.Message):
    __slots__ = ("external_ids",)
    EXTERNAL_IDS_FIELD_NUMBER: _ClassVar[int]
    external_ids: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, external_ids: _Optional[_Iterable[bytes]] = ...) -> None: ...

class HeldUpload(_message.Message):
    __slots__ = ("document_id", "number")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    number: int
    def __init__(self, document_id: _Optional[str] = ..., number: _Optional[int] = ...) -> None: ...

class FindUploadsResponse(_message.Message):
    __slots__ = ("uploads",)
    UPLOADS_FIELD_NUMBER: _ClassVar[int]
    uploads: _containers.RepeatedCompositeFieldContainer[HeldUpload]
    def __init__(self, uploads: _Optional[_Iterable[_Union[HeldUpload, _Mapping]]] = ...) -> None: ...

class PutSourceRequest(_message.Message):
    __slots__ = ("app", "state", "as_of")
    APP_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    app: str
    state: SourceState
    as_of: _timestamp_pb2.Timestamp
    def __init__(self, app: _Optional[str] = ..., state: _Optional[_Union[SourceState, str]] = ..., as_of: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class PutSourceResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetLineageRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetLineageResponse(_message.Message):
    __slots__ = ("lineage", "last_number")
    LINEAGE_FIELD_NUMBER: _ClassVar[int]
    LAST_NUMBER_FIELD_NUMBER: _ClassVar[int]
    lineage: str
    last_number: int
    def __init__(self, lineage: _Optional[str] = ..., last_number: _Optional[int] = ...) -> None: ...
