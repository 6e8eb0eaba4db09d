"""The store: every write one transaction, every read by the number of a revision."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from memoria_chassis.aead import SealError
from memoria_chassis.clock import Clock
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.sqlite import Database
from memoria_contract.types import ItemId, Revision
from memoria_search.corpus import rows, tombstones, vector_rows
from memoria_search.corpus.model import Change, Chunk, DocumentRef, Metadata, NewDocument, SiblingOrigin, UploadOrigin
from memoria_search.corpus.schema import chunk_key, key_range
from memoria_search.corpus.standing import last_number
from memoria_search.corpus.vault import Vault

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OpenedChunk:
    """A chunk opened for a page. A part that did not open is None; the rest is still known."""

    metadata: Metadata | None
    chunk: Chunk | None


@dataclass(frozen=True, slots=True)
class OpenedDocument:
    """A document opened whole."""

    metadata: Metadata
    chunks: tuple[Chunk, ...]


class Store:
    """Documents and chunks, sealed. Decides nothing about who may read them."""

    def __init__(self, database: Database, vault: Vault, clock: Clock) -> None:
        self._database = database
        self._vault = vault
        self._clock = clock

    async def put(self, document: NewDocument) -> tuple[DocumentRef, Change]:
        """Store a document in place of the revision held, if any: all of it, or on failure none of it."""
        document_id = self._vault.document_id(document.origin)
        now = self._clock.now().isoformat(timespec="seconds")

        def change(db: sqlite3.Connection) -> tuple[DocumentRef, Change]:
            held = db.execute("SELECT revision, created_at FROM documents WHERE id = ?", (document_id,)).fetchone()
            number = last_number(db) + 1
            ref = rows.reference(self._vault, document, document_id, number, held[0] if held else None)
            vector_rows.carry(db, self._vault, ref, document)  # before what they are of is removed
            removed = self._remove(db, "id = ?", (document_id,))
            if isinstance(document.origin, UploadOrigin):  # parts beyond the last one of today's conversion
                upload = self._vault.upload(document.origin.external_id)
                removed += self._remove(db, "upload = ? AND part >= ?", (upload, document.origin.parts))
            tombstones.record(db, self._vault, {gone.document_id for gone in removed} - {document_id})
            rows.insert(db, self._vault, ref, document, (held[1] if held else now, now))
            return ref, Change((ref,), tuple(removed))

        return await self._database.write(change)

    def upload(self, external_id: bytes) -> bytes:
        """What the documents of one external id have in common."""
        return self._vault.upload(external_id)

    async def delete_owned(self, ref: DocumentRef) -> Change:
        """Delete a memoria-owned document with all parts of its upload. A sibling's document is left alone."""

        def change(db: sqlite3.Connection) -> Change:
            removed = self._remove(db, "upload = ?", (ref.upload,))
            tombstones.record(db, self._vault, [gone.document_id for gone in removed])
            return Change(removed=tuple(removed))

        return await self._database.write(change)

    async def retire(self, app: str, item_ids: Iterable[ItemId]) -> Change:
        """Remove a sibling's items. Those not held are passed over."""
        ids = [self._vault.document_id(SiblingOrigin(app, item_id, Revision(""))) for item_id in item_ids]

        def change(db: sqlite3.Connection) -> Change:
            removed = self._remove_all(db, ids)
            tombstones.record(db, self._vault, [gone.document_id for gone in removed])
            return Change(removed=tuple(removed))

        return await self._database.write(change)

    def _remove_all(self, db: sqlite3.Connection, document_ids: Iterable[str]) -> list[DocumentRef]:
        return [gone for document_id in document_ids for gone in self._remove(db, "id = ?", (document_id,))]

    def replay_removal(self, db: sqlite3.Connection, document_ids: Iterable[str]) -> int:
        """Remove documents that the log says were deleted, inside a transaction; how many were still here."""
        return len(self._remove_all(db, document_ids))

    def _remove(self, db: sqlite3.Connection, where: str, values: Sequence[object]) -> list[DocumentRef]:
        """Remove documents with their chunks; `where` is one of this module's own strings."""
        found = db.execute(f"SELECT number, id, app, revision FROM documents WHERE {where}", values).fetchall()  # noqa: S608 - see above
        for number, *_ in found:
            db.execute("DELETE FROM chunks WHERE key BETWEEN ? AND ?", key_range(number))
            for space in db.execute("SELECT id FROM spaces").fetchall():
                db.execute("DELETE FROM vectors WHERE space = ? AND key BETWEEN ? AND ?", (*space, *key_range(number)))
            db.execute("DELETE FROM documents WHERE number = ?", (number,))
        # The item id stays sealed: a row that no longer opens can still be removed.
        return [DocumentRef(number, document_id, app, None, revision) for number, document_id, app, revision in found]

    async def open_chunks(self, places: Sequence[tuple[DocumentRef, int]]) -> list[OpenedChunk | None]:
        """Open the chunks of one page in one read; None where the row is gone since (IDX-03)."""

        def read(db: sqlite3.Connection) -> list[OpenedChunk | None]:
            documents = _select(
                db,
                f"SELECT number, {rows.METADATA_COLUMNS} FROM documents WHERE number IN",  # noqa: S608 - constant
                (r.number for r, _ in places),
            )
            keys = (chunk_key(ref.number, ordinal) for ref, ordinal in places)
            chunks = _select(db, "SELECT key, trail, text FROM chunks WHERE key IN", keys)
            distinct = {ref.number: ref for ref, _ in places}
            about = {number: self._about(ref, documents) for number, ref in distinct.items()}
            return [self._open(about[ref.number], chunks, ref, ordinal) for ref, ordinal in places]

        return await self._database.read(read)

    def _about(self, ref: DocumentRef, documents: dict[int, tuple]) -> tuple[Metadata | None] | None:
        """A document's metadata, or None in its place where it does not open; None alone where the row is gone."""
        if ref.number not in documents:
            return None
        row = rows.document_row(ref.document_id, ref.number)
        return (_or_none(lambda: rows.open_metadata(self._vault, row, documents[ref.number])),)

    def _open(
        self, about: tuple[Metadata | None] | None, chunks: dict[int, tuple], ref: DocumentRef, ordinal: int
    ) -> OpenedChunk | None:
        if about is None:
            return None
        place, body = rows.chunk_row(ref.document_id, ref.number, ordinal), chunks.get(chunk_key(ref.number, ordinal))
        return OpenedChunk(
            about[0], None if body is None else _or_none(lambda: rows.open_chunk(self._vault, place, *body))
        )

    async def open_document(self, ref: DocumentRef) -> OpenedDocument | None:
        """Open a document whole; None where that revision is gone. Raises UNAVAILABLE where a part does not open."""

        def read(db: sqlite3.Connection) -> OpenedDocument | None:
            about = db.execute(
                f"SELECT {rows.METADATA_COLUMNS}, chunks FROM documents WHERE number = ?",  # noqa: S608 - constant
                (ref.number,),
            ).fetchone()
            if about is None:
                return None
            chunks = tuple(self._chunks(db, ref))
            if len(chunks) != about[-1]:
                raise ServiceError(Kind.UNAVAILABLE, "this document's text cannot be read")
            row = rows.document_row(ref.document_id, ref.number)
            return OpenedDocument(rows.open_metadata(self._vault, row, about[:-1]), tuple(c for _, c in chunks))

        try:
            return await self._database.read(read)
        except SealError as error:
            raise ServiceError(Kind.UNAVAILABLE, "this document's text cannot be read") from error

    def _chunks(
        self, db: sqlite3.Connection, ref: DocumentRef, damaged: list[SealError] | None = None
    ) -> Iterator[tuple[int, Chunk]]:
        """A document's chunks in order. One that does not open raises SealError, or goes to `damaged`."""
        first, last = key_range(ref.number)
        found = db.execute("SELECT key, trail, text FROM chunks WHERE key BETWEEN ? AND ? ORDER BY key", (first, last))
        for key, trail, text in found:
            place = rows.chunk_row(ref.document_id, ref.number, key - first)
            try:
                yield key - first, rows.open_chunk(self._vault, place, trail, text)
            except SealError as error:
                if damaged is None:
                    raise
                damaged.append(error)

    async def references(self, take: Callable[[DocumentRef], None]) -> int:
        """Give the reference of every document to `take`, in the reader's thread.

        Returns how many rows did not open and were left out: one that is damaged must not keep the rest from being
        found. A corpus sealed under another key is something else, and is refused with PRECONDITION.
        """

        def read(db: sqlite3.Connection) -> int:
            damaged = 0
            for columns in db.execute(f"SELECT {rows.REF_COLUMNS} FROM documents ORDER BY number"):  # noqa: S608 - constant
                try:
                    take(rows.open_reference(self._vault, columns))
                except SealError as error:
                    damaged += _one_damaged(error)
            return damaged

        return await self._database.read(read)

    async def contents(
        self, refs: Iterable[DocumentRef], take: Callable[[DocumentRef, Metadata, Iterator[tuple[int, Chunk]]], None]
    ) -> int:
        """Give what `refs` hold to `take`, one document at a time, in the reader's thread; memory stays flat.

        Returns how many rows did not open, as `references` does.
        """

        def read(db: sqlite3.Connection) -> int:
            damaged: list[SealError] = []
            select = f"SELECT {rows.METADATA_COLUMNS} FROM documents WHERE number = ?"  # noqa: S608 - constant
            for ref in refs:
                columns = db.execute(select, (ref.number,)).fetchone()
                if columns is None:
                    continue
                row = rows.document_row(ref.document_id, ref.number)
                try:
                    take(ref, rows.open_metadata(self._vault, row, columns), self._chunks(db, ref, damaged))
                except SealError as error:
                    damaged.append(error)
            return sum(map(_one_damaged, damaged))

        return await self._database.read(read)


def _one_damaged(error: SealError) -> int:
    if error.reason == "unknown key":
        raise ServiceError(Kind.PRECONDITION, "the corpus was sealed under another key") from error
    return 1


def _select(db: sqlite3.Connection, select: str, keys: Iterable[int]) -> dict[int, tuple]:
    """Rows by their integer key; `select` is one of this module's own strings and ends in IN."""
    distinct = list(dict.fromkeys(keys))
    marks = ", ".join("?" * len(distinct))
    return {row[0]: row[1:] for row in db.execute(f"{select} ({marks})", distinct)}


def _or_none(open_it: Callable[[], T]) -> T | None:
    try:
        return open_it()
    except SealError:
        return None  # ruled but unreadable: the row is shown as unavailable (ING-05)
