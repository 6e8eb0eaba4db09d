"""The search page, and the fragment that live search replaces: one template, the same rulings (SRF-04)."""

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from memoria_gateway.desk import Desk, page_number


def routes(desk: Desk) -> list[Route]:
    """GET / and GET /search."""

    async def answer(request: Request, template: str) -> HTMLResponse:
        visit = await desk.door.member(request)
        assert visit.person is not None
        query = request.query_params.get("q", "")
        number = page_number(request.query_params.get("page"))
        found = await desk.search(visit.person, query, number)
        return desk.renderer.page(
            request,
            template,
            person=visit.person,
            csrf=visit.csrf,
            query=query,
            searched=bool(query.strip()),
            number=number,
            found=found,
            deleted="deleted" in request.query_params,
            previous_url=_url(query, number - 1) if number > 1 else None,
            next_url=_url(query, number + 1) if found.more else None,
        )

    async def page(request: Request) -> HTMLResponse:
        return await answer(request, "search.html")

    async def fragment(request: Request) -> HTMLResponse:
        return await answer(request, "results.html")

    return [Route("/", page, methods=["GET"]), Route("/search", fragment, methods=["GET"])]


def _url(query: str, number: int) -> str:
    return "/?" + urlencode({"q": query} | ({"page": str(number)} if number > 1 else {}))
