"""The sibling contract served from a store: the six calls, mapped to and from the wire."""

import datetime as dt
from dataclasses import dataclass

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_chassis.errors import Kind, ServiceError
from memoria_conformance.consumers import Consumer
from memoria_conformance.faults import Faults
from memoria_conformance.feed import Feed
from memoria_conformance.rulings import FUNCTIONS, CellAt, Outcome, Rulings
from memoria_conformance.store import Store
from memoria_contract import wire
from memoria_contract.types import MAX_CELLS, MAX_PAIRS, Author

SERVICE = pb.DESCRIPTOR.services_by_name["SiblingService"]
_CALLS = (pb.CALL_LIST_CHANGES, pb.CALL_ANNOUNCE, pb.CALL_AUTHORIZE, pb.CALL_GET_CONTENT)


@dataclass(frozen=True, slots=True)
class SiblingServer:
    """Implementation of `memoria.sibling.v1.SiblingService` for `connect_app`."""

    app: str
    base_url: str
    store: Store
    feed: Feed
    rulings: Rulings
    faults: Faults

    async def describe(self, request: pb.DescribeRequest, caller: Consumer) -> pb.DescribeResponse:
        """Which calls are served, and how people are keyed."""
        calls = (*_CALLS, pb.CALL_AGGREGATE) if self.app == "sheets" else _CALLS
        kinds = [wire.subject_kind_to_wire(kind) for kind in self.rulings.kinds]
        return pb.DescribeResponse(app=self.app, calls=calls, subject_kinds=kinds)

    async def list_changes(self, request: pb.ListChangesRequest, caller: Consumer) -> pb.ListChangesResponse:
        """S1."""
        changes = self.feed.changes(caller.name, request.cursor)
        if changes is None:
            return pb.ListChangesResponse(reannounce_required=True)
        reply = pb.ListChangesResponse(next_cursor=changes.next_cursor, has_more=changes.has_more)
        for change in changes.rows:
            row = reply.rows.add(item_id=change.item_id, revision=change.revision, gone=change.gone)
            row.touched_at.FromDatetime(dt.datetime.fromtimestamp(change.touched_at, dt.UTC))
        return reply

    async def announce(self, request: pb.AnnounceRequest, caller: Consumer) -> pb.AnnounceResponse:
        """S1a."""
        page = self.feed.announce(caller.name, request.page_token)
        reply = pb.AnnounceResponse(
            announce_id=page.announce_id,
            items=[pb.AnnouncedItem(item_id=item_id, revision=revision) for item_id, revision in page.items],
            next_page_token=page.next_page_token,
        )
        if page.opening:
            reply.opening.announce_id = page.announce_id
        fault = self.faults.of("Announce").kind
        if page.closing is not None and fault != "cut":
            count, cursor = page.closing
            reply.closing.item_count = count + (fault == "miscount")
            reply.closing.cursor = cursor
        return reply

    async def authorize(self, request: pb.AuthorizeRequest, caller: Consumer) -> pb.AuthorizeResponse:
        """S2."""
        pairs = [(item.item_id, item.revision) for item in request.items]
        if len(pairs) > MAX_PAIRS:
            raise ServiceError(Kind.INVALID, "more than 256 pairs")
        if len(set(pairs)) < len(pairs):
            raise ServiceError(Kind.INVALID, "a pair is asked twice")
        verdicts = self.rulings.authorize(wire.subject_from_wire(request.subject), pairs)
        reply = pb.AuthorizeResponse(
            verdicts=[
                pb.ItemVerdict(item_id=item_id, revision=revision, verdict=wire.verdict_to_wire(verdict))
                for (item_id, revision), verdict in zip(pairs, verdicts, strict=True)
            ]
        )
        _spoil(reply, self.faults.of("Authorize").kind)
        return reply

    async def get_content(self, request: pb.GetContentRequest, caller: Consumer) -> pb.GetContentResponse:
        """S3. Off the team rung, deleted, unknown, or at another revision: one and the same `not_found`."""
        held = self.store.team_content(request.item_id)
        if held is None or request.revision not in ("", held[0]):
            raise ServiceError(Kind.NOT_FOUND, "no such content")
        revision, content = held
        reply = pb.GetContentResponse(
            revision=revision,
            title=content.title,
            trail=content.trail,
            body=content.body,
            author=wire.author_to_wire(Author(content.author)),
            link=f"{self.base_url}/items/{request.item_id}",
        )
        reply.date.FromDatetime(content.date)
        for name, cells in content.tabs:
            tab = reply.tabs.add(name=name)
            for cell in sorted(cells, key=lambda c: (c.row, c.column)):
                tab.cells.add(row=cell.row, column=cell.column, display=cell.display, format_code=cell.format_code)
        return reply

    async def aggregate(self, request: pb.AggregateRequest, caller: Consumer) -> pb.AggregateResponse:
        """S6, of sheets only."""
        if self.app != "sheets":
            raise ServiceError(Kind.UNIMPLEMENTED, "this app computes nothing")
        if not 1 <= len(request.cells) <= MAX_CELLS:
            raise ServiceError(Kind.INVALID, "an aggregate is over 1 to 64 cells")
        functions = {value.number: value.name.rpartition("_")[2] for value in pb.AggregateFunction.DESCRIPTOR.values}
        function = functions.get(request.function, "")
        if function not in FUNCTIONS:
            raise ServiceError(Kind.INVALID, "unknown function")
        cells = [CellAt((cell.item_id, cell.revision), cell.tab, cell.row, cell.column) for cell in request.cells]
        found = self.rulings.aggregate(wire.subject_from_wire(request.subject), function, cells)
        reply = pb.AggregateResponse(outcome=_OUTCOMES[found.outcome])
        if found.outcome is Outcome.VALUE:
            reply.value, reply.display, reply.format_code = found.value, found.display, found.format_code
            reply.operand_format_codes.extend(found.operand_formats)
        if found.cell is not None:
            reply.cell.CopyFrom(request.cells[found.cell])
        return reply


_OUTCOMES = {
    Outcome.VALUE: pb.AGGREGATE_OUTCOME_VALUE,
    Outcome.NOT_VISIBLE: pb.AGGREGATE_OUTCOME_NOT_VISIBLE,
    Outcome.STALE: pb.AGGREGATE_OUTCOME_STALE,
    Outcome.AHEAD: pb.AGGREGATE_OUTCOME_AHEAD,
    Outcome.NON_NUMERIC: pb.AGGREGATE_OUTCOME_NON_NUMERIC,
    Outcome.UNKNOWN: pb.AGGREGATE_OUTCOME_UNKNOWN,
}


def _spoil(reply: pb.AuthorizeResponse, fault: str) -> None:
    """Make a right answer wrong, in the way a test asked for."""
    if not reply.verdicts:
        return
    if fault == "short":
        del reply.verdicts[-1]
    elif fault == "duplicate":
        reply.verdicts.add().CopyFrom(reply.verdicts[0])
    elif fault == "foreign":
        reply.verdicts.add(item_id="never-asked", revision="1", verdict=pb.VERDICT_VISIBLE)
    elif fault == "sixth_value":
        reply.verdicts[0].verdict = 6
    elif fault == "all_visible":
        for entry in reply.verdicts:
            entry.verdict = pb.VERDICT_VISIBLE
