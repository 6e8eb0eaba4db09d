"""Faults of S1a."""

import json
import secrets
from dataclasses import replace

from memoria_chassis.errors import Kind, ServiceError
from memoria_conformance.feed import AnnouncePage, Feed
from memoria_conformance.mutants.build import Mutant

_NOT_RUNNING = "the announce is not running; start a new one"


class _CountOffByOne(Feed):
    def announce(self, consumer: str, page_token: str) -> AnnouncePage:
        page = super().announce(consumer, page_token)
        return replace(page, closing=(page.closing[0] + 1, page.closing[1])) if page.closing else page


class _CountsLastPage(Feed):
    def announce(self, consumer: str, page_token: str) -> AnnouncePage:
        page = super().announce(consumer, page_token)
        return replace(page, closing=(len(page.items), page.closing[1])) if page.closing else page


class _Rewritten(Feed):
    """Another set of items than what stands on the team rung."""

    def _begin(self, consumer: str) -> str:
        announce_id = super()._begin(consumer)
        with self._store.transaction() as db:
            (held,) = db.execute("select items from announces where announce_id = ?", (announce_id,)).fetchone()
            items = self.rewritten([(item, revision) for item, revision in json.loads(held)])
            db.execute("update announces set items = ? where announce_id = ?", (json.dumps(items), announce_id))
        return announce_id

    def rewritten(self, items: list[tuple[str, str]]) -> list[tuple[str, str]]:
        return items


class _NamesAll(_Rewritten):
    def rewritten(self, items: list[tuple[str, str]]) -> list[tuple[str, str]]:
        return [(item, revision) for item, revision in self._store.query("select item_id, revision from items")]


class _ForgetsOne(_Rewritten):
    def rewritten(self, items: list[tuple[str, str]]) -> list[tuple[str, str]]:
        return items[:-1]


class _NamesTwice(_Rewritten):
    def rewritten(self, items: list[tuple[str, str]]) -> list[tuple[str, str]]:
        return [*items, *items[:1]]


class _OldRevisions(_Rewritten):
    def rewritten(self, items: list[tuple[str, str]]) -> list[tuple[str, str]]:
        seen: dict[str, str] = self.__dict__.setdefault("seen", {})
        return [(item, seen.setdefault(item, revision)) for item, revision in items]


class _NewestRevisions(_Rewritten):
    def rewritten(self, items: list[tuple[str, str]]) -> list[tuple[str, str]]:
        seen: dict[str, str] = self.__dict__.setdefault("seen", {})
        for item, revision in items:
            seen[item] = max(seen.get(item, "0"), revision, key=int)
        return [(item, seen[item]) for item, _ in items]


class _NamesEver(_Rewritten):
    def rewritten(self, items: list[tuple[str, str]]) -> list[tuple[str, str]]:
        ever: dict[str, str] = self.__dict__.setdefault("ever", {})
        ever.update(self._store.query("select distinct item_id, revision from events where not gone"))
        return list({**ever, **dict(items)}.items())


class _OpensEveryPage(Feed):
    def announce(self, consumer: str, page_token: str) -> AnnouncePage:
        return replace(super().announce(consumer, page_token), opening=True)


class _NeverOpens(Feed):
    def announce(self, consumer: str, page_token: str) -> AnnouncePage:
        return replace(super().announce(consumer, page_token), opening=False)


class _NeverCloses(Feed):
    def announce(self, consumer: str, page_token: str) -> AnnouncePage:
        return replace(super().announce(consumer, page_token), closing=None)


class _ClosesEveryPage(Feed):
    def announce(self, consumer: str, page_token: str) -> AnnouncePage:
        page = super().announce(consumer, page_token)
        return page if page.closing else replace(page, closing=(len(page.items), self._cursor(consumer, 0)))


class _NoCursor(Feed):
    def announce(self, consumer: str, page_token: str) -> AnnouncePage:
        page = super().announce(consumer, page_token)
        return replace(page, closing=(page.closing[0], "")) if page.closing else page


class _CursorOfTheEnd(Feed):
    def announce(self, consumer: str, page_token: str) -> AnnouncePage:
        page = super().announce(consumer, page_token)
        (last,) = self._store.query("select coalesce(max(seq), 0) from events")[0]
        return replace(page, closing=(page.closing[0], self._cursor(consumer, last))) if page.closing else page


