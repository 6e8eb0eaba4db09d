"""Reads a multipart upload as it arrives. Nothing is spooled to disk, where a file would lie readable (RUL-05)."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from memoria_chassis.errors import Kind, ServiceError

_MAX_FIELD = 4096
_MAX_HEADERS = 8192


@dataclass(slots=True)
class PartStart:
    """A part begins. `filename` is None for a plain field."""

    name: str
    filename: str | None = field(repr=False)


@dataclass(slots=True)
class PartEnd:
    """The part that began last has ended."""


Event = PartStart | PartEnd | bytes


class _Collector:
    """Turns the parser's callbacks into events."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._field = b""
        self._value = b""
        self._headers: dict[str, bytes] = {}
        self._size = 0
        self.ended = False

    def callbacks(self) -> dict[str, object]:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header_field,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": lambda data, start, end: self.events.append(data[start:end]),
            "on_part_end": lambda: self.events.append(PartEnd()),
            "on_end": self._end,
        }

    def _begin(self) -> None:
        self._headers, self._size = {}, 0

    def _grow(self, more: int) -> None:
        self._size += more
        if self._size > _MAX_HEADERS:
            raise ServiceError(Kind.INVALID, "a part's headers are too long")

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._grow(end - start)
        self._field += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._grow(end - start)
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._headers[self._field.decode("latin-1").lower()] = self._value
        self._field = self._value = b""

    def _headers_finished(self) -> None:
        kind, options = parse_options_header(self._headers.get("content-disposition", b""))
        if kind != b"form-data" or b"name" not in options:
            raise ServiceError(Kind.INVALID, "a part is not form data")
        filename = options.get(b"filename")
        self.events.append(
            PartStart(
                options[b"name"].decode(errors="replace"),
                None if filename is None else filename.decode(errors="replace"),
            )
        )

    def _end(self) -> None:
        self.ended = True


async def multipart_events(request: Request) -> AsyncIterator[Event]:
    """The body as events, in order. Raises INVALID for a body that is not multipart or is cut short."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not 1 <= len(boundary) <= 200:
        raise ServiceError(Kind.INVALID, "an upload is multipart/form-data")
    collector = _Collector()
    parser = MultipartParser(boundary, collector.callbacks())  # type: ignore[arg-type]  # a TypedDict of callbacks
    try:
        async for data in request.stream():
            parser.write(data)
            for event in collector.events:
                yield event
            collector.events.clear()
        parser.finalize()
    except FormParserError as error:
        raise ServiceError(Kind.INVALID, "the upload's body is malformed") from error
    for event in collector.events:
        yield event
    if not collector.ended:
        raise ServiceError(Kind.INVALID, "the upload was cut short")


async def read_field(events: AsyncIterator[Event]) -> str:
    """The value of the plain field that just began. Raises INVALID when it is longer than 4 KiB."""
    value = b""
    async for event in events:
        if isinstance(event, PartEnd):
            break
        if isinstance(event, bytes):
            value += event
            if len(value) > _MAX_FIELD:
                raise ServiceError(Kind.INVALID, "a field is too long")
    return value.decode(errors="replace")
