"""Faults of S2: who may read what."""

from collections.abc import Sequence
from typing import Any

from memoria_conformance.feed import Changes, Feed
from memoria_conformance.mutants.build import Mutant, alias_of
from memoria_conformance.rulings import ItemAt, Rulings
from memoria_conformance.store import Snapshot, Store
from memoria_contract.types import Subject, SubjectKind, Verdict


class _ConstantVisible(Rulings):
    def authorize(self, subject: Subject | None, pairs: Sequence[ItemAt]) -> list[Verdict]:
        return [Verdict.VISIBLE] * len(pairs)


class _Cached(Rulings):
    def authorize(self, subject: Subject | None, pairs: Sequence[ItemAt]) -> list[Verdict]:
        cache: dict[Any, Verdict] = self.__dict__.setdefault("cache", {})
        fresh = super().authorize(subject, pairs)
        return [cache.setdefault((subject, pair), verdict) for pair, verdict in zip(pairs, fresh, strict=True)]


class Each(Rulings):
    """A fault in the answer for one pair."""

    def authorize(self, subject: Subject | None, pairs: Sequence[ItemAt]) -> list[Verdict]:
        right = super().authorize(subject, pairs)
        return [self.one(subject, pair, verdict) for pair, verdict in zip(pairs, right, strict=True)]

    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        return right

    def has(self, table: str, item_id: str, subject: Subject | None) -> bool:
        person = self._person(subject) if subject is not None and subject.kind in self.kinds else None
        return bool(self._store.query(f"select 1 from {table} where item_id = ? and person = ?", item_id, person))  # noqa: S608 — two names

    def log(self, item_id: str) -> list[str]:
        return [r for (r,) in self._store.query("select revision from revisions where item_id = ? order by n", item_id)]


