"""A demo sibling app: `python -m memoria_conformance.sibling --app docs --port 9102 --db docs.sqlite --team demo`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from memoria_conformance.consumers import DEFAULT_TTL, Consumer, Consumers
from memoria_conformance.faults import Faults
from memoria_conformance.feed import Feed
from memoria_conformance.rulings import Rulings
from memoria_conformance.run import serve
from memoria_conformance.server import SERVICE, SiblingServer
from memoria_conformance.state import State, state_route
from memoria_conformance.store import Store
from memoria_conformance.world import APPS, World, packaged_world
from memoria_contract.connect_server import connect_app
from memoria_contract.hosts import sibling_host
from memoria_contract.types import SubjectKind

# The same for every id: whether an item exists is for its readers to know, and this demo has no sign-in of its own.
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Demo {app}</title>
<h1>This is the demo {app} app</h1>
<p>It stands in for an app of your own and serves memoria only. To open an item you would sign in to that app here.</p>
"""


class Sibling:
    """One demo app as an ASGI app; `store` and `state` are there for tests in the same process."""

    def __init__(
        self, app: str, store: Store, consumers: Consumers, server: SiblingServer, state: State, state_token: str | None
    ) -> None:
        self.app, self.store, self.consumers, self.server, self.state = app, store, consumers, server, state

        def authenticate(headers: Headers, method: str) -> Consumer:
            return consumers.admit(headers.get("authorization"), method)

        async def page(request: Request) -> Response:
            return HTMLResponse(_PAGE.format(app=app), headers={"Content-Security-Policy": "default-src 'none'"})

        self._calls = server.faults.around(connect_app(SERVICE, server, authenticate=authenticate))
        self._rest = Starlette(
            routes=[
                Route("/", page),
                Route("/items/{item_id}", page),
                Route("/__state", state_route(state, state_token), methods=["POST"]),
            ]
        )
        self._rest.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the contract under `/memoria.…`, the page and the state hook beside it."""
        contract = scope["type"] == "http" and scope["path"].startswith("/memoria.")
        await (self._calls if contract else self._rest)(scope, receive, send)


def make_sibling(
    app: str,
    *,
    db: str = ":memory:",
    team: str = "demo",
    zone: str = "localhost",
    port: int | None = None,
    pull_tokens: Sequence[str] = ("pull",),
    ask_tokens: Sequence[str] = ("ask",),
    state_token: str | None = None,
    subject_kinds: Sequence[SubjectKind] = (SubjectKind.ADDRESS,),
    revisions: str = "hash",
    world: World | None = None,
    page_rows: int = 100,
    ttl_seconds: float = DEFAULT_TTL,
    **store_options: Any,
) -> Sibling:
    """A demo app over `world` (the packaged one by default), loaded unless the database already holds one.

    Two consumers, `memoria.pull` and `memoria.ask`, with at most two tokens each. `revisions` is hash, counter or ulid.
    """
    if app not in APPS:
        raise ValueError(f"app must be one of {APPS}")
    world = world or packaged_world()
    host = sibling_host(team, zone, app)
    scheme = "http" if port else "https"
    suffix = f":{port}" if port else ""
    store = Store(db, revisions=revisions, **store_options)
    consumers = Consumers(store, ttl_seconds)
    consumers.configure("memoria.pull", "pull", list(pull_tokens))
    consumers.configure("memoria.ask", "ask", list(ask_tokens))
    faults = Faults(elsewhere=f"{scheme}://other-{host}{suffix}")
    feed = Feed(store, consumers, page_rows)
    server = SiblingServer(app, f"{scheme}://{host}{suffix}", store, feed, Rulings(store, subject_kinds), faults)
    state = State(app, store, consumers, faults, world, tuple(subject_kinds))
    if not store.query("select 1 from people limit 1"):
        store.load(world, app)
    return Sibling(app, store, consumers, server, state, state_token)


def main(
    app: Annotated[str, typer.Option(help="docs, sheets or calendar")],
    port: Annotated[int, typer.Option(help="on 127.0.0.1")],
    db: Annotated[Path, typer.Option(help="SQLite file; made and seeded if it is not there")],
    team: Annotated[str, typer.Option()] = "demo",
    zone: Annotated[str, typer.Option()] = "localhost",
    subject_kind: Annotated[SubjectKind, typer.Option(help="how this app keys people")] = SubjectKind.ADDRESS,
    revisions: Annotated[str, typer.Option(help="hash, counter or ulid")] = "hash",
) -> None:
    """Serve a demo app. Tokens come from MEMORIA_SIBLING_PULL_TOKEN and _ASK_TOKEN (one or two each), _STATE_TOKEN."""
    tokens = {
        scope: [token for token in os.environ.get(f"MEMORIA_SIBLING_{scope}_TOKEN", "").split(",") if token]
        for scope in ("PULL", "ASK")
    }
    sibling = make_sibling(
        app,
        db=str(db),
        team=team,
        zone=zone,
        port=port,
        pull_tokens=tokens["PULL"],
        ask_tokens=tokens["ASK"],
        state_token=os.environ.get("MEMORIA_SIBLING_STATE_TOKEN"),
        subject_kinds=(subject_kind,),
        revisions=revisions,
    )
    try:
        serve(sibling, port)
    finally:
        sibling.store.close()


if __name__ == "__main__":
    typer.run(main)
