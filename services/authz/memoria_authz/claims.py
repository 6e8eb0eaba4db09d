"""What is ruled on, and what a ruling says."""

from dataclasses import dataclass
from enum import Enum

from memoria_contract.types import Pair


@dataclass(frozen=True, slots=True)
class SiblingClaim:
    """A passage copied from a sibling: that sibling decides, live (RUL-02)."""

    app: str
    pair: Pair


@dataclass(frozen=True, slots=True)
class OwnedClaim:
    """A passage nobody else owns: two facts decide (RUL-03). `present` is what search read in this very request."""

    document_id: str
    present: bool


@dataclass(frozen=True, slots=True)
class OwnerlessClaim:
    """A claim that names no owner. Always withheld (ING-20, step 5)."""


Claim = SiblingClaim | OwnedClaim | OwnerlessClaim


class Ruling(Enum):
    """What to do with a passage; the withheld ones say why."""

    SPEAK = "speak"
    OMIT = "omit"
    WITHHOLD_NO_ANSWER = "no_answer"
    WITHHOLD_STALE = "stale"
    WITHHOLD_AHEAD = "ahead"
