import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SubjectKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUBJECT_KIND_UNSPECIFIED: _ClassVar[SubjectKind]
    SUBJECT_KIND_PERSON_REF: _ClassVar[SubjectKind]
    SUBJECT_KIND_ADDRESS: _ClassVar[SubjectKind]

class Call(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CALL_UNSPECIFIED: _ClassVar[Call]
    CALL_LIST_CHANGES: _ClassVar[Call]
    CALL_ANNOUNCE: _ClassVar[Call]
    CALL_AUTHORIZE: _ClassVar[Call]
    CALL_GET_CONTENT: _ClassVar[Call]
    CALL_AGGREGATE: _ClassVar[Call]

class Verdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERDICT_UNSPECIFIED: _ClassVar[Verdict]
    VERDICT_VISIBLE: _ClassVar[Verdict]
    VERDICT_NOT_VISIBLE: _ClassVar[Verdict]
    VERDICT_STALE: _ClassVar[Verdict]
    VERDICT_AHEAD: _ClassVar[Verdict]
    VERDICT_UNKNOWN: _ClassVar[Verdict]

class AuthorKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AUTHOR_KIND_UNSPECIFIED: _ClassVar[AuthorKind]
    AUTHOR_KIND_HUMAN: _ClassVar[AuthorKind]
    AUTHOR_KIND_MACHINE: _ClassVar[AuthorKind]

class AggregateFunction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AGGREGATE_FUNCTION_UNSPECIFIED: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_SUM: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_AVERAGE: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_MIN: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_MAX: _ClassVar[AggregateFunction]
    AGGREGATE_FUNCTION_COUNT: _ClassVar[AggregateFunction]

class AggregateOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AGGREGATE_OUTCOME_UNSPECIFIED: _ClassVar[AggregateOutcome]
    AGGREGATE_OUTCOME_VALUE: _ClassVar[AggregateOutcome]
    AGGREGATE_OUTCOME_NOT_VISIBLE: _ClassVar[AggregateOutcome]
    AGGREGATE_OUTCOME_STALE: _ClassVar[AggregateOutcome]
    AGGREGATE_OUTCOME_AHEAD: _ClassVar[AggregateOutcome]
    AGGREGATE_OUTCOME_NON_NUMERIC: _ClassVar[AggregateOutcome]
    AGGREGATE_OUTCOME_UNKNOWN: _ClassVar[AggregateOutcome]
SUBJECT_KIND_UNSPECIFIED: SubjectKind
SUBJECT_KIND_PERSON_REF: SubjectKind
SUBJECT_KIND_ADDRESS: SubjectKind
CALL_UNSPECIFIED: Call
CALL_LIST_CHANGES: Call
CALL_ANNOUNCE: Call
CALL_AUTHORIZE: Call
CALL_GET_CONTENT: Call
CALL_AGGREGATE: Call
VERDICT_UNSPECIFIED: Verdict
VERDICT_VISIBLE: Verdict
VERDICT_NOT_VISIBLE: Verdict
VERDICT_STALE: Verdict
VERDICT_AHEAD: Verdict
VERDICT_UNKNOWN: Verdict
AUTHOR_KIND_UNSPECIFIED: AuthorKind
AUTHOR_KIND_HUMAN: AuthorKind
AUTHOR_KIND_MACHINE: AuthorKind
AGGREGATE_FUNCTION_UNSPECIFIED: AggregateFunction
AGGREGATE_FUNCTION_SUM: AggregateFunction
AGGREGATE_FUNCTION_AVERAGE: AggregateFunction
AGGREGATE_FUNCTION_MIN: AggregateFunction
AGGREGATE_FUNCTION_MAX: AggregateFunction
AGGREGATE_FUNCTION_COUNT: AggregateFunction
AGGREGATE_OUTCOME_UNSPECIFIED: AggregateOutcome
AGGREGATE_OUTCOME_VALUE: AggregateOutcome
AGGREGATE_OUTCOME_NOT_VISIBLE: AggregateOutcome
AGGREGATE_OUTCOME_STALE: AggregateOutcome
AGGREGATE_OUTCOME_AHEAD: AggregateOutcome
AGGREGATE_OUTCOME_NON_NUMERIC: AggregateOutcome
AGGREGATE_OUTCOME_UNKNOWN: AggregateOutcome

class Subject(_message.Message):
    __slots__ = ("kind", "value")
    KIND_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    kind: SubjectKind
    value: str
    def __init__(self, kind: _Optional[_Union[SubjectKind, str]] = ..., value: _Optional[str] = ...) -> None: ...

class DescribeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("app", "calls", "subject_kinds")
    APP_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_KINDS_FIELD_NUMBER: _ClassVar[int]
    app: str
    calls: _containers.RepeatedScalarFieldContainer[Call]
    subject_kinds: _containers.RepeatedScalarFieldContainer[SubjectKind]
    def __init__(self, app: _Optional[str] = ..., calls: _Optional[_Iterable[_Union[Call, str]]] = ..., subject_kinds: _Optional[_Iterable[_Union[SubjectKind, str]]] = ...) -> None: ...

class ListChangesRequest(_message.Message):
    __slots__ = ("cursor",)
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    cursor: str
    def __init__(self, cursor: _Optional[str] = ...) -> None: ...

class ChangeRow(_message.Message):
    __slots__ = ("item_id", "revision", "gone", "touched_at")
    ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    GONE_FIELD_NUMBER: _ClassVar[int]
    TOUCHED_AT_FIELD_NUMBER: _ClassVar[int]
    item_id: str
    revision: str
    gone: bool
    touched_at: _timestamp_pb2.Timestamp
    def __init__(self, item_id: _Optional[str] = ..., revision: _Optional[str] = ..., gone: _Optional[bool] = ..., touched_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListChangesResponse(_message.Message):
    __slots__ = ("rows", "next_cursor", "has_more", "reannounce_required")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    HAS_MORE_FIELD_NUMBER: _ClassVar[int]
    REANNOUNCE_REQUIRED_FIELD_NUMBER: _ClassVar[int]
    rows: _containers.RepeatedCompositeFieldContainer[ChangeRow]
    next_cursor: str
    has_more: bool
    reannounce_required: bool
    def __init__(self, rows: _Optional[_Iterable[_Union[ChangeRow, _Mapping]]] = ..., next_cursor: _Optional[str] = ..., has_more: _Optional[bool] = ..., reannounce_required: _Optional[bool] = ...) -> None: ...

class AnnounceRequest(_message.Message):
    __slots__ = ("page_token",)
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_token: str
    def __init__(self, page_token: _Optional[str] = ...) -> None: ...

class AnnounceOpening(_message.Message):
    __slots__ = ("announce_id",)
    ANNOUNCE_ID_FIELD_NUMBER: _ClassVar[int]
    announce_id: str
    def __init__(self, announce_id: _Optional[str] = ...) -> None: ...

class AnnouncedItem(_message.Message):
    __slots__ = ("item_id", "revision")
    ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    item_id: str
    revision: str
    def __init__(self, item_id: _Optional[str] = ..., revision: _Optional[str] = ...) -> None: ...

class AnnounceClosing(_message.Message):
    __slots__ = ("item_count", "cursor")
    ITEM_COUNT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    item_count: int
    cursor: str
    def __init__(self, item_count: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class AnnounceResponse(_message.Message):
    __slots__ = ("opening", "announce_id", "items", "closing", "next_page_token")
    OPENING_FIELD_NUMBER: _ClassVar[int]
    ANNOUNCE_ID_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    CLOSING_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    opening: AnnounceOpening
    announce_id: str
    items: _containers.RepeatedCompositeFieldContainer[AnnouncedItem]
    closing: AnnounceClosing
    next_page_token: str
    def __init__(self, opening: _Optional[_Union[AnnounceOpening, _Mapping]] = ..., announce_id: _Optional[str] = ..., items: _Optional[_Iterable[_Union[AnnouncedItem, _Mapping]]] = ..., closing: _Optional[_Union[AnnounceClosing, _Mapping]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ItemRevision(_message.Message):
    __slots__ = ("item_id", "revision")
    ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    item_id: str
    revision: str
    def __init__(self, item_id: _Optional[str] = ..., revision: _Optional[str] = ...) -> None: ...

class AuthorizeRequest(_message.Message):
    __slots__ = ("subject", "items")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    subject: Subject
    items: _containers.RepeatedCompositeFieldContainer[ItemRevision]
    def __init__(self, subject: _Optional[_Union[Subject, _Mapping]] = ..., items: _Optional[_Iterable[_Union[ItemRevision, _Mapping]]] = ...) -> None: ...

class ItemVerdict(_message.Message):
    __slots__ = ("item_id", "revision", "verdict")
    ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    item_id: str
    revision: str
    verdict: Verdict
    def __init__(self, item_id: _Optional[str] = ..., revision: _Optional[str] = ..., verdict: _Optional[_Union[Verdict, str]] = ...) -> None: ...

class AuthorizeResponse(_message.Message):
    __slots__ = ("verdicts",)
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    verdicts: _containers.RepeatedCompositeFieldContainer[ItemVerdict]
    def __init__(self, verdicts: _Optional[_Iterable[_Union[ItemVerdict, _Mapping]]] = ...) -> None: ...

class GetContentRequest(_message.Message):
    __slots__ = ("item_id", "revision")
    ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    item_id: str
    revision: str
    def __init__(self, item_id: _Optional[str] = ..., revision: _Optional[str] = ...) -> None: ...

class Cell(_message.Message):
    __slots__ = ("row", "column", "display", "format_code")
    ROW_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_FIELD_NUMBER: _ClassVar[int]
    FORMAT_CODE_FIELD_NUMBER: _ClassVar[int]
    row: int
    column: int
    display: str
    format_code: str
    def __init__(self, row: _Optional[int] = ..., column: _Optional[int] = ..., display: _Optional[str] = ..., format_code: _Optional[str] = ...) -> None: ...

class SheetTab(_message.Message):
    __slots__ = ("name", "cells")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CELLS_FIELD_NUMBER: _ClassVar[int]
    name: str
    cells: _containers.RepeatedCompositeFieldContainer[Cell]
    def __init__(self, name: _Optional[str] = ..., cells: _Optional[_Iterable[_Union[Cell, _Mapping]]] = ...) -> None: ...

class GetContentResponse(_message.Message):
    __slots__ = ("revision", "title", "trail", "body", "tabs", "author", "date", "link")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    TRAIL_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    TABS_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    DATE_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    revision: str
    title: str
    trail: _containers.RepeatedScalarFieldContainer[str]
    body: str
    tabs: _containers.RepeatedCompositeFieldContainer[SheetTab]
    author: AuthorKind
    date: _timestamp_pb2.Timestamp
    link: str
    def __init__(self, revision: _Optional[str] = ..., title: _Optional[str] = ..., trail: _Optional[_Iterable[str]] = ..., body: _Optional[str] = ..., tabs: _Optional[_Iterable[_Union[SheetTab, _Mapping]]] = ..., author: _Optional[_Union[AuthorKind, str]] = ..., date: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., link: _Optional[str] = ...) -> None: ...

class CellRef(_message.Message):
    __slots__ = ("item_id", "tab", "row", "column", "revision")
    ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    TAB_FIELD_NUMBER: _ClassVar[int]
    ROW_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    item_id: str
    tab: str
    row: int
    column: int
    revision: str
    def __init__(self, item_id: _Optional[str] = ..., tab: _Optional[str] = ..., row: _Optional[int] = ..., column: _Optional[int] = ..., revision: _Optional[str] = ...) -> None: ...

class AggregateRequest(_message.Message):
    __slots__ = ("subject", "function", "cells")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    CELLS_FIELD_NUMBER: _ClassVar[int]
    subject: Subject
    function: AggregateFunction
    cells: _containers.RepeatedCompositeFieldContainer[CellRef]
    def __init__(self, subject: _Optional[_Union[Subject, _Mapping]] = ..., function: _Optional[_Union[AggregateFunction, str]] = ..., cells: _Optional[_Iterable[_Union[CellRef, _Mapping]]] = ...) -> None: ...

class AggregateResponse(_message.Message):
    __slots__ = ("outcome", "value", "display", "format_code", "operand_format_codes", "cell")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_FIELD_NUMBER: _ClassVar[int]
    FORMAT_CODE_FIELD_NUMBER: _ClassVar[int]
    OPERAND_FORMAT_CODES_FIELD_NUMBER: _ClassVar[int]
    CELL_FIELD_NUMBER: _ClassVar[int]
    outcome: AggregateOutcome
    value: float
    display: str
    format_code: str
    operand_format_codes: _containers.RepeatedScalarFieldContainer[str]
    cell: CellRef
    def __init__(self, outcome: _Optional[_Union[AggregateOutcome, str]] = ..., value: _Optional[float] = ..., display: _Optional[str] = ..., format_code: _Optional[str] = ..., operand_format_codes: _Optional[_Iterable[str]] = ..., cell: _Optional[_Union[CellRef, _Mapping]] = ...) -> None: ...
