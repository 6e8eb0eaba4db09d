"""Time as a dependency, so that tests choose it."""

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time, aware and in UTC."""

    def now(self) -> datetime:
        """The current moment."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The current moment."""
        return datetime.now(UTC)


class FakeClock:
    """A clock that moves only when told to."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)) -> None:
        self._now = start

    def now(self) -> datetime:
        """The moment it was last set to."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move forward."""
        self._now += timedelta(seconds=seconds)
