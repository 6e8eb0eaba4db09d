"""Sealing the corpus: one purpose a kind of content, each value bound to its table, row and column (TRU-01).

A row is named by document id *and* number, so a title or a chunk of an earlier revision does not open in a later one.
"""

import base64
import json
from datetime import datetime

from memoria_chassis.aead import SealContext, Sealer
from memoria_chassis.keys import ServiceKey, fingerprint
from memoria_contract.types import Author
from memoria_search.corpus.model import SiblingOrigin, UploadOrigin

_ID_BYTES = 16  # 128 bits: 26 characters of base32, and no two documents of any corpus meet


def _length_prefixed(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # a lone surrogate is kept as it came (F19)


class Vault:
    """Seals and opens columns, and makes the keyed names that documents go by."""

    def __init__(self, key: ServiceKey) -> None:
        self._sealer = Sealer(key)
        self._ids = key.purpose("document id")
        self._uploads = key.purpose("upload")

    def document_id(self, origin: SiblingOrigin | UploadOrigin) -> str:
        """Opaque and stable: the same item or body has the same id, and nobody without the key can test a guess."""
        match origin:
            case SiblingOrigin(app, item_id, _):
                name = _length_prefixed(b"sibling", _encode(app), _encode(item_id))
            case UploadOrigin(external_id, part, _):
                name = _length_prefixed(b"upload", external_id, part.to_bytes(4, "big"))
        digest = fingerprint(self._ids, name)[:_ID_BYTES]
        return base64.b32encode(digest).decode().rstrip("=").lower()

    def upload(self, external_id: bytes) -> bytes:
        """What the parts of one upload have in common, 32 bytes."""
        return fingerprint(self._uploads, external_id)

    def seal_text(self, purpose: str, table: str, row: str, column: str, text: str) -> bytes:
        """A sealed string."""
        return self._sealer.seal(_encode(text), SealContext(purpose, table, row, column))

    def open_text(self, purpose: str, table: str, row: str, column: str, sealed: bytes) -> str:
        """The inverse. Raises SealError."""
        return self._sealer.open(sealed, SealContext(purpose, table, row, column)).decode("utf-8", "surrogatepass")

    def seal_bytes(self, purpose: str, table: str, row: str, column: str, plain: bytes) -> bytes:
        """A sealed value that is no text."""
        return self._sealer.seal(plain, SealContext(purpose, table, row, column))

    def open_bytes(self, purpose: str, table: str, row: str, column: str, sealed: bytes) -> bytes:
        """The inverse. Raises SealError."""
        return self._sealer.open(sealed, SealContext(purpose, table, row, column))

    def seal_trail(self, table: str, row: str, trail: tuple[str, ...]) -> bytes:
        """A sealed trail."""
        return self.seal_text("path", table, row, "trail", json.dumps(trail))

    def open_trail(self, table: str, row: str, sealed: bytes) -> tuple[str, ...]:
        """The inverse. Raises SealError."""
        return tuple(json.loads(self.open_text("path", table, row, "trail", sealed)))

    def seal_date(self, row: str, date: datetime | None) -> bytes:
        """A sealed date. Also a date that is not known is sealed, so that a reader of the file cannot tell which."""
        return self.seal_text("date", "documents", row, "date", date.isoformat() if date else "")

    def open_date(self, row: str, sealed: bytes) -> datetime | None:
        """The inverse. Raises SealError."""
        text = self.open_text("date", "documents", row, "date", sealed)
        return datetime.fromisoformat(text) if text else None

    def seal_author(self, row: str, author: Author) -> bytes:
        """A sealed author marker; it is not among the plaintext that TRU-12 allows."""
        return self.seal_text("author", "documents", row, "author", author.value)

    def open_author(self, row: str, sealed: bytes) -> Author:
        """The inverse. Raises SealError."""
        return Author(self.open_text("author", "documents", row, "author", sealed))
