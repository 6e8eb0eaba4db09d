"""S1a, read whole or not at all (CON-11): an announce that is cut, miscounted or mixed retires nothing."""

from dataclasses import dataclass, field

from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import ItemId, Revision
from memoria_ingest.siblings.sibling_client import SiblingClient

_MAX_SIZE = 64 * 1024 * 1024  # characters of ids and revisions, held until the announce closes
_MAX_PAGES = 10_000
_MAX_ITEMS = 1_000_000


@dataclass(frozen=True, slots=True)
class Announced:
    """A completed announce: every item on the team rung, and the cursor that is valid because it completed."""

    items: dict[ItemId, Revision] = field(repr=False)
    cursor: str = field(repr=False)


async def read_announce(client: SiblingClient) -> Announced:
    """Every page, first to last. Raises UNAVAILABLE unless the announce is complete and its count agrees."""
    items: dict[ItemId, Revision] = {}
    announce_id = token = ""
    count = size = 0
    seen: set[int] = set()  # hashes of tokens, of which each may be large
    for number in range(_MAX_PAGES):
        page = await client.announce(token)
        if number == 0:
            if not page.opened:
                raise _failed("the announce has no opening marker")
            announce_id = page.opened
        elif page.opened is not None:
            raise _failed("the announce was opened twice")
        if page.announce_id != announce_id:
            raise _failed("the announce changed under way")
        count += len(page.items)
        items.update((pair.item_id, pair.revision) for pair in page.items)
        size += sum(len(pair.item_id) + len(pair.revision) for pair in page.items)
        if len(items) > _MAX_ITEMS or size > _MAX_SIZE:
            raise _failed("the announce does not end")
        if page.closing is not None:
            if page.next_page_token:
                raise _failed("the announce goes on behind its closing marker")
            if page.closing.item_count != count or len(items) != count:
                raise _failed("the announce's count disagrees with what arrived")
            if not page.closing.cursor:
                raise _failed("the announce closed without a cursor")
            return Announced(items, page.closing.cursor)
        token = page.next_page_token
        if not token:
            raise _failed("the announce was cut short")
        if hash(token) in seen:
            raise _failed("the announce goes in circles")
        seen.add(hash(token))
    raise _failed("the announce does not end")


def _failed(message: str) -> ServiceError:
    return ServiceError(Kind.UNAVAILABLE, message)
