"""The command towards an instance: whatever that answers, one sentence or one document."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_cli import adding, door
from memoria_cli import session as sessions
from memoria_cli.adding import add, files_under
from memoria_cli.place import Place, Running
from memoria_cli.session import Session

SIGN_IN = '<input name="csrf" value="ab">'


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Session]:
    """`session(handler, address)`: a session whose instance is a function."""
    place = Place(tmp_path / "data")
    place.note(Running(os.getpid(), "http://localhost:8080", "r", "you@localhost", True))
    place.outbox.mkdir()
    monkeypatch.setattr(door, "_WAIT_SECONDS", 0.2)
    monkeypatch.setattr(sessions, "_OUTAGE_SECONDS", 0.1)

    def make(
        handler: Callable[[httpx.Request], httpx.Response], address: str | None = None, token: str = "t"
    ) -> Session:
        made = Session(place, None, address)
        made._client = httpx.Client(base_url="http://localhost:8080", transport=httpx.MockTransport(handler))
        made._token = token
        return made

    return make


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, b"", Kind.UNAVAILABLE),
        (200, b"<html>", Kind.UNAVAILABLE),
        (200, b"[]", Kind.UNAVAILABLE),
        (200, b"\xff", Kind.UNAVAILABLE),
        (500, b"{}", Kind.UNAVAILABLE),
        (303, b"", Kind.UNAVAILABLE),
        (400, b'{"error": {"kind": "perhaps", "message": "x"}}', Kind.UNAVAILABLE),
        (400, b'{"error": {"kind": "not_found"}}', Kind.UNAVAILABLE),
        (400, b'{"error": {"kind": ["not_found"], "message": "x"}}', Kind.UNAVAILABLE),
        (400, b'{"error": "x"}', Kind.UNAVAILABLE),
        (
            403,
            b'{"error": {"kind": "permission_denied", "message": "You are not on this team\'s list."}}',
            Kind.REFUSED,
        ),
    ],
)
def test_an_answer_that_is_none_is_an_error_and_never_a_crash(session, status: int, body: bytes, kind: Kind) -> None:
    """ServiceError and nothing else; the instance's own sentence where it gave one."""
    with pytest.raises(ServiceError) as failed:
        session(lambda request: httpx.Response(status, content=body)).get("/api/v1/search", {"q": "x"})
    assert failed.value.kind is kind


def test_a_stranger_is_told_in_one_sentence(session) -> None:
    """`--as` somebody who is not on the list: no link arrives, and that is what is said."""
    asked = []

    def instance(request: httpx.Request) -> httpx.Response:
        asked.append((request.method, request.url.path))
        if request.url.path == "/signin/local":
            return httpx.Response(200, text=SIGN_IN)
        return httpx.Response(303, headers={"location": "/signin?sent=1"})

    with pytest.raises(ServiceError) as refused:
        session(instance, "Eve@Example.test", token="").get("/api/v1/search", {"q": "x"})
    assert refused.value.kind is Kind.REFUSED
    assert refused.value.message == "no sign-in link arrived: the address is not on this team's list"
    assert asked == [("GET", "/signin/local"), ("POST", "/auth/begin")]


