"""Faults of S1."""

from dataclasses import replace
from typing import Any

from memoria_conformance.consumers import Consumers
from memoria_conformance.feed import Change, Changes, Feed
from memoria_conformance.mutants.build import Mutant
from memoria_conformance.mutants.wrap import replies
from memoria_conformance.store import Store
from memoria_conformance.world import Content


class _Mute(Store):
    """A store that can keep something to itself."""

    muted = False

    def _tell(self, db: Any, item_id: str, revision: str, *, gone: bool) -> None:
        if not self.muted:
            super()._tell(db, item_id, revision, gone=gone)


class _EditUntold(_Mute):
    def edit(self, item_id: str, content: Content) -> str:
        self.muted = True
        revision = super().edit(item_id, content)
        self.muted = False
        return revision


class _DeleteUntold(Store):
    def delete(self, item_id: str, *, silently: bool = False) -> None:
        super().delete(item_id, silently=True)


class _LeavingUntold(_Mute):
    def move_rung(self, item_id: str, rung: str) -> None:
        self.muted = rung != "team"
        super().move_rung(item_id, rung)
        self.muted = False


class _ReturnUntold(_Mute):
    def move_rung(self, item_id: str, rung: str) -> None:
        self.muted = rung == "team"
        super().move_rung(item_id, rung)
        self.muted = False


class _PrivateTold(Store):
    def edit(self, item_id: str, content: Content) -> str:
        revision = super().edit(item_id, content)
        if self.team_content(item_id) is None:
            with self.transaction() as db:
                self._tell(db, item_id, revision, gone=True)
        return revision


class _RightsTold(Store):
    def set_right(self, table: str, item_id: str, person: str, present: bool) -> None:
        super().set_right(table, item_id, person, present)
        held = self.team_content(item_id)
        if held is not None:
            with self.transaction() as db:
                self._tell(db, item_id, held[0], gone=False)


class _CursorShared(Feed):
    position = 0

    def changes(self, consumer: str, cursor: str) -> Changes | None:
        if cursor and self._open("cursor", consumer, cursor) is not None:
            cursor = self._cursor(consumer, self.position)
        found = super().changes(consumer, cursor)
        if found is not None:
            opened = self._open("cursor", consumer, found.next_cursor)
            self.position = opened[1] if opened else 0
        return found


class _ForgedRestarts(Feed):
    def changes(self, consumer: str, cursor: str) -> Changes | None:
        return super().changes(consumer, cursor) or super().changes(consumer, "")


class _ForgedIsQuiet(Feed):
    def changes(self, consumer: str, cursor: str) -> Changes | None:
        return super().changes(consumer, cursor) or Changes([], cursor, False)


class _Remembers(Feed):
    """A feed that knows whom it gave each cursor."""

    @property
    def issued(self) -> dict[str, str]:
        given: dict[str, str] = self.__dict__.setdefault("given", {})
        return given

    def _cursor(self, consumer: str, seq: int) -> str:
        cursor = super()._cursor(consumer, seq)
        self.issued[cursor] = consumer
        return cursor


class _ForeignAccepted(_Remembers):
    def changes(self, consumer: str, cursor: str) -> Changes | None:
        holder = self.issued.get(cursor, consumer)
        opened = self._open("cursor", holder, cursor) if holder != consumer else None
        if opened is not None and opened[0] == self._consumers.state(holder).epoch:
            cursor = self._cursor(consumer, opened[1])
        return super().changes(consumer, cursor)


class _HalfRead(_Remembers):
    def changes(self, consumer: str, cursor: str) -> Changes | None:
        own = [known for known, holder in self.issued.items() if holder == consumer]
        alike = [known for known in own if cursor and known[:12] == cursor[:12]]
        return super().changes(consumer, alike[0] if alike else cursor)


class _ExpiryIgnored(Consumers):
    def expire(self, consumer: str | None = None) -> None:
        """Cursors are for ever."""


class _ExpiryForAll(Consumers):
    def expire(self, consumer: str | None = None) -> None:
        super().expire(None)


class _FutureIsQuiet(Feed):
    def changes(self, consumer: str, cursor: str) -> Changes | None:
        opened = self._open("cursor", consumer, cursor) if cursor else None
        (last,) = self._store.query("select coalesce(max(seq), 0) from events")[0]
        if opened is not None and opened[1] > last:
            return Changes([], cursor, False)
        return super().changes(consumer, cursor)


class _BarePosition(Feed):
    def _mark(self, seq: int) -> str:
        return ""


class _OnePageOnly(Feed):
    def changes(self, consumer: str, cursor: str) -> Changes | None:
        found = super().changes(consumer, cursor)
        return replace(found, has_more=False) if found is not None else None


class _NeverDone(Feed):
    def changes(self, consumer: str, cursor: str) -> Changes | None:
        found = super().changes(consumer, cursor)
        return replace(found, has_more=True) if found is not None else None


