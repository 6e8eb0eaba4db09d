"""A tiny wiki that is a sibling of memoria: pages in memory, and its half of the contract."""

import datetime as dt
import os
import secrets
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field

from memoria_contract.serve import (
    AnnouncePage,
    Announces,
    Change,
    Changes,
    Consumers,
    Content,
    Cursors,
    Pair,
    Subject,
    SubjectKind,
    Verdict,
    rule,
    serve,
)

PORT = int(os.environ.get("PORT", "9000"))


# --- the wiki ---------------------------------------------------------------------------------------------------


def now() -> dt.datetime:
    """This moment, with its zone."""
    return dt.datetime.now(dt.UTC)


@dataclass
class Version:
    """What a page was. Any revision will do: memoria compares revisions for equality and nothing else."""

    body: str
    revision: str = field(default_factory=lambda: secrets.token_hex(8))
    at: dt.datetime = field(default_factory=now)


@dataclass
class Page:
    """A page, who was taken off it, and every version it ever had; the last one is the current one."""

    id: str
    title: str
    rung: str
    removed: set[str]
    log: list[Version] = field(default_factory=list)


@dataclass
class Event:
    """Something happened to a page on the team rung: it came, changed or left."""

    page_id: str
    revision: str
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    at: dt.datetime = field(default_factory=now)


class Wiki:
    """What the wiki knows, and what people do in it. A real one has a database and pages to look at."""

    def __init__(self) -> None:
        self.people: set[str] = set()  # the team, by lower-case address
        self.pages: dict[str, Page] = {}
        self.feed: list[Event] = []

    def write(self, page: Page, body: str) -> str:
        """A new version; returns its revision."""
        page.log.append(Version(body))
        if page.rung == "team":
            self.feed.append(Event(page.id, page.log[-1].revision))
        return page.log[-1].revision

    def move(self, page: Page, rung: str) -> None:
        """To another rung. Only coming to the team rung and leaving it concern the feed."""
        before, page.rung = page.rung, rung
        if before != rung and "team" in (before, rung):
            self.feed.append(Event(page.id, page.log[-1].revision))

    def delete(self, page: Page) -> None:
        """A page that stood on the team rung is gone in the feed too."""
        self.move(page, "deleted")
        del self.pages[page.id]


wiki = Wiki()
key = secrets.token_bytes(32)  # a real app keeps its key; with a new one every consumer starts anew
cursors, announces = Cursors(key), Announces(key, page_items=100)
consumers = Consumers()  # the same goes for `consumers.hashes`
consumers.add_token("first", "pull", os.environ["MEMORIA_PULL_TOKEN"])
consumers.add_token("first", "ask", os.environ["MEMORIA_ASK_TOKEN"])


# --- its half of the contract -------------------------------------------------------------------------------------


def team_page(page_id: str) -> Page | None:
    """The page, if it is on the team rung now. The feed, content and announces know no other."""
    page = wiki.pages.get(page_id)
    return page if page and page.rung == "team" else None


async def list_changes(consumer: str, cursor: str) -> Changes | None:
    """S1: each page that changed after the cursor, once, as it is now. None says "take an announce"."""
    ids = ["", *(event.id for event in wiki.feed)]
    last = cursors.open(consumer, cursor) if cursor else ""
    if last not in ids:
        return None  # forged, somebody else's, too old, or of a feed that a backup took back
    latest: dict[str, Event] = {}
    for event in wiki.feed[ids.index(last) :]:
        latest.pop(event.page_id, None)  # so that it moves to its later place
        latest[event.page_id] = event
    rows = []
    for event in latest.values():
        page = team_page(event.page_id)
        rows.append(Change(event.page_id, page.log[-1].revision if page else event.revision, page is None, event.at))
    return Changes(tuple(rows), cursors.make(consumer, ids[-1]))


async def announce(consumer: str, page_token: str) -> AnnouncePage | None:
    """S1a: everything on the team rung at one moment, and the cursor of that moment."""
    if page_token:
        return announces.resume(consumer, page_token)
    items = [(page.id, page.log[-1].revision) for page in wiki.pages.values() if page.rung == "team"]
    return announces.begin(consumer, items, cursors.make(consumer, wiki.feed[-1].id if wiki.feed else ""))


async def authorize(subject: Subject, pairs: Sequence[Pair]) -> dict[Pair, Verdict]:
    """S2: may this person read these revisions, right now?"""
    return {pair: verdict(subject.value, pair) for pair in pairs}


def verdict(address: str, pair: Pair) -> Verdict:
    """The answer for one pair; `rule` asks its questions in the right order."""
    page = wiki.pages.get(pair.item_id)
    if page is None:
        return Verdict.NOT_VISIBLE
    return rule(
        on_team_rung=page.rung == "team",
        may_read=address in wiki.people and address not in page.removed,
        current=page.log[-1].revision,
        log=[version.revision for version in page.log],
        asked=pair.revision,
    )


async def get_content(item_id: str, revision: str) -> Content | None:
    """S3: the current text of a team page. None for everything else, whatever the reason."""
    page = team_page(item_id)
    if page is None or revision not in ("", page.log[-1].revision):
        return None
    current = page.log[-1]
    return Content(current.revision, page.title, f"/pages/{page.id}", current.at, current.body)


app = serve(
    app="wiki",
    origin=f"http://localhost:{PORT}",
    subject_kinds=[SubjectKind.ADDRESS],
    consumers=consumers,
    list_changes=list_changes,
    announce=announce,
    authorize=authorize,
    get_content=get_content,
    on_error=traceback.print_exception,
)
