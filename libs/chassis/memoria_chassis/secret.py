"""What may be replaced while the process runs: read again when its file has changed."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from memoria_chassis.errors import ServiceError

_SHOWN = 12  # hex digits: enough to tell two tokens apart, and 48 of 256 bits to whoever reads them

T = TypeVar("T")


def token_print(token: str) -> str:
    """What a status may say of a token: it names one of a few, and opens nothing."""
    return hashlib.sha256(b"memoria token print\0" + token.encode()).hexdigest()[:_SHOWN]


class Watched(Generic[T]):
    """The value as of now. A file that has changed and cannot be read, or is empty, leaves the last one."""

    def __init__(self, read: Callable[[], T], path: Path | None = None) -> None:
        """`read` raises ServiceError where there is nothing to read; at first that is raised here."""
        self._read = read
        self._path = path
        self._seen = self._stamp()
        self._value = read()

    def __call__(self) -> T:
        """The value."""
        if self._path is not None:
            stamp = self._stamp()
            if stamp != self._seen:
                try:
                    self._value = self._read()
                except ServiceError:
                    return self._value  # and look again at the next call
                self._seen = stamp
        return self._value

    def _stamp(self) -> tuple[int, int, int] | None:
        """What changes when the file does; a rename over it changes the inode, whatever the clock says."""
        if self._path is None:
            return None
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size


class Secret(Watched[str]):
    """A secret, which is never shown."""

    def __repr__(self) -> str:
        return "Secret(…)"
