"""Signing in by the home: the hand-off there, the assertion from there, and the browser's return."""

from typing import assert_never
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.desk import Desk
from memoria_gateway.forms import read_form
from memoria_gateway.home.adapter import HomeAdapter
from memoria_gateway.home.model import Rejected
from memoria_gateway.home.pending import Pending, Purpose
from memoria_gateway.render import NOT_FOUND
from memoria_gateway.store import Method, Session

FRESH_SECONDS = 600
LOCAL_FIRST = "/signin/local?" + urlencode({"next": "/auth/local/complete"})
"""Where somebody goes for a session that is fresh enough to link with."""


def configured(desk: Desk) -> HomeAdapter:
    """The home. Raises NOT_FOUND where there is none."""
    if desk.home is None:
        raise NOT_FOUND
    return desk.home


def fresh(home: HomeAdapter, session: Session | None) -> bool:
    """Whether a session shows that its person reads the address's mail, now and not weeks ago (AUT-24)."""
    return session is not None and session.method is Method.LINK and home.store.now() - session.began <= FRESH_SECONDS


def routes(desk: Desk) -> list[Route]:
    """GET /auth/start, POST /auth/assertion, GET /auth/finish, GET /auth/local/complete."""

    async def start(request: Request) -> Response:
        home = configured(desk)
        return home.begin(Purpose.SIGN_IN, request.query_params.get("next", "/"), 302)

    async def assertion(request: Request) -> Response:
        """Park what the home's page posted. No cookie comes with it: whose browser this is shows at /auth/finish."""
        home = configured(desk)
        if request.headers.getlist("origin") != [home.issuer]:
            raise ServiceError(Kind.REFUSED, "This request came from another site and was refused.")
        try:
            form = await read_form(request)
            claims = home.verify(form.get("assertion", ""), desk.renderer.now())
            handle = await home.store.park(claims, form.get("state", ""))
        except ServiceError as error:
            if error.kind in {Kind.INVALID, Kind.TOO_LARGE}:
                return failed(request)
            raise
        return RedirectResponse("/auth/finish?" + urlencode({"handle": handle}), 303)

    async def finish(request: Request) -> Response:
        home = configured(desk)
        if request.method == "HEAD":
            return Response(status_code=200)  # a look must not use the handle up
        pending = home.pending(request)
        handle = request.query_params.get("handle", "")
        parked = await home.store.parked(handle) if pending else None
        if pending is None or parked is None or not pending.matches(parked.state, parked.nonce):
            return failed(request)
        try:
            match pending.purpose:
                case Purpose.SIGN_IN:
                    response = await signed_in(request, home, pending, handle, parked.subject)
                case Purpose.LINK:
                    response = await proposed(request, home, pending, handle, parked.subject)
                case _:
                    assert_never(pending.purpose)
        except Rejected:
            return failed(request)
        home.forget(response)
        return response

    async def signed_in(request: Request, home: HomeAdapter, pending: Pending, handle: str, subject: str) -> Response:
        binding = await home.store.binding_of(subject)
        if binding is not None:
            await desk.gate.admit(
                binding.address
            )  # before the handle is used up: a moment without authz costs nobody theirs
        if not await home.store.take(handle):
            raise Rejected
        if binding is None:
            return desk.renderer.page(request, "home_unlinked.html", 403, local_first=LOCAL_FIRST)
        response = RedirectResponse("/auth/landed?" + urlencode({"next": pending.next_path}), 303)
        await desk.door.sign_in(request, response, f"{binding.id} {subject}", Method.HOME)
        return response

    async def proposed(request: Request, home: HomeAdapter, pending: Pending, handle: str, subject: str) -> Response:
        await desk.door.person(request)
        session = await desk.door.session(request)
        if session is None or session.id.hex() != pending.session or not fresh(home, session):
            raise Rejected
        if not await home.store.take(handle):
            raise Rejected
        await home.store.propose(session.id, subject)
        return RedirectResponse("/account/home/confirm", 303)

    async def local_complete(request: Request) -> Response:
        home = configured(desk)
        return RedirectResponse("/account/home" if fresh(home, await desk.door.session(request)) else LOCAL_FIRST, 303)

    def failed(request: Request) -> Response:
        return desk.renderer.page(request, "home_failed.html", 400)

    return [
        Route("/auth/start", start, methods=["GET"]),
        Route("/auth/assertion", assertion, methods=["POST"]),
        Route("/auth/finish", finish, methods=["GET"]),
        Route("/auth/local/complete", local_complete, methods=["GET"]),
    ]
