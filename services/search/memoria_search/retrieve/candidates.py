"""Candidates: what the index found, named by what their owner can be asked about."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memoria_search.corpus.catalogue import Catalogue
from memoria_search.corpus.model import DocumentRef
from memoria_search.corpus.sources import Sources
from memoria_search.index.analysis import QueryTerms
from memoria_search.index.ranking import Hit

MAX_CANDIDATES = 1024
"""The bound on paging (AMD-05)."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that ranks. Holds no text: nothing is opened before the ruling (RUL-01)."""

    ref: DocumentRef
    ordinal: int


class SegmentReader(Protocol):
    """Something that ranks the chunks it holds. Today one live index; later one a segment, or a segment elsewhere."""

    def search(self, terms: QueryTerms, limit: int, without_apps: Sequence[str] = ()) -> list[Hit]:
        """The best `limit` chunks of this reader, score descending, equal scores by key."""
        ...


class Retriever:
    """Asks every reader and merges."""

    def __init__(self, readers: Sequence[SegmentReader], catalogue: Catalogue, sources: Sources) -> None:
        self._readers = readers
        self._catalogue = catalogue
        self._sources = sources

    async def candidates(self, terms: QueryTerms, limit: int) -> list[Candidate]:
        """The best `limit` candidates. Sources that are reconciling take no part (AUT-06); a hit whose revision is no
        longer held is dropped (IDX-03), and so is one in an upload that is not whole yet."""
        if terms.empty:
            return []
        without = self._sources.reconciling()
        hits = await asyncio.to_thread(self._hits, terms, min(limit, MAX_CANDIDATES), without)
        held = self._catalogue
        found = ((held.whole(held.number(hit.number)), hit.ordinal) for hit in hits)
        return [Candidate(ref, ordinal) for ref, ordinal in found if ref is not None]

    def _hits(self, terms: QueryTerms, limit: int, without: Sequence[str]) -> list[Hit]:
        lists = [reader.search(terms, limit, without) for reader in self._readers]
        if len(lists) == 1:
            return lists[0]
        merged = sorted((hit for hits in lists for hit in hits), key=lambda hit: (-hit.score, hit.number, hit.ordinal))
        return merged[:limit]
