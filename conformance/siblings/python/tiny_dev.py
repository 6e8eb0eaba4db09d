"""The tiny wiki with a state hook, the door through which the suite sets the scene. For development only."""

import copy
import os
import secrets
from typing import Any

import tiny
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

names: dict[str, str] = {}  # the suite's aliases → our page ids and addresses
loaded: Any = None  # how pages and feed stood right after `load_world`


def state(request: dict[str, Any]) -> dict[str, Any]:
    """Carry out one request. This wiki holds one world at a time, so it can overlook the prefix."""
    params = request["params"]
    page: Any = tiny.wiki.pages.get(names.get(params.get("item"), ""))
    match request["state"]:
        case "load_world":
            return load_world(params)
        case "edit":
            return {"revision": tiny.wiki.write(page, params["body"])}
        case "move_rung":
            tiny.wiki.move(page, params["rung"])
        case "grant" | "revoke":
            pass  # a grant never brings a page to memoria, and this wiki shows its pages to nobody else
        case "remove_person":
            page.removed.add(names[params["person"]])
        case "restore_person":
            page.removed.discard(names[params["person"]])
        case "delete":
            tiny.wiki.delete(page)
        case "partial_restore" if params.get("lose"):
            del tiny.wiki.pages[page.id]
        case "partial_restore":
            del page.log[-params["steps"] :]
        case "restore_to":
            tiny.wiki.pages, tiny.wiki.feed = copy.deepcopy(loaded)
        case "expire_cursor":
            tiny.cursors.expire(params["consumer"])
        case "add_token":
            tiny.consumers.add_token(params["consumer"], params["scope"], params["token"])
        case "retire_tokens":
            tiny.consumers.retire_tokens(params["consumer"], params["scope"], params["keep"])
        case "teardown":
            tiny.wiki.clear()
        case _:
            return {"unsupported": True}
    return {}


def load_world(params: dict[str, Any]) -> dict[str, Any]:
    """Forget everything, take these people and items, and say what they are called here."""
    global loaded
    tiny.wiki.clear()
    names.clear()
    names.update({person["alias"]: person["address"] for person in params["people"]})
    tiny.wiki.people = set(names.values())
    for item in params["items"]:
        removed = {names[alias] for alias in item["removed"]}
        page = tiny.Page(secrets.token_hex(8), item["title"], item["rung"], removed)
        tiny.wiki.pages[page.id] = page
        tiny.wiki.write(page, item["body"])
        names[item["alias"]] = page.id
    loaded = copy.deepcopy((tiny.wiki.pages, tiny.wiki.feed))
    return {"aliases": names}


async def hook(request: Request) -> JSONResponse:
    """`POST /__state`, for whoever has the state token."""
    if request.headers.get("authorization") != f"Bearer {os.environ['MEMORIA_STATE_TOKEN']}":
        return JSONResponse({}, 401)
    return JSONResponse(state(await request.json()))


app = Starlette(routes=[Route("/__state", hook, methods=["POST"]), Mount("/", tiny.app)])

if __name__ == "__main__":
    uvicorn.run(app, port=tiny.PORT, log_level="warning")