def test_too_many_links_are_said(session) -> None:
    """The budget's own answer is not taken for a stranger's."""

    def instance(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/signin/local":
            return httpx.Response(200, text=SIGN_IN)
        return httpx.Response(303, headers={"location": "/signin?err=rate"})

    with pytest.raises(ServiceError) as refused:
        session(instance, token="").get("/api/v1/search", {"q": "x"})
    assert refused.value.kind is Kind.EXHAUSTED


def test_an_expired_token_is_replaced_once(session, monkeypatch: pytest.MonkeyPatch) -> None:
    """401 → signed in anew → the same request again, its file from the start; kept for the next command."""
    bodies: list[bytes] = []

    def instance(request: httpx.Request) -> httpx.Response:
        bodies.append(request.read())
        if request.headers["authorization"] != "Bearer fresh":
            return httpx.Response(401, json={"error": {"kind": "unauthenticated", "message": "x"}})
        return httpx.Response(201, json={"files": [{"documents": [], "warnings": [], "error": None}]})

    monkeypatch.setattr(sessions, "sign_in_from_outbox", lambda place, client, address: "fresh")
    one = session(instance, token="old")
    found = one.post_file("/api/v1/documents", "a.md", Path(__file__))
    assert found["error"] is None
    assert len(bodies) == 2
    assert all(Path(__file__).read_bytes() in body for body in bodies)
    assert json.loads(one._place.cli_tokens.read_text()) == {"you@localhost": "fresh"}
    assert one._place.cli_tokens.stat().st_mode & 0o777 == 0o600


def test_an_outage_is_waited_out_and_then_said(session) -> None:
    """503 is tried again; what stays away is an error for that file, other kinds are at once."""
    tries: list[str] = []

    def instance(request: httpx.Request) -> httpx.Response:
        tries.append(request.url.path)
        if len(tries) == 1:
            return httpx.Response(503, json={"error": {"kind": "unavailable", "message": "search cannot be reached"}})
        if len(tries) == 2:
            raise httpx.ConnectError("refused")
        return httpx.Response(400, json={"error": {"kind": "invalid_argument", "message": "No."}})

    sessions._OUTAGE_SECONDS = 5.0  # put back by the fixture's monkeypatch
    with pytest.raises(ServiceError) as failed:
        session(instance).post_file("/api/v1/documents", "a.md", Path(__file__))
    assert failed.value.kind is Kind.INVALID
    assert len(tries) == 3


def test_files_under_leaves_what_leads_away(tmp_path: Path) -> None:
    """Hidden files and folders, links out of the folder, loops and sockets stay out; links inside it are taken."""
    root, away = tmp_path / "papers", tmp_path / "away"
    for folder in (root / "sub", root / ".git", away):
        folder.mkdir(parents=True)
    for path in (root / "b.md", root / "sub" / "a.md", root / ".hidden", root / ".git" / "config", away / "secret.md"):
        path.write_text("x")
    (root / "out.md").symlink_to(away / "secret.md")
    (root / "outdir").symlink_to(away)
    (root / "loop").symlink_to(root / "loop")
    (root / "broken.md").symlink_to(root / "gone.md")
    (root / "in.md").symlink_to(root / "b.md")
    os.mkfifo(root / "pipe")
    assert [name for _, name in files_under(root)] == ["papers/b.md", "papers/in.md", "papers/sub/a.md"]
    assert list(files_under(root / "b.md")) == [(root / "b.md", "b.md")]
    assert [name for _, name in files_under(root / ".git")] == [".git/config"]  # named outright, it is wanted


def test_each_file_has_its_entry_whatever_becomes_of_it(session, tmp_path: Path, monkeypatch) -> None:
    """Taken, refused, too large, unreadable, and with a name that is no UTF-8: five entries, in order (F19)."""
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in (b"a.md", b"b.md", b"c.md", b"d.md", b"e\xff.md"):
        (Path(os.fsdecode(os.fsencode(folder) + b"/" + name))).write_bytes(b"x" * (11 if name == b"c.md" else 1))
    monkeypatch.setattr(adding, "MAX_FILE", 10)
    real = Path.open

    def open_(path: Path, *args: Any, **options: Any) -> Any:
        if path.name == "d.md":
            raise PermissionError
        return real(path, *args, **options)

    monkeypatch.setattr(Path, "open", open_)

    def instance(request: httpx.Request) -> httpx.Response:
        error = {"kind": "unimplemented", "message": "Not read."} if b"papers/b.md" in request.read() else None
        return httpx.Response(207, json={"files": [{"documents": [], "warnings": [], "error": error}]})

    report = add(session(instance), [folder], quiet=True)
    kinds = [entry["error"] and entry["error"]["kind"] for entry in report["files"]]
    assert kinds == [None, "unimplemented", "out_of_range", "not_found", None]
    assert (report["added"], report["refused"]) == (2, 3)
    json.dumps(report, ensure_ascii=False).encode()  # can be printed


@pytest.mark.parametrize(
    "note",
    [
        *(
            "",
            "{",
            "[]",
            "null",
            '{"pid": 1}',
            '{"pid": "x", "url": "", "run_dir": "", "first_owner": "", "outbox": 1}',
        ),
        *(
            json.dumps({"pid": pid, "url": "u", "run_dir": "r", "first_owner": "a", "outbox": True})
            for pid in (0, -1, 2**22 + 1, 10**30, None)
        ),
    ],
)
def test_a_note_of_no_running_instance_is_no_instance(tmp_path: Path, note: str) -> None:
    """Left by a crash, cut, or nonsense: not running. A note of a living process: running."""
    place = Place(tmp_path)
    (tmp_path / "run.json").write_text(note)
    with pytest.raises(ServiceError) as refused:
        place.running()
    assert refused.value.kind is Kind.UNAVAILABLE
    place.note(Running(os.getpid(), "u", "r", "a", True))
    assert place.running().url == "u"
    place.clear_note()
    place.clear_note()
    with pytest.raises(ServiceError):
        place.running()
