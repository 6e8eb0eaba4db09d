"""A pod beside a home that signs people in, and the ways between the two that a browser takes."""

import base64
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from home_issuer import HomeIssuer

from memoria_chassis.config import load_settings
from memoria_chassis.keys import ServiceKey
from memoria_gateway.home.adapter import HomeAdapter
from memoria_gateway.home.assertion import Verifier
from memoria_gateway.home.pending import PendingSealer
from memoria_gateway.home.store import HomeStore

ISSUER, CONSUMER, ORIGIN = "https://home.example.test", "memoria-demo", "https://demo.memoria.example"
EXCHANGE = b"x" * 32


class Home:
    """The home and the pod."""

    def __init__(self, make_pod: Callable[..., Any]) -> None:
        self.issuer = HomeIssuer(ISSUER, CONSUMER, ORIGIN)
        environment = {
            "MEMORIA_HOME_ISSUER": ISSUER,
            "MEMORIA_HOME_CONSUMER_ID": CONSUMER,
            "MEMORIA_HOME_KEYS_BASE64": self.issuer.keys_base64(),
            "MEMORIA_HOME_DEK_BASE64": base64.b64encode(EXCHANGE).decode(),
            "MEMORIA_HOME_DIRECTORY_ORIGIN": "https://apps.example.test",
        }
        self.settings = load_settings(environment)
        self.pod = make_pod(origin=ORIGIN, settings=self.settings, make_home=self.adapter)
        self.issuer.clock = lambda: self.pod.clock.now().timestamp()

    def adapter(self, pod: Any) -> HomeAdapter:
        """The sign-in by this home, on a pod's file."""
        store = HomeStore(pod.database, pod.key, ServiceKey(EXCHANGE), pod.clock)
        verify = Verifier(ISSUER, CONSUMER, self.issuer.keys_base64()).verify
        return HomeAdapter(ISSUER, CONSUMER, verify, store, PendingSealer(pod.key), https=True)

    async def asked(self, browser: Any, path: str = "/signin") -> tuple[str, str]:
        """(state, nonce) of a hand-off that a browser begins by GET."""
        return self.read(await browser.get(path))

    def read(self, reply: Any) -> tuple[str, str]:
        """(state, nonce) of a redirect to the home."""
        parts = urlsplit(reply.headers["location"])
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{ISSUER}/authorize"
        asked = parse_qs(parts.query)
        assert asked.keys() == {"consumer_id", "state", "nonce"}
        assert asked["consumer_id"] == [CONSUMER]
        return asked["state"][0], asked["nonce"][0]

    async def post(self, assertion: str, state: str, origin: str | None = ISSUER) -> Any:
        """What the home's page has a browser send: no cookie goes with a cross-site POST."""
        headers = {"sec-fetch-site": "cross-site"} | ({"origin": origin} if origin is not None else {})
        return await self.pod.browser().post(
            "/auth/assertion", data={"assertion": assertion, "state": state}, headers=headers
        )

    async def parked(self, browser: Any, reply: Any = None, **claims: Any) -> str:
        """Where the browser goes on to after a hand-off that the home agreed to."""
        state, nonce = self.read(reply) if reply is not None else await self.asked(browser)
        posted = await self.post(self.issuer.assertion(nonce, **claims), state)
        assert posted.status_code == 303, posted.text
        return str(posted.headers["location"])

    async def linked(self, address: str = "ann@example.test") -> Any:
        """A browser whose person has linked their address to the home's person, by the forms."""
        browser = await self.pod.signed_in(address)
        reply = await browser.post("/account/home", data={"csrf": await browser.form("/"), "link": "yes"})
        finished = await browser.get(await self.parked(browser, reply))
        assert finished.headers["location"] == "/account/home/confirm"
        confirm = await browser.post("/account/home/confirm", data=await self.asked_to_confirm(browser))
        assert confirm.headers["location"] == "/account/home"
        return browser

    async def asked_to_confirm(self, browser: Any) -> dict[str, str]:
        """The fields of the page that asks whether to link."""
        page = await browser.get("/account/home/confirm")
        main = page.text.partition("<main")[2]  # the header has a form of its own
        return dict(re.findall(r'type="hidden" name="(\w+)" value="([0-9a-f]*)"', main))

    async def signed_in(self, next_path: str = "/") -> Any:
        """A browser with a session by the home."""
        browser = self.pod.browser()
        reply = await browser.get("/signin", params={"next": next_path})
        landed = await browser.get(await self.parked(browser, reply))
        assert landed.headers["location"].startswith("/auth/landed"), landed.text
        return browser

    def counts(self) -> dict[str, int]:
        """Rows of each table of the home's sign-in, and of sessions."""
        tables = ("home_seen", "home_parked", "home_candidates", "home_identities", "home_bindings", "sessions")
        connection = self.pod.database._connection()
        return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}


@pytest.fixture
def home(make_pod: Callable[..., Any]) -> Home:
    """A home, and a pod that people sign in to by it."""
    return Home(make_pod)
