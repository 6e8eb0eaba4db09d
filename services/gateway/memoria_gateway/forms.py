"""Small forms, read with a cap before they are parsed."""

from urllib.parse import parse_qs

from starlette.requests import Request

from memoria_chassis.errors import Kind, ServiceError

MAX_FORM = 16 * 1024


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a urlencoded form, each name's last value. Raises TOO_LARGE or INVALID."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise ServiceError(Kind.INVALID, "This form was sent in a way we do not read.")
    body = b""
    async for data in request.stream():
        body += data
        if len(body) > MAX_FORM:
            raise ServiceError(Kind.TOO_LARGE, f"A form may have {MAX_FORM // 1024} KiB.")
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=50, errors="replace")
    except ValueError as error:
        raise ServiceError(Kind.INVALID, "This form is malformed.") from error
    return {name: values[-1] for name, values in fields.items()}


def local_path(path: str) -> str:
    """`path` if it stays on this origin, otherwise `/`: a sign-in must not end on somebody else's page."""
    if path.startswith("/") and not path.startswith(("//", "/\\")) and not any(ord(c) < 33 or c == "\\" for c in path):
        return path
    return "/"
