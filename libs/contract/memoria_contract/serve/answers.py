"""What a sibling's functions take and return: plain frozen types that know nothing of protobuf."""

import datetime as dt
from dataclasses import dataclass
from enum import Enum

from memoria_contract.types import Author


@dataclass(frozen=True, slots=True)
class Change:
    """One row of S1. `gone` means deleted or no longer on the team rung; without it the row says "there now"."""

    item_id: str
    revision: str
    gone: bool
    touched_at: dt.datetime  # aware


@dataclass(frozen=True, slots=True)
class Changes:
    """A page of S1, oldest change first. `next_cursor` is set on every page, also on one without rows."""

    rows: tuple[Change, ...]
    next_cursor: str
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class Closing:
    """The end of an announce: how many items all its pages named, and the S1 cursor to go on from."""

    item_count: int
    cursor: str


@dataclass(frozen=True, slots=True)
class AnnouncePage:
    """A page of S1a: (item id, revision) of what is on the team rung. Either `closing` or `next_page_token` is set."""

    announce_id: str
    items: tuple[tuple[str, str], ...]
    next_page_token: str = ""
    closing: Closing | None = None


@dataclass(frozen=True, slots=True)
class SheetCell:
    """A cell that is not empty, as the spreadsheet shows it. Row and column count from 1."""

    row: int
    column: int
    display: str
    format_code: str = "General"


@dataclass(frozen=True, slots=True)
class Content:
    """What S3 gives of a team-visible item: text as Markdown in `body`, or the `tabs` of a sheet by name.

    A `link` that starts with `/` is completed with the app's origin.
    """

    revision: str
    title: str
    link: str
    date: dt.datetime  # of the event, or of the last edit; aware
    body: str = ""
    trail: tuple[str, ...] = ()  # folders or headings, outermost first
    author: Author = Author.UNKNOWN
    tabs: tuple[tuple[str, tuple[SheetCell, ...]], ...] = ()


class AggregateFunction(Enum):
    """The functions S6 computes. Expression text never comes."""

    SUM = "sum"
    AVERAGE = "average"
    MIN = "min"
    MAX = "max"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class CellRef:
    """A cell at a revision of its sheet. Row and column count from 1."""

    item_id: str
    tab: str
    row: int
    column: int
    revision: str


@dataclass(frozen=True, slots=True)
class Value:
    """A computed number, with the format it is shown in and those of the operands, in the order asked."""

    value: float
    display: str
    format_code: str
    operand_format_codes: tuple[str, ...]


class Refusal(Enum):
    """Why there is no number."""

    NOT_VISIBLE = "not_visible"  # of some operand; it is not said of which
    STALE = "stale"
    AHEAD = "ahead"
    NON_NUMERIC = "non_numeric"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class NoValue:
    """A refusal. STALE, AHEAD and NON_NUMERIC name the cell they are about, the other two name none."""

    refusal: Refusal
    cell: CellRef | None = None
