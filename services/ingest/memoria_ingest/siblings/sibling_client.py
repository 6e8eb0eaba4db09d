"""S1, S1a and S3 of one sibling, as plain values. No request here has a field for a person (CON-12)."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_chassis import metrics
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.connect_client import CONTENT_LIMIT, REPLY_LIMIT, ConnectClient
from memoria_contract.limits import CURSOR_LENGTH, PAGE_ROWS, SHEET_CELLS, SHEET_TABS, usable_name
from memoria_contract.types import Author, Pair
from memoria_contract.wire import author_from_wire, pair_from_wire

FEED_SECONDS = 10.0
CONTENT_SECONDS = 20.0
_SERVICE = "memoria.sibling.v1.SiblingService"
MAX_STEPS = 64
"""Of one trail."""

ReplyT = TypeVar("ReplyT", bound=Message)


@dataclass(frozen=True, slots=True)
class Change:
    """One row of the feed."""

    pair: Pair
    gone: bool


@dataclass(frozen=True, slots=True)
class FeedPage:
    """One page of the feed."""

    changes: tuple[Change, ...]
    next_cursor: str = field(repr=False)
    has_more: bool
    reannounce_required: bool


@dataclass(frozen=True, slots=True)
class Closing:
    """An announce's closing marker."""

    item_count: int
    cursor: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class AnnouncePage:
    """One page of an announce."""

    opened: str | None = field(repr=False)  # the announce id, on the first page only
    announce_id: str = field(repr=False)
    items: tuple[Pair, ...]
    closing: Closing | None
    next_page_token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab of a sheet: (row, column, display), by row, then column."""

    name: str = field(repr=False)
    cells: tuple[tuple[int, int, str], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Content:
    """One item's content."""

    revision: str
    title: str = field(repr=False)
    trail: tuple[str, ...] = field(repr=False)
    body: str = field(repr=False)
    tabs: tuple[Tab, ...] = field(repr=False)
    author: Author
    date: datetime | None
    link: str = field(repr=False)


class SiblingClient:
    """One sibling. Raises ServiceError for anything but a well-formed answer."""

    def __init__(self, app: str, client: ConnectClient) -> None:
        self.app = app
        self._client = client

    async def changes(self, cursor: str) -> FeedPage:
        """S1: the page after `cursor`."""
        reply = await self._call("ListChanges", pb.ListChangesRequest(cursor=cursor), pb.ListChangesResponse)
        if not reply.reannounce_required and not 0 < len(reply.next_cursor) <= CURSOR_LENGTH:
            raise _malformed("the feed's page has no usable cursor")
        if len(reply.rows) > PAGE_ROWS:
            raise _malformed("the feed's page has too many rows")
        return FeedPage(
            # A row without a usable id can be of nothing we hold, and must not keep the rows behind it from us.
            tuple(Change(pair, row.gone) for row in reply.rows if (pair := _usable(row)) is not None),
            reply.next_cursor,
            reply.has_more,
            reply.reannounce_required,
        )

    async def announce(self, page_token: str) -> AnnouncePage:
        """S1a: one page."""
        reply = await self._call("Announce", pb.AnnounceRequest(page_token=page_token), pb.AnnounceResponse)
        if len(reply.items) > PAGE_ROWS or max(len(reply.next_page_token), len(reply.closing.cursor)) > CURSOR_LENGTH:
            raise _malformed("the announce's page is too large")
        return AnnouncePage(
            reply.opening.announce_id if reply.HasField("opening") else None,
            reply.announce_id,
            tuple(_announced(item) for item in reply.items),
            Closing(reply.closing.item_count, reply.closing.cursor) if reply.HasField("closing") else None,
            reply.next_page_token,
        )

    async def content(self, pair: Pair) -> Content:
        """S3: an item's content; an empty revision asks for the current one. NOT_FOUND where it is not team-visible."""
        request = pb.GetContentRequest(item_id=pair.item_id, revision=pair.revision)
        reply = await self._call(
            "GetContent", request, pb.GetContentResponse, seconds=CONTENT_SECONDS, limit=CONTENT_LIMIT
        )
        if not usable_name(reply.revision):
            raise _malformed("the content names no usable revision")
        # Counted before anything is made of them: a few bytes each on the wire, they are a hundred times that here.
        if len(reply.tabs) > SHEET_TABS or sum(len(tab.cells) for tab in reply.tabs) > SHEET_CELLS:
            raise _malformed("the content has too many tabs or cells")
        return Content(
            reply.revision,
            reply.title,
            tuple(reply.trail[-MAX_STEPS:]),
            reply.body,
            tuple(
                Tab(tab.name, tuple((cell.row, cell.column, cell.display) for cell in tab.cells)) for tab in reply.tabs
            ),
            author_from_wire(reply.author),
            _moment(reply.date) if reply.HasField("date") else None,
            reply.link if self._client.origin.owns(reply.link) else "",
        )

    async def _call(
        self,
        call: str,
        request: Message,
        response: type[ReplyT],
        *,
        seconds: float = FEED_SECONDS,
        limit: int = REPLY_LIMIT,
    ) -> ReplyT:
        began, kind = time.perf_counter(), "ok"
        try:
            return await self._client.call(f"{_SERVICE}/{call}", request, response, seconds, limit=limit)
        except ServiceError as error:
            kind = error.kind.value
            raise
        finally:
            metrics.observe_sibling(self.app, call, kind, time.perf_counter() - began)


def _usable(message: "pb.ChangeRow | pb.AnnouncedItem") -> Pair | None:
    if not usable_name(message.item_id) or (message.revision and not usable_name(message.revision)):
        return None
    return pair_from_wire(message)


def _announced(item: pb.AnnouncedItem) -> Pair:
    pair = _usable(item)
    if pair is None:  # an announce retires what it does not name, so one that names nonsense is not believed
        raise _malformed("the announce names an unusable item id")
    return pair


def _moment(stamp: Timestamp) -> datetime | None:
    """A sibling's date, or None for one that is out of range: a date decides nothing, and must not cost the item."""
    try:
        moment = stamp.ToDatetime(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if 1 < moment.year < 9999 else None


def _malformed(message: str) -> ServiceError:
    return ServiceError(Kind.UNAVAILABLE, message)
