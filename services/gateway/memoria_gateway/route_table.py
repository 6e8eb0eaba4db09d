"""What the gateway may serve and what stands before it: chapter 12's table as data (SRF-01).

The app is compared with it at start: a route that is not declared here is not served, and neither is anything else.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Host, Mount, Route
from starlette.staticfiles import StaticFiles

from memoria_chassis.errors import Kind, ServiceError


class Gate(StrEnum):
    """What a request must pass before its handler does anything. The words are those of `docs/routes.md`."""

    PUBLIC = "public"
    PROBE = "public, no content"
    LINK = "the link's own secret, admission"
    SESSION = "session"
    OWNER = "owner"
    RULING = "ruling"
    CSRF = "CSRF"
    BUDGET = "sign-in budget"
    HOME = "Home configured"
    ISSUER = "the issuer's exact origin, its signature"
    BROWSER = "the browser that began it, admission"
    READ_TOKEN = "personal token, read"  # noqa: S105 - a gate's name
    WRITE_TOKEN = "personal token, write"  # noqa: S105 - a gate's name
    CONNECTOR_TOKEN = "connector token"  # noqa: S105 - a gate's name


@dataclass(frozen=True, slots=True)
class Declared:
    """One row: a method, a path as the router has it, and its gates in the order in which they stand."""

    method: str
    path: str
    gates: tuple[Gate, ...]


TABLE = (
    Declared("GET", "/", (Gate.SESSION,)),
    Declared("GET", "/search", (Gate.SESSION,)),
    Declared("POST", "/documents", (Gate.SESSION, Gate.CSRF)),
    Declared("GET", "/documents/{id}", (Gate.SESSION, Gate.RULING)),
    Declared("GET", "/documents/{id}/delete", (Gate.SESSION, Gate.RULING)),
    Declared("POST", "/documents/{id}/delete", (Gate.SESSION, Gate.RULING, Gate.CSRF)),
    Declared("GET", "/signin", (Gate.PUBLIC,)),
    Declared("GET", "/signin/local", (Gate.PUBLIC,)),
    Declared("POST", "/auth/begin", (Gate.PUBLIC, Gate.CSRF, Gate.BUDGET)),
    Declared("GET", "/auth/verify", (Gate.LINK,)),
    Declared("GET", "/auth/landed", (Gate.SESSION,)),
    Declared("GET", "/auth/start", (Gate.HOME,)),
    Declared("POST", "/auth/assertion", (Gate.HOME, Gate.ISSUER)),
    Declared("GET", "/auth/finish", (Gate.HOME, Gate.BROWSER)),
    Declared("GET", "/auth/local/complete", (Gate.HOME,)),
    Declared("POST", "/signout", (Gate.CSRF,)),
    Declared("GET", "/signed-out", (Gate.PUBLIC,)),
    Declared("GET", "/account/tokens", (Gate.SESSION,)),
    Declared("POST", "/account/tokens", (Gate.SESSION, Gate.CSRF)),
    Declared("POST", "/account/tokens/{id}/revoke", (Gate.SESSION, Gate.CSRF)),
    Declared("GET", "/account/home", (Gate.SESSION, Gate.HOME)),
    Declared("POST", "/account/home", (Gate.SESSION, Gate.CSRF, Gate.HOME)),
    Declared("GET", "/account/home/confirm", (Gate.SESSION, Gate.HOME)),
    Declared("POST", "/account/home/confirm", (Gate.SESSION, Gate.CSRF, Gate.HOME)),
    Declared("GET", "/connectors", (Gate.SESSION, Gate.OWNER)),
    Declared("POST", "/connectors", (Gate.SESSION, Gate.OWNER, Gate.CSRF)),
    Declared("POST", "/connectors/{id}/items", (Gate.CONNECTOR_TOKEN,)),
    Declared("POST", "/connectors/{id}/sync", (Gate.SESSION, Gate.OWNER, Gate.CSRF)),
    Declared("POST", "/connectors/{id}/delete", (Gate.SESSION, Gate.OWNER, Gate.CSRF)),
    Declared("POST", "/appearance", (Gate.CSRF,)),
    Declared("GET", "/help/open-source", (Gate.PUBLIC,)),
    Declared("GET", "/static/{file}", (Gate.PUBLIC,)),
    Declared("GET", "/api/v1/search", (Gate.READ_TOKEN,)),
    Declared("GET", "/api/v1/documents/{id}", (Gate.READ_TOKEN, Gate.RULING)),
    Declared("POST", "/api/v1/documents", (Gate.WRITE_TOKEN,)),
    Declared("GET", "/healthz", (Gate.PROBE,)),
    Declared("GET", "/readyz", (Gate.PROBE,)),
    Declared("GET", "/idle", (Gate.PROBE,)),
)

MIDDLEWARE = ("SecurityHeaders", "OwnHosts", "Counted", "ErrorEdge")
"""Around every route, the outermost first. Another one could answer by itself, so it is a route like any other."""

_ANY = "ANY"


def mounted(routes: Iterable[BaseRoute], prefix: str = "") -> Iterator[tuple[str, str]]:
    """(method, path) of everything that would answer. What takes any method or any path below it says so: `ANY`, `/*`.

    HEAD goes with GET. A class of route that is not known here takes anything, for all that this can tell.
    """
    for route in routes:
        if type(route) is Route and route.methods:
            yield from ((method, prefix + route.path) for method in route.methods if method != "HEAD")
        elif type(route) is Mount and type(route.app) is StaticFiles:
            yield "GET", f"{prefix}{route.path}/{{file}}"
        elif isinstance(route, Mount) and route.routes:
            yield from mounted(route.routes, prefix + route.path)
        elif isinstance(route, Host):
            yield from mounted(route.routes, f"{prefix}//{route.host}")
        else:
            yield _ANY, f"{prefix}{getattr(route, 'path', '')}/*"


def check(app: Starlette) -> None:
    """Return if the app serves the table and nothing else. Raises INTERNAL with what differs."""
    found, told = set(mounted(app.routes)), {(row.method, row.path) for row in TABLE}
    around = tuple(getattr(each.cls, "__name__", "?") for each in app.user_middleware)
    wrong = [f"{method} {path}" for method, path in sorted(found ^ told)]
    wrong += [f"middleware {' '.join(around)}"] if around != MIDDLEWARE else []
    if wrong:
        raise ServiceError(Kind.INTERNAL, f"what is mounted is not what is declared: {', '.join(wrong)}")
