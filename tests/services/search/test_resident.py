"""How long the readable index is held: dropped when nobody asks, woken by the next who does (TRU-04)."""

import asyncio
import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memoria.index.v1 import index_pb2 as pb
from memoria_chassis.errors import Kind, ServiceError
from memoria_search.attendant import Attendant, Habits
from memoria_search.server import IndexServer

House = Any  # tests/services/search/conftest.py


def files(house: House) -> list[Path]:
    """Everything in scratch."""
    return [path for path in (house.folder / house.scratch).rglob("*") if path.is_file()]


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what another task brings about."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - nothing announces these
            await asyncio.sleep(0.02)


async def test_an_index_in_use_is_not_evicted(house: House) -> None:
    """While a request holds the index it stays, and it goes when the request is over.

    Broken to see it red: evicting without a look at the uses.
    """
    await house.upload("budget")
    async with house.library.awake():
        assert not await house.library.evict()
        assert files(house)
    assert await house.library.evict()
    assert not await house.library.evict()


async def test_an_evicted_index_leaves_nothing_readable(house: House) -> None:
    """No file in scratch, no catalogue, and the handle with its analyser and its words is free to be collected.

    Broken to see it red: keeping the analyser; keeping the catalogue; leaving the files.
    """
    ref = await house.upload("budget")
    assert await house.ids("budget") == [ref.document_id]
    handle, analyser = weakref.ref(house.library.handle), weakref.ref(house.library.handle.analyser)
    assert handle() is not None
    assert files(house)
    await house.library.snapshot()
    assert await house.library.evict()
    assert not files(house)
    assert len(house.library.catalogue) == 0
    gc.collect()
    assert (handle(), analyser()) == (None, None)
    assert house.library.ready, "the next question wakes it"
    with pytest.raises(ServiceError) as asleep:
        house.library.handle  # noqa: B018 - reading it is what is refused
    assert asleep.value.kind is Kind.UNAVAILABLE


async def test_the_next_question_wakes_it_once(house: House) -> None:
    """Twenty at once after an eviction: one wake, each gets its answer. So do a write, a deletion and a listing.

    Broken to see it red: waking outside the lock.
    """
    kept, doomed = await house.upload("budget kept"), await house.upload("budget doomed")
    await house.library.snapshot()
    await house.library.evict()
    wakes = 0
    settle = house.library.keeper.settle

    async def counted(*args: Any) -> None:
        nonlocal wakes
        wakes += 1
        await settle(*args)

    house.library.keeper.settle = counted
    found = await asyncio.gather(*(house.ids("kept") for _ in range(20)))
    assert wakes == 1
    assert found == [[kept.document_id]] * 20
    await house.library.evict()
    assert await house.library.delete(doomed.document_id) == 1
    await house.library.evict()
    new = await house.upload("budget new")
    await house.library.evict()
    assert sorted(await house.ids("budget")) == sorted([kept.document_id, new.document_id])
    assert wakes == 4


async def test_a_count_opens_the_index_and_does_not_count_an_empty_one(house: House) -> None:
    """An owner's page would say that nothing is held. Broken to see it red: counting outside of `awake`."""
    await house.item("a")
    await house.item("b")
    await house.upload("budget")
    await house.library.snapshot()
    await house.library.evict()
    server: Any = IndexServer(house.library, house.gate, None)  # type: ignore[arg-type] # it does not search
    assert (await server.CountItems(pb.CountItemsRequest(app="docs"), None)).held == 2


async def test_a_look_for_uploads_opens_the_index(house: House) -> None:
    """An item that is held would be said to be absent. Broken to see it red: looked up outside `awake`."""
    ref = await house.upload("budget")
    await house.library.snapshot()
    await house.library.evict()
    server: Any = IndexServer(house.library, house.gate, None)  # type: ignore[arg-type] # it does not search
    (found,) = (
        await server.FindUploads(pb.FindUploadsRequest(external_ids=[b"budget".ljust(32, b"\0")]), None)
    ).uploads
    assert (found.document_id, found.number) == (ref.document_id, ref.number)


async def test_a_write_whose_caller_has_gone_keeps_the_index(house: House) -> None:
    """A put that goes on after its caller was cancelled cannot have the index taken from under it.

    Broken to see it red: holding the index for the caller only.
    """
    for at in range(20):
        task = asyncio.create_task(house.upload(f"budget {at}"))
        await asyncio.sleep(0.001 * (at % 4))
        task.cancel()
        await house.library.evict()
    await asyncio.gather(*house.library._under_way)
    stored = await house.database.read(lambda db: db.execute("SELECT count(*) FROM documents").fetchone()[0])
    assert len(await house.ids("budget")) == stored
    assert house.unfit == 0


