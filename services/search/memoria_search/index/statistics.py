"""What the index knows of a term, counted over the chunks that are there.

The engine counts deleted chunks until a merge drops them. Ranked by its numbers, a deleted paper would go on shaping
what others find, and an index would rank otherwise than the same one made anew. So where something is deleted, terms
are counted without it, and each clause is weighed so that the engine's rarity goes out and the true one comes in. What
stays is the engine's mean length of a field, which moves scores by a hundredth where a third is deleted.
"""

import math
from collections.abc import Callable

import tantivy


class Statistics:
    """Counts of one state of the index. Kept from query to query, as long as nothing is committed."""

    def __init__(self, searcher: tantivy.Searcher, schema: tantivy.Schema) -> None:
        self._searcher = searcher
        self._schema = schema
        self.chunks = searcher.num_docs
        # Each chunk has one app, and the engine's counts of apps have the deleted in them.
        self._held = sum(count for _, count in searcher.terms_with_prefix("app", ""))
        self._live: dict[tuple[str, str], int] = {}
        self.exact = self._held == self.chunks
        """Nothing is deleted, so the engine's own counts are the true ones."""
        self.frequency: Callable[[str, str], int] = searcher.doc_freq if self.exact else self._alive
        """In how many chunks a field has a term."""

    def _alive(self, field: str, term: str) -> int:
        counted = self._searcher.doc_freq(field, term)
        if not counted:
            return 0
        found = self._live.get((field, term))
        if found is None:
            query = tantivy.Query.term_query(self._schema, field, term, "basic")
            found = self._live[field, term] = self._searcher.search(query, limit=1, count=True).count  # type: ignore[attr-defined] # not in its stub
        return found

    def rarity(self, count: int) -> float:
        """BM25's inverse document frequency of a term in `count` chunks, as the engine computes it."""
        return _idf(self.chunks, count)

    def correction(self, field: str, *terms: str) -> float:
        """What to weigh a clause for these terms by, so that its score is that of an index without deleted chunks."""
        if self.exact:
            return 1.0
        true = sum(_idf(self.chunks, self.frequency(field, term)) for term in terms)
        return true / sum(_idf(self._held, self._searcher.doc_freq(field, term)) for term in terms)


def _idf(chunks: int, count: int) -> float:
    return math.log1p(max(chunks - count + 0.5, 0.5) / (count + 0.5))
