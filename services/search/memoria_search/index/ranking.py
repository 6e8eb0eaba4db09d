"""What a person's words ask of the index, and in what order the answers come.

The order is deterministic: score descending, equal scores by key, the same on every call (F28).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import tantivy

from memoria_search.index.analysis import QueryTerms
from memoria_search.index.schema import MAX_ORDINALS, ORDINAL_BITS

_BOUNDARY = 4  # how much deeper to look while the last place is contested by equal scores
_DEEPEST = 16_384

# Measured on Cranfield and CACM with one setting for both (nDCG@10 0.393 and 0.479); neighbours of each value differ by
# less than 0.01, so nothing here is tuned to the two. The title stands in `body` as well, once, beside its own field.
TITLE_BOOST = 0.7
TRAIL_BOOST = 0.2
EXACT_BOOST = 0.3
LITERAL_BOOST = 1.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that matched. Scores are comparable within one search only."""

    number: int
    ordinal: int
    score: float


def rank(
    searcher: tantivy.Searcher, schema: tantivy.Schema, terms: QueryTerms, limit: int, without_apps: Sequence[str] = ()
) -> list[Hit]:
    """The best `limit` chunks. Chunks of `without_apps` are neither scored nor counted against the limit (AUT-06)."""
    if terms.empty:
        return []
    query = _query(schema, terms, without_apps)
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


def _query(schema: tantivy.Schema, terms: QueryTerms, without_apps: Sequence[str]) -> tantivy.Query:
    should = [
        *(_term(schema, "body", term, 1.0) for term in terms.body),
        *(_term(schema, "title", term, TITLE_BOOST) for term in terms.body),
        *(_term(schema, "trail", term, TRAIL_BOOST) for term in terms.body),
        *(_term(schema, "exact", term, EXACT_BOOST) for term in terms.exact),
        *(_term(schema, "exact", term, LITERAL_BOOST) for term in terms.literal),
    ]
    clauses = [(tantivy.Occur.Should, query) for query in should]
    if not without_apps:
        return tantivy.Query.boolean_query(clauses)
    apps = [(tantivy.Occur.MustNot, tantivy.Query.term_query(schema, "app", app, "basic")) for app in without_apps]
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, tantivy.Query.boolean_query(clauses)), *apps])


def _term(schema: tantivy.Schema, field: str, term: str, boost: float) -> tantivy.Query:
    query = tantivy.Query.term_query(schema, field, term, "freq")
    return query if boost == 1.0 else tantivy.Query.boost_query(query, boost)


def _score(score: float) -> float:
    """A score without its last bits, which depend on the order in which an engine adds up equal parts."""
    return float(f"{score:.5g}")
