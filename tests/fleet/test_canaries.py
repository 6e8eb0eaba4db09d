"""Every route, every error and every background run, with a word of its own in whatever may be content (G04, TRU-06).

What all processes then said, in logs, metrics, status pages and on the terminal, holds none of the words in any form.
"""

import base64
import os
import re
import secrets
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness import Person, csrf, wait_for

from memoria_chassis.settings import SERVICES
from memoria_gateway.route_table import TABLE

pytestmark = [pytest.mark.fleet, pytest.mark.slow]

KINDS = ("query", "title", "trail", "body", "label", "file", "upload", "header", "path", "address", "secret", "agent")
SETTINGS = "[index]\nidle_seconds = 3\nsnapshot_quiet_seconds = 0.5\n"


class Canaries:
    """A word for each kind of content, which stands nowhere else; and what else must not be said."""

    def __init__(self) -> None:
        self.word = {kind: f"zq{kind}{secrets.token_hex(5)}" for kind in KINDS}
        self.more: dict[str, str] = {}

    def __getattr__(self, kind: str) -> str:
        return self.word[kind]

    def forms(self) -> Iterator[tuple[str, bytes]]:
        """Each as it stands, in hex, and in base64 wherever it begins in a longer text."""
        for name, word in (self.word | self.more).items():
            raw = word.encode()
            yield name, raw
            yield f"{name} in hex", raw.hex().encode()
            for offset in range(3):
                yield f"{name} in base64", base64.b64encode(b"\0" * offset + raw)[4 if offset else 0 : -4]


@pytest.fixture
def canary() -> Canaries:
    """Fresh ones."""
    return Canaries()


@pytest.fixture
def fleet(new_fleet: Callable[..., Any], tmp_path: Path) -> Any:
    """A demo fleet that saves and sleeps soon."""
    (tmp_path / "data0").mkdir()
    (tmp_path / "data0" / "memoria.toml").write_text(SETTINGS)
    made = new_fleet("--demo")
    made.settled()
    return made


def every_route(person: Person, canary: Canaries) -> list[tuple[str, str, int]]:
    """Each row of the table, asked by somebody signed in, by a program and by a stranger, whole and broken."""
    seen = []
    headers = {
        "User-Agent": canary.agent,
        "Referer": f"http://localhost/{canary.header}",
        "X-Forwarded-For": canary.header,
        "X-Request-Id": canary.header,
        "Accept-Language": canary.header,
    }
    stranger = httpx.Client(base_url=person.browser.base_url, timeout=30)
    fields = {
        "q": canary.query,
        "name": canary.label,
        "what": canary.header,
        "address": f"{canary.address}@example.test",
    }
    fields |= {"token": canary.secret, "next": f"/?q={canary.query}", "theme": canary.header, "waiting": canary.secret}
    for row in TABLE:
        path = row.path.replace("{id}", canary.path).replace("{file}", canary.path)
        if path == "/signout":
            continue  # last of all
        for client in (person.browser, person.program, stranger):
            for extra in (
                {},
                {"Cookie": f"memoria_session={canary.secret}"},
                {"Authorization": f"Bearer {canary.secret}"},
            ):
                options: dict[str, Any] = {"params": fields, "headers": headers | extra}
                if row.method == "POST":
                    bodies = [{"data": fields}, {"content": canary.body.encode(), "headers": headers | extra}]
                    bodies.append(
                        {"files": {canary.file: (f"{canary.file}.pdf", b"%PDF-1.7 " + canary.upload.encode())}}
                    )
                    bodies.append({"json": fields})
                    for body in bodies:
                        reply = client.request(row.method, path, **(options | body))
                        seen.append((row.method, row.path, reply.status_code))
                else:
                    reply = client.request(row.method, path, **options)
                    seen.append((row.method, row.path, reply.status_code))
        for method in ("PUT", "DELETE", "OPTIONS"):
            stranger.request(method, f"{path}/{canary.path}", params=fields, headers=headers)
    for query in (canary.query * 200, f"{canary.query}\0", f'"{canary.query}" OR (', canary.query + "\ud7ff"):
        person.program.get("/api/v1/search", params={"q": query})
    person.program.get("/api/v1/search", params={"q": canary.query, "page": canary.query, "limit": canary.query})
    stranger.get("/", headers={"Host": f"{canary.header}.example"})
    stranger.get(f"/%ff%fe/{canary.path}?q=%ff{canary.query}")
    return seen


