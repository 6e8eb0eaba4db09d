"""Where an instance lives: its data directory, and the note a running one leaves there for the other commands."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Any

from memoria_chassis.errors import Kind, ServiceError

DEFAULT_DATA = Path("data")


@dataclass(frozen=True, slots=True)
class Running:
    """What a running `memoria up` says of itself."""

    pid: int
    url: str
    run_dir: str
    first_owner: str
    outbox: bool


class Place:
    """The paths of one data directory."""

    def __init__(self, data: Path) -> None:
        self.data = data.resolve()
        self.keys = self.data / "keys"
        self.tokens = self.data / "tokens"
        self.logs = self.data / "logs"
        self.outbox = self.data / "outbox"
        self.demo = self.data / "demo"
        self.config = self.data / "memoria.toml"
        self.cli_tokens = self.data / "cli-tokens.json"
        self._note = self.data / "run.json"

    def is_new(self) -> bool:
        """Nothing was ever kept here; a configuration file alone is not content."""
        return not self.data.exists() or not {path.name for path in self.data.iterdir()} - {"memoria.toml", "up.lock"}

    def note(self, running: Running) -> None:
        """Leave the note."""
        write_private(self._note, json.dumps(asdict(running)))

    def clear_note(self) -> None:
        """Take the note away."""
        self._note.unlink(missing_ok=True)

    def running(self) -> Running:
        """The running instance. Raises UNAVAILABLE where there is none, a note left by a crash included."""
        try:
            running = Running(**json.loads(self._note.read_text()))
            if running.pid <= 0:
                raise ValueError("no process has this id")  # 0 and below name whole groups, which always exist
            os.kill(running.pid, 0)
        except (OSError, ValueError, TypeError, OverflowError):
            raise ServiceError(
                Kind.UNAVAILABLE,
                f"memoria is not running on {self.data}; start it with: memoria up, or name another place with --data",
            ) from None
        return running

    def read_cli_tokens(self) -> dict[str, Any]:
        """The personal tokens that this command made for itself."""
        try:
            return dict(json.loads(self.cli_tokens.read_text()))
        except (OSError, ValueError):
            return {}


@contextmanager
def locked(path: Path, taken: str) -> Iterator[None]:
    """Hold a lock file. Raises CONFLICT with the sentence `taken` where another process does."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.open("w") as lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise ServiceError(Kind.CONFLICT, taken) from None
        yield


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(path)
    except BaseException:
        partial.unlink(missing_ok=True)  # it may hold a token
        raise
    # And its name: a key that a power cut takes back takes everything that was sealed with it.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
