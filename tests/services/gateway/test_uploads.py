"""Uploads as they arrive: in pieces, nothing on disk, and anything at all for a body (RUL-05, AMD-06)."""

import tempfile
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.requests import ClientDisconnect, Request

from memoria_chassis.errors import Kind, ServiceError
from memoria_contract import limits
from memoria_gateway import intake, multipart
from memoria_gateway.intake import take_files
from memoria_gateway.multipart import PartEnd, PartStart, multipart_events
from memoria_gateway.views import Uploaded

B = b"XyZ"
GOOD = (
    b'--XyZ\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nabc\r\n'
    b'--XyZ\r\nContent-Disposition: form-data; name="f"; filename="a.md"\r\nContent-Type: text/plain\r\n\r\n'
    b"first\r\nline\r\n"
    b'--XyZ\r\nContent-Disposition: form-data; name="f"; filename="b.md"\r\n\r\n\r\n'
    b"--XyZ--\r\n"
)
CUT = GOOD.index(b"first") + 8  # in the middle of the first file


def request_of(
    pieces: Iterable[bytes], content_type: str = "multipart/form-data; boundary=XyZ", cut: bool = False
) -> Request:
    """A request whose body comes in these pieces; `cut`: the client goes away instead of ending it."""
    messages: list[dict[str, Any]] = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    messages.append({"type": "http.disconnect"} if cut else {"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> dict[str, Any]:
        return messages.pop(0)

    headers = [(b"content-type", content_type.encode("latin-1"))]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": headers, "query_string": b""}, receive)


class Kept:
    """An intake that keeps what came whole."""

    def __init__(self) -> None:
        self.files: list[tuple[str, bytes]] = []

    async def upload(self, name: str, size: int, body: AsyncIterator[bytes]) -> tuple[list[Uploaded], list[str]]:
        data = b"".join([piece async for piece in body])
        self.files.append((name, data))
        return [Uploaded("d", name, "1", 1, True)], []


async def take(pieces: Iterable[bytes], **options: Any) -> tuple[Kept, Any]:
    """What ingest got, and the reports or the error."""
    kept: Any = Kept()
    try:
        return kept, await take_files(kept, multipart_events(request_of(pieces, **options)), lambda name, value: None)
    except ServiceError as error:
        return kept, error


@pytest.mark.parametrize("size", [1, 2, 7, 64, 10_000])
async def test_a_body_is_read_the_same_however_it_is_cut(size: int) -> None:
    """Field, file with a line break in it, empty file, in order, in pieces of any length."""
    pieces = [GOOD[start : start + size] for start in range(0, len(GOOD), size)]
    events = [event async for event in multipart_events(request_of(pieces))]
    assert [e for e in events if isinstance(e, PartStart)] == [
        PartStart("csrf", None),
        PartStart("f", "a.md"),
        PartStart("f", "b.md"),
    ]
    assert sum(isinstance(event, PartEnd) for event in events) == 3
    kept, _ = await take(pieces)
    assert kept.files == [("a.md", b"first\r\nline"), ("b.md", b"")]


@pytest.mark.parametrize(
    "content_type",
    [
        *("", "text/plain", "multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=XyZ"),
        *("multipart/form-data; boundary=" + "x" * 201, "application/json", "é; boundary=XyZ", ";;;=", "\x00"),
    ],
)
async def test_what_is_no_multipart_is_refused(content_type: str) -> None:
    """INVALID, before anything is taken."""
    kept, error = await take([GOOD], content_type=content_type)
    assert isinstance(error, ServiceError)
    assert error.kind is Kind.INVALID
    assert kept.files == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"garbage",
        GOOD.replace(B, b"QqQ"),
        b"\x00" * 1000,
        b"--XyZ\r\n\r\n\r\nx\r\n--XyZ--\r\n",
        b"--XyZ\r\nContent-Disposition: attachment\r\n\r\nx\r\n--XyZ--\r\n",
        b"--XyZ\r\nContent-Disposition: form-data\r\n\r\nx\r\n--XyZ--\r\n",
        b"--XyZ\r\n: x\r\n\r\nx\r\n--XyZ--\r\n",
        b"--XyZ\r\nX: " + b"y" * 100_000 + b"\r\n\r\nx\r\n--XyZ--\r\n",
        b"--XyZ\r\n" + b"X: y\r\n" * 100_000 + b"\r\nx\r\n--XyZ--\r\n",
        # none too long for the library, and together more than 8 KiB
        GOOD.replace(b"--XyZ\r\n", b"--XyZ\r\n" + (b"X: " + b"y" * 4000 + b"\r\n") * 3, 1),
        b'--XyZ\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n' + b"y" * 5000 + b"\r\n--XyZ--\r\n",
    ],
    ids=lambda body: f"{len(body)}:{body[:12]!r}",
)
async def test_a_malformed_body_is_one_refusal(body: bytes) -> None:
    """Garbage, the wrong boundary, headers missing, endless headers, an endless field: INVALID, nothing taken."""
    kept, error = await take([body[start : start + 4096] for start in range(0, len(body), 4096)])
    assert isinstance(error, ServiceError), error
    assert error.kind is Kind.INVALID
    assert kept.files == []


