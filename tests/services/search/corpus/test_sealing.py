"""The corpus at rest: nothing readable, and nothing that opens anywhere but where it was put."""

import base64
import shutil
from datetime import UTC, datetime
from typing import Any

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import ServiceKey
from memoria_contract.types import Author, ItemId, Revision
from memoria_search.corpus.model import Chunk, Metadata, NewDocument, SiblingOrigin, UploadOrigin
from memoria_search.corpus.vault import Vault

House = Any  # tests/services/search/conftest.py

CANARIES = {
    "text": "canarytext7731",
    "heading": "canaryheading7732",
    "title": "canarytitle7733",
    "folder": "canaryfolder7734",
    "item": "canaryitem7735",
    "link": "https://canary.example/7736",
    "date": "1999-07-03",
    "author": "machine",
}


def document(**over: str) -> NewDocument:
    """A document whose every content field holds its canary."""
    said = CANARIES | over
    about = Metadata(said["title"], (said["folder"],), Author.MACHINE, datetime(1999, 7, 3, tzinfo=UTC), said["link"])
    return NewDocument(
        SiblingOrigin("docs", ItemId(said["item"]), Revision("rev-plain")),
        about,
        (Chunk((said["heading"],), said["text"]),),
    )


@pytest.mark.parametrize("canary", CANARIES.values(), ids=CANARIES)
async def test_no_content_is_readable_at_rest(house: House, canary: str) -> None:
    """Every content field is in database and bucket and in no file of them, as text, base64 or UTF-16 (G01, RUL-05,
    TRU-02).

    Broken to see it red, one after the other: title, trail, link, author, date, item id, chunk text written unsealed;
    the pieces of a snapshot, its manifest, a deletion record uploaded unsealed.
    """
    await house.library.put(document())
    doomed, _ = await house.library.put(document(item="gone"))
    await house.library.snapshot()
    await house.library.retire(doomed.app, [doomed.item_id])
    await house.upload("something else")
    await house.library.snapshot()
    [row] = (await house.search(CANARIES["text"])).rows
    assert row.passage.text == CANARIES["text"]
    assert row.passage.title == CANARIES["title"]
    assert row.passage.trail == (CANARIES["folder"], CANARIES["heading"])
    at_rest = [path for part in ("data", "bucket") for path in (house.folder / part).rglob("*") if path.is_file()]
    for kind in ("head", "manifests", "pieces", "tombstones"):
        found = [path for path in at_rest if kind in path.parts or path.name == kind]
        assert found, kind
        if kind == "tombstones":  # an id is keyed and says nothing, and yet which one was deleted is nobody's business
            assert doomed.document_id.encode() not in found[0].read_bytes()
    held = b"".join(path.read_bytes() for path in at_rest)
    # The engine packs words so that a grep may miss them, but each of its files says what it is.
    engine = b"".join(path.read_bytes() for path in (house.folder / house.scratch).rglob("*") if path.is_file())
    for mark in (b"index_format_version", b"segment_id", b"max_doc"):
        assert mark in engine
        assert mark not in held
    assert b"rev-plain" in held  # presence: these are the files, and what is not sealed is readable in them
    assert len([path for path in (house.folder / "data").iterdir() if path.suffix == ".db-wal"]) == 1
    for form in (canary.encode(), canary.encode("utf-16-le"), base64.b64encode(canary.encode()).rstrip(b"=")[:-1]):
        assert form not in held


SWAPS = {
    "title of another document": "UPDATE documents SET title = (SELECT title FROM documents d WHERE d.number = 2)",
    "trail into title": "UPDATE documents SET title = trail",
    "link into title": "UPDATE documents SET title = link",
    "text of another chunk": "UPDATE chunks SET text = (SELECT text FROM chunks ORDER BY key DESC LIMIT 1)",
    "trail into text": "UPDATE chunks SET text = trail",
    "truncated text": "UPDATE chunks SET text = substr(text, 1, 20)",
    "empty text": "UPDATE chunks SET text = x''",
    "another version": "UPDATE chunks SET text = CAST(x'ff' || substr(text, 2) AS BLOB)",
}


@pytest.mark.parametrize("swap", SWAPS.values(), ids=SWAPS)
async def test_a_value_in_the_wrong_place_does_not_open(house: House, swap: str) -> None:
    """Moved to another column or row, cut, or of an unknown version: unavailable, and nothing of it is shown."""
    first, _ = await house.library.put(document())
    await house.library.put(document(item="other", text="othertext"))
    house.arbiter.rulings.clear()
    [row] = (await house.search(CANARIES["text"])).rows
    assert row.passage.state.value == "spoken"
    await house.database.write(
        lambda db: db.execute(f"{swap} WHERE rowid = (SELECT min(rowid) FROM {swap.split()[1]})")
    )
    [row] = (await house.search(CANARIES["text"])).rows
    assert row.passage.state.value == "unavailable"
    assert (row.passage.text, row.snippet) == ("", ())
    with pytest.raises(ServiceError) as refused:
        await house.document(first.document_id)
    assert refused.value.kind is Kind.UNAVAILABLE


