"""The lexical index: tantivy over terms that our own analyser made, in scratch that is RAM, never replicated (AMD-03).

What is indexed is keyed by `number << ORDINAL_BITS | ordinal`: the number of a stored revision of a document, and the
chunk within it. A replaced document gets a new number, so a hit always names the exact text it was made from.

Not for two threads at once, apart from `search`, which may run beside anything.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import tantivy

from memoria_search.index.analysis import Analyser, QueryTerms, Terms

ORDINAL_BITS = 24
MAX_ORDINALS = 1 << ORDINAL_BITS

_HEAP_BYTES = 64 << 20  # one writer thread's arena; a larger one made no import faster and counts against the pod
_BOUNDARY = 4  # how much deeper to look while the last place is contested by equal scores
_DEEPEST = 16_384

# Measured on Cranfield and CACM with one setting for both (nDCG@10 0.393 and 0.479); neighbours of each value differ by
# less than 0.01, so nothing here is tuned to the two. The title stands in `body` as well, once, beside its own field.
TITLE_BOOST = 0.7
TRAIL_BOOST = 0.2
EXACT_BOOST = 0.3
LITERAL_BOOST = 1.0


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk on its way into the index. `title` and `trail` are analysed once a document and shared by its chunks."""

    number: int
    ordinal: int
    app: str
    title: Terms
    trail: Terms
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that matched. Scores are comparable within one search only."""

    number: int
    ordinal: int
    score: float


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    # Signed, though never negative: tantivy-py has no mapping from Python's ints to an unsigned fast field.
    builder.add_integer_field("key", indexed=False, fast=True)
    builder.add_integer_field("number", indexed=True)
    builder.add_text_field("app", tokenizer_name="raw", index_option="basic")
    for field in ("body", "title", "trail", "exact"):
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="position")
    return builder.build()


class LexicalIndex:
    """One index in one directory of scratch."""

    def __init__(self, directory: Path, analyser: Analyser) -> None:
        self.analyser = analyser
        self._schema = _schema()
        self._directory = directory
        self._index = tantivy.Index(self._schema, path=str(directory), reuse=False)
        self._index.register_tokenizer(
            "whitespace", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        )
        # Manual: the default reloads from a thread of its own some time after the commit, and an acknowledged document
        # must be found by the very next search.
        self._index.config_reader("manual")
        self._writer = self._index.writer(_HEAP_BYTES, 1)

    def add(self, chunks: Iterable[IndexedChunk]) -> None:
        """Take chunks in; found after the next commit."""
        for chunk in chunks:
            terms = self.analyser.terms(chunk.text)
            document = tantivy.Document()
            document.add_integer("key", chunk.number << ORDINAL_BITS | chunk.ordinal)
            document.add_integer("number", chunk.number)
            document.add_text("app", chunk.app)
            document.add_text("body", " ".join([*chunk.title.body, *terms.body]))
            document.add_text("title", " ".join(chunk.title.body))
            document.add_text("trail", " ".join(chunk.trail.body))
            document.add_text("exact", " ".join([*terms.exact, *chunk.title.exact, *chunk.trail.exact]))
            self._writer.add_document(document)

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
        """The best `limit` chunks: score descending, equal scores by key, the same on every call (F28).

        Chunks of `without_apps` are neither scored nor counted against the limit (AUT-06).
        """
        if terms.empty:
            return []
        query = self._query(terms, without_apps)
        searcher = self._index.searcher()
        depth = limit
        while True:
            found = searcher.search(query, limit=depth + 1, count=False).hits
            contested = len(found) > limit and _score(found[limit - 1][0]) == _score(found[-1][0])
            if not contested or len(found) <= depth or depth >= _DEEPEST:
                break
            depth *= _BOUNDARY  # the engine cuts equal scores by segment; look on until the tie is whole
        keys = searcher.fast_field_values("key", [address for _, address in found])
        ranked = sorted((-_score(hit[0]), int(key or 0)) for hit, key in zip(found, keys, strict=True))
        return [Hit(key >> ORDINAL_BITS, key & (MAX_ORDINALS - 1), -minus) for minus, key in ranked[:limit]]

    def _query(self, terms: QueryTerms, without_apps: Sequence[str]) -> tantivy.Query:
        should = [
            *(self._term("body", term, 1.0) for term in terms.body),
            *(self._term("title", term, TITLE_BOOST) for term in terms.body),
            *(self._term("trail", term, TRAIL_BOOST) for term in terms.body),
            *(self._term("exact", term, EXACT_BOOST) for term in terms.exact),
            *(self._term("exact", term, LITERAL_BOOST) for term in terms.literal),
        ]
        clauses = [(tantivy.Occur.Should, query) for query in should]
        if not without_apps:
            return tantivy.Query.boolean_query(clauses)
        apps = [
            (tantivy.Occur.MustNot, tantivy.Query.term_query(self._schema, "app", app, "basic")) for app in without_apps
        ]
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, tantivy.Query.boolean_query(clauses)), *apps])

    def _term(self, field: str, term: str, boost: float) -> tantivy.Query:
        query = tantivy.Query.term_query(self._schema, field, term, "freq")
        return query if boost == 1.0 else tantivy.Query.boost_query(query, boost)


def _score(score: float) -> float:
    """A score without its last bits, which depend on the order in which an engine adds up equal parts."""
    return float(f"{score:.5g}")
