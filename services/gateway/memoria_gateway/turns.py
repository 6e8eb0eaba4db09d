"""How many searches one person may have under way: a flood of one's own makes apps late for everybody.

A late app's withheld count would then tell the flooder what an answering app keeps to itself.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from memoria_chassis.errors import Kind, ServiceError

AT_ONCE = 4
WAITING = 16


@dataclass(slots=True)
class _Line:
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    people: int = 0


class Turns:
    """One line a person; it is forgotten when nobody stands in it."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    @asynccontextmanager
    async def take(self, person: str) -> AsyncIterator[None]:
        """Wait for a turn. Raises EXHAUSTED where AT_ONCE run and WAITING wait already."""
        line = self._lines.setdefault(person, _Line())
        if line.people >= AT_ONCE + WAITING:
            raise ServiceError(Kind.EXHAUSTED, "Too many searches of yours are under way; wait for some to end.")
        line.people += 1
        try:
            async with line.slots:
                yield
        finally:
            line.people -= 1
            if not line.people:
                self._lines.pop(person, None)
