"""What a generation costs, what it is bound to, and when an old one goes."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memoria_chassis.errors import ServiceError
from memoria_search.snapshot import publish
from memoria_search.snapshot.names import MANIFESTS, PIECES
from memoria_search.snapshot.restore import DamagedError

House = Any  # tests/services/search/conftest.py


async def damage(house: House, manifest: Any, directory: Path) -> str:
    """Why a manifest's files cannot be read."""
    with pytest.raises(DamagedError) as caught:
        await house.snapshots.restorer.lexical(manifest, directory)
    return caught.value.reason


@pytest.fixture
async def three(house: House, monkeypatch: pytest.MonkeyPatch) -> House:
    """A house with small pieces, so that files have several, and one generation."""
    monkeypatch.setattr(publish, "PIECE_BYTES", 64)
    monkeypatch.setattr("memoria_search.snapshot.restore.PIECE_BYTES", 64)
    for at in range(20):
        await house.upload(f"budget {at} " + " ".join(f"w{at}x{word}" for word in range(30)))
    await house.library.snapshot()
    return house


@pytest.mark.parametrize("binding", ["generation", "name", "position", "count"])
async def test_a_piece_is_bound_to_its_place(three: House, tmp_path: Path, binding: str) -> None:
    """Told to be of another generation, file, position or length, a piece does not open, whatever the manifest says.

    Broken to see it red: each part in turn left out of what a piece is sealed to.
    """
    manifest = three.snapshots.manifest
    at, file = next((at, file) for at, file in enumerate(manifest.lexical) if len(file.pieces) > 2)
    moved = {
        "generation": replace(file, generation=file.generation + 1),
        "name": replace(file, name=f"{file.name}x"),
        "position": replace(file, pieces=(file.pieces[1], file.pieces[0], *file.pieces[2:])),
        "count": replace(file, pieces=file.pieces[:-1]),
    }[binding]
    lied = replace(manifest, lexical=(*manifest.lexical[:at], moved, *manifest.lexical[at + 1 :]))
    assert await damage(three, lied, tmp_path) == "piece does not open"


async def test_a_piece_of_another_size_or_digest_is_refused(three: House, tmp_path: Path) -> None:
    """The manifest's size and digest of each piece are held to what comes."""
    manifest = three.snapshots.manifest
    file = manifest.lexical[0]
    for number, (changed, reason) in enumerate(
        [({"size": 1}, "piece of another size"), ({"digest": "0" * 64}, "piece differs from its digest")]
    ):
        piece = replace(file.pieces[0], **changed)
        lied = replace(manifest, lexical=(replace(file, pieces=(piece, *file.pieces[1:])),))
        (tmp_path / str(number)).mkdir()
        assert await damage(three, lied, tmp_path / str(number)) == reason


async def test_a_file_cannot_take_anothers_place_in_scratch(three: House, tmp_path: Path) -> None:
    """A name that comes twice is not written over."""
    manifest = three.snapshots.manifest
    with pytest.raises((ServiceError, FileExistsError)):
        await three.snapshots.restorer.lexical(replace(manifest, lexical=manifest.lexical[:1] * 2), tmp_path)


@pytest.mark.slow
async def test_only_what_is_new_is_uploaded(house: House) -> None:
    """A document more costs its own segment and the manifest; pieces of the segments before are used again.

    Broken to see it red: reusing no file.
    """
    for at in range(3):
        for number in range(100):
            await house.item(f"{at}/{number}", f"budget {' '.join(f'w{at * 40 + word}' for word in range(40))}")
    await house.library.snapshot()
    first = house.snapshots.manifest
    await house.item("one more", "budget")
    await house.library.snapshot()
    second = house.snapshots.manifest
    assert first.files
    assert set(first.lexical) & set(second.lexical), "no file was used again"
    new = [file for file in second.files if file not in first.files]
    assert all(file.generation == second.generation for file in new)
    assert second.generation == first.generation + 1


