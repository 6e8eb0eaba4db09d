"""The doors over the home, in a browser with two origins: its cookies, its `Origin`, its policy (AUT-28, AUT-29)."""

import base64
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import uvicorn
from harness import Fleet, free_port
from home_issuer import HomeIssuer
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.browser

YOU = "you@localhost"


@dataclass
class Estate:
    """An instance and the home that its people sign in by."""

    fleet: Fleet
    issuer: HomeIssuer


@pytest.fixture(scope="module")
def estate(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    """`memoria up` without demo apps, beside a home of another site, as `home.localhost` is to `localhost`."""
    port, home_port = free_port(), free_port()
    issuer = HomeIssuer(f"http://home.localhost:{home_port}", "memoria-demo", f"http://localhost:{port}")
    server = uvicorn.Server(uvicorn.Config(issuer.app(), port=home_port, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    fleet = Fleet(
        tmp_path_factory.mktemp("home") / "data",
        "--no-demo",
        port=port,
        MEMORIA_HOME_ISSUER=issuer.issuer,
        MEMORIA_HOME_CONSUMER_ID=issuer.consumer_id,
        MEMORIA_HOME_KEYS_BASE64=issuer.keys_base64(),
        MEMORIA_HOME_DEK_BASE64=base64.b64encode(secrets.token_bytes(32)).decode(),
        HOME_DIRECTORY_ORIGIN=issuer.issuer,
    )
    try:
        yield Estate(fleet, issuer)
    finally:
        fleet.stop()
        server.should_exit = True
        thread.join()


@pytest.fixture
def page(estate: Estate, chromium: Browser, scripts: bool) -> Iterator[Page]:
    """A page of a new browser; what the policy forbade is in the console."""
    context = chromium.new_context(
        base_url=estate.fleet.url, java_script_enabled=scripts, viewport={"width": 360, "height": 700}
    )
    context.set_default_timeout(10_000)
    said: list[str] = []
    context.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    yield context.new_page()
    context.close()
    assert [text for text in said if "Content Security Policy" in text] == []


def by_mail(estate: Estate, page: Page) -> None:
    """Give the page's browser a session by mail of this minute."""
    estate.fleet._people.clear()
    cookie = estate.fleet.person(YOU).browser.cookies["memoria_session"]
    page.context.add_cookies([{"name": "memoria_session", "value": cookie, "url": estate.fleet.url, "httpOnly": True}])


def fits(page: Page) -> None:
    """No sideways scrolling at 360 px, with the two further links that the header has here."""
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), page.url


def go_on(page: Page) -> None:
    """The home's own page: it has nothing but a button."""
    page.get_by_role("button", name="Go on").click()


def test_link_sign_out_sign_in(estate: Estate, page: Page) -> None:
    """The whole way: linked from a session by mail, out by the home's own door, in by the home, unlinked again.

    Broken to see it red, each in turn: the issuer left out of `form-action`; the hand-off's cookie `SameSite=Strict`;
    a header that does not wrap.
    """
    by_mail(estate, page)
    page.goto("/account/home")
    expect(page.get_by_role("link", name="All apps")).to_be_visible()
    fits(page)
    page.get_by_role("button", name="Link my suite account").click()
    go_on(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Link your suite account?")
    fits(page)
    page.get_by_role("button", name="Link it").click()
    expect(page.get_by_role("main")).to_contain_text("A suite account is linked to")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Signed out")
    assert page.url == f"{estate.fleet.url}/signed-out"
    page.goto("/account/tokens")
    assert page.url.startswith(estate.issuer.issuer)
    go_on(page)
    assert page.url == f"{estate.fleet.url}/account/tokens"
    expect(page.get_by_label("Account")).to_contain_text(YOU)
    page.goto("/account/home")
    page.get_by_role("button", name="Remove the link").click()
    assert page.url.startswith(estate.issuer.issuer)  # the session by the home ended with the link that it rested on


def test_a_home_that_knows_more_than_we_do(estate: Estate, page: Page) -> None:
    """A person of the home whom nobody linked: told so, with the way to link; no session."""
    page.goto("/")
    go_on(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Not linked yet")
    fits(page)
    assert not any(cookie["name"] == "memoria_session" for cookie in page.context.cookies())
    page.get_by_role("link", name="Sign in by e-mail and link").click()
    expect(page.get_by_label("Your e-mail address")).to_be_visible()
