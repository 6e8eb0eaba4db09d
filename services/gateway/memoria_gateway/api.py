"""The programs of people: the same gate as the page, with a personal access token (AMD-08)."""

import time

from starlette.requests import Request
from starlette.routing import Route

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.desk import PAGE_SIZE, Desk, bounded_number, page_number
from memoria_gateway.intake import take_files
from memoria_gateway.multipart import multipart_events
from memoria_gateway.pages.documents import spoken
from memoria_gateway.render import Json
from memoria_gateway.reports import document_json, report_json, search_json


def routes(desk: Desk) -> list[Route]:
    """GET /api/v1/search, GET /api/v1/documents/{id}, POST /api/v1/documents."""

    async def search(request: Request) -> Json:
        began = time.perf_counter()
        person = await desk.door.bearer(request, "read")
        query = request.query_params.get("q", "")
        number = page_number(request.query_params.get("page"))
        found = await desk.search(person, query, number, _limit(request.query_params.get("limit")))
        took = (time.perf_counter() - began) * 1000
        return Json(search_json(query, number, found, took, desk.origin, desk.renderer.now()))

    async def document(request: Request) -> Json:
        person = await desk.door.bearer(request, "read")
        return Json(document_json(await spoken(desk, person, request.path_params["id"]), desk.origin))

    async def upload(request: Request) -> Json:
        await desk.door.bearer(request, "write")
        reports = await take_files(desk.intake, multipart_events(request), lambda name, value: None)
        if not reports:
            raise ServiceError(Kind.INVALID, "An upload has at least one file.")
        refused = [report for report in reports if report.error]
        return Json({"files": [report_json(report) for report in reports]}, 207 if refused else 201)

    return [
        Route("/api/v1/search", search, methods=["GET"]),
        Route("/api/v1/documents/{id}", document, methods=["GET"]),
        Route("/api/v1/documents", upload, methods=["POST"]),
    ]


def _limit(text: str | None) -> int:
    return bounded_number(text, PAGE_SIZE, PAGE_SIZE, f"A limit is a number from 1 to {PAGE_SIZE}.")
