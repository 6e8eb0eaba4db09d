"""The naive oracle: the world as the verbs have left it, and what three plain rules make of it.

Nothing here knows how a sibling works. Every expected answer that a case does not state comes from here.
"""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from importlib import resources
from typing import Any

import yaml

from memoria_contract.types import Verdict

TEAM = "team"
RUNGS = (TEAM, "granted", "guest", "link", "private")
_ITEM_KEYS = {"alias", "title", "word", "body", "rung", "granted", "removed", "tabs"}


class Outcome(Enum):
    """What becomes of an aggregate, in the contract's words."""

    VALUE = "VALUE"
    NOT_VISIBLE = "NOT_VISIBLE"
    STALE = "STALE"
    AHEAD = "AHEAD"
    NON_NUMERIC = "NON_NUMERIC"


Cell = tuple[str, int, int]
"""(tab, row, column)."""


@dataclass(slots=True)
class Item:
    """One item as it stands. `log` holds its revisions, oldest first; None where the sibling has not told one."""

    alias: str
    title: str
    word: str
    body: str
    rung: str
    granted: set[str]
    removed: set[str]
    tabs: list[dict[str, Any]]
    log: list[str | None] = field(default_factory=lambda: [None])
    past: list[tuple[str, str, list[dict[str, Any]]]] = field(default_factory=list)  # what each edit replaced

    def cells(self) -> dict[Cell, dict[str, Any]]:
        """Its cells by place."""
        return {(tab["name"], cell["row"], cell["column"]): cell for tab in self.tabs for cell in tab["cells"]}


@dataclass(frozen=True, slots=True)
class AskedCell:
    """A cell at a revision of its sheet."""

    alias: str
    revision: str
    place: Cell


@dataclass(frozen=True, slots=True)
class Aggregate:
    """What an aggregate must come to; `names` is the index of the cell that must be named."""

    outcome: Outcome
    value: float = 0.0
    formats: tuple[str, ...] = ()
    names: int | None = None


_FUNCTIONS: dict[str, Callable[[list[float]], float]] = {
    "SUM": math.fsum,
    "AVERAGE": lambda values: math.fsum(values) / len(values),
    "MIN": min,
    "MAX": max,
    "COUNT": len,
}


def packaged_world() -> dict[str, Any]:
    """The suite's world as written, a copy for whoever asks."""
    return copy.deepcopy(_read_world())


@cache
def _read_world() -> dict[str, Any]:
    text = resources.files("memoria_conformance").joinpath("suites/world.yaml").read_text("utf-8")
    world: dict[str, Any] = yaml.safe_load(text)
    for entry in world["items"]:
        unknown = set(entry) - _ITEM_KEYS
        if unknown or entry.get("rung", TEAM) not in RUNGS or entry["word"] not in entry["body"]:
            raise ValueError(f"{entry.get('alias')}: unknown keys {sorted(unknown)} or rung")
        for tab in entry.get("tabs", ()):
            rows = tab.pop("series", 0)
            tab.setdefault("cells", []).extend(
                {"row": row, "column": 1, "value": row, "format": "0"} for row in range(1, rows + 1)
            )
    return world


def world_params(prefix: str, *, sheets: bool, extra: int = 0) -> dict[str, Any]:
    """The params of `load_world`: the packaged world under `prefix`, with `extra` more team items."""
    world = packaged_world()
    people = [{key: value.replace("{p}", prefix) for key, value in person.items()} for person in world["people"]]
    written = [entry for entry in world["items"] if sheets or "tabs" not in entry]
    for n in range(extra):
        word = f"eelgrass{n}"
        written.append({"alias": f"doc.extra.{n}", "title": f"Extra {n}", "word": word, "body": f"The word is {word}."})
    items = [
        {"rung": TEAM, "granted": [], "removed": [], **{k: v for k, v in entry.items() if k != "word"}}
        for entry in written
    ]
    return {"prefix": prefix, "people": people, "items": items}