class _LivePages(Feed):
    """Pages by offset over what stands now, rather than over what stood at the opening."""

    def announce(self, consumer: str, page_token: str) -> AnnouncePage:
        page = super().announce(consumer, page_token)
        opened = self._open("page", consumer, page_token) if page_token else None
        begin = opened[1] if opened else 0
        rows = self._store.query("select item_id, revision from items where rung = 'team' order by alias")
        items = [(item, revision) for item, revision in rows]
        end = begin + self._page_rows
        if end < len(items):
            return replace(
                page,
                items=items[begin:end],
                closing=None,
                next_page_token=self._seal("page", consumer, [page.announce_id, end]),
            )
        (last,) = self._store.query("select coalesce(max(seq), 0) from events")[0]
        closing = (len(items), self._cursor(consumer, last))
        return replace(page, items=items[begin:], closing=closing, next_page_token="")


class _ForgedStarts(Feed):
    def announce(self, consumer: str, page_token: str) -> AnnouncePage:
        try:
            return super().announce(consumer, page_token)
        except ServiceError:
            return super().announce(consumer, "")


class _TokenShared(Feed):
    def announce(self, consumer: str, page_token: str) -> AnnouncePage:
        holders = [row[0] for row in self._store.query("select distinct consumer from announces")]
        for holder in (consumer, *holders):
            try:
                return super().announce(holder, page_token)
            except ServiceError:
                continue
        raise ServiceError(Kind.PRECONDITION, _NOT_RUNNING)


class _OneAtATime(Feed):
    def _begin(self, consumer: str) -> str:
        with self._store.transaction() as db:
            db.execute("delete from announces where consumer = ?", (consumer,))
        return super()._begin(consumer)


class _TokenOnce(Feed):
    def announce(self, consumer: str, page_token: str) -> AnnouncePage:
        used: set[str] = self.__dict__.setdefault("used", set())
        if page_token in used:
            raise ServiceError(Kind.PRECONDITION, _NOT_RUNNING)
        if page_token:
            used.add(page_token)
        return super().announce(consumer, page_token)


class _NewIdEachPage(Feed):
    def announce(self, consumer: str, page_token: str) -> AnnouncePage:
        return replace(super().announce(consumer, page_token), announce_id=secrets.token_hex(8))


MUTANTS = (
    Mutant("count-off-by-one", "The closing marker counts one too many.", feed=_CountOffByOne),
    Mutant("counts-last-page", "The closing marker counts the last page.", feed=_CountsLastPage),
    Mutant("announces-all", "The announce names private items too.", feed=_NamesAll),
    Mutant("announce-forgets", "The announce leaves one item out.", feed=_ForgetsOne),
    Mutant("announces-twice", "The announce names one item twice.", feed=_NamesTwice),
    Mutant("announces-old", "The announce names the revision it first saw.", feed=_OldRevisions),
    Mutant(
        "announces-newest",
        "The announce names the newest revision it ever saw.",
        feed=_NewestRevisions,
        revisions="counter",
    ),
    Mutant("announces-ever", "The announce names what was ever on the team rung.", feed=_NamesEver),
    Mutant("opens-every-page", "Every page has an opening marker.", feed=_OpensEveryPage),
    Mutant("never-opens", "There is no opening marker.", feed=_NeverOpens),
    Mutant("never-closes", "There is no closing marker.", feed=_NeverCloses),
    Mutant("closes-every-page", "Every page has a closing marker.", feed=_ClosesEveryPage),
    Mutant("closing-without-cursor", "The closing marker has no cursor.", feed=_NoCursor),
    Mutant("cursor-of-the-end", "What changed while it was read is lost.", feed=_CursorOfTheEnd),
    Mutant("live-pages", "Pages are cut from what stands now.", feed=_LivePages),
    Mutant("forged-page-starts", "An unknown page token starts a new announce.", feed=_ForgedStarts),
    Mutant("page-token-shared", "A page token is good for every consumer.", feed=_TokenShared),
    Mutant("one-announce-at-a-time", "A second announce ends the first.", feed=_OneAtATime),
    Mutant("page-once", "A page can be asked for once.", feed=_TokenOnce),
    Mutant("new-id-each-page", "Every page has an announce_id of its own.", feed=_NewIdEachPage),
)
