"""Two rankings to one: reciprocal rank fusion (IDX-07)."""

from collections import defaultdict
from collections.abc import Sequence

from memoria_search.index.ranking import Hit

CONSTANT = 60
"""Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet", SIGIR 2009."""


def fuse(lists: Sequence[Sequence[Hit]], limit: int) -> list[Hit]:
    """The best `limit` hits by the sum of 1 / (60 + rank) over the lists each is in, ranks from 1.

    Scores within a list do not matter, so lists of different measures may meet. Equal sums are ordered by key. The
    score of what is returned is the sum.
    """
    sums: defaultdict[tuple[int, int], float] = defaultdict(float)
    for hits in lists:
        for rank, hit in enumerate(hits, start=1):
            sums[hit.number, hit.ordinal] += 1.0 / (CONSTANT + rank)
    # Rounded, because a sum's last bits depend on which list came first.
    ordered = sorted((-round(total, 12), number, ordinal) for (number, ordinal), total in sums.items())
    return [Hit(number, ordinal, -minus) for minus, number, ordinal in ordered[:limit]]
