"""What ingest hands to search, as plain values."""

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from memoria_contract.types import Author, Pair
from memoria_ingest.chunk import Chunk

MAX_LINE = 300
"""Characters of a title, or of one step of a trail."""

MAX_STEPS = 8
"""Steps of a document's trail, the innermost kept."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SiblingOrigin:
    """A sibling owns it."""

    app: str
    pair: Pair


@dataclass(frozen=True, slots=True)
class UploadOrigin:
    """memoria owns it; `external_id` is a keyed fingerprint, of a file's body or of a connector's item (TRU-05)."""

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
    number: int = 0


def plain_line(text: str, most: int = MAX_LINE) -> str:
    """A title or name as one line, without control and direction characters, which would make it read as another."""
    flat = " ".join(re.split(r"[ \t\r\n\v\f\u2028\u2029]+", text[: most * 8]))
    return _CONTROL.sub("", flat).strip()[:most].rstrip()


def plain_trail(steps: Iterable[str]) -> tuple[str, ...]:
    """A document's place: its innermost steps, each one plain line."""
    kept = deque((line for step in steps if (line := plain_line(step))), maxlen=MAX_STEPS)
    return tuple(kept)


def without_title(chunks: list[Chunk], title: str) -> list[Chunk]:
    """Drop the document's own title from the top of its chunks' trails, where it would be said twice."""
    return [
        Chunk(chunk.trail[1:], chunk.text) if chunk.trail and chunk.trail[0].strip() == title.strip() else chunk
        for chunk in chunks
    ]


@dataclass(frozen=True, slots=True)
class Held:
    """What search holds under an external id: nothing without a document id; `number` is 0 unless it is whole."""

    document_id: str = ""
    number: int = 0
