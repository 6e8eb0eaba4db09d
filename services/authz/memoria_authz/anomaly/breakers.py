"""The three breakers as predicates over what was counted: refusal (RET-11), fetch (RET-12), restore (RET-13)."""

from dataclasses import dataclass
from enum import Enum

from memoria_authz.anomaly.tally import BASELINE_DAYS, Answers, Fetches, Tally

LEAST_ASKERS = 3
LEAST_NOT_FOUND = 20


class State(Enum):
    """What a breaker says. There is no blank: what cannot be told is said to be so (RET-14)."""

    QUIET = "quiet"
    FIRED = "fired"
    CANNOT_DETERMINE = "cannot determine"


class Lack(Enum):
    """What a breaker would need and has not got."""

    WINDOW = "window"
    BASELINE = "baseline"


@dataclass(frozen=True, slots=True)
class Finding:
    """One breaker of one sibling. `lacking` is of CANNOT_DETERMINE; `at` of FIRED by a restore: seconds since 1970."""

    state: State
    lacking: tuple[Lack, ...] = ()
    at: int = 0


@dataclass(frozen=True, slots=True)
class Findings:
    """All three of one sibling."""

    refusal: Finding
    fetch: Finding
    restore: Finding


def findings(tally: Tally, today: int) -> Findings:
    """What the breakers say on `today`, in days since 1970-01-01."""
    lacking = _lacking(tally, today)
    return Findings(
        refusal=_finding(lacking, fired=_refused(tally, today)),
        fetch=_finding(lacking, fired=_unfetched(tally, today)),
        # One AHEAD is enough and needs no baseline: the sibling has said so itself.
        restore=Finding(State.FIRED, at=tally.restored_at) if tally.restored_at else Finding(State.QUIET),
    )


def _finding(lacking: tuple[Lack, ...], *, fired: bool) -> Finding:
    if lacking:
        return Finding(State.CANNOT_DETERMINE, lacking)
    return Finding(State.FIRED if fired else State.QUIET)


def _lacking(tally: Tally, today: int) -> tuple[Lack, ...]:
    baseline = _baseline(today)
    lacks = []
    if tally.since is None or today in tally.lost:
        lacks.append(Lack.WINDOW)
    if tally.since is None or tally.since > baseline[0] or not tally.lost.isdisjoint(baseline):
        lacks.append(Lack.BASELINE)
    return tuple(lacks)


def _refused(tally: Tally, today: int) -> bool:
    """Whether at least LEAST_ASKERS who were shown something in the baseline are only refused today."""
    window = tally.answers.get(today, {})
    only_refused = [asker for asker, answers in window.items() if answers.refused and not answers.visible]
    shown_before = [asker for asker in only_refused if _visible_before(tally, asker, today)]
    return len(shown_before) >= LEAST_ASKERS


def _visible_before(tally: Tally, asker: bytes, today: int) -> bool:
    return any(tally.answers.get(day, {}).get(asker, Answers()).visible for day in _baseline(today))


def _unfetched(tally: Tally, today: int) -> bool:
    window = tally.fetches.get(today, Fetches())
    fetched_before = any(tally.fetches.get(day, Fetches()).fetched for day in _baseline(today))
    return window.not_found >= LEAST_NOT_FOUND and not window.fetched and fetched_before


def _baseline(today: int) -> range:
    """Disjoint from the window: a day that is its own baseline would never look unusual."""
    return range(today - BASELINE_DAYS, today)
