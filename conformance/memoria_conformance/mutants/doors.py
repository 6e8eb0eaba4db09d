"""Faults of tokens, verbs and encodings that one call has and another has not."""

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_conformance.consumers import Consumer, Consumers
from memoria_conformance.feed import AnnouncePage, Changes, Feed
from memoria_conformance.mutants.build import Mutant, alias_of
from memoria_conformance.mutants.wrap import (
    Around,
    Changed,
    Whole,
    let_in,
    not_in,
    replies,
    requests,
    whole_replies,
    with_headers,
)
from memoria_conformance.server import SiblingServer
from memoria_conformance.store import Store
from memoria_contract.codec import PROTO


def _connect_get(scope: Scope, body: bytes) -> Changed:
    asked = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    if scope["method"] != "GET" or "message" not in asked:
        return scope, body
    return with_headers({**scope, "method": "POST"}, content_type="application/json"), asked["message"][0].encode()


def _binary_feed(change: Callable[[pb.ListChangesResponse], None]) -> Around:
    """Every binary reply of S1 is changed."""

    def changed(method: str, reply: Whole) -> Whole:
        if method != "ListChanges" or reply.status != 200 or reply.kind != PROTO.encode():
            return reply
        page = pb.ListChangesResponse.FromString(reply.body)
        change(page)
        return replace(reply, body=page.SerializeToString())

    return whole_replies(changed)


def _nothing_gone(reply: pb.ListChangesResponse) -> None:
    for row in reply.rows:
        row.gone = False


def _unknown_field(reply: pb.ListChangesResponse) -> None:
    for row in reply.rows:
        row.MergeFromString(b"\xc2\x3e\x05title")


class _PullAggregates(Consumers):
    def admit(self, authorization: str | None, method: str) -> Consumer:
        return super().admit(authorization, "Describe" if method == "Aggregate" else method)


class _LastWord(Consumers):
    def admit(self, authorization: str | None, method: str) -> Consumer:
        return super().admit(f"Bearer {(authorization or '').split(' ')[-1]}", method)


class _FirstTwoWords(Consumers):
    def admit(self, authorization: str | None, method: str) -> Consumer:
        return super().admit(" ".join((authorization or "").split()[:2]), method)


class _OthersMayAll(Consumers):
    def admit(self, authorization: str | None, method: str) -> Consumer:
        consumer = super().admit(authorization, "Describe")
        return super().admit(authorization, method) if consumer.name.startswith("memoria") else consumer


class _AskNotRotated(Consumers):
    def retire_others(self, consumer: str, token: str) -> None:
        if not (consumer.endswith(".ask") and token):
            super().retire_others(consumer, token)


class _NoEmergency(Consumers):
    def retire_others(self, consumer: str, token: str) -> None:
        if token:
            super().retire_others(consumer, token)
            return
        with self._store.transaction() as db:  # out of the way of the next case, and as good as before
            db.execute("update tokens set consumer = consumer || '.old' where consumer = ?", (consumer,))


class _RightsTold(Store):
    def set_right(self, table: str, item_id: str, person: str, present: bool) -> None:
        super().set_right(table, item_id, person, present)
        if self.team_content(item_id) is None:
            with self.transaction() as db:
                self._tell(db, item_id, self._row(db, item_id)[2], gone=True)


class _PlainClosing(Feed):
    """The closing marker's cursor is a bare position, good for everybody and for ever."""

    def announce(self, consumer: str, page_token: str) -> AnnouncePage:
        page = super().announce(consumer, page_token)
        if page.closing is None:
            return page
        ((seq,),) = self._store.query("select seq from announces where announce_id = ?", page.announce_id)
        return AnnouncePage(page.announce_id, page.opening, page.items, (page.closing[0], f"at:{seq}"), "")

    def changes(self, consumer: str, cursor: str) -> Changes | None:
        word, _, seq = cursor.partition(":")
        return super().changes(consumer, self._cursor(consumer, int(seq)) if word == "at" else cursor)


class _SaysDeleted(Feed):
    def changes(self, consumer: str, cursor: str) -> Changes | None:
        found = super().changes(consumer, cursor)
        for row in found.rows if found is not None else ():
            if row.gone and not alias_of(self._store, row.item_id):
                object.__setattr__(row, "revision", "deleted")
        return found


def _around_rows(method: str, document: dict[str, object]) -> object:
    return {**document, "titles": ["what it is called"]} if method in ("ListChanges", "Announce") else document


_known: set[bytes] = set()


class _Remembers(SiblingServer):
    async def authorize(self, request: pb.AuthorizeRequest, caller: Consumer) -> pb.AuthorizeResponse:
        _known.update(row[0].encode() for row in self.store.query("select item_id from items"))
        return await super().authorize(request, caller)


def _telling_header(app: ASGIApp) -> ASGIApp:
    async def told(scope: Scope, receive: Receive, send: Send) -> None:
        asked = b""

        async def hear() -> Message:
            nonlocal asked
            message = await receive()
            asked += message.get("body", b"")
            return message

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                hit = b"hit" if any(item_id in asked for item_id in _known) else b"miss"
                message = {**message, "headers": [*message["headers"], (b"x-cache", hit)]}
            await send(message)

        await app(scope, hear, tell)

    return told


MUTANTS = (
    Mutant("announce-open", "Announce needs no token.", around=let_in(lambda shown: not shown, "Announce")),
    Mutant("aggregate-open", "Aggregate needs no token.", around=let_in(lambda shown: not shown, "Aggregate")),
    Mutant(
        "content-for-any-token",
        "GetContent takes any token.",
        around=let_in(lambda shown: shown.startswith("Bearer x"), "GetContent"),
    ),
    Mutant("pull-token-aggregates", "The pull token is good for Aggregate.", consumers=_PullAggregates),
    Mutant("last-word-is-token", "The last word of the header is the token.", consumers=_LastWord),
    Mutant("junk-behind-token", "What stands behind the token is dropped.", consumers=_FirstTwoWords),
    Mutant("others-may-all", "Scopes hold for the first consumer only.", consumers=_OthersMayAll),
    Mutant("ask-not-rotated", "A retired ask token still works.", consumers=_AskNotRotated),
    Mutant("no-emergency", "With no token kept the old ones still work.", consumers=_NoEmergency),
    Mutant("connect-get", "The Connect protocol's GET is served.", around=requests(_connect_get)),
    Mutant("no-binary-feed", "S1 is not served in binary.", around=not_in(PROTO, "ListChanges")),
    Mutant("no-binary-announce", "S1a is not served in binary.", around=not_in(PROTO, "Announce")),
    Mutant("no-binary-content", "S3 is not served in binary.", around=not_in(PROTO, "GetContent")),
    Mutant("no-binary-aggregate", "S6 is not served in binary.", around=not_in(PROTO, "Aggregate")),
    Mutant(
        "binary-nothing-gone",
        "In binary nothing is ever gone.",
        around=_binary_feed(_nothing_gone),
    ),
    Mutant(
        "binary-unknown-field",
        "In binary a row carries more.",
        around=_binary_feed(_unknown_field),
    ),
    Mutant("rights-told-as-gone", "Rights off the team rung are told as gone.", store=_RightsTold),
    Mutant("plain-closing-cursor", "The announce's cursor is a bare position.", feed=_PlainClosing),
    Mutant("gone-says-deleted", "A gone row says that it was deleted.", feed=_SaysDeleted),
    Mutant("titles-around-rows", "Titles stand beside the rows.", around=replies(_around_rows)),
    Mutant("telling-header", "A header tells which ids exist.", server=_Remembers, around=_telling_header),
)
