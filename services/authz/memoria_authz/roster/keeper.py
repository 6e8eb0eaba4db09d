"""Keeps the roster current without a timer: pulled on waking, on a newer epoch, and by questions as its time runs out.

RUL-10: nothing is asked of the home unless somebody asked something of us.
"""

import asyncio
from datetime import datetime, timedelta
from typing import Protocol

from memoria_authz.roster.model import Held, Report, Roster, State, generation_id
from memoria_authz.roster.store import RosterStore
from memoria_chassis import log
from memoria_chassis.clock import Clock
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc import deadline

_PAUSE = timedelta(seconds=5)
"""After a try that failed: each question would ask a home that is down, and wait for it."""

_WAIT = 0.5
"""Seconds that a question waits for a pull: half of what a page may take. The pull goes on behind it."""


class Home(Protocol):
    """What call 8 is asked through."""

    async def fetch(self) -> Roster:
        """The roster of now. Raises ServiceError."""
        ...


class Keeper:
    """The held roster. `members` is who is on the team now; None says that this cannot be told."""

    def __init__(self, home: Home, store: RosterStore, clock: Clock) -> None:
        self._home = home
        self._store = store
        self._clock = clock
        self._held: Held | None = None
        self._waiting: Held | None = None
        self._failure = ""
        self._failed_at: datetime | None = None
        self._pulling: asyncio.Task[None] | None = None

    async def wake(self) -> None:
        """Read what is held, and pull. A home that is down stops no start: the held copy has its time (AUT-17)."""
        self._held = await self._store.load()
        await self._begin()

    @property
    def members(self) -> frozenset[str] | None:
        """The person refs of a copy that is not past its time."""
        held = self._held
        return held.roster.members if held is not None and self._clock.now() < held.until else None

    async def refresh(self, epoch: str = "") -> None:
        """What a question does first. `epoch`: one that the home showed elsewhere; another than the held one is news.

        Waits for a pull only where there is nothing to go by without it.
        """
        held, now = self._held, self._clock.now()
        if held is None or now >= held.until or (epoch and epoch != held.roster.epoch):
            await self._pull()
        elif now >= held.fetched_at + (held.until - held.fetched_at) / 2 and self._due(now):
            self._begin()

    async def confirm(self, waiting: str) -> None:
        """An owner takes the list that waits for this team's. Raises PRECONDITION for any other (AUT-18)."""
        await self._begin()  # to its end: what waits may have changed since the page was made
        found = self._waiting
        if found is None or generation_id(found.roster.generation) != waiting:
            raise ServiceError(Kind.PRECONDITION, "Another list waits now, or none does. Look again.")
        await self._take(found)

    async def pull(self) -> None:
        """Pull now, whatever is held; what went wrong is in the report."""
        await self._begin()

    def report(self) -> Report:
        """How it stands."""
        held, waiting = self._held, self._waiting
        state = State.NONE if held is None else State.STALE if self.members is None else State.FRESH
        return Report(
            state,
            len(held.roster.members) if held else 0,
            held.fetched_at if held else None,
            held.until if held else None,
            self._failure,
            generation_id(waiting.roster.generation) if waiting else "",
        )

    async def close(self) -> None:
        """End a pull under way."""
        if self._pulling is not None:
            self._pulling.cancel()
            await asyncio.gather(self._pulling, return_exceptions=True)

    async def _pull(self) -> None:
        """Pull once, for everybody who waits; not at all for a while after one that failed."""
        if self._due(self._clock.now()):
            await asyncio.wait([self._begin()], timeout=_WAIT)

    def _due(self, now: datetime) -> bool:
        return self._failed_at is None or now >= self._failed_at + _PAUSE

    def _begin(self) -> "asyncio.Task[None]":
        if self._pulling is None or self._pulling.done():
            self._pulling = asyncio.create_task(self._once())
        return self._pulling

    async def _once(self) -> None:
        deadline.forget()  # it outlives the question that began it
        try:
            roster = await self._home.fetch()
        except ServiceError as error:
            log.get_logger().warning("the roster could not be pulled", kind=error.kind.value)
            self._failure, self._failed_at = error.kind.value, self._clock.now()
            return
        self._failure, self._failed_at = "", None
        held, found = self._held, Held(roster, self._clock.now())
        if held is not None and held.roster.generation != roster.generation:
            self._waiting = found  # the held copy stays, and its own time runs on
            return
        await self._take(found)

    async def _take(self, found: Held) -> None:
        self._held, self._waiting = found, None
        await self._store.keep(found)
