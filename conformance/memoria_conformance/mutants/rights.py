"""Faults of S2 about people and logs: who counts as whom, and which revisions an item had."""

from collections.abc import Sequence

from memoria_conformance.mutants.ask import Each
from memoria_conformance.mutants.build import Mutant
from memoria_conformance.rulings import ItemAt, Rulings
from memoria_conformance.store import Store
from memoria_conformance.world import Content
from memoria_contract.types import Subject, Verdict


class _NeverVisible(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        return Verdict.STALE if right is Verdict.VISIBLE else right


class _ShortMemory(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        return Verdict.AHEAD if right is Verdict.STALE and pair[1] not in self.log(pair[0])[-11:] else right


class _LogIsFeed(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        since = "select coalesce(max(seq), 0) from events where item_id = ?1 and gone"
        told = f"select 1 from events where item_id = ?1 and revision = ?2 and seq > ({since})"  # noqa: S608 — a constant
        return Verdict.AHEAD if right is Verdict.STALE and not self._store.query(told, *pair) else right


class _GrantBeatsRemoval(Each):
    def one(self, subject: Subject | None, pair: ItemAt, right: Verdict) -> Verdict:
        both = self.has("grants", pair[0], subject) and self.has("removed", pair[0], subject)
        current = self._store.query("select revision from items where item_id = ? and rung = 'team'", pair[0])
        return Verdict.VISIBLE if both and current == [(pair[1],)] else right


class _RevokeRemoves(Store):
    def set_right(self, table: str, item_id: str, person: str, present: bool) -> None:
        super().set_right(table, item_id, person, present)
        if table == "grants" and not present:
            super().set_right("removed", item_id, person, True)


class _MoveForgets(Store):
    def move_rung(self, item_id: str, rung: str) -> None:
        super().move_rung(item_id, rung)
        with self.transaction() as db:
            db.execute("delete from removed where item_id = ?", (item_id,))


class _EditForgets(Store):
    def edit(self, item_id: str, content: Content) -> str:
        revision = super().edit(item_id, content)
        with self.transaction() as db:
            db.execute("delete from removed where item_id = ?", (item_id,))
        return revision


class _Pattern(Rulings):
    def _person(self, subject: Subject) -> str | None:
        rows = self._store.query("select alias from people where address like ?", subject.value)
        return str(rows[0][0]) if rows else None


class _Domain(Rulings):
    def _person(self, subject: Subject) -> str | None:
        known = super()._person(subject)
        return known or ("a guest" if subject.value.endswith("@conformance.example") else None)


class _EitherColumn(Rulings):
    def _person(self, subject: Subject) -> str | None:
        rows = self._store.query("select alias from people where ?1 in (address, person_ref)", subject.value)
        return str(rows[0][0]) if rows else None


class _Trimmed(Rulings):
    def authorize(self, subject: Subject | None, pairs: Sequence[ItemAt]) -> list[Verdict]:
        return super().authorize(subject, [(item_id.strip(), revision.strip()) for item_id, revision in pairs])


class _Folded(Rulings):
    def authorize(self, subject: Subject | None, pairs: Sequence[ItemAt]) -> list[Verdict]:
        return super().authorize(subject, [(item_id.lower(), revision) for item_id, revision in pairs])


class _ByItem(Rulings):
    def authorize(self, subject: Subject | None, pairs: Sequence[ItemAt]) -> list[Verdict]:
        verdicts = super().authorize(subject, pairs)
        of = {item_id: verdict for (item_id, _), verdict in zip(pairs, verdicts, strict=True)}
        return [of[item_id] for item_id, _ in pairs]


class _Limited(Rulings):
    def authorize(self, subject: Subject | None, pairs: Sequence[ItemAt]) -> list[Verdict]:
        found, answers = 0, []
        for verdict in super().authorize(subject, pairs):
            found += verdict is Verdict.VISIBLE
            answers.append(verdict if found <= 100 else Verdict.NOT_VISIBLE)
        return answers


MUTANTS = (
    Mutant("never-visible", "What may be read is STALE.", rulings=_NeverVisible),
    Mutant("short-memory", "The log holds ten revisions.", rulings=_ShortMemory),
    Mutant("log-is-feed", "The log is what the feed told since the item came back.", rulings=_LogIsFeed),
    Mutant("grant-beats-removal", "A grant lets somebody back who was taken off.", rulings=_GrantBeatsRemoval),
    Mutant("revoke-removes", "Who loses a grant is taken off the item.", store=_RevokeRemoves),
    Mutant("move-forgets-removed", "A move of the item lets everybody back.", store=_MoveForgets),
    Mutant("edit-forgets-removed", "An edit of the item lets everybody back.", store=_EditForgets),
    Mutant("person-by-pattern", "A person is found by pattern.", rulings=_Pattern),
    Mutant("person-by-domain", "Whoever has the domain is a member.", rulings=_Domain),
    Mutant("person-by-either-column", "A person is found under either kind of value.", rulings=_EitherColumn),
    Mutant("names-trimmed", "Blanks around ids and revisions are dropped.", rulings=_Trimmed),
    Mutant("ids-folded", "Ids are compared without regard to case.", rulings=_Folded),
    Mutant("verdict-by-item", "Two revisions of an item in one call get one answer.", rulings=_ByItem),
    Mutant("query-limited", "The query stops at a hundred rows.", rulings=_Limited),
)
