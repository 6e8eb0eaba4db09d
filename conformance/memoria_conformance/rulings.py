"""S2 and S6 of a demo app: may this person read these revisions, and what do these cells come to."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from memoria_conformance.formats import display
from memoria_conformance.store import Store
from memoria_contract.types import Subject, SubjectKind, Verdict

ItemAt = tuple[str, str]
"""(item id, revision). Plain, for 256 of them are hashed and written on every search."""

_RULE = """
select a.value ->> 1 = i.revision, r.revision is not null, i.item_id is null or m.person is not null
from json_each(?1) a
left join items i on i.item_id = a.value ->> 0 and i.rung = 'team'
left join revisions r on r.item_id = i.item_id and r.revision = a.value ->> 1
left join removed m on m.item_id = i.item_id and m.person = ?2
order by a.key
"""


class Outcome(Enum):
    """What became of an aggregate."""

    VALUE = "value"
    NOT_VISIBLE = "not_visible"
    STALE = "stale"
    AHEAD = "ahead"
    NON_NUMERIC = "non_numeric"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CellAt:
    """A cell at a revision of its sheet; row and column count from 1."""

    pair: ItemAt
    tab: str
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An outcome; `cell` is the index of the operand that STALE, AHEAD or NON_NUMERIC is about."""

    outcome: Outcome
    value: float = 0.0
    display: str = ""
    format_code: str = ""
    operand_formats: tuple[str, ...] = ()
    cell: int | None = None


FUNCTIONS: dict[str, Callable[[list[float]], float]] = {
    "SUM": math.fsum,
    "AVERAGE": lambda values: math.fsum(values) / len(values),
    "MIN": min,
    "MAX": max,
    "COUNT": lambda values: float(len(values)),
}


class Rulings:
    """Answers for one store, live: every call reads the state as it is (AUT-02)."""

    def __init__(self, store: Store, kinds: Sequence[SubjectKind]) -> None:
        self._store, self.kinds = store, tuple(kinds)

    def authorize(self, subject: Subject | None, pairs: Sequence[ItemAt]) -> list[Verdict]:
        """One verdict per pair, in order.

        A subject of a kind this app does not key on is UNKNOWN throughout (CON-02); somebody who is no member sees
        nothing. Off the team rung is NOT_VISIBLE, whatever grant the person holds (CON-06); so is an item without a
        row (CON-05). Only then is the revision compared, and with the log rather than the current row.
        """
        if subject is None or subject.kind not in self.kinds:
            return [Verdict.UNKNOWN] * len(pairs)
        person = self._person(subject)
        if person is None:
            return [Verdict.NOT_VISIBLE] * len(pairs)
        rows = self._store.query(_RULE, json.dumps(pairs), person)
        return [_verdict(bool(current), bool(logged), bool(barred)) for current, logged, barred in rows]

    def aggregate(self, subject: Subject | None, function: str, cells: Sequence[CellAt]) -> Aggregate:
        """The function over the cells, each of which must be readable, current and a number, in this order of refusal:
        NOT_VISIBLE for any cell hides what the others are."""
        verdicts = self.authorize(subject, [cell.pair for cell in cells])
        if Verdict.UNKNOWN in verdicts:
            return Aggregate(Outcome.UNKNOWN)
        if Verdict.NOT_VISIBLE in verdicts:
            return Aggregate(Outcome.NOT_VISIBLE)
        for index, verdict in enumerate(verdicts):
            if verdict is Verdict.STALE:
                return Aggregate(Outcome.STALE, cell=index)
            if verdict is Verdict.AHEAD:
                return Aggregate(Outcome.AHEAD, cell=index)
        sheets = {item: self._store.team_content(item) for item in {cell.pair[0] for cell in cells}}
        found = []
        for index, cell in enumerate(cells):
            held = sheets[cell.pair[0]]
            tabs = dict(held[1].tabs) if held else {}
            if cell.tab not in tabs:
                return Aggregate(Outcome.NOT_VISIBLE)
            at = next((c for c in tabs[cell.tab] if (c.row, c.column) == (cell.row, cell.column)), None)
            if at is None or at.value is None:
                return Aggregate(Outcome.NON_NUMERIC, cell=index)
            found.append((at.value, at.format_code))
        value = FUNCTIONS[function]([value for value, _ in found])
        # A count is of cells, not of euros.
        code = "0" if function == "COUNT" else found[0][1]
        formats = tuple(code for _, code in found)
        return Aggregate(Outcome.VALUE, value, display(value, code), code, formats)

    def _person(self, subject: Subject) -> str | None:
        column = {SubjectKind.ADDRESS: "address", SubjectKind.PERSON_REF: "person_ref"}[subject.kind]
        rows = self._store.query(f"select alias from people where {column} = ?", subject.value)  # noqa: S608 — two names
        return rows[0][0] if rows else None


def _verdict(current: bool, logged: bool, barred: bool) -> Verdict:
    if barred:
        return Verdict.NOT_VISIBLE
    if current:
        return Verdict.VISIBLE
    return Verdict.STALE if logged else Verdict.AHEAD
