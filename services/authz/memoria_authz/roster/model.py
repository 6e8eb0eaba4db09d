"""A roster, as the home gave it and as it is held."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum

LONGEST_TTL = timedelta(days=1)
"""However long the home says that its copy may be relied on: who leaves a team is off it within a day."""


_SKEW = timedelta(minutes=1)
"""A clock may be set back by so much while a copy is held; by more, and nobody can say how old the copy is."""


@dataclass(frozen=True, slots=True)
class Roster:
    """One answer of the home. `members` are person refs; guests are never among them."""

    members: frozenset[str] = field(repr=False)
    epoch: str
    ttl: timedelta
    generation: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Held:
    """The copy that counts, and when it was fetched."""

    roster: Roster
    fetched_at: datetime

    @property
    def until(self) -> datetime:
        """From then on it says nothing any more (AUT-17)."""
        return self.fetched_at + min(self.roster.ttl, LONGEST_TTL)

    def counts(self, now: datetime) -> bool:
        """Whether it is in its time."""
        return self.fetched_at - _SKEW <= now < self.until


class State(Enum):
    """How the held copy stands."""

    FRESH = "fresh"
    STALE = "stale"  # past its time, and no newer one could be had
    NONE = "none"  # none was ever had


@dataclass(frozen=True, slots=True)
class Report:
    """What an owner may know of it: counts and times, nobody's ref."""

    state: State
    members: int = 0
    fetched_at: datetime | None = None
    until: datetime | None = None
    failure: str = ""  # the kind of the last failure; empty after a success
    waiting: str = ""  # the id of a generation that waits for an owner; empty where none does


def generation_id(generation: str) -> str:
    """What a page calls a generation by: whatever the home writes there is no text for a page."""
    return hashlib.sha256(generation.encode()).hexdigest()[:16]
