"""Small forms, read with a cap before they are parsed."""

from urllib.parse import parse_qs

from starlette.requests import Request

from memoria_chassis.errors import Kind, ServiceError

MAX_FORM = 16 * 1024
MAX_PATH = 4096  # a query of 1 KiB, each byte as %xx, and room; beyond it a Location header would not be read


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


def no_button() -> ServiceError:
    """A form that was sent by none of its buttons."""
    return ServiceError(Kind.INVALID, "Choose one of the offered buttons.")


def local_path(path: str) -> str:
    """`path` if it stays on this origin, otherwise `/`: a sign-in must not end on somebody else's page."""
    if len(path) > MAX_PATH or not path.startswith("/") or path.startswith("//"):
        return "/"
    if any(ord(char) < 33 or char == "\\" for char in path):
        return "/"  # browsers drop tabs and newlines, and turn a backslash into a slash
    return path
