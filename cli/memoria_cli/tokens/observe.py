"""Whether memoria uses a token: what authz and ingest say of the last call that was accepted with it."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.secret import token_print
from memoria_cli import status_view
from memoria_cli.place import Place
from memoria_cli.session import Session
from memoria_cli.tokens.callers import SCOPE
from memoria_cli.tokens.rotation import Credential

_WHERE = {"ask": ("authz", "tokens"), "pull": ("ingest", "tokens"), SCOPE: ("authz", "callers")}
"""By scope: which service says what was accepted, and under what. Of the apps, whoever has the token; of our own
services, authz, which each of the callers asks with every question."""
_PAUSE = 0.2


def accepted(place: Place, scope: str, app: str) -> str:
    """The print of the token that an app last answered, or that a service of ours last came with; empty where nothing
    was asked yet. Raises UNAVAILABLE."""
    service, what = _WHERE[scope]
    said = status_view.ask(Path(place.running().run_dir), service).get(what)
    if not isinstance(said, dict):
        raise ServiceError(Kind.UNAVAILABLE, f"{service} does not say which token it uses")
    return str(said.get(app, ""))


def observer(place: Place, seconds: float) -> Callable[[Credential, str], None]:
    """Looks for so many seconds whether a token is in use. Every question asks every app, with both tokens, so on a
    development instance one is asked; elsewhere the team's own questions are waited for."""

    def observe(credential: Credential, token: str) -> None:
        deadline = time.monotonic() + seconds
        wanted = token_print(token)
        while accepted(place, credential.row.scope, credential.row.app) != wanted:
            if time.monotonic() > deadline:
                raise ServiceError(
                    Kind.DEADLINE,
                    "memoria was not seen to use the new token yet; search for something and run it again",
                )
            if place.running().outbox:
                with contextlib.suppress(ServiceError):
                    Session(place, None, None).get("/api/v1/search", {"q": "rotation"})
            time.sleep(_PAUSE)

    return observe
