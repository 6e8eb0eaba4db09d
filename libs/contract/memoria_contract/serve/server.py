"""Turns a sibling's functions into SiblingService: limits, markers, subject kinds and totality are kept here."""

import inspect
import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract import wire
from memoria_contract.connect_server import connect_app
from memoria_contract.serve.answers import (
    AggregateFunction,
    AnnouncePage,
    CellRef,
    Changes,
    Content,
    NoValue,
    Refusal,
    Value,
)
from memoria_contract.serve.consumers import Consumer, Consumers
from memoria_contract.types import MAX_CELLS, MAX_PAIRS, Pair, Subject, SubjectKind, Verdict

ListChanges = Callable[[str, str], Awaitable[Changes | None]]
"""(consumer, cursor; "" on first contact) → a page, or None for `reannounce_required`."""

Announce = Callable[[str, str], Awaitable[AnnouncePage | None]]
"""(consumer, page token; "" to begin) → a page, or None where that announce is not running any more."""

Authorize = Callable[[Subject, Sequence[Pair]], Awaitable[Mapping[Pair, Verdict]]]
"""(subject of a kind you serve, up to 256 pairs without duplicates) → a verdict for each pair."""

GetContent = Callable[[str, str], Awaitable[Content | None]]
"""(item id, revision; "" for the current one) → content of a team-visible item, or None for every other case."""

Aggregate = Callable[[Subject, AggregateFunction, Sequence[CellRef]], Awaitable[Value | NoValue]]
"""(subject of a kind you serve, function, 1 to 64 cells) → the number, or why not."""

_SERVICE = pb.DESCRIPTOR.services_by_name["SiblingService"]
_CALLS = (pb.CALL_LIST_CHANGES, pb.CALL_ANNOUNCE, pb.CALL_AUTHORIZE, pb.CALL_GET_CONTENT)
_FUNCTIONS = {
    pb.AGGREGATE_FUNCTION_SUM: AggregateFunction.SUM,
    pb.AGGREGATE_FUNCTION_AVERAGE: AggregateFunction.AVERAGE,
    pb.AGGREGATE_FUNCTION_MIN: AggregateFunction.MIN,
    pb.AGGREGATE_FUNCTION_MAX: AggregateFunction.MAX,
    pb.AGGREGATE_FUNCTION_COUNT: AggregateFunction.COUNT,
}
_REFUSALS = {
    Refusal.NOT_VISIBLE: pb.AGGREGATE_OUTCOME_NOT_VISIBLE,
    Refusal.STALE: pb.AGGREGATE_OUTCOME_STALE,
    Refusal.AHEAD: pb.AGGREGATE_OUTCOME_AHEAD,
    Refusal.NON_NUMERIC: pb.AGGREGATE_OUTCOME_NON_NUMERIC,
    Refusal.UNKNOWN: pb.AGGREGATE_OUTCOME_UNKNOWN,
}
_NAMES_A_CELL = {Refusal.STALE, Refusal.AHEAD, Refusal.NON_NUMERIC}
_log = logging.getLogger("memoria.serve")


def serve(
    *,
    app: str,
    origin: str,
    subject_kinds: Sequence[SubjectKind],
    consumers: Consumers,
    list_changes: ListChanges,
    announce: Announce,
    authorize: Authorize,
    get_content: GetContent,
    aggregate: Aggregate | None = None,
    on_error: Callable[[Exception], object] | None = None,
) -> ASGIApp:
    """An ASGI app that serves the contract under `/memoria.sibling.v1.SiblingService/`; mount it at your root.

    `app` is your label (`wiki`), `origin` where people open it (`https://team.wiki.example.org`): links must be there.
    Kept here, so that your functions need not: who may call what; the limits of S2 and S6; UNKNOWN for a subject of a
    kind you do not serve; one verdict for every pair; markers and counts in their places; `not_found` and never
    `permission_denied`. What your functions raise is answered `internal`, unless it is a ServiceError; `on_error` is
    told of it (`traceback.print_exception` while you build). TypeError for a function that is not async.
    """
    functions = [list_changes, announce, authorize, get_content, *([aggregate] if aggregate else [])]
    for function in functions:
        if not inspect.iscoroutinefunction(function) and not inspect.iscoroutinefunction(type(function).__call__):
            raise TypeError(f"{getattr(function, '__name__', function)!r} must be an async function")
    if not subject_kinds:
        raise ValueError("subject_kinds must name at least one kind")
    server = _Server(
        app, origin.rstrip("/"), tuple(subject_kinds), list_changes, announce, authorize, get_content, aggregate
    )

    def authenticate(headers: Headers, call: str) -> Consumer:
        return consumers.admit(headers.get("authorization"), call)

    return connect_app(_SERVICE, _Watched(server, on_error), authenticate=authenticate)


