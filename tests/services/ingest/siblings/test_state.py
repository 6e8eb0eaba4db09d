"""What ingest remembers of a source is durable, and readable to nobody who has the file."""

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memoria_chassis.aead import SealError
from memoria_chassis.keys import ServiceKey
from memoria_chassis.sqlite import Database
from memoria_contract.types import ItemId, Pair, Revision
from memoria_ingest.siblings.state import MIGRATIONS, Source, SourceState, SourceStore

MOMENT = datetime(2026, 5, 1, 12, tzinfo=UTC)


def every_byte(folder: Path) -> bytes:
    """All files of a folder."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_cursors_and_item_ids_are_sealed_and_survive(tmp_path: Path) -> None:
    """TRU-02, G01's share: present after a restart, absent from every byte of the folder, WAL included.

    Broken on 2026-11-30 to see red: the cursor stored as it came.
    """
    key = ServiceKey(b"k" * 32)
    database = Database.open(tmp_path / "i.db", MIGRATIONS)
    store = SourceStore(database, key)
    source = Source("docs", "canary-cursor", SourceState.RECONCILING, MOMENT, MOMENT, "unavailable")
    await store.put(source)
    await store.owe("docs", [Pair(ItemId("canary-item"), Revision("canary-revision"))] * 2)
    files = every_byte(tmp_path)
    assert b"docs" in files
    assert b"canary" not in files
    database.close()
    database = Database.open(tmp_path / "i.db", MIGRATIONS)
    store = SourceStore(database, key)
    assert await store.get("docs") == source
    assert await store.owed("docs") == [Pair(ItemId("canary-item"), Revision("canary-revision"))]
    assert await store.owed("sheets") == []
    await store.settle("docs", ["canary-item", "another"])
    assert await store.owed("docs") == []
    assert await store.get("sheets") == Source("sheets")
    database.close()


async def test_what_comes_to_be_owed_while_it_is_asked_for_is_not_forgotten(tmp_path: Path) -> None:
    """The page of sources asks while a pull owes: the answer "nothing" of before must not stand for afterwards.

    Broken on 2026-11-30 to see red: an empty answer remembered whatever was owed meanwhile.
    """
    database = Database.open(tmp_path / "i.db", MIGRATIONS)
    store = SourceStore(database, ServiceKey(b"k" * 32))
    real = database.read

    async def slow(query: Callable[[sqlite3.Connection], Any]) -> Any:
        found = await real(query)
        await store.owe("docs", [Pair(ItemId("item"), Revision("1"))])
        return found

    database.read = slow  # type: ignore[method-assign] # the one way to be in the middle of it
    assert await store.owed("docs") == []
    database.read = real  # type: ignore[method-assign] # as it was
    assert len(await store.owed("docs")) == 1
    database.close()


async def test_another_key_and_another_row_do_not_open(tmp_path: Path) -> None:
    """A cursor moved to another source, or read under another service's key, is an error and not a cursor."""
    database = Database.open(tmp_path / "i.db", MIGRATIONS)
    store = SourceStore(database, ServiceKey(b"k" * 32))
    await store.put(Source("docs", "one"))
    await store.put(Source("sheets", "two"))
    with pytest.raises(SealError):
        await SourceStore(database, ServiceKey(b"x" * 32)).get("docs")
    await database.write(
        lambda c: c.execute("UPDATE sources SET cursor = (SELECT cursor FROM sources WHERE app = 'docs')")
    )
    store = SourceStore(database, ServiceKey(b"k" * 32))
    assert (await store.get("docs")).cursor == "one"
    with pytest.raises(SealError):
        await store.get("sheets")
    database.close()


def test_what_a_source_shows_of_itself_holds_no_cursor() -> None:
    """A repr may reach a log (TRU-06)."""
    assert "canary" not in repr(Source("docs", "canary"))
