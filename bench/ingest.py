"""Chunks a second: into the lexical index with analysis, and into the sealed store, beside FTS5 and plain SQLite."""

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.corpus import CHUNKS_PER_DOCUMENT, corpus
from bench.measure import Quantity, Row
from bench.plan import Plan, add, resident_bytes
from memoria_chassis.clock import FakeClock
from memoria_chassis.keys import ServiceKey
from memoria_chassis.sqlite import Database
from memoria_contract.types import ItemId, Revision
from memoria_search.corpus.model import Chunk, Metadata, NewDocument, SiblingOrigin
from memoria_search.corpus.schema import MIGRATIONS
from memoria_search.corpus.store import Store
from memoria_search.corpus.vault import Vault
from memoria_search.index.analysis import Analyser
from memoria_search.index.lexical import LexicalIndex

_INGESTED = 30_000
_DOCUMENTS = 1_000


def run(plan: Plan) -> Iterator[Row]:
    """(quantity, peer) rows, one process each."""
    texts = corpus(min(_INGESTED, *plan.sizes)).texts
    before, index = resident_bytes(), LexicalIndex(plan.folder(), Analyser())
    began = time.perf_counter()
    add(index, texts)
    mine = Quantity("lexical ingest with analysis", len(texts) / (time.perf_counter() - began), "chunk/s")
    fts5 = plan.fts5(len(texts))
    peer = Quantity("FTS5 ingest", len(texts) / fts5.seconds, "chunk/s")
    yield peer, None
    yield mine, peer
    told = "the analyser's words and the writer's arena; hardly more for more chunks"
    yield Quantity("process memory of the writer", max(0, resident_bytes() - before) / 2**20, "MiB", told), None
    index.close()
    texts = texts[: _DOCUMENTS * CHUNKS_PER_DOCUMENT]
    with tempfile.TemporaryDirectory(prefix="memoria-bench-") as folder:  # on disk: what is durable waits for it
        plain = Quantity("plain SQLite, 12 chunks a transaction", _plain(Path(folder), texts), "chunk/s")
        yield plain, None
        yield Quantity("sealed store, 12 chunks a document", asyncio.run(_store(Path(folder), texts)), "chunk/s"), plain


def _documents(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    for at in range(0, len(texts), CHUNKS_PER_DOCUMENT):
        yield texts[at : at + CHUNKS_PER_DOCUMENT]


async def _store(folder: Path, texts: Sequence[str]) -> float:
    database = Database.open(folder / "store.db", MIGRATIONS)
    store = Store(database, Vault(ServiceKey(bytes(32))), FakeClock())
    began = time.perf_counter()
    for number, part in enumerate(_documents(texts)):
        origin = SiblingOrigin("docs", ItemId(str(number)), Revision("1"))
        await store.put(NewDocument(origin, Metadata(f"Document {number}"), tuple(Chunk((), text) for text in part)))
    seconds = time.perf_counter() - began
    database.close()
    return len(texts) / seconds


def _plain(folder: Path, texts: Sequence[str]) -> float:
    db = sqlite3.connect(folder / "plain.db", isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE chunks (key INTEGER PRIMARY KEY, trail BLOB, text BLOB)")
    began, key = time.perf_counter(), 0
    for part in _documents(texts):
        db.execute("BEGIN")
        for text in part:
            key += 1
            db.execute("INSERT INTO chunks VALUES (?, ?, ?)", (key, b"", text.encode()))
        db.execute("COMMIT")
    seconds = time.perf_counter() - began
    db.close()
    return len(texts) / seconds
