"""The reference app's own state, in memory: people, items with their revisions, and the log behind the feed."""

import copy
import datetime as dt
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import Any

from memoria_conformance.references.ulid import Ulids

TEAM = "team"
RUNGS = frozenset({TEAM, "granted", "guest", "link", "private"})
Json = dict[str, Any]
Tabs = dict[str, dict[tuple[int, int], Json]]


@dataclass(frozen=True, slots=True)
class Revision:
    """What an item was at one moment. `tabs` holds cells by tab, then by (row, column)."""

    id: str
    body: str
    tabs: Tabs
    at: dt.datetime


@dataclass(slots=True)
class Item:
    """An item that has a row. `granted` and `removed` hold person references; the last revision is the current one."""

    id: str
    prefix: str
    alias: str
    title: str
    rung: str
    log: list[Revision]
    granted: set[str]
    removed: set[str]

    @property
    def current(self) -> Revision:
        """The revision the item is at."""
        return self.log[-1]


@dataclass(frozen=True, slots=True)
class Event:
    """An item stood or ceased to stand on the team rung. `item_id` is None for one whose run was torn down."""

    id: str
    prefix: str
    item_id: str | None
    revision: str
    at: dt.datetime


@dataclass(slots=True)
class Loaded:
    """How a prefix stood right after `load_world`: its items, and how many events of it the log held."""

    items: dict[str, Item] = field(default_factory=dict)
    events: int = 0


class Store:
    """One app, used from one event loop: no method waits, so each is whole."""

    def __init__(self) -> None:
        self._ulid = Ulids()
        self.items: dict[str, Item] = {}
        self.people: dict[str, tuple[str, str]] = {}  # person reference → (prefix, alias)
        self.log: list[Event] = []  # sorted by id, for a later event has a greater ULID
        self._loaded: dict[str, Loaded] = {}

    # --- runs --------------------------------------------------------------------------------------------------

    def load(self, prefix: str, people: list[Json], items: list[Json]) -> None:
        """These people and items in place of what the prefix held. KeyError and ValueError for what is malformed."""
        self.forget(prefix)
        refs = {person["alias"]: person["person_ref"] for person in people}
        self.people |= {ref: (prefix, alias) for alias, ref in refs.items()}
        for entry in items:
            if entry["rung"] not in RUNGS:
                raise ValueError("unknown rung")
            tabs = {
                tab["name"]: {(cell["row"], cell["column"]): cell for cell in tab["cells"]}
                for tab in entry.get("tabs", ())
            }
            item = Item(
                id=self._ulid(),
                prefix=prefix,
                alias=entry["alias"],
                title=entry["title"],
                rung=entry["rung"],
                log=[self._revision("" if tabs else entry["body"], tabs)],
                granted={refs[alias] for alias in entry["granted"]},
                removed={refs[alias] for alias in entry["removed"]},
            )
            self.items[item.id] = item
            if item.rung == TEAM:
                self._tell(item)
        self._loaded[prefix] = Loaded(copy.deepcopy(self._of(prefix)), len(self._events_of(prefix)))

    def forget(self, prefix: str) -> None:
        """Nothing of this prefix is left. Its events keep their places, so that nobody's cursor loses its own."""
        for item_id in self._of(prefix):
            del self.items[item_id]
        self.people = {ref: person for ref, person in self.people.items() if person[0] != prefix}
        self.log = [replace(e, prefix="", item_id=None) if e.prefix == prefix else e for e in self.log]
        self._loaded.pop(prefix, None)

    def restore(self, prefix: str) -> None:
        """The prefix as it was loaded, its part of the log included, as when an operator puts a backup back.

        What was logged since is gone. Events of others since then get new ids, or a cursor between them would still
        be found although what it stands for never was.
        """
        loaded = self._loaded[prefix]
        for item_id in self._of(prefix):
            del self.items[item_id]
        self.items |= copy.deepcopy(loaded.items)
        dropped = self._events_of(prefix)[loaded.events :]
        if dropped:
            first = dropped[0]
            after = [event for event in self.log[first:] if event.prefix != prefix]
            self.log[first:] = [replace(event, id=self._ulid()) for event in after]

    # --- what people do in the app -------------------------------------------------------------------------------

    def edit(self, item: Item, body: str | None, cells: list[Json]) -> str:
        """A new revision with another text or other cells; returns its id."""
        tabs = copy.deepcopy(item.current.tabs)
        for cell in cells:
            place = (cell["row"], cell["column"])
            before = tabs[cell["tab"]].get(place, {})
            tabs[cell["tab"]][place] = {"format": before.get("format", "General")} | cell
        item.log.append(self._revision(item.current.body if body is None or tabs else body, tabs))
        if item.rung == TEAM:
            self._tell(item)
        return item.current.id

    def move(self, item: Item, rung: str) -> None:
        """Onto another rung; only arriving on the team rung and leaving it are told. ValueError for an unknown one."""
        if rung not in RUNGS:
            raise ValueError("unknown rung")
        before, item.rung = item.rung, rung
        if before != rung and TEAM in (before, rung):
            self._tell(item)

    def delete(self, item: Item, *, silently: bool = False) -> None:
        """No row any more; told if it stood on the team rung, unless a restore lost it."""
        del self.items[item.id]
        if item.rung == TEAM and not silently:
            self._tell(item)

    def rewind(self, item: Item, steps: int) -> None:
        """Its last `steps` revisions never were; nobody is told. ValueError where it has no more than those."""
        if not 0 < steps < len(item.log):
            raise ValueError("the item has not that many revisions")
        del item.log[-steps:]

    # --- look-ups ------------------------------------------------------------------------------------------------

    def find(self, prefix: str, alias: str) -> Item:
        """The item that a run calls `alias`. KeyError where there is none."""
        for item in self.items.values():
            if (item.prefix, item.alias) == (prefix, alias):
                return item
        raise KeyError("no such item")

    def person(self, prefix: str, alias: str) -> str:
        """The reference of the person that a run calls `alias`. KeyError where there is none."""
        for ref, person in self.people.items():
            if person == (prefix, alias):
                return ref
        raise KeyError("no such person")

    def on_team(self, item_id: str) -> Item | None:
        """The item, if it is on the team rung now."""
        item = self.items.get(item_id)
        return item if item is not None and item.rung == TEAM else None

    def place(self, event_id: str) -> int | None:
        """How much of the log lies up to and with this event; None where the log does not hold it."""
        after = bisect_right(self.log, event_id, key=lambda event: event.id)
        return after if after and self.log[after - 1].id == event_id else None

    # --- the rest ------------------------------------------------------------------------------------------------

    def _of(self, prefix: str) -> dict[str, Item]:
        return {item_id: item for item_id, item in self.items.items() if item.prefix == prefix}

    def _events_of(self, prefix: str) -> list[int]:
        return [place for place, event in enumerate(self.log) if event.prefix == prefix]

    def _revision(self, body: str, tabs: Tabs) -> Revision:
        return Revision(self._ulid(), body, tabs, dt.datetime.now(dt.UTC))

    def _tell(self, item: Item) -> None:
        self.log.append(Event(self._ulid(), item.prefix, item.id, item.current.id, dt.datetime.now(dt.UTC)))
