"""Retirement: a superseded generation is deleted once no backup that can still be restored may name it (ING-25)."""

from datetime import timedelta

from memoria_chassis.bucket import Bucket
from memoria_search.snapshot.manifest import Manifest, Retired
from memoria_search.snapshot.names import MANIFESTS, PIECES, manifest_name


def due(manifest: Manifest, retention: timedelta, now: int) -> tuple[Retired, ...]:
    """Those of its superseded generations that no backup can name any more. `now`: seconds since 1970."""
    return tuple(old for old in manifest.retired if old.superseded_at + retention.total_seconds() <= now)


async def retire(bucket: Bucket, old: Retired) -> int:
    """Delete a generation; how many objects. Manifest first: one that names pieces which are gone is never left."""
    await bucket.delete(manifest_name(old.generation))
    for piece in old.pieces:
        await bucket.delete(piece)
    return 1 + len(old.pieces)


async def sweep(bucket: Bucket, manifest: Manifest) -> int:
    """Delete what a killed upload left: objects that neither `manifest` nor a generation it remembers knows of.

    Only for the instance that holds the fence, while it publishes nothing: whoever else still uploads has lost.
    """
    generations = {manifest.generation, *(old.generation for old in manifest.retired)}
    pieces = manifest.objects.union(*(old.pieces for old in manifest.retired))
    kept = pieces.union(map(manifest_name, generations))
    left = [name for prefix in (MANIFESTS, PIECES) for name in await bucket.names(prefix) if name not in kept]
    for name in left:
        await bucket.delete(name)
    return len(left)


async def inherit(bucket: Bucket, now: int) -> Retired | None:
    """Everything that lies in the bucket, as one superseded generation: where no manifest can say what it is."""
    manifests, pieces = await bucket.names(MANIFESTS), await bucket.names(PIECES)
    if not manifests and not pieces:
        return None
    return Retired(0, now, 0, (*manifests, *pieces))


def completed(manifest: Manifest) -> int:
    """The last deletion that is complete: every generation that could still be restored from is past it (ING-24)."""
    return min([manifest.deletions, *(old.deletions for old in manifest.retired)])
