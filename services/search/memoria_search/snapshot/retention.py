"""Retirement: a superseded generation is deleted once no backup that can still be restored may name it (ING-25).

Whatever is deleted here was listed first, and the fence looked at after that. So it lay there before any other instance
could write; and as no instance uses a name that it has seen (see `Snapshots`), a deletion that is still on its way when
another takes over hits nothing of the other's.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from memoria_chassis import log
from memoria_chassis.aead import Sealer
from memoria_chassis.bucket import Bucket
from memoria_chassis.errors import Kind, ServiceError
from memoria_search.snapshot.names import MANIFESTS, PIECES, SUPERSEDED, manifest_name
from memoria_search.snapshot.superseded import Superseded, parse


async def records(bucket: Bucket) -> list[Superseded]:
    """Every record in the bucket, oldest first; also of a generation that was then not superseded."""
    return [found for name in await bucket.names(SUPERSEDED) if (found := parse(name))]


def counting(found: Iterable[Superseded], generation: int) -> list[Superseded]:
    """Those that are true where `generation` counts, oldest first: one for each generation that was superseded.

    An instance that was fenced while it published may have written another, with the pieces that its own attempt did
    not use. Whoever moved the head on has the highest epoch, and its last attempt is the one that did.
    """
    last: dict[int, Superseded] = {}
    for old in sorted(found, key=lambda old: (old.epoch, old.superseded_at)):
        if old.generation < generation:
            last[old.generation] = old
    return sorted(last.values())


def due(superseded: Iterable[Superseded], retention: timedelta, now: int) -> list[Superseded]:
    """Those that no backup can name any more. `now`: seconds since 1970."""
    return [old for old in superseded if old.superseded_at + retention.total_seconds() <= now]


async def retire(bucket: Bucket, sealer: Sealer, old: Superseded) -> bool:
    """Delete a generation. False where its record does not open: what goes with it is then not known, and all stays.

    Manifest first: one that names pieces which are gone is never left. The record last: a kill leaves what to do.
    """
    try:
        sealed = (await bucket.get(old.name)).data
    except ServiceError as error:
        if error.kind is Kind.NOT_FOUND:  # deleted before, and the answer got lost
            return True
        raise
    pieces = old.open(sealer, sealed)
    if pieces is None:
        log.get_logger().error("the record of a superseded snapshot does not open", generation=old.generation)
        return False
    for name in (manifest_name(old.generation), *pieces, old.name):
        await bucket.delete(name)
    return True


async def orphans(bucket: Bucket, generation: int) -> list[str]:
    """What uploads left that were killed or failed: manifests and pieces above `generation`, which counts.

    Only above it: whatever is uploaded for a generation bears a higher number than the one that counted then.
    """
    above = manifest_name(generation + 1).removeprefix(MANIFESTS)
    manifests = await bucket.names(MANIFESTS, after=manifest_name(generation))
    return [*manifests, *await bucket.names(PIECES, after=f"{PIECES}{above}")]


async def discard(bucket: Bucket, names: Iterable[str]) -> list[str]:
    """Delete what can be; what could not."""
    left = []
    for name in names:
        try:
            await bucket.delete(name)
        except ServiceError:
            left.append(name)
    if left:
        log.get_logger().warning("parts of snapshots that nothing uses were not deleted", count=len(left))
    return left


async def everything(bucket: Bucket) -> list[str]:
    """All manifests and pieces: where no manifest can say what belongs to the generation that counts."""
    return [*await bucket.names(MANIFESTS), *await bucket.names(PIECES)]


def completed(deletions: int, superseded: Sequence[Superseded]) -> int:
    """The last deletion that is complete: every generation that could still be restored from is past it (ING-24)."""
    return min([deletions, *(old.deletions for old in superseded)])
