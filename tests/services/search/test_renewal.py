"""Making the index anew while nobody asks: whoever comes does not wait for it, and it costs no generation (ING-24)."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

House = Any  # tests/services/search/conftest.py


async def due(house: House, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A generation with a deleted document's words in a segment that no merge drops; the ids of the four others. A
    rebuild takes one document at a time, and would save after each."""
    refs = [await house.upload(f"budget {at}") for at in range(5)]
    await house.stop()
    shutil.rmtree(house.folder / "bucket" / "snapshot")
    await house.start()  # a rebuild puts all into one segment
    await house.library.snapshot()
    await house.library.delete(refs[0].document_id)
    await house.library.snapshot()
    house.clock.advance(31 * 86_400)
    monkeypatch.setattr("memoria_search.wake._SLICE", 1)
    monkeypatch.setattr("memoria_search.wake._CHECKPOINT", 1)
    assert house.snapshots.renewal_due
    return sorted(ref.document_id for ref in refs[1:])


class Halfway:
    """A renewal that has `reached` its first document, and indexes it once it may `go` on."""

    def __init__(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.go = asyncio.Event(), asyncio.Event()
        self.documents = 0
        self._contents = house.store.contents
        monkeypatch.setattr(house.store, "contents", self._wait)
        self.task = asyncio.create_task(house.library.renew())

    async def _wait(self, *args: Any) -> int:
        self.documents += 1
        self.reached.set()
        await self.go.wait()
        return await self._contents(*args)


def files(house: House) -> list[Path]:
    """Everything in scratch."""
    return [path for path in (house.folder / house.scratch).rglob("*") if path.is_file()]


async def test_whoever_comes_ends_a_renewal_and_is_answered(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not after the whole rebuild, but from the generation there is; the renewal is tried again when nobody asks.

    Broken to see it red: letting the renewal go on; saving half a renewal; waking anew for whoever comes.
    """
    ids = await due(house, monkeypatch)
    generation = house.snapshots.manifest.generation
    renewal = Halfway(house, monkeypatch)
    await renewal.reached.wait()
    asking = [asyncio.create_task(house.ids("budget")) for _ in range(3)]
    await asyncio.sleep(0)
    renewal.go.set()
    assert [sorted(found) for found in await asyncio.gather(*asking)] == [ids] * 3
    assert not await renewal.task
    assert (renewal.documents, house.library.rebuilt) == (1, None)
    assert house.snapshots.manifest.generation == generation
    assert house.snapshots.renewal_due
    assert await house.library.renew()
    assert house.library.rebuilt == "deleted words are due"
    assert house.snapshots.manifest.generation == generation + 1
    assert not house.snapshots.renewal_due
    assert sorted(await house.ids("budget")) == ids


async def test_a_stop_in_the_middle_of_a_renewal_leaves_nothing_readable(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attendant is cancelled: once it has ended nothing is indexed any more, and the generation before counts.

    Broken to see it red: not waiting for the renewal.
    """
    ids = await due(house, monkeypatch)
    renewal = Halfway(house, monkeypatch)
    await renewal.reached.wait()
    assert files(house)
    renewal.task.cancel()
    await asyncio.sleep(0)
    renewal.go.set()
    await asyncio.wait([renewal.task])
    assert renewal.task.cancelled()
    assert renewal.documents == 1
    assert house.library.asleep
    assert not files(house)
    await house.restart()
    assert house.library.rebuilt is None
    assert sorted(await house.ids("budget")) == ids


async def test_a_question_before_a_renewal_has_begun_goes_first(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """It came while the index was being dropped: it is woken for as ever, and nothing is made anew.

    Broken to see it red: saying that the index is made anew before it is this one's turn.
    """
    ids = await due(house, monkeypatch)
    renewing = asyncio.create_task(house.library.renew())
    while not house.library.asleep:  # noqa: ASYNC110 - nothing announces it
        await asyncio.sleep(0)
    assert sorted(await house.ids("budget")) == ids
    assert not await renewing
    assert house.library.rebuilt is None
    assert house.snapshots.renewal_due
