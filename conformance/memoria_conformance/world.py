"""Loads `world.yaml`: the people and papers of a small made-up company, and who may read what."""

import datetime as dt
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import yaml

from memoria_conformance.formats import GENERAL, display

APPS = ("docs", "sheets", "calendar")
RUNGS = ("private", "granted", "team")
_AUTHORS = ("human", "machine", "unknown")


@dataclass(frozen=True, slots=True)
class Person:
    """A member of the team, under both kinds of subject."""

    alias: str
    person_ref: str
    address: str
    name: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that is not empty. `value` is None for text and dates."""

    row: int
    column: int
    display: str
    format_code: str
    value: float | None


@dataclass(frozen=True, slots=True)
class Content:
    """What S3 gives of an item; `tabs` for sheets, `body` for the rest. Dates are midnight or start time, UTC."""

    title: str
    trail: tuple[str, ...]
    date: dt.datetime
    author: str = "human"
    body: str = ""
    tabs: tuple[tuple[str, tuple[Cell, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """An item and its rights, people by alias."""

    alias: str
    app: str
    content: Content
    rung: str = "team"
    granted: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class World:
    """Everything the demo apps and the home are seeded from."""

    company: str
    people: tuple[Person, ...]
    items: tuple[Item, ...] = field(default=())

    def of(self, app: str) -> tuple[Item, ...]:
        """The items of one app, in the order written."""
        return tuple(item for item in self.items if item.app == app)


def packaged_world() -> World:
    """The world that ships with this package."""
    return load_world(resources.files("memoria_conformance").joinpath("world.yaml").read_text("utf-8"))


def load_world(text: str) -> World:
    """The world in a YAML text. ValueError names the alias and what is wrong with it."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    raw = yaml.load(text, Loader=loader)  # noqa: S506 — both are safe loaders; the C one is ten times as fast
    if not isinstance(raw, dict) or not isinstance(raw.get("people"), dict):
        raise ValueError("a world is a mapping with people")
    people = tuple(Person(alias, p["person_ref"], p["address"], p["name"]) for alias, p in raw["people"].items())
    items = tuple(parse_item(app, entry) for app in APPS for entry in raw.get(app) or ())
    _check(people, items)
    return World(raw.get("company", ""), people, items)


def parse_item(app: str, entry: dict[str, Any]) -> Item:
    """One item from its YAML form."""
    unknown = set(entry) - {
        *("alias", "title", "trail", "date", "author", "body", "tabs", "rung", "granted", "removed"),
        *("start", "end", "where", "with"),
    }
    if unknown:
        raise ValueError(f"{entry.get('alias')}: unknown keys {sorted(unknown)}")
    body = str(entry.get("body", "")).strip()
    if app == "calendar":
        body = _event_body(entry, body)
    content = Content(
        title=entry["title"],
        trail=tuple(entry.get("trail", ())),
        date=_moment(entry["start"] if app == "calendar" else entry["date"]),
        author=entry.get("author", "human"),
        body=body,
        tabs=tuple((tab["name"], tuple(expand_table(tab))) for tab in entry.get("tabs", ())),
    )
    rights = {key: tuple(entry.get(key, ())) for key in ("granted", "removed")}
    return Item(entry["alias"], app, content, entry.get("rung", "team"), **rights)


def expand_table(tab: dict[str, Any]) -> list[Cell]:
    """The cells of a tab written as `columns: [name | {name, format}]`, `rows: [[…]]` and an optional `title` line.

    Numbers take the format of a `[value, format]` pair, else of their column, else of the tab; null is an empty cell.
    """
    cells: list[Cell] = []
    row = 1
    if "title" in tab:
        cells.append(Cell(row, 1, tab["title"], GENERAL, None))
        row += 2
    default = tab.get("format", GENERAL)
    formats = [column.get("format", default) if isinstance(column, dict) else default for column in tab["columns"]]
    names = [column["name"] if isinstance(column, dict) else column for column in tab["columns"]]
    for line in [names, *tab["rows"]]:
        if len(line) > len(names):
            raise ValueError("a row is longer than its columns")
        for column, value in enumerate(line, start=1):
            if value is not None:
                cells.append(make_cell(row, column, value, formats[column - 1]))
        row += 1
    return cells


def make_cell(row: int, column: int, value: Any, format_code: str) -> Cell:
    """A cell of a number, a date, a text, or `[value, format]`."""
    if isinstance(value, list):
        value, format_code = value
    if isinstance(value, bool):
        return Cell(row, column, str(value).upper(), GENERAL, None)
    if isinstance(value, int | float):
        return Cell(row, column, display(value, format_code), format_code, float(value))
    if isinstance(value, dt.date):
        return Cell(row, column, value.isoformat(), "yyyy-mm-dd", None)
    return Cell(row, column, str(value), GENERAL, None)


def _event_body(entry: dict[str, Any], body: str) -> str:
    start, end = _moment(entry["start"]), _moment(entry["end"])
    until = f"{end:%H:%M}" if end.date() == start.date() else f"{end:%A} {end.day} {end:%B %Y, %H:%M}"
    lines = [f"When: {start:%A} {start.day} {start:%B %Y, %H:%M} – {until}"]
    if "where" in entry:
        lines.append(f"Where: {entry['where']}")
    if "with" in entry:
        lines.append(f"With: {', '.join(entry['with'])}")
    return "\n".join(lines) + (f"\n\n{body}" if body else "")


def _moment(value: Any) -> dt.datetime:
    if isinstance(value, str):
        value = dt.datetime.fromisoformat(value)
    if not isinstance(value, dt.datetime):
        value = dt.datetime(value.year, value.month, value.day)
    return value.replace(tzinfo=dt.UTC)


def _check(people: tuple[Person, ...], items: tuple[Item, ...]) -> None:
    known = {person.alias for person in people}
    if len({p.person_ref for p in people}) < len(people) or any(p.address != p.address.lower() for p in people):
        raise ValueError("people need person_refs of their own and addresses in lower case")
    seen: set[str] = set()
    for item in items:
        if item.alias in seen:
            raise ValueError(f"{item.alias}: alias used twice")
        seen.add(item.alias)
        if item.rung not in RUNGS or item.content.author not in _AUTHORS:
            raise ValueError(f"{item.alias}: unknown rung or author")
        if not set(item.granted + item.removed) <= known:
            raise ValueError(f"{item.alias}: names somebody who is not in people")
        if item.removed and item.rung != "team":
            raise ValueError(f"{item.alias}: people can be removed from team items only")
        if bool(item.content.tabs) is not (item.app == "sheets"):
            raise ValueError(f"{item.alias}: tabs are for sheets, and sheets need them")