async def test_nothing_changed_is_no_generation(house: House) -> None:
    """A snapshot without a change writes nothing."""
    await house.upload("budget")
    assert await house.library.snapshot()
    generation = house.snapshots.manifest.generation
    assert not await house.library.snapshot()
    assert house.snapshots.manifest.generation == generation


async def test_a_superseded_generation_stays_as_long_as_a_backup_may_name_it(house: House) -> None:
    """ING-24, ING-25: kept through the retention, deleted after it with the pieces only it used; a deletion is complete
    only then.

    Broken to see it red: retiring at once; leaving the pieces; counting a deletion complete at its snapshot.
    """

    def names() -> tuple[int, set[str]]:
        root = house.folder / "bucket"
        return len(list((root / MANIFESTS).iterdir())), {str(p.relative_to(root)) for p in (root / PIECES).iterdir()}

    ref = await house.upload("budget doomed")
    await house.upload("budget kept")
    await house.library.snapshot()
    _, held = names()
    await house.library.delete(ref.document_id)
    await house.library.snapshot()
    assert held <= names()[1]
    assert house.library.keeper.deletions - house.snapshots.completed == 1
    house.clock.advance(29 * 86_400)
    await house.upload("another")
    await house.library.snapshot()
    assert names()[0] == 3
    house.clock.advance(2 * 86_400)
    await house.restart()
    manifests, pieces = names()
    assert manifests == 2, "the first went, the second was superseded two days ago"
    assert not held <= pieces
    await house.upload("yet another")
    await house.library.snapshot()
    assert house.library.keeper.deletions - house.snapshots.completed == 0


async def test_words_that_no_merge_drops_go_when_the_index_is_made_anew(house: House) -> None:
    """A deletion out of a segment that goes on being used: complete only once that segment was made anew, which is due
    when backups of its time are gone, and done while nobody asks.

    Broken to see it red: counting it complete while its words are in use; never renewing.
    """
    doomed = await house.upload("budget zzdoomed")
    await house.upload("budget kept")
    await house.stop()
    shutil.rmtree(house.folder / "bucket" / "snapshot")
    await house.start()  # a rebuild puts both into one segment
    await house.library.snapshot()
    await house.library.delete(doomed.document_id)
    await house.library.snapshot()
    assert (house.snapshots.manifest.deletions, house.snapshots.manifest.purged) == (1, 0)
    assert house.library.handle.index._view[0].doc_freq("body", "zzdoom") == 1
    assert not await house.library.renew(), "not due yet"
    house.clock.advance(31 * 86_400)
    assert await house.library.renew()
    assert house.library.rebuilt == "deleted words are due"
    assert house.library.handle.index._view[0].doc_freq("body", "zzdoom") == 0
    assert house.snapshots.completed == 0, "generations before may still be named"
    house.clock.advance(31 * 86_400)
    await house.upload("one after it")
    await house.library.snapshot()
    assert (house.snapshots.manifest.purged, house.snapshots.completed) == (1, 1)
    assert len(await house.ids("budget")) == 1


async def test_what_a_killed_upload_left_is_swept(house: House) -> None:
    """Pieces and a manifest that no head led to go at the next start; nothing that counts does."""
    await house.upload("budget")
    await house.library.snapshot()
    await house.bucket.put(f"{PIECES}0000000000000009-feed", b"orphan")
    await house.bucket.put(f"{MANIFESTS}0000000000000009", b"orphan")
    await house.restart()
    assert not [name for name in await house.bucket.names("snapshot/") if "0009" in name]
    assert house.library.rebuilt is None
    assert len(await house.ids("budget")) == 1


async def test_a_manifest_that_no_head_led_to_does_not_stop_the_next(house: House) -> None:
    """A number that is taken is passed over: generations only go up."""
    await house.upload("budget")
    await house.bucket.put(f"{MANIFESTS}{1:016d}", b"orphan")
    await house.library.snapshot()
    assert house.snapshots.manifest.generation == 2
    await house.restart()
    assert house.library.rebuilt is None
