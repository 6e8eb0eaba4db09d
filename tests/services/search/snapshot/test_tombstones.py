"""The deletion log and its outbox, step by step, and what retention, fence and lineage owe to each other."""

import asyncio
import shutil
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_search.corpus.model import Chunk, Metadata, NewDocument, UploadOrigin
from memoria_search.index.analysis import Analyser
from memoria_search.index.schema import ORDINAL_BITS
from memoria_search.index.vectors.hashing import HashingEmbedder
from memoria_search.index.vectors.piece import parse
from memoria_search.index.vectors.space import space_of
from memoria_search.snapshot.fence import FencedError
from memoria_search.snapshot.names import MANIFESTS, PIECES

House = Any  # tests/services/search/conftest.py
DAY = 86_400


def backup(house: House, name: str = "backup.db") -> Path:
    copy = house.folder / name
    with sqlite3.connect(house.path) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    return copy


def put_back(house: House, copy: Path) -> None:
    for path in house.path.parent.glob(f"{house.path.name}*"):
        path.unlink()
    shutil.copy(copy, house.path)


def under(house: House, prefix: str) -> set[str]:
    folder = house.folder / "bucket" / prefix
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


async def part(house: House, at: int, of: int) -> None:
    about = Metadata(title="A file")
    await house.library.put(NewDocument(UploadOrigin(b"u" * 32, at, of), about, (Chunk((), f"budget part{at}"),)))


def failing(house: House, what: str, kind: Kind, *, after: bool, prefix: str = "") -> None:
    """The next call of `what` on such a name fails, before or after it took place."""
    real = getattr(house.bucket, what)

    async def fail(name: str, *rest: Any) -> None:
        if not name.startswith(prefix):
            return await real(name, *rest)
        setattr(house.bucket, what, real)
        if after:
            await real(name, *rest)
        raise ServiceError(kind, "the bucket did not do what was asked")

    setattr(house.bucket, what, fail)


async def test_parts_that_a_shorter_conversion_drops_stay_gone(house: House) -> None:
    """Mutations: no record for them; the document itself in the record; not flushed before the answer."""
    for at in range(3):
        await part(house, at, 3)
    await house.library.snapshot()
    copy = backup(house)
    await part(house, 0, 1)
    assert under(house, "tombstones") == {f"{1:016d}"}
    await house.stop()
    put_back(house, copy)
    await house.start()
    left = await house.database.read(lambda db: db.execute("SELECT part FROM documents").fetchall())
    assert left == [(0,)]


@pytest.mark.parametrize("after", [False, True], ids=["not written", "written, answer lost"])
@pytest.mark.parametrize("again", ["restart", "flush"])
async def test_a_record_that_did_not_go_through_follows(house: House, after: bool, again: str) -> None:
    """Mutations: marked before it is uploaded; no flush at a wake; own bytes taken for another's."""
    ref = await house.upload("budget")
    failing(house, "put_if_absent", Kind.UNAVAILABLE, after=after, prefix="tombstones/")
    with pytest.raises(ServiceError, match="will follow"):
        await house.library.delete(ref.document_id)
    if again == "restart":
        await house.restart()
    else:
        await house.library.keeper.tombstones.flush()
    assert house.library.keeper.tombstones.waiting == 0
    assert under(house, "tombstones") == {f"{1:016d}"}


async def test_a_number_that_another_instance_took_is_not_ours(house: House) -> None:
    """Mutation: any record under our number accepted."""
    ref = await house.upload("budget")
    await house.bucket.put(f"tombstones/{1:016d}", b"another instance's")
    with pytest.raises(FencedError):
        await house.library.delete(ref.document_id)
    assert house.unfit


async def test_another_bucket_is_given_the_whole_log(house: House) -> None:
    """Mutation: an empty bucket not noticed."""
    for at in range(3):
        await house.library.delete((await house.upload(f"budget {at}")).document_id)
    await house.stop()
    shutil.rmtree(house.folder / "bucket")
    await house.start()
    assert under(house, "tombstones") == {f"{at:016d}" for at in (1, 2, 3)}


