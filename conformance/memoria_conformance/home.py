"""The demo home: `python -m memoria_conformance.home --port 9100`, token from MEMORIA_HOME_TOKEN."""

import json
import os
import secrets
from hmac import compare_digest
from typing import Annotated

import typer
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from memoria_chassis.errors import Kind, ServiceError
from memoria_conformance.home_server import SERVICE, HomeServer, Roster
from memoria_conformance.run import serve
from memoria_conformance.world import packaged_world
from memoria_contract.connect_server import connect_app


def make_home(roster: Roster | None = None, *, token: str = "home", state_token: str | None = None) -> Starlette:  # noqa: S107 — a test's
    """A home over `roster`, by default everybody in the packaged world.

    `POST /__state` takes `set_members {members}`, `set_ttl {seconds}` and `new_generation {}`.
    """
    if roster is None:
        roster = Roster([person.person_ref for person in packaged_world().people])

    def authenticate(headers: Headers, method: str) -> str:
        if not compare_digest(headers.get("authorization", "").encode(), f"Bearer {token}".encode()):
            raise ServiceError(Kind.UNAUTHENTICATED, "this call needs a consumer's token")
        return "memoria"

    async def state(request: Request) -> Response:
        if not state_token:
            return Response(status_code=404)
        if not compare_digest(request.headers.get("authorization", "").encode(), f"Bearer {state_token}".encode()):
            return Response(status_code=401)
        try:
            asked = json.loads(await request.body())
            params = asked.get("params") or {}
            match asked["state"]:
                case "set_members":
                    roster.set_members([str(member) for member in params["members"]])
                case "set_ttl":
                    roster.ttl_seconds = int(params["seconds"])
                case "new_generation":
                    roster.generation = secrets.token_hex(8)
                case _:
                    return Response(status_code=400)
        except (ValueError, KeyError, TypeError, AttributeError):
            return Response(status_code=400)
        return JSONResponse({"members": roster.members})

    app = Starlette(
        routes=[
            Route("/__state", state, methods=["POST"]),
            Mount("/", connect_app(SERVICE, HomeServer(roster), authenticate=authenticate)),
        ]
    )
    app.router.redirect_slashes = False
    return app


def main(port: Annotated[int, typer.Option(help="on 127.0.0.1")]) -> None:
    """Serve the demo home. Tokens come from MEMORIA_HOME_TOKEN and MEMORIA_HOME_STATE_TOKEN."""
    token = os.environ.get("MEMORIA_HOME_TOKEN") or secrets.token_urlsafe(32)
    serve(make_home(token=token, state_token=os.environ.get("MEMORIA_HOME_STATE_TOKEN")), port)


if __name__ == "__main__":
    typer.run(main)