async def test_a_wake_that_fails_is_tried_again(house: House) -> None:
    """The bucket is away at a wake: whoever asked is told, and the next one is answered.

    Broken to see it red: remembering a half-made handle.
    """
    ref = await house.upload("budget")
    await house.library.snapshot()
    await house.library.evict()
    with pytest.MonkeyPatch.context() as patch:

        async def away(*_: object, **__: object) -> list[str]:
            raise ServiceError(Kind.UNAVAILABLE, "the bucket did not do what was asked")

        patch.setattr(house.bucket, "names", away)
        with pytest.raises(ServiceError) as told:
            await house.ids("budget")
        assert told.value.kind is Kind.UNAVAILABLE
    assert await house.ids("budget") == [ref.document_id]


async def test_a_bucket_that_fails_to_give_pieces_does_not_stop_a_wake(house: House) -> None:
    """The pieces cannot be read just now: the index is made from sealed chunks, and the generation stays good."""
    ref = await house.upload("budget")
    await house.library.snapshot()
    await house.library.evict()
    with pytest.MonkeyPatch.context() as patch:

        async def away(*_: object) -> int:
            raise ServiceError(Kind.UNAVAILABLE, "the bucket did not do what was asked")

        patch.setattr(house.snapshots.restorer, "lexical", away)
        assert await house.ids("budget") == [ref.document_id]
        assert house.library.rebuilt == "unavailable"
        assert house.snapshots.damage is None
    await house.library.evict()
    assert await house.ids("budget") == [ref.document_id]
    assert house.library.rebuilt is None


async def test_a_generation_that_lacks_a_file_is_damaged(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every piece opens and the files are no index all the same: said as damage, the index is made anew, and the next
    generation shares nothing with that one.

    Broken to see it red: taking it for a bucket that fails.
    """
    ref = await house.upload("budget")
    await house.library.snapshot()
    before = house.snapshots.manifest
    await house.library.evict()
    lexical = house.snapshots.restorer.lexical

    async def incomplete(manifest: Any, directory: Path) -> int:
        size = await lexical(manifest, directory)
        next(path for path in files(house) if path.suffix == ".term").unlink()
        return size

    with monkeypatch.context() as patch:
        patch.setattr(house.snapshots.restorer, "lexical", incomplete)
        assert await house.ids("budget") == [ref.document_id]
    assert house.snapshots.damage == house.library.rebuilt == "files are no index"
    assert await house.library.snapshot()
    assert house.snapshots.damage is None
    assert not house.snapshots.manifest.objects & before.objects
    await house.library.evict()
    assert await house.ids("budget") == [ref.document_id]
    assert house.library.rebuilt is None


@pytest.mark.slow
async def test_the_attendant_saves_when_writers_rest_and_drops_when_nobody_asks(house: House) -> None:
    """A change is saved after the quiet, the index dropped after the idle, a question wakes it for another round."""
    attendant = Attendant(house.library, Habits(quiet=0.05, idle=0.3))
    attendant.start()
    try:
        for at in range(1, 3):
            await house.upload(f"budget {at}")
            await until(lambda: house.library.asleep and not files(house))
            assert house.snapshots.manifest.generation == at
            assert len(await house.ids("budget")) == at
    finally:
        await attendant.close()


async def test_the_attendant_gets_over_a_bucket_that_fails(house: House) -> None:
    """A snapshot that fails is tried again, a waiting deletion record is written once the bucket answers."""
    ref = await house.upload("budget")
    await house.library.snapshot()
    put = house.bucket.put_if_absent
    failures = 0

    async def away(*_: object) -> None:
        nonlocal failures
        failures += 1
        raise ServiceError(Kind.UNAVAILABLE, "the bucket did not do what was asked")

    house.bucket.put_if_absent = away
    with pytest.raises(ServiceError, match="its record has not reached the bucket yet"):
        await house.library.delete(ref.document_id)
    assert await house.ids("budget") == [], "effective at once"
    assert house.library.keeper.tombstones.waiting == 1
    attendant = Attendant(house.library, Habits(quiet=0.05, idle=0))
    attendant.start()
    try:
        await until(lambda: failures >= 3)
        house.bucket.put_if_absent = put
        await until(lambda: not (house.library.keeper.tombstones.waiting or house.library.checkpoints.changed))
    finally:
        await attendant.close()
    assert house.snapshots.manifest.deletions == 1


async def test_somebody_who_came_while_a_snapshot_was_written_keeps_the_index_awake(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was idle when the attendant looked, and is not when the snapshot is done.

    Broken to see it red: evicted on what was seen before the snapshot.
    """
    await house.upload("budget one")
    attendant = Attendant(house.library, Habits(quiet=1000, idle=60))
    house.library._last_use -= 100
    publish = house.library.keeper.publish

    async def meanwhile(*args: Any) -> None:
        await house.ids("budget")
        await publish(*args)

    monkeypatch.setattr(house.library.keeper, "publish", meanwhile)
    await attendant._look()
    assert not house.library.asleep
    house.library._last_use -= 100
    await attendant._look()
    assert house.library.asleep
