"""Admission: is this person on this team? One predicate object, for sign-in and for every request (AUT-19).

Two shapes. Alone, the owners list and nobody else (AUT-14). Beside a home, the owners and whoever is on its roster
(AUT-15). Neither holds a members table, grants or a roster of our own making (RUL-04).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from memoria_authz.roster.keeper import Keeper
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import Subject, SubjectKind


@dataclass(frozen=True, slots=True)
class Standing:
    """What an admitted person is here."""

    subject: Subject
    owner: bool


class NotAdmitted(ServiceError):
    """The address has no standing here. The same sentence for everyone."""

    def __init__(self) -> None:
        super().__init__(Kind.REFUSED, "not on this team")


class Admission(Protocol):
    """The predicate. `refresh` comes before it, in the same request."""

    async def refresh(self, epoch: str = "") -> None:
        """Bring up to date what it goes by. `epoch`: one that the home showed, if any."""
        ...

    @property
    def answers(self) -> bool:
        """Whether it can be told who is on the team. If not, nobody is told anything, owners included (AUT-17)."""
        ...

    def standing(self, address: str) -> Standing:
        """The standing of an address, in any case. Raises NotAdmitted."""
        ...

    def standing_of(self, subject: Subject) -> Standing:
        """The standing of a subject that another service presents. Raises NotAdmitted."""
        ...


class LoneAdmission:
    """Admits the configured owners. The list is fixed at start: removing an owner is a redeploy (AUT-13)."""

    def __init__(self, owners: Iterable[str]) -> None:
        self._owners = frozenset(owner.strip().lower() for owner in owners)
        if not self._owners:
            # An empty list would admit nobody and look like a fault; a missing one must never admit everybody.
            raise ServiceError(Kind.PRECONDITION, "team.owners (MEMORIA_OWNERS) is not set: nobody could be admitted")

    async def refresh(self, epoch: str = "") -> None:
        """Nothing: the list is fixed."""

    @property
    def answers(self) -> bool:
        """Always: there is nothing to be out of date."""
        return True

    def standing(self, address: str) -> Standing:
        """The standing of `address`, in any case. Raises NotAdmitted."""
        lowered = address.strip().lower()
        if lowered not in self._owners:
            raise NotAdmitted
        return Standing(Subject(SubjectKind.ADDRESS, lowered), owner=True)

    def standing_of(self, subject: Subject) -> Standing:
        """The standing of a subject that another service presents. Raises NotAdmitted, for a person ref too."""
        if subject.kind is not SubjectKind.ADDRESS:
            raise NotAdmitted
        return self.standing(subject.value)


class SuiteAdmission:
    """Admits the owners by address, and by person ref whoever is on a roster that is not past its time."""

    def __init__(self, owners: LoneAdmission, roster: Keeper) -> None:
        self._owners = owners
        self._roster = roster

    async def refresh(self, epoch: str = "") -> None:
        """Pull the roster where it is due. Raises nothing: what cannot be read admits nobody (AUT-16)."""
        await self._roster.refresh(epoch)

    @property
    def answers(self) -> bool:
        """Whether there is a roster to go by."""
        return self._roster.members is not None

    def standing(self, address: str) -> Standing:
        """An owner's, whatever becomes of the roster. Raises NotAdmitted: a roster has no addresses."""
        return self._owners.standing(address)

    def standing_of(self, subject: Subject) -> Standing:
        """A member's or an owner's. Raises NotAdmitted."""
        if subject.kind is SubjectKind.ADDRESS:
            return self._owners.standing(subject.value)
        if subject.value not in (self._roster.members or ()):
            raise NotAdmitted
        return Standing(subject, owner=False)
