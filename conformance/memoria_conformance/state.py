"""The state hook: a test puts a demo app into the state it needs, with the words of the contract kit."""

import dataclasses
import datetime as dt
import json
from collections.abc import Callable
from hmac import compare_digest
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memoria_chassis.errors import Kind, ServiceError
from memoria_conformance.consumers import Consumers
from memoria_conformance.faults import Fault, Faults
from memoria_conformance.kit_state import KitState
from memoria_conformance.store import Store
from memoria_conformance.world import RUNGS, World, load_world, make_cell, parse_item
from memoria_contract.codec import status_of
from memoria_contract.types import SubjectKind

Params = dict[str, Any]
_LIMIT = 4 * 1024 * 1024


class State:
    """The verbs. Items are named by alias or id, people by alias, address or person_ref.

    Each returns what a test needs to know; `apply` adds the aliases. ServiceError(INVALID) for an unknown verb or a
    parameter that is missing, NOT_FOUND for an item or a person that is not there.
    """

    def __init__(
        self,
        app: str,
        store: Store,
        consumers: Consumers,
        faults: Faults,
        world: World,
        kinds: tuple[SubjectKind, ...] = (SubjectKind.ADDRESS,),
    ) -> None:
        self._kit = KitState(app, store, consumers, kinds)
        self._app, self._store, self._consumers, self._faults = app, store, consumers, faults
        self._world = world
        self._backups: dict[str, bytes] = {}
        self._verbs: dict[str, Callable[[Params], Params]] = {
            "load_world": self._load_world,
            "create": self._create,
            "edit": self._edit,
            "move_rung": self._move_rung,
            "grant": lambda p: self._right(p, "grants", True),
            "revoke": lambda p: self._right(p, "grants", False),
            "remove_person": lambda p: self._right(p, "removed", True),
            "restore_person": lambda p: self._right(p, "removed", False),
            "delete": lambda p: self._done(self._store.delete(self._item(p))),
            "partial_restore": self._partial_restore,
            "checkpoint": self._checkpoint,
            "restore_to": lambda p: self._done(self._store.restore(self._backups[p["name"]])),
            "expire_cursor": lambda p: self._done(self._consumers.expire(p.get("consumer"))),
            "add_token": self._add_token,
            "retire_tokens": self._retire_tokens,
            "fault": self._fault,
            "teardown": self._load_world,
        }

    @property
    def verbs(self) -> tuple[str, ...]:
        """Every verb there is."""
        return tuple(self._verbs)

    def apply(self, verb: str, params: Params | None = None, action: str = "setup") -> Params:
        """Do one verb; `action` teardown puts the world back as it was loaded, whatever the verb.

        Requests that name a prefix are the contract kit's, and concern the kit's own worlds only.
        """
        if params and "prefix" in params and (verb != "load_world" or "items" in params):
            try:
                return self._kit.apply(verb, params)
            except (KeyError, TypeError, ValueError):
                raise ServiceError(Kind.INVALID, "a parameter is missing or wrong") from None
        if verb not in self._verbs or action not in ("setup", "teardown"):
            raise ServiceError(Kind.INVALID, "unknown state or action")
        try:
            result = self._verbs["teardown" if action == "teardown" else verb](params or {})
        except (KeyError, TypeError, ValueError):
            raise ServiceError(Kind.INVALID, "a parameter is missing or wrong") from None
        return {**result, "aliases": self._store.aliases()}

    def _load_world(self, params: Params) -> Params:
        if "world" in params:
            self._world = load_world(json.dumps(params["world"]))  # JSON is YAML
        self._faults.set(Fault("none"))
        self._store.load(self._world, self._app, params.get("prefix", ""))
        return {"people": {p.alias: {"address": p.address, "person_ref": p.person_ref} for p in self._world.people}}

    def _create(self, params: Params) -> Params:
        moment = {"start": "2026-01-01T09:00", "end": "2026-01-01T10:00"}
        entry = (moment if self._app == "calendar" else {"date": "2026-01-01"}) | params
        return {"item_id": self._store.create(parse_item(self._app, entry))}

    def _edit(self, params: Params) -> Params:
        item_id = self._item(params)
        content = self._store.content(item_id)
        if "cells" in params:  # [[tab, row, column, value or [value, format]], …]; null empties
            tabs = {name: {(c.row, c.column): c for c in cells} for name, cells in content.tabs}
            for tab, row, column, value in params["cells"]:
                before = tabs[tab].pop((row, column), None)
                if value is not None:
                    code = before.format_code if before else "General"
                    tabs[tab][row, column] = make_cell(row, column, value, code)
            content = dataclasses.replace(content, tabs=tuple((n, tuple(c.values())) for n, c in tabs.items()))
        texts = {key: str(params[key]) for key in ("title", "body", "author") if key in params}
        if "date" in params:
            content = dataclasses.replace(
                content, date=dt.datetime.fromisoformat(params["date"]).replace(tzinfo=dt.UTC)
            )
        return {"item_id": item_id, "revision": self._store.edit(item_id, dataclasses.replace(content, **texts))}

    def _move_rung(self, params: Params) -> Params:
        if params["rung"] not in RUNGS:
            raise ValueError("unknown rung")
        return self._done(self._store.move_rung(self._item(params), params["rung"]))

    def _right(self, params: Params, table: str, present: bool) -> Params:
        return self._done(self._store.set_right(table, self._item(params), self._person(params), present))

    def _partial_restore(self, params: Params) -> Params:
        """`lose` true: the row is gone without a word; else its last `steps` revisions are."""
        item_id = self._item(params)
        if params.get("lose"):
            return self._done(self._store.delete(item_id, silently=True))
        return {"item_id": item_id, "revision": self._store.rewind(item_id, int(params.get("steps", 1)))}

    def _checkpoint(self, params: Params) -> Params:
        self._backups[params["name"]] = self._store.checkpoint()
        return {}

    def _add_token(self, params: Params) -> Params:
        """A token, or the SHA-256 of one in hex: nobody but its user needs the token itself."""
        consumer, scope = params["consumer"], params["scope"]
        if "sha256" in params:
            return self._done(self._consumers.add_hash(consumer, scope, bytes.fromhex(params["sha256"])))
        return self._done(self._consumers.add_token(consumer, scope, params["token"]))

    def _retire_tokens(self, params: Params) -> Params:
        consumer = params["consumer"]
        if "sha256" in params:
            return self._done(self._consumers.keep_hash(consumer, params["scope"], bytes.fromhex(params["sha256"])))
        return self._done(self._consumers.retire_others(consumer, params["token"]))

    def _fault(self, params: Params) -> Params:
        options = {key: params[key] for key in ("seconds", "status", "location") if key in params}
        return self._done(self._faults.set(Fault(params["kind"], **options), params.get("call", "")))

    def _item(self, params: Params) -> str:
        rows = self._store.query("select item_id from items where alias = ?1 or item_id = ?1", params["item"])
        if not rows:
            raise ServiceError(Kind.NOT_FOUND, "no such item")
        return str(rows[0][0])

    def _person(self, params: Params) -> str:
        rows = self._store.query("select alias from people where ?1 in (alias, address, person_ref)", params["person"])
        if not rows:
            raise ServiceError(Kind.NOT_FOUND, "no such person")
        return str(rows[0][0])

    @staticmethod
    def _done(_: None) -> Params:
        return {}


def state_route(state: State, token: str | None) -> Callable[[Request], Any]:
    """The handler of `POST /__state`, `{"state", "params", "action"}`; 404 for everybody where no token is set."""

    async def handle(request: Request) -> Response:
        if not token:
            return Response(status_code=404)
        if not compare_digest(request.headers.get("authorization", "").encode(), f"Bearer {token}".encode()):
            return Response(status_code=401)
        try:
            body = b""
            async for part in request.stream():
                body += part
                if len(body) > _LIMIT:
                    raise ServiceError(Kind.EXHAUSTED, "the request is too large")
            try:
                asked = json.loads(body)
                verb, params, action = asked["state"], asked.get("params") or {}, asked.get("action", "setup")
            except Exception:
                raise ServiceError(Kind.INVALID, "the body is not a state request") from None
            return JSONResponse(state.apply(verb, params, action))
        except ServiceError as error:
            return JSONResponse({"code": error.kind.value, "message": error.message}, status_of(error.kind))

    return handle
