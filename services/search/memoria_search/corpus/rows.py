"""Rows to plain types and back: where each column's seal context is written down, once."""

import sqlite3

from memoria_contract.types import ItemId, Revision
from memoria_search.corpus.model import FILES, Chunk, DocumentRef, Metadata, NewDocument, SiblingOrigin, UploadOrigin
from memoria_search.corpus.schema import chunk_key
from memoria_search.corpus.vault import Vault

REF_COLUMNS = "number, id, app, item_id, revision, upload, part, parts"
METADATA_COLUMNS = "title, trail, link, author, date"


def document_row(ref_id: str, number: int) -> str:
    """The name of a document's row in seal contexts."""
    return f"{ref_id}@{number}"


def chunk_row(ref_id: str, number: int, ordinal: int) -> str:
    """The name of a chunk's row in seal contexts."""
    return f"{ref_id}@{number}#{ordinal}"


def reference(vault: Vault, document: NewDocument, document_id: str, number: int, previous: str | None) -> DocumentRef:
    """The reference of a new revision. `previous` is the revision it replaces.

    A sibling's revision is taken as it is, whichever looks newer (CON-04); an upload's counts up (ING-13).
    """
    match document.origin:
        case SiblingOrigin(app, item_id, revision):
            return DocumentRef(number, document_id, app, item_id, revision)
        case UploadOrigin(external_id, part, parts):
            counted = Revision(str(int(previous or "0") + 1))
            return DocumentRef(
                number, document_id, FILES, None, counted, upload=vault.upload(external_id), part=part, parts=parts
            )


def insert(
    db: sqlite3.Connection, vault: Vault, ref: DocumentRef, document: NewDocument, times: tuple[str, str]
) -> None:
    """Write a document and its chunks, sealed. `times` are created_at and updated_at."""
    row, about = document_row(ref.document_id, ref.number), document.metadata
    item = None if ref.item_id is None else vault.seal_text("item id", "documents", row, "item_id", ref.item_id)
    db.execute(
        "INSERT INTO documents (number, id, app, item_id, revision, title, trail, link, author, date, upload, part,"
        " parts, chunks, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            ref.number,
            ref.document_id,
            ref.app,
            item,
            ref.revision,
            vault.seal_text("title", "documents", row, "title", about.title),
            vault.seal_trail("documents", row, about.trail),
            vault.seal_text("link", "documents", row, "link", about.link),
            vault.seal_author(row, about.author),
            vault.seal_date(row, about.date),
            ref.upload,
            ref.part,
            ref.parts,
            len(document.chunks),
            *times,
        ),
    )
    db.executemany(
        "INSERT INTO chunks (key, trail, text) VALUES (?, ?, ?)",
        (
            (chunk_key(ref.number, at), *seal_chunk(vault, chunk_row(ref.document_id, ref.number, at), chunk))
            for at, chunk in enumerate(document.chunks)
        ),
    )


def seal_chunk(vault: Vault, row: str, chunk: Chunk) -> tuple[bytes, bytes]:
    """A chunk's sealed trail and text."""
    return vault.seal_trail("chunks", row, chunk.trail), vault.seal_text("chunk", "chunks", row, "text", chunk.text)


def open_chunk(vault: Vault, row: str, trail: bytes, text: bytes) -> Chunk:
    """The inverse. Raises SealError."""
    return Chunk(vault.open_trail("chunks", row, trail), vault.open_text("chunk", "chunks", row, "text", text))


def open_reference(vault: Vault, columns: tuple) -> DocumentRef:
    """A reference from REF_COLUMNS. Raises SealError."""
    number, document_id, app, item, revision, upload, part, parts = columns
    row = document_row(document_id, number)
    item_id = None if item is None else ItemId(vault.open_text("item id", "documents", row, "item_id", item))
    return DocumentRef(number, document_id, app, item_id, Revision(revision), upload, part, parts)


def open_metadata(vault: Vault, row: str, columns: tuple) -> Metadata:
    """Metadata from METADATA_COLUMNS. Raises SealError."""
    title, trail, link, author, date = columns
    return Metadata(
        title=vault.open_text("title", "documents", row, "title", title),
        trail=vault.open_trail("documents", row, trail),
        link=vault.open_text("link", "documents", row, "link", link),
        author=vault.open_author(row, author),
        date=vault.open_date(row, date),
    )
