"""Faults of S6 in what is computed, and over what."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_conformance.consumers import Consumer
from memoria_conformance.mutants.build import Mutant
from memoria_conformance.rulings import FUNCTIONS, Aggregate, CellAt, Outcome, Rulings
from memoria_conformance.server import SiblingServer
from memoria_conformance.store import Store
from memoria_conformance.world import Cell, Content
from memoria_contract.types import Subject, Verdict

Function = Callable[[list[float]], float]


class _Computes(Rulings):
    """Other functions over the same cells."""

    wrong: ClassVar[Mapping[str, Function]] = {}

    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        right = super().aggregate(subject, function, cells)
        if right.outcome is not Outcome.VALUE or function not in self.wrong:
            return right
        values = [cell.value for at in cells if (cell := self.at(at)) is not None and cell.value is not None]
        return replace(right, value=float(self.wrong[function](values)))

    def at(self, at: CellAt) -> Cell | None:
        held = self._store.team_content(at.pair[0])
        cells = dict(held[1].tabs).get(at.tab, ()) if held is not None else ()
        return next((cell for cell in cells if (cell.row, cell.column) == (at.row, at.column)), None)


class _WholeAverage(_Computes):
    wrong: ClassVar[Mapping[str, Function]] = {
        "AVERAGE": lambda v: sum(v) // len(v) if all(x.is_integer() for x in v) else math.fsum(v) / len(v),
    }


class _TextOrder(_Computes):
    wrong: ClassVar[Mapping[str, Function]] = {"MAX": lambda v: max(v, key=str), "MIN": lambda v: min(v, key=str)}


class _Magnitude(_Computes):
    wrong: ClassVar[Mapping[str, Function]] = {"MAX": lambda v: max(v, key=abs)}


class _EqualOnce(_Computes):
    wrong: ClassVar[Mapping[str, Function]] = {
        "SUM": lambda v: math.fsum(set(v)),
        "COUNT": lambda v: float(len(set(v))),
    }


class _ZeroIsEmpty(_Computes):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        right = super().aggregate(subject, function, cells)
        zeros = [n for n, at in enumerate(cells) if (cell := self.at(at)) is not None and cell.value == 0]
        return Aggregate(Outcome.NON_NUMERIC, cell=zeros[0]) if right.outcome is Outcome.VALUE and zeros else right


class _PlaceOnly(Rulings):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        tabs: dict[tuple[str, int, int], str] = {}
        for cell in cells:
            tabs.setdefault((cell.pair[0], cell.row, cell.column), cell.tab)
        moved = [replace(cell, tab=tabs[cell.pair[0], cell.row, cell.column]) for cell in cells]
        return super().aggregate(subject, function, moved)


class _FirstRevisionOnly(Rulings):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        pairs: dict[str, tuple[str, str]] = {}
        for cell in cells:
            pairs.setdefault(cell.pair[0], cell.pair)
        return super().aggregate(subject, function, [replace(cell, pair=pairs[cell.pair[0]]) for cell in cells])


class _NumberLike(_Computes):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        right = super().aggregate(subject, function, cells)
        if right.outcome is not Outcome.NON_NUMERIC:
            return right
        try:
            values = [float(cell.display) for at in cells if (cell := self.at(at)) is not None]
        except ValueError:
            return right
        if len(values) < len(cells):
            return right
        return Aggregate(Outcome.VALUE, FUNCTIONS[function](values), "0", "0", ("General",) * len(cells))


class _ConstantDisplay(Rulings):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        found = super().aggregate(subject, function, cells)
        return replace(found, display="#") if found.outcome is Outcome.VALUE else found


class _AnyoneIsSomebody(SiblingServer):
    async def aggregate(self, request: pb.AggregateRequest, caller: Consumer) -> pb.AggregateResponse:
        if not request.subject.kind:
            rows = self.store.query("select address from people limit 1")
            request.subject.kind, request.subject.value = pb.SUBJECT_KIND_ADDRESS, rows[0][0] if rows else "x"
        return await super().aggregate(request, caller)


class _KeepsDeleted(Store):
    """A store whose sheets can still be computed over when they are deleted."""

    def delete(self, item_id: str, *, silently: bool = False) -> None:
        held = self.team_content(item_id)
        super().delete(item_id, silently=silently)
        if held is not None:
            self.kept()[item_id] = held

    def kept(self) -> dict[str, tuple[str, Content]]:
        kept: dict[str, tuple[str, Content]] = self.__dict__.setdefault("deleted", {})
        return kept


class _ComputesDeleted(Rulings):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        kept = self._store.kept() if isinstance(self._store, _KeepsDeleted) else {}
        if any(verdict is not Verdict.NOT_VISIBLE for verdict in self.authorize(subject, [c.pair for c in cells])):
            return super().aggregate(subject, function, cells)
        if subject is None or not all(cell.pair[0] in kept for cell in cells):
            return super().aggregate(subject, function, cells)
        return Aggregate(Outcome.VALUE, 0.0, "0", "0", ("0",) * len(cells))


MUTANTS = (
    Mutant("whole-averages", "The average of whole numbers is whole.", rulings=_WholeAverage),
    Mutant("numbers-as-text", "MIN and MAX compare as text.", rulings=_TextOrder),
    Mutant("by-magnitude", "MAX is the number furthest from zero.", rulings=_Magnitude),
    Mutant("equal-values-once", "Equal values count once.", rulings=_EqualOnce),
    Mutant("zero-is-empty", "A zero is taken for nothing.", rulings=_ZeroIsEmpty),
    Mutant("cells-by-place", "A cell is its row and column, whatever the tab.", rulings=_PlaceOnly),
    Mutant("first-revision-only", "Only the revision of a sheet's first cell counts.", rulings=_FirstRevisionOnly),
    Mutant("number-like-text", "Text that looks like a number is one.", rulings=_NumberLike),
    Mutant("constant-display", "Every value is displayed as #.", rulings=_ConstantDisplay),
    Mutant("anyone-is-somebody", "Without a kind the first member is asked about.", server=_AnyoneIsSomebody),
    Mutant("computes-deleted", "A deleted sheet is computed over.", store=_KeepsDeleted, rulings=_ComputesDeleted),
)
