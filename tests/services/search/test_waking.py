"""A wake goes on whoever stops waiting for it, leaves nothing behind when it fails, and ends with the fence."""

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc import deadline
from memoria_search.corpus.model import SourceState
from memoria_search.finish import in_thread
from memoria_search.resident import OPENING
from memoria_search.snapshot import restore

House = Any  # tests/services/search/conftest.py


def slow(house: House) -> asyncio.Event:
    """A bucket that gives no piece until the event is set."""
    go = asyncio.Event()

    async def around(what: str, name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        if what == "get" and "pieces" in name:
            await go.wait()
        return await call()

    house.bucket.around = around
    return go


async def asleep(house: House, count: int = 3) -> list[str]:
    """Documents, a generation, and no index; their ids."""
    refs = [await house.upload(f"budget {at}") for at in range(count)]
    await house.library.snapshot()
    await house.library.evict()
    return [ref.document_id for ref in refs]


async def test_a_request_whose_time_is_over_is_told_and_the_wake_goes_on(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longer than any request's deadline: each is told that the index is being opened, one wake serves them all in the
    end, and who is cancelled outright ends no wake either.

    Broken to see it red: waking in the request's own task; a wake that inherits the request's deadline.
    """
    ids = await asleep(house)
    go = slow(house)
    wakes = []
    settle = house.library.keeper.settle

    async def counted(*args: Any) -> None:
        wakes.append(deadline.remaining())
        await settle(*args)

    monkeypatch.setattr(house.library.keeper, "settle", counted)

    async def ask() -> list[str]:
        deadline.start(0.2)
        return await house.ids("budget")

    for _ in range(3):
        with pytest.raises(ServiceError) as told:
            await asyncio.create_task(ask())
        assert (told.value.kind, told.value.message) == (Kind.UNAVAILABLE, OPENING)
    patient = asyncio.create_task(house.ids("budget"))
    hasty = asyncio.create_task(house.ids("budget"))
    await asyncio.sleep(0.02)
    hasty.cancel()
    go.set()
    assert sorted(await patient) == sorted(ids)
    assert wakes == [None], "one wake, and it has all the time it needs"
    assert await house.library.evict(), "nobody holds it any more"


async def test_a_wake_that_fails_leaves_nothing_in_scratch(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """No room in scratch in the middle of a wake: one clear sentence, no plaintext left, and the next wake is whole.

    Broken to see it red: leaving the files; taking a full disk for a damaged generation.
    """
    ids = await asleep(house)
    writes = []

    def full(path: Path, body: bytes, start: int) -> None:
        writes.append(path)
        if len(writes) > 3:
            raise OSError(28, "No space left on device")
        path.write_bytes(body)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(restore, "_write", full)
        with pytest.raises(ServiceError) as told:
            await house.ids("budget")
    assert told.value.message == "the index does not fit into its scratch directory"
    assert len(writes) > 3
    assert not [path for path in (house.folder / house.scratch).rglob("*") if path.is_file()]
    assert house.library.asleep
    assert sorted(await house.ids("budget")) == sorted(ids)
    assert house.library.rebuilt is None


async def test_a_cancelled_caller_has_its_thread_ended_first() -> None:
    """A thread that writes is not left behind with a descriptor that may be somebody else's by then.

    Broken to see it red: asyncio.to_thread in its place.
    """
    began, ended = asyncio.Event(), []
    loop = asyncio.get_running_loop()

    def work() -> None:
        loop.call_soon_threadsafe(began.set)
        time.sleep(0.02)
        ended.append(True)

    for turn in range(20):
        began.clear()
        task = asyncio.create_task(in_thread(work))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(ended) == turn + 1


async def test_a_restored_corpus_is_out_of_the_ranking_until_it_is_announced(house: House) -> None:
    """ING-27, AUT-06: an older database put back serves no sibling's item before ingest has announced it
    anew.

    Broken to see it red: leaving the sources as they stand.
    """
    await house.item("a", "budget of an app")
    await house.source("docs", SourceState.CURRENT)
    await house.library.snapshot()
    copy = house.backup()
    for at in range(3):
        await house.item(f"later{at}", "budget later")
    await house.library.snapshot()
    assert len(await house.ids("budget")) == 4
    await house.stop()
    house.put_back(copy)
    await house.start()
    found = await house.search("budget")
    assert found.rows == ()
    assert [line.app for line in found.page.notices] == ["docs"]
    assert house.library.keeper.restored


async def test_an_instance_that_lost_the_bucket_stops(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one has taken over: a wake, and the next document within seconds, end this process and are not
    acknowledged; a bucket that is merely away ends nothing.

    Broken to see it red: not looking at the fence at a wake; not looking before a document is acknowledged; taking a
    bucket that is away for another instance.
    """
    await asleep(house)
    with pytest.MonkeyPatch.context() as patch:

        async def away(*_: object) -> None:
            raise ServiceError(Kind.UNAVAILABLE, "the bucket did not do what was asked")

        await house.ids("budget")
        patch.setattr(house.snapshots.fence, "check", away)
        patch.setattr("memoria_search.keeper._FENCE_SECONDS", 0.0)
        await house.upload("budget meanwhile")
    assert len(await house.ids("budget")) == 4
    other = type(house.snapshots)(house.bucket, house.key, house.clock, house.kept)
    await other.fence.acquire()
    monkeypatch.setattr("memoria_search.keeper._FENCE_SECONDS", 0.0)
    with pytest.raises(ServiceError, match="another instance has taken over"):
        await house.upload("budget too late")
    assert house.unfit == 1
    assert not house.library.ready
    await house.library.evict()
    with pytest.raises(ServiceError, match="another instance has taken over"):
        await house.ids("budget")
    assert house.unfit == 2


async def test_a_long_rebuild_is_saved_on_the_way(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """F35: what a rebuild has so far is a generation that a kill does not cost; the next wake takes it from there.

    Broken to see it red: no checkpoint.
    """
    ids = await asleep(house, 9)
    await house.stop()
    shutil.rmtree(house.folder / "bucket" / "snapshot")
    monkeypatch.setattr("memoria_search.wake._SLICE", 2)
    monkeypatch.setattr("memoria_search.wake._CHECKPOINT", 4)
    await house.start()
    assert len(house.snapshots.manifest.numbers) == 8, "the last checkpoint, before the rest"
    assert sorted(await house.ids("budget")) == sorted(ids)
