"""POST /documents: several files at once, as a form or from the page's script."""

from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.csrf import FIELD, HEADER
from memoria_gateway.desk import Desk
from memoria_gateway.intake import take_files
from memoria_gateway.multipart import Event, multipart_events
from memoria_gateway.render import Json, wants_json
from memoria_gateway.reports import report_json


def routes(desk: Desk) -> list[Route]:
    """The upload of a person in a browser."""

    async def upload(request: Request) -> Response:
        visit = await desk.door.member(request)
        checked = False
        if HEADER in request.headers:
            desk.door.check_form(request, request.headers[HEADER])
            checked = True

        def check_field(name: str, value: str) -> None:
            nonlocal checked
            if name == FIELD:
                desk.door.check_form(request, value)
                checked = True

        async def guarded_events() -> AsyncIterator[Event]:
            async for event in multipart_events(request):
                # The form's token stands before its files; a file without one ahead of it is not even begun.
                if getattr(event, "filename", None) is not None and not checked:
                    raise ServiceError(Kind.REFUSED, "This form has expired. Go back, reload, and send it again.")
                yield event

        reports = await take_files(desk.intake, guarded_events(), check_field)
        if not checked:
            raise ServiceError(Kind.REFUSED, "This form has expired. Go back, reload, and send it again.")
        if wants_json(request):
            return Json({"files": [report_json(report) for report in reports]})
        return desk.renderer.page(request, "uploaded.html", person=visit.person, csrf=visit.csrf, reports=reports)

    return [Route("/documents", upload, methods=["POST"])]
