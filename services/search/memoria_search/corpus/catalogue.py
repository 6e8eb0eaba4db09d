"""The catalogue: which revision of what is held, in memory, so that a search needs no read to name its claims.

It is content in RAM (item ids) and belongs to the index handle: built with it at start, changed with every write after
the write is durable, gone with it. It holds no verdict (AUT-02).
"""

from collections.abc import Iterable

from memoria_search.corpus.model import Change, DocumentRef

_EARLIER = 10_000
"""Numbers remembered of revisions that are held no more: an index that has not committed yet still finds them."""


class Catalogue:
    """References by number and by document id."""

    def __init__(self) -> None:
        self._by_number: dict[int, DocumentRef] = {}
        self._by_id: dict[str, DocumentRef] = {}
        self._by_upload: dict[bytes, dict[int, DocumentRef]] = {}
        self._earlier: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._by_number)

    def clear(self) -> None:
        """Forget everything: the index handle is dropped (TRU-04)."""
        self._by_number.clear()
        self._by_id.clear()
        self._by_upload.clear()
        self._earlier.clear()

    def apply(self, change: Change) -> None:
        """Follow a durable write."""
        for gone in change.removed:
            ref = self._by_number.pop(gone.number, None)
            self._by_id.pop(gone.document_id, None)
            if ref is not None and ref.upload is not None:
                self._by_upload[ref.upload].pop(ref.part, None)
            self._earlier[gone.number] = gone.document_id
            if len(self._earlier) > _EARLIER:
                del self._earlier[next(iter(self._earlier))]
        for ref in change.added:
            self._by_number[ref.number] = ref
            self._by_id[ref.document_id] = ref
            if ref.upload is not None:
                self._by_upload.setdefault(ref.upload, {})[ref.part] = ref

    def number(self, number: int) -> DocumentRef | None:
        """The revision of that number, if it is still the one held."""
        return self._by_number.get(number)

    def successor(self, number: int) -> DocumentRef | None:
        """The revision held of a document of which that number named an earlier one; None where it is held no more."""
        return self._by_id.get(self._earlier.get(number, ""))

    def document(self, document_id: str) -> DocumentRef | None:
        """The revision held of a document."""
        return self._by_id.get(document_id)

    def whole(self, ref: DocumentRef | None) -> DocumentRef | None:
        """`ref`, unless it is a part of an upload of which some part is not stored yet: half a file is no document."""
        if ref is None or ref.upload is None or len(self._by_upload.get(ref.upload, {})) >= ref.parts:
            return ref
        return None

    def parts(self, ref: DocumentRef) -> list[DocumentRef]:
        """The parts of a long upload that are held, in order, `ref` included; empty for anything else."""
        if ref.upload is None or ref.parts < 2:
            return []
        held = self._by_upload.get(ref.upload, {})
        return [held[part] for part in sorted(held)]

    def upload(self, upload: bytes) -> tuple[str, int]:
        """The first part that is held of an upload, and its number, which is 0 unless every part is held; ("", 0)."""
        held = self._by_upload.get(upload)
        if not held:
            return "", 0
        ref = held[min(held)]
        return ref.document_id, ref.number if self.whole(ref) else 0

    def items(self, app: str) -> Iterable[DocumentRef]:
        """What is held of one sibling."""
        return [ref for ref in self._by_number.values() if ref.app == app and not ref.owned]
