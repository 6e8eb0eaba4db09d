"""The gateway in this process: the real app, store, doors and limits, with peers that answer as they are told."""

import io
import logging
import re
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import structlog

from memoria_chassis import log
from memoria_chassis.clock import FakeClock
from memoria_chassis.config import Settings
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import ServiceKey
from memoria_chassis.process import Process
from memoria_chassis.sqlite import Database
from memoria_contract.types import Author, Subject, SubjectKind
from memoria_gateway.app import make_app
from memoria_gateway.connectors import Findings, Roster, Source
from memoria_gateway.csrf import Csrf
from memoria_gateway.desk import Desk
from memoria_gateway.door import Door
from memoria_gateway.limits import SignInLimits
from memoria_gateway.push_client import Presented, PushConnector
from memoria_gateway.push_items import PushedItem
from memoria_gateway.render import Renderer
from memoria_gateway.store import MIGRATIONS, Store
from memoria_gateway.views import Chunk, Document, Notice, Page, Part, Person, Result, Uploaded

ANN, BOB = "ann@example.test", "bob@example.test"
CONNECTOR, OTHER_CONNECTOR = "push-00112233445566aa", "push-ffeeddccbbaa9988"
TOKEN, OTHER_TOKEN = "memoria_con_" + "t" * 43, "memoria_con_" + "u" * 43
_CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')


class FakeGate:
    """authz: a list of who is admitted, changed by the test as an owner would."""

    def __init__(self) -> None:
        self.admitted = {ANN, BOB}
        self.owners = {ANN, BOB}
        self.breakers: list[Findings] = []
        self.silent: ServiceError | None = None
        self.asked: list[str] = []
        self.members: Roster | None = None
        self.wishes: list[str] = []
        self.down: ServiceError | None = None

    async def admit(self, address: str) -> Person:
        self.asked.append(address)
        if self.down:
            raise self.down
        if address not in self.admitted:
            raise ServiceError(Kind.REFUSED, "You are not on this team's list.")
        return Person(address, Subject(SubjectKind.ADDRESS, address), owner=address in self.owners)

    async def findings(self) -> list[Findings]:
        if self.silent:
            raise self.silent
        return self.breakers

    async def roster(self, *, pull: bool = False) -> Roster | None:
        if self.silent:
            raise self.silent
        self.wishes.append("pull" if pull else "look")
        return self.members

    async def confirm_roster(self, waiting: str) -> None:
        if self.members is None or self.members.waiting != waiting:
            raise ServiceError(Kind.PRECONDITION, "Another list waits now, or none does. Look again.")
        self.wishes.append("confirm")

    async def alive(self) -> None:
        if self.down:
            raise self.down


class FakeIndex:
    """search: says the page and the documents that it was given."""

    def __init__(self) -> None:
        self.page = Page((), (), False, False)
        self.documents: dict[str, Document | Notice] = {}
        self.searched: list[tuple[Subject, str, int, int]] = []
        self.down: Exception | None = None

    async def search(self, subject: Subject, query: str, page: int, page_size: int) -> Page:
        self.searched.append((subject, query, page, page_size))
        if self.down:
            raise self.down
        return self.page

    async def document(self, subject: Subject, document_id: str) -> Document | Notice:
        if self.down:
            raise self.down
        if document_id not in self.documents:
            raise ServiceError(Kind.NOT_FOUND, "no such document")
        return self.documents[document_id]

    async def alive(self) -> None:
        if self.down:
            raise self.down


class FakeIntake:
    """ingest: keeps what was uploaded; refuses by file name."""

    def __init__(self) -> None:
        self.files: list[tuple[str, bytes]] = []
        self.refused: dict[str, ServiceError] = {}
        self.deleted: list[str] = []
        self.nudges = 0
        self.listed: list[Source] = [Source("abc", "current")]
        self.wishes: list[tuple[str, str, bool]] = []
        self.late: ServiceError | None = None
        self.down: ServiceError | None = None

    async def upload(self, name: str, size: int, body: AsyncIterator[bytes]) -> tuple[list[Uploaded], list[str]]:
        if name in self.refused:
            raise self.refused[name]
        data = b"".join([piece async for piece in body])
        self.files.append((name, data))
        return [Uploaded(f"d{len(self.files)}", f"Title of {name}", "1", 2, True)], ["One warning."]

    async def delete(self, document_id: str) -> int:
        self.deleted.append(document_id)
        return 1

    async def nudge(self) -> None:
        self.nudges += 1

    async def sources(self) -> list[Source]:
        if self.down:
            raise self.down
        return self.listed

    async def sync(self, app: str, *, reannounce: bool) -> None:
        self._wish("sync", app, reannounce)

    async def pause(self, app: str, *, paused: bool) -> None:
        self._wish("pause", app, paused)

    async def remove(self, app: str) -> int:
        self._wish("remove", app, True)
        return 7

    def _wish(self, verb: str, app: str, how: bool) -> None:
        if app not in {source.app for source in self.listed}:
            raise ServiceError(Kind.NOT_FOUND, "There is no such source.")
        self.wishes.append((verb, app, how))
        if self.late:
            raise self.late

    async def alive(self) -> None:
        if self.down:
            raise self.down


