"""Faults of S2: how a call is taken apart and put together."""

from typing import Any

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_chassis.errors import Kind, ServiceError
from memoria_conformance.consumers import Consumer
from memoria_conformance.mutants.build import Mutant
from memoria_conformance.mutants.wrap import replies
from memoria_conformance.server import SiblingServer
from memoria_contract import wire
from memoria_contract.types import Verdict


class _Authorize(SiblingServer):
    """A fault in how a call is taken apart or put together."""

    async def authorize(self, request: pb.AuthorizeRequest, caller: Consumer) -> pb.AuthorizeResponse:
        return self.changed(request, await super().authorize(request, caller))

    def changed(self, request: pb.AuthorizeRequest, reply: pb.AuthorizeResponse) -> pb.AuthorizeResponse:
        return reply


class _Truncates(SiblingServer):
    async def authorize(self, request: pb.AuthorizeRequest, caller: Consumer) -> pb.AuthorizeResponse:
        del request.items[256:]
        return await super().authorize(request, caller)


class _Takes255(SiblingServer):
    async def authorize(self, request: pb.AuthorizeRequest, caller: Consumer) -> pb.AuthorizeResponse:
        if len(request.items) > 255:
            raise ServiceError(Kind.INVALID, "more than 255 pairs")
        return await super().authorize(request, caller)


class _FoldsDuplicates(SiblingServer):
    async def authorize(self, request: pb.AuthorizeRequest, caller: Consumer) -> pb.AuthorizeResponse:
        once = dict.fromkeys((item.item_id, item.revision) for item in request.items)
        folded = pb.AuthorizeRequest(subject=request.subject)
        for item_id, revision in once:
            folded.items.add(item_id=item_id, revision=revision)
        return await super().authorize(folded, caller)


class _RefusesNone(SiblingServer):
    async def authorize(self, request: pb.AuthorizeRequest, caller: Consumer) -> pb.AuthorizeResponse:
        if not request.items:
            raise ServiceError(Kind.INVALID, "no pairs")
        return await super().authorize(request, caller)


class _RefusesStrangeIds(SiblingServer):
    async def authorize(self, request: pb.AuthorizeRequest, caller: Consumer) -> pb.AuthorizeResponse:
        if any(not item.item_id.replace("-", "").replace(".", "").isalnum() for item in request.items):
            raise ServiceError(Kind.INVALID, "no such id")
        return await super().authorize(request, caller)


class _Short(_Authorize):
    def changed(self, request: pb.AuthorizeRequest, reply: pb.AuthorizeResponse) -> pb.AuthorizeResponse:
        hidden = [entry for entry in reply.verdicts if entry.verdict != pb.VERDICT_NOT_VISIBLE]
        return pb.AuthorizeResponse(verdicts=hidden)


class _SixthValue(_Authorize):
    def changed(self, request: pb.AuthorizeRequest, reply: pb.AuthorizeResponse) -> pb.AuthorizeResponse:
        for entry in reply.verdicts:
            if entry.verdict == pb.VERDICT_STALE:
                entry.verdict = 6
        return reply


class _TellsCurrentRevision(_Authorize):
    def changed(self, request: pb.AuthorizeRequest, reply: pb.AuthorizeResponse) -> pb.AuthorizeResponse:
        for entry in reply.verdicts:
            if entry.verdict == pb.VERDICT_STALE:
                entry.revision = self.store.query("select revision from items where item_id = ?", entry.item_id)[0][0]
        return reply


class _UnknownFieldOnPrivate(_Authorize):
    def changed(self, request: pb.AuthorizeRequest, reply: pb.AuthorizeResponse) -> pb.AuthorizeResponse:
        for entry in reply.verdicts:
            known = self.store.query("select 1 from items where item_id = ?", entry.item_id)
            if entry.verdict == wire.verdict_to_wire(Verdict.NOT_VISIBLE) and known:
                entry.MergeFromString(b"\xc2\x3e\x07private")
        return reply


def _reason(method: str, document: Any) -> Any:
    for entry in document.get("verdicts", ()):
        if entry["verdict"] == "VERDICT_NOT_VISIBLE" and not entry["itemId"].startswith("k"):
            entry["reason"] = "no rights"
    return document


MUTANTS = (
    Mutant("pairs-truncated", "What is over 256 pairs is dropped.", server=_Truncates),
    Mutant("pairs-cap-255", "256 pairs are too many.", server=_Takes255),
    Mutant("duplicates-folded", "A pair asked twice is answered once.", server=_FoldsDuplicates),
    Mutant("no-pairs-refused", "A call of no pairs is an error.", server=_RefusesNone),
    Mutant("strange-ids-refused", "An id of another shape is an error.", server=_RefusesStrangeIds),
    Mutant("omits-not-visible", "What may not be read is left out.", server=_Short),
    Mutant("sixth-value", "STALE is a number of its own.", server=_SixthValue),
    Mutant("revision-corrected", "STALE comes with the current revision.", server=_TellsCurrentRevision),
    Mutant("unknown-field-on-private", "Known items carry a further field.", server=_UnknownFieldOnPrivate),
    Mutant("reason-given", "NOT_VISIBLE of a known item comes with a reason.", around=replies(_reason)),
)
