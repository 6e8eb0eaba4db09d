"""Faults of S3."""

import contextvars
import html
import json
from typing import Any

from starlette.types import Scope

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_chassis.errors import Kind, ServiceError
from memoria_conformance.consumers import Consumer
from memoria_conformance.mutants.build import Mutant
from memoria_conformance.mutants.wrap import method_of, requests
from memoria_conformance.server import SiblingServer


class _Content(SiblingServer):
    """A fault in a reply that is otherwise right."""

    async def get_content(self, request: pb.GetContentRequest, caller: Consumer) -> pb.GetContentResponse:
        return self.changed(await super().get_content(request, caller))

    def changed(self, reply: pb.GetContentResponse) -> pb.GetContentResponse:
        return reply

    def exists(self, item_id: str) -> bool:
        return bool(self.store.query("select 1 from items where item_id = ?", item_id))


class _RefusesPrivate(_Content):
    async def get_content(self, request: pb.GetContentRequest, caller: Consumer) -> pb.GetContentResponse:
        try:
            return await SiblingServer.get_content(self, request, caller)
        except ServiceError:
            kind = Kind.REFUSED if self.exists(request.item_id) else Kind.NOT_FOUND
            raise ServiceError(kind, "no such content") from None


class _SaysWhy(_Content):
    async def get_content(self, request: pb.GetContentRequest, caller: Consumer) -> pb.GetContentResponse:
        try:
            return await SiblingServer.get_content(self, request, caller)
        except ServiceError as error:
            if self.exists(request.item_id):
                raise ServiceError(error.kind, "not shared with the team") from None
            raise


class _ServesAll(_Content):
    async def get_content(self, request: pb.GetContentRequest, caller: Consumer) -> pb.GetContentResponse:
        rows = self.store.query("select rung from items where item_id = ?", request.item_id)
        if not rows or rows[0][0] == "team":
            return await SiblingServer.get_content(self, request, caller)
        with self.store.transaction() as db:
            db.execute("update items set rung = 'team' where item_id = ?", (request.item_id,))
        try:
            return await SiblingServer.get_content(self, request, caller)
        finally:
            with self.store.transaction() as db:
                db.execute("update items set rung = ? where item_id = ?", (rows[0][0], request.item_id))


class _IgnoresRevision(_Content):
    async def get_content(self, request: pb.GetContentRequest, caller: Consumer) -> pb.GetContentResponse:
        return await SiblingServer.get_content(self, pb.GetContentRequest(item_id=request.item_id), caller)


class _EchoesRevision(_Content):
    async def get_content(self, request: pb.GetContentRequest, caller: Consumer) -> pb.GetContentResponse:
        reply = await SiblingServer.get_content(self, pb.GetContentRequest(item_id=request.item_id), caller)
        reply.revision = request.revision or reply.revision
        return reply


class _NeedsRevision(_Content):
    async def get_content(self, request: pb.GetContentRequest, caller: Consumer) -> pb.GetContentResponse:
        if not request.revision:
            raise ServiceError(Kind.INVALID, "which revision?")
        return await SiblingServer.get_content(self, request, caller)


_cache: dict[tuple[int, str], pb.GetContentResponse] = {}


class _Cached(_Content):
    async def get_content(self, request: pb.GetContentRequest, caller: Consumer) -> pb.GetContentResponse:
        key = (id(self.store), request.item_id)
        if key not in _cache:
            _cache[key] = await SiblingServer.get_content(self, request, caller)
        return _cache[key]


class _Escapes(_Content):
    def changed(self, reply: pb.GetContentResponse) -> pb.GetContentResponse:
        reply.title = html.escape(reply.title)
        return reply


class _AsciiText(_Content):
    def changed(self, reply: pb.GetContentResponse) -> pb.GetContentResponse:
        reply.body = reply.body.encode("ascii", "ignore").decode()
        for tab in reply.tabs:
            for cell in tab.cells:
                cell.display = cell.display.encode("ascii", "ignore").decode() or "?"
        return reply


class _LinksElsewhere(_Content):
    def changed(self, reply: pb.GetContentResponse) -> pb.GetContentResponse:
        reply.link = reply.link.replace("://", "://elsewhere.")
        return reply


class _OwnRevision(_Content):
    def changed(self, reply: pb.GetContentResponse) -> pb.GetContentResponse:
        reply.revision = f"v{reply.revision}"
        return reply


class _NoDate(_Content):
    def changed(self, reply: pb.GetContentResponse) -> pb.GetContentResponse:
        reply.ClearField("date")
        return reply


class _NoTitle(_Content):
    def changed(self, reply: pb.GetContentResponse) -> pb.GetContentResponse:
        reply.title = ""
        return reply


class _CellsByColumn(_Content):
    def changed(self, reply: pb.GetContentResponse) -> pb.GetContentResponse:
        for tab in reply.tabs:
            cells = sorted(tab.cells, key=lambda cell: (cell.column, cell.row))
            del tab.cells[:]
            tab.cells.extend(cells)
        return reply


class _AllGeneral(_Content):
    def changed(self, reply: pb.GetContentResponse) -> pb.GetContentResponse:
        for tab in reply.tabs:
            for cell in tab.cells:
                cell.format_code = "General"
        return reply


