"""Linking a home's account to the address that somebody signed in with: asked for, proved, confirmed, removed."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.csrf import FIELD
from memoria_gateway.desk import Desk
from memoria_gateway.forms import no_button, read_form
from memoria_gateway.home.pending import Purpose
from memoria_gateway.pages.home import LOCAL_FIRST, configured, fresh


def routes(desk: Desk) -> list[Route]:
    """GET and POST /account/home, GET and POST /account/home/confirm."""

    async def show(request: Request) -> Response:
        visit = await desk.door.member(request)
        home = configured(desk)
        assert visit.person is not None
        return desk.renderer.page(
            request,
            "home_account.html",
            person=visit.person,
            csrf=visit.csrf,
            linked=await home.store.bound(visit.person.subject.value),
            fresh=fresh(home, await desk.door.session(request)),
            local_first=LOCAL_FIRST,
        )

    async def change(request: Request) -> Response:
        visit = await desk.door.member(request)
        form = await read_form(request)
        desk.door.check_form(request, form.get(FIELD, ""))
        home = configured(desk)
        assert visit.person is not None
        address = visit.person.subject.value
        if "unlink" in form:
            await home.store.unbind(address)
            return RedirectResponse("/account/home", 303)
        if "link" not in form:
            raise no_button()
        if await home.store.bound(address):
            raise ServiceError(Kind.CONFLICT, "This address is linked already. Remove that link first.")
        session = await desk.door.session(request)
        if session is None or not fresh(home, session):
            return RedirectResponse("/account/home", 303)  # which says what is lacking
        return home.begin(Purpose.LINK, "/account/home", 303, session.id)

    async def ask(request: Request) -> Response:
        visit = await desk.door.member(request)
        home = configured(desk)
        session = await desk.door.session(request)
        candidate = await home.store.candidate(session.id) if session and fresh(home, session) else None
        if candidate is None:
            return RedirectResponse("/account/home", 303)
        return desk.renderer.page(
            request, "home_confirm.html", person=visit.person, csrf=visit.csrf, candidate=candidate
        )

    async def confirm(request: Request) -> Response:
        visit = await desk.door.member(request)
        form = await read_form(request)
        desk.door.check_form(request, form.get(FIELD, ""))
        home = configured(desk)
        assert visit.person is not None
        session = await desk.door.session(request)
        if session is not None and fresh(home, session):
            await home.store.bind(session.id, visit.person.subject.value, form.get("candidate", ""))
        return RedirectResponse("/account/home", 303)

    return [
        Route("/account/home", show, methods=["GET"]),
        Route("/account/home", change, methods=["POST"]),
        Route("/account/home/confirm", ask, methods=["GET"]),
        Route("/account/home/confirm", confirm, methods=["POST"]),
    ]
