from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Position(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    POSITION_UNSPECIFIED: _ClassVar[Position]
    POSITION_OFF: _ClassVar[Position]
    POSITION_LOCAL: _ClassVar[Position]
    POSITION_PROVIDER: _ClassVar[Position]
POSITION_UNSPECIFIED: Position
POSITION_OFF: Position
POSITION_LOCAL: Position
POSITION_PROVIDER: Position

class DescribeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("position",)
    POSITION_FIELD_NUMBER: _ClassVar[int]
    position: Position
    def __init__(self, position: _Optional[_Union[Position, str]] = ...) -> None: ...

class EmbedRequest(_message.Message):
    __slots__ = ("texts",)
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    texts: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, texts: _Optional[_Iterable[str]] = ...) -> None: ...

class Space(_message.Message):
    __slots__ = ("model", "digest", "width")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    model: str
    digest: str
    width: int
    def __init__(self, model: _Optional[str] = ..., digest: _Optional[str] = ..., width: _Optional[int] = ...) -> None: ...

class Vector(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, values: _Optional[_Iterable[float]] = ...) -> None: ...

class EmbedResponse(_message.Message):
    __slots__ = ("space", "vectors")
    SPACE_FIELD_NUMBER: _ClassVar[int]
    VECTORS_FIELD_NUMBER: _ClassVar[int]
    space: Space
    vectors: _containers.RepeatedCompositeFieldContainer[Vector]
    def __init__(self, space: _Optional[_Union[Space, _Mapping]] = ..., vectors: _Optional[_Iterable[_Union[Vector, _Mapping]]] = ...) -> None: ...

class NumberedPassage(_message.Message):
    __slots__ = ("index", "text")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    index: int
    text: str
    def __init__(self, index: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class LocateRequest(_message.Message):
    __slots__ = ("kind", "passages")
    KIND_FIELD_NUMBER: _ClassVar[int]
    PASSAGES_FIELD_NUMBER: _ClassVar[int]
    kind: str
    passages: _containers.RepeatedCompositeFieldContainer[NumberedPassage]
    def __init__(self, kind: _Optional[str] = ..., passages: _Optional[_Iterable[_Union[NumberedPassage, _Mapping]]] = ...) -> None: ...

class ProposedSpan(_message.Message):
    __slots__ = ("index", "text")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    index: int
    text: str
    def __init__(self, index: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class LocateResponse(_message.Message):
    __slots__ = ("spans",)
    SPANS_FIELD_NUMBER: _ClassVar[int]
    spans: _containers.RepeatedCompositeFieldContainer[ProposedSpan]
    def __init__(self, spans: _Optional[_Iterable[_Union[ProposedSpan, _Mapping]]] = ...) -> None: ...

class AnswerRequest(_message.Message):
    __slots__ = ("query", "passages")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    PASSAGES_FIELD_NUMBER: _ClassVar[int]
    query: str
    passages: _containers.RepeatedCompositeFieldContainer[NumberedPassage]
    def __init__(self, query: _Optional[str] = ..., passages: _Optional[_Iterable[_Union[NumberedPassage, _Mapping]]] = ...) -> None: ...

class CitedSentence(_message.Message):
    __slots__ = ("text", "passage_indexes")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PASSAGE_INDEXES_FIELD_NUMBER: _ClassVar[int]
    text: str
    passage_indexes: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, text: _Optional[str] = ..., passage_indexes: _Optional[_Iterable[int]] = ...) -> None: ...

class AnswerResponse(_message.Message):
    __slots__ = ("sentences", "provider", "model")
    SENTENCES_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    sentences: _containers.RepeatedCompositeFieldContainer[CitedSentence]
    provider: str
    model: str
    def __init__(self, sentences: _Optional[_Iterable[_Union[CitedSentence, _Mapping]]] = ..., provider: _Optional[str] = ..., model: _Optional[str] = ...) -> None: ...
