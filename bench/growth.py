"""Growth from 10,000 chunks to the largest size: time and bytes as a power of the size, fitted over the logarithms."""

from collections.abc import Callable, Iterator

import numpy as np

from bench.lexical import query_times
from bench.measure import Quantity, Row
from bench.plan import Plan, random_vectors
from bench.vectors import search_times

SMALLEST = 10_000


def run(plan: Plan) -> Iterator[Row]:
    """(quantity, none) rows: 1 is growth in step with the corpus, less is slower."""
    sizes = sorted({min(SMALLEST, *plan.sizes), *plan.sizes})
    if len(sizes) < 2:
        return

    def exponent(name: str, of: Callable[[int], float]) -> Quantity:
        values = [of(size) for size in sizes]
        slope, _ = np.polyfit(np.log(sizes), np.log(values), 1)
        told = ", ".join(f"{size:,}: {value:.4g}" for size, value in zip(sizes, values, strict=True))
        return Quantity(name, float(slope), "exponent", told)

    yield exponent("growth of lexical p50, ms", lambda size: query_times(plan, size).p50), None
    yield exponent("growth of lexical p99, ms", lambda size: query_times(plan, size).p99), None
    yield exponent("growth of lexical bytes", lambda size: plan.built(size).index.size), None
    yield exponent("growth of vector p50, ms", lambda size: search_times(random_vectors(size), size).p50), None