def uploads(person: Person, canary: Canaries) -> None:
    """Good ones, and ones that no converter can read: each kind by its name and by its first bytes."""
    good = f"# {canary.title}\n\n## {canary.trail}\n\nThe {canary.body} stands here.\n"
    bad = canary.upload.encode() * 50
    starts = {
        "pdf": b"%PDF-1.7\n",
        "docx": b"PK\x03\x04",
        "pptx": b"PK\x03\x04",
        "xlsx": b"PK\x03\x04",
        "png": b"\x89PNG",
    }
    starts |= {
        "html": b"<html><title>",
        "eml": b"Subject: ",
        "csv": b"a,b\n",
        "txt": b"",
        "md": b"# ",
        "xls": b"\xd0\xcf\x11\xe0",
    }
    files = [("f", (f"{canary.file}.md", good.encode()))]
    files += [("f", (f"{canary.file}{n}.{end}", start + bad)) for n, (end, start) in enumerate(starts.items())]
    files += [("f", (f"{canary.file}", b"\0" + bad)), ("f", (f"../{canary.file}/x\r\n.pdf", b""))]
    for one in files:
        assert person.program.post("/api/v1/documents", files=[one]).status_code in {201, 207}
    reply = person.program.post("/api/v1/documents", files=[("f", (f"{canary.file}.txt", bad * 1000))])
    assert reply.status_code in {201, 207}


def at_the_source(fleet: Any, person: Person, canary: Canaries) -> None:
    """Pulls, refetches, announces and retirements, whole and with every fault that an app can commit."""
    text = f"# {canary.title}\n\n## {canary.trail}\n\nThe {canary.body} of the source.\n"
    made = fleet.sibling(
        "docs", "create", alias="doc.z", title=canary.title, trail=[canary.trail], body=text, rung="team"
    )
    canary.more["item"] = made["aliases"]["doc.z"]
    wait_for(lambda: len(person.search(canary.body)["results"]) >= 2, what="the upload and the item")
    for call in ("ListChanges", "GetContent", "Announce", "Authorize"):
        for kind in (
            "status",
            "garbage",
            "redirect",
            "close",
            "cut",
            "miscount",
            "short",
            "duplicate",
            "foreign",
            "sixth_value",
        ):
            with fleet.fault("docs", kind, call=call, status=500, location=f"http://{canary.header}.example/"):
                fleet.sibling("docs", "edit", item="doc.z", body=text + kind)
                if call == "Announce":
                    person.reannounce("docs")
                person.search(canary.body)
                time.sleep(0.05)  # the pull that it nudged runs into the fault
                person.search(canary.query)
    person.reannounce("docs")
    wait_for(lambda: not person.search(canary.body)["notices"], what="the end of it")
    fleet.sibling("docs", "partial_restore", item="doc.z", steps=1)
    person.search(canary.body)
    wait_for(lambda: not person.search(canary.body)["notices"], what="a reconciliation")
    fleet.sibling("docs", "delete", item="doc.z")
    wait_for(lambda: len(person.search(canary.body)["results"]) == 1, what="the retirement")


def signing_in(fleet: Any, canary: Canaries) -> None:
    """Links that are followed twice, made up, and asked for by strangers; a mail that cannot be written."""
    client = httpx.Client(base_url=fleet.url, timeout=30)
    address = fleet.person("mara@localhost").address
    before = {path.name for path in fleet.outbox.glob("*.eml")}  # and what she signed in with, just now, among them
    for asked in (
        address,
        f"{canary.address}@example.test",
        f"{canary.address}",
        f"{canary.address}@localhost\r\nBcc: x",
    ):
        client.post(
            "/auth/begin", data={"csrf": csrf(client.get("/signin")), "address": asked, "next": f"/?q={canary.query}"}
        )
    link = wait_for(lambda: fleet.link_to(address, before), what="the mail")
    canary.more["link"] = re.search(r"token=([\w-]+)", link).group(1)
    statuses = [client.get(link).status_code for _ in range(2)]
    assert statuses == [303, 400]
    canary.more["session"] = client.cookies["memoria_session"]
    fleet.outbox.chmod(0o500)
    try:
        client.post("/auth/begin", data={"csrf": csrf(client.get("/signin")), "address": address, "next": "/"})
        time.sleep(0.8)  # a mail waits for a tick of a quarter of a second
    finally:
        fleet.outbox.chmod(0o700)


