"""Wire messages to plain types and back."""

from collections.abc import Iterable
from typing import assert_never

from memoria.gate.v1 import gate_pb2 as pb
from memoria_authz.anomaly.breakers import Finding, Findings, Lack, State
from memoria_authz.claims import (
    Claim,
    DerivedClaim,
    OwnedClaim,
    OwnedRoot,
    OwnerlessClaim,
    ProbeClaim,
    Root,
    Ruling,
    SiblingClaim,
)
from memoria_authz.orders import Order, OrderKind
from memoria_authz.roster import model as roster
from memoria_contract.types import ItemId, Pair, Revision
from memoria_contract.wire import timestamp_to_wire

_ORDER_KINDS = {
    OrderKind.REFETCH: pb.WORK_ORDER_KIND_REFETCH,
    OrderKind.REANNOUNCE: pb.WORK_ORDER_KIND_REANNOUNCE,
}

_STATES = {
    State.QUIET: pb.BREAKER_STATE_QUIET,
    State.FIRED: pb.BREAKER_STATE_FIRED,
    State.CANNOT_DETERMINE: pb.BREAKER_STATE_CANNOT_DETERMINE,
}
_LACKS = {Lack.WINDOW: pb.BREAKER_LACK_WINDOW, Lack.BASELINE: pb.BREAKER_LACK_BASELINE}


def claims_from(messages: Iterable[pb.Claim]) -> list[Claim]:
    """One claim a message, in order; a message without an owner stays one, and is withheld."""
    return [_claim(message) for message in messages]


def _claim(message: pb.Claim) -> Claim:
    match message.WhichOneof("owner"):
        case "sibling":
            return _sibling(message.sibling)
        case "owned":
            return OwnedClaim(message.owned.document_id, message.owned.present)
        case "probe":
            return ProbeClaim(message.probe.app)
        case "derived":
            return DerivedClaim(tuple(_root(root) for root in message.derived.roots))
        case _:
            return OwnerlessClaim()


def _root(message: pb.Root) -> Root:
    match message.WhichOneof("owner"):
        case "sibling":
            return _sibling(message.sibling)
        case "owned":
            owned = message.owned
            held = Revision(owned.held_revision) if owned.held_revision else None
            return OwnedRoot(owned.document_id, Revision(owned.recorded_revision), held)
        case _:
            return OwnerlessClaim()


def _sibling(message: pb.SiblingClaim) -> SiblingClaim:
    return SiblingClaim(message.app, Pair(ItemId(message.item_id), Revision(message.revision)))


def ruling_to(ruling: Ruling) -> pb.Ruling:
    """A ruling as a message."""
    match ruling:
        case Ruling.SPEAK:
            return pb.Ruling(disposition=pb.DISPOSITION_SPEAK)
        case Ruling.OMIT:
            return pb.Ruling(disposition=pb.DISPOSITION_OMIT)
        case Ruling.WITHHOLD_NO_ANSWER:
            return pb.Ruling(disposition=pb.DISPOSITION_WITHHOLD, cause=pb.CAUSE_NO_ANSWER)
        case Ruling.WITHHOLD_STALE:
            return pb.Ruling(disposition=pb.DISPOSITION_WITHHOLD, cause=pb.CAUSE_STALE)
        case Ruling.WITHHOLD_AHEAD:
            return pb.Ruling(disposition=pb.DISPOSITION_WITHHOLD, cause=pb.CAUSE_AHEAD)
        case _:
            assert_never(ruling)


def order_to(order: Order) -> pb.WorkOrder:
    """An order as a message."""
    return pb.WorkOrder(order_id=order.order_id, kind=_ORDER_KINDS[order.kind], app=order.app, item_id=order.item_id)


def findings_to(app: str, findings: Findings) -> pb.SiblingFindings:
    """One sibling's breakers as a message."""
    return pb.SiblingFindings(
        app=app,
        refusal=_finding_to(findings.refusal),
        fetch=_finding_to(findings.fetch),
        restore=_finding_to(findings.restore),
    )


def _finding_to(finding: Finding) -> pb.Finding:
    return pb.Finding(state=_STATES[finding.state], lacking=[_LACKS[lack] for lack in finding.lacking], at=finding.at)


_ROSTER_STATES = {
    roster.State.FRESH: pb.ROSTER_STATE_FRESH,
    roster.State.STALE: pb.ROSTER_STATE_STALE,
    roster.State.NONE: pb.ROSTER_STATE_NONE,
}


def roster_to(report: roster.Report) -> pb.DescribeRosterResponse:
    """How the roster stands, as a message."""
    return pb.DescribeRosterResponse(
        state=_ROSTER_STATES[report.state],
        members=report.members,
        fetched_at=timestamp_to_wire(report.fetched_at),
        until=timestamp_to_wire(report.until),
        failure=report.failure,
        waiting=report.waiting,
    )
