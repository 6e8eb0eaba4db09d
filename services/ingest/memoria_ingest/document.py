"""What ingest hands to search, as plain values."""

from dataclasses import dataclass, field
from datetime import datetime

from memoria_contract.types import Author, Pair
from memoria_ingest.chunk import Chunk


@dataclass(frozen=True, slots=True)
class SiblingOrigin:
    """A sibling owns it."""

    app: str
    pair: Pair


@dataclass(frozen=True, slots=True)
class UploadOrigin:
    """memoria owns it; `external_id` is the keyed fingerprint of the file's body (TRU-05)."""

    external_id: bytes = field(repr=False)
    part: int = 0
    parts: int = 1


@dataclass(frozen=True, slots=True)
class Document:
    """A document and its chunks, whose ordinals are their places."""

    origin: SiblingOrigin | UploadOrigin
    title: str = field(repr=False)
    trail: tuple[str, ...] = field(repr=False)
    chunks: tuple[Chunk, ...]
    author: Author = Author.UNKNOWN
    date: datetime | None = None
    link: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Stored:
    """What search made of it."""

    document_id: str
    revision: str
    created: bool


def without_title(chunks: list[Chunk], title: str) -> list[Chunk]:
    """Drop the document's own title from the top of its chunks' trails, where it would be said twice."""
    return [
        Chunk(chunk.trail[1:], chunk.text) if chunk.trail and chunk.trail[0].strip() == title.strip() else chunk
        for chunk in chunks
    ]
