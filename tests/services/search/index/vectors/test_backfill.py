"""The backfill and the library around it: everything embedded once, whatever fails, restarts or goes meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from memoria_chassis.clock import FakeClock
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import ServiceKey
from memoria_chassis.sqlite import Database
from memoria_contract.types import ItemId, Revision
from memoria_search.corpus.model import Chunk, DocumentRef, Metadata, NewDocument, SiblingOrigin
from memoria_search.corpus.schema import MIGRATIONS
from memoria_search.corpus.store import Store
from memoria_search.corpus.vault import Vault
from memoria_search.index.analysis import Analyser
from memoria_search.index.vectors.backfill import BATCH
from memoria_search.index.vectors.hashing import HashingEmbedder
from memoria_search.index.vectors.library import VectorLibrary
from memoria_search.index.vectors.quantise import quantise

Answer = Callable[[Sequence[str], np.ndarray], np.ndarray]


class Told(HashingEmbedder):
    """The hashing embedder, which keeps what it was asked and may be told to answer otherwise."""

    def __init__(self) -> None:
        super().__init__(Analyser())
        self.asked: list[str] = []
        self.answer: Answer = lambda texts, vectors: vectors
        self.meanwhile: Callable[[], object] | None = None

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> np.ndarray:
        """Answer as told."""
        self.asked += texts
        if self.meanwhile is not None:
            await self.meanwhile()  # type: ignore[misc]  # a coroutine function
        return self.answer(texts, self.vectors(texts))


class Rig:
    """A store and the vectors beside it, restartable."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.embedder = Told()
        self.pauses: list[float] = []
        self.paused = asyncio.Event()
        self.library: VectorLibrary | None = None

    async def open(self) -> VectorLibrary:
        """Open the file; nothing runs yet."""
        self.database = Database.open(self.folder / "search.db", MIGRATIONS)
        vault = Vault(ServiceKey(b"k" * 32))
        self.store = Store(self.database, vault, FakeClock())
        opened = await VectorLibrary.open(self.database, vault, self.embedder)
        self.library = VectorLibrary(opened.store, self.embedder, self._pause)
        return self.library

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.paused.set()
        await asyncio.sleep(0)

    async def until(self, reached: Callable[[], bool]) -> None:
        """Wait through failures until something holds."""
        while not reached():
            self.paused.clear()
            await asyncio.wait_for(self.paused.wait(), 20)

    async def close(self) -> None:
        """Stop as a kill does: what is under way is lost."""
        if self.library is not None:
            await self.library.sleep()
            self.database.close()
            self.library = None

    async def put(self, item: str, *texts: str) -> DocumentRef:
        """Store a document and tell the vectors."""
        origin = SiblingOrigin("docs", ItemId(item), Revision("1"))
        ref, change = await self.store.put(NewDocument(origin, Metadata(item), tuple(Chunk((), t) for t in texts)))
        if self.library is not None:
            await self.library.follow(change)
        return ref

    async def retire(self, item: str) -> None:
        """Remove a document and tell the vectors."""
        await self.library.follow(await self.store.retire("docs", [ItemId(item)]))  # type: ignore[union-attr]  # opened

    async def covered(self) -> None:
        """Wait until all is."""
        await asyncio.wait_for(self.library.backfill.covered.wait(), 20)  # type: ignore[union-attr]  # opened

    async def stored(self) -> tuple[int, int]:
        """How many chunks have a vector in the store, and how many have none."""
        store = self.library.store  # type: ignore[union-attr]  # opened
        return len(await store.keys()), len(await store.missing(1000))

    async def near(self, words: str) -> list[int]:
        """Numbers of the documents nearest to these words."""
        made = quantise(self.embedder.vectors([words]), 1, self.embedder.native, 512)
        return [hit.number for hit in self.library.index.search(made, 5)]  # type: ignore[union-attr]  # opened


async def arriving(*pieces: tuple[str, bytes]) -> AsyncIterator[tuple[str, bytes]]:
    """A snapshot's pieces."""
    for piece in pieces:
        yield piece


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    """Opened, not started."""
    made = Rig(tmp_path)
    await made.open()
    yield made
    await made.close()


def refuse(kind: Kind, when: Callable[[Sequence[str]], bool]) -> Answer:
    """An answer that fails for some batches."""

    def answer(texts: Sequence[str], vectors: np.ndarray) -> np.ndarray:
        if when(texts):
            raise ServiceError(kind, "not now")
        return vectors

    return answer


