"""What was counted of one sibling, day by day."""

from collections.abc import Mapping
from dataclasses import dataclass, field

BASELINE_DAYS = 7
"""The UTC days before today that today is compared with; with today they are the 8 dates that are kept (RET-10)."""


@dataclass(frozen=True, slots=True)
class Answers:
    """S2 answers to one asker on one day. STALE, AHEAD and UNKNOWN are counted nowhere (RET-09)."""

    visible: int = 0
    refused: int = 0

    def __add__(self, other: "Answers") -> "Answers":
        return Answers(self.visible + other.visible, self.refused + other.refused)


@dataclass(frozen=True, slots=True)
class Fetches:
    """S3 answers on one day. What is no answer is counted nowhere (RET-12)."""

    fetched: int = 0
    not_found: int = 0

    def __add__(self, other: "Fetches") -> "Fetches":
        return Fetches(self.fetched + other.fetched, self.not_found + other.not_found)


@dataclass(frozen=True, slots=True)
class Tally:
    """Everything kept of one sibling. Days are UTC, counted from 1970-01-01.

    `since`: the day counting began, None where that is not known. `lost`: days whose counters are missing or do not
    open. `restored_at`: when it last answered AHEAD, seconds since 1970; 0 for never within what is kept.
    """

    since: int | None = None
    answers: Mapping[int, Mapping[bytes, Answers]] = field(default_factory=dict)
    fetches: Mapping[int, Fetches] = field(default_factory=dict)
    lost: frozenset[int] = frozenset()
    restored_at: int = 0
