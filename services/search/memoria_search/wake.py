"""Waking: from what is sealed to an index that equals the database, whatever each of the two went through.

The generation's lexical files are put into scratch while the catalogue is read from the database; then what the files
lack is indexed from sealed chunks, and what the database lacks is taken out. A generation that is missing, damaged or
of another analyser is not used: the index is then made from the sealed chunks alone, and said to be (ING-28). So an
index is either whole or not served.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError
from memoria_search.corpus.catalogue import Catalogue
from memoria_search.corpus.model import Change, Chunk, DocumentRef, Metadata
from memoria_search.corpus.store import Store
from memoria_search.finish import finish, in_thread
from memoria_search.handle import INDEX, Handle
from memoria_search.index import scratch
from memoria_search.index.analysis import ANALYSER_VERSION, Analyser
from memoria_search.snapshot.manifest import Manifest
from memoria_search.snapshot.restore import DamagedError
from memoria_search.snapshot.snapshots import Snapshots

DEAD_LIMIT = 0.3
"""The share of deleted chunks from which an index is made anew at a wake: the waste has grown to what that costs."""

_SLICE = 250  # documents between two looks of a rebuild at whether to go on: what a stop has to wait for
_CHECKPOINT = 24_000
"""Chunks between two commits of a rebuild, each of which a generation follows: a kill costs seconds, not all (F35).

The engine merges all segments of less than 10,000 chunks with one another whenever there are eight. So small ones would
be written, and uploaded, again with the first few documents that change.
"""


@dataclass(frozen=True, slots=True)
class Woken:
    """An open handle. `damaged`: rows that did not open. `differing`: documents that the files lacked or had too many.
    `rebuilt`: why no files were used, as a fixed word; None where they were, and where there was nothing to use."""

    handle: Handle
    damaged: int
    differing: int
    rebuilt: str | None


async def wake(
    store: Store,
    snapshots: Snapshots,
    catalogue: Catalogue,
    directory: Path,
    on_failure: Callable[[], None],
    checkpoint: Callable[[Handle], Awaitable[None]],
    *,
    anew: bool = False,
) -> Woken:
    """Open the index. `checkpoint` makes what a long rebuild has so far durable. `anew`: from sealed chunks alone,
    although the generation that counts is as good as ever; half an index does not take its place then.

    Raises PRECONDITION where the corpus was sealed under another key.
    """
    refs: list[DocumentRef] = []
    files = asyncio.create_task(_files(snapshots, directory, on_failure, anew))
    try:
        damaged = await store.references(refs.append)
    except BaseException:
        files.cancel()
        await asyncio.wait([files])
        if not files.cancelled() and not files.exception():
            await files.result()[0].close()
        raise
    handle, rebuilt = await files
    try:
        catalogue.clear()
        await in_thread(catalogue.apply, Change(tuple(refs)))
        gone = handle.index.numbers.difference(ref.number for ref in refs)
        handle.index.remove(sorted(gone))
        missing = [ref for ref in refs if ref.number not in handle.index.numbers]
        damaged += await _add(store, handle, missing, None if anew else checkpoint)
    except BaseException:
        catalogue.clear()
        await handle.close()
        raise
    if damaged:
        log.get_logger().error("rows of the corpus do not open", count=damaged)
    log.get_logger().info("index open", count=handle.index.chunks, added=len(missing), removed=len(gone), kind=rebuilt)
    return Woken(handle, damaged, len(missing) + len(gone), rebuilt)


async def _files(
    snapshots: Snapshots, directory: Path, on_failure: Callable[[], None], anew: bool
) -> tuple[Handle, str | None]:
    """A handle over the files of the generation that counts, or a new one and why."""
    manifest, reason = _usable(snapshots, anew)
    if manifest:
        try:
            await snapshots.restorer.lexical(manifest, scratch.fresh(directory / INDEX))
            handle = _opened(directory, manifest, on_failure)
            if handle.index.dead_share <= DEAD_LIMIT:
                return handle, None
            await handle.close()
            reason = "too much is deleted"
        except DamagedError as error:
            snapshots.spoil(error)
            reason = error.reason
        except OSError as error:
            scratch.wipe(directory / INDEX)
            raise ServiceError(Kind.UNAVAILABLE, "the index does not fit into its scratch directory") from error
        except ServiceError as error:  # the bucket fails: the generation may be as good as ever
            reason = error.kind.value
            log.get_logger().warning("snapshot could not be read", kind=reason)
    scratch.fresh(directory / INDEX)
    return Handle(directory, Analyser(), None, on_failure), reason


def _opened(directory: Path, manifest: Manifest, on_failure: Callable[[], None]) -> Handle:
    """A handle over a generation's files. Raises DamagedError: each is as it was sealed, so they are not all."""
    try:
        return Handle(directory, Analyser(), manifest.numbers, on_failure)
    except ServiceError as error:
        raise DamagedError("files are no index") from error


def _usable(snapshots: Snapshots, anew: bool) -> tuple[Manifest | None, str | None]:
    manifest = snapshots.manifest
    if snapshots.damage:
        return None, snapshots.damage
    if manifest and manifest.analyser != ANALYSER_VERSION:
        return None, "another analyser"
    if anew:
        return None, "deleted words are due"
    return manifest, None


async def _add(
    store: Store, handle: Handle, missing: Sequence[DocumentRef], checkpoint: Callable[[Handle], Awaitable[None]] | None
) -> int:
    """Index documents from their sealed chunks; how many rows did not open."""

    taken = 0

    def take(ref: DocumentRef, about: Metadata, chunks: Iterator[tuple[int, Chunk]]) -> None:
        nonlocal taken
        indexed = list(handle.indexed(ref, about, chunks))
        handle.index.add(indexed)
        taken += len(indexed)

    damaged, left = 0, iter(missing)
    for at in range(0, len(missing), _SLICE):
        damaged += await finish(store.contents(islice(left, _SLICE), take))
        if taken >= _CHECKPOINT and at + _SLICE < len(missing):
            taken = 0
            await in_thread(handle.index.commit)
            if checkpoint:
                await checkpoint(handle)
    await in_thread(handle.index.commit)
    return damaged
