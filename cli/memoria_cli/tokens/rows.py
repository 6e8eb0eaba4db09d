"""Where it is kept which tokens are accepted: a sibling's consumers row. One call adds, one retires, none reads.

A row holds SHA-256 hashes, so that is what is sent, in hex. Both calls say what the row is to be, and saying it twice
changes nothing.
"""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import httpx

from memoria_chassis.errors import Kind, ServiceError

_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Row:
    """Which row: an app's for `pull` or `ask`, or a service's of ours for `caller`."""

    app: str
    scope: str

    def __str__(self) -> str:
        return f"{self.app}.{self.scope}"


class ConsumerRows(Protocol):
    """Writes rows. Raises ServiceError where that did not happen."""

    def add(self, row: Row, hashed: str) -> None:
        """Accept this token, beside the one that is accepted already."""
        ...

    def keep(self, row: Row, hashed: str) -> None:
        """Accept this token and no other."""
        ...


class RowsByScope:
    """Our own services' rows beside the apps'."""

    def __init__(self, scopes: Mapping[str, ConsumerRows], others: ConsumerRows) -> None:
        self._scopes = scopes
        self._others = others

    def add(self, row: Row, hashed: str) -> None:
        """As ConsumerRows."""
        self._scopes.get(row.scope, self._others).add(row, hashed)

    def keep(self, row: Row, hashed: str) -> None:
        """As ConsumerRows."""
        self._scopes.get(row.scope, self._others).keep(row, hashed)


class DemoRows:
    """The demo apps' rows, by the state hook that they have for tests."""

    def __init__(self, ports: Path, tokens: Path) -> None:
        """`ports`: the file with each app's port; `tokens`: the folder with the hook's tokens."""
        self._ports = ports
        self._tokens = tokens

    def add(self, row: Row, hashed: str) -> None:
        """As ConsumerRows."""
        self._do(row, "add_token", {"sha256": hashed})

    def keep(self, row: Row, hashed: str) -> None:
        """As ConsumerRows."""
        self._do(row, "retire_tokens", {"sha256": hashed})

    def _do(self, row: Row, verb: str, params: dict[str, str]) -> None:
        params |= {"consumer": f"memoria.{row.scope}", "scope": row.scope}
        try:
            port = int(json.loads(self._ports.read_text())[row.app])
            hook = (self._tokens / f"{row.app}.state").read_text().strip()
            reply = httpx.post(
                f"http://127.0.0.1:{port}/__state",
                json={"state": verb, "params": params},
                headers={"Authorization": f"Bearer {hook}"},
                timeout=_SECONDS,
                trust_env=False,
            )
        except (OSError, ValueError, KeyError, TypeError, httpx.HTTPError):
            raise ServiceError(Kind.UNAVAILABLE, "the demo app could not be reached") from None
        if reply.status_code != 200:
            raise ServiceError(Kind.PRECONDITION, "the demo app did not change its row")


class CommandRows:
    """Other people's apps: a program of the operator's is run for each change, with what is wanted on its input."""

    def __init__(self, command: list[str]) -> None:
        self._command = command

    def add(self, row: Row, hashed: str) -> None:
        """As ConsumerRows."""
        self._run("add", row, hashed)

    def keep(self, row: Row, hashed: str) -> None:
        """As ConsumerRows."""
        self._run("keep", row, hashed)

    def _run(self, action: str, row: Row, hashed: str) -> None:
        wanted = json.dumps({"action": action, "app": row.app, "scope": row.scope, "sha256": hashed})
        try:
            # Its output goes where ours goes: what it prints is the operator's own.
            ended = subprocess.run(  # noqa: S603 - the operator's own program, as they named it
                self._command, input=wanted + "\n", text=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.SubprocessError):
            raise ServiceError(Kind.UNAVAILABLE, "the program of --via could not be run to its end") from None
        if ended.returncode != 0:
            raise ServiceError(Kind.PRECONDITION, f"the program of --via ended with {ended.returncode}")
