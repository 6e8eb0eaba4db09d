from google.protobuf import struct_pb2 as _struct_pb2
from memoria.sibling.v1 import sibling_pb2 as _sibling_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Level(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LEVEL_UNSPECIFIED: _ClassVar[Level]
    LEVEL_MUST: _ClassVar[Level]
    LEVEL_SHOULD: _ClassVar[Level]
    LEVEL_MAY: _ClassVar[Level]

class Need(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NEED_UNSPECIFIED: _ClassVar[Need]
    NEED_ONE_KIND: _ClassVar[Need]
    NEED_TWO_TOKENS: _ClassVar[Need]
    NEED_NETWORK: _ClassVar[Need]
    NEED_S1: _ClassVar[Need]
    NEED_S1A: _ClassVar[Need]
    NEED_S2: _ClassVar[Need]
    NEED_S3: _ClassVar[Need]
    NEED_S6: _ClassVar[Need]
    NEED_BOTH_KINDS: _ClassVar[Need]
LEVEL_UNSPECIFIED: Level
LEVEL_MUST: Level
LEVEL_SHOULD: Level
LEVEL_MAY: Level
NEED_UNSPECIFIED: Need
NEED_ONE_KIND: Need
NEED_TWO_TOKENS: Need
NEED_NETWORK: Need
NEED_S1: Need
NEED_S1A: Need
NEED_S2: Need
NEED_S3: Need
NEED_S6: Need
NEED_BOTH_KINDS: Need

class Suite(_message.Message):
    __slots__ = ("call", "about", "cases")
    CALL_FIELD_NUMBER: _ClassVar[int]
    ABOUT_FIELD_NUMBER: _ClassVar[int]
    CASES_FIELD_NUMBER: _ClassVar[int]
    call: str
    about: str
    cases: _containers.RepeatedCompositeFieldContainer[Case]
    def __init__(self, call: _Optional[str] = ..., about: _Optional[str] = ..., cases: _Optional[_Iterable[_Union[Case, _Mapping]]] = ...) -> None: ...

class Case(_message.Message):
    __slots__ = ("id", "level", "section", "rule", "needs", "extra_items", "steps", "unkillable", "binary", "second_kind")
    ID_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    SECTION_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    NEEDS_FIELD_NUMBER: _ClassVar[int]
    EXTRA_ITEMS_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    UNKILLABLE_FIELD_NUMBER: _ClassVar[int]
    BINARY_FIELD_NUMBER: _ClassVar[int]
    SECOND_KIND_FIELD_NUMBER: _ClassVar[int]
    id: str
    level: Level
    section: str
    rule: str
    needs: _containers.RepeatedScalarFieldContainer[Need]
    extra_items: int
    steps: _containers.RepeatedCompositeFieldContainer[Step]
    unkillable: str
    binary: bool
    second_kind: bool
    def __init__(self, id: _Optional[str] = ..., level: _Optional[_Union[Level, str]] = ..., section: _Optional[str] = ..., rule: _Optional[str] = ..., needs: _Optional[_Iterable[_Union[Need, str]]] = ..., extra_items: _Optional[int] = ..., steps: _Optional[_Iterable[_Union[Step, _Mapping]]] = ..., unkillable: _Optional[str] = ..., binary: _Optional[bool] = ..., second_kind: _Optional[bool] = ...) -> None: ...

class Step(_message.Message):
    __slots__ = ("note", "state", "ask", "changes", "announce", "content", "aggregate", "describe", "http", "same", "needs")
    NOTE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ASK_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    ANNOUNCE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    AGGREGATE_FIELD_NUMBER: _ClassVar[int]
    DESCRIBE_FIELD_NUMBER: _ClassVar[int]
    HTTP_FIELD_NUMBER: _ClassVar[int]
    SAME_FIELD_NUMBER: _ClassVar[int]
    NEEDS_FIELD_NUMBER: _ClassVar[int]
    note: str
    state: State
    ask: Ask
    changes: Changes
    announce: Announce
    content: Content
    aggregate: Aggregate
    describe: Describe
    http: Http
    same: Same
    needs: _containers.RepeatedScalarFieldContainer[Need]
    def __init__(self, note: _Optional[str] = ..., state: _Optional[_Union[State, _Mapping]] = ..., ask: _Optional[_Union[Ask, _Mapping]] = ..., changes: _Optional[_Union[Changes, _Mapping]] = ..., announce: _Optional[_Union[Announce, _Mapping]] = ..., content: _Optional[_Union[Content, _Mapping]] = ..., aggregate: _Optional[_Union[Aggregate, _Mapping]] = ..., describe: _Optional[_Union[Describe, _Mapping]] = ..., http: _Optional[_Union[Http, _Mapping]] = ..., same: _Optional[_Union[Same, _Mapping]] = ..., needs: _Optional[_Iterable[_Union[Need, str]]] = ...) -> None: ...

class State(_message.Message):
    __slots__ = ("verb", "params", "times")
    VERB_FIELD_NUMBER: _ClassVar[int]
    PARAMS_FIELD_NUMBER: _ClassVar[int]
    TIMES_FIELD_NUMBER: _ClassVar[int]
    verb: str
    params: _struct_pb2.Struct
    times: int
    def __init__(self, verb: _Optional[str] = ..., params: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., times: _Optional[int] = ...) -> None: ...

class Refused(_message.Message):
    __slots__ = ("codes",)
    CODES_FIELD_NUMBER: _ClassVar[int]
    codes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, codes: _Optional[_Iterable[str]] = ...) -> None: ...

class Ask(_message.Message):
    __slots__ = ("asker", "pairs", "pad_to", "subject", "all", "refused", "save", "binary", "token")
    ASKER_FIELD_NUMBER: _ClassVar[int]
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    PAD_TO_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    ALL_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    SAVE_FIELD_NUMBER: _ClassVar[int]
    BINARY_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    asker: str
    pairs: _containers.RepeatedCompositeFieldContainer[AskedPair]
    pad_to: int
    subject: _sibling_pb2.Subject
    all: _sibling_pb2.Verdict
    refused: Refused
    save: str
    binary: bool
    token: str
    def __init__(self, asker: _Optional[str] = ..., pairs: _Optional[_Iterable[_Union[AskedPair, _Mapping]]] = ..., pad_to: _Optional[int] = ..., subject: _Optional[_Union[_sibling_pb2.Subject, _Mapping]] = ..., all: _Optional[_Union[_sibling_pb2.Verdict, str]] = ..., refused: _Optional[_Union[Refused, _Mapping]] = ..., save: _Optional[str] = ..., binary: _Optional[bool] = ..., token: _Optional[str] = ...) -> None: ...

class AskedPair(_message.Message):
    __slots__ = ("item", "revision", "verdict", "numbered")
    ITEM_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    NUMBERED_FIELD_NUMBER: _ClassVar[int]
    item: str
    revision: str
    verdict: _sibling_pb2.Verdict
    numbered: int
    def __init__(self, item: _Optional[str] = ..., revision: _Optional[str] = ..., verdict: _Optional[_Union[_sibling_pb2.Verdict, str]] = ..., numbered: _Optional[int] = ...) -> None: ...

class Changes(_message.Message):
    __slots__ = ("token", "cursor", "save", "onto", "settles", "rows", "never", "reannounce_required", "nothing")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    SAVE_FIELD_NUMBER: _ClassVar[int]
    ONTO_FIELD_NUMBER: _ClassVar[int]
    SETTLES_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    NEVER_FIELD_NUMBER: _ClassVar[int]
    REANNOUNCE_REQUIRED_FIELD_NUMBER: _ClassVar[int]
    NOTHING_FIELD_NUMBER: _ClassVar[int]
    token: str
    cursor: str
    save: str
    onto: str
    settles: bool
    rows: _containers.RepeatedCompositeFieldContainer[ChangedItem]
    never: _containers.RepeatedScalarFieldContainer[str]
    reannounce_required: bool
    nothing: bool
    def __init__(self, token: _Optional[str] = ..., cursor: _Optional[str] = ..., save: _Optional[str] = ..., onto: _Optional[str] = ..., settles: _Optional[bool] = ..., rows: _Optional[_Iterable[_Union[ChangedItem, _Mapping]]] = ..., never: _Optional[_Iterable[str]] = ..., reannounce_required: _Optional[bool] = ..., nothing: _Optional[bool] = ...) -> None: ...

class ChangedItem(_message.Message):
    __slots__ = ("item", "gone")
    ITEM_FIELD_NUMBER: _ClassVar[int]
    GONE_FIELD_NUMBER: _ClassVar[int]
    item: str
    gone: bool
    def __init__(self, item: _Optional[str] = ..., gone: _Optional[bool] = ...) -> None: ...

class Announce(_message.Message):
    __slots__ = ("token", "save", "resume", "pages", "settles", "never", "page_token", "refused", "in_pages", "again")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    SAVE_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    PAGES_FIELD_NUMBER: _ClassVar[int]
    SETTLES_FIELD_NUMBER: _ClassVar[int]
    NEVER_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    IN_PAGES_FIELD_NUMBER: _ClassVar[int]
    AGAIN_FIELD_NUMBER: _ClassVar[int]
    token: str
    save: str
    resume: str
    pages: int
    settles: bool
    never: _containers.RepeatedScalarFieldContainer[str]
    page_token: str
    refused: Refused
    in_pages: bool
    again: bool
    def __init__(self, token: _Optional[str] = ..., save: _Optional[str] = ..., resume: _Optional[str] = ..., pages: _Optional[int] = ..., settles: _Optional[bool] = ..., never: _Optional[_Iterable[str]] = ..., page_token: _Optional[str] = ..., refused: _Optional[_Union[Refused, _Mapping]] = ..., in_pages: _Optional[bool] = ..., again: _Optional[bool] = ...) -> None: ...

class Content(_message.Message):
    __slots__ = ("token", "item", "revision", "extra", "refused", "or_refused", "save")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    ITEM_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    EXTRA_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    OR_REFUSED_FIELD_NUMBER: _ClassVar[int]
    SAVE_FIELD_NUMBER: _ClassVar[int]
    token: str
    item: str
    revision: str
    extra: _struct_pb2.Struct
    refused: Refused
    or_refused: Refused
    save: str
    def __init__(self, token: _Optional[str] = ..., item: _Optional[str] = ..., revision: _Optional[str] = ..., extra: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., refused: _Optional[_Union[Refused, _Mapping]] = ..., or_refused: _Optional[_Union[Refused, _Mapping]] = ..., save: _Optional[str] = ...) -> None: ...

class Aggregate(_message.Message):
    __slots__ = ("asker", "function", "cells", "subject", "outcome", "names", "refused")
    ASKER_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    CELLS_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    asker: str
    function: _sibling_pb2.AggregateFunction
    cells: _containers.RepeatedCompositeFieldContainer[AskedCell]
    subject: _sibling_pb2.Subject
    outcome: _sibling_pb2.AggregateOutcome
    names: int
    refused: Refused
    def __init__(self, asker: _Optional[str] = ..., function: _Optional[_Union[_sibling_pb2.AggregateFunction, str]] = ..., cells: _Optional[_Iterable[_Union[AskedCell, _Mapping]]] = ..., subject: _Optional[_Union[_sibling_pb2.Subject, _Mapping]] = ..., outcome: _Optional[_Union[_sibling_pb2.AggregateOutcome, str]] = ..., names: _Optional[int] = ..., refused: _Optional[_Union[Refused, _Mapping]] = ...) -> None: ...

class AskedCell(_message.Message):
    __slots__ = ("item", "tab", "row", "column", "revision", "through_row")
    ITEM_FIELD_NUMBER: _ClassVar[int]
    TAB_FIELD_NUMBER: _ClassVar[int]
    ROW_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    THROUGH_ROW_FIELD_NUMBER: _ClassVar[int]
    item: str
    tab: str
    row: int
    column: int
    revision: str
    through_row: int
    def __init__(self, item: _Optional[str] = ..., tab: _Optional[str] = ..., row: _Optional[int] = ..., column: _Optional[int] = ..., revision: _Optional[str] = ..., through_row: _Optional[int] = ...) -> None: ...

class Describe(_message.Message):
    __slots__ = ("token",)
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    token: str
    def __init__(self, token: _Optional[str] = ...) -> None: ...

class Http(_message.Message):
    __slots__ = ("call", "verb", "suffix", "token", "headers", "json", "body", "reply")
    CALL_FIELD_NUMBER: _ClassVar[int]
    VERB_FIELD_NUMBER: _ClassVar[int]
    SUFFIX_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    JSON_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    call: str
    verb: str
    suffix: str
    token: str
    headers: _containers.RepeatedCompositeFieldContainer[Header]
    json: _struct_pb2.Struct
    body: Body
    reply: Reply
    def __init__(self, call: _Optional[str] = ..., verb: _Optional[str] = ..., suffix: _Optional[str] = ..., token: _Optional[str] = ..., headers: _Optional[_Iterable[_Union[Header, _Mapping]]] = ..., json: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., body: _Optional[_Union[Body, _Mapping]] = ..., reply: _Optional[_Union[Reply, _Mapping]] = ...) -> None: ...

class Header(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: str
    def __init__(self, name: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class Body(_message.Message):
    __slots__ = ("text", "binary", "cut", "truncated", "oversized", "gzip_bomb", "nested", "garbage")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    BINARY_FIELD_NUMBER: _ClassVar[int]
    CUT_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    OVERSIZED_FIELD_NUMBER: _ClassVar[int]
    GZIP_BOMB_FIELD_NUMBER: _ClassVar[int]
    NESTED_FIELD_NUMBER: _ClassVar[int]
    GARBAGE_FIELD_NUMBER: _ClassVar[int]
    text: str
    binary: bool
    cut: bool
    truncated: bool
    oversized: int
    gzip_bomb: int
    nested: int
    garbage: int
    def __init__(self, text: _Optional[str] = ..., binary: _Optional[bool] = ..., cut: _Optional[bool] = ..., truncated: _Optional[bool] = ..., oversized: _Optional[int] = ..., gzip_bomb: _Optional[int] = ..., nested: _Optional[int] = ..., garbage: _Optional[int] = ...) -> None: ...

class Reply(_message.Message):
    __slots__ = ("statuses", "refused", "codes", "holds", "verdicts", "survives", "unmoved")
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    CODES_FIELD_NUMBER: _ClassVar[int]
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    SURVIVES_FIELD_NUMBER: _ClassVar[int]
    UNMOVED_FIELD_NUMBER: _ClassVar[int]
    statuses: _containers.RepeatedScalarFieldContainer[int]
    refused: bool
    codes: _containers.RepeatedScalarFieldContainer[str]
    holds: _struct_pb2.Struct
    verdicts: _containers.RepeatedScalarFieldContainer[_sibling_pb2.Verdict]
    survives: bool
    unmoved: bool
    def __init__(self, statuses: _Optional[_Iterable[int]] = ..., refused: _Optional[bool] = ..., codes: _Optional[_Iterable[str]] = ..., holds: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., verdicts: _Optional[_Iterable[_Union[_sibling_pb2.Verdict, str]]] = ..., survives: _Optional[bool] = ..., unmoved: _Optional[bool] = ...) -> None: ...

class Same(_message.Message):
    __slots__ = ("saved",)
    SAVED_FIELD_NUMBER: _ClassVar[int]
    saved: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, saved: _Optional[_Iterable[str]] = ...) -> None: ...
