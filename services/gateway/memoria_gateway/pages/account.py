"""Personal access tokens, and the look of the pages."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.csrf import FIELD
from memoria_gateway.desk import Desk
from memoria_gateway.forms import local_path, read_form
from memoria_gateway.store import MAX_TOKENS, SCOPES

_DAYS = (7, 30, 90, 365)


def routes(desk: Desk) -> list[Route]:
    """GET and POST /account/tokens, POST /account/tokens/{id}/revoke, POST /appearance."""

    async def page(request: Request, new_token: str = "") -> Response:
        visit = await desk.door.member(request)
        assert visit.person is not None
        tokens = await desk.store.tokens_of(visit.person.subject.value)
        return desk.renderer.page(
            request,
            "tokens.html",
            person=visit.person,
            csrf=visit.csrf,
            tokens=tokens,
            new_token=new_token,
            day_choices=_DAYS,
        )

    async def show(request: Request) -> Response:
        return await page(request)

    async def create(request: Request) -> Response:
        visit = await desk.door.member(request)
        assert visit.person is not None
        form = await read_form(request)
        desk.door.check_form(request, form.get(FIELD, ""))
        name, scope, days = form.get("name", "").strip(), form.get("scope", ""), form.get("days", "")
        if not 1 <= len(name) <= 60:
            raise ServiceError(Kind.INVALID, "A token's name has 1 to 60 characters.")
        if scope not in SCOPES or days not in {str(choice) for choice in _DAYS}:
            raise ServiceError(Kind.INVALID, "Choose one of the offered scopes and lifetimes.")
        token = await desk.store.new_token(visit.person.subject.value, name, scope, int(days))
        if token is None:
            raise ServiceError(Kind.EXHAUSTED, f"A person may have {MAX_TOKENS} tokens; revoke one first.")
        return await page(request, token)

    async def revoke(request: Request) -> Response:
        visit = await desk.door.member(request)
        assert visit.person is not None
        form = await read_form(request)
        desk.door.check_form(request, form.get(FIELD, ""))
        await desk.store.revoke_token(visit.person.subject.value, request.path_params["id"])
        return RedirectResponse("/account/tokens", 303)

    async def appearance(request: Request) -> Response:
        form = await read_form(request)
        desk.door.check_form(request, form.get(FIELD, ""))
        response = RedirectResponse(local_path(form.get("back", "/")), 303)
        choice = form.get("theme", "")
        if choice in {"light", "dark"}:
            response.set_cookie("memoria_appearance", choice, max_age=365 * 86400, path="/", samesite="lax")
        else:
            response.delete_cookie("memoria_appearance", path="/", samesite="lax")
        return response

    return [
        Route("/account/tokens", show, methods=["GET"]),
        Route("/account/tokens", create, methods=["POST"]),
        Route("/account/tokens/{id}/revoke", revoke, methods=["POST"]),
        Route("/appearance", appearance, methods=["POST"]),
    ]