@pytest.mark.parametrize("end", range(1, len(GOOD) - 2))
async def test_a_cut_body_never_looks_whole(end: int) -> None:
    """Cut at any byte: what ended before is taken and right, what was cut is refused, and nothing raises but ours.

    Broken to see red: the check of `collector.ended` taken out.
    """
    kept, outcome = await take([GOOD[:end]])
    assert kept.files == [("a.md", b"first\r\nline"), ("b.md", b"")][: len(kept.files)]
    if isinstance(outcome, list):
        assert [report.error for report in outcome] == [""] * len(kept.files) + ["the upload was cut short"]
    else:
        assert outcome.kind is Kind.INVALID


@given(st.lists(st.binary(max_size=60), max_size=8), st.binary(max_size=40))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_bytes_are_reports_or_a_refusal(pieces: list[bytes], inside: bytes) -> None:
    """No bytes make it raise anything but a ServiceError, around and inside a real part."""
    for body in (
        pieces,
        [GOOD[:80], *pieces, GOOD[80:]],
        [GOOD.replace(b"a.md", inside)],
        [GOOD.replace(b"name=", inside)],
    ):
        _, outcome = await take(body)
        assert isinstance(outcome, list | ServiceError)


async def test_a_browser_that_goes_away_leaves_nothing_half(pod, logs) -> None:
    """Disconnected in the middle of a file: not taken, no reply, no error in the log."""
    kept: Any = Kept()
    with pytest.raises(ClientDisconnect):
        await take_files(kept, multipart_events(request_of([GOOD[:CUT]], cut=True)), lambda name, value: None)
    assert kept.files == []
    token = await pod.store.new_token("ann@example.test", "n", "write", 7)
    cut = request_of([GOOD[:CUT]], cut=True)
    scope = cut.scope | {"path": "/api/v1/documents", "query_string": b"", "root_path": "", "http_version": "1.1"}
    scope["headers"] = [*scope["headers"], (b"host", b"localhost"), (b"authorization", f"Bearer {token}".encode())]
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await pod.app(scope, cut.receive, send)
    assert sent == pod.intake.files == []
    assert "failed" not in logs()


