"""A whole fleet as processes: `memoria up` on a throw-away data directory, and people and siblings to push it with."""

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

_CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')
_LINK = re.compile(rb"http://\S+/auth/verify\?\S+")
START_SECONDS = 90


def free_port() -> int:
    """A port nobody listens on, below those that the system hands out: one of its choice may be a service's internal
    port, or a connection's, by the time it is used."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def own_environment(**more: str) -> dict[str, str]:
    """The environment without whatever of ours somebody has set in it, and with `more`."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MEMORIA_")} | more


def wait_for(check: Callable[[], Any], seconds: float = 30.0, what: str = "it") -> Any:
    """Poll until `check` is true; the limit is there to fail, not to measure."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = check()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen within {seconds:.0f} s")


class Person:
    """Somebody's browser, signed in by link, and their program, with a personal token."""

    def __init__(self, fleet: "Fleet", address: str) -> None:
        self.address = address
        self.browser = httpx.Client(base_url=fleet.url, timeout=30)
        page = self.browser.get("/signin/local")
        before = {path.name for path in fleet.outbox.glob("*.eml")}
        fields = {"csrf": csrf(page), "address": address, "next": "/"}
        assert self.browser.post("/auth/begin", data=fields).headers["location"].endswith("?sent=1")
        link = wait_for(lambda: fleet.link_to(address, before), what="the sign-in mail")
        assert self.browser.get(link).status_code == 303
        made = self.browser.post(
            "/account/tokens",
            data={"csrf": self.csrf(), "name": "tests", "scope": "write", "days": "7"},
        )
        token = re.search(r"memoria_pat_[A-Za-z0-9_-]+", made.text)
        assert token
        self.program = httpx.Client(
            base_url=fleet.url, timeout=30, headers={"Authorization": f"Bearer {token.group(0)}"}
        )

    def csrf(self) -> str:
        """A token for this browser's forms."""
        return csrf(self.browser.get("/account/tokens"))

    def search(self, query: str, **params: Any) -> dict[str, Any]:
        """One search by API."""
        reply = self.program.get("/api/v1/search", params={"q": query, **params})
        assert reply.status_code == 200, reply.text
        return dict(reply.json())

    def reannounce(self, app: str) -> None:
        """The owner's button: have an app list all it holds."""
        reply = self.browser.post(f"/connectors/{app}/sync", data={"csrf": self.csrf(), "what": "announce"})
        assert reply.status_code == 303

    def titles(self, query: str) -> list[str]:
        """The titles found, in rank order."""
        return [result["title"] for result in self.search(query)["results"]]

    def page(self, query: str) -> str:
        """The search page as this browser gets it."""
        reply = self.browser.get("/", params={"q": query})
        assert reply.status_code == 200
        return reply.text


def csrf(page: httpx.Response) -> str:
    """The form token in a page."""
    found = _CSRF.search(page.text)
    assert found, page.text[:500]
    return found.group(1)


class Fleet:
    """A running `memoria up`."""

    def __init__(self, data: Path, *options: str, port: int | None = None, **environment: str) -> None:
        self.data = data
        self.port = port or free_port()
        self._environment = own_environment(**environment)
        self.url = f"http://localhost:{self.port}"
        self.outbox = data / "outbox"
        self.output = data.parent / f"{data.name}.out"
        self._options = options
        self._people: dict[str, Person] = {}
        self._start()

    def _start(self) -> None:
        command = [str(Path(sys.executable).parent / "memoria"), "up", "--data", str(self.data)]
        command += ["--port", str(self.port), *self._options]
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                command,
                stdout=output,
                stderr=output,
                env=self._environment,
                cwd=self.data.parent,
                start_new_session=True,
            )
        try:
            wait_for(self._is_up, START_SECONDS, "the fleet's start")
        except AssertionError:
            self.stop()
            raise

    def _is_up(self) -> bool:
        assert self.process.poll() is None, self.said()
        return "Ctrl-C stops it" in self.said()

    def said(self) -> str:
        """What `memoria up` printed so far."""
        return self.output.read_text()

    def restart(self) -> None:
        """Stop it and start it again on the same data."""
        self.stop()
        self.output.unlink()
        self._people.clear()
        self._start()

    def stop(self, number: int = signal.SIGINT) -> int:
        """End it as a terminal's Ctrl-C would; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(40)

    def link_to(self, address: str, before: set[str]) -> str | None:
        """The newest sign-in link mailed to `address` since."""
        for path in sorted(self.outbox.glob("*.eml"), reverse=True):
            body = path.read_bytes()
            if path.name not in before and f"To: {address}\n".encode() in body:
                found = _LINK.search(body)
                return found.group(0).decode() if found else None
        return None

    def person(self, address: str) -> Person:
        """Somebody, signed in once per fleet."""
        if address not in self._people:
            self._people[address] = Person(self, address)
        return self._people[address]

    def app_port(self, app: str) -> int:
        """Where a demo app listens."""
        return int(json.loads((self.data / "demo" / "ports.json").read_text())[app])

    @property
    def run_dir(self) -> Path:
        """Where its sockets and its index lie while it runs."""
        return Path(json.loads((self.data / "run.json").read_text())["run_dir"])

    def sibling(self, app: str, state: str, **params: Any) -> dict[str, Any]:
        """Change a demo app's state, as its own people would."""
        token = (self.data / "tokens" / f"{app}.state").read_text().strip()
        reply = httpx.post(
            f"http://127.0.0.1:{self.app_port(app)}/__state",
            json={"state": state, "params": params, "action": "setup"},
            headers={"Authorization": f"Bearer {token}"},
        )
        assert reply.status_code == 200, reply.text
        return dict(reply.json())

    @contextmanager
    def fault(self, app: str, kind: str, **params: Any) -> Iterator[None]:
        """A demo app misbehaves for a while."""
        self.sibling(app, "fault", kind=kind, **params)
        try:
            yield
        finally:
            self.sibling(app, "fault", kind="none")

    def cli(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run the `memoria` command against this instance."""
        command = [str(Path(sys.executable).parent / "memoria"), words[0], "--data", str(self.data), *words[1:]]
        return subprocess.run(
            command, capture_output=True, text=True, env=own_environment(), timeout=300, cwd=self.data.parent
        )

    def status(self) -> dict[str, Any]:
        """What `memoria status --json` says."""
        return dict(json.loads(self.cli("status", "--json").stdout))

    def settled(self) -> None:
        """Wait until every source was pulled through and nothing is owed."""
        wait_for(
            lambda: all(s["state"] == "current" and not s["owed"] for s in self.status()["sources"]),
            60,
            "the first pull",
        )

    def pids(self) -> dict[str, int]:
        """The services' process ids."""
        return {name: service["pid"] for name, service in self.status()["services"].items()}
