"""Asks authz, over gate.v1."""

from collections.abc import Sequence
from typing import assert_never

from memoria.gate.v1 import gate_pb2 as pb
from memoria.gate.v1.gate_pb2_grpc import GateServiceStub
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc.client import Peer
from memoria_contract.types import Subject
from memoria_contract.wire import subject_to_wire
from memoria_search.ruling import OMIT, SPEAK, Cause, Claim, Disposition, OwnedClaim, ProbeClaim, Ruling, SiblingClaim

_TIMEOUT = 1.0  # seconds: 800 ms that siblings have (RET-07), and the way there and back; the page is due in 1.2

_CAUSES = {
    pb.CAUSE_NO_ANSWER: Cause.NO_ANSWER,
    pb.CAUSE_STALE: Cause.STALE,
    pb.CAUSE_AHEAD: Cause.AHEAD,
}


class AuthzClient:
    """The Arbiter that serves: one Authorize call a request."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._stub = GateServiceStub(peer.channel)

    async def rule(self, subject: Subject, claims: Sequence[Claim]) -> Sequence[Ruling]:
        """See Arbiter. Raises UNAVAILABLE for a reply that holds anything but known rulings."""
        request = pb.AuthorizeRequest(subject=subject_to_wire(subject), claims=[_to_wire(claim) for claim in claims])
        reply = await self._peer.call(self._stub.Authorize, request, timeout=_TIMEOUT)
        return [_from_wire(ruling) for ruling in reply.rulings]


def _to_wire(claim: Claim) -> pb.Claim:
    match claim:
        case SiblingClaim(app, item_id, revision):
            return pb.Claim(sibling=pb.SiblingClaim(app=app, item_id=item_id, revision=revision))
        case OwnedClaim(document_id, present):
            return pb.Claim(owned=pb.OwnedClaim(document_id=document_id, present=present))
        case ProbeClaim(app):
            return pb.Claim(probe=pb.ProbeClaim(app=app))
        case _:
            assert_never(claim)


def _from_wire(ruling: pb.Ruling) -> Ruling:
    """One ruling. Anything that is not one of the five spoils the whole reply: nothing of it is relied on."""
    match ruling.disposition, ruling.cause:
        case pb.DISPOSITION_SPEAK, pb.CAUSE_UNSPECIFIED:
            return SPEAK
        case pb.DISPOSITION_OMIT, pb.CAUSE_UNSPECIFIED:
            return OMIT
        case pb.DISPOSITION_WITHHOLD, cause if cause in _CAUSES:
            return Ruling(Disposition.WITHHOLD, _CAUSES[cause])
        case _:
            raise ServiceError(Kind.UNAVAILABLE, "authz gave a ruling that is none")
