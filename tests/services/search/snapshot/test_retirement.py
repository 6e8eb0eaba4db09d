"""Letting go of superseded generations: in parts, past what cannot be deleted, and of files that a kill left."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_search.snapshot.names import MANIFESTS, PIECES, SUPERSEDED, manifest_name, piece_name
from memoria_search.snapshot.superseded import Superseded

House = Any  # tests/services/search/conftest.py
DAY = 86_400


def undeletable(house: House, *prefixes: str) -> list[str]:
    """Deletions of such names fail from now on; the names that were tried."""
    tried: list[str] = []

    async def around(what: str, name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        if what == "delete" and name.startswith(prefixes):
            tried.append(name)
            raise ServiceError(Kind.UNAVAILABLE, "the bucket did not do what was asked")
        return await call()

    house.bucket.around = around
    return tried


async def generations(house: House, count: int) -> None:
    """Write so many."""
    for _ in range(count):
        await house.upload(f"budget {house.snapshots.fence.head.generation}")
        await house.library.snapshot()


@pytest.mark.slow
async def test_a_backlog_is_deleted_in_parts(house: House) -> None:
    """32 generations after each that is written, the oldest first, so that none waits long for the next.

    Broken to see it red: no limit.
    """
    await generations(house, 36)
    house.clock.advance(31 * DAY)
    await generations(house, 1)
    assert [old.generation for old in house.snapshots.superseded] == [33, 34, 35, 36]
    await generations(house, 1)
    assert [old.generation for old in house.snapshots.superseded] == [36, 37]
    assert len(house.stored(MANIFESTS)) == 3


async def test_one_object_that_cannot_be_deleted_holds_up_no_other_generation(house: House) -> None:
    """The oldest one's piece stays, with its record and the deletion that is not complete; the others go. When it can
    be deleted it is.

    Broken to see it red: ending at the first failure.
    """
    doomed = await house.upload("doomed")
    await generations(house, 1)
    await house.library.delete(doomed.document_id)
    await generations(house, 3)
    first = house.snapshots.superseded[0]
    pieces = first.open(house.snapshots._sealer, (await house.bucket.get(first.name)).data)
    assert pieces
    house.clock.advance(31 * DAY)
    undeletable(house, pieces[0])
    await generations(house, 1)
    assert [old.generation for old in house.snapshots.superseded] == [1, 4]
    assert pieces[0] in house.stored()
    assert house.snapshots.completed == 0
    await house.restart()
    assert [old.generation for old in house.snapshots.superseded] == [4]
    assert pieces[0] not in house.stored()


async def test_what_could_not_be_listed_is_not_counted_as_gone(house: House) -> None:
    """A start at which the bucket does not list what is superseded: no deletion is called complete until it has.

    Broken to see it red: without the look at whether anything was listed.
    """
    doomed = await house.upload("doomed")
    await generations(house, 1)
    await house.library.delete(doomed.document_id)
    await generations(house, 1)
    opened = house.open_bucket

    def open_bucket() -> Any:
        bucket = opened()
        bucket.fail("names", prefix=SUPERSEDED)
        return bucket

    house.open_bucket = open_bucket
    await house.restart()
    assert not house.snapshots.superseded
    assert house.snapshots.completed == 0
    house.open_bucket = opened
    await generations(house, 1)
    assert house.snapshots.superseded
    assert house.snapshots.completed == 0
    house.clock.advance(31 * DAY)
    await generations(house, 1)
    assert house.snapshots.completed == 1


async def test_a_bucket_that_deletes_nothing_is_not_asked_for_everything(house: House) -> None:
    """Three generations are tried after each that is written, and others the next time; then all of them go.

    Broken to see it red: no limit to failures; the same ones tried each time.
    """
    await generations(house, 8)
    house.clock.advance(31 * DAY)
    tried = undeletable(house, MANIFESTS)
    for _ in range(2):
        await generations(house, 1)
    assert tried == [manifest_name(at) for at in range(1, 7)]
    assert house.library.rebuilt is None
    await house.restart()
    assert [old.generation for old in house.snapshots.superseded] == [8, 9]


async def test_no_generation_goes_while_an_untrue_record_of_it_cannot_be_deleted(house: House) -> None:
    """It would be all that is said of the generation once the true one had gone. Nothing else waits for it.

    Broken to see it red: retiring it all the same; failing every attempt until it can be deleted.
    """
    await generations(house, 2)
    untrue = Superseded(0, 1, 0, 0, 1)
    await house.bucket.put(untrue.name, untrue.seal(house.snapshots._sealer, house.snapshots.manifest.objects))
    house.clock.advance(31 * DAY)
    undeletable(house, untrue.name)
    await generations(house, 2)
    assert [old.generation for old in house.snapshots.superseded] == [1, 2, 3]
    house.clock.advance(31 * DAY)
    await generations(house, 1)
    assert [old.generation for old in house.snapshots.superseded] == [1, 4]
    assert house.snapshots.manifest.objects <= house.stored()
    await house.restart()
    assert [old.generation for old in house.snapshots.superseded] == [4]
    assert untrue.name not in house.stored()


async def test_files_of_puts_that_were_killed_half_way_go_at_a_start(house: House) -> None:
    """In a local bucket: those that only an earlier instance could still finish. Not this one's, not a later one's, and
    not the head's, which any may be writing.

    Broken to see it red: none dropped; all dropped.
    """
    await generations(house, 1)
    head = house.snapshots.fence.head
    old = [
        piece_name(7, head.epoch),
        manifest_name(head.generation),
        Superseded(1, 1, 0, head.epoch, 1).name,
    ]
    new = [
        piece_name(7, head.epoch + 1),
        piece_name(7, head.epoch + 2),
        manifest_name(head.generation + 1),
        Superseded(1, 1, 0, head.epoch + 1, 1).name,
        "snapshot/head",
    ]
    for name in (*old, *new):
        path = house.folder / "bucket" / f"{name}#1"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half of it")
    await house.killed()
    await house.start()
    assert {name for name in house.stored() if "#" in name} == {f"{name}#1" for name in new}
    assert house.library.rebuilt is None


@pytest.mark.parametrize("name", ["", "x", f"{PIECES}1", f"{PIECES}1-x-2", f"{SUPERSEDED}1-2-3"])
async def test_a_name_that_is_none_of_ours_stops_nothing(house: House, name: str) -> None:
    """Whatever else lies in the bucket's folders, a start and a snapshot pass it by."""
    await generations(house, 1)
    if name:
        await house.bucket.put(name if "/" in name else f"{MANIFESTS}{name}", b"garbage")
    await house.restart()
    await generations(house, 1)
    await house.restart()
    assert house.library.rebuilt is None
