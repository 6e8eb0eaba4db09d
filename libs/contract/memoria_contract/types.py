"""The contract's words as plain frozen types, for code that should know nothing of protobuf."""

from dataclasses import dataclass
from enum import Enum
from typing import NewType

Revision = NewType("Revision", str)
"""Issued by the owner of an item; compared for equality only, never ordered or parsed (CON-04)."""

ItemId = NewType("ItemId", str)
"""A sibling's own id of an item. Opaque, and content: sealed at rest (TRU-02)."""

MAX_PAIRS = 256
"""Pairs in one S2 call (CON-09): a page of 50 plus provenance fan-out."""

MAX_CELLS = 64
"""Cells in one S6 call."""

SCOPES = {
    "pull": frozenset({"Describe", "ListChanges", "Announce", "GetContent"}),
    "ask": frozenset({"Describe", "Authorize", "Aggregate"}),
}
"""The calls a token of each scope is good for: who may pull content may not ask about people, and the reverse."""


class SubjectKind(Enum):
    """How a subject's value is to be read (CON-01)."""

    PERSON_REF = "person_ref"
    ADDRESS = "address"


@dataclass(frozen=True, slots=True)
class Subject:
    """The person on whose behalf a question is asked. An address is held in lower case."""

    kind: SubjectKind
    value: str

    def __post_init__(self) -> None:
        if not self.value:
            raise ValueError("a subject needs a value")
        if self.kind is SubjectKind.ADDRESS and self.value != self.value.lower():
            raise ValueError("an address subject is lower case")

    def __repr__(self) -> str:
        return f"Subject({self.kind.name}, …)"  # the value is an address: it must not reach a log through a repr


class Verdict(Enum):
    """A sibling's answer for one pair. There is no sixth (CON-03)."""

    VISIBLE = "visible"
    NOT_VISIBLE = "not_visible"
    STALE = "stale"
    AHEAD = "ahead"
    UNKNOWN = "unknown"


class Author(Enum):
    """Who wrote an item; the value is the API's word."""

    HUMAN = "human"
    MACHINE = "machine"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Pair:
    """An item at the revision memoria holds."""

    item_id: ItemId
    revision: Revision
