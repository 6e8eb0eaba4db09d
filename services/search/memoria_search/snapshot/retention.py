"""Retirement: a superseded generation is deleted once no backup that can still be restored may name it (ING-25).

Whatever is deleted here was listed first, and the fence looked at after that. So it lay there before any other instance
could write; and as no instance uses a name that it has seen (see `Snapshots`), a deletion that is still on its way when
another takes over hits nothing of the other's.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from memoria_chassis import log
from memoria_chassis.aead import Sealer
from memoria_chassis.bucket import Bucket
from memoria_chassis.errors import Kind, ServiceError
from memoria_search.snapshot.every import every
from memoria_search.snapshot.names import MANIFESTS, PIECES, SUPERSEDED, manifest_name, number
from memoria_search.snapshot.superseded import Superseded, parse

_FAILURES = 3  # a bucket that is away is not asked about every object


@dataclass(frozen=True, slots=True)
class Listing:
    """What lies in the bucket, each in the order of its names. `records`: also of generations not superseded."""

    manifests: list[str]
    pieces: list[str]
    records: list[Superseded]

    def above(self, generation: int) -> list[str]:
        """What uploads left that were killed or failed: manifests and pieces above `generation`, which counts.

        Only above it: whatever is uploaded for a generation bears a higher number than the one that counted then.
        """
        return [name for name in (*self.manifests, *self.pieces) if number(name) > generation]

    def untrue(self, true: Iterable[Superseded]) -> list[Superseded]:
        """The records of attempts that came to nothing; they name pieces that are in use."""
        return sorted(set(self.records).difference(true))


async def look(bucket: Bucket) -> Listing:
    """List it all."""
    manifests, pieces, records = await every(bucket.names(prefix) for prefix in (MANIFESTS, PIECES, SUPERSEDED))
    return Listing(manifests, pieces, [found for name in records if (found := parse(name))])


def counting(found: Iterable[Superseded], generation: int) -> list[Superseded]:
    """Those that are true where `generation` counts, oldest first: one for each generation that was superseded.

    An instance that was fenced while it published may have written another, with the pieces that its own attempt did
    not use. Whoever moved the head on has the highest epoch, and its last attempt is the one that did.
    """
    last: dict[int, Superseded] = {}
    for old in sorted(found, key=lambda old: (old.epoch, old.superseded_at, old.attempt)):
        if old.generation < generation:
            last[old.generation] = old
    return sorted(last.values())


def due(superseded: Iterable[Superseded], retention: timedelta, now: int) -> list[Superseded]:
    """Those that no backup can name any more. `now`: seconds since 1970."""
    return [old for old in superseded if old.superseded_at + retention.total_seconds() <= now]


async def retire(bucket: Bucket, sealer: Sealer, old: Superseded, live: Collection[str]) -> bool:
    """Delete a generation, but nothing that is `live`, whatever its record says.

    False where its record does not open: what goes with it is then not known, and all stays.

    Manifest first: one that names pieces which are gone is never left. The record last: a kill leaves what to do.
    Raises UNAVAILABLE where a part of it cannot be deleted; the others are.
    """
    found = await bucket.get_or_none(old.name)
    if found is None:  # deleted before, and the answer got lost
        return True
    pieces = old.open(sealer, found.data)
    if pieces is None:
        log.get_logger().error("the record of a superseded snapshot does not open", generation=old.generation)
        return False
    await bucket.delete(manifest_name(old.generation))
    if await discard(bucket, [piece for piece in pieces if piece not in live]):
        raise ServiceError(Kind.UNAVAILABLE, "a part of a superseded snapshot was not deleted")
    await bucket.delete(old.name)
    return True


async def discard(bucket: Bucket, names: Iterable[str]) -> list[str]:
    """Delete what can be; what could not, and what was not tried after some could not."""
    left: list[str] = []
    failures = 0
    for name in names:
        if failures == _FAILURES:
            left.append(name)
            continue
        try:
            await bucket.delete(name)
        except ServiceError:
            failures += 1
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
