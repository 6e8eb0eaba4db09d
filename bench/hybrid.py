"""Hybrid search as the retriever does it: both lists 1,024 deep, fused, beside the lexical list of the same depth."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Figure, Row, figure, time_async
from bench.plan import WIDTH, Plan, place_of, random_vectors
from memoria_chassis.sqlite import Database
from memoria_contract.types import ItemId, Revision
from memoria_search.corpus.catalogue import Catalogue
from memoria_search.corpus.model import Change, DocumentRef
from memoria_search.corpus.schema import MIGRATIONS
from memoria_search.corpus.sources import Sources
from memoria_search.index.analysis import Analyser
from memoria_search.index.vectors.hashing import HashingEmbedder
from memoria_search.retrieve.candidates import MAX_CANDIDATES, Retriever
from memoria_search.retrieve.dense import Dense

PER_PAGE = 256  # candidates that a page asks for


def run(plan: Plan) -> Iterator[Row]:
    """(figure, peer) rows for each size."""
    for size in plan.sizes:
        lexical, hybrid = asyncio.run(_measure(plan, size, plan.folder()))
        yield lexical, None
        yield hybrid, lexical


async def _measure(plan: Plan, size: int, folder: Path) -> tuple[Figure, Figure]:
    built, vectors = plan.built(size), random_vectors(size)
    database = Database.open(folder / "search.db", MIGRATIONS)
    catalogue, sources = Catalogue(), Sources(database)
    last, _ = place_of(size - 1)
    refs = [
        DocumentRef(number, str(number), "docs", ItemId(str(number)), Revision("1")) for number in range(1, last + 1)
    ]
    catalogue.apply(Change(tuple(refs)))
    # The query's vector comes from hashing, which takes what a model's would not: its time is left to the model.
    dense = Dense(HashingEmbedder(Analyser(), WIDTH), lambda: vectors, lambda: size)
    retriever = Retriever([built.index], catalogue, sources, dense)
    queries = built.corpus.queries(plan.queries)
    analyse = built.index.analyser.query

    async def words(query: str) -> None:
        await retriever.candidates(analyse(query), MAX_CANDIDATES)

    async def both(query: str) -> None:
        ranking = await retriever.ranking(analyse(query), query, PER_PAGE)
        assert not ranking.degraded

    asked = iter(queries + queries[:20])
    lexical = await time_async(len(queries), lambda: words(next(asked)))
    asked = iter(queries + queries[:20])
    hybrid = await time_async(len(queries), lambda: both(next(asked)))
    database.close()
    return (
        figure(f"lexical, top {MAX_CANDIDATES:,}, {size:,} chunks", lexical),
        figure(f"hybrid, top {PER_PAGE} of two lists, {size:,} chunks", hybrid),
    )
