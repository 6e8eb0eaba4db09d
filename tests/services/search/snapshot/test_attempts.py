"""Attempts to write a generation that came to nothing: whatever fails, the one before counts and nothing is left."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_search.snapshot.names import HEAD, PIECES, SUPERSEDED, manifest_name

House = Any  # tests/services/search/conftest.py
DAY = 86_400


async def fails(house: House) -> None:
    """An attempt that ends just before the head moves on."""
    house.bucket.fail("put_if_match", prefix=HEAD)
    with pytest.raises(ServiceError):
        await house.library.snapshot()


class Nth:
    """The call of a number fails, before or after it took place."""

    def __init__(self, at: int, after: bool) -> None:
        self.at, self.after, self.calls = at, after, 0

    async def __call__(self, _what: str, _name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        self.calls += 1
        mine = self.calls == self.at
        answer = await call() if self.after or not mine else None
        if mine:
            raise ServiceError(Kind.UNAVAILABLE, "the bucket did not do what was asked")
        return answer


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True], ids=["refused", "answer lost"])
@pytest.mark.parametrize("killed", [False, True], ids=["goes on", "killed"])
async def test_every_call_of_a_publication_fails_in_turn(house: House, after: bool, killed: bool) -> None:
    """At each: nothing of the generation before is gone, a wake reads it or the new one, the next attempt succeeds, and
    once all that was superseded is due the bucket holds one generation and nothing else.

    Broken to see it red: the record written once the head has moved; what an attempt left not swept.
    """
    ids = [(await house.upload(f"budget {at}")).document_id for at in range(3)]
    await house.library.snapshot()
    for at in range(1, 60):
        ids.append((await house.upload(f"budget more{at}")).document_id)
        before = house.snapshots.manifest.objects
        house.bucket.around = nth = Nth(at, after)
        with contextlib.suppress(ServiceError):
            await house.library.snapshot()
        assert before <= house.stored()
        if killed:
            await house.killed()
            await house.start()
            assert house.library.rebuilt is None
        assert sorted(await house.ids("budget")) == sorted(ids)
        await house.restart()
        assert house.library.rebuilt is None
        assert sorted(await house.ids("budget")) == sorted(ids)
        if nth.calls < at:
            break
    assert 10 < at < 59, "each call was tried"
    for turn in range(2):
        house.clock.advance(31 * DAY)
        await house.restart()
        await house.upload(f"budget last{turn}")
        await house.library.snapshot()
    house.clock.advance(31 * DAY)
    await house.restart()
    manifest = house.snapshots.manifest
    assert house.stored() == {HEAD, manifest_name(manifest.generation), *manifest.objects}


async def test_a_piece_that_lands_after_its_attempt_has_ended_goes_in_the_end(house: House) -> None:
    """The bucket said that it failed, the next attempt succeeded, and then it was there: below the generation that
    counts, and in no manifest.

    Broken to see it red: what an attempt tried not kept in mind.
    """
    await house.upload("budget")
    await house.library.snapshot()
    late: list[Callable[[], Awaitable[Any]]] = []

    async def around(what: str, name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        if what == "put" and name.startswith(PIECES) and not late:
            late.append(call)
            raise ServiceError(Kind.UNAVAILABLE, "the bucket did not do what was asked")
        return await call()

    await house.upload("budget two")
    house.bucket.around = around
    with pytest.raises(ServiceError):
        await house.library.snapshot()
    await house.library.snapshot()
    before = house.stored()
    await late[0]()
    [landed] = house.stored() - before
    house.clock.advance(31 * DAY)
    await house.upload("budget three")
    await house.library.snapshot()
    assert landed not in house.stored()
    assert house.snapshots.manifest.objects <= house.stored()


async def test_the_record_of_an_attempt_beside_a_damaged_generation_says_nothing(house: House) -> None:
    """The manifest is away, an attempt to supersede its generation fails, and the manifest is there again: the record
    of that attempt takes nothing of what counts, however old it gets.

    Broken to see it red: a generation that cannot be read recorded under the number 0.
    """
    await house.upload("budget one")
    await house.library.snapshot()
    await house.stop()
    manifest = house.folder / "bucket" / manifest_name(house.snapshots.manifest.generation)
    body = manifest.read_bytes()
    manifest.unlink()
    await house.start()
    await house.upload("budget two")
    await fails(house)
    assert house.stored(SUPERSEDED)
    await house.killed()
    manifest.write_bytes(body)
    await house.start()
    assert house.library.rebuilt is None
    house.clock.advance(31 * DAY)
    await house.killed()
    await house.start()
    assert house.snapshots.manifest.objects <= house.stored()
    assert house.library.rebuilt is None


async def test_what_failed_beside_a_damaged_generation_goes_with_it(house: House) -> None:
    """Pieces and manifest of an attempt that failed while nothing could be deleted are in the record of the next.

    Broken to see it red: not taking them along.
    """
    await house.upload("budget one")
    await house.library.snapshot()
    await house.stop()
    (house.folder / "bucket" / manifest_name(house.snapshots.manifest.generation)).unlink()
    await house.start()
    await house.upload("budget two")
    before = house.stored()
    await fails(house)
    left = {name for name in house.stored() - before if not name.startswith(SUPERSEDED)}
    assert len(left) > 1
    await house.library.snapshot()
    assert left <= house.stored()
    for turn in range(2):
        house.clock.advance(31 * DAY)
        await house.upload(f"budget more{turn}")
        await house.library.snapshot()
    assert not left & house.stored()
