"""Faults of Describe."""

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_chassis.errors import Kind, ServiceError
from memoria_conformance.consumers import Consumer
from memoria_conformance.mutants.build import Mutant
from memoria_conformance.mutants.wrap import let_in
from memoria_conformance.server import SiblingServer


class _DescribesNothing(SiblingServer):
    async def describe(self, request: pb.DescribeRequest, caller: Consumer) -> pb.DescribeResponse:
        return pb.DescribeResponse(app=self.app)


class _DescribesTwice(SiblingServer):
    async def describe(self, request: pb.DescribeRequest, caller: Consumer) -> pb.DescribeResponse:
        right = await super().describe(request, caller)
        return pb.DescribeResponse(app=self.app, calls=[*right.calls, *right.calls], subject_kinds=right.subject_kinds)


class _DescribesNoKinds(SiblingServer):
    async def describe(self, request: pb.DescribeRequest, caller: Consumer) -> pb.DescribeResponse:
        right = await super().describe(request, caller)
        return pb.DescribeResponse(app=self.app, calls=right.calls)


class _DescribesToPull(SiblingServer):
    async def describe(self, request: pb.DescribeRequest, caller: Consumer) -> pb.DescribeResponse:
        if caller.scope != "pull":
            raise ServiceError(Kind.REFUSED, "this token is not good for this call")
        return await super().describe(request, caller)


MUTANTS = (
    Mutant("describes-nothing", "Describe lists no calls.", server=_DescribesNothing),
    Mutant("describes-twice", "Describe lists every call twice.", server=_DescribesTwice),
    Mutant("describes-no-kinds", "Describe lists no subject kinds.", server=_DescribesNoKinds),
    Mutant("describes-to-pull", "Describe refuses the ask token.", server=_DescribesToPull),
    Mutant("open-describe", "Describe needs no token.", around=let_in(lambda shown: not shown, "Describe")),
)