class _FirstTab(_Content):
    def changed(self, reply: pb.GetContentResponse) -> pb.GetContentResponse:
        text = next((tab for tab in reply.tabs if tab.name == "Text"), None)
        del reply.tabs[1:]
        if text is not None and reply.tabs[0].name != "Text":
            reply.tabs.add().CopyFrom(text)
        return reply


class _CutsText(_Content):
    def changed(self, reply: pb.GetContentResponse) -> pb.GetContentResponse:
        reply.body = reply.body[:200]
        for tab in reply.tabs:
            for cell in tab.cells:
                cell.display = cell.display[:200]
        return reply


class _TabsReversed(_Content):
    def changed(self, reply: pb.GetContentResponse) -> pb.GetContentResponse:
        tabs = list(reply.tabs)[::-1]
        del reply.tabs[:]
        reply.tabs.extend(tabs)
        return reply


class _OldNameNewText(_Content):
    async def get_content(self, request: pb.GetContentRequest, caller: Consumer) -> pb.GetContentResponse:
        logged = "select 1 from revisions where item_id = ? and revision = ?"
        asked = request.revision if self.store.query(logged, request.item_id, request.revision) else ""
        if asked:
            request = pb.GetContentRequest(item_id=request.item_id)
        reply = await SiblingServer.get_content(self, request, caller)
        reply.revision = asked or reply.revision
        return reply


class _SaysNoRevision(_Content):
    async def get_content(self, request: pb.GetContentRequest, caller: Consumer) -> pb.GetContentResponse:
        try:
            return await SiblingServer.get_content(self, request, caller)
        except ServiceError as error:
            if request.revision and self.exists(request.item_id):
                raise ServiceError(error.kind, "no such revision") from None
            raise


class _KeepsNewest(_Content):
    """A cache that only ever goes forward, as one keyed by the highest revision would."""

    async def get_content(self, request: pb.GetContentRequest, caller: Consumer) -> pb.GetContentResponse:
        reply = await SiblingServer.get_content(self, request, caller)
        held = _cache.get((id(self.store), request.item_id))
        if held is not None and int(held.revision) > int(reply.revision) and not request.revision:
            return held
        _cache[id(self.store), request.item_id] = reply
        return reply


_person: contextvars.ContextVar[str] = contextvars.ContextVar("person", default="")


def _note_person(scope: Scope, body: bytes) -> tuple[Scope, bytes]:
    asked: Any = {}
    if method_of(scope) == "GetContent" and dict(scope["headers"]).get(b"content-type") == b"application/json":
        asked = json.loads(body)
    subject = asked.get("subject") if isinstance(asked, dict) else None
    _person.set(str(subject.get("value", "")) if isinstance(subject, dict) else "")
    return scope, body


class _HonoursPerson(_ServesAll):
    async def get_content(self, request: pb.GetContentRequest, caller: Consumer) -> pb.GetContentResponse:
        rows = self.store.query("select alias from people where address = ?", _person.get())
        person = rows[0][0] if rows else ""
        rights = [
            bool(self.store.query(f"select 1 from {table} where item_id = ? and person = ?", request.item_id, person))  # noqa: S608 — two names
            for table in ("grants", "removed")
        ]
        if rights[1]:
            raise ServiceError(Kind.NOT_FOUND, "no such content")
        if rights[0]:
            return await super().get_content(request, caller)
        return await SiblingServer.get_content(self, request, caller)


MUTANTS = (
    Mutant("403-for-private", "What is off the team rung is permission_denied.", server=_RefusesPrivate),
    Mutant("not-found-says-why", "not_found has another text where the item exists.", server=_SaysWhy),
    Mutant("serves-private", "Content comes whatever rung it is on.", server=_ServesAll),
    Mutant("ignores-revision", "The current content comes, whatever revision was asked for.", server=_IgnoresRevision),
    Mutant("echoes-revision", "The current content comes under the revision asked for.", server=_EchoesRevision),
    Mutant("needs-revision", "Without a revision the call is refused.", server=_NeedsRevision),
    Mutant("cached-content", "Content once served is served again.", server=_Cached),
    Mutant("escaped-titles", "Titles come escaped for HTML.", server=_Escapes),
    Mutant("ascii-text", "What is not ASCII is dropped.", server=_AsciiText),
    Mutant("links-elsewhere", "The link is on another host.", server=_LinksElsewhere),
    Mutant("own-revisions", "S3 counts revisions in its own way.", server=_OwnRevision),
    Mutant("text-cut", "A text ends after 200 characters.", server=_CutsText),
    Mutant("tabs-reversed", "Tabs come in reverse.", server=_TabsReversed),
    Mutant("old-name-new-text", "An old revision comes with the current text.", server=_OldNameNewText),
    Mutant("says-no-such-revision", "not_found says whether it is the revision.", server=_SaysNoRevision),
    Mutant("keeps-newest", "The newest content ever served is served.", server=_KeepsNewest, revisions="counter"),
    Mutant("no-date", "There is no date.", server=_NoDate),
    Mutant("no-title", "There is no title.", server=_NoTitle),
    Mutant("cells-by-column", "Cells come by column, then row.", server=_CellsByColumn),
    Mutant("all-general", "Format codes are lost.", server=_AllGeneral),
    Mutant("first-tab-only", "Only the first tab comes.", server=_FirstTab),
    Mutant(
        "honours-person",
        "A person in an unknown field is asked for.",
        server=_HonoursPerson,
        around=requests(_note_person),
    ),
)
