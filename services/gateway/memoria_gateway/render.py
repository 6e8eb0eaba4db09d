"""Templates and error pages. The one edge at which a kind becomes a status and a sentence becomes a page."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from memoria_chassis.clock import Clock
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.settings import Home
from memoria_gateway.connectors import moment
from memoria_gateway.views import app_name

STATUS = {
    Kind.INVALID: 400,
    Kind.UNAUTHENTICATED: 401,
    Kind.REFUSED: 403,
    Kind.NOT_FOUND: 404,
    Kind.CONFLICT: 409,
    Kind.PRECONDITION: 409,
    Kind.TOO_LARGE: 413,
    Kind.EXHAUSTED: 429,
    Kind.UNIMPLEMENTED: 501,
    Kind.UNAVAILABLE: 503,
    Kind.DEADLINE: 504,
    Kind.INTERNAL: 500,
}

_HEADINGS = {
    Kind.NOT_FOUND: "Nothing here",
    Kind.REFUSED: "Not allowed",
    Kind.TOO_LARGE: "Too large",
    Kind.EXHAUSTED: "Too many requests",
    Kind.UNAVAILABLE: "Not available right now",  # also an app that is silent, and an index that is being opened
    Kind.DEADLINE: "Part of memoria is not answering",
    Kind.INTERNAL: "Something broke",
}

NOT_FOUND = ServiceError(Kind.NOT_FOUND, "There is no such document, or it is not yours to see.")
"""A denial and an absence are this one error, byte for byte."""

_ROOT = Path(__file__).parent


class Renderer:
    """Renders templates with escaping on and undefined names refused."""

    def __init__(self, clock: Clock, assistant: str, home: Home | None = None) -> None:
        self._clock = clock
        self._env = Environment(
            loader=FileSystemLoader(_ROOT / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._env.globals["assistant"] = assistant
        self._env.globals["consumer_id"] = home.consumer_id if home else ""  # set where people sign in by the home
        self._env.globals["directory"] = home.directory_origin if home else ""
        self._env.filters["app"] = app_name
        self._env.filters["day"] = lambda moment: f"{moment:%Y-%m-%d}" if moment else ""
        self._env.filters["moment"] = moment
        self._env.filters["sentence"] = lambda notice: notice.text(self._clock.now())

    def now(self) -> datetime:
        """The moment notices are worded for."""
        return self._clock.now()

    def page(self, request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
        """One page. `theme` comes from the appearance cookie, and only one of its known values."""
        theme = request.cookies.get("memoria_appearance", "")
        values.setdefault("person", None)
        values.setdefault("csrf", "")
        values["back"] = "/"
        if request.method == "GET":
            values["back"] = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        values["theme"] = theme if theme in {"light", "dark"} else "system"
        return HTMLResponse(self._env.get_template(template).render(**values), status)

    def error(self, request: Request, error: ServiceError) -> HTMLResponse:
        """A kind as a page. What a service says among services stands there as a sentence."""
        heading = _HEADINGS.get(error.kind, "That did not work")
        message = error.message[:1].upper() + error.message[1:] + ("" if error.message.endswith(".") else ".")
        return self.page(request, "error.html", STATUS[error.kind], heading=heading, message=message)


class Json(Response):
    """JSON with a stable order of keys and readable text."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """UTF-8, compact."""
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def json_error(error: ServiceError, taken: list[dict[str, Any]] | None = None) -> Json:
    """A kind as the API says it, and beside it what was done before, where something may have been."""
    headers = {"WWW-Authenticate": "Bearer"} if error.kind is Kind.UNAUTHENTICATED else None
    content: dict[str, Any] = {"error": {"kind": error.kind.value, "message": error.message}}
    if taken is not None:
        content["items"] = taken
    return Json(content, STATUS[error.kind], headers)


def wants_json(request: Request) -> bool:
    """Whether a program asks: the API's callers, connectors, and the page's own script."""
    path = request.url.path
    if path.startswith("/api/") or (path.startswith("/connectors/") and path.endswith("/items")):
        return True
    return request.headers.get("accept", "").startswith("application/json")
