"""GateService: admission, rulings, work orders."""

import grpc

from memoria.gate.v1 import gate_pb2 as pb
from memoria.gate.v1 import gate_pb2_grpc
from memoria_authz.admission import Admission, NotAdmitted
from memoria_authz.anomaly.counters import Counters
from memoria_authz.anomaly.tally import Fetches
from memoria_authz.ask.bench import Bench
from memoria_authz.orders import WorkOrders
from memoria_authz.roster.keeper import Keeper
from memoria_authz.wire import claims_from, findings_to, order_to, roster_to, ruling_to
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.wire import subject_from_wire, subject_to_wire


class GateServer(gate_pb2_grpc.GateServiceServicer):
    """The gate's calls over one bench."""

    def __init__(
        self,
        admission: Admission,
        bench: Bench,
        orders: WorkOrders,
        counters: Counters,
        roster: Keeper | None = None,
    ) -> None:
        self._roster = roster
        self._admission = admission
        self._bench = bench
        self._orders = orders
        self._counters = counters

    async def Admit(self, request: pb.AdmitRequest, context: grpc.aio.ServicerContext) -> pb.AdmitResponse:
        """Whether an address, or a subject that the home named, has standing. A refusal is an answer, not an error."""
        await self._admission.refresh(request.home_epoch)
        try:
            if request.HasField("subject"):
                subject = subject_from_wire(request.subject)
                if subject is None:
                    raise ServiceError(Kind.INVALID, "a subject has a kind and a value")
                standing = self._admission.standing_of(subject)
            else:
                standing = self._admission.standing(request.address)
        except NotAdmitted:
            return pb.AdmitResponse(admission=pb.ADMISSION_REFUSED)
        return pb.AdmitResponse(
            admission=pb.ADMISSION_ADMITTED, owner=standing.owner, subject=subject_to_wire(standing.subject)
        )

    async def Authorize(self, request: pb.AuthorizeRequest, context: grpc.aio.ServicerContext) -> pb.AuthorizeResponse:
        """One ruling a claim, in order."""
        subject = subject_from_wire(request.subject)
        if subject is None:
            raise ServiceError(Kind.INVALID, "a ruling needs a subject with a kind and a value")
        rulings = await self._bench.rule(subject, claims_from(request.claims))
        return pb.AuthorizeResponse(rulings=[ruling_to(ruling) for ruling in rulings])

    async def Aggregate(self, request: pb.AggregateRequest, context: grpc.aio.ServicerContext) -> pb.AggregateResponse:
        """Refused: the numeric route is not built yet."""
        raise ServiceError(Kind.UNIMPLEMENTED, "aggregates are not served yet: this build answers no numeric question")

    async def TakeWorkOrders(
        self, request: pb.TakeWorkOrdersRequest, context: grpc.aio.ServicerContext
    ) -> pb.TakeWorkOrdersResponse:
        """The open orders, oldest first."""
        return pb.TakeWorkOrdersResponse(orders=[order_to(order) for order in await self._orders.open()])

    async def CompleteWorkOrders(
        self, request: pb.CompleteWorkOrdersRequest, context: grpc.aio.ServicerContext
    ) -> pb.CompleteWorkOrdersResponse:
        """Forget orders that were carried out."""
        await self._orders.complete(request.order_ids)
        return pb.CompleteWorkOrdersResponse()

    async def ReportFetches(
        self, request: pb.ReportFetchesRequest, context: grpc.aio.ServicerContext
    ) -> pb.ReportFetchesResponse:
        """Count what siblings answered to S3."""
        if request.lineage:
            await self._counters.belong(request.lineage)
        for count in request.counts:
            self._counters.fetched(count.app, Fetches(count.fetched, count.not_found))
        return pb.ReportFetchesResponse()

    async def ListFindings(
        self, request: pb.ListFindingsRequest, context: grpc.aio.ServicerContext
    ) -> pb.ListFindingsResponse:
        """What the breakers say."""
        found = await self._counters.findings()
        return pb.ListFindingsResponse(siblings=[findings_to(app, each) for app, each in found.items()])

    async def DescribeRoster(
        self, request: pb.DescribeRosterRequest, context: grpc.aio.ServicerContext
    ) -> pb.DescribeRosterResponse:
        """How the roster stands; nothing where there is no home."""
        if self._roster is None:
            return pb.DescribeRosterResponse()
        if request.pull:
            await self._roster.pull()
        return roster_to(self._roster.report())

    async def ConfirmRoster(
        self, request: pb.ConfirmRosterRequest, context: grpc.aio.ServicerContext
    ) -> pb.ConfirmRosterResponse:
        """Take the roster that waits (AUT-18)."""
        if self._roster is None:
            raise ServiceError(Kind.PRECONDITION, "this team has no home, so no roster waits")
        await self._roster.confirm(request.waiting)
        return pb.ConfirmRosterResponse()
