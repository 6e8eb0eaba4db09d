"""The document page, with an anchor per chunk, and deletion with a confirmation."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.csrf import FIELD
from memoria_gateway.desk import Desk
from memoria_gateway.forms import read_form
from memoria_gateway.render import NOT_FOUND
from memoria_gateway.views import Document, Person, app_name


def routes(desk: Desk) -> list[Route]:
    """GET /documents/{id}, GET and POST /documents/{id}/delete."""

    async def show(request: Request) -> Response:
        visit = await desk.door.member(request)
        assert visit.person is not None
        document = await spoken(desk, visit.person, request.path_params["id"])
        return desk.renderer.page(request, "document.html", person=visit.person, csrf=visit.csrf, document=document)

    async def ask(request: Request) -> Response:
        visit = await desk.door.member(request)
        assert visit.person is not None
        document = await spoken(desk, visit.person, request.path_params["id"])
        if not document.owned:
            raise _not_ours(document)
        return desk.renderer.page(request, "delete.html", person=visit.person, csrf=visit.csrf, document=document)

    async def delete(request: Request) -> Response:
        visit = await desk.door.member(request)
        assert visit.person is not None
        form = await read_form(request)
        desk.door.check_form(request, form.get(FIELD, ""))
        document = await spoken(desk, visit.person, request.path_params["id"])
        if not document.owned:
            raise _not_ours(document)
        await desk.intake.delete(document.document_id)
        return RedirectResponse("/?deleted=1", 303)

    return [
        Route("/documents/{id}", show, methods=["GET"]),
        Route("/documents/{id}/delete", ask, methods=["GET"]),
        Route("/documents/{id}/delete", delete, methods=["POST"]),
    ]


async def spoken(desk: Desk, person: Person, document_id: str) -> Document:
    """The document, ruled in this request. Raises NOT_FOUND for refusal and absence alike, UNAVAILABLE if withheld."""
    try:
        found = await desk.index.document(person.subject, document_id)
    except ServiceError as error:
        if error.kind in {Kind.NOT_FOUND, Kind.INVALID}:
            raise NOT_FOUND from None
        raise
    if isinstance(found, Document):
        return found
    desk.nudge()
    name = app_name(found.app)
    match found.kind:
        case "stale":
            message = f"{name} has a newer version of this document; memoria is fetching it. Try again in a moment."
        case "reconciling":
            message = f"{name} is reconciling after a restore; this document is withheld until that is done."
        case _:
            message = f"{name} did not answer whether you may see this document, so it is withheld. Try again."
    raise ServiceError(Kind.UNAVAILABLE, message)


def _not_ours(document: Document) -> ServiceError:
    return ServiceError(
        Kind.REFUSED, f"{app_name(document.app)} owns this document: delete it there and it is gone here."
    )
