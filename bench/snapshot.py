"""Snapshots: what a change of 1 % uploads, and how soon an index that was dropped answers from a bucket at 50 MB/s."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.corpus import CHUNKS_PER_DOCUMENT, Corpus, corpus
from bench.measure import Quantity, Row
from bench.plan import Plan, say
from memoria_chassis.bucket import Bucket, Stored, open_bucket
from memoria_chassis.clock import FakeClock
from memoria_chassis.keys import ServiceKey
from memoria_chassis.sqlite import Database
from memoria_contract.types import ItemId, Revision
from memoria_search.assembly import assemble
from memoria_search.corpus.model import Chunk, Metadata, NewDocument, SiblingOrigin
from memoria_search.corpus.schema import MIGRATIONS
from memoria_search.library import Library
from memoria_search.snapshot.manifest import File
from memoria_search.snapshot.snapshots import Snapshots

BYTES_PER_SECOND = 50_000_000
GOAL_CHUNKS = 700_000  # AMD-04
_LARGEST = 330_000  # more would be made of the lines of others, whose vocabulary is a guess, and here bytes count
_KEY = ServiceKey(bytes(32))


class Throttled(Bucket):
    """A bucket whose downloads share one line of BYTES_PER_SECOND; uploads are free."""

    def __init__(self, inner: Bucket) -> None:
        super().__init__(inner._store, inner._directory)
        self._free_at = 0.0

    async def get(self, name: str) -> Stored:
        """The object, once the line has carried it."""
        found = await super().get(name)
        now = time.monotonic()
        self._free_at = max(now, self._free_at) + len(found.data) / BYTES_PER_SECOND
        await asyncio.sleep(self._free_at - now)
        return found


class RandomEmbedder:
    """Unit vectors out of the air: snapshots and wakes take the same time whatever they say."""

    model, digest, native = "random", "1", 768

    def __init__(self) -> None:
        self._drawn = np.random.default_rng(1)

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """One a text."""
        return self._drawn.standard_normal((len(texts), self.native), dtype=np.float32)


def run(plan: Plan) -> Iterator[Row]:
    """(quantity, peer) rows at a third of the size and at the size, and what they come to at the goal."""
    largest = max([size for size in plan.sizes if size <= _LARGEST], default=_LARGEST)
    wakes: list[tuple[int, float]] = []
    for size in (largest // 3, largest):
        said = corpus(size)
        say(f"snapshot of {size} chunks: {said.said}")
        for mine, peer in asyncio.run(_measure(said, size, plan.folder())):
            if mine.name.startswith("wake"):
                wakes.append((size, mine.value))
            yield mine, peer
    (small, fast), (large, slow) = wakes
    each = (slow - fast) / (large - small)
    told = f"a straight line through both: {fast - each * small:.2f} s and {each * 1e6:.2f} µs a chunk"
    yield Quantity(f"wake, {GOAL_CHUNKS:,} chunks, extrapolated", fast + each * (GOAL_CHUNKS - small), "s", told), None


async def _measure(said: Corpus, size: int, folder: Path) -> list[tuple[Quantity, Quantity | None]]:
    (folder / "bucket").mkdir()
    database = Database.open(folder / "data" / "search.db", MIGRATIONS)
    library = await assemble(
        database,
        Throttled(open_bucket((folder / "bucket").as_uri())),
        _KEY,
        clock=FakeClock(),
        kept=timedelta(days=30),
        scratch=folder / "scratch",
        on_failure=_failed,
        embedder=RandomEmbedder(),
    )
    vectors, snapshots = library.vectors, library.keeper.snapshots
    assert vectors
    documents = size // CHUNKS_PER_DOCUMENT
    for number in range(documents):
        await library.store.put(_document(said, number, number))
    await library.open()  # makes the index from sealed chunks
    await vectors.backfill.covered.wait()
    await library.snapshot()
    await _snapshot_again(library)

    lexical, dense = _sizes(snapshots)
    whole = Quantity(f"snapshot, {size:,} chunks", (lexical + dense) / 1e6, "MB", f"of which vectors {dense / 1e6:.1f}")
    changed = range(0, documents, 100)
    for number in changed:
        await library.put(_document(said, number, documents - 1 - number))
    await vectors.backfill.covered.wait()
    await library.snapshot()
    upload = Quantity(f"uploaded after {len(changed) / documents:.1%} changed", snapshots.uploaded / 1e6, "MB")

    lexical, dense = _sizes(snapshots)
    line = Quantity("its lexical bytes at 50 MB/s", lexical / BYTES_PER_SECOND, "s")
    query = said.queries(1)[0]
    await library.evict()
    began = time.perf_counter()
    async with library.awake() as handle:
        assert library.search(handle.analyser.query(query), 50)
        first = time.perf_counter() - began
        while vectors.loading:  # noqa: ASYNC110 - production code has nobody who waits for it
            await asyncio.sleep(0.005)
        level = time.perf_counter() - began
        assert library.rebuilt is None
    await library.close()
    database.close()
    return [
        (whole, None),
        (upload, whole),
        (Quantity(f"wake to the first lexical result, {size:,}", first, "s"), line),
        (Quantity(f"vectors level with the store, {size:,}", level, "s"), None),
    ]


async def _snapshot_again(library: Library) -> None:
    """Until nothing is left to be saved: vectors come into a snapshot after the words."""
    while library.checkpoints.unsaved:
        await library.snapshot()


def _sizes(snapshots: Snapshots) -> tuple[int, int]:
    manifest = snapshots.manifest
    assert manifest is not None

    def total(files: Sequence[File]) -> int:
        return sum(file.size for file in files)

    return total(manifest.lexical), total(manifest.vectors)


def _document(said: Corpus, number: int, text_of: int) -> NewDocument:
    first = text_of * CHUNKS_PER_DOCUMENT
    chunks = tuple(Chunk((), said.texts[first + at]) for at in range(CHUNKS_PER_DOCUMENT))
    revision = Revision(f"{number}-{text_of}")
    return NewDocument(SiblingOrigin("docs", ItemId(str(number)), revision), Metadata(f"Document {number}"), chunks)


def _failed() -> None:
    raise AssertionError("the index failed")
