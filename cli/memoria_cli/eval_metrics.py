"""Measures of a ranking against judgments, as trec_eval computes them (ndcg_cut_10, map, recall_100)."""

import math
from collections.abc import Mapping, Sequence

DEPTH = 100
"""Documents looked at: a relevant one further down counts as not found, for MAP too."""


def ndcg(ranking: Sequence[str], grades: Mapping[str, float], depth: int = 10) -> float:
    """Normalised discounted cumulative gain, 0 to 1: gain is the grade, discount log2(rank + 1), the ideal is made of
    all that was judged. Grades below 0 gain nothing."""
    ideal = _dcg(sorted((max(grade, 0.0) for grade in grades.values()), reverse=True)[:depth])
    return _dcg([max(grades.get(name, 0.0), 0.0) for name in ranking[:depth]]) / ideal if ideal else 0.0


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _relevant(grades: Mapping[str, float]) -> set[str]:
    return {name for name, grade in grades.items() if grade > 0}


def average_precision(ranking: Sequence[str], grades: Mapping[str, float], depth: int = DEPTH) -> float:
    """The mean of the precisions at each relevant document (grade above 0); one that is not found adds 0."""
    relevant = _relevant(grades)
    hits, total = 0, 0.0
    for rank, name in enumerate(ranking[:depth], 1):
        if name in relevant:
            hits += 1
            total += hits / rank
    return total / len(relevant) if relevant else 0.0


def recall(ranking: Sequence[str], grades: Mapping[str, float], depth: int = DEPTH) -> float:
    """The share of the relevant documents among the first `depth`."""
    relevant = _relevant(grades)
    return len(relevant.intersection(ranking[:depth])) / len(relevant) if relevant else 0.0
