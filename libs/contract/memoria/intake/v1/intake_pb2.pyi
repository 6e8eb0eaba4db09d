import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from memoria.index.v1 import index_pb2 as _index_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class UploadHeader(_message.Message):
    __slots__ = ("filename", "size")
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    filename: str
    size: int
    def __init__(self, filename: _Optional[str] = ..., size: _Optional[int] = ...) -> None: ...

class UploadRequest(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: UploadHeader
    data: bytes
    def __init__(self, header: _Optional[_Union[UploadHeader, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class UploadedDocument(_message.Message):
    __slots__ = ("document_id", "title", "revision", "chunks", "outcome")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    title: str
    revision: str
    chunks: int
    outcome: _index_pb2.PutOutcome
    def __init__(self, document_id: _Optional[str] = ..., title: _Optional[str] = ..., revision: _Optional[str] = ..., chunks: _Optional[int] = ..., outcome: _Optional[_Union[_index_pb2.PutOutcome, str]] = ...) -> None: ...

class UploadResponse(_message.Message):
    __slots__ = ("documents", "warnings")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[UploadedDocument]
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, documents: _Optional[_Iterable[_Union[UploadedDocument, _Mapping]]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

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

class NudgeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class NudgeResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListSourcesRequest(_message.Message):
    __slots__ = ("count",)
    COUNT_FIELD_NUMBER: _ClassVar[int]
    count: bool
    def __init__(self, count: _Optional[bool] = ...) -> None: ...

class Source(_message.Message):
    __slots__ = ("app", "state", "as_of", "tried_at", "failure", "missed", "held", "paused", "removing")
    APP_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    TRIED_AT_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    MISSED_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    PAUSED_FIELD_NUMBER: _ClassVar[int]
    REMOVING_FIELD_NUMBER: _ClassVar[int]
    app: str
    state: _index_pb2.SourceState
    as_of: _timestamp_pb2.Timestamp
    tried_at: _timestamp_pb2.Timestamp
    failure: str
    missed: int
    held: int
    paused: bool
    removing: bool
    def __init__(self, app: _Optional[str] = ..., state: _Optional[_Union[_index_pb2.SourceState, str]] = ..., as_of: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., tried_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., failure: _Optional[str] = ..., missed: _Optional[int] = ..., held: _Optional[int] = ..., paused: _Optional[bool] = ..., removing: _Optional[bool] = ...) -> None: ...

class ListSourcesResponse(_message.Message):
    __slots__ = ("sources",)
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    sources: _containers.RepeatedCompositeFieldContainer[Source]
    def __init__(self, sources: _Optional[_Iterable[_Union[Source, _Mapping]]] = ...) -> None: ...

class SyncSourceRequest(_message.Message):
    __slots__ = ("app", "reannounce")
    APP_FIELD_NUMBER: _ClassVar[int]
    REANNOUNCE_FIELD_NUMBER: _ClassVar[int]
    app: str
    reannounce: bool
    def __init__(self, app: _Optional[str] = ..., reannounce: _Optional[bool] = ...) -> None: ...

class SyncSourceResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PauseSourceRequest(_message.Message):
    __slots__ = ("app", "paused")
    APP_FIELD_NUMBER: _ClassVar[int]
    PAUSED_FIELD_NUMBER: _ClassVar[int]
    app: str
    paused: bool
    def __init__(self, app: _Optional[str] = ..., paused: _Optional[bool] = ...) -> None: ...

class PauseSourceResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RemoveSourceRequest(_message.Message):
    __slots__ = ("app",)
    APP_FIELD_NUMBER: _ClassVar[int]
    app: str
    def __init__(self, app: _Optional[str] = ...) -> None: ...

class RemoveSourceResponse(_message.Message):
    __slots__ = ("retired",)
    RETIRED_FIELD_NUMBER: _ClassVar[int]
    retired: int
    def __init__(self, retired: _Optional[int] = ...) -> None: ...
