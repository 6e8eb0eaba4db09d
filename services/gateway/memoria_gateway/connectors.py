"""What an owner is told of each source and its breakers: plain values, and the fixed sentences for them (RET-15)."""

from dataclasses import dataclass
from datetime import UTC, datetime

NOTHING_DELETED = "Nothing was deleted; ask the owner of the app."

_STATES = {
    "current": "Up to date.",
    "as_of": "Waits to be read again.",
    "reconciling": "Left out of every search until the app has listed all its items anew.",
    "partial": "Up to date but for items that could not be fetched yet.",
}

_FAILURES = {
    "unavailable": "The app or memoria's index could not be reached, or what it answered could not be used.",
    "deadline_exceeded": "The app or memoria's index did not answer in time.",
    "unauthenticated": "The app did not take memoria's token.",
    "permission_denied": "The app refused memoria's token.",
    "not_found": "The app does not serve the call that was made.",
    "unimplemented": "The app does not serve the call that was made.",
    "out_of_range": "The app's answer was larger than memoria reads.",
    "resource_exhausted": "The app asked to be called less often.",
    "invalid_argument": "The app did not understand the call.",
    "internal": "Something broke on memoria's side; its log has the trace.",
}
_FAILED = "The app's answer was an error."

_LACKS = {
    "window": "the window of today is not complete",
    "baseline": "the baseline of seven days is not complete",
}


@dataclass(frozen=True, slots=True)
class Source:
    """How one source stands. `held` is None where search did not say."""

    app: str
    state: str  # current | as_of | reconciling | partial
    as_of: datetime | None = None
    tried_at: datetime | None = None
    failure: str = ""  # the kind of the last failure
    held: int | None = None
    missed: int = 0
    paused: bool = False
    removing: bool = False

    @property
    def standing(self) -> str:
        """Its state in words."""
        if self.removing:
            return "A removal has not come to its end; it goes on when memoria starts again, or remove it again."
        if self.state == "reconciling":
            return ("Paused. " if self.paused else "") + _STATES["reconciling"]
        if self.paused:
            return "Paused: nothing new is read, and every page says of when memoria's copy is."
        if self.state == "as_of" and self.failure:
            return "Behind: the last try failed, and every page says of when memoria's copy is."
        return _STATES.get(self.state, _STATES["as_of"])

    @property
    def failed(self) -> str:
        """The last failure in words; empty after a success."""
        return _FAILURES.get(self.failure, _FAILED) if self.failure else ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one breaker says."""

    state: str  # quiet | fired | unknown
    lacking: tuple[str, ...] = ()  # window | baseline
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """The breakers of one app."""

    app: str
    refusal: Finding
    fetch: Finding
    restore: Finding

    @property
    def lines(self) -> tuple[tuple[str, bool], ...]:
        """A sentence for each breaker, and whether it fired."""
        refusal = (
            "at least three people who could see something last week are refused everything today. " + NOTHING_DELETED
        )
        fetch = (
            "at least twenty items that memoria asked for today were not found and none came; some did last week. "
            + NOTHING_DELETED
        )
        restore = (
            f"noticed on {moment(self.restore.at)}; the app was put back to an earlier state, and memoria has it list"
            " all its items anew. " + NOTHING_DELETED
        )
        return (
            _line("Refusals", self.refusal, "nothing unusual.", refusal),
            _line("Fetches", self.fetch, "nothing unusual.", fetch),
            _line("Restore", self.restore, "none noticed.", restore),
        )


_ROSTER_STATES = {
    "fresh": "Up to date.",
    "stale": "Out of date: nobody but the owners is let in, and every search withholds everything, until it is read.",
    "none": "Never read yet: nobody but the owners is let in, and every search withholds everything, until it is.",
}

_ROSTER_FAILURES = {
    "unavailable": "The home could not be reached, or what it answered is no list of members.",
    "deadline_exceeded": "The home did not answer in time.",
    "unauthenticated": "The home did not take memoria's token.",
    "permission_denied": "The home refused memoria's token.",
}


@dataclass(frozen=True, slots=True)
class Roster:
    """How the home's list of this team's members stands. No member is in it."""

    state: str  # fresh | stale | none
    members: int = 0
    fetched_at: datetime | None = None
    until: datetime | None = None
    failure: str = ""
    waiting: str = ""  # names a list of another generation that waits for an owner

    @property
    def standing(self) -> str:
        """Its state in words."""
        return _ROSTER_STATES.get(self.state, _ROSTER_STATES["stale"])

    @property
    def failed(self) -> str:
        """The last failure in words; empty after a success."""
        return _ROSTER_FAILURES.get(self.failure, "The home's answer was an error.") if self.failure else ""


def _line(name: str, finding: Finding, quiet: str, fired: str) -> tuple[str, bool]:
    if finding.state == "fired":
        return f"{name}: {fired}", True
    if finding.state == "quiet":
        return f"{name}: {quiet}", False
    # No blank, and no "nothing unusual" of what cannot be told (RET-14).
    lacks = " and ".join(_LACKS[lack] for lack in finding.lacking if lack in _LACKS)
    return f"{name}: cannot be determined: {lacks or 'it was not said why'}.", False


def moment(at: datetime | None) -> str:
    """A moment as the page states it."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if at else "an unknown day"
