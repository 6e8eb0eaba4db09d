"""The corpus in plain types."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from memoria_contract.types import Author, ItemId, Revision

FILES = "files"
"""The app name of what memoria owns. No sibling may be called so."""


@dataclass(frozen=True, slots=True)
class SiblingOrigin:
    """A document that a sibling owns."""

    app: str
    item_id: ItemId
    revision: Revision


@dataclass(frozen=True, slots=True)
class UploadOrigin:
    """One part of what a person uploaded. `external_id`: ingest's keyed fingerprint of the body, 32 bytes (TRU-05)."""

    external_id: bytes
    part: int
    parts: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage's text and the headings above it."""

    trail: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is known of a document beside its text."""

    title: str
    trail: tuple[str, ...] = ()
    author: Author = Author.UNKNOWN
    date: datetime | None = None
    link: str = ""


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document on its way in. A chunk's ordinal is its place, frozen until the next revision (ING-15)."""

    origin: SiblingOrigin | UploadOrigin
    metadata: Metadata
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class DocumentRef:
    """A stored revision of a document. `number` is never used twice, so it names this revision's text and no other."""

    number: int
    document_id: str
    app: str
    item_id: ItemId | None  # None: memoria owns it
    revision: Revision
    upload: bytes | None = None  # which upload it is a part of
    part: int = 0
    parts: int = 1

    @property
    def owned(self) -> bool:
        """memoria itself decides about it, by the two facts (RUL-03)."""
        return self.item_id is None


class SourceState(Enum):
    """How a source stands."""

    CURRENT = "current"
    AS_OF = "as_of"
    RECONCILING = "reconciling"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True)
class Source:
    """A source and when it was last pulled through; None: never."""

    app: str
    state: SourceState
    as_of: datetime | None


@dataclass(frozen=True, slots=True)
class Change:
    """What a write did: revisions that are there now, and numbers that are no more."""

    added: tuple[DocumentRef, ...] = ()
    removed: tuple[DocumentRef, ...] = ()