class FakePushes:
    """ingest's connectors: one, whose token the tests know; refuses items by their id."""

    def __init__(self) -> None:
        self.listed = [PushConnector(CONNECTOR, "Wiki", (), datetime(2026, 5, 1, tzinfo=UTC), None, 3)]
        self.token = TOKEN
        self.others: dict[str, str] = {}
        self.allowed: set[str] = set()
        self.made: list[tuple[str, tuple[str, ...]]] = []
        self.removed: list[str] = []
        self.items: list[PushedItem] = []
        self.checked: list[Presented] = []
        self.refused: dict[str, ServiceError] = {}
        self.down: ServiceError | None = None

    async def create(self, name: str, origins: Sequence[str]) -> tuple[str, str]:
        self.made.append((name, tuple(origins)))
        return OTHER_CONNECTOR, OTHER_TOKEN

    async def connectors(self) -> list[PushConnector]:
        if self.down:
            raise self.down
        return self.listed

    async def renew(self, connector_id: str) -> str:
        if connector_id not in {each.connector_id for each in self.listed}:
            raise ServiceError(Kind.NOT_FOUND, "There is no such connector.")
        self.token = OTHER_TOKEN
        return self.token

    async def remove(self, connector_id: str) -> None:
        if connector_id not in {each.connector_id for each in self.listed}:
            raise ServiceError(Kind.NOT_FOUND, "There is no such connector.")
        self.removed.append(connector_id)

    async def check(self, presented: Presented) -> None:
        self.checked.append(presented)
        if self.down:
            raise self.down
        if ({CONNECTOR: self.token} | self.others).get(presented.connector_id) != presented.token:
            raise ServiceError(Kind.UNAUTHENTICATED, "This connector's own token is needed.")
        if presented.origin and self.allowed and presented.origin not in self.allowed:
            raise ServiceError(Kind.REFUSED, "This connector takes nothing from pages of this origin.")

    async def push(self, presented: Presented, item: PushedItem) -> str:
        await self.check(presented)
        if item.external_id in self.refused:
            raise self.refused[item.external_id]
        self.items.append(item)
        return "deleted" if item.gone else "stored"


