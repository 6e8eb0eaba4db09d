"""The library put together from its parts, in the one way that they fit: for the service, for benchmarks and tests."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from memoria_chassis.bucket import Bucket
from memoria_chassis.clock import Clock
from memoria_chassis.keys import ServiceKey
from memoria_chassis.sqlite import Database
from memoria_search.corpus.sources import Sources
from memoria_search.corpus.store import Store
from memoria_search.corpus.tombstones import TombstoneLog
from memoria_search.corpus.vault import Vault
from memoria_search.index.vectors.library import VectorLibrary
from memoria_search.index.vectors.space import Embedder
from memoria_search.keeper import Keeper
from memoria_search.library import Library
from memoria_search.snapshot.snapshots import Snapshots


async def assemble(
    database: Database,
    bucket: Bucket,
    key: ServiceKey,
    *,
    clock: Clock,
    kept: timedelta,
    scratch: Path,
    on_failure: Callable[[], None],
    embedder: Embedder | None = None,
) -> Library:
    """A library that is not open yet; `database` is the caller's to close, after the library.

    `kept`: for how long backups of the database are kept. `scratch`: a directory that is this library's alone.
    `on_failure` ends the process. Raises PRECONDITION where scratch cannot be had or vectors are of another key.
    """
    vault = Vault(key)
    snapshots = Snapshots(bucket, key, clock, kept)
    keeper = Keeper(database, snapshots, TombstoneLog(database, vault, bucket, snapshots.fence))
    vectors = await VectorLibrary.open(database, vault, embedder) if embedder else None
    return Library(Store(database, vault, clock), Sources(database), keeper, scratch, on_failure, vectors)