class _Watched:
    """Hands unexpected exceptions to `on_error` on their way to being answered `internal`."""

    def __init__(self, server: "_Server", on_error: Callable[[Exception], object] | None) -> None:
        self._server, self._on_error = server, on_error

    def __getattr__(self, name: str) -> Any:
        answer = getattr(self._server, name)

        async def watched(request: Any, caller: Consumer) -> Any:
            try:
                return await answer(request, caller)
            except ServiceError:
                raise
            except Exception as error:
                if self._on_error is not None:
                    self._on_error(error)
                raise

        return watched


@dataclass(frozen=True, slots=True)
class _Server:
    app: str
    origin: str
    kinds: tuple[SubjectKind, ...]
    changes_after: ListChanges
    announce_page: Announce
    rule_on: Authorize
    content_of: GetContent
    compute: Aggregate | None

    async def describe(self, request: pb.DescribeRequest, caller: Consumer) -> pb.DescribeResponse:
        calls = _CALLS if self.compute is None else (*_CALLS, pb.CALL_AGGREGATE)
        kinds = [wire.subject_kind_to_wire(kind) for kind in self.kinds]
        return pb.DescribeResponse(app=self.app, calls=calls, subject_kinds=kinds)

    async def list_changes(self, request: pb.ListChangesRequest, caller: Consumer) -> pb.ListChangesResponse:
        changes = await self.changes_after(caller.name, request.cursor)
        if changes is None:
            return pb.ListChangesResponse(reannounce_required=True)
        if not changes.next_cursor:
            raise ValueError("next_cursor must be set on every page")
        rows = [
            pb.ChangeRow(
                item_id=row.item_id,
                revision=row.revision,
                gone=row.gone,
                touched_at=wire.timestamp_to_wire(row.touched_at),
            )
            for row in changes.rows
        ]
        return pb.ListChangesResponse(rows=rows, next_cursor=changes.next_cursor, has_more=changes.has_more)

    async def announce(self, request: pb.AnnounceRequest, caller: Consumer) -> pb.AnnounceResponse:
        page = await self.announce_page(caller.name, request.page_token)
        if page is None:
            raise ServiceError(Kind.PRECONDITION, "the announce is not running; start a new one")
        if bool(page.next_page_token) is (page.closing is not None):
            raise ValueError("an announce page has either next_page_token or closing")
        items = [pb.AnnouncedItem(item_id=item_id, revision=revision) for item_id, revision in page.items]
        reply = pb.AnnounceResponse(announce_id=page.announce_id, items=items, next_page_token=page.next_page_token)
        if not request.page_token:
            reply.opening.announce_id = page.announce_id
        if page.closing is not None:
            reply.closing.item_count, reply.closing.cursor = page.closing.item_count, page.closing.cursor
        return reply

    async def authorize(self, request: pb.AuthorizeRequest, caller: Consumer) -> pb.AuthorizeResponse:
        pairs = [wire.pair_from_wire(item) for item in request.items]
        if len(pairs) > MAX_PAIRS:
            raise ServiceError(Kind.INVALID, "more than 256 pairs")
        if len(set(pairs)) < len(pairs):
            raise ServiceError(Kind.INVALID, "a pair is asked twice")
        verdicts = dict.fromkeys(pairs, Verdict.UNKNOWN)
        subject = self._subject(request.subject)
        if subject is not None and pairs:
            given = await self.rule_on(subject, pairs)
            if set(given) == set(pairs):
                verdicts.update(given)
            else:  # half an answer is none (CON-08)
                _log.error("authorize ruled on %d of %d pairs", len(set(given) & set(pairs)), len(pairs))
        return pb.AuthorizeResponse(
            verdicts=[
                pb.ItemVerdict(
                    item_id=pair.item_id, revision=pair.revision, verdict=wire.verdict_to_wire(verdicts[pair])
                )
                for pair in pairs
            ]
        )

    async def get_content(self, request: pb.GetContentRequest, caller: Consumer) -> pb.GetContentResponse:
        content = await self.content_of(request.item_id, request.revision)
        if content is None or request.revision not in ("", content.revision):
            raise ServiceError(Kind.NOT_FOUND, "no such content")  # the same for every reason, and never a refusal
        reply = pb.GetContentResponse(
            revision=content.revision,
            title=content.title,
            trail=content.trail,
            body=content.body,
            author=wire.author_to_wire(content.author),
            date=wire.timestamp_to_wire(content.date),
            link=self._link(content.link),
        )
        for name, cells in content.tabs:
            tab = reply.tabs.add(name=name)
            for cell in sorted(cells, key=lambda c: (c.row, c.column)):
                tab.cells.add(row=cell.row, column=cell.column, display=cell.display, format_code=cell.format_code)
        return reply

    async def aggregate(self, request: pb.AggregateRequest, caller: Consumer) -> pb.AggregateResponse:
        if self.compute is None:
            raise ServiceError(Kind.UNIMPLEMENTED, "this app computes nothing")
        if not 1 <= len(request.cells) <= MAX_CELLS:
            raise ServiceError(Kind.INVALID, "an aggregate is over 1 to 64 cells")
        function = _FUNCTIONS.get(request.function)
        if function is None:
            raise ServiceError(Kind.INVALID, "unknown function")
        cells = [CellRef(c.item_id, c.tab, c.row, c.column, c.revision) for c in request.cells]
        subject = self._subject(request.subject)
        if subject is None:
            return pb.AggregateResponse(outcome=pb.AGGREGATE_OUTCOME_UNKNOWN)
        return _outcome(await self.compute(subject, function, cells), cells)

    def _subject(self, message: pb.Subject) -> Subject | None:
        """None for a kind this app does not serve, or a value that is none: UNKNOWN, nothing is coerced (CON-02)."""
        subject = wire.subject_from_wire(message)
        return subject if subject is not None and subject.kind in self.kinds else None

    def _link(self, link: str) -> str:
        link = self.origin + link if link.startswith("/") else link
        if not link.startswith(self.origin + "/"):
            raise ValueError("a link must open on this app's own origin")
        return link


def _outcome(found: Value | NoValue, cells: Sequence[CellRef]) -> pb.AggregateResponse:
    if isinstance(found, Value):
        if not math.isfinite(found.value) or len(found.operand_format_codes) != len(cells):
            raise ValueError("a value is finite and has one format for each cell asked")
        return pb.AggregateResponse(
            outcome=pb.AGGREGATE_OUTCOME_VALUE,
            value=found.value,
            display=found.display,
            format_code=found.format_code,
            operand_format_codes=found.operand_format_codes,
        )
    reply = pb.AggregateResponse(outcome=_REFUSALS[found.refusal])
    if found.refusal in _NAMES_A_CELL:
        if found.cell not in cells:
            raise ValueError("STALE, AHEAD and NON_NUMERIC name one of the cells asked")
        cell = found.cell
        reply.cell.item_id, reply.cell.tab, reply.cell.revision = cell.item_id, cell.tab, cell.revision
        reply.cell.row, reply.cell.column = cell.row, cell.column
    return reply
