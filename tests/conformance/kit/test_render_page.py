"""The HTML report in a browser: on a telephone and a desk, light and dark, without scripts."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from memoria_conformance.kit.render.html import render_html
from memoria_conformance.kit.report import CaseResult, Exchange, Level, Report, Status

pytestmark = pytest.mark.browser
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LONG = "m" * 400
REPORT = Report(
    "docs",
    "http://demo.docs.localhost:1",
    tuple(
        CaseResult(
            f"s2-{status}-{LONG[:60]}",
            "S2",
            Level.MUST,
            "s2",
            LONG,
            status,
            f"{LONG}<img src=http://demo.evil.localhost/x onerror=alert(1)>",
            exchanges=(Exchange("POST /x", (("X", LONG),), LONG, 200, ((LONG, "y"),), LONG, f"curl {LONG}"),) * 2,
        )
        for status in Status
    ),
    ("S6",),
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for this module: its loop would be in the way of asynchronous tests."""
    if CHROMIUM is None:
        pytest.skip("no Chromium in PATH: chromium, chromium-browser or google-chrome")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield running
        running.close()


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_asks_for_nothing(browser: Browser, tmp_path: Path, width: int, scheme: str) -> None:
    """Everything unfolded, with words of 400 letters: no sideways scrolling, no complaint of the policy, no request.

    Broken to see red: `overflow-wrap` taken out; the style changed behind its digest; `escape` taken out.
    """
    page_file = tmp_path / "report.html"
    page_file.write_text(render_html(REPORT).replace("<details>", "<details open>"), "utf-8")
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)  # type: ignore[arg-type] # a literal
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(page_file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}[scheme]
    assert page.locator("pre").count() > len(Status)
    assert (asked, said) == ([page_file.as_uri()], [])
    context.close()
