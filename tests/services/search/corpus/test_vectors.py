"""Vectors at rest: sealed, bound to their chunk and space, never of a chunk that is gone."""

import struct
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memoria_chassis.clock import FakeClock
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import ServiceKey
from memoria_chassis.sqlite import Database
from memoria_contract.types import ItemId, Revision
from memoria_search.corpus import vector_rows
from memoria_search.corpus.model import Chunk, DocumentRef, Metadata, NewDocument, SiblingOrigin
from memoria_search.corpus.schema import MIGRATIONS
from memoria_search.corpus.store import Store
from memoria_search.corpus.vault import Vault
from memoria_search.corpus.vector_rows import Place
from memoria_search.corpus.vectors import Loaded, VectorStore
from memoria_search.index.vectors.quantise import Quantised, quantise
from memoria_search.index.vectors.space import Space

WIDTH = 256
SPACE = Space("a model with a name", "digest", WIDTH)


class Shelf:
    """A store, its vectors, and the file they are in."""

    def __init__(self, folder: Path, key: bytes = b"k") -> None:
        self.folder = folder
        self.database = Database.open(folder / "search.db", MIGRATIONS)
        self.vault = Vault(ServiceKey(key * 32))
        self.store = Store(self.database, self.vault, FakeClock())

    async def vectors(self, space: Space = SPACE) -> VectorStore:
        """The store of a space."""
        return await VectorStore.open(self.database, self.vault, space)

    async def put(self, item: str, *texts: str, title: str = "A title") -> DocumentRef:
        """Store a document of these chunks; vectors of unchanged chunks come along."""
        ref, _ = await self.store.put(document(item, *texts, title=title))
        return ref

    async def execute(self, statement: str, *values: object) -> list[tuple]:
        """Change the file behind the store's back."""
        return await self.database.write(lambda db: db.execute(statement, values).fetchall())


def document(item: str, *texts: str, title: str = "A title") -> NewDocument:
    """A document of these chunks."""
    origin = SiblingOrigin("docs", ItemId(item), Revision("1"))
    return NewDocument(origin, Metadata(title=title, trail=("Folder",)), tuple(Chunk(("Heading",), t) for t in texts))


def place(ref: DocumentRef, ordinal: int = 0) -> Place:
    """A chunk's place."""
    return Place(ref.number << 24 | ordinal, ref.document_id, ref.app)


def some(count: int, seed: int = 0, width: int = WIDTH) -> Quantised:
    """Random unit vectors."""
    return quantise(np.random.default_rng(seed).normal(size=(count, width)), count, width, width)


def rows_of(vectors: Quantised) -> list[bytes]:
    """Their bytes."""
    return [row.tobytes() for row in vectors.rows]


async def loaded(vectors: VectorStore) -> Loaded:
    """All of them."""
    return await vectors.load_keys((await vectors.keys()).tolist())


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Shelf]:
    """An open store."""
    made = Shelf(tmp_path)
    yield made
    made.database.close()


async def test_a_vector_that_is_not_of_unit_length_is_not_written(shelf: Shelf) -> None:
    """Refused with its whole batch, and nothing stored (IDX-05, G28). Broken to see it red: the check of `insert`."""
    ref, vectors, made = await shelf.put("i", "a", "b"), await shelf.vectors(), some(2)
    bad = Quantised(made.rows, made.scales * np.array([1, 1.02], np.float32))
    for places, rows in (
        ([place(ref, 0), place(ref, 1)], bad),
        ([place(ref, 0)], made),
        ([place(ref, 0), place(ref, 1)], some(2, width=WIDTH - 1)),
    ):
        with pytest.raises(ServiceError) as refused:
            await vectors.insert(places, rows)
        assert refused.value.kind is Kind.INVALID
    assert (await vectors.keys()).tolist() == []


async def test_a_vector_of_a_chunk_that_is_gone_is_not_written(shelf: Shelf) -> None:
    """Deleted, replaced, never there, or another document's number: passed over; the others are stored (ING-23).

    Broken to see it red: the look for the chunk taken out.
    """
    vectors = await shelf.vectors()
    gone, kept = await shelf.put("gone", "a"), await shelf.put("kept", "b")
    old, _ = await shelf.put("new", "c"), await shelf.put("new", "d")
    await shelf.store.retire("docs", [ItemId("gone")])
    places = [place(gone), place(kept), place(old), place(kept, 7), replace(place(kept), document_id=gone.document_id)]
    assert await vectors.insert(places, some(5)) == [1]
    assert (await vectors.keys()).tolist() == [place(kept).key]


async def test_a_deleted_document_takes_its_vectors_along(shelf: Shelf) -> None:
    """Stored first, then gone from every space with the document (ING-23)."""
    ref = await shelf.put("i", "a")
    for space in (SPACE, Space("another", "d", WIDTH)):
        await (await shelf.vectors(space)).insert([place(ref)], some(1))
    assert await shelf.execute("SELECT count(*) FROM vectors") == [(2,)]
    await shelf.store.retire("docs", [ItemId("i")])
    assert await shelf.execute("SELECT count(*) FROM vectors") == [(0,)]


