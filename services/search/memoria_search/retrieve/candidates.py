"""Candidates: what the index found, named by what their owner can be asked about."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memoria_search.corpus.catalogue import Catalogue
from memoria_search.corpus.model import DocumentRef, Source
from memoria_search.corpus.sources import Sources, reconciling
from memoria_search.index.analysis import QueryTerms
from memoria_search.index.ranking import Hit
from memoria_search.retrieve.dense import Dense
from memoria_search.retrieve.fusion import fuse

MAX_CANDIDATES = 1024
"""The bound on paging (AMD-05)."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that ranks. Holds no text: nothing is opened before the ruling (RUL-01).

    `replaced`: what was found is an earlier revision's, and `ref` is the one held since. Its owner is asked about that
    one, and what may be spoken of it is not known before the index has it.
    """

    ref: DocumentRef
    ordinal: int
    replaced: bool = False


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates, best first. `degraded`: there is an embedder, and these were ranked without it (AMD-11). `standing`:
    how the sources stood when it was decided which take part."""

    candidates: list[Candidate]
    degraded: bool = False
    standing: tuple[Source, ...] = ()


class SegmentReader(Protocol):
    """Something that ranks the chunks it holds. Today one live index; later one a segment, or a segment elsewhere."""

    def search(self, terms: QueryTerms, limit: int, without_apps: Sequence[str] = ()) -> list[Hit]:
        """The best `limit` chunks of this reader, score descending, equal scores by key."""
        ...


class Retriever:
    """Asks every reader and merges; fuses with the dense list where there is one."""

    def __init__(
        self, readers: Sequence[SegmentReader], catalogue: Catalogue, sources: Sources, dense: Dense | None = None
    ) -> None:
        self._readers = readers
        self._catalogue = catalogue
        self._sources = sources
        self._dense = dense

    async def candidates(self, terms: QueryTerms, limit: int) -> list[Candidate]:
        """The best `limit` candidates by their words. Sources that are reconciling take no part (AUT-06); a hit of a
        document that is no longer held is dropped (IDX-03), and so is one in an upload that is not whole yet."""
        return await self._by_words(terms, limit, self._sources.all())

    async def _by_words(self, terms: QueryTerms, limit: int, standing: Sequence[Source]) -> list[Candidate]:
        if terms.empty:
            return []
        limit, without = min(limit, MAX_CANDIDATES), reconciling(standing)
        return self._held(await asyncio.to_thread(self._hits, terms, limit, without))

    async def ranking(self, terms: QueryTerms, query: str, limit: int) -> Ranking:
        """The same, fused with what is near `query` (IDX-07). Words alone where there is no embedder."""
        standing = tuple(self._sources.all())
        if self._dense is None or terms.empty:
            return Ranking(await self._by_words(terms, limit, standing), standing=standing)
        without = reconciling(standing)
        # Always as deep as paging goes: lists cut elsewhere for page two would order page one differently.
        lexical, dense = await asyncio.gather(
            asyncio.to_thread(self._hits, terms, MAX_CANDIDATES, without),
            self._dense.search(query, MAX_CANDIDATES, without),
        )
        limit = min(limit, MAX_CANDIDATES)
        if dense is None:
            return Ranking(self._held(lexical[:limit]), degraded=True, standing=standing)
        return Ranking(self._held(fuse([lexical, dense], limit)), standing=standing)

    def _held(self, hits: Sequence[Hit]) -> list[Candidate]:
        held = self._catalogue
        found: list[Candidate] = []
        for hit in hits:
            ref = held.number(hit.number)
            replaced = ref is None  # or deleted; between a durable write and its commit the index does not know
            ref = held.whole(held.successor(hit.number) if replaced else ref)
            if ref is not None:
                found.append(Candidate(ref, hit.ordinal, replaced))
        return found

    def _hits(self, terms: QueryTerms, limit: int, without: Sequence[str]) -> list[Hit]:
        lists = [reader.search(terms, limit, without) for reader in self._readers]
        if len(lists) == 1:
            return lists[0]
        merged = sorted((hit for hits in lists for hit in hits), key=lambda hit: (-hit.score, hit.number, hit.ordinal))
        return merged[:limit]
