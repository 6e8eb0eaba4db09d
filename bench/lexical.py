"""Lexical search, the best 50 of an OR of a person's words, beside FTS5 and Postgres over the same chunks."""

from collections.abc import Iterator

from bench.measure import Figure, Quantity, Row, figure, time_each
from bench.peers import postgres, postgres_programs
from bench.plan import Plan, say

TOP = 50
_PEERS_AT_MOST = 100_000
"""Chunks: at a million Postgres takes longer to fill than everything else together, and FTS5 is asked a fifth."""
_SLOW_QUERIES = 200  # where a peer takes a tenth of a second for each


def run(plan: Plan) -> Iterator[Row]:
    """(figure, peer) rows for each size."""
    for size in plan.sizes:
        queries = plan.built(size).corpus.queries(plan.queries)
        peer: Figure | None = None
        if plan.peers:
            fts5 = plan.fts5(size)
            asked = queries if size <= _PEERS_AT_MOST else queries[:_SLOW_QUERIES]
            peer = figure(f"FTS5, {size:,} chunks", time_each(asked, fts5.search, warm=20))
            yield peer, None
        mine = query_times(plan, size)
        yield mine, peer
        yield query_times(plan, size, again=True), peer
        built = plan.built(size)
        bytes_each = Quantity(f"lexical index in scratch, {size:,}", built.index.size / size, "B/chunk")
        yield bytes_each, Quantity("FTS5's file", plan.fts5(size).size / size, "B/chunk") if plan.peers else None
        if plan.peers:
            yield from _beside_postgres(plan, size, mine)


def query_times(plan: Plan, size: int, *, again: bool = False) -> Figure:
    """From a person's words to hits: analysis, and the engine. `again`: the queries were asked before, so that what
    their words come to is remembered until the next commit."""
    built = plan.built(size)
    queries = built.corpus.queries(plan.queries)
    if not again:
        built.forget()
    times = time_each(queries, lambda query: built.index.search(built.index.analyser.query(query), TOP), warm=50)
    return figure(f"lexical, top {TOP}, {size:,} chunks{', again' if again else ''}", times)


def _beside_postgres(plan: Plan, size: int, mine: Figure) -> Iterator[Row]:
    if postgres_programs() is None:
        say("Postgres is not on this machine, so it was not measured")
        return
    if size > _PEERS_AT_MOST:
        say(f"Postgres is measured up to {_PEERS_AT_MOST:,} chunks: filling it with {size:,} takes too long")
        return
    corpus = plan.built(size).corpus
    with postgres(corpus.texts) as server:
        theirs = figure(f"Postgres FTS, {size:,} chunks", server.times(corpus.queries(_SLOW_QUERIES), TOP))
    yield theirs, None
    yield mine, theirs