async def test_no_vector_and_no_model_is_readable_at_rest(shelf: Shelf) -> None:
    """200 vectors come back as they were; their file holds no leading bytes of one in any type, nor the model (G02).

    Broken to see it red: a row written as it is, and the description written unsealed.
    """
    ref, vectors, made = await shelf.put("i", *map(str, range(200))), await shelf.vectors(), some(200)
    await vectors.insert([place(ref, at) for at in range(200)], made)
    read = (await loaded(vectors)).made
    assert rows_of(read) == rows_of(made)
    assert read.scales.tolist() == made.scales.tolist()
    held = b"".join(path.read_bytes() for path in shelf.folder.iterdir())
    assert b"docs" in held  # presence: the file is the file
    for row, scale in zip(made.rows, made.scales, strict=True):
        assert row[:8].tobytes() not in held
        for form in ("<4f", ">4f", "<4d", ">4d"):
            assert struct.pack(form, *(row[:4] * scale)) not in held
    assert SPACE.model.encode() not in held


SWAPS = {
    "another chunk's": "UPDATE vectors SET sealed = (SELECT sealed FROM vectors ORDER BY key DESC LIMIT 1)",
    "another space's": "UPDATE vectors SET sealed = (SELECT sealed FROM vectors v WHERE v.space = 2 LIMIT 1)",
    "the chunk's text": "UPDATE vectors SET sealed = (SELECT text FROM chunks LIMIT 1)",
    "truncated": "UPDATE vectors SET sealed = substr(sealed, 1, 40)",
    "empty": "UPDATE vectors SET sealed = x''",
}


@pytest.mark.parametrize("swap", SWAPS.values(), ids=SWAPS)
async def test_a_vector_in_the_wrong_place_does_not_open_and_is_made_anew(shelf: Shelf, swap: str) -> None:
    """What does not open is no vector: it is not loaded, and is missing from then on, so that it is embedded again.

    Broken to see it red: chunk, and space, left out of the seal's context.
    """
    vectors, other = await shelf.vectors(), await shelf.vectors(Space("another", "d", WIDTH))
    ref = await shelf.put("i", "a", "b")
    for store in (vectors, other):
        await store.insert([place(ref, 0), place(ref, 1)], some(2))
    assert len((await loaded(vectors)).places) == 2
    await shelf.execute(f"{swap} WHERE key = {place(ref).key} AND space = 1")
    assert await vectors.missing(10) == []
    assert [found.key for found in (await loaded(vectors)).places] == [place(ref, 1).key]
    assert [pending.place.key for pending in await vectors.missing(10)] == [place(ref, 0).key]


async def test_vectors_sealed_under_another_key_are_refused(shelf: Shelf, tmp_path: Path) -> None:
    """Not taken for damage, which would delete them. Broken to see it red: the look at the reason taken out."""
    ref, vectors = await shelf.put("i", "a"), await shelf.vectors()
    await vectors.insert([place(ref)], some(1))
    stranger = Shelf(tmp_path, b"x")
    with pytest.raises(ServiceError) as refused:
        await stranger.vectors()
    assert refused.value.kind is Kind.PRECONDITION
    stranger.database.close()
    assert len((await loaded(vectors)).places) == 1


async def test_spaces_are_told_apart(shelf: Shelf) -> None:
    """A model, a digest or a width of its own is a space of its own, found again at the next start (AMD-11)."""
    ref, first = await shelf.put("i", "a"), await shelf.vectors()
    await first.insert([place(ref)], some(1))
    for other in (Space("b", "digest", WIDTH), replace(SPACE, digest="e"), replace(SPACE, width=WIDTH - 1)):
        assert (await (await shelf.vectors(other)).keys()).tolist() == []
    assert (await (await shelf.vectors()).keys()).tolist() == [place(ref).key]


async def test_a_space_whose_description_is_damaged_is_entered_anew(shelf: Shelf) -> None:
    """Its vectors cannot be told apart from another model's any more; they are made again, under a new number."""
    ref, first = await shelf.put("i", "a"), await shelf.vectors()
    await first.insert([place(ref)], some(1))
    await shelf.execute("UPDATE spaces SET description = CAST(substr(description, 1, 20) AS BLOB)")
    assert len(await (await shelf.vectors()).missing(9)) == 1
    assert await shelf.execute("SELECT id FROM spaces") == [(1,), (2,)]


async def test_what_is_missing_is_walked_upwards_in_parts(shelf: Shelf) -> None:
    """Each chunk without a vector once, with title, trail and text; those that have one are passed over (IDX-08)."""
    vectors = await shelf.vectors()
    one, two = await shelf.put("one", "a", "b", "c"), await shelf.put("two", "d", title="Other")
    await vectors.insert([place(one, 1)], some(1))
    first = await vectors.missing(2)
    assert [(p.place, p.text) for p in first] == [
        (place(one, 0), "A title\nFolder\nHeading\na"),
        (place(one, 2), "A title\nFolder\nHeading\nc"),
    ]
    assert [(p.place, p.text) for p in await vectors.missing(2, first[-1].place.key)] == [
        (place(two), "Other\nFolder\nHeading\nd")
    ]
    assert await vectors.missing(2, place(two).key) == []


