"""Who is on the team, by one predicate (AUT-13, AUT-14, AUT-19, RUL-04)."""

import pytest

from memoria.gate.v1 import gate_pb2 as pb
from memoria.sibling.v1 import sibling_pb2
from memoria_authz.admission import LoneAdmission, NotAdmitted
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import Subject, SubjectKind


@pytest.mark.parametrize("owners", [[], set(), ()])
def test_without_owners_nothing_starts(owners) -> None:
    """An empty policy refuses to exist (AUT-13). Broken to see red: the check taken out."""
    with pytest.raises(ServiceError) as refused:
        LoneAdmission(owners)
    assert refused.value.kind is Kind.PRECONDITION
    assert "MEMORIA_OWNERS" in refused.value.message


@pytest.mark.parametrize(
    "address",
    [
        *("", " ", "eve@example.test", "ann@example.test.evil.example", "ann@example.tes", "ann", "@example.test"),
        *("ann@example.test,bob@example.test", "ann@example.test\x00", "*", "ann+x@example.test", "аnn@example.test"),
        *("xann@example.test", "evil.example/ann@example.test", '"x" ann@example.test'),  # nor a suffix
    ],
)
def test_nobody_else_has_standing(address: str) -> None:
    """The list and nobody else (AUT-14): no prefix, no suffix, no wildcard, no look-alike."""
    with pytest.raises(NotAdmitted):
        LoneAdmission(["ann@example.test"]).standing(address)


@pytest.mark.parametrize("address", ["ann@example.test", "ANN@EXAMPLE.TEST", "  Ann@Example.Test \n"])
def test_an_owner_has_standing_in_any_case(address: str) -> None:
    """However it is typed, the subject is the lower-cased address."""
    for listed in ("ann@example.test", " Ann@EXAMPLE.test"):
        standing = LoneAdmission([listed]).standing(address)
        assert standing.subject == Subject(SubjectKind.ADDRESS, "ann@example.test")
        assert standing.owner


def test_a_person_ref_has_no_standing_without_a_home() -> None:
    """Even one that is spelled like an owner: kinds are not coerced (CON-02)."""
    admission = LoneAdmission(["ann@example.test"])
    with pytest.raises(NotAdmitted):
        admission.standing_of(Subject(SubjectKind.PERSON_REF, "ann@example.test"))
    assert admission.standing_of(Subject(SubjectKind.ADDRESS, "ann@example.test"))


async def test_one_predicate_stands_at_both_doors(house, ann) -> None:
    """Changed in one place, the sign-in and every ruling change together (AUT-19).

    Broken to see red: the bench ruling without asking for standing.
    """
    wire = sibling_pb2.Subject(kind=sibling_pb2.SUBJECT_KIND_ADDRESS, value=ann.value)
    owned = pb.Claim(owned=pb.OwnedClaim(document_id="d", present=True))
    ask = pb.AuthorizeRequest(subject=wire, claims=[owned])
    assert (await house.server.Admit(pb.AdmitRequest(address=ann.value), None)).admission == pb.ADMISSION_ADMITTED
    assert (await house.server.Authorize(ask, None)).rulings[0].disposition == pb.DISPOSITION_SPEAK
    house.admission._owners = frozenset({"bob@example.test"})
    refused = await house.server.Admit(pb.AdmitRequest(address=ann.value), None)
    assert refused == pb.AdmitResponse(admission=pb.ADMISSION_REFUSED)  # and says nothing more
    with pytest.raises(NotAdmitted):
        await house.server.Authorize(ask, None)
