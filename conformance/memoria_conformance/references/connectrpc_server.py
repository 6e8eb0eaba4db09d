"""The contract served with the connectrpc package: the six calls, mapped to and from the wire."""

from collections.abc import Awaitable, Callable
from typing import Any

from connectrpc.code import Code
from connectrpc.codec import Codec
from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.request import RequestContext
from connectrpc.server import ConnectASGIApplication, Endpoint
from google.protobuf.message_factory import GetMessageClass

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_conformance.references import rulings
from memoria_conformance.references.feed import Feed
from memoria_conformance.references.store import Store
from memoria_conformance.references.tokens import Tokens

_SERVICE = pb.DESCRIPTOR.services_by_name["SiblingService"]
_READ_MAX = 1024 * 1024  # bytes of a request; the package's own default is four times that
_MAX_PAIRS, _MAX_CELLS = 256, 64

Handler = Callable[[Any, str], Any]


class SiblingService:
    """What each call answers, to the consumer of that name. ConnectError for refusals."""

    def __init__(self, app: str, store: Store, feed: Feed, origin: str) -> None:
        self._app, self._store, self._feed, self._origin = app, store, feed, origin

    def describe(self, request: pb.DescribeRequest, consumer: str) -> pb.DescribeResponse:
        """All calls; people by reference."""
        calls = [value.number for value in pb.Call.DESCRIPTOR.values if value.number]
        return pb.DescribeResponse(app=self._app, calls=calls, subject_kinds=[pb.SUBJECT_KIND_PERSON_REF])

    def list_changes(self, request: pb.ListChangesRequest, consumer: str) -> pb.ListChangesResponse:
        """S1."""
        found = self._feed.changes(consumer, request.cursor)
        if found is None:
            return pb.ListChangesResponse(reannounce_required=True)
        rows, cursor, more = found
        reply = pb.ListChangesResponse(next_cursor=cursor, has_more=more)
        for row in rows:
            reply.rows.add(item_id=row.item_id, revision=row.revision, gone=row.gone).touched_at.FromDatetime(row.at)
        return reply

    def announce(self, request: pb.AnnounceRequest, consumer: str) -> pb.AnnounceResponse:
        """S1a."""
        found = self._feed.announce(consumer, request.page_token)
        if found is None:
            raise ConnectError(Code.FAILED_PRECONDITION, "the announce is not running; start a new one")
        running, start, end, token = found
        reply = pb.AnnounceResponse(announce_id=running.id, next_page_token=token)
        for item_id, revision in running.items[start:end]:
            reply.items.add(item_id=item_id, revision=revision)
        if start == 0:
            reply.opening.announce_id = running.id
        if not token:
            reply.closing.item_count, reply.closing.cursor = len(running.items), running.cursor
        return reply

    def authorize(self, request: pb.AuthorizeRequest, consumer: str) -> pb.AuthorizeResponse:
        """S2."""
        pairs = [(item.item_id, item.revision) for item in request.items]
        if len(pairs) > _MAX_PAIRS or len(set(pairs)) < len(pairs):
            raise ConnectError(Code.INVALID_ARGUMENT, "at most 256 pairs, and none twice")
        reply = pb.AuthorizeResponse()
        for item_id, revision in pairs:
            said = "UNKNOWN"
            if _keyed_as_here(request.subject):
                said = rulings.verdict(self._store, request.subject.value, item_id, revision)
            reply.verdicts.add(item_id=item_id, revision=revision, verdict=pb.Verdict.Value(f"VERDICT_{said}"))
        return reply

    def get_content(self, request: pb.GetContentRequest, consumer: str) -> pb.GetContentResponse:
        """S3, of the current revision only."""
        item = self._store.on_team(request.item_id)
        if item is None or request.revision not in ("", item.current.id):
            raise ConnectError(Code.NOT_FOUND, "no such content")
        now = item.current
        link = f"{self._origin}/items/{item.id}"
        reply = pb.GetContentResponse(revision=now.id, title=item.title, trail=["Reference"], body=now.body, link=link)
        reply.author = pb.AUTHOR_KIND_HUMAN
        reply.date.FromDatetime(now.at)
        for name, cells in now.tabs.items():
            tab = reply.tabs.add(name=name)
            for (row, column), cell in sorted(cells.items()):
                code = cell.get("format", "General")
                shown = rulings.display(cell["value"], code) if "value" in cell else str(cell["text"])
                tab.cells.add(row=row, column=column, display=shown, format_code=code)
        return reply

    def aggregate(self, request: pb.AggregateRequest, consumer: str) -> pb.AggregateResponse:
        """S6."""
        names = {value.number: value.name.rpartition("_")[2] for value in pb.AggregateFunction.DESCRIPTOR.values}
        function = names.get(request.function, "")
        if function not in rulings.FUNCTIONS or not 1 <= len(request.cells) <= _MAX_CELLS:
            raise ConnectError(Code.INVALID_ARGUMENT, "one of the five functions, over 1 to 64 cells")
        if not _keyed_as_here(request.subject):
            return pb.AggregateResponse(outcome=pb.AGGREGATE_OUTCOME_UNKNOWN)
        cells = [rulings.CellAt(c.item_id, c.tab, c.row, c.column, c.revision) for c in request.cells]
        found = rulings.aggregate(self._store, request.subject.value, function, cells)
        reply = pb.AggregateResponse(outcome=pb.AggregateOutcome.Value(f"AGGREGATE_OUTCOME_{found.outcome}"))
        if found.outcome == "VALUE":
            reply.value, reply.display, reply.format_code = found.value, found.display, found.format_code
            reply.operand_format_codes.extend(found.operands)
        if found.cell is not None:
            reply.cell.CopyFrom(request.cells[found.cell])
        return reply