async def test_a_chunk_that_does_not_open_is_missing_without_a_text(shelf: Shelf) -> None:
    """So that the walk goes past it. One whose document's title does not open, too."""
    one, two = await shelf.put("one", "a", "b"), await shelf.put("two", "c")
    await shelf.execute("UPDATE chunks SET text = x'00' WHERE key = ?", place(one).key)
    await shelf.execute("UPDATE documents SET title = x'00' WHERE number = ?", two.number)
    pending = await (await shelf.vectors()).missing(10)
    assert [p.text for p in pending] == [None, "A title\nFolder\nHeading\nb", None]


async def test_what_is_loaded_is_what_opens_of_what_was_asked_for(shelf: Shelf) -> None:
    """By document and by key, in the order of keys, damaged rows left out."""
    vectors, ref = await shelf.vectors(), await shelf.put("i", *"abcdefg")
    await vectors.insert([place(ref, at) for at in range(7)], some(7))
    await shelf.execute("UPDATE vectors SET sealed = x'00' WHERE key IN (?, ?)", place(ref, 3).key, place(ref, 6).key)
    asked = [place(ref, at).key for at in (5, 1, 3)]
    assert [p.key & 0xFF for p in (await vectors.load_keys(asked)).places] == [1, 5]
    assert [p.key & 0xFF for p in (await vectors.load_document(ref.number)).places] == [0, 1, 2, 4, 5]
    assert (await vectors.load_document(99)).places == []


async def carried(shelf: Shelf, old: DocumentRef, new: NewDocument) -> tuple[int, DocumentRef]:
    """What the transaction of a put does: carry, then remove."""
    ref = replace(old, number=old.number + 1)

    def change(db) -> int:  # type: ignore[no-untyped-def]  # sqlite3.Connection
        return vector_rows.carry(db, shelf.vault, ref, new)

    return await shelf.database.write(change), ref


async def test_unchanged_chunks_take_their_vectors_along(shelf: Shelf) -> None:
    """Moved, between new ones, in two spaces: the same vectors, sealed to the new rows; others have none (IDX-08).

    Broken to see it red: pairs by ordinal in place of by text; the old row's seal copied; the store not carrying.
    """
    old, made = await shelf.put("i", "a", "b", "c", "b"), some(4)
    other = Space("another", "d", 3)
    vectors, others = await shelf.vectors(), await shelf.vectors(other)
    await vectors.insert([place(old, at) for at in range(4)], made)
    await others.insert([place(old, 0)], some(1, 9, 3))
    new = await shelf.put("i", "new", "b", "a", "b", "changed", "b")
    loaded = await vectors.load_document(new.number)
    assert [found.key & 0xFF for found in loaded.places] == [1, 2, 3]
    assert rows_of(loaded.made) == [rows_of(made)[1], rows_of(made)[0], rows_of(made)[3]]
    assert [found.key & 0xFF for found in (await others.load_document(new.number)).places] == [2]
    assert [p.place.key & 0xFF for p in await vectors.missing(9)] == [0, 4, 5]


@pytest.mark.parametrize("title", ["A title", "Another title"])
async def test_a_new_title_is_a_change_of_every_chunk(shelf: Shelf, title: str) -> None:
    """The title is embedded with the text, so another one carries nothing. Broken: text alone compared."""
    old, vectors = await shelf.put("i", "a"), await shelf.vectors()
    await vectors.insert([place(old)], some(1))
    count, _ = await carried(shelf, old, document("i", "a", title=title))
    assert count == (title == "A title")


@pytest.mark.parametrize("column", ["vectors SET sealed", "chunks SET text", "documents SET title"])
async def test_what_does_not_open_is_not_carried(shelf: Shelf, column: str) -> None:
    """A damaged row costs its own vector, not the new revision."""
    old, vectors = await shelf.put("i", "a", "b"), await shelf.vectors()
    await vectors.insert([place(old, 0), place(old, 1)], some(2))
    first = "" if column.startswith("documents") else f" WHERE key = {place(old).key}"
    await shelf.execute(f"UPDATE {column} = x'00'{first}")
    count, _ = await carried(shelf, old, document("i", "a", "b"))
    assert count == (0 if column.startswith("documents") else 1)


async def test_a_document_that_is_new_or_without_vectors_carries_nothing(shelf: Shelf) -> None:
    """No space, no vectors, no document: zero, at the price of a look."""
    ref = await shelf.put("i", "a")
    assert (await carried(shelf, ref, document("i", "a")))[0] == 0
    await shelf.vectors()
    assert (await carried(shelf, ref, document("i", "a")))[0] == 0
    assert (await carried(shelf, replace(ref, document_id="none"), document("i", "a")))[0] == 0
