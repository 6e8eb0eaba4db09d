"""Strays: what an instance uploaded after a later one had taken over and swept (ING-24).

A put that was under way when its instance was fenced lands whenever it lands, and bears a number that may lie below the
generation that counts by then. Its epoch tells: the head can be moved by the instance of the highest epoch alone, so
once one of epoch 6 held the head at generation 9, nothing of an epoch below 6 that bears a number above 9 can ever
count. Each record of a superseded generation says just that of the instance which wrote it.
"""

from collections.abc import Collection, Iterable
from functools import cache

from memoria_search.snapshot.names import epoch, manifest_name, number
from memoria_search.snapshot.restore import DamagedError, Restorer
from memoria_search.snapshot.retention import Listing


async def strays(
    listing: Listing, generation: int, held: Iterable[tuple[int, int]], live: Collection[str], restorer: Restorer
) -> list[str]:
    """Manifests and pieces up to `generation`, which counts, that no generation ever consisted of; none of `live`.

    `held`: generations, each with the epoch of an instance that held the head there. Reads the manifests, few at worst,
    of generations that neither count nor were superseded. Raises UNAVAILABLE where the bucket fails.
    """
    known = list(held)

    @cache
    def last(of: int) -> int:
        """The last generation that an instance of this epoch can have made count."""
        return min((at for at, later in known if later > of), default=generation)

    found = []
    for name in listing.pieces:
        of = epoch(name)
        if of is not None and last(of) < number(name) <= generation and name not in live:
            found.append(name)
    counted = {generation, *(record.generation for record in listing.records)}
    for at in (number(name) for name in listing.manifests):
        if 0 < at < generation and at not in counted:
            try:
                stray = last((await restorer.manifest(at)).epoch) < at
            except DamagedError:
                continue  # whose it is cannot be known
            if stray:
                found.append(manifest_name(at))
    return found