async def test_a_waiting_deletion_makes_room_for_one_of_another_instance(house: House) -> None:
    """Both are in the log, and an older database that replays it loses both.

    Mutations: the waiting one overwritten; sealed under its old number.
    """
    refs = [await house.upload(f"budget word{at}") for at in range(3)]
    await house.stop()
    copy = backup(house)
    await house.start()
    await house.library.delete(refs[0].document_id)
    await house.stop()
    foreign = (house.folder / "bucket" / f"tombstones/{1:016d}").read_bytes()
    put_back(house, copy)
    (house.folder / "bucket" / f"tombstones/{1:016d}").unlink()
    shutil.rmtree(house.folder / "bucket" / "snapshot")
    await house.start()
    failing(house, "put_if_absent", Kind.UNAVAILABLE, after=False, prefix="tombstones/")
    with pytest.raises(ServiceError):
        await house.library.delete(refs[1].document_id)
    (house.folder / "bucket" / "tombstones").mkdir(exist_ok=True)
    (house.folder / "bucket" / f"tombstones/{1:016d}").write_bytes(foreign)
    await house.restart()
    assert await house.ids("budget") == [refs[2].document_id]
    assert under(house, "tombstones") == {f"{at:016d}" for at in (1, 2)}
    await house.stop()
    put_back(house, copy)
    await house.start()
    assert await house.ids("budget") == [refs[2].document_id]


async def test_records_that_changed_places_do_not_open(house: House) -> None:
    """Mutation: a record not bound to its number."""
    refs = [await house.upload(f"budget {at}") for at in range(3)]
    await house.stop()
    copy = backup(house)
    await house.start()
    for ref in refs[:2]:
        await house.library.delete(ref.document_id)
    await house.stop()
    one, two = sorted((house.folder / "bucket/tombstones").iterdir())
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    put_back(house, copy)
    with pytest.raises(ServiceError, match="does not open"):
        await house.start()
    one.write_bytes(first)
    two.write_bytes(second)
    await house.start()
    assert await house.ids("budget") == [refs[2].document_id]


async def test_an_older_database_without_a_deletion_is_a_restore(house: House) -> None:
    """A newer generation alone says so; numbers go on above the highest ever given, also where that one is gone.

    Mutations: only replayed deletions count as a restore; the snapshot's last number is its highest held.
    """
    await house.upload("budget one")
    await house.library.snapshot()
    await house.stop()
    copy = backup(house)
    await house.start()
    lineage = house.library.keeper.standing.lineage
    await house.upload("budget again")
    last = (await house.upload("budget last")).number + 1
    doomed = await house.upload("budget doomed")
    assert doomed.number == last
    await house.library.retire("files", [])
    await house.library.delete(doomed.document_id)
    await house.library.snapshot()
    await house.stop()
    shutil.rmtree(house.folder / "bucket/tombstones")
    manifest = house.snapshots.manifest
    put_back(house, copy)
    with pytest.raises(ServiceError, match="deletion records"):
        await house.start()
    assert manifest.last_number == last
    assert manifest.deletions == 1
    assert lineage


async def test_a_newer_generation_alone_is_a_restore(house: House) -> None:
    """Mutation: only replayed deletions count."""
    await house.upload("budget one")
    await house.library.snapshot()
    await house.stop()
    copy = backup(house)
    await house.start()
    lineage = house.library.keeper.standing.lineage
    await house.upload("budget two")
    await house.library.snapshot()
    await house.stop()
    put_back(house, copy)
    await house.start()
    assert house.library.keeper.restored
    assert house.library.keeper.standing.lineage != lineage


async def test_a_restart_within_the_retention_sweeps_nothing_of_it(house: House) -> None:
    """Mutations: the pieces of superseded generations swept; half the retention."""
    ref = await house.upload("budget doomed")
    await house.library.snapshot()
    held = under(house, PIECES)
    await house.library.delete(ref.document_id)
    await house.library.snapshot()
    house.clock.advance(29 * DAY)
    await house.restart()
    assert held <= under(house, PIECES)
    assert len(under(house, MANIFESTS)) == 2


async def test_what_a_damaged_generation_left_stays_as_long_as_one_superseded(house: House) -> None:
    """Mutations: nothing inherited; the damage remembered after it was made good."""
    await house.upload("budget")
    await house.library.snapshot()
    await house.stop()
    held = under(house, PIECES)
    head = house.folder / "bucket/snapshot/head"
    head.write_bytes(head.read_bytes()[:-1] + b"\0")
    await house.start()
    await house.upload("budget two")
    await house.library.snapshot()
    await house.library.evict()
    assert len(await house.ids("budget")) == 2
    assert house.library.rebuilt is None, "made good"
    await house.restart()
    assert held <= under(house, PIECES)
    house.clock.advance(31 * DAY)
    await house.restart()
    assert not held & under(house, PIECES)


async def test_a_damaged_head_after_many_generations(house: House) -> None:
    """Mutation: generations counted from nothing."""
    for at in range(18):
        await house.upload(f"budget {at}")
        await house.library.snapshot()
    await house.stop()
    head = house.folder / "bucket/snapshot/head"
    head.write_bytes(head.read_bytes()[:-1] + b"\0")
    await house.start()
    assert await house.library.snapshot()
    assert house.snapshots.manifest.generation == 19


