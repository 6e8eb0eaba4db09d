"""Takes uploads in: fingerprint, sandboxed conversion, parts, chunks, search."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import ServiceKey, fingerprint
from memoria_contract.types import Author
from memoria_ingest.chunk import chunk_text
from memoria_ingest.convert.result import Converted
from memoria_ingest.convert.sandbox import Sandbox
from memoria_ingest.document import Document, Stored, UploadOrigin, without_title
from memoria_ingest.index_client import IndexClient

MAX_FILE = 32 * 1024 * 1024
MAX_TEXT = 2 * 1024 * 1024
"""Bytes of text in one document; a longer file becomes parts (AMD-06)."""

TOO_LARGE = f"This file is larger than {MAX_FILE // 1024 // 1024} MiB, the most a file may have."
_MAX_NAME = 255
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


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
            raise ServiceError(Kind.TOO_LARGE, TOO_LARGE)
        stem, trail = name_and_trail(name)
        converted = await self._sandbox.convert(stem, body)
        # Keyed, so that the same body is recognised and nobody can test whether we hold a file they know (TRU-05).
        external_id = fingerprint(self._external_ids, body)
        documents = list(_documents(converted, external_id, stem, trail))
        stored = [await self._index.put(document) for document in documents]
        return Taken(tuple(zip(documents, stored, strict=True)), converted.warnings)


async def gather(body: AsyncIterator[bytes], declared: int) -> bytes:
    """A body as it arrives, refused as soon as it is too large."""
    if declared > MAX_FILE:
        raise ServiceError(Kind.TOO_LARGE, TOO_LARGE)
    held = bytearray()
    async for part in body:
        held += part
        if len(held) > MAX_FILE:
            raise ServiceError(Kind.TOO_LARGE, TOO_LARGE)
    return bytes(held)


def name_and_trail(name: str) -> tuple[str, tuple[str, ...]]:
    """A file's own name, and the folders before it. Only ever shown: no path here is made from it."""
    parts = [_CONTROL.sub("", part).strip()[:_MAX_NAME] for part in re.split(r"[/\\]", name)]
    kept = [part for part in parts if part not in {"", ".", ".."}]
    if not kept:
        return "file", ()
    return kept[-1], tuple(kept[:-1][-8:])


def _documents(converted: Converted, external_id: bytes, stem: str, trail: tuple[str, ...]) -> list[Document]:
    title = " ".join(converted.title.split())[:300] or stem
    texts = split_text(converted.text)
    documents = []
    for number, text in enumerate(texts):
        chunks = without_title(chunk_text(text, table=converted.table), title)
        name = title if len(texts) == 1 else f"{title} (part {number + 1} of {len(texts)})"
        documents.append(
            Document(
                UploadOrigin(external_id, number, len(texts)),
                name,
                trail,
                tuple(chunks),
                Author.HUMAN if converted.by_person else Author.UNKNOWN,
                _date(converted.date),
            )
        )
    return documents


def split_text(text: str) -> list[str]:
    """Parts of at most MAX_TEXT bytes of UTF-8, cut at line ends where there are any. Joined they are the text."""
    if len(text) * 4 <= MAX_TEXT or len(text.encode("utf-8", "replace")) <= MAX_TEXT:
        return [text]
    parts: list[str] = []
    held: list[str] = []
    size = 0
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), MAX_TEXT // 4):
            piece = line[start : start + MAX_TEXT // 4]
            length = len(piece.encode("utf-8", "replace"))
            if size + length > MAX_TEXT:
                parts.append("".join(held))
                held, size = [], 0
            held.append(piece)
            size += length
    parts.append("".join(held))
    return parts


def _date(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    # A mail may claim any date; one outside what a timestamp carries is none.
    return moment.astimezone() if 1 < moment.year < 9999 else None
