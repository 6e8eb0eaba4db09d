"""The demo apps' side of the kit's state hook (docs/siblings/state-hook.md): a world a prefix, beside the demo's."""

import datetime as dt
from collections.abc import Callable
from typing import Any

from memoria_chassis.errors import Kind, ServiceError
from memoria_conformance.consumers import Consumers
from memoria_conformance.formats import GENERAL
from memoria_conformance.store import Snapshot, Store
from memoria_conformance.world import Cell, Content, Item, Person, make_cell
from memoria_contract.types import SubjectKind

Params = dict[str, Any]
_RUNGS = {"team": "team", "granted": "granted", "guest": "private", "link": "private", "private": "private"}
_WRITTEN = dt.datetime(2026, 1, 5, tzinfo=dt.UTC)


class KitState:
    """The verbs, each of which names its prefix. Raises KeyError, TypeError or ValueError for wrong parameters."""

    def __init__(self, app: str, store: Store, consumers: Consumers, kinds: tuple[SubjectKind, ...]) -> None:
        self._app, self._store, self._consumers, self._kinds = app, store, consumers, kinds
        self._backups: dict[str, Snapshot] = {}
        self._verbs: dict[str, Callable[[Params], Params]] = {
            "load_world": self._load_world,
            "edit": self._edit,
            "move_rung": lambda p: self._done(self._store.move_rung(self._item(p), _RUNGS[p["rung"]])),
            "grant": lambda p: self._right(p, "grants", True),
            "revoke": lambda p: self._right(p, "grants", False),
            "remove_person": lambda p: self._right(p, "removed", True),
            "restore_person": lambda p: self._right(p, "removed", False),
            "delete": lambda p: self._done(self._store.delete(self._item(p))),
            "partial_restore": self._partial_restore,
            "restore_to": lambda p: self._done(
                self._store.put_back(_name(p["prefix"], ""), self._backups[p["prefix"]])
            ),
            "expire_cursor": lambda p: self._done(self._consumers.expire(_consumer(p["consumer"], "pull"))),
            "add_token": self._add_token,
            "retire_tokens": self._retire_tokens,
            "teardown": self._teardown,
        }

    def apply(self, verb: str, params: Params) -> Params:
        """Do one verb; ServiceError(UNIMPLEMENTED) for one that is not known."""
        if verb not in self._verbs:
            raise ServiceError(Kind.UNIMPLEMENTED, "unknown state")
        return self._verbs[verb](params)

    def _load_world(self, params: Params) -> Params:
        self._teardown(params)
        prefix = params["prefix"]
        people = [Person(_name(prefix, p["alias"]), p["person_ref"], p["address"], p["name"]) for p in params["people"]]
        items = [self._read(prefix, entry) for entry in params["items"]]
        told = self._store.load_beside(people, items)
        self._backups[prefix] = self._store.snapshot(_name(prefix, ""))
        aliases: Params = {entry["alias"]: told[_name(prefix, entry["alias"])][0] for entry in params["items"]}
        for person in params["people"]:
            both = {kind.value: person[kind.value] for kind in self._kinds}
            aliases[person["alias"]] = both if len(both) > 1 else next(iter(both.values()))
        revisions = {entry["alias"]: told[_name(prefix, entry["alias"])][1] for entry in params["items"]}
        return {"aliases": aliases, "revisions": revisions}

    def _read(self, prefix: str, entry: Params) -> Item:
        tabs = tuple((tab["name"], tuple(_cell(cell) for cell in tab["cells"])) for tab in entry.get("tabs", ()))
        body = entry["body"]
        if self._app == "sheets":  # a spreadsheet holds no running text: a line a row
            lines = [Cell(row, 1, line, GENERAL, None) for row, line in enumerate(body.split("\n"), 1) if line]
            tabs, body = (*tabs, ("Text", tuple(lines))), ""
        elif tabs:
            raise ValueError("tabs are for sheets")
        rights = {key: tuple(_name(prefix, alias) for alias in entry[key]) for key in ("granted", "removed")}
        content = Content(title=entry["title"], trail=("Conformance",), date=_WRITTEN, body=body, tabs=tabs)
        return Item(_name(prefix, entry["alias"]), self._app, content, _RUNGS[entry["rung"]], **rights)

    def _edit(self, params: Params) -> Params:
        item_id = self._item(params)
        content = self._store.content(item_id)
        tabs = {name: {(cell.row, cell.column): cell for cell in cells} for name, cells in content.tabs}
        body = content.body
        for change in params.get("cells", ()):
            place = (change["row"], change["column"])
            before = tabs[change["tab"]].get(place)
            code = before.format_code if before is not None else GENERAL
            tabs[change["tab"]][place] = _cell({"format": code, **change})
        if "body" in params and "Text" in tabs:
            tabs["Text"] = {(1, 1): Cell(1, 1, params["body"], GENERAL, None)}
        elif "body" in params:
            body = params["body"]
        cells = tuple((name, tuple(of.values())) for name, of in tabs.items())
        changed = Content(content.title, content.trail, content.date, content.author, body, cells)
        return {"revision": self._store.edit(item_id, changed)}

    def _partial_restore(self, params: Params) -> Params:
        item_id = self._item(params)
        if params.get("lose"):
            return self._done(self._store.delete(item_id, silently=True))
        return {"revision": self._store.rewind(item_id, int(params.get("steps", 1)))}

    def _add_token(self, params: Params) -> Params:
        name = _consumer(params["consumer"], params["scope"])
        return self._done(self._consumers.add_token(name, params["scope"], params["token"]))

    def _retire_tokens(self, params: Params) -> Params:
        return self._done(self._consumers.retire_others(_consumer(params["consumer"], params["scope"]), params["keep"]))

    def _teardown(self, params: Params) -> Params:
        self._backups.pop(params["prefix"], None)
        return self._done(self._store.unload(_name(params["prefix"], "")))

    def _right(self, params: Params, table: str, present: bool) -> Params:
        person = _name(params["prefix"], params["person"])
        if not self._store.query("select 1 from people where alias = ?", person):
            raise ServiceError(Kind.NOT_FOUND, "no such person")
        return self._done(self._store.set_right(table, self._item(params), person, present))

    def _item(self, params: Params) -> str:
        rows = self._store.query("select item_id from items where alias = ?", _name(params["prefix"], params["item"]))
        if not rows:
            raise ServiceError(Kind.NOT_FOUND, "no such item")
        return str(rows[0][0])

    @staticmethod
    def _done(_: None) -> Params:
        return {}


def _name(prefix: str, alias: str) -> str:
    return f"{prefix}/{alias}"


def _consumer(name: str, scope: str) -> str:
    return f"{'memoria' if name == 'first' else name}.{scope}"


def _cell(cell: Params) -> Cell:
    if "value" in cell:
        return make_cell(cell["row"], cell["column"], cell["value"], cell["format"])
    return Cell(cell["row"], cell["column"], cell["text"], GENERAL, None)