@pytest.mark.parametrize("kind", [Kind.CONFLICT, Kind.UNAVAILABLE])
async def test_a_head_that_moved_and_whose_answer_got_lost(house: House, kind: Kind) -> None:
    """Ours is ours: at once where the bucket says conflict, at the next snapshot where it says nothing.

    Mutations: the conflict believed; the unknown outcome forgotten.
    """
    await house.upload("budget")
    failing(house, "put_if_match", kind, after=True)
    if kind is Kind.UNAVAILABLE:
        with pytest.raises(ServiceError):
            await house.library.snapshot()
    assert await house.library.snapshot()
    assert not house.unfit
    await house.restart()
    assert house.library.rebuilt is None
    assert len(await house.ids("budget")) == 1


async def test_what_changes_during_an_upload_is_unsaved(house: House) -> None:
    """Mutation: all changes forgotten once a generation is written."""
    await house.upload("budget")
    put, gate, there = house.bucket.put, asyncio.Event(), asyncio.Event()

    async def slow(*args: Any) -> None:
        there.set()
        await gate.wait()
        await put(*args)

    house.bucket.put = slow
    saving = asyncio.create_task(house.library.snapshot())
    await there.wait()
    await house.upload("late")
    gate.set()
    assert await saving
    assert house.library.unsaved
    assert await house.library.snapshot()


async def test_a_fenced_snapshot_ends_the_process(house: House) -> None:
    """By itself, without a deletion. Mutation: the fence's word not passed on."""
    await house.upload("budget")
    other = type(house)(house.folder)
    other.path, other.scratch = house.folder / "other" / "search.db", "scratch-other"
    other.path.parent.mkdir()
    with sqlite3.connect(house.path) as source, sqlite3.connect(other.path) as target:
        source.backup(target)
    await other.start()
    with pytest.raises(FencedError):
        await house.library.snapshot()
    assert house.unfit == 1
    assert not house.library.ready
    await other.stop()


async def test_an_index_mostly_dead_is_made_anew(house: House) -> None:
    """Mutation: no limit to what is deleted and not merged away."""
    about = Metadata(title="t")
    whole = [NewDocument(UploadOrigin(bytes([at]) * 32, 0, 1), about, (Chunk((), f"budget {at}"),)) for at in range(9)]
    made = await asyncio.gather(*(house.library.put(each) for each in whole))
    for ref, _ in made[:4]:
        await house.library.delete(ref.document_id)
    await house.library.snapshot()
    if house.library.handle.index.dead_share > 0.3:
        await house.restart()
        assert house.library.rebuilt == "too much is deleted"
        assert house.library.handle.index.dead_share == 0
    else:
        pytest.fail("the setting makes no dead share")


async def test_a_piece_that_a_later_generation_uses_is_not_retired(house: House) -> None:
    """Mutation: a superseded generation takes all its pieces with it."""
    house.kept = timedelta(0)
    await house.restart()
    for at in range(4):
        await house.upload(f"budget {at}")
        await house.library.snapshot()
    manifest = house.snapshots.manifest
    assert any(file.generation < manifest.generation for file in manifest.lexical), "a file was used again"
    await house.restart()
    assert house.library.rebuilt is None
    assert len(await house.ids("budget")) == 4


async def test_vectors_of_what_a_replay_deleted_are_in_no_later_generation(house: House) -> None:
    """Mutation: rows that the store lacks at a wake masked, and saved again."""
    house.embedder = HashingEmbedder(Analyser(), 768)
    await house.restart()
    refs = [await house.upload(f"budget word{at}") for at in range(12)]
    await covered(house, 12)
    await house.library.snapshot()
    await house.stop()
    house.embedder, embedder = None, house.embedder
    with sqlite3.connect(house.path) as db:  # gone from the store alone, as a replayed record leaves it
        for table, column in (
            ("chunks", f"key >> {ORDINAL_BITS}"),
            ("vectors", f"key >> {ORDINAL_BITS}"),
            ("documents", "number"),
        ):
            db.execute(f"DELETE FROM {table} WHERE {column} = ?", (refs[0].number,))
    house.embedder = embedder
    await house.start()
    await covered(house, 11)
    await house.upload("one more")
    await covered(house, 12)
    await house.library.snapshot()
    space, read = space_of(house.embedder), house.snapshots.restorer.content
    held = {int(k) >> ORDINAL_BITS for f in house.snapshots.manifest.vectors for k in parse(space, await read(f)).keys}
    assert refs[1].number in held
    assert refs[0].number not in held


async def covered(house: House, count: int) -> None:
    async with asyncio.timeout(20):
        while len(house.library.vectors.index) != count or house.library.vectors.loading:  # noqa: ASYNC110 - nothing announces this
            await asyncio.sleep(0.02)
