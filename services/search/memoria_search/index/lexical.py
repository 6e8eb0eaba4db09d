"""The lexical index: tantivy over terms that our own analyser made, in scratch that is RAM, never replicated (AMD-03).

Not for two threads at once, apart from `search`, which may run beside anything.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import tantivy

from memoria_search.index.analysis import Analyser, QueryTerms
from memoria_search.index.ranking import Hit, rank
from memoria_search.index.schema import IndexedChunk, build_schema, document_of, register_tokenizers

_HEAP_BYTES = 64 << 20  # one writer thread's arena; a larger one made no import faster and counts against the pod


class LexicalIndex:
    """One index in one directory of scratch."""

    def __init__(self, directory: Path, analyser: Analyser) -> None:
        self.analyser = analyser
        self._schema = build_schema()
        self._directory = directory
        self._index = tantivy.Index(self._schema, path=str(directory), reuse=False)
        register_tokenizers(self._index)
        # Manual: the default reloads from a thread of its own some time after the commit, and an acknowledged document
        # must be found by the very next search.
        self._index.config_reader("manual")
        self._writer = self._index.writer(_HEAP_BYTES, 1)

    def add(self, chunks: Iterable[IndexedChunk]) -> None:
        """Take chunks in; found after the next commit."""
        for chunk in chunks:
            self._writer.add_document(document_of(chunk, self.analyser))

    def remove(self, numbers: Iterable[int]) -> None:
        """Take documents out by their numbers; gone after the next commit."""
        for number in numbers:
            self._writer.delete_documents_by_term("number", number)

    def commit(self) -> None:
        """Make what was added and removed searchable."""
        self._writer.commit()
        self._index.reload()

    def close(self) -> None:
        """Let background merges end, so that nothing writes to scratch any more. The index is of no use afterwards."""
        self._writer.wait_merging_threads()

    @property
    def chunks(self) -> int:
        """How many chunks are searchable."""
        return int(self._index.searcher().num_docs)

    @property
    def size(self) -> int:
        """Bytes of the index's files in scratch."""
        total = 0
        for file in self._directory.iterdir():
            try:
                total += file.stat().st_size
            except FileNotFoundError:  # a merge ended between the listing and the look
                continue
        return total

    def search(self, terms: QueryTerms, limit: int, without_apps: Sequence[str] = ()) -> list[Hit]:
        """The best `limit` chunks, as `rank` has them."""
        return rank(self._index.searcher(), self._schema, terms, limit, without_apps)
