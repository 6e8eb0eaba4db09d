"""In what order the answers come: the engine's best, then phrases at the top.

The order is deterministic: score descending, equal scores by key, the same on every call (F28).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import tantivy
from numpy.typing import NDArray

from memoria_search.index.clauses import Clauses, Planner
from memoria_search.index.query import QueryTerms
from memoria_search.index.schema import MAX_ORDINALS, ORDINAL_BITS

_BOUNDARY = 4  # how much deeper to look while the last place is contested by equal scores
_SLACK = 32  # looked at beyond the limit: most ties end there, and a second look costs as much as the first
_DEEPEST = 16_384
_RERANKED = 64  # at least so many are looked at where a query has phrases
_BESIDE = 1024  # chunks with a phrase that are looked through for those found


class Hit(NamedTuple):
    """A chunk that matched. Scores are comparable within one search only."""

    number: int
    ordinal: int
    score: float


# As `Hit._make` does it, without a frame of Python for each of them.
_HIT: Callable[[tuple[int, int, float]], Hit] = partial(tuple.__new__, Hit)


def rank(
    searcher: tantivy.Searcher,
    schema: tantivy.Schema,
    planner: Planner,
    terms: QueryTerms,
    limit: int,
    without_apps: Sequence[str] = (),
) -> list[Hit]:
    """The best `limit` chunks. Chunks of `without_apps` are neither scored nor counted against the limit (AUT-06).

    `planner` is of the same state of the index as `searcher`.
    """
    clauses = planner.clauses(terms)
    if not clauses:
        return []
    phrases = planner.phrases(terms)
    depth = max(limit, _RERANKED) if phrases else limit
    scores, keys = _top(searcher, _without(schema, clauses, without_apps), depth)
    if phrases and len(keys):
        scores, keys = _lift(scores, keys, _beside(searcher, _without(schema, phrases, without_apps)))
    scores, keys = scores[:limit], keys[:limit]
    numbers, ordinals = keys >> ORDINAL_BITS, keys & (MAX_ORDINALS - 1)
    return list(map(_HIT, zip(numbers.tolist(), ordinals.tolist(), scores.tolist(), strict=True)))


def _top(searcher: tantivy.Searcher, query: tantivy.Query, limit: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Scores and keys of the best `limit`, in order."""
    depth = limit + _SLACK
    while True:
        found = searcher.search(query, limit=depth, count=False).hits
        scores = _rounded([score for score, _ in found])
        contested = len(found) == depth and scores[limit - 1] == scores[-1]
        if not contested or depth >= _DEEPEST:
            break
        depth *= _BOUNDARY  # the engine cuts equal scores by segment; look on until the tie is whole
    keys = np.array(searcher.fast_field_values("key", [address for _, address in found]), dtype=np.int64)
    return _ordered(scores, keys, limit)


def _ordered(
    scores: NDArray[np.float32], keys: NDArray[np.int64], limit: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    order = np.lexsort((keys, -scores))[:limit]
    return scores[order], keys[order]


def _lift(
    scores: NDArray[np.float32], keys: NDArray[np.int64], added: dict[int, float]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """All that was found in a new order, each with what its phrases add: with a border within, a hundredth of a score
    would decide over many places."""
    lifted = [place for place, key in enumerate(keys.tolist()) if key in added]
    if not lifted:
        return scores, keys
    sums = scores.copy()
    sums[lifted] += [added[key] for key in keys[lifted].tolist()]
    return _ordered(_rounded(sums), keys, len(keys))


def _beside(searcher: tantivy.Searcher, query: tantivy.Query) -> dict[int, float]:
    """The scores of the best _BESIDE keys; fewer where a tie would be cut, for the engine cuts one by segment."""
    found = searcher.search(query, limit=_BESIDE, count=False).hits
    if len(found) == _BESIDE:
        found = [hit for hit in found if hit[0] > found[-1][0]]
    keys = searcher.fast_field_values("key", [address for _, address in found])
    return {int(key or 0): score for (score, _), key in zip(found, keys, strict=True)}


def _without(schema: tantivy.Schema, clauses: Clauses, apps: Sequence[str]) -> tantivy.Query:
    if not apps:
        return tantivy.Query.boolean_query(clauses)
    not_these = [(tantivy.Occur.MustNot, tantivy.Query.term_query(schema, "app", app, "basic")) for app in apps]
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, tantivy.Query.boolean_query(clauses)), *not_these])


def _rounded(scores: Sequence[float] | NDArray[np.float32]) -> NDArray[np.float32]:
    """Scores without their last seven bits, which depend on the order in which an engine adds up equal parts; what is
    left is five digits."""
    bits = np.array(scores, dtype=np.float32).view(np.int32)
    return ((bits + 64) & ~127).view(np.float32)
