"""Keeps the roster current without a timer: pulled on waking, on a newer epoch, and by questions as its time runs out.

RUL-10: nothing is asked of the home unless somebody asked something of us.
"""

import asyncio
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Protocol

from memoria_authz.roster.model import Held, Report, Roster, State, generation_id
from memoria_authz.roster.store import RosterStore
from memoria_chassis import log
from memoria_chassis.clock import Clock
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc import deadline

_PAUSE = timedelta(seconds=5)
"""Between tries that questions begin: each would ask, and wait for, a home that is down or has nothing to give."""

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
        self._missed = ""
        self._tried_at: datetime | None = None
        self._pulling: asyncio.Task[None] | None = None

    async def wake(self) -> None:
        """Read what is held, and pull. A home that is down stops no start: the held copy has its time (AUT-17)."""
        self._held = await self._store.load()
        await self.pull()

    @property
    def members(self) -> frozenset[str] | None:
        """The person refs of a copy that is not past its time."""
        held = self._held
        return held.roster.members if held is not None and held.counts(self._clock.now()) else None

    async def refresh(self, epoch: str = "") -> None:
        """What a question does first. `epoch`: one that the home showed elsewhere; another than the held one is news.

        Waits for a pull only where there is nothing to go by without it.
        """
        held, now = self._held, self._clock.now()
        if held is None or not held.counts(now):
            if self._due(now):
                await self._wait()
        elif epoch and not self._knows(epoch) and (epoch != self._missed or self._due(now)):
            await self._catch_up(epoch)
        elif now >= held.fetched_at + (held.until - held.fetched_at) / 2 and self._due(now):
            self._begin()

    async def confirm(self, waiting: str) -> None:
        """An owner takes the list that waits for this team's. Raises PRECONDITION for any other (AUT-18)."""
        await self.pull()  # what waits may have changed since the page was made
        found = self._waiting
        if found is None or generation_id(found.roster.generation) != waiting:
            raise ServiceError(Kind.PRECONDITION, "Another list waits now, or none does. Look again.")
        await self._take(found)

    async def pull(self) -> None:
        """Pull now and to the end, whatever is held; what went wrong is in the report."""
        await asyncio.shield(self._begin())

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

    def _due(self, now: datetime) -> bool:
        return self._tried_at is None or not self._tried_at <= now < self._tried_at + _PAUSE

    def _knows(self, epoch: str) -> bool:
        """Whether an epoch is that of a list that was read, be it the one that waits."""
        return epoch in {found.roster.epoch for found in (self._held, self._waiting) if found is not None}

    async def _catch_up(self, epoch: str) -> None:
        """Pull for an epoch; again where the pull that ended had begun before the change. An epoch that the home does
        not come to, such as one of long ago, is not pulled for by every question that shows it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_WAIT):
                await self.pull()
                if not self._knows(epoch):
                    await self.pull()
        self._missed = "" if self._knows(epoch) else epoch

    async def _wait(self) -> None:
        """One pull for everybody who waits."""
        await asyncio.wait([self._begin()], timeout=_WAIT)

    def _begin(self) -> "asyncio.Task[None]":
        if self._pulling is None or self._pulling.done():
            self._pulling = asyncio.create_task(self._once())
        return self._pulling

    async def _once(self) -> None:
        deadline.forget()  # it outlives the question that began it
        try:
            found = Held(await self._home.fetch(), self._clock.now())
            held = self._held
            if held is not None and held.roster.generation != found.roster.generation:
                self._waiting = found  # the held copy stays, and its own time runs on
            else:
                await self._take(found)
            self._failure = ""
        except ServiceError as error:
            log.get_logger().warning("the roster could not be pulled", kind=error.kind.value)
            self._failure = error.kind.value
        except Exception as error:
            log.get_logger().error("pulling the roster broke", exc_info=error)
            self._failure = Kind.INTERNAL.value
        self._tried_at = self._clock.now()

    async def _take(self, found: Held) -> None:
        await self._store.keep(found)
        self._held, self._waiting = found, None
