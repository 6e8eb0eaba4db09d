"""Takes the files of an upload one after the other and hands each to ingest while it arrives."""

from collections.abc import AsyncIterator, Callable

from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.limits import FILE_TOO_LARGE, MAX_FILE
from memoria_gateway.multipart import Event, PartEnd, PartStart, read_field
from memoria_gateway.peers_client import IntakeClient
from memoria_gateway.views import UploadReport

MAX_FILES = 500
TOO_MANY = f"One upload may have {MAX_FILES} files; this one and those behind it were left out."
_PIECE = 256 * 1024


async def take_files(
    intake: IntakeClient, events: AsyncIterator[Event], check_field: Callable[[str, str], None]
) -> list[UploadReport]:
    """One report a file, in order; a file that is refused does not keep the others out.

    `check_field(name, value)` sees each plain field before the files behind it, and may raise.
    """
    reports: list[UploadReport] = []
    async for event in events:
        if not isinstance(event, PartStart):
            continue
        if event.filename is None:
            check_field(event.name, await read_field(events))
            continue
        if event.filename == "":  # the browser's way of saying that no file was chosen
            await _drain(events)
            continue
        if len(reports) >= 2 * MAX_FILES:
            raise ServiceError(Kind.TOO_LARGE, TOO_MANY)
        if len(reports) >= MAX_FILES:  # said file by file: what was taken before stays taken, and its report is owed
            reports.append(UploadReport(event.filename, error_kind=Kind.TOO_LARGE.value, error=TOO_MANY))
            await _drain(events)
            continue
        reports.append(await _take(intake, event.filename, events))
    return reports


async def _take(intake: IntakeClient, name: str, events: AsyncIterator[Event]) -> UploadReport:
    body = _Body(events)
    try:
        documents, warnings = await intake.upload(name, 0, body.pieces())
        return UploadReport(name, tuple(documents), tuple(warnings))
    except ServiceError as error:
        if body.too_large:
            return UploadReport(name, error_kind=Kind.TOO_LARGE.value, error=FILE_TOO_LARGE)
        return UploadReport(name, error_kind=error.kind.value, error=error.message)
    finally:
        await body.drain()


class _Body:
    """One file's bytes, gathered into pieces of 256 KiB, and cut off where it grows too large."""

    def __init__(self, events: AsyncIterator[Event]) -> None:
        self._events = events
        self._ended = False
        self.too_large = False

    async def pieces(self) -> AsyncIterator[bytes]:
        held, size = bytearray(), 0
        async for event in self._events:
            if isinstance(event, PartEnd):
                self._ended = True
                break
            if isinstance(event, bytes):
                size += len(event)
                if size > MAX_FILE:
                    self.too_large = True
                    raise ServiceError(Kind.TOO_LARGE, FILE_TOO_LARGE)
                held += event
                while len(held) >= _PIECE:
                    yield bytes(held[:_PIECE])
                    del held[:_PIECE]
        if held:
            yield bytes(held)

    async def drain(self) -> None:
        """Read past what is left of the file, so that the next part is found."""
        if not self._ended:
            self._ended = True
            await _drain(self._events)


async def _drain(events: AsyncIterator[Event]) -> None:
    async for event in events:
        if isinstance(event, PartEnd):
            return
