"""A vector's row: what it is sealed as and bound to, and how it follows its text into the next revision (IDX-08)."""

import sqlite3
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memoria_chassis.aead import SealError
from memoria_chassis.errors import Kind, ServiceError
from memoria_search.corpus import rows
from memoria_search.corpus.model import Chunk, DocumentRef, Metadata, NewDocument
from memoria_search.corpus.schema import chunk_key, key_range
from memoria_search.corpus.vault import Vault
from memoria_search.index.schema import MAX_ORDINALS, ORDINAL_BITS
from memoria_search.index.vectors.quantise import Quantised
from memoria_search.index.vectors.space import Space

T = TypeVar("T")

_SCALE = np.dtype("<f4")


@dataclass(frozen=True, slots=True)
class Place:
    """Which chunk a vector is of. `key` names the text of one revision; the seal is bound to `document_id` too."""

    key: int
    document_id: str
    app: str

    @property
    def row(self) -> str:
        """The chunk's row in seal contexts."""
        return rows.chunk_row(self.document_id, self.key >> ORDINAL_BITS, self.key & (MAX_ORDINALS - 1))


def text_of(about: Metadata, chunk: Chunk) -> str:
    """What is embedded for a chunk: title, trail, text. A chunk is unchanged where this is."""
    return "\n".join((about.title, *about.trail, *chunk.trail, chunk.text))


def spaces(db: sqlite3.Connection, vault: Vault) -> dict[int, Space]:
    """Every space by its number; one that is damaged is left out. Raises PRECONDITION for another key's."""
    found: dict[int, Space] = {}
    for number, sealed in db.execute("SELECT id, description FROM spaces").fetchall():
        try:
            found[number] = Space.read(vault.open_text("vector space", "spaces", str(number), "description", sealed))
        except SealError as error:
            if error.reason == "unknown key":
                raise ServiceError(Kind.PRECONDITION, "the vectors were sealed under another key") from error
    return found


def seal(vault: Vault, space: Space, place: Place, row: NDArray[np.int8], scale: np.float32) -> bytes:
    """A vector, sealed to its chunk and its space: scale, float32 little-endian, then a byte a value."""
    plain = np.array(scale, dtype=_SCALE).tobytes() + row.tobytes()
    return vault.seal_bytes("vector", "vectors", _context_row(space, place), "sealed", plain)


def unseal(vault: Vault, space: Space, place: Place, sealed: bytes) -> bytes:
    """The inverse, still packed. Raises SealError."""
    plain = vault.open_bytes("vector", "vectors", _context_row(space, place), "sealed", sealed)
    if len(plain) != _SCALE.itemsize + space.width:
        raise SealError("truncated")
    return plain


def unpack(packed: Sequence[bytes], width: int) -> Quantised:
    """Many at once."""
    joined = np.frombuffer(b"".join(packed), np.uint8).reshape(len(packed), _SCALE.itemsize + width)
    scales = joined[:, : _SCALE.itemsize].copy().view(_SCALE).astype(np.float32).reshape(len(packed))
    return Quantised(joined[:, _SCALE.itemsize :].copy().view(np.int8), scales)


def _context_row(space: Space, place: Place) -> str:
    return f"{place.row} {space.description}"  # a chunk's row has no space character, so no two pairs read alike


def is_there(db: sqlite3.Connection, place: Place) -> bool:
    """The chunk is stored, and as that document's."""
    found = db.execute(
        "SELECT 1 FROM chunks c JOIN documents d ON d.number = ? WHERE c.key = ? AND d.id = ?",
        (place.key >> ORDINAL_BITS, place.key, place.document_id),
    )
    return found.fetchone() is not None


def metadata(db: sqlite3.Connection, vault: Vault, document_id: str, number: int) -> Metadata:
    """What is stored of a document beside its text. Raises SealError."""
    columns = db.execute(
        f"SELECT {rows.METADATA_COLUMNS} FROM documents WHERE number = ?",  # noqa: S608 - constant
        (number,),
    ).fetchone()
    return rows.open_metadata(vault, rows.document_row(document_id, number), columns)


def carry(db: sqlite3.Connection, vault: Vault, ref: DocumentRef, document: NewDocument) -> int:
    """Take the vectors of chunks that stay the same over from the revision that `ref` replaces; how many.

    For the transaction that stores `document` as `ref`, before it removes the revision held. Each vector is opened and
    sealed anew to its new row. What does not open is left behind, and made again by the backfill.
    """
    held = db.execute("SELECT number, app FROM documents WHERE id = ?", (ref.document_id,)).fetchone()
    if held is None or not (known := spaces(db, vault)):
        return 0
    number, app = held
    stored = {
        space: db.execute(
            "SELECT key, sealed FROM vectors WHERE space = ? AND key BETWEEN ? AND ?", (space, *key_range(number))
        ).fetchall()
        for space in known
    }
    if not any(stored.values()):
        return 0
    pairs = dict(_unchanged(db, vault, ref.document_id, number, document))
    carried = 0
    for space, found in stored.items():
        for key, sealed in found:
            ordinal = pairs.get(key & (MAX_ORDINALS - 1))
            plain = or_none(lambda: unseal(vault, known[space], Place(key, ref.document_id, app), sealed))  # noqa: B023 - called at once
            if ordinal is None or plain is None:
                continue
            made = unpack([plain], known[space].width)
            place = Place(chunk_key(ref.number, ordinal), ref.document_id, ref.app)
            db.execute(
                "INSERT INTO vectors (space, key, sealed) VALUES (?, ?, ?)",
                (space, place.key, seal(vault, known[space], place, made.rows[0], made.scales[0])),
            )
            carried += 1
    return carried


def _unchanged(
    db: sqlite3.Connection, vault: Vault, document_id: str, number: int, document: NewDocument
) -> Iterable[tuple[int, int]]:
    """(old ordinal, new ordinal) of chunks whose embedded text is the same; repeated texts pair in order."""
    before = or_none(lambda: metadata(db, vault, document_id, number))
    if before is None:
        return
    waiting: defaultdict[str, deque[int]] = defaultdict(deque)
    first, last = key_range(number)
    for key, trail, text in db.execute(
        "SELECT key, trail, text FROM chunks WHERE key BETWEEN ? AND ? ORDER BY key", (first, last)
    ):
        row = rows.chunk_row(document_id, number, key - first)
        chunk = or_none(lambda: rows.open_chunk(vault, row, trail, text))  # noqa: B023 - called at once
        if chunk is not None:
            waiting[text_of(before, chunk)].append(key - first)
    for ordinal, chunk in enumerate(document.chunks):
        if queue := waiting.get(text_of(document.metadata, chunk)):
            yield queue.popleft(), ordinal


def or_none(open_it: Callable[[], T]) -> T | None:
    """What opened, or None where it did not."""
    try:
        return open_it()
    except SealError:
        return None