class FakeMailer:
    """Keeps what would be mailed."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []

    async def send(self, address: str, link: str) -> None:
        self.sent.append((address, link))

    async def rehearse(self, address: str, link: str) -> None:
        return


class Browser(httpx.AsyncClient):
    """One browser: its own cookies, redirects not followed."""

    async def form(self, path: str = "/signin/local") -> str:
        """The form token that a page gives this browser."""
        page = await self.get(path)
        found = _CSRF.search(page.text)
        assert found, page.text[:300]
        return found.group(1)


class Pod:
    """A gateway and everything around it that a test may turn."""

    def __init__(
        self,
        folder: Path,
        origin: str = "http://localhost:8080",
        settings: Settings | None = None,
        make_home: Callable[[Any], Any] | None = None,
    ) -> None:
        """`make_home`: the sign-in by a home, made of this pod; `settings` say then what the headers need of it."""
        self.origin = origin
        self.clock = FakeClock()
        self.path = folder / "gateway.db"
        self.database = Database.open(self.path, MIGRATIONS)
        self.key = ServiceKey(b"g" * 32)
        self.store = Store(self.database, self.key, self.clock)
        self.gate, self.index, self.intake, self.mailer = FakeGate(), FakeIndex(), FakeIntake(), FakeMailer()
        self.extract = SimpleNamespace(alive=self._nothing)
        self.pushes = FakePushes()
        parts: Any = (self.gate, self.index, self.intake, self.pushes, self.extract, self.mailer)
        gate, index, intake, pushes, extract, mailer = parts
        csrf = Csrf(self.key.purpose("csrf"), origin)
        settings = settings or Settings()
        home = make_home(self) if make_home else None
        self.desk = Desk(
            store=self.store,
            door=Door(self.store, gate, csrf, https=origin.startswith("https:"), home=home.store if home else None),
            gate=gate,
            index=index,
            intake=intake,
            pushes=pushes,
            extract=extract,
            mailer=mailer,
            limits=SignInLimits(self.clock),
            renderer=Renderer(self.clock, "off", settings.home),
            origin=origin,
            home=home,
        )
        self.process = Process("gateway", settings)
        self.app = make_app(self.desk, self.process)

    async def _nothing(self) -> None:
        return

    def browser(self, **options: Any) -> Browser:
        """A browser that has never been here."""
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        return Browser(transport=transport, base_url=self.origin, **options)

    async def ask_link(self, browser: Browser, address: str, next_path: str = "/") -> httpx.Response:
        """Submit the sign-in form and let the job behind the reply end."""
        fields = {"csrf": await browser.form(), "address": address, "next": next_path}
        reply = await browser.post("/auth/begin", data=fields)
        await self.desk.settle()
        return reply

    async def signed_in(self, address: str = ANN) -> Browser:
        """A browser with a session, got as a person gets one."""
        browser = self.browser()
        await self.ask_link(browser, address)
        assert self.mailer.sent[-1][0] == address
        assert (await browser.get(self.mailer.sent[-1][1])).status_code == 303
        return browser

    async def program(self, address: str = ANN, scope: str = "read") -> Browser:
        """A program with a personal token."""
        token = await self.store.new_token(address, "tests", scope, 30)
        return self.browser(headers={"Authorization": f"Bearer {token}"})


def result(rank: int = 1, **changes: Any) -> Result:
    """A spoken passage."""
    values: dict[str, Any] = {
        "rank": rank,
        "app": "docs",
        "title": "Tides",
        "trail": ("Papers", "Harbour"),
        "snippet": (Part("the ", False), Part("tide", True), Part(" turns", False)),
        "date": datetime(2026, 5, 1, tzinfo=UTC),
        "author": Author.HUMAN,
        "document_id": "abc",
        "ordinal": 3,
        "source_link": "http://demo.docs.localhost:9101/d/1",
        "available": True,
    }
    return Result(**(values | changes))


def document(document_id: str = "abc", **changes: Any) -> Document:
    """A spoken document."""
    values: dict[str, Any] = {
        "document_id": document_id,
        "app": "files",
        "title": "Tides",
        "trail": ("Papers",),
        "date": None,
        "author": Author.UNKNOWN,
        "source_link": "",
        "revision": "4",
        "chunks": (Chunk(0, ("Head",), "first"), Chunk(1, (), "second")),
        "owned": True,
        "part_ids": (),
    }
    return Document(**(values | changes))


@pytest.fixture
def make_pod(tmp_path: Path) -> Iterator[Callable[..., Pod]]:
    """Makes pods; more than one may stand on the same file, as after a redeploy."""
    made: list[Pod] = []

    def make(**options: Any) -> Pod:
        made.append(Pod(tmp_path, **options))
        return made[-1]

    yield make
    for pod in made:
        pod.database.close()


@pytest.fixture
def pod(make_pod: Callable[..., Pod]) -> Pod:
    """A gateway on a development origin."""
    return make_pod()


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], str]]:
    """Logging as the service has it; what was written so far is read by calling."""
    written = io.StringIO()
    for owner, name in ((sys, "excepthook"), (sys, "unraisablehook"), (threading, "excepthook")):
        monkeypatch.setattr(owner, name, getattr(owner, name))  # so that they are put back
    monkeypatch.setattr(logging.root, "handlers", logging.root.handlers)
    monkeypatch.setattr(sys, "stderr", written)
    level = logging.root.level
    log.configure("gateway")
    yield written.getvalue
    logging.root.setLevel(level)
    logging.captureWarnings(False)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


@pytest.fixture
def a_result() -> Callable[..., Result]:
    """Makes results."""
    return result


@pytest.fixture
def a_document() -> Callable[..., Document]:
    """Makes documents."""
    return document
