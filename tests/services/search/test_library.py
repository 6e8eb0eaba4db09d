"""The write path: durable, found, replaced, gone, and the same after a restart."""

import asyncio
import sqlite3
from typing import Any

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import ItemId, Pair, Revision
from memoria_search.corpus.model import Chunk, Metadata, NewDocument, SiblingOrigin, SourceState, UploadOrigin
from memoria_search.notices import Notice, NoticeKind
from memoria_search.ruling import NO_ANSWER, OMIT, SPEAK, Ruling, SiblingClaim

House = Any  # tests/services/search/conftest.py


@pytest.mark.parametrize("held", ["nothing", "sibling"])
async def test_deleting_what_memoria_does_not_own_is_not_found(house: House, held: str) -> None:
    """An id that is not held, and one that a sibling owns: the same refusal, and nothing is deleted."""
    ref = await house.item("a")
    with pytest.raises(ServiceError) as refused:
        await house.library.delete(ref.document_id if held == "sibling" else "a" * 26)
    assert (refused.value.kind, refused.value.message) == (Kind.NOT_FOUND, "no such document")
    assert len(await house.ids("budget")) == 1


async def test_a_deleted_document_is_nowhere_after_a_restart_too(house: House) -> None:
    """Found, deleted, found no more: by search, by id, in the tables, in the index, after a restart (F10).

    Broken to see it red: chunks left in their table; the index not told; the catalogue not told.
    """
    ref = await house.upload("the word zqx81")
    assert await house.ids("zqx81") == [ref.document_id]
    assert await house.library.delete(ref.document_id) == 1
    for _ in range(2):
        assert await house.ids("zqx81") == []
        assert house.library.catalogue.document(ref.document_id) is None
        counts = await house.database.read(
            lambda db: db.execute("SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM chunks)").fetchone()
        )
        assert counts == (0, 0)
        assert house.library.handle.index.chunks == 0
        await house.restart()


async def test_a_deletion_holds_before_the_index_knows(house: House) -> None:
    """Between the durable deletion and the index's commit the hit of a row that is gone is dropped (IDX-03)."""
    ref = await house.upload("the word zqx81")
    assert await house.ids("zqx81") == [ref.document_id]
    change = await house.store.delete_owned(ref)
    house.library.catalogue.apply(change)
    assert house.library.handle.index.search(house.library.handle.analyser.query("zqx81"), 5)
    assert await house.ids("zqx81") == []


@pytest.mark.parametrize(
    ("ruling", "withheld"), [(SPEAK, NoticeKind.STALE), (OMIT, None), (NO_ANSWER, NoticeKind.NO_ANSWER)]
)
async def test_a_replacement_is_told_before_the_index_knows(
    house: House, ruling: Ruling, withheld: NoticeKind | None
) -> None:
    """Between the durable revision and the index's commit, only the old one is found: its owner is asked about the one
    held, and where the asker may see it, they are told that something is held back. It is not as if it never was.

    Broken to see it red: the hit dropped as if the document were deleted; its old revision asked about; STALE told
    whatever the ruling says.
    """
    await house.item("a", "the word zqx81", revision="1")
    origin = SiblingOrigin("docs", ItemId("a"), Revision("2"))
    _, change = await house.store.put(NewDocument(origin, Metadata(title="t"), (Chunk((), "the word zqx82"),)))
    house.library.catalogue.apply(change)
    house.arbiter.rulings["a"] = ruling
    found = await house.search("zqx81")
    assert found.rows == ()
    assert found.page.notices == ((Notice("docs", withheld, count=1),) if withheld else ())
    assert house.arbiter.asked[-1] == [SiblingClaim("docs", ItemId("a"), Revision("2"))]
    await house.library.retire("docs", [ItemId("a")])
    assert (await house.search("zqx81")).page.notices == ()


async def test_deleting_one_part_deletes_the_upload(house: House) -> None:
    """The parts of a long upload go together; another upload stays."""
    parts = [await house.upload("long file", part, 3) for part in range(3)]
    other = await house.upload("other file")
    assert await house.library.delete(parts[1].document_id) == 3
    assert await house.ids("file") == [other.document_id]


async def test_a_shorter_conversion_takes_the_old_tail_with_it(house: House) -> None:
    """The same body put again in fewer parts leaves no part of the longer one behind."""
    for part in range(3):
        await house.upload("long file", part, 3)
    first = await house.upload("long file", 0, 1)
    assert await house.ids("file") == [first.document_id]
    assert len(house.library.catalogue) == 1