async def test_a_batch_that_fails_is_tried_again_and_the_rest_goes_on(rig: Rig) -> None:
    """The embedder is away for five calls: pauses double, then everything is covered, each chunk stored once.

    Broken to see it red: the second walk left out; the pause left at its first length.
    """
    for item in range(3 * BATCH):
        await rig.put(str(item), f"text {item}")
    fails = iter([True] * 5)
    rig.embedder.answer = refuse(Kind.UNAVAILABLE, lambda texts: next(fails, False))
    rig.library.wake()
    await rig.covered()
    assert await rig.stored() == (3 * BATCH, 0)
    assert len(rig.library.index) == 3 * BATCH
    assert rig.pauses == [1.0, 2.0, 4.0, 8.0, 16.0]


async def test_one_text_that_cannot_be_embedded_keeps_no_other_from_it(rig: Rig) -> None:
    """Its batch is never half-stored, batches shrink until it is alone, and it alone has no vector.

    Broken to see it red: batches kept at their size.
    """
    for item in range(BATCH):
        await rig.put(str(item), "poison" if item == 11 else f"text {item}")

    def answer(texts: Sequence[str], vectors: np.ndarray) -> np.ndarray:
        return np.where([["poison" in text] for text in texts], np.nan, vectors)

    rig.embedder.answer = answer
    rig.library.wake()
    await rig.until(lambda: len(rig.library.index) == BATCH - 1)
    assert [p.text for p in await rig.library.store.missing(9)] == ["11\npoison"]
    rig.embedder.answer = lambda texts, vectors: vectors
    await rig.covered()
    assert len(rig.library.index) == BATCH


@pytest.mark.parametrize(
    "answer",
    [
        lambda texts, vectors: vectors[:-1],
        lambda texts, vectors: vectors[:, :512],
        lambda texts, vectors: np.full_like(vectors, np.inf),
        lambda texts, vectors: vectors * 0,
        refuse(Kind.DEADLINE, lambda texts: True),
        lambda texts, vectors: 1 / 0,
    ],
    ids=["one short", "another length", "infinite", "zero", "late", "a bug"],
)
async def test_nothing_of_a_batch_that_failed_is_kept(rig: Rig, answer: Answer) -> None:
    """Not in the store, not in the index; and when the embedder has come to itself, everything is."""
    await rig.put("i", "a", "b", "c")
    rig.embedder.answer = answer
    rig.library.wake()
    await rig.until(lambda: len(rig.pauses) >= 3)
    assert (await rig.stored(), len(rig.library.index)) == ((0, 3), 0)
    rig.embedder.answer = lambda texts, vectors: vectors
    await rig.covered()
    assert (await rig.stored(), len(rig.library.index)) == ((3, 0), 3)


async def test_a_document_deleted_while_it_is_embedded_leaves_no_vector(rig: Rig) -> None:
    """Not in the store and not in the index (ING-23); the other one of the batch is in both, with its own vector.

    Broken to see it red: vectors taken by their place in the batch, whichever of it were stored.
    """
    await rig.put("gone", "alpha beta")
    kept = await rig.put("kept", "gamma delta")

    async def meanwhile() -> None:
        rig.embedder.meanwhile = None
        await rig.retire("gone")

    rig.embedder.meanwhile = meanwhile
    rig.library.wake()
    await rig.covered()
    assert await rig.stored() == (1, 0)
    assert await rig.near("alpha beta") == [kept.number]
    [row] = (await rig.library.store.load_document(kept.number)).made.rows
    made = quantise(rig.embedder.vectors(["kept\ngamma delta"]), 1, rig.embedder.native, 512)
    assert (row == made.rows[0]).all()
    assert rig.library.index.search(made, 1)[0].score > 0.99


