"""Admission: is this address on this team? One predicate object, for sign-in and for every request (AUT-19).

This build knows the lone shape: the owners list and nobody else (AUT-14). It holds no members table, no grants and no
roster it authored (RUL-04).
"""

from collections.abc import Iterable
from dataclasses import dataclass

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


class LoneAdmission:
    """Admits the configured owners. The list is fixed at start: removing an owner is a redeploy (AUT-13)."""

    def __init__(self, owners: Iterable[str]) -> None:
        self._owners = frozenset(owner.strip().lower() for owner in owners)
        if not self._owners:
            # An empty list would admit nobody and look like a fault; a missing one must never admit everybody.
            raise ServiceError(Kind.PRECONDITION, "team.owners (MEMORIA_OWNERS) is not set: nobody could be admitted")

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
