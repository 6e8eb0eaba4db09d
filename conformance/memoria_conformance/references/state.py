"""The reference app's state hook, after docs/siblings/state-hook.md."""

import hmac
import json
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memoria_conformance.references.feed import Feed
from memoria_conformance.references.store import Json, Store
from memoria_conformance.references.tokens import Tokens


class State:
    """The verbs. KeyError, TypeError or ValueError where a request is not what it should be."""

    def __init__(self, store: Store, feed: Feed, tokens: Tokens) -> None:
        self._store, self._feed, self._tokens = store, feed, tokens
        self._verbs: dict[str, Callable[[str, Json], Json | None]] = {
            "load_world": self._load_world,
            "edit": self._edit,
            "move_rung": lambda prefix, p: store.move(store.find(prefix, p["item"]), p["rung"]),
            "grant": lambda prefix, p: self._rights(prefix, p, "granted").add(store.person(prefix, p["person"])),
            "revoke": lambda prefix, p: self._rights(prefix, p, "granted").discard(store.person(prefix, p["person"])),
            "remove_person": lambda prefix, p: self._rights(prefix, p, "removed").add(
                store.person(prefix, p["person"])
            ),
            "restore_person": lambda prefix, p: self._rights(prefix, p, "removed").discard(
                store.person(prefix, p["person"])
            ),
            "delete": lambda prefix, p: store.delete(store.find(prefix, p["item"])),
            "partial_restore": self._partial_restore,
            "restore_to": lambda prefix, p: store.restore(prefix) if p["point"] == "loaded" else _wrong(),
            "expire_cursor": lambda prefix, p: feed.expire(p["consumer"]),
            "add_token": lambda prefix, p: tokens.add(p["consumer"], p["scope"], p["token"]),
            "retire_tokens": lambda prefix, p: tokens.retire(p["consumer"], p["scope"], p["keep"]),
            "teardown": lambda prefix, p: store.forget(prefix),
        }

    def apply(self, request: Json) -> Json:
        """Carry out one request of the hook. NotImplementedError for a verb that is not known."""
        verb = "teardown" if request.get("action") == "teardown" else request["state"]
        if verb not in self._verbs:
            raise NotImplementedError(verb)
        params = request["params"]
        return self._verbs[verb](params["prefix"], params) or {}

    def _load_world(self, prefix: str, params: Json) -> Json:
        self._store.load(prefix, params["people"], params["items"])
        items = {item.alias: item for item in self._store.items.values() if item.prefix == prefix}
        people = {person["alias"]: person["person_ref"] for person in params["people"]}
        return {
            "aliases": {alias: item.id for alias, item in items.items()} | people,
            "revisions": {alias: item.current.id for alias, item in items.items()},
        }

    def _edit(self, prefix: str, params: Json) -> Json:
        item = self._store.find(prefix, params["item"])
        return {"revision": self._store.edit(item, params.get("body"), params.get("cells", []))}

    def _partial_restore(self, prefix: str, params: Json) -> None:
        item = self._store.find(prefix, params["item"])
        if params.get("lose"):
            self._store.delete(item, silently=True)
        else:
            self._store.rewind(item, int(params["steps"]))

    def _rights(self, prefix: str, params: Json, which: str) -> set[str]:
        rights: set[str] = getattr(self._store.find(prefix, params["item"]), which)
        return rights


def _wrong() -> Any:
    raise ValueError("unknown point")


def state_route(state: State, token: str | None) -> Callable[[Request], Any]:
    """The handler of `POST /__state`; 404 for everybody where there is no token."""

    async def handle(request: Request) -> Response:
        if not token:
            return Response(status_code=404)
        given = request.headers.get("authorization", "").encode()
        if not hmac.compare_digest(given, f"Bearer {token}".encode()):
            return Response(status_code=401)
        try:
            return JSONResponse(state.apply(json.loads(await request.body())))
        except NotImplementedError:
            return JSONResponse({"unsupported": True}, 501)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            return JSONResponse({"message": f"not a request of the hook ({type(error).__name__})"}, 400)

    return handle
