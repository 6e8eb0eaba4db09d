"""How busy a process is: what runs, and since when nothing has. Read by `/idle` and while draining."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Activity:
    """Counts requests under way."""

    def __init__(self) -> None:
        self.in_flight = 0
        self._last = time.monotonic()

    @contextmanager
    def request(self) -> Iterator[None]:
        """One request, from start to end."""
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1
            self._last = time.monotonic()

    def idle_seconds(self) -> float:
        """Seconds since the last request ended; 0 while one runs."""
        return 0.0 if self.in_flight else time.monotonic() - self._last
