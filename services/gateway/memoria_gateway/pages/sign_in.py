"""Signing in by a link in a mail, and out again."""

from functools import partial
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.csrf import FIELD
from memoria_gateway.desk import Desk
from memoria_gateway.door import SignInNeeded
from memoria_gateway.forms import local_path, read_form
from memoria_gateway.home.pending import Purpose
from memoria_gateway.letters import send_link
from memoria_gateway.limits import client_host


def routes(desk: Desk) -> list[Route]:
    """GET /signin and /signin/local, POST /auth/begin, GET /auth/verify and /auth/landed, /signout, /signed-out."""

    async def sign_in(request: Request) -> Response:
        if desk.home and request.query_params.get("force") != "1":
            return desk.home.begin(Purpose.SIGN_IN, request.query_params.get("next", "/"), 302)
        return await sign_in_local(request)

    async def sign_in_local(request: Request) -> Response:
        visit = desk.door.visitor(request)
        response = desk.renderer.page(
            request,
            "signin.html",
            csrf=visit.csrf,
            sent="sent" in request.query_params,
            rate=request.query_params.get("err") == "rate",
            next=local_path(request.query_params.get("next", "/")),
        )
        desk.door.remember_visitor(response, visit)
        return response

    async def begin(request: Request) -> Response:
        form = await read_form(request)
        desk.door.check_form(request, form.get(FIELD, ""))
        local = "/signin/local" if desk.home else "/signin"
        address = form.get("address", "").strip().lower()
        # The budget is spent before anybody looks at who it is, so neither answer tells owners from strangers (AMD-07).
        if not desk.limits.admit(address, client_host(request, desk.trusted_proxies)):
            return RedirectResponse(f"{local}?err=rate", 303)
        # Admission and mail run behind the reply: it is the same, and as quick, for everyone (AUT-21). And not right
        # behind it, where this client's next request would meet them.
        waits = desk.later(partial(send_link, desk, address, local_path(form.get("next", "/"))))
        # Where too much waits nobody's is taken, and "sent" would be untrue.
        return RedirectResponse(f"{local}?{'sent=1' if waits else 'err=rate'}", 303)

    async def verify(request: Request) -> Response:
        if request.method == "HEAD":
            return Response(status_code=200)  # a mail scanner's look must not use the link up
        token = request.query_params.get("token", "")
        address = await desk.store.link_address(token)
        if address is None:
            raise _spent()
        # Again, here: the list may have changed since the link was sent (AUT-20). And before the link is used up, so
        # that a moment without authz costs nobody their link.
        await desk.gate.admit(address)
        next_path = await desk.store.take_link(token)
        if next_path is None:  # followed twice at the same moment: the first one had it
            raise _spent()
        response = RedirectResponse("/auth/landed?" + urlencode({"next": next_path}), 303)
        await desk.door.sign_in(request, response, address)
        return response

    async def landed(request: Request) -> Response:
        await desk.door.person(request)
        return RedirectResponse(local_path(request.query_params.get("next", "/")), 303)

    async def sign_out(request: Request) -> Response:
        form = await read_form(request)
        desk.door.check_form(request, form.get(FIELD, ""))
        # 307: the browser sends the same POST on, and the home ends its own session before it leads to /signed-out.
        ending = RedirectResponse(f"{desk.home.issuer}/signout", 307) if desk.home else None
        response = ending or RedirectResponse("/signed-out", 303)
        await desk.door.sign_out(request, response)
        return response

    async def signed_out(request: Request) -> Response:
        return desk.renderer.page(request, "signed_out.html")

    return [
        Route("/signin", sign_in, methods=["GET"]),
        Route("/signin/local", sign_in_local, methods=["GET"]),
        Route("/auth/begin", begin, methods=["POST"]),
        Route("/auth/verify", verify, methods=["GET"]),
        Route("/auth/landed", landed, methods=["GET"]),
        Route("/signout", sign_out, methods=["POST"]),
        Route("/signed-out", signed_out, methods=["GET"]),
    ]


def _spent() -> ServiceError:
    return ServiceError(Kind.INVALID, "This sign-in link was used already or has expired. Ask for a new one.")


def sign_in_redirect(request: Request, _: SignInNeeded) -> Response:
    """Where a page without a session sends a browser; a POST's body cannot follow, so it comes back to the start."""
    target = "/"
    if request.method == "GET":
        target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse("/signin" + ("" if target == "/" else "?" + urlencode({"next": target})), 303)
