"""The tokens that memoria's own services know one another by: files in the run directory, made anew by each start.

They are rotated like an app's, in the same three phases: a service reads its own token, and the hashes of the others',
again when their files have changed.
"""

import json
import secrets
from pathlib import Path

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc.allow import token_hash
from memoria_cli.place import write_private
from memoria_cli.tokens.rows import Row

CALLING = ("gateway", "search", "ingest")
"""The services that call another, of which authz hears each one."""

SCOPE = "caller"


class CallerFiles:
    """The files of one start, and as `ConsumerRows` the row of each calling service."""

    def __init__(self, run_dir: Path) -> None:
        self._folder = run_dir / "callers"
        self.hashes = self._folder / "hashes.json"

    def token(self, service: str) -> Path:
        """The file that a service reads its token from."""
        return self._folder / f"{service}.{SCOPE}"

    def make(self) -> None:
        """A token for each service that calls another."""
        made = {service: secrets.token_urlsafe(32) for service in CALLING}
        for service, token in made.items():
            write_private(self.token(service), token + "\n")
        self._write({service: [token_hash(token)] for service, token in made.items()})

    def add(self, row: Row, hashed: str) -> None:
        """As ConsumerRows."""
        try:
            held = token_hash(self.token(row.app).read_text().strip())
        except (OSError, ValueError):
            raise ServiceError(Kind.UNAVAILABLE, "the service's token file cannot be read") from None
        self._replace(row, sorted({held, hashed}))

    def keep(self, row: Row, hashed: str) -> None:
        """As ConsumerRows."""
        self._replace(row, [hashed])

    def _replace(self, row: Row, hashes: list[str]) -> None:
        try:
            known = dict(json.loads(self.hashes.read_text()))
            self._write(known | {row.app: hashes})
        except (OSError, ValueError, TypeError):
            raise ServiceError(Kind.UNAVAILABLE, "the file with the hashes cannot be changed") from None

    def _write(self, hashes: dict[str, list[str]]) -> None:
        write_private(self.hashes, json.dumps(hashes))