class _NoCursorWhenQuiet(Feed):
    def changes(self, consumer: str, cursor: str) -> Changes | None:
        found = super().changes(consumer, cursor)
        return replace(found, next_cursor="") if found is not None and not found.rows else found


class _ToldOnce(Feed):
    def changes(self, consumer: str, cursor: str) -> Changes | None:
        found = super().changes(consumer, cursor)
        if found is None or not cursor:
            return found
        told: set[Any] = self.__dict__.setdefault("told", set())
        fresh = [row for row in found.rows if (consumer, row) not in told]
        told.update((consumer, row) for row in fresh)
        return replace(found, rows=fresh)


class _NewestFirst(Feed):
    def changes(self, consumer: str, cursor: str) -> Changes | None:
        found = super().changes(consumer, cursor)
        opened = self._open("cursor", consumer, cursor) if cursor else None
        if found is None or opened is None:
            return found
        rows = self._store.query(
            "select item_id, revision, gone, touched_at from events where seq > ? order by seq desc", opened[1]
        )
        return replace(found, rows=[Change(item, revision, bool(gone), at) for item, revision, gone, at in rows])


class _RecentOnly(Feed):
    def changes(self, consumer: str, cursor: str) -> Changes | None:
        found = super().changes(consumer, cursor)
        return replace(found, rows=found.rows[-3:]) if found is not None and not cursor else found


class _StrangersWait(Feed):
    def changes(self, consumer: str, cursor: str) -> Changes | None:
        known = self._store.query("select 1 from consumers where consumer = ?", consumer)
        self._consumers.state(consumer)
        return super().changes(consumer, cursor) if known or consumer.startswith("memoria") else None


class _FirstRevision(Feed):
    def changes(self, consumer: str, cursor: str) -> Changes | None:
        found = super().changes(consumer, cursor)
        return replace(found, rows=[replace(row, revision="1") for row in found.rows]) if found is not None else None


def _titled(method: str, document: Any) -> Any:
    for row in document.get("rows", ()) if method == "ListChanges" else ():
        row["title"] = "what it is called"
    return document


def _flagged(method: str, document: Any) -> Any:
    for row in document.get("rows", ()) if method == "ListChanges" else ():
        row["visible"] = not row.get("gone", False)
    return document


def _timeless(method: str, document: Any) -> Any:
    for row in document.get("rows", ()) if method == "ListChanges" else ():
        row.pop("touchedAt", None)
    return document


MUTANTS = (
    Mutant("edit-untold", "The feed is silent about edits.", store=_EditUntold),
    Mutant("delete-untold", "The feed is silent about deletions.", store=_DeleteUntold),
    Mutant("leaving-untold", "The feed is silent about what leaves the team rung.", store=_LeavingUntold),
    Mutant("return-untold", "The feed is silent about what comes back to the team rung.", store=_ReturnUntold),
    Mutant("private-told", "An edit of a private item is told as gone.", store=_PrivateTold),
    Mutant("rights-told", "A change of rights is told as a change.", store=_RightsTold),
    Mutant("cursor-shared", "All consumers share one position.", feed=_CursorShared),
    Mutant("forged-restarts", "An unknown cursor begins again without a word.", feed=_ForgedRestarts),
    Mutant("forged-is-quiet", "An unknown cursor brings nothing.", feed=_ForgedIsQuiet),
    Mutant("foreign-cursor", "Another consumer's cursor is as good as one's own.", feed=_ForeignAccepted),
    Mutant("cursor-half-read", "A cursor is known by how it begins.", feed=_HalfRead),
    Mutant("cursor-for-ever", "A cursor past its time is still good.", consumers=_ExpiryIgnored),
    Mutant("expiry-for-all", "One consumer's expiry is everybody's.", consumers=_ExpiryForAll),
    Mutant("future-is-quiet", "A cursor from a lost future brings nothing.", feed=_FutureIsQuiet),
    Mutant("bare-position", "A cursor is a position in the log and no more.", feed=_BarePosition),
    Mutant("one-page-only", "has_more is never set.", feed=_OnePageOnly),
    Mutant("never-done", "has_more is always set.", feed=_NeverDone),
    Mutant("no-cursor-when-quiet", "A page without rows has no cursor.", feed=_NoCursorWhenQuiet),
    Mutant("told-once", "A row is told once, whatever cursor asks.", feed=_ToldOnce),
    Mutant("newest-first", "Overtaken rows come last.", feed=_NewestFirst),
    Mutant("recent-only", "First contact tells of the last three items.", feed=_RecentOnly),
    Mutant("strangers-wait", "A consumer must be known before it is served.", feed=_StrangersWait),
    Mutant("first-revision", "Every row says revision 1.", feed=_FirstRevision, revisions="counter"),
    Mutant("title-in-rows", "A row carries the title.", around=replies(_titled)),
    Mutant("visibility-in-rows", "A row carries a visibility flag.", around=replies(_flagged)),
    Mutant("timeless-rows", "A row does not say when.", around=replies(_timeless)),
)