async def test_nothing_is_spooled(pod, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file larger than any framework keeps in memory passes without a temporary file (RUL-05, docs/adr/0008).

    Broken to see red: the handler reading `request.form()`.
    """

    def explode(*_: Any, **__: Any) -> Any:
        raise AssertionError("spooled to disk")

    for name in ("SpooledTemporaryFile", "TemporaryFile", "NamedTemporaryFile", "mkstemp"):
        monkeypatch.setattr(tempfile, name, explode)
    monkeypatch.setattr("starlette.formparsers.SpooledTemporaryFile", explode)
    body = bytes(range(256)) * 12_000
    reply = await (await pod.program(scope="write")).post("/api/v1/documents", files={"f": ("a.txt", body)})
    assert reply.status_code == 201
    assert pod.intake.files == [("a.txt", body)]


async def test_a_file_too_large_is_said_and_the_next_one_taken(pod, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted as it arrives; what is left of it is read past, not kept. Broken to see red: the size not compared."""
    monkeypatch.setattr(intake, "MAX_FILE", 1_000_000)
    files = [("f", ("exact.txt", b"x" * 1_000_000)), ("f", ("big.txt", b"x" * 3_000_000)), ("f", ("c.md", b"small"))]
    reply = await (await pod.program(scope="write")).post("/api/v1/documents", files=files)
    assert reply.status_code == 207
    errors = [entry["error"] for entry in reply.json()["files"]]
    message = "This file is larger than 32 MiB, the most a file may have."
    assert errors == [None, {"kind": "out_of_range", "message": message}, None]
    assert [name for name, _ in pod.intake.files] == ["exact.txt", "c.md"]


async def test_the_501st_file_is_left_out_and_the_500_are_told(pod) -> None:
    """One entry a file: what was taken is not hidden behind a refusal; over 1,000 the whole is refused."""
    program = await pod.program(scope="write")
    reply = await program.post("/api/v1/documents", files=[("f", (f"{n}.md", b"x")) for n in range(502)])
    assert reply.status_code == 207
    kinds = [entry["error"] and entry["error"]["kind"] for entry in reply.json()["files"]]
    assert kinds == [None] * 500 + ["out_of_range"] * 2
    assert len(pod.intake.files) == 500
    reply = await program.post("/api/v1/documents", files=[("f", (f"{n}.md", b"x")) for n in range(1001)])
    assert reply.status_code == 413


async def test_an_upload_without_a_file_is_said(pod) -> None:
    """The API: 400. The form of a browser in which nothing was chosen: a page that says so."""
    program, browser = await pod.program(scope="write"), await pod.signed_in()
    assert (await program.post("/api/v1/documents", files={"a": (None, "b")})).status_code == 400
    files = [("csrf", (None, await browser.form("/")))]
    body = (
        f'--X\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n{files[0][1][1]}\r\n'
        '--X\r\nContent-Disposition: form-data; name="files"; filename=""\r\n\r\n\r\n--X--\r\n'
    )
    headers = {"content-type": "multipart/form-data; boundary=X"}
    assert "No file was chosen" in (await browser.post("/documents", content=body, headers=headers)).text


async def test_the_page_names_each_file_and_what_became_of_it(pod) -> None:
    """HTML in a file's name is text; a refused one is said, the other has its link and its warning."""
    browser = await pod.signed_in()
    pod.intake.refused["<b>.md"] = ServiceError(Kind.INVALID, "There is no text in this file.")
    files = [("csrf", (None, await browser.form("/"))), ("f", ("<b>.md", b"")), ("f", ("c.md", b"x"))]
    page = (await browser.post("/documents", files=files)).text
    assert "&lt;b&gt;.md" in page
    assert "There is no text in this file." in page
    assert '<a href="/documents/d1" dir="auto">Title of c.md</a>' in page
    assert "One warning." in page


async def test_the_pages_script_gets_json_of_errors_too(pod) -> None:
    """Its Accept header makes a refusal readable, and a lost session a 401 and not a page."""
    headers = {"accept": "application/json", "x-csrf-token": "0"}
    reply = await (await pod.signed_in()).post("/documents", files={"f": ("a.md", b"x")}, headers=headers)
    assert (reply.status_code, reply.json()["error"]["kind"]) == (403, "permission_denied")
    reply = await pod.browser().post("/documents", files={"f": ("a.md", b"x")}, headers=headers)
    assert (reply.status_code, reply.json()["error"]["kind"]) == (401, "unauthenticated")


def test_the_limits_are_those_that_are_said() -> None:
    """AMD-06's number, and the sentence that names it."""
    assert limits.MAX_FILE == 32 * 1024 * 1024
    assert "32 MiB" in limits.FILE_TOO_LARGE
    assert multipart._MAX_HEADERS <= 8192
