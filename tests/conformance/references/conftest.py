"""Each reference sibling, started, and a few words to speak with it."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from harness import free_port, wait_for

SIBLINGS = Path(__file__).resolve().parents[3] / "conformance/siblings"
ADDRESS, PERSON_REF = "address", "person_ref"
ANN = {"alias": "asker.ann", "name": "Ann", "address": "ann@example.test", "person_ref": "p-ann"}
BEN = {"alias": "asker.ben", "name": "Ben", "address": "ben@example.test", "person_ref": "p-ben"}


@dataclass
class Driven:
    """A sibling and its hook. `kind` is how it keys people; `tiny` ones compute nothing."""

    name: str
    http: httpx.Client
    kind: str
    tiny: bool
    aliases: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def item(alias: str, rung: str = "team", **more: Any) -> dict[str, Any]:
        """An item as `load_world` brings it."""
        plain = {"alias": alias, "title": alias, "body": f"# {alias}", "rung": rung, "granted": [], "removed": []}
        return plain | more

    def call(self, method: str, body: dict[str, Any] | None = None, token: str = "", **more: Any) -> httpx.Response:
        """One call in JSON; `token` is pull or ask, whichever fits, unless given."""
        token = token or ("ask-1" if method in ("Authorize", "Aggregate") else "pull-1")
        headers = {"Authorization": f"Bearer {token}"}
        return self.http.post(f"/memoria.sibling.v1.SiblingService/{method}", json=body or {}, headers=headers, **more)

    def hook(self, verb: str, **params: Any) -> dict[str, Any]:
        """One request to the state hook, under the prefix `p` unless given."""
        action = "teardown" if verb == "teardown" else "setup"
        asked = {"state": verb, "params": {"prefix": "p", **params}, "action": action}
        reply = self.http.post("/__state", json=asked, headers={"Authorization": "Bearer state-1"})
        assert reply.status_code == 200, (verb, reply.status_code, reply.text)
        return dict(reply.json())

    def load(self, *items: dict[str, Any] | str, prefix: str = "p") -> None:
        """A world of Ann, Ben and these items, an alias being a plain team item; remembers the aliases."""
        whole = [self.item(entry) if isinstance(entry, str) else entry for entry in items]
        self.aliases = self.hook("load_world", prefix=prefix, people=[ANN, BEN], items=whole)["aliases"]

    def revision(self, alias: str) -> str:
        """What S3 says the item is at."""
        return str(self.call("GetContent", {"itemId": self.aliases[alias]}).json()["revision"])

    def subject(self, person: str, kind: str = "") -> dict[str, str]:
        """A person, as this sibling keys them or as another would."""
        value = (ANN if person == "asker.ann" else BEN)[kind or self.kind]
        return {"kind": f"SUBJECT_KIND_{(kind or self.kind).upper()}", "value": value}

    def ask(self, person: str, *pairs: tuple[str, str], kind: str = "") -> list[str]:
        """S2's verdicts; pairs are (id, revision)."""
        items = [{"itemId": item_id, "revision": revision} for item_id, revision in pairs]
        reply = self.call("Authorize", {"subject": self.subject(person, kind), "items": items}).json()
        return [entry["verdict"].removeprefix("VERDICT_") for entry in reply["verdicts"]]

    def read(self, cursor: str = "", token: str = "") -> tuple[list[tuple[str, bool]], str] | None:
        """S1 to its end: (id, gone) of every row, and the last cursor; None for `reannounce_required`."""
        rows: list[tuple[str, bool]] = []
        while True:
            page = self.call("ListChanges", {"cursor": cursor}, token).json()
            if page.get("reannounceRequired"):
                return None
            rows += [(row["itemId"], row.get("gone", False)) for row in page.get("rows", [])]
            cursor = page["nextCursor"]
            if not page.get("hasMore"):
                return rows, cursor


@contextmanager
def started(command: list[str], folder: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """A process that serves on `port`, ended at the end by the end of its stdin."""
    tokens = {f"MEMORIA_{name}_TOKEN": f"{name.lower()}-1" for name in ("PULL", "ASK", "STATE")}
    siblings = {name.replace("MEMORIA_", "MEMORIA_SIBLING_"): value for name, value in tokens.items()}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **tokens, **siblings, "PORT": str(port), "MEMORIA_LIFELINE": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        wait_for(lambda: listens(port) or process.poll() is not None, what="the sibling's start")
        yield process
        process.stdin.close()  # its parent is gone
        if "tiny_dev.py" in command:  # which has no such line
            process.terminate()
        process.wait(10)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def listens(port: int) -> bool:
    """Whether somebody does."""
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def _python(name: str, kind: str, *command: str) -> Iterator[Driven]:
    port = free_port()
    options = ["--port", str(port)] if name == "connectrpc" else []
    with started([sys.executable, *command, *options], SIBLINGS / "python", port):
        with httpx.Client(base_url=f"http://localhost:{port}", timeout=30) as http:
            yield Driven(name, http, kind, tiny=name == "python-tiny")


def _connectrpc() -> Iterator[Driven]:
    pytest.importorskip("connectrpc", reason="the connectrpc package is not installed")
    yield from _python("connectrpc", PERSON_REF, "-m", "memoria_conformance.references.connectrpc_sibling")


def _node(script: str) -> Iterator[Driven]:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    if not (SIBLINGS / "node/node_modules").is_dir():
        pytest.skip("conformance/siblings/node has no node_modules: `npm ci` there makes them")
    port = free_port()
    tiny = script != "server.mjs"
    with started(["node", script, *([] if tiny else ["--port", str(port)])], SIBLINGS / "node", port) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"ready on port {port}\n"
        with httpx.Client(base_url=f"http://localhost:{port}", timeout=30) as http:
            yield Driven(script, http, ADDRESS, tiny)
    assert process.returncode == 0


STARTS = {
    "connectrpc": _connectrpc,
    "node": lambda: _node("server.mjs"),
    "python-tiny": lambda: _python("python-tiny", ADDRESS, "tiny_dev.py"),
    "node-tiny": lambda: _node("tiny-dev.mjs"),
}


@pytest.fixture(scope="module", params=STARTS)
def sibling(request: pytest.FixtureRequest) -> Iterator[Driven]:
    """Each of them in turn."""
    yield from STARTS[request.param]()
