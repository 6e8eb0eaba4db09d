"""Litestream's replica of the sealed database, made and restored by the real binary (ING-27)."""

import asyncio
import shutil
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

House = Any  # tests/services/search/conftest.py

BINARY = Path(sys.executable).parent / "litestream"
CANARY = "xylocarpqzz"


@asynccontextmanager
async def replicated(house: House) -> AsyncIterator[None]:
    """Litestream at work beside the service, as a pod has it; ended cleanly, so that all it saw is in the replica."""
    process = await asyncio.create_subprocess_exec(
        BINARY,
        "replicate",
        house.path,
        f"file://{house.folder}/replica",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield
        await asyncio.sleep(1.5)  # it looks at the log once a second
    finally:
        process.terminate()
        assert await process.wait() == 0


async def restored(house: House) -> None:
    """Put what the replica holds in place of the database. The house must be stopped."""
    for path in house.path.parent.glob(f"{house.path.name}*"):
        path.unlink()
    shutil.rmtree(house.path.parent / f".{house.path.name}-litestream", ignore_errors=True)
    process = await asyncio.create_subprocess_exec(
        BINARY,
        "restore",
        "-o",
        house.path,
        f"file://{house.folder}/replica",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert await process.wait() == 0


@pytest.mark.slow
async def test_a_restored_replica_serves_and_forgets_what_was_deleted_since(house: House) -> None:
    """The volume is lost; the replica is older than a deletion and a document. What it holds is found, what was deleted
    since is not, and the lineage is new, so that the apps are read anew. Nothing readable is in the replica.

    Broken to see it red: the replay of the log left out.
    """
    async with replicated(house):
        kept, doomed = await house.upload(f"budget {CANARY} kept"), await house.upload(f"budget {CANARY} doomed")
        await house.library.snapshot()
    lineage = house.library.keeper.standing.lineage
    replica = [path for path in (house.folder / "replica").rglob("*") if path.is_file()]
    assert replica
    assert not [path for path in replica if CANARY.encode() in path.read_bytes()]
    await house.library.delete(doomed.document_id)
    late = await house.upload("budget after the replica")
    await house.library.snapshot()
    assert sorted(await house.ids("budget")) == sorted([kept.document_id, late.document_id])
    await house.stop()
    await restored(house)
    with sqlite3.connect(house.path) as restored_db:
        assert restored_db.execute("SELECT count(*) FROM documents").fetchone() == (2,), "the replica holds both"
    await house.start()
    assert await house.ids("budget") == [kept.document_id]
    assert await house.ids("doomed") == []
    assert house.library.keeper.standing.lineage != lineage
    assert house.library.keeper.restored