async def test_the_same_body_is_the_same_document_with_a_new_revision(house: House) -> None:
    """Put again: one document, its id kept, its revision counted up (ING-13, ING-14), after a restart too."""
    first = await house.upload("budget")
    second = await house.upload("budget")
    await house.restart()
    third = await house.upload("budget")
    assert first.document_id == second.document_id == third.document_id
    assert [first.revision, second.revision, third.revision] == ["1", "2", "3"]
    assert await house.ids("budget") == [first.document_id]


async def test_any_other_revision_of_a_sibling_replaces(house: House) -> None:
    """ "9", then "10", then "5", then a hash: each replaces, none is compared (CON-04).

    Broken to see it red: keep the larger of two numbers.
    """
    for revision in ("9", "10", "5", "f3ab"):
        ref = await house.item("a", f"budget text{revision}", revision=revision)
        assert await house.ids("budget") == [ref.document_id]
        assert (await house.search("budget")).rows[0].passage.text == f"budget text{revision}"
        assert house.library.items("docs") == [Pair(ItemId("a"), Revision(revision))]


async def test_a_replacement_leaves_nothing_of_the_old_text(house: House) -> None:
    """Words of the earlier revision are not found; words of the new one are."""
    await house.item("a", "alpha\n\nbeta\n\ngamma")
    await house.item("a", "delta", revision="2")
    await house.restart()
    assert await house.ids("alpha beta gamma") == []
    assert len(await house.ids("delta")) == 1


async def test_a_failed_write_leaves_the_old_revision_whole(house: House) -> None:
    """A write that fails half-way changes nothing: replacement is one transaction."""
    await house.item("a", "alpha old")

    def no_room(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memoria_search.corpus.rows.insert", no_room)
        with pytest.raises(sqlite3.OperationalError):
            await house.item("a", "alpha new", revision="2")
    for _ in range(2):
        assert (await house.search("alpha")).rows[0].passage.text == "alpha old"
        await house.restart()


async def test_retired_items_are_gone_and_absent_ones_are_no_error(house: House) -> None:
    """Items of one sibling go; another sibling's item of the same id stays."""
    await house.item("a", app="docs")
    kept = await house.item("a", app="sheets")
    assert len(await house.ids("budget")) == 2
    assert await house.library.retire("docs", [ItemId("a"), ItemId("never")]) == 1
    assert await house.library.retire("docs", [ItemId("a")]) == 0
    assert await house.ids("budget") == [kept.document_id]
    assert house.library.items("docs") == []


async def test_a_title_alone_is_found(house: House) -> None:
    """A document without chunks is stored with one that is empty, and found by its title, also after a restart."""
    origin = UploadOrigin(b"x" * 32, 0, 1)
    ref, replaced = await house.library.put(NewDocument(origin, Metadata(title="Kickoff photographs"), ()))
    assert not replaced
    for _ in range(2):
        [row] = (await house.search("kickoff")).rows
        assert (row.passage.document_id, row.snippet) == (ref.document_id, ())
        await house.restart()


async def test_everything_acknowledged_is_found_after_a_restart(house: House) -> None:
    """A hundred writers at once: each finds its own on return, all are there after a rebuild, and sources too."""

    async def write(at: int) -> None:
        ref = await house.item(f"i{at}", f"word{at}")
        assert await house.ids(f"word{at}") == [ref.document_id]

    await asyncio.gather(*(write(at) for at in range(100)))
    await house.source("docs", SourceState.AS_OF)
    await house.restart()
    for at in range(100):
        assert len(await house.ids(f"word{at}")) == 1
    assert house.library.handle.index.chunks == 100
    assert [source.state for source in house.sources.all()] == [SourceState.AS_OF]


async def test_a_writer_that_goes_away_does_not_part_store_and_catalogue(house: House) -> None:
    """The caller is cancelled in the middle: what is durable is found.

    Broken to see it red: awaiting the work without a shield.
    """
    for at in range(20):
        task = asyncio.create_task(house.item(f"i{at}", f"budget {at}"))
        await asyncio.sleep(0.001 * (at % 5))
        task.cancel()
    await asyncio.gather(*house.library._under_way)
    stored = await house.database.read(lambda db: db.execute("SELECT count(*) FROM documents").fetchone()[0])
    assert len(house.library.catalogue) == stored
    assert len(await house.ids("budget")) == stored


async def test_an_index_that_cannot_be_written_is_said_and_not_served_on(house: House) -> None:
    """The store has what the index has not: the writer is told, the process is asked to stop, readiness is off."""
    assert house.library.ready

    def no_room() -> None:
        raise ValueError("no space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(house.library.handle.index, "commit", no_room)
        with pytest.raises(ServiceError) as refused:
            await house.item("a")
    assert refused.value.kind is Kind.UNAVAILABLE
    assert house.unfit == 1
    assert not house.library.ready
    with pytest.raises(ServiceError):
        await house.item("b")
    await house.restart()
    assert len(await house.ids("budget")) == 2
