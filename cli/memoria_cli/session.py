"""An instance as this command talks to it: over HTTP, with a person's token, through the same gate as the page."""

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import httpx

from memoria_chassis.errors import Kind, ServiceError
from memoria_cli.door import sign_in_from_outbox
from memoria_cli.place import Place, write_private

_SECONDS = httpx.Timeout(150.0, connect=5.0)
_OUTAGE_SECONDS = 60.0
"""How long a restart of some service is waited out before a file counts as refused."""


class Session:
    """One person at one instance."""

    def __init__(self, place: Place, url: str | None, address: str | None) -> None:
        self._place = place
        if url is None:
            running = place.running()
            self._url, self._local = running.url, running.outbox
            self._address = (address or running.first_owner).strip().lower()
            if not running.outbox and address is not None:
                raise ServiceError(Kind.PRECONDITION, "--as works on a development instance only; use: memoria login")
        else:
            self._url, self._local, self._address = url.rstrip("/"), False, (address or "").strip().lower()
        self._client = httpx.Client(base_url=self._url, timeout=_SECONDS, trust_env=False)
        self._token = ""
        self._signing_in = threading.Lock()

    def _authorization(self) -> dict[str, str]:
        with self._signing_in:  # uploads run side by side, and a sign-in link works once
            if not self._token:
                self._token = self._stored() or self._log_in()
        return {"Authorization": f"Bearer {self._token}"}

    def _stored(self) -> str:
        if self._local:
            return str(self._place.read_cli_tokens().get(self._address, ""))
        return str(_user_tokens().get(self._url, ""))

    def _log_in(self) -> str:
        if not self._local:
            raise ServiceError(Kind.UNAUTHENTICATED, f"sign in first: memoria login --url {self._url}")
        token = sign_in_from_outbox(self._place, self._client, self._address)
        self._client.cookies.clear()
        write_private(self._place.cli_tokens, json.dumps(self._place.read_cli_tokens() | {self._address: token}))
        return token

    def _renew(self, refused: str) -> None:
        with self._signing_in:
            if refused == f"Bearer {self._token}":  # otherwise another upload has renewed it meanwhile
                self._token = self._log_in()

    def get(self, path: str, params: dict[str, Any]) -> dict[str, Any]:
        """GET a document of the API. Raises ServiceError with the instance's own kind and sentence."""
        return _answer(self._send("GET", path, params=params))

    def post_file(self, path: str, name: str, file: Path) -> dict[str, Any]:
        """Upload one file, waiting out a restart: the same body twice is one document, so repeating is safe."""
        deadline = time.monotonic() + _OUTAGE_SECONDS
        pause = 0.2
        while True:
            try:
                with file.open("rb") as body:
                    report = _answer(self._send("POST", path, files={"file": (name, body, "application/octet-stream")}))
                found: dict[str, Any] = report["files"][0]
                if not found["error"] or found["error"]["kind"] not in ("unavailable", "deadline_exceeded"):
                    return found
                error = ServiceError(Kind(found["error"]["kind"]), found["error"]["message"])
            except ServiceError as failure:
                if failure.kind not in (Kind.UNAVAILABLE, Kind.DEADLINE):
                    raise
                error = failure
            if time.monotonic() > deadline:
                raise error
            time.sleep(pause)
            pause = min(pause * 2, 2.0)

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            reply = self._client.request(method, path, headers=self._authorization(), **options)
            if reply.status_code == 401 and self._local:  # the stored token expired or the instance is a new one
                self._renew(reply.request.headers["Authorization"])
                for _, (_, body, _) in (options.get("files") or {}).items():
                    body.seek(0)
                reply = self._client.request(method, path, headers=self._authorization(), **options)
            return reply
        except httpx.TransportError:
            raise ServiceError(Kind.UNAVAILABLE, "the instance cannot be reached") from None


def _answer(reply: httpx.Response) -> dict[str, Any]:
    try:
        tree = reply.json()
    except ValueError:
        raise ServiceError(Kind.UNAVAILABLE, "the instance's answer could not be read") from None
    said = tree.get("error") if isinstance(tree, dict) else None
    if isinstance(said, dict) and said.get("kind") in list(Kind) and isinstance(said.get("message"), str):
        raise ServiceError(Kind(said["kind"]), said["message"])
    if reply.status_code >= 400 or not isinstance(tree, dict) or said is not None:
        raise ServiceError(Kind.UNAVAILABLE, "the instance's answer could not be read")
    return tree


def user_tokens_path() -> Path:
    """Where tokens for instances elsewhere are kept."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "memoria" / "tokens.json"


def _user_tokens() -> dict[str, Any]:
    try:
        return dict(json.loads(user_tokens_path().read_text()))
    except (OSError, ValueError):
        return {}


def keep_user_token(url: str, token: str) -> None:
    """Keep a token for the instance at `url`."""
    write_private(user_tokens_path(), json.dumps(_user_tokens() | {url.rstrip("/"): token}))
