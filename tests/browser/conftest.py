"""Chromium over a demo fleet: people in contexts of their own, with scripts on and off, and a watch on every page.

Playwright's synchronous loop lives as long as one module: left running it would be in the way of asynchronous tests.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from harness import Fleet
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright

ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
YOU, BEN = "you@localhost", "ben@localhost"


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """One demo fleet for all pages."""
    if CHROMIUM is None:
        pytest.skip("no Chromium in PATH: chromium, chromium-browser or google-chrome")
    running = Fleet(tmp_path_factory.mktemp("browser") / "data")
    try:
        running.settled()
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def chromium(fleet: Fleet) -> Iterator[Browser]:
    """The browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@dataclass
class Watch:
    """What went wrong on any page of a test: console errors, broken policy, uncaught errors, requests elsewhere."""

    home: str
    troubles: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()

    def over(self, context: BrowserContext) -> None:
        """Watch every page of a context."""
        context.on("request", self._request)
        context.on("console", lambda said: self._trouble(said.text) if said.type in {"error", "warning"} else None)
        context.on("weberror", lambda failed: self._trouble(str(failed.error)))

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in {"blob", "about"} and f"{parts.scheme}://{parts.netloc}" != self.home:
            self.elsewhere.append(request.url)

    def _trouble(self, text: str) -> None:
        if not any(expected in text for expected in self.expected):
            self.troubles.append(text)

    def check(self) -> None:
        """Nothing went wrong."""
        assert self.troubles == []
        assert self.elsewhere == []


@pytest.fixture
def watch(fleet: Fleet) -> Iterator[Watch]:
    """The watch on this test's pages; checked when the test ends."""
    watching = Watch(fleet.url)
    yield watching
    watching.check()


@pytest.fixture
def visit(chromium: Browser, fleet: Fleet, watch: Watch) -> Iterator[Callable[..., Page]]:
    """`visit(address, scripts=…, width=…, scheme=…)`: a page of a new context, signed in unless the address is None."""
    made: list[BrowserContext] = []

    def make(address: str | None = YOU, *, scripts: bool = True, width: int = 1280, scheme: str = "light") -> Page:
        options: dict[str, Any] = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
        context = chromium.new_context(base_url=fleet.url, java_script_enabled=scripts, **options)
        context.set_default_timeout(10_000)
        made.append(context)
        watch.over(context)
        if address is not None:
            cookie = fleet.person(address).browser.cookies["memoria_session"]
            context.add_cookies([{"name": "memoria_session", "value": cookie, "url": fleet.url, "httpOnly": True}])
        return context.new_page()

    yield make
    for context in made:
        context.close()


@pytest.fixture(params=[True, False], ids=["scripts", "no-scripts"])
def scripts(request: pytest.FixtureRequest) -> bool:
    """Scripts on and off."""
    return bool(request.param)
