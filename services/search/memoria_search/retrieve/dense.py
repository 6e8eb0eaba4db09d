"""The dense list: what is near a person's words in the embedder's space, or nothing where that would mislead."""

import asyncio
from collections.abc import Callable, Sequence

from memoria_chassis import log
from memoria_chassis.errors import ServiceError
from memoria_search.index.ranking import Hit
from memoria_search.index.vectors.index import VectorIndex
from memoria_search.index.vectors.quantise import quantise
from memoria_search.index.vectors.space import Embedder

COVERAGE_FLOOR = 0.9
"""Share of chunks that must have a vector (AMD-11). Fusion rewards being in both lists, so a chunk without a vector
sinks by up to half its score; at nine in ten the few that do are the newest, and are caught up with in minutes."""

DEADLINE_SECONDS = 0.5
"""Longest wait for a query's vector. A local model takes tens of milliseconds; a page has 800 ms for its siblings."""


class Dense:
    """Embeds a query and ranks vectors."""

    def __init__(
        self,
        embedder: Embedder,
        index: Callable[[], VectorIndex],
        chunks: Callable[[], int],
        floor: float = COVERAGE_FLOOR,
        deadline: float = DEADLINE_SECONDS,
    ) -> None:
        """`index`: the one held now. `chunks`: how many are searchable by their words."""
        self._embedder = embedder
        self._index = index
        self._chunks = chunks
        self._floor = floor
        self._deadline = deadline

    @property
    def coverage(self) -> float:
        """Share of the searchable chunks that have a vector here, 0 to 1."""
        chunks = self._chunks()
        return min(1.0, len(self._index()) / chunks) if chunks else 1.0

    async def search(self, query: str, limit: int, without_apps: Sequence[str] = ()) -> list[Hit] | None:
        """The nearest `limit` chunks. None, which is told as degraded: too few have vectors, or the query got none."""
        if self.coverage < self._floor:
            return None
        index = self._index()
        try:
            async with asyncio.timeout(self._deadline):
                vectors = await self._embedder.embed([query], query=True)
            made = quantise(vectors, 1, self._embedder.native, index.space.width)
        except (ServiceError, TimeoutError) as error:
            kind = error.kind.value if isinstance(error, ServiceError) else "deadline_exceeded"
            log.get_logger().warning("a query was not embedded", kind=kind)
            return None
        return await asyncio.to_thread(index.search, made, limit, without_apps)
