"""The lexical index: tantivy over terms that our own analyser made, in scratch that is RAM, never replicated (AMD-03).

Not for two threads at once, apart from `search`, which may run beside anything.
"""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import tantivy

from memoria_chassis.errors import Kind, ServiceError
from memoria_search.index.analysis import Analyser, QueryTerms
from memoria_search.index.clauses import Planner
from memoria_search.index.ranking import Hit, rank
from memoria_search.index.schema import IndexedChunk, build_schema, document_of, register_tokenizers

_HEAP_BYTES = 256 << 20  # at most, while a corpus is taken in: fewer, larger segments are smaller and quicker to search
_LOOKS = 20  # at the list of segments, while merges end


@dataclass(frozen=True, slots=True)
class Frozen:
    """What the index consisted of at one commit. `files`: name to a link that keeps the file; `meta`: the engine's list
    of segments; `numbers`: the documents in it; `clean`: no word of a removed one is left in the files."""

    files: dict[str, Path]
    meta: str
    numbers: frozenset[int]
    clean: bool


class LexicalIndex:
    """One index in one directory of scratch: a new one, or the one whose files lie there, which holds `numbers`.

    Raises UNAVAILABLE where the files are no index.
    """

    def __init__(self, directory: Path, analyser: Analyser, numbers: Iterable[int] | None = None) -> None:
        self.analyser = analyser
        self.numbers = set(numbers or ())
        self._schema = build_schema()
        self._directory = directory
        if numbers is None:
            self._index = tantivy.Index(self._schema, path=str(directory), reuse=False)
        else:
            try:
                self._index = tantivy.Index.open(str(directory))
            except ValueError as error:
                raise ServiceError(Kind.UNAVAILABLE, "the files of a snapshot are no index") from error
        register_tokenizers(self._index)
        # Manual: the default reloads from a thread of its own some time after the commit, and an acknowledged document
        # must be found by the very next search.
        self._index.config_reader("manual")
        self._writer = self._index.writer(_HEAP_BYTES, 1)
        self._look()

    def add(self, chunks: Iterable[IndexedChunk]) -> None:
        """Take chunks in; found after the next commit."""
        for chunk in chunks:
            self._writer.add_document(document_of(chunk, self.analyser))
            self.numbers.add(chunk.number)

    def remove(self, numbers: Iterable[int]) -> None:
        """Take documents out by their numbers; gone after the next commit."""
        for number in numbers:
            self._writer.delete_documents_by_term("number", number)
            self.numbers.discard(number)

    def commit(self) -> None:
        """Make what was added and removed searchable."""
        self._writer.commit()
        self._index.reload()
        self._look()

    def _look(self) -> None:
        searcher = self._index.searcher()
        planner = Planner(searcher, self._schema)
        self.analyser.ask_in(planner.languages)
        self._view = searcher, planner

    def freeze(self, directory: Path) -> Frozen:
        """Link the files of the last commit into `directory`, which is empty and on the same file system.

        Between a commit and the next change, so that `numbers` are those of the commit. A merge may end meanwhile and
        take files away: then the list of segments is read again.
        """
        for _ in range(_LOOKS):
            meta = self._meta()
            segments = json.loads(meta)["segments"]
            try:
                files = {name: directory / name for name in self._files(segments)}
                for name, link in files.items():
                    if not link.exists():
                        os.link(self._directory / name, link)
            except FileNotFoundError:
                continue
            if self._meta() != meta:
                continue  # files of a merged segment may have gone before they were listed, and nothing said so
            return Frozen(files, meta, frozenset(self.numbers), _dead_share(segments) == 0.0)
        raise ServiceError(Kind.UNAVAILABLE, "the index is being merged faster than it can be read")

    def _meta(self) -> str:
        """The engine's list of segments, as of its last commit or merge."""
        return (self._directory / "meta.json").read_text()

    def _files(self, segments: list[dict]) -> list[str]:
        """The files of these segments. Others in the directory are of merges, or about to go."""
        wanted: list[str] = []
        for segment in segments:
            stem = segment["segment_id"].replace("-", "")
            deletes = f"{stem}.{segment['deletes']['opstamp']}.del" if segment["deletes"] else None
            found = [path.name for path in self._directory.glob(f"{stem}.*")]
            wanted += [name for name in found if name == deletes or not name.endswith(".del")]
            if deletes and deletes not in found:
                raise FileNotFoundError(deletes)
        return wanted

    @property
    def dead_share(self) -> float:
        """The share of chunks that are deleted and not yet merged away; they cost room and blur the statistics."""
        return _dead_share(json.loads(self._meta())["segments"])

    def close(self) -> None:
        """Let background merges end, so that nothing writes to scratch any more. The index is of no use afterwards."""
        self._writer.wait_merging_threads()

    @property
    def chunks(self) -> int:
        """How many chunks are searchable."""
        return int(self._view[0].num_docs)

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
        searcher, planner = self._view
        return rank(searcher, self._schema, planner, terms, limit, without_apps)


def _dead_share(segments: list[dict]) -> float:
    held = sum(segment["max_doc"] for segment in segments)
    dead = sum(segment["deletes"]["num_deleted_docs"] for segment in segments if segment["deletes"])
    return dead / held if held else 0.0
