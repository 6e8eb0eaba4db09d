"""The index handle: everything readable that search holds while it is awake, in one object that can be dropped whole.

Idle eviction is the main defence against bounded over-reads of memory (TRU-04), so nothing of the corpus may outlive
the handle: the analyser with its words, the engine's files in scratch, the numbers of what is indexed.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from memoria_search.corpus.model import Chunk, DocumentRef, Metadata
from memoria_search.finish import in_thread
from memoria_search.index import scratch
from memoria_search.index.analysis import Analyser, Terms
from memoria_search.index.committer import Committer
from memoria_search.index.lexical import Frozen, LexicalIndex
from memoria_search.index.schema import IndexedChunk

INDEX = "index"
FROZEN = "frozen"


class Handle:
    """An open index with its writer."""

    def __init__(
        self, directory: Path, analyser: Analyser, numbers: Iterable[int] | None, on_failure: Callable[[], None]
    ) -> None:
        """`numbers`: the documents of the index whose files lie in `directory`; None for a new one."""
        self._directory = directory
        self.analyser = analyser
        self.index = LexicalIndex(directory / INDEX, analyser, numbers)
        self.committer = Committer(self.index, on_failure)

    def indexed(self, ref: DocumentRef, about: Metadata, chunks: Iterable[tuple[int, Chunk]]) -> Iterator[IndexedChunk]:
        """A document as it goes into the index."""
        title = self.analyser.terms(about.title)
        place = self.analyser.terms("\n".join(about.trail))
        for ordinal, chunk in chunks:
            above = self.analyser.terms("\n".join(chunk.trail))
            trail = Terms([*place.body, *above.body], [*place.exact, *above.exact])
            yield IndexedChunk(ref.number, ordinal, ref.app, title, trail, chunk.text)

    def freeze(self) -> asyncio.Future[Frozen]:
        """The files of a commit that holds everything submitted before this call; they stay until `thaw`.

        Not a coroutine: the place in the order is taken when this is called.
        """
        frozen = scratch.fresh(self._directory / FROZEN)
        return self.committer.between(lambda: self.index.freeze(frozen))

    def thaw(self) -> None:
        """Let go of frozen files: as long as they are linked they fill scratch."""
        scratch.wipe(self._directory / FROZEN)

    async def close(self) -> None:
        """Let commits and merges end, then leave nothing of the index in scratch."""
        try:
            await self.committer.drain()
            await in_thread(self.index.close)
        finally:
            self.thaw()
            scratch.wipe(self._directory / INDEX)
