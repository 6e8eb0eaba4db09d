from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class GetRosterRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetRosterResponse(_message.Message):
    __slots__ = ("person_refs", "epoch", "ttl_seconds", "generation")
    PERSON_REFS_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    TTL_SECONDS_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    person_refs: _containers.RepeatedScalarFieldContainer[str]
    epoch: str
    ttl_seconds: int
    generation: str
    def __init__(self, person_refs: _Optional[_Iterable[str]] = ..., epoch: _Optional[str] = ..., ttl_seconds: _Optional[int] = ..., generation: _Optional[str] = ...) -> None: ...