async def test_chunks_of_one_document_do_not_open_in_each_others_place(house: House) -> None:
    """Two texts of one document exchanged: neither is shown under the other's heading.

    Broken to see it red: a chunk's row named by its document alone.
    """
    await house.item("a", "alpha one\n\nalpha two")
    assert [row.passage.state.value for row in (await house.search("alpha")).rows] == ["spoken"] * 2
    texts = await house.database.read(lambda db: db.execute("SELECT text, key FROM chunks ORDER BY key").fetchall())
    swapped = [(texts[1][0], texts[0][1]), (texts[0][0], texts[1][1])]
    await house.database.write(lambda db: db.executemany("UPDATE chunks SET text = ? WHERE key = ?", swapped))
    rows = (await house.search("alpha")).rows
    assert [(row.passage.state.value, row.passage.text) for row in rows] == [("unavailable", "")] * 2


async def test_an_older_revision_put_back_does_not_open(house: House) -> None:
    """A sealed title of revision 1 copied over that of revision 2 of the same document does not open."""
    await house.library.put(document())
    [old] = await house.database.read(lambda db: db.execute("SELECT title FROM documents").fetchone())
    await house.library.put(document(title="newer title"))
    await house.database.write(lambda db: db.execute("UPDATE documents SET title = ?", (old,)))
    [row] = (await house.search(CANARIES["text"])).rows
    assert (row.passage.state.value, row.passage.title) == ("unavailable", "")


async def test_a_damaged_row_does_not_keep_the_rest_from_being_found(house: House) -> None:
    """One chunk and one document do not open at a rebuild: the others are found, and the damage is counted."""
    await house.item("a", "alpha\n\nbeta")
    await house.item("b", "gamma")
    await house.item("c", "delta")
    await house.database.write(
        lambda db: db.execute("UPDATE chunks SET text = zeroblob(40) WHERE key = (SELECT min(key) FROM chunks)")
    )
    await house.database.write(lambda db: db.execute("UPDATE documents SET item_id = zeroblob(40) WHERE number = 2"))
    await house.stop()
    shutil.rmtree(house.folder / "bucket")
    await house.start()
    assert house.library.damaged == 2
    assert [len(await house.ids(word)) for word in ("alpha", "beta", "gamma", "delta")] == [0, 1, 0, 1]


async def test_a_damaged_chunk_that_a_snapshot_finds_is_said_to_be_unavailable(house: House) -> None:
    """A wake from a snapshot opens no chunk, so the damage shows where its page is asked for (ING-05)."""
    await house.item("a", "alpha")
    await house.database.write(lambda db: db.execute("UPDATE chunks SET text = zeroblob(40)"))
    await house.restart()
    assert house.library.rebuilt is None
    [row] = (await house.search("alpha")).rows
    assert (row.passage.state.value, row.snippet) == ("unavailable", ())


async def test_another_key_refuses_to_start(house: House) -> None:
    """A corpus under another key is not served as an empty one."""
    await house.item("a")
    await house.stop()
    house.key = ServiceKey(b"z" * 32)
    with pytest.raises(ServiceError) as refused:
        await house.start()
    assert (refused.value.kind, refused.value.message) == (Kind.PRECONDITION, "the bucket was sealed under another key")
    await house.library.close()
    house.key = ServiceKey(b"k" * 32)
    await house.start()
    assert len(await house.ids("budget")) == 1


def test_an_id_is_stable_keyed_and_says_nothing() -> None:
    """The same item has the same id; another item, app or key has another; parts of names do not run together."""
    vault, other = Vault(ServiceKey(b"k" * 32)), Vault(ServiceKey(b"z" * 32))

    def of(vault: Vault, app: str, item: str, revision: str = "1") -> str:
        return vault.document_id(SiblingOrigin(app, ItemId(item), Revision(revision)))

    assert of(vault, "docs", "a") == of(vault, "docs", "a", "2")
    ids = {of(vault, "docs", "a"), of(vault, "docs", "b"), of(vault, "doc", "sa"), of(other, "docs", "a")}
    assert len(ids) == 4
    assert all(len(each) == 26 and each.isalnum() and each == each.lower() for each in ids)


async def test_surrogates_and_nuls_come_back_as_they_went_in(house: House) -> None:
    """What no encoding likes is stored, found and shown unchanged (F19)."""
    await house.library.put(document(text="abc\x00def \ud800 ghi"))
    [row] = (await house.search("def")).rows
    assert row.passage.text == "abc\x00def \ud800 ghi"
    assert [part.text for part in row.snippet if part.marked] == ["def"]


async def test_what_names_an_upload_is_in_no_file(house: House) -> None:
    """What ingest calls an upload by is known to ingest: here it is keyed once more, and stands in no file (TRU-01).

    Broken to see red: the external id stored as it came.
    """
    name = b"canary-external-id-of-32-bytes!!"
    for part in (0, 1):
        about = Metadata("A file", ())
        await house.library.put(NewDocument(UploadOrigin(name, part, 2), about, (Chunk((), f"canarytext{part}"),)))
    assert len(await house.ids("canarytext0")) == 1
    at_rest = [path for path in house.folder.rglob("*") if path.is_file()]
    held = b"".join(path.read_bytes() for path in at_rest)
    assert Vault(house.key).upload(name) in held  # presence
    assert name not in held
