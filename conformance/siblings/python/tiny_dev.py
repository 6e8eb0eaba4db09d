"""The tiny wiki with a state hook, the door through which the suite sets the scene. For development only."""

import copy
import os
import secrets
from dataclasses import dataclass, replace
from typing import Any

import tiny
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

STATE_TOKEN = os.environ["MEMORIA_STATE_TOKEN"]


@dataclass
class Run:
    """What one prefix holds: the suite's aliases → our page ids and addresses; pages and events as they were loaded."""

    names: dict[str, str]
    pages: dict[str, tiny.Page]
    events: int


runs: dict[str, Run] = {}


def state(request: dict[str, Any]) -> dict[str, Any]:
    """Carry out one request. What is not of its prefix stays as it is."""
    params = request["params"]
    run = runs.get(params["prefix"])
    names = run.names if run else {}
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
            restore(runs[params["prefix"]])
        case "expire_cursor":
            tiny.cursors.expire(params["consumer"])
        case "add_token":
            tiny.consumers.add_token(params["consumer"], params["scope"], params["token"])
        case "retire_tokens":
            tiny.consumers.retire_tokens(params["consumer"], params["scope"], params["keep"])
        case "teardown":
            teardown(params["prefix"])
        case _:
            return {"unsupported": True}
    return {}


def load_world(params: dict[str, Any]) -> dict[str, Any]:
    """These people and items in place of what the prefix held; says what they are called here."""
    teardown(params["prefix"])
    names = {person["alias"]: person["address"] for person in params["people"]}
    tiny.wiki.people |= set(names.values())
    pages = {}
    for item in params["items"]:
        removed = {names[alias] for alias in item["removed"]}
        page = tiny.Page(secrets.token_hex(8), item["title"], item["rung"], removed)
        pages[page.id] = tiny.wiki.pages[page.id] = page
        tiny.wiki.write(page, item["body"])
        names[item["alias"]] = page.id
    events = sum(event.page_id in pages for event in tiny.wiki.feed)
    runs[params["prefix"]] = Run(names, copy.deepcopy(pages), events)
    return {"aliases": names}


def restore(run: Run) -> None:
    """Pages and feed as they were right after `load_world`."""
    others = {page_id: page for page_id, page in tiny.wiki.pages.items() if page_id not in run.pages}
    tiny.wiki.pages = others | copy.deepcopy(run.pages)
    seen, feed = 0, []
    for event in tiny.wiki.feed:
        seen += event.page_id in run.pages
        if seen <= run.events:
            feed.append(event)
        elif event.page_id not in run.pages:
            # Somebody else's, behind a lost one. It gets a new id: a cursor there has seen what now never was.
            feed.append(replace(event, id=secrets.token_hex(8)))
    tiny.wiki.feed = feed


def teardown(prefix: str) -> None:
    """Nothing of this prefix is left."""
    run = runs.pop(prefix, None)
    if run is not None:
        tiny.wiki.people -= set(run.names.values())
        tiny.wiki.pages = {page_id: page for page_id, page in tiny.wiki.pages.items() if page_id not in run.pages}
        tiny.wiki.feed = [event for event in tiny.wiki.feed if event.page_id not in run.pages]


async def hook(request: Request) -> JSONResponse:
    """`POST /__state`, for whoever has the state token."""
    if request.headers.get("authorization") != f"Bearer {STATE_TOKEN}":
        return JSONResponse({}, 401)
    return JSONResponse(state(await request.json()))


app = Starlette(routes=[Route("/__state", hook, methods=["POST"]), Mount("/", tiny.app)])

if __name__ == "__main__":
    uvicorn.run(app, port=tiny.PORT, log_level="warning")
