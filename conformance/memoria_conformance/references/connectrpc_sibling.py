"""A sibling on the connectrpc package: `python -m memoria_conformance.references.connectrpc_sibling --port 9201`."""

import os
from collections.abc import Callable, Mapping
from typing import Annotated

import typer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from memoria_conformance.references.connectrpc_server import SiblingApplication, SiblingService
from memoria_conformance.references.feed import Feed
from memoria_conformance.references.guard import Guard
from memoria_conformance.references.state import State, state_route
from memoria_conformance.references.store import Json, Store
from memoria_conformance.references.tokens import Tokens
from memoria_conformance.run import serve


def make_app(
    *,
    pull_token: str,
    ask_token: str,
    state_token: str | None,
    origin: str = "http://sibling.localhost",
    page_rows: int = 50,
) -> ASGIApp:
    """The app with one consumer, `first`. `origin` is where its links point; without a state token it has no hook."""
    tokens = {"pull": pull_token, "ask": ask_token}
    return make_reference(tokens, state_token=state_token, origin=origin, page_rows=page_rows)[0]


def make_reference(
    given: Mapping[str, str], *, state_token: str | None, origin: str, page_rows: int
) -> tuple[ASGIApp, Callable[[Json], Json]]:
    """The app, and its state hook as a function, for a test in the same process. `given` holds a token by scope."""
    store, tokens = Store(), Tokens()
    feed = Feed(store, page_rows)
    for scope, token in given.items():
        tokens.add("first", scope, token)
    contract = SiblingApplication(SiblingService("reference", store, feed, origin), tokens)

    async def page(request: Request) -> Response:
        """The same for every id: whether an item exists is for its readers to know."""
        return PlainTextResponse("To open an item you would sign in to the app here.\n")

    state = State(store, feed, tokens)
    app = Starlette(
        routes=[
            Route("/__state", state_route(state, state_token), methods=["POST"]),
            Route("/items/{item_id}", page),
            Mount("/", Guard(contract)),
        ]
    )
    app.router.redirect_slashes = False
    return app, state.apply


def main(port: Annotated[int, typer.Option(help="on 127.0.0.1")]) -> None:
    """Serve. Tokens come from MEMORIA_SIBLING_PULL_TOKEN, _ASK_TOKEN and _STATE_TOKEN."""
    app = make_app(
        pull_token=os.environ["MEMORIA_SIBLING_PULL_TOKEN"],
        ask_token=os.environ["MEMORIA_SIBLING_ASK_TOKEN"],
        state_token=os.environ.get("MEMORIA_SIBLING_STATE_TOKEN"),
        origin=f"http://localhost:{port}",
    )
    serve(app, port)


if __name__ == "__main__":
    typer.run(main)