class Model:
    """The world as one run of verbs has left it."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        """`params` as they went to `load_world`."""
        words = {entry["alias"]: entry["word"] for entry in _read_world()["items"]}
        self.people = {person["alias"]: dict(person) for person in params["people"]}
        self.items: dict[str, Item] = {}
        for entry in copy.deepcopy(list(params["items"])):
            alias = entry["alias"]
            word = words.get(alias) or entry["body"].removeprefix("The word is ").rstrip(".")
            self.items[alias] = Item(
                alias=alias,
                title=entry["title"],
                word=word,
                body=entry["body"],
                rung=entry["rung"],
                granted=set(entry["granted"]),
                removed=set(entry["removed"]),
                tabs=entry.get("tabs", []),
            )
        self._loaded: dict[str, Item] = {}

    def loaded(self) -> None:
        """Remember this state as the one that `restore_to` puts back."""
        self._loaded = copy.deepcopy(self.items)

    # --- what the verbs do -------------------------------------------------------------------------------------

    def apply(self, verb: str, params: Mapping[str, Any], revision: str | None = None) -> None:
        """Do one verb of the state hook; `revision` is the new one where the verb makes one."""
        if verb == "restore_to":
            self.items = copy.deepcopy(self._loaded)
            return
        alias = params.get("item")
        if alias is None:
            return  # tokens and cursors are no part of the world
        item = self.items[alias]
        match verb:
            case "edit":
                item.past.append((item.word, item.body, copy.deepcopy(item.tabs)))
                self._edit(item, params)
                item.log.append(revision)
            case "move_rung":
                item.rung = params["rung"]
            case "grant" | "revoke":
                (item.granted.add if verb == "grant" else item.granted.discard)(params["person"])
            case "remove_person" | "restore_person":
                (item.removed.add if verb == "remove_person" else item.removed.discard)(params["person"])
            case "delete":
                del self.items[alias]
            case "partial_restore" if params.get("lose"):
                del self.items[alias]
            case "partial_restore":
                steps = int(params.get("steps", 1))
                item.word, item.body, item.tabs = item.past[-steps]
                del item.log[-steps:], item.past[-steps:]
            case _:
                raise ValueError(f"the model knows no verb {verb}")

    @staticmethod
    def _edit(item: Item, params: Mapping[str, Any]) -> None:
        if "body" in params:
            item.body = item.word = params["body"]
        for change in params.get("cells", ()):
            cells = next(tab["cells"] for tab in item.tabs if tab["name"] == change["tab"])
            place = (change["row"], change["column"])
            before = next((cell for cell in cells if (cell["row"], cell["column"]) == place), None)
            if before is not None:
                cells.remove(before)
            cells.append({"format": (before or {}).get("format", "General"), **change})

    # --- what follows ------------------------------------------------------------------------------------------

    def team(self) -> dict[str, str | None]:
        """Alias → current revision of everything on the team rung."""
        return {item.alias: item.log[-1] for item in self.items.values() if item.rung == TEAM}

    def verdict(self, asker: str | None, alias: str, revision: str) -> Verdict:
        """What S2 must say to this person about this item at this revision (CON-05, CON-06)."""
        item = self.items.get(alias)
        if item is None or item.rung != TEAM or asker not in self.people or asker in item.removed:
            return Verdict.NOT_VISIBLE
        if revision == item.log[-1]:
            return Verdict.VISIBLE
        return Verdict.STALE if revision in item.log else Verdict.AHEAD

    def aggregate(self, asker: str | None, function: str, cells: Sequence[AskedCell]) -> Aggregate:
        """What S6 must say: any cell that may not be read hides everything, then revisions, then numbers."""
        verdicts = [self.verdict(asker, cell.alias, cell.revision) for cell in cells]
        if Verdict.NOT_VISIBLE in verdicts:
            return Aggregate(Outcome.NOT_VISIBLE)
        for index, verdict in enumerate(verdicts):
            if verdict in (Verdict.STALE, Verdict.AHEAD):
                return Aggregate(Outcome[verdict.name], names=index)
        found = []
        for index, cell in enumerate(cells):
            at = self.items[cell.alias].cells().get(cell.place, {})
            if "value" not in at:
                return Aggregate(Outcome.NON_NUMERIC, names=index)
            found.append(at)
        value = float(_FUNCTIONS[function]([float(at["value"]) for at in found]))
        return Aggregate(Outcome.VALUE, value, tuple(at["format"] for at in found))
