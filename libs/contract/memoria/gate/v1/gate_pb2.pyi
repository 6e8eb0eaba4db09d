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

class Admission(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ADMISSION_UNSPECIFIED: _ClassVar[Admission]
    ADMISSION_ADMITTED: _ClassVar[Admission]
    ADMISSION_REFUSED: _ClassVar[Admission]

class Disposition(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DISPOSITION_UNSPECIFIED: _ClassVar[Disposition]
    DISPOSITION_SPEAK: _ClassVar[Disposition]
    DISPOSITION_OMIT: _ClassVar[Disposition]
    DISPOSITION_WITHHOLD: _ClassVar[Disposition]

class Cause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CAUSE_UNSPECIFIED: _ClassVar[Cause]
    CAUSE_NO_ANSWER: _ClassVar[Cause]
    CAUSE_STALE: _ClassVar[Cause]
    CAUSE_AHEAD: _ClassVar[Cause]

class WorkOrderKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WORK_ORDER_KIND_UNSPECIFIED: _ClassVar[WorkOrderKind]
    WORK_ORDER_KIND_REFETCH: _ClassVar[WorkOrderKind]
    WORK_ORDER_KIND_REANNOUNCE: _ClassVar[WorkOrderKind]

class BreakerState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BREAKER_STATE_UNSPECIFIED: _ClassVar[BreakerState]
    BREAKER_STATE_QUIET: _ClassVar[BreakerState]
    BREAKER_STATE_FIRED: _ClassVar[BreakerState]
    BREAKER_STATE_CANNOT_DETERMINE: _ClassVar[BreakerState]

class BreakerLack(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BREAKER_LACK_UNSPECIFIED: _ClassVar[BreakerLack]
    BREAKER_LACK_WINDOW: _ClassVar[BreakerLack]
    BREAKER_LACK_BASELINE: _ClassVar[BreakerLack]

class RosterState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROSTER_STATE_UNSPECIFIED: _ClassVar[RosterState]
    ROSTER_STATE_FRESH: _ClassVar[RosterState]
    ROSTER_STATE_STALE: _ClassVar[RosterState]
    ROSTER_STATE_NONE: _ClassVar[RosterState]
ADMISSION_UNSPECIFIED: Admission
ADMISSION_ADMITTED: Admission
ADMISSION_REFUSED: Admission
DISPOSITION_UNSPECIFIED: Disposition
DISPOSITION_SPEAK: Disposition
DISPOSITION_OMIT: Disposition
DISPOSITION_WITHHOLD: Disposition
CAUSE_UNSPECIFIED: Cause
CAUSE_NO_ANSWER: Cause
CAUSE_STALE: Cause
CAUSE_AHEAD: Cause
WORK_ORDER_KIND_UNSPECIFIED: WorkOrderKind
WORK_ORDER_KIND_REFETCH: WorkOrderKind
WORK_ORDER_KIND_REANNOUNCE: WorkOrderKind
BREAKER_STATE_UNSPECIFIED: BreakerState
BREAKER_STATE_QUIET: BreakerState
BREAKER_STATE_FIRED: BreakerState
BREAKER_STATE_CANNOT_DETERMINE: BreakerState
BREAKER_LACK_UNSPECIFIED: BreakerLack
BREAKER_LACK_WINDOW: BreakerLack
BREAKER_LACK_BASELINE: BreakerLack
ROSTER_STATE_UNSPECIFIED: RosterState
ROSTER_STATE_FRESH: RosterState
ROSTER_STATE_STALE: RosterState
ROSTER_STATE_NONE: RosterState

class AdmitRequest(_message.Message):
    __slots__ = ("address", "subject", "home_epoch")
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    HOME_EPOCH_FIELD_NUMBER: _ClassVar[int]
    address: str
    subject: _sibling_pb2.Subject
    home_epoch: str
    def __init__(self, address: _Optional[str] = ..., subject: _Optional[_Union[_sibling_pb2.Subject, _Mapping]] = ..., home_epoch: _Optional[str] = ...) -> None: ...

class AdmitResponse(_message.Message):
    __slots__ = ("admission", "owner", "subject")
    ADMISSION_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    admission: Admission
    owner: bool
    subject: _sibling_pb2.Subject
    def __init__(self, admission: _Optional[_Union[Admission, str]] = ..., owner: _Optional[bool] = ..., subject: _Optional[_Union[_sibling_pb2.Subject, _Mapping]] = ...) -> None: ...

class SiblingClaim(_message.Message):
    __slots__ = ("app", "item_id", "revision")
    APP_FIELD_NUMBER: _ClassVar[int]
    ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    app: str
    item_id: str
    revision: str
    def __init__(self, app: _Optional[str] = ..., item_id: _Optional[str] = ..., revision: _Optional[str] = ...) -> None: ...

class OwnedClaim(_message.Message):
    __slots__ = ("document_id", "present")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    PRESENT_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    present: bool
    def __init__(self, document_id: _Optional[str] = ..., present: _Optional[bool] = ...) -> None: ...

class OwnedRoot(_message.Message):
    __slots__ = ("document_id", "recorded_revision", "held_revision")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    RECORDED_REVISION_FIELD_NUMBER: _ClassVar[int]
    HELD_REVISION_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    recorded_revision: str
    held_revision: str
    def __init__(self, document_id: _Optional[str] = ..., recorded_revision: _Optional[str] = ..., held_revision: _Optional[str] = ...) -> None: ...

class Root(_message.Message):
    __slots__ = ("sibling", "owned")
    SIBLING_FIELD_NUMBER: _ClassVar[int]
    OWNED_FIELD_NUMBER: _ClassVar[int]
    sibling: SiblingClaim
    owned: OwnedRoot
    def __init__(self, sibling: _Optional[_Union[SiblingClaim, _Mapping]] = ..., owned: _Optional[_Union[OwnedRoot, _Mapping]] = ...) -> None: ...

class DerivedClaim(_message.Message):
    __slots__ = ("roots",)
    ROOTS_FIELD_NUMBER: _ClassVar[int]
    roots: _containers.RepeatedCompositeFieldContainer[Root]
    def __init__(self, roots: _Optional[_Iterable[_Union[Root, _Mapping]]] = ...) -> None: ...

class ProbeClaim(_message.Message):
    __slots__ = ("app",)
    APP_FIELD_NUMBER: _ClassVar[int]
    app: str
    def __init__(self, app: _Optional[str] = ...) -> None: ...

class Claim(_message.Message):
    __slots__ = ("sibling", "owned", "derived", "probe")
    SIBLING_FIELD_NUMBER: _ClassVar[int]
    OWNED_FIELD_NUMBER: _ClassVar[int]
    DERIVED_FIELD_NUMBER: _ClassVar[int]
    PROBE_FIELD_NUMBER: _ClassVar[int]
    sibling: SiblingClaim
    owned: OwnedClaim
    derived: DerivedClaim
    probe: ProbeClaim
    def __init__(self, sibling: _Optional[_Union[SiblingClaim, _Mapping]] = ..., owned: _Optional[_Union[OwnedClaim, _Mapping]] = ..., derived: _Optional[_Union[DerivedClaim, _Mapping]] = ..., probe: _Optional[_Union[ProbeClaim, _Mapping]] = ...) -> None: ...

class AuthorizeRequest(_message.Message):
    __slots__ = ("subject", "claims")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_FIELD_NUMBER: _ClassVar[int]
    subject: _sibling_pb2.Subject
    claims: _containers.RepeatedCompositeFieldContainer[Claim]
    def __init__(self, subject: _Optional[_Union[_sibling_pb2.Subject, _Mapping]] = ..., claims: _Optional[_Iterable[_Union[Claim, _Mapping]]] = ...) -> None: ...

class Ruling(_message.Message):
    __slots__ = ("disposition", "cause")
    DISPOSITION_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    disposition: Disposition
    cause: Cause
    def __init__(self, disposition: _Optional[_Union[Disposition, str]] = ..., cause: _Optional[_Union[Cause, str]] = ...) -> None: ...

class AuthorizeResponse(_message.Message):
    __slots__ = ("rulings",)
    RULINGS_FIELD_NUMBER: _ClassVar[int]
    rulings: _containers.RepeatedCompositeFieldContainer[Ruling]
    def __init__(self, rulings: _Optional[_Iterable[_Union[Ruling, _Mapping]]] = ...) -> None: ...

class AggregateRequest(_message.Message):
    __slots__ = ("app", "request")
    APP_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    app: str
    request: _sibling_pb2.AggregateRequest
    def __init__(self, app: _Optional[str] = ..., request: _Optional[_Union[_sibling_pb2.AggregateRequest, _Mapping]] = ...) -> None: ...

class AggregateResponse(_message.Message):
    __slots__ = ("response",)
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    response: _sibling_pb2.AggregateResponse
    def __init__(self, response: _Optional[_Union[_sibling_pb2.AggregateResponse, _Mapping]] = ...) -> None: ...

class WorkOrder(_message.Message):
    __slots__ = ("order_id", "kind", "app", "item_id")
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    APP_FIELD_NUMBER: _ClassVar[int]
    ITEM_ID_FIELD_NUMBER: _ClassVar[int]
    order_id: str
    kind: WorkOrderKind
    app: str
    item_id: str
    def __init__(self, order_id: _Optional[str] = ..., kind: _Optional[_Union[WorkOrderKind, str]] = ..., app: _Optional[str] = ..., item_id: _Optional[str] = ...) -> None: ...

class TakeWorkOrdersRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TakeWorkOrdersResponse(_message.Message):
    __slots__ = ("orders",)
    ORDERS_FIELD_NUMBER: _ClassVar[int]
    orders: _containers.RepeatedCompositeFieldContainer[WorkOrder]
    def __init__(self, orders: _Optional[_Iterable[_Union[WorkOrder, _Mapping]]] = ...) -> None: ...

class CompleteWorkOrdersRequest(_message.Message):
    __slots__ = ("order_ids",)
    ORDER_IDS_FIELD_NUMBER: _ClassVar[int]
    order_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, order_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class CompleteWorkOrdersResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class FetchCount(_message.Message):
    __slots__ = ("app", "fetched", "not_found")
    APP_FIELD_NUMBER: _ClassVar[int]
    FETCHED_FIELD_NUMBER: _ClassVar[int]
    NOT_FOUND_FIELD_NUMBER: _ClassVar[int]
    app: str
    fetched: int
    not_found: int
    def __init__(self, app: _Optional[str] = ..., fetched: _Optional[int] = ..., not_found: _Optional[int] = ...) -> None: ...

class ReportFetchesRequest(_message.Message):
    __slots__ = ("counts", "lineage")
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    LINEAGE_FIELD_NUMBER: _ClassVar[int]
    counts: _containers.RepeatedCompositeFieldContainer[FetchCount]
    lineage: str
    def __init__(self, counts: _Optional[_Iterable[_Union[FetchCount, _Mapping]]] = ..., lineage: _Optional[str] = ...) -> None: ...

class ReportFetchesResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Finding(_message.Message):
    __slots__ = ("state", "lacking", "at")
    STATE_FIELD_NUMBER: _ClassVar[int]
    LACKING_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    state: BreakerState
    lacking: _containers.RepeatedScalarFieldContainer[BreakerLack]
    at: int
    def __init__(self, state: _Optional[_Union[BreakerState, str]] = ..., lacking: _Optional[_Iterable[_Union[BreakerLack, str]]] = ..., at: _Optional[int] = ...) -> None: ...

class SiblingFindings(_message.Message):
    __slots__ = ("app", "refusal", "fetch", "restore")
    APP_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    FETCH_FIELD_NUMBER: _ClassVar[int]
    RESTORE_FIELD_NUMBER: _ClassVar[int]
    app: str
    refusal: Finding
    fetch: Finding
    restore: Finding
    def __init__(self, app: _Optional[str] = ..., refusal: _Optional[_Union[Finding, _Mapping]] = ..., fetch: _Optional[_Union[Finding, _Mapping]] = ..., restore: _Optional[_Union[Finding, _Mapping]] = ...) -> None: ...

class ListFindingsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListFindingsResponse(_message.Message):
    __slots__ = ("siblings",)
    SIBLINGS_FIELD_NUMBER: _ClassVar[int]
    siblings: _containers.RepeatedCompositeFieldContainer[SiblingFindings]
    def __init__(self, siblings: _Optional[_Iterable[_Union[SiblingFindings, _Mapping]]] = ...) -> None: ...

class DescribeRosterRequest(_message.Message):
    __slots__ = ("pull",)
    PULL_FIELD_NUMBER: _ClassVar[int]
    pull: bool
    def __init__(self, pull: _Optional[bool] = ...) -> None: ...

class DescribeRosterResponse(_message.Message):
    __slots__ = ("state", "members", "fetched_at", "until", "failure", "waiting")
    STATE_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    FETCHED_AT_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    state: RosterState
    members: int
    fetched_at: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    failure: str
    waiting: str
    def __init__(self, state: _Optional[_Union[RosterState, str]] = ..., members: _Optional[int] = ..., fetched_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., failure: _Optional[str] = ..., waiting: _Optional[str] = ...) -> None: ...

class ConfirmRosterRequest(_message.Message):
    __slots__ = ("waiting",)
    WAITING_FIELD_NUMBER: _ClassVar[int]
    waiting: str
    def __init__(self, waiting: _Optional[str] = ...) -> None: ...

class ConfirmRosterResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
