"""The owner's page of sources: how each stands, what the breakers say of it, and the buttons that act."""

import re
from collections.abc import Awaitable
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.connectors import Source
from memoria_gateway.csrf import FIELD
from memoria_gateway.desk import Desk
from memoria_gateway.door import Visit
from memoria_gateway.forms import no_button, read_form
from memoria_gateway.pages.pushes import CONNECTOR_ID
from memoria_gateway.push_form import named
from memoria_gateway.views import app_name

T = TypeVar("T")

HOME = "home"
"""The estate's home in a source's place: no app may be called so, for its host would be the home's."""

_LABEL = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")

_SAID = {
    "feed": "{} is being read now; look again in a moment.",
    "announce": "{} is asked to list all its items anew, and is left out of every search until it has.",
    "pause": "{} is paused.",
    "resume": "{} is read again from now on.",
    "removed": "What memoria held of {} is gone. The source stays, paused; the app still has everything.",
    "ended": "The connector is removed: its token opens nothing any more. What it brought stays.",
    "roster": "The list of members was read.",
    "confirmed": "The new list of members counts from now on.",
    "going": "It takes longer than a page may: what was begun with {} goes on. Look again in a moment.",
}
"""What the page says after a button, by the word that stands in its address: an address is no way to put words here."""


def routes(desk: Desk) -> list[Route]:
    """GET and POST /connectors, POST /connectors/{id}/sync, POST /connectors/{id}/delete."""

    async def page(request: Request, visit: Visit, made: tuple[str, str] | None = None) -> Response:
        sources = await _or_none(desk.intake.sources(), "ingest")
        findings = await _or_none(desk.gate.findings(), "authz")
        roster = await _or_none(desk.gate.roster(), "authz") if findings is not None else None
        pushing = await _or_none(desk.pushes.connectors(), "ingest") if sources is not None else None
        standing = {source.app: source for source in sources or ()}
        breakers = {found.app: found for found in findings or ()}
        said, app = (request.query_params.get(name, "") for name in ("said", "app"))
        return desk.renderer.page(
            request,
            "connectors.html",
            person=visit.person,
            csrf=visit.csrf,
            apps=sorted(standing.keys() | breakers.keys()),
            standing=standing,
            breakers=breakers,
            roster=roster,
            pushing=pushing,
            made=made,
            origin=desk.origin,
            no_sources=sources is None,
            no_findings=findings is None,
            said=_SAID[said].format(app_name(app)) if said in _SAID and _LABEL.fullmatch(app) else "",
        )

    async def show(request: Request) -> Response:
        return await page(request, await _owner(desk, request))

    async def create(request: Request) -> Response:
        visit = await _owner(desk, request)
        form = await read_form(request)
        desk.door.check_form(request, form.get(FIELD, ""))
        # The token is in this reply alone: not in an address, where a redirect would put it, nor kept anywhere.
        return await page(request, visit, await desk.pushes.create(*named(form)))

    async def sync(request: Request) -> Response:
        visit = await _owner(desk, request)
        form = await read_form(request)
        desk.door.check_form(request, form.get(FIELD, ""))
        app, what = _app(request), form.get("what", "")
        if CONNECTOR_ID.fullmatch(app):
            if what != "token":
                raise no_button()
            return await page(request, visit, (app, await desk.pushes.renew(app)))
        if app == HOME:
            return await _roster(desk, what, form.get("waiting", ""))
        match what:
            case "feed" | "announce":
                begun = desk.intake.sync(app, reannounce=what == "announce")
            case "pause" | "resume":
                begun = desk.intake.pause(app, paused=what == "pause")
            case _:
                raise no_button()
        return _back(app, what if await _ended(begun) else "going")

    async def delete(request: Request) -> Response:
        visit = await _owner(desk, request)
        form = await read_form(request)
        desk.door.check_form(request, form.get(FIELD, ""))
        app = _app(request)
        if CONNECTOR_ID.fullmatch(app):
            return await _end(desk, request, visit, app, sure=form.get("confirm") == "yes")
        if form.get("confirm") == "yes":
            return _back(app, "removed" if await _ended(desk.intake.remove(app)) else "going")
        source = _of(await desk.intake.sources(), app)
        return desk.renderer.page(request, "connector_delete.html", person=visit.person, csrf=visit.csrf, source=source)

    return [
        Route("/connectors", show, methods=["GET"]),
        Route("/connectors", create, methods=["POST"]),
        Route("/connectors/{id}/sync", sync, methods=["POST"]),
        Route("/connectors/{id}/delete", delete, methods=["POST"]),
    ]


async def _end(desk: Desk, request: Request, visit: Visit, connector_id: str, *, sure: bool) -> Response:
    """The button of a push connector: asks first, then revokes its token for good."""
    if sure:
        return _back(connector_id, "ended" if await _ended(desk.pushes.remove(connector_id)) else "going")
    for connector in await desk.pushes.connectors():
        if connector.connector_id == connector_id:
            return desk.renderer.page(
                request, "push_delete.html", person=visit.person, csrf=visit.csrf, connector=connector
            )
    raise _unknown()


async def _roster(desk: Desk, what: str, waiting: str) -> Response:
    """The buttons of the list of members: read it now, or take the one that waits (AUT-18)."""
    match what:
        case "feed":
            if await desk.gate.roster(pull=True) is None:
                raise _unknown()
            return _back(HOME, "roster")
        case "confirm":
            await desk.gate.confirm_roster(waiting)
            return _back(HOME, "confirmed")
        case _:
            raise no_button()


async def _owner(desk: Desk, request: Request) -> Visit:
    """A visit by an owner. Raises REFUSED for any other member: a count of refusals would tell of others (RET-15)."""
    visit = await desk.door.member(request)
    if visit.person is None or not visit.person.owner:
        raise ServiceError(Kind.REFUSED, "Only the owners of this team may see and change its sources.")
    return visit


def _app(request: Request) -> str:
    app = str(request.path_params["id"])
    if not _LABEL.fullmatch(app):
        raise _unknown()
    return app


def _of(sources: list[Source], app: str) -> Source:
    for source in sources:
        if source.app == app:
            return source
    raise _unknown()


def _unknown() -> ServiceError:
    return ServiceError(Kind.NOT_FOUND, "There is no such source.")


async def _ended(begun: Awaitable[object]) -> bool:
    """Whether it ended within the time of a page; ingest goes on with it otherwise."""
    try:
        await begun
    except ServiceError as error:
        if error.kind is Kind.DEADLINE:
            return False
        raise
    return True


async def _or_none(asked: Awaitable[T], service: str) -> T | None:
    """An answer, or None where a part of the page cannot be had: the rest is shown."""
    try:
        return await asked
    except ServiceError as error:
        log.get_logger().warning("a part of the sources page is missing", id=service, kind=error.kind.value)
        return None


def _back(app: str, said: str) -> Response:
    return RedirectResponse(f"/connectors?said={said}&app={app}", 303)
