"""What authz is asked and what it may answer, in plain types."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from memoria_contract.types import ItemId, Revision, Subject


@dataclass(frozen=True, slots=True)
class SiblingClaim:
    """May this person read this revision of a sibling's item?"""

    app: str
    item_id: ItemId
    revision: Revision


@dataclass(frozen=True, slots=True)
class OwnedClaim:
    """May this person read this memoria-owned document? `present` is the second fact (RUL-03)."""

    document_id: str
    present: bool


@dataclass(frozen=True, slots=True)
class ProbeClaim:
    """Does this app answer at all? Omitted if so, withheld if not; what it says counts for nothing."""

    app: str


Claim = SiblingClaim | OwnedClaim | ProbeClaim


class Disposition(Enum):
    """What to do with what was claimed."""

    SPEAK = "speak"
    OMIT = "omit"
    WITHHOLD = "withhold"


class Cause(Enum):
    """Why something is withheld."""

    NO_ANSWER = "no_answer"
    STALE = "stale"
    AHEAD = "ahead"


@dataclass(frozen=True, slots=True)
class Ruling:
    """The answer on one claim. A cause belongs to WITHHOLD and to nothing else."""

    disposition: Disposition
    cause: Cause | None = None

    def __post_init__(self) -> None:
        if (self.cause is not None) != (self.disposition is Disposition.WITHHOLD):
            raise ValueError("a ruling names a cause exactly when it withholds")


SPEAK = Ruling(Disposition.SPEAK)
OMIT = Ruling(Disposition.OMIT)
NO_ANSWER = Ruling(Disposition.WITHHOLD, Cause.NO_ANSWER)


class Arbiter(Protocol):
    """Who rules: authz, behind its client."""

    async def rule(self, subject: Subject, claims: Sequence[Claim]) -> Sequence[Ruling]:
        """One ruling for each claim, in order, asked live in this call. Raises ServiceError where there is none."""
        ...
