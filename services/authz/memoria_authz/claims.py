"""What is ruled on, and what a ruling says."""

from dataclasses import dataclass
from enum import Enum

from memoria_contract.types import Pair, Revision


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


@dataclass(frozen=True, slots=True)
class OwnedRoot:
    """A document of memoria's own that an artefact was made from, then at `recorded`; now at `held`, or deleted."""

    document_id: str
    recorded: Revision
    held: Revision | None


Root = SiblingClaim | OwnedRoot | OwnerlessClaim


@dataclass(frozen=True, slots=True)
class DerivedClaim:
    """A passage of an artefact. All that it was made from decides, each by its owner (ING-20)."""

    roots: tuple[Root, ...]


@dataclass(frozen=True, slots=True)
class ProbeClaim:
    """Whether an app answers, asked about an item that it cannot have: hidden and absent then take the same round."""

    app: str


Claim = SiblingClaim | OwnedClaim | DerivedClaim | ProbeClaim | OwnerlessClaim


class Ruling(Enum):
    """What to do with a passage; the withheld ones say why."""

    SPEAK = "speak"
    OMIT = "omit"
    WITHHOLD_NO_ANSWER = "no_answer"
    WITHHOLD_STALE = "stale"
    WITHHOLD_AHEAD = "ahead"
