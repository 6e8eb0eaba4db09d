"""Two rankings to one: reciprocal rank fusion (IDX-07)."""

from collections.abc import Sequence

import numpy as np

from memoria_search.index.ranking import Hit
from memoria_search.index.schema import MAX_ORDINALS, ORDINAL_BITS

CONSTANT = 60
"""Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet", SIGIR 2009."""


def fuse(lists: Sequence[Sequence[Hit]], limit: int) -> list[Hit]:
    """The best `limit` hits by the sum of 1 / (60 + rank) over the lists each is in, ranks from 1.

    Scores within a list do not matter, so lists of different measures may meet. Equal sums are ordered by key. The
    score of what is returned is the sum.
    """
    keys = np.array([hit.number << ORDINAL_BITS | hit.ordinal for hits in lists for hit in hits], dtype=np.int64)
    parts = np.array([1.0 / rank for hits in lists for rank in range(CONSTANT + 1, CONSTANT + 1 + len(hits))])
    distinct, which = np.unique(keys, return_inverse=True)
    # Rounded, because a sum's last bits depend on which list came first.
    sums = np.round(np.bincount(which, weights=parts, minlength=len(distinct)), 12)
    order = np.lexsort((distinct, -sums))[:limit]
    return [
        Hit(key >> ORDINAL_BITS, key & (MAX_ORDINALS - 1), total)
        for key, total in zip(distinct[order].tolist(), sums[order].tolist(), strict=True)
    ]
