"""Takes uploads in: fingerprint, sandboxed conversion, parts, chunks, search."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import ServiceKey, fingerprint
from memoria_contract.limits import FILE_TOO_LARGE, MAX_FILE
from memoria_contract.types import Author
from memoria_ingest.chunk import Chunk, chunk_text
from memoria_ingest.convert.result import Converted
from memoria_ingest.convert.sandbox import Sandbox
from memoria_ingest.document import Document, Stored, UploadOrigin, plain_line, plain_trail, without_title
from memoria_ingest.index_client import IndexClient

MAX_TEXT = 2 * 1024 * 1024
"""Bytes of text in one document; a longer file becomes parts (AMD-06)."""

MAX_CHUNKS = 4_000
"""Of one document: twice what 2 MiB of prose has, and a page that can still be rendered. Headings alone make more."""

MAX_PARTS = 64
TOO_MUCH_TEXT = (
    f"This file has more text than {MAX_PARTS * MAX_TEXT // 1024 // 1024} MiB, its headings counted in; split it."
)
_MAX_NAME = 255
_MAX_ENDING = 10


@dataclass(frozen=True, slots=True)
class Taken:
    """What one upload became."""

    documents: tuple[tuple[Document, Stored], ...]
    warnings: tuple[str, ...] = field(repr=False)


class Uploads:
    """Takes files in."""

    def __init__(self, sandbox: Sandbox, index: IndexClient, key: ServiceKey) -> None:
        self._sandbox = sandbox
        self._index = index
        self._external_ids = key.purpose("external-id")

    async def take(self, name: str, body: bytes) -> Taken:
        """Convert and store one file. Raises ServiceError with the sentence for its owner."""
        if len(body) > MAX_FILE:
            raise ServiceError(Kind.TOO_LARGE, FILE_TOO_LARGE)
        stem, trail = name_and_trail(name)
        converted = await self._sandbox.convert(stem, body)
        # Keyed, so that the same body is recognised and nobody can test whether we hold a file they know (TRU-05).
        external_id = fingerprint(self._external_ids, body)
        # In a thread: long texts take a second, and other uploads and the feeds go on meanwhile.
        documents = await asyncio.to_thread(documents_of, converted, external_id, stem, trail)
        stored = [await self._index.put(document) for document in documents]
        return Taken(tuple(zip(documents, stored, strict=True)), converted.warnings)


async def gather(body: AsyncIterator[bytes], declared: int) -> bytes:
    """A body as it arrives, refused as soon as it is too large.

    `declared` is its size where the sender knew it, else 0; a body that ends short of it was cut on the way.
    """
    if declared > MAX_FILE:
        raise ServiceError(Kind.TOO_LARGE, FILE_TOO_LARGE)
    held = bytearray()
    async for part in body:
        held += part
        if len(held) > MAX_FILE:
            raise ServiceError(Kind.TOO_LARGE, FILE_TOO_LARGE)
    if declared and len(held) != declared:
        raise ServiceError(Kind.INVALID, "This file did not arrive whole; send it again.")
    return bytes(held)


def name_and_trail(name: str) -> tuple[str, tuple[str, ...]]:
    """A file's own name, and the folders before it. Only ever shown: no path here is made from it."""
    parts = [plain_line(part, len(part)) for part in re.split(r"[/\\]", name)]
    kept = [part for part in parts if part not in {"", ".", ".."}]
    if not kept:
        return "file", ()
    own = kept[-1]
    if len(own) > _MAX_NAME:
        ending = own[own.rfind(".") :] if "." in own[-_MAX_ENDING:] else ""
        own = own[: _MAX_NAME - len(ending)] + ending  # its ending says what it is
    return own, plain_trail(kept[:-1])


def documents_of(converted: Converted, external_id: bytes, stem: str, trail: tuple[str, ...]) -> list[Document]:
    """The document, or its parts where its text is longer than one document may be.

    Cut between chunks, after chunking: a part that began in the middle of a table would take a row for its header, and
    one that began in the middle of a section would not know under which headings it stands.
    """
    title = plain_line(converted.title) or stem
    parts = split_chunks(without_title(chunk_text(converted.text, table=converted.table), title))
    if not parts:
        raise ServiceError(Kind.INVALID, "There is no text in this file.")
    if len(parts) > MAX_PARTS:
        raise ServiceError(Kind.TOO_LARGE, TOO_MUCH_TEXT)
    return [
        Document(
            UploadOrigin(external_id, number, len(parts)),
            title if len(parts) == 1 else f"{title} (part {number + 1} of {len(parts)})",
            trail,
            tuple(chunks),
            Author.HUMAN if converted.by_person else Author.UNKNOWN,
            _date(converted.date),
        )
        for number, chunks in enumerate(parts)
    ]


def split_chunks(chunks: list[Chunk]) -> list[list[Chunk]]:
    """Runs of at most MAX_CHUNKS chunks and MAX_TEXT bytes of UTF-8; headings count with each chunk they stand over."""
    parts: list[list[Chunk]] = []
    size = 0
    for chunk in chunks:
        length = sum(len(part.encode("utf-8", "replace")) for part in (*chunk.trail, chunk.text))
        if not parts or size + length > MAX_TEXT or len(parts[-1]) == MAX_CHUNKS:
            parts.append([])
            size = 0
        parts[-1].append(chunk)
        size += length
    return parts


def _date(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if not 1 < moment.year < 9999:
        return None  # a mail may claim any date; one outside what a timestamp carries is none
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
