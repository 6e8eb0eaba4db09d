"""The gateway as an ASGI app: routes, error edge, middleware."""

import time
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoria_chassis import log, metrics
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.process import Process
from memoria_gateway import api, pod, route_table
from memoria_gateway.desk import Desk
from memoria_gateway.door import SignInNeeded
from memoria_gateway.edge import ErrorEdge
from memoria_gateway.headers import SecurityHeaders
from memoria_gateway.hosts import OwnHosts
from memoria_gateway.pages import account, connectors, documents, home, home_account, pushes, search, sign_in, uploads
from memoria_gateway.render import NOT_FOUND, json_error, wants_json

_INTERNAL = ServiceError(Kind.INTERNAL, "Something broke on our side. Nothing was lost; the log has the trace.")
_UNCOUNTED = ("/healthz", "/readyz", "/idle")


class Counted:
    """Counts and times what is served, by route pattern; probes do not keep a pod awake."""

    def __init__(self, app: ASGIApp, *, process: Process) -> None:
        self._app = app
        self._process = process

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve and count."""
        if scope["type"] != "http" or scope["path"] in _UNCOUNTED:
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with self._process.activity.request():
            try:
                await self._app(scope, receive, watched)
            finally:
                route = scope.get("route")
                pattern = route.path if isinstance(route, Route) else "other"
                metrics.observe_page(pattern, status, time.perf_counter() - began)


def make_app(desk: Desk, process: Process) -> Starlette:
    """The app. Its routes are the table of the specification's chapter 12, as far as it is built."""
    renderer = desk.renderer
    https = desk.origin.startswith("https:")
    sign_in_by = process.settings.home_sign_in

    async def help_page(request: Request) -> Response:
        return renderer.page(request, "open_source.html")

    async def service_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, ServiceError)
        if isinstance(error, SignInNeeded) and not wants_json(request):
            return sign_in.sign_in_redirect(request, error)
        if error.kind is Kind.INTERNAL:
            log.get_logger().error("page failed", kind=error.kind.value, exc_info=error)
        return json_error(error) if wants_json(request) else renderer.error(request, error)

    async def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 404:
            shown = NOT_FOUND
        elif error.status_code == 405:
            shown = ServiceError(Kind.INVALID, "This address does not take that method.")
        else:
            shown = ServiceError(Kind.INVALID, "This request could not be read.")
        response = json_error(shown) if wants_json(request) else renderer.error(request, shown)
        response.status_code = error.status_code
        response.headers.update(error.headers or {})  # a 405 says what it would allow
        return response

    def unforeseen(request: Request) -> Response:
        return json_error(_INTERNAL) if wants_json(request) else renderer.error(request, _INTERNAL)

    app = Starlette(
        routes=[
            *search.routes(desk),
            *uploads.routes(desk),
            *documents.routes(desk),
            *sign_in.routes(desk),
            *home.routes(desk),
            *account.routes(desk),
            *home_account.routes(desk),
            *connectors.routes(desk),
            *pushes.routes(desk),
            *api.routes(desk),
            *pod.routes(desk, process),
            Route("/help/open-source", help_page, methods=["GET"]),
            Mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static"),
        ],
        middleware=[
            Middleware(SecurityHeaders, https=https, issuer=sign_in_by.issuer if sign_in_by else ""),
            Middleware(OwnHosts, origin=desk.origin, team=process.settings.team.label, zone=process.settings.team.zone),
            Middleware(Counted, process=process),
            Middleware(ErrorEdge, render=unforeseen),
        ],
        exception_handlers={ServiceError: service_error, HTTPException: http_error},
    )
    app.router.redirect_slashes = False
    route_table.check(app)
    return app
