"""Faults of S6."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_conformance.consumers import Consumer
from memoria_conformance.mutants.build import Mutant
from memoria_conformance.rulings import Aggregate, CellAt, Outcome, Rulings
from memoria_conformance.server import SiblingServer
from memoria_contract.types import Subject, Verdict


class _AlwaysSum(Rulings):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        return super().aggregate(subject, "SUM", cells)


class _FormatsOfFirst(Rulings):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        found = super().aggregate(subject, function, cells)
        return replace(found, operand_formats=found.operand_formats[:1] * len(cells))


class _StaleComputed(Rulings):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        current = dict(self._store.query("select item_id, revision from items"))
        fresh = [replace(cell, pair=(cell.pair[0], current.get(cell.pair[0], ""))) for cell in cells]
        return super().aggregate(subject, function, fresh)


class _Cached(Rulings):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        cache: dict[Any, Aggregate] = self.__dict__.setdefault("cache", {})
        key = (subject, function, tuple((cell.pair[0], cell.tab, cell.row, cell.column) for cell in cells))
        if key not in cache:
            cache[key] = super().aggregate(subject, function, cells)
        return cache[key]


class _TextIsZero(Rulings):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        found = super().aggregate(subject, function, cells)
        if found.outcome is not Outcome.NON_NUMERIC:
            return found
        return Aggregate(Outcome.VALUE, 0.0, "0", "0", ("0",) * len(cells))


class _NamesNoCell(Rulings):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        return replace(super().aggregate(subject, function, cells), cell=None)


class _NamesFirstCell(Rulings):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        found = super().aggregate(subject, function, cells)
        return found if found.cell is None else replace(found, cell=0)


class _NamesHidden(Rulings):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        found = super().aggregate(subject, function, cells)
        return replace(found, cell=0) if found.outcome is Outcome.NOT_VISIBLE else found


class _RevisionsFirst(Rulings):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        for index, verdict in enumerate(self.authorize(subject, [cell.pair for cell in cells])):
            if verdict in (Verdict.STALE, Verdict.AHEAD):
                return Aggregate(Outcome[verdict.name], cell=index)
        return super().aggregate(subject, function, cells)


class _SumsWhatItMay(Rulings):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        verdicts = self.authorize(subject, [cell.pair for cell in cells])
        readable = [cell for cell, verdict in zip(cells, verdicts, strict=True) if verdict is not Verdict.NOT_VISIBLE]
        return super().aggregate(subject, function, readable or cells)


class _AheadIsStale(Rulings):
    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        found = super().aggregate(subject, function, cells)
        return replace(found, outcome=Outcome.STALE) if found.outcome is Outcome.AHEAD else found


class _Takes65(SiblingServer):
    async def aggregate(self, request: pb.AggregateRequest, caller: Consumer) -> pb.AggregateResponse:
        del request.cells[64:]
        return await super().aggregate(request, caller)


class _Takes63(SiblingServer):
    async def aggregate(self, request: pb.AggregateRequest, caller: Consumer) -> pb.AggregateResponse:
        if len(request.cells) == 64:
            request.cells.append(request.cells[0])
        return await super().aggregate(request, caller)


class _NothingIsZero(SiblingServer):
    async def aggregate(self, request: pb.AggregateRequest, caller: Consumer) -> pb.AggregateResponse:
        if not request.cells:
            return pb.AggregateResponse(outcome=pb.AGGREGATE_OUTCOME_VALUE, display="0", format_code="0")
        return await super().aggregate(request, caller)


class _AnyFunction(SiblingServer):
    async def aggregate(self, request: pb.AggregateRequest, caller: Consumer) -> pb.AggregateResponse:
        if request.function not in range(1, 6):
            request.function = pb.AGGREGATE_FUNCTION_SUM
        return await super().aggregate(request, caller)


class _TellsValue(SiblingServer):
    async def aggregate(self, request: pb.AggregateRequest, caller: Consumer) -> pb.AggregateResponse:
        reply = await super().aggregate(request, caller)
        if reply.outcome == pb.AGGREGATE_OUTCOME_STALE:
            reply.value, reply.display, reply.format_code = 1.0, "1", "0"
        return reply


class _NoDisplay(SiblingServer):
    async def aggregate(self, request: pb.AggregateRequest, caller: Consumer) -> pb.AggregateResponse:
        reply = await super().aggregate(request, caller)
        reply.display = ""
        return reply


MUTANTS = (
    Mutant("always-sum", "Every function is SUM.", rulings=_AlwaysSum),
    Mutant("formats-of-first", "All operands get the first one's format.", rulings=_FormatsOfFirst),
    Mutant("stale-computed", "Current cells are computed, whatever revision was asked about.", rulings=_StaleComputed),
    Mutant("cached-aggregates", "A value once computed is given again.", rulings=_Cached),
    Mutant("text-is-zero", "Text and empty cells count as zero.", rulings=_TextIsZero),
    Mutant("names-no-cell", "An outcome about a cell does not name it.", rulings=_NamesNoCell),
    Mutant("names-first-cell", "An outcome about a cell names the first.", rulings=_NamesFirstCell),
    Mutant("names-hidden-cell", "NOT_VISIBLE names a cell.", rulings=_NamesHidden),
    Mutant("revisions-first", "STALE and AHEAD are told before NOT_VISIBLE.", rulings=_RevisionsFirst),
    Mutant("sums-what-it-may", "Operands that may not be read are left out.", rulings=_SumsWhatItMay),
    Mutant("aggregate-ahead-is-stale", "AHEAD is told as STALE.", rulings=_AheadIsStale),
    Mutant("cells-truncated", "What is over 64 cells is dropped.", server=_Takes65),
    Mutant("cells-cap-63", "64 cells are too many.", server=_Takes63),
    Mutant("nothing-is-zero", "No cells come to 0.", server=_NothingIsZero),
    Mutant("any-function", "An unknown function is SUM.", server=_AnyFunction),
    Mutant("value-beside-outcome", "STALE comes with a value.", server=_TellsValue),
    Mutant("no-display", "A value comes without its display.", server=_NoDisplay),
)