async def test_a_restart_goes_on_where_the_store_says(rig: Rig) -> None:
    """Stopped in the middle of a batch: what is stored is not embedded again, the rest is, all is found (IDX-08).

    Broken to see it red: the store's rows left out of what is missing.
    """
    for item in range(2 * BATCH + 5):
        await rig.put(str(item), f"text {item}")
    hang = asyncio.Event()

    async def meanwhile() -> None:
        if len(rig.embedder.asked) > BATCH:
            hang.set()
            await asyncio.sleep(3600)

    rig.embedder.meanwhile = meanwhile
    rig.library.wake()
    await asyncio.wait_for(hang.wait(), 20)
    await rig.close()
    first, rig.embedder.asked, rig.embedder.meanwhile = rig.embedder.asked[:BATCH], [], None
    library = await rig.open()
    library.wake()
    await rig.covered()
    assert not set(first) & set(rig.embedder.asked)
    assert len(set(first) | set(rig.embedder.asked)) == len(library.index) == 2 * BATCH + 5
    assert await rig.stored() == (2 * BATCH + 5, 0)


async def test_what_is_put_while_nothing_is_missing_is_picked_up(rig: Rig) -> None:
    """Covered, then a put, then covered again; a replaced document is found by its new words only."""
    rig.library.wake()
    await rig.covered()
    old = await rig.put("i", "alpha beta gamma")
    assert not rig.library.backfill.covered.is_set()
    await rig.covered()
    assert await rig.near("alpha beta gamma") == [old.number]
    new = await rig.put("i", "delta epsilon")
    await rig.covered()
    assert await rig.near("alpha beta gamma") == [new.number]


async def test_a_snapshot_that_is_behind_or_ahead_is_brought_level(rig: Rig) -> None:
    """Pieces loaded at the start: what was deleted since is masked, what was stored since is read, nothing embedded.

    Broken to see it red: the reconciling left out; keys that lack not loaded.
    """
    one, two = await rig.put("one", "alpha beta"), await rig.put("two", "gamma delta")
    rig.library.wake()
    await rig.covered()
    saved = [(piece.name, piece.data()) for piece in rig.library.index.pieces()]
    await rig.retire("one")
    three = await rig.put("three", "epsilon zeta")
    await rig.covered()
    await rig.close()
    rig.embedder.asked = []
    library = await rig.open()
    library.wake(arriving(*saved))
    await rig.covered()
    assert rig.embedder.asked == []
    assert sorted(await rig.near("alpha beta")) == [two.number, three.number]
    assert one.number not in (library.index.keys() >> 24).tolist()


@pytest.mark.parametrize("spoilt", [b"", b"garbage"])
async def test_a_snapshot_that_is_damaged_costs_only_time(rig: Rig, spoilt: bytes) -> None:
    """A piece that is none: everything is read from the store, nothing embedded."""
    one = await rig.put("one", "alpha beta")
    rig.library.wake()
    await rig.covered()
    await rig.close()
    rig.embedder.asked = []
    library = await rig.open()
    library.wake(arriving(("name", spoilt)))
    await rig.covered()
    assert (rig.embedder.asked, await rig.near("alpha")) == ([], [one.number])


async def test_asleep_it_holds_nothing_and_wakes_from_the_store(rig: Rig) -> None:
    """Nothing readable outlives the handle (TRU-04), and nothing is embedded twice."""
    one = await rig.put("one", "alpha beta")
    rig.library.wake()
    await rig.covered()
    await rig.library.sleep()
    assert await rig.near("alpha") == []
    rig.embedder.asked = []
    rig.library.wake()
    await rig.covered()
    assert (rig.embedder.asked, await rig.near("alpha")) == ([], [one.number])


async def test_what_is_written_while_it_is_brought_level_is_there_afterwards(rig: Rig) -> None:
    """A put and a removal before the start has ended: neither lost nor found twice."""
    one = await rig.put("one", "alpha beta")
    rig.library.wake()
    two = await rig.put("two", "gamma delta")
    await rig.retire("one")
    await rig.covered()
    assert await rig.near("gamma delta") == [two.number]
    assert one.number not in await rig.near("alpha beta")
    assert len(rig.library.index) == 1


async def test_texts_that_share_words_are_near(rig: Rig) -> None:
    """The hashing embedder does what tests and benchmarks need of it, at any length, the same on every call."""
    for native in (64, 512, 768, 1024):
        embedder = HashingEmbedder(Analyser(), native)
        texts = ["the harbour ferry in winter", "winter ferries of the harbour", "a budget for lamps", ""]
        made = quantise(await embedder.embed(texts), 4, native, min(native, 512))
        vectors = made.rows * made.scales[:, None]
        near, far = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
        assert near > 0.9 > 0.5 > far
        assert (embedder.vectors(texts) == await HashingEmbedder(Analyser(), native).embed(texts)).all()