def _keyed_as_here(subject: pb.Subject) -> bool:
    """People are known by reference here; any other kind is UNKNOWN, and no value is read as what it does not say."""
    return subject.kind == pb.SUBJECT_KIND_PERSON_REF and bool(subject.value)


class _Strict:
    """A codec of the package that takes objects only and quotes nothing of a body that it cannot read."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self.name, self.encode = codec.name, codec.encode

    def decode(self, data: bytes | bytearray, message_class: type) -> Any:
        """The message, or ConnectError(INVALID_ARGUMENT)."""
        try:
            if self.name() == "json" and not bytes(data).lstrip(b" \t\r\n").startswith(b"{"):
                raise ValueError("not an object")
            return self._codec.decode(data, message_class)
        except Exception:
            raise ConnectError(Code.INVALID_ARGUMENT, "the body is not the request message") from None


class _Admission:
    """Asks for the token before the body is read."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    async def on_start(self, ctx: RequestContext) -> None:
        """ConnectError where the caller is not known or may not make this call."""
        consumer, may = self._tokens.admit(ctx.request_headers.get("authorization", ""), ctx.method.name)
        if consumer is None:
            raise ConnectError(Code.UNAUTHENTICATED, "this call needs a consumer's token")
        if not may:
            raise ConnectError(Code.PERMISSION_DENIED, "this token is not good for this call")

    async def on_end(self, token: None, ctx: RequestContext, error: Exception | None) -> None:
        """Nothing is kept between the two."""


class SiblingApplication(ConnectASGIApplication[SiblingService]):
    """The service under `/memoria.sibling.v1.SiblingService`."""

    def __init__(self, service: SiblingService, tokens: Tokens) -> None:
        super().__init__(
            service=service,
            endpoints=lambda served: _endpoints(served, tokens),
            interceptors=[_Admission(tokens)],
            read_max_bytes=_READ_MAX,
            compressions=[],
            codecs=[_Strict(google_protobuf_binary_codec()), _Strict(google_protobuf_json_codec())],
        )

    @property
    def path(self) -> str:
        """Where the service is mounted."""
        return f"/{_SERVICE.full_name}"


def _endpoints(service: SiblingService, tokens: Tokens) -> dict[str, Any]:
    handlers: dict[str, Handler] = {
        "Describe": service.describe,
        "ListChanges": service.list_changes,
        "Announce": service.announce,
        "Authorize": service.authorize,
        "GetContent": service.get_content,
        "Aggregate": service.aggregate,
    }
    endpoints = {}
    for method in _SERVICE.methods:
        info = MethodInfo(
            name=method.name,
            service_name=_SERVICE.full_name,
            input=GetMessageClass(method.input_type),
            output=GetMessageClass(method.output_type),
            idempotency_level=IdempotencyLevel.UNKNOWN,
            stream_type=StreamType.UNARY,
        )
        endpoints[f"/{_SERVICE.full_name}/{method.name}"] = Endpoint.unary(
            info, _answer(handlers[method.name], tokens, method.name)
        )
    return endpoints


def _answer(handler: Handler, tokens: Tokens, call: str) -> Callable[[Any, RequestContext], Awaitable[Any]]:
    async def answer(request: Any, ctx: RequestContext) -> Any:
        consumer, _ = tokens.admit(ctx.request_headers.get("authorization", ""), call)
        try:
            return handler(request, consumer or "")
        except ConnectError:
            raise
        except Exception:
            # The package would answer with the exception's own words, and those may quote what was asked.
            raise ConnectError(Code.INTERNAL, "internal error") from None

    return answer