def restarts(fleet: Any, person: Person, canary: Canaries) -> None:
    """Each service killed, or stopped, in the middle of what it does; and the index put to sleep and woken."""
    for turn, service in enumerate(SERVICES):
        pid = fleet.pids()[service]
        os.kill(pid, (signal.SIGKILL, signal.SIGTERM)[turn % 2])
        for _ in range(3 if service != "gateway" else 0):
            person.program.get("/api/v1/search", params={"q": canary.body})
        wait_for(lambda: fleet.pids().get(service) not in (None, pid) and fleet.status()["ready"], 40, "a restart")  # noqa: B023 - called before the next turn
    wait_for(lambda: fleet.status()["index"]["asleep"], 30, "the index's sleep")
    wait_for(
        lambda: person.program.get("/api/v1/search", params={"q": canary.body}).status_code == 200, what="the wake"
    )


def said(fleet: Any) -> dict[str, bytes]:
    """Everything that any process said: its log, metrics and status, and the terminal without the mails it shows."""
    found = {path.name: path.read_bytes() for path in (fleet.data / "logs").iterdir()}
    wait_for(lambda: fleet.cli("status").returncode == 0, what="all up")
    run_dir = fleet.run_dir
    for service in SERVICES:
        port = int((run_dir / f"{service}.port").read_text())
        for page in ("metrics", "status", "healthz", "readyz", "idle"):
            found[f"{service} {page}"] = httpx.get(f"http://127.0.0.1:{port}/{page}").content
    # On a development instance the terminal is the mailbox, and names the demo's people.
    lines = [line for line in fleet.said().splitlines() if not line.startswith(("sign in as ", "the demo's people: "))]
    found["terminal"] = "\n".join(lines).encode()
    return found


def test_no_process_says_a_word_of_it(fleet: Any, canary: Canaries) -> None:
    """Presence first: each word was where it belongs. Then no output holds any.

    Broken to see it red, each in turn: the query in a log line of the gateway; a
    sign-in link in one of the mailer's; an item's id in one of ingest's; a token in the status page.
    """
    person = fleet.person("you@localhost")
    canary.more["token"] = person.program.headers["Authorization"].removeprefix("Bearer ")
    canary.more["form"] = person.csrf()
    for path in (fleet.data / "tokens").iterdir():
        canary.more[f"token {path.name}"] = path.read_text().strip()
    canary.more |= {"owner": "you@localhost", "member": "mara@localhost"}

    uploads(person, canary)
    at_the_source(fleet, person, canary)
    statuses = every_route(person, canary)
    signing_in(fleet, canary)
    restarts(fleet, person, canary)

    assert {(method, path) for method, path, _ in statuses} == {
        (r.method, r.path) for r in TABLE if r.path != "/signout"
    }
    assert {200, 303, 400, 401, 403, 404} <= {status for _, _, status in statuses}
    (row,) = person.search(canary.body)["results"]
    assert canary.title in row["title"]
    assert canary.trail in " ".join(row["trail"])
    assert canary.body in row["snippet"]
    output = said(fleet)
    for service in SERVICES:
        assert b'"event"' in output[f"{service}.log"], service
        assert b"memoria_" in output[f"{service} metrics"]
    assert [(name, where) for name, form in canary.forms() for where, text in output.items() if form in text] == []
    for line in b"".join(output[f"{service}.log"] for service in SERVICES).splitlines():
        assert line.startswith(b"{"), line[:200]  # nothing but our own lines: no traceback, no library's print
