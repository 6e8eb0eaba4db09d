import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from memoria.index.v1 import index_pb2 as _index_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PushOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PUSH_OUTCOME_UNSPECIFIED: _ClassVar[PushOutcome]
    PUSH_OUTCOME_STORED: _ClassVar[PushOutcome]
    PUSH_OUTCOME_UNCHANGED: _ClassVar[PushOutcome]
    PUSH_OUTCOME_REPLACED: _ClassVar[PushOutcome]
    PUSH_OUTCOME_DELETED: _ClassVar[PushOutcome]
    PUSH_OUTCOME_ABSENT: _ClassVar[PushOutcome]
PUSH_OUTCOME_UNSPECIFIED: PushOutcome
PUSH_OUTCOME_STORED: PushOutcome
PUSH_OUTCOME_UNCHANGED: PushOutcome
PUSH_OUTCOME_REPLACED: PushOutcome
PUSH_OUTCOME_DELETED: PushOutcome
PUSH_OUTCOME_ABSENT: PushOutcome

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

class CreateConnectorRequest(_message.Message):
    __slots__ = ("name", "origins")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ORIGINS_FIELD_NUMBER: _ClassVar[int]
    name: str
    origins: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., origins: _Optional[_Iterable[str]] = ...) -> None: ...

class CreateConnectorResponse(_message.Message):
    __slots__ = ("connector_id", "token")
    CONNECTOR_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    connector_id: str
    token: str
    def __init__(self, connector_id: _Optional[str] = ..., token: _Optional[str] = ...) -> None: ...

class ListConnectorsRequest(_message.Message):
    __slots__ = ("count",)
    COUNT_FIELD_NUMBER: _ClassVar[int]
    count: bool
    def __init__(self, count: _Optional[bool] = ...) -> None: ...

class Connector(_message.Message):
    __slots__ = ("connector_id", "name", "origins", "created_at", "used_at", "held")
    CONNECTOR_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ORIGINS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    USED_AT_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    connector_id: str
    name: str
    origins: _containers.RepeatedScalarFieldContainer[str]
    created_at: _timestamp_pb2.Timestamp
    used_at: _timestamp_pb2.Timestamp
    held: int
    def __init__(self, connector_id: _Optional[str] = ..., name: _Optional[str] = ..., origins: _Optional[_Iterable[str]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., used_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., held: _Optional[int] = ...) -> None: ...

class ListConnectorsResponse(_message.Message):
    __slots__ = ("connectors",)
    CONNECTORS_FIELD_NUMBER: _ClassVar[int]
    connectors: _containers.RepeatedCompositeFieldContainer[Connector]
    def __init__(self, connectors: _Optional[_Iterable[_Union[Connector, _Mapping]]] = ...) -> None: ...

class RemoveConnectorRequest(_message.Message):
    __slots__ = ("connector_id",)
    CONNECTOR_ID_FIELD_NUMBER: _ClassVar[int]
    connector_id: str
    def __init__(self, connector_id: _Optional[str] = ...) -> None: ...

class RemoveConnectorResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RenewConnectorRequest(_message.Message):
    __slots__ = ("connector_id",)
    CONNECTOR_ID_FIELD_NUMBER: _ClassVar[int]
    connector_id: str
    def __init__(self, connector_id: _Optional[str] = ...) -> None: ...

class RenewConnectorResponse(_message.Message):
    __slots__ = ("token",)
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    token: str
    def __init__(self, token: _Optional[str] = ...) -> None: ...

class ConnectorKey(_message.Message):
    __slots__ = ("connector_id", "token", "origin")
    CONNECTOR_ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    connector_id: str
    token: str
    origin: str
    def __init__(self, connector_id: _Optional[str] = ..., token: _Optional[str] = ..., origin: _Optional[str] = ...) -> None: ...

class CheckConnectorRequest(_message.Message):
    __slots__ = ("key",)
    KEY_FIELD_NUMBER: _ClassVar[int]
    key: ConnectorKey
    def __init__(self, key: _Optional[_Union[ConnectorKey, _Mapping]] = ...) -> None: ...

class CheckConnectorResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PushItemRequest(_message.Message):
    __slots__ = ("key", "external_id", "gone", "title", "trail", "text", "date", "link")
    KEY_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_ID_FIELD_NUMBER: _ClassVar[int]
    GONE_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    TRAIL_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    DATE_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    key: ConnectorKey
    external_id: str
    gone: bool
    title: str
    trail: _containers.RepeatedScalarFieldContainer[str]
    text: str
    date: _timestamp_pb2.Timestamp
    link: str
    def __init__(self, key: _Optional[_Union[ConnectorKey, _Mapping]] = ..., external_id: _Optional[str] = ..., gone: _Optional[bool] = ..., title: _Optional[str] = ..., trail: _Optional[_Iterable[str]] = ..., text: _Optional[str] = ..., date: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., link: _Optional[str] = ...) -> None: ...

class PushItemResponse(_message.Message):
    __slots__ = ("outcome",)
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    outcome: PushOutcome
    def __init__(self, outcome: _Optional[_Union[PushOutcome, str]] = ...) -> None: ...