class _GrantIsEnough(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        return Verdict.VISIBLE if self.has("grants", pair[0], subject) else right


class _LinkIsTeam(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        return Verdict.VISIBLE if alias_of(self._store, pair[0]) == "doc.link" else right


class _GuestIsUnknown(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        return Verdict.UNKNOWN if alias_of(self._store, pair[0]) == "doc.guest" else right


class _MissingIsAhead(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        missing = not self._store.query("select 1 from items where item_id = ?", pair[0])
        return Verdict.AHEAD if missing and right is Verdict.NOT_VISIBLE else right


class _AheadIsStale(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        return Verdict.STALE if right is Verdict.AHEAD else right


class _StaleIsAhead(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        return Verdict.AHEAD if right is Verdict.STALE else right


class _StaleIsVisible(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        return Verdict.VISIBLE if right is Verdict.STALE else right


class _Numeric(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        if right not in (Verdict.STALE, Verdict.AHEAD):
            return right
        current = int(self.log(pair[0])[-1])
        try:
            return Verdict.STALE if int(pair[1]) < current else Verdict.AHEAD
        except ValueError:
            return Verdict.AHEAD


class _OnlyLastRevision(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        return Verdict.AHEAD if right is Verdict.STALE and pair[1] != self.log(pair[0])[-2] else right


class _RemovedMayRead(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        return Verdict.VISIBLE if self.has("removed", pair[0], subject) else right


class _RemovedLearnsRevisions(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        if not self.has("removed", pair[0], subject) or pair[1] == self.log(pair[0])[-1]:
            return right
        return Verdict.STALE if pair[1] in self.log(pair[0]) else Verdict.AHEAD


class _StrangersAreMembers(Rulings):
    def _person(self, subject: Subject) -> str | None:
        return super()._person(subject) or "anybody"


class _KindCoerced(Rulings):
    def authorize(self, subject: Subject | None, pairs: Sequence[ItemAt]) -> list[Verdict]:
        if subject is not None:
            subject = Subject(SubjectKind.ADDRESS, subject.value.lower())
        return super().authorize(subject, pairs)


class _OtherKindIsNobody(Rulings):
    def authorize(self, subject: Subject | None, pairs: Sequence[ItemAt]) -> list[Verdict]:
        if subject is not None and subject.kind not in self.kinds:
            return [Verdict.NOT_VISIBLE] * len(pairs)
        return super().authorize(subject, pairs)


class _NoKindIsNobody(Rulings):
    def authorize(self, subject: Subject | None, pairs: Sequence[ItemAt]) -> list[Verdict]:
        if subject is None:
            return [Verdict.NOT_VISIBLE] * len(pairs)
        return super().authorize(subject, pairs)


class _OneSpoilsAll(Rulings):
    def authorize(self, subject: Subject | None, pairs: Sequence[ItemAt]) -> list[Verdict]:
        right = super().authorize(subject, pairs)
        return [Verdict.NOT_VISIBLE] * len(pairs) if Verdict.NOT_VISIBLE in right else right


class _NarrowedWhenTold(Feed):
    """Whether an item is on the team rung is what the feed has told so far."""

    def changes(self, consumer: str, cursor: str) -> Changes | None:
        found = super().changes(consumer, cursor)
        for row in found.rows if found is not None else ():
            self.told[row.item_id] = row.gone
        return found

    @property
    def told(self) -> dict[str, bool]:
        return self._store.__dict__.setdefault("told", {})


class _UntilTold(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        standing = self._store.query("select 1 from items where item_id = ?", pair[0])
        left = not self._store.__dict__.get("told", {}).get(pair[0], True)
        was_team = bool(self._store.query("select 1 from events where item_id = ? and not gone", pair[0]))
        untold = not left and was_team and bool(standing) and not self.has("removed", pair[0], subject)
        return (
            Verdict.VISIBLE
            if right is Verdict.NOT_VISIBLE and untold and self.has("grants", pair[0], subject)
            else right
        )


class _DeletedStaysReadable(Store):
    def delete(self, item_id: str, *, silently: bool = False) -> None:
        alias = alias_of(self, item_id)
        super().delete(item_id, silently=silently)
        if alias == "doc.doomed":
            self.__dict__.setdefault("ghosts", set()).add(item_id)


class _GhostsVisible(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        return Verdict.VISIBLE if pair[0] in self._store.__dict__.get("ghosts", ()) else right


class _LogOutlivesRestore(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        seen: set[ItemAt] = self.__dict__.setdefault("seen", set())
        if right is Verdict.VISIBLE:
            seen.add(pair)
        return Verdict.STALE if right is Verdict.AHEAD and pair in seen else right


class _RestoreForgotten(Store):
    def put_back(self, prefix: str, snapshot: Snapshot) -> None:
        """Says that it put the backup back."""


MUTANTS = (
    Mutant("constant-visible", "Everything is VISIBLE.", rulings=_ConstantVisible),
    Mutant("cached-verdicts", "A verdict once given is given again.", rulings=_Cached),
    Mutant("custody-not-intersected", "A grant is enough, whatever rung the item is on.", rulings=_GrantIsEnough),
    Mutant("custody-when-told", "A grant counts until the feed told gone.", feed=_NarrowedWhenTold, rulings=_UntilTold),
    Mutant("link-is-team", "An item shared by link is everybody's.", rulings=_LinkIsTeam),
    Mutant("guest-is-unknown", "A guest-only item is UNKNOWN.", rulings=_GuestIsUnknown),
    Mutant("ahead-for-missing-row", "An item without a row is AHEAD.", rulings=_MissingIsAhead),
    Mutant("ahead-is-stale", "Every revision but the current one is STALE.", rulings=_AheadIsStale),
    Mutant("stale-is-ahead", "Every revision but the current one is AHEAD.", rulings=_StaleIsAhead),
    Mutant("stale-is-visible", "An older revision may be read.", rulings=_StaleIsVisible),
    Mutant("numeric-revision-order", "Revisions are compared as numbers.", rulings=_Numeric, revisions="counter"),
    Mutant("short-log", "Only the revision before the current one is known.", rulings=_OnlyLastRevision),
    Mutant("removed-may-read", "Who was taken off an item still reads it.", rulings=_RemovedMayRead),
    Mutant("removed-learns-revisions", "Who was taken off learns STALE and AHEAD.", rulings=_RemovedLearnsRevisions),
    Mutant("strangers-are-members", "Any address is a member.", rulings=_StrangersAreMembers),
    Mutant("kind-coerced", "A person_ref is read as an address.", rulings=_KindCoerced),
    Mutant("other-kind-is-nobody", "The other kind is NOT_VISIBLE.", rulings=_OtherKindIsNobody),
    Mutant("no-kind-is-nobody", "No kind is NOT_VISIBLE.", rulings=_NoKindIsNobody),
    Mutant("one-spoils-all", "One NOT_VISIBLE makes all of them so.", rulings=_OneSpoilsAll),
    Mutant("deleted-stays", "A deleted item stays VISIBLE.", store=_DeletedStaysReadable, rulings=_GhostsVisible),
    Mutant("log-outlives-restore", "Revisions once seen stay in the log over a restore.", rulings=_LogOutlivesRestore),
    Mutant("restore-forgotten", "A backup that was put back changes nothing.", store=_RestoreForgotten),
)
