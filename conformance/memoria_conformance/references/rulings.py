"""S2 and S6 of the reference app: may this person read these revisions, and what do these cells come to."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memoria_conformance.formats import display
from memoria_conformance.references.store import Store

FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "SUM": math.fsum,
    "AVERAGE": statistics.fmean,
    "MIN": min,
    "MAX": max,
    "COUNT": len,
}


@dataclass(frozen=True, slots=True)
class CellAt:
    """A cell at a revision of its sheet."""

    item_id: str
    tab: str
    row: int
    column: int
    revision: str


@dataclass(frozen=True, slots=True)
class Computed:
    """What became of an aggregate; `cell` is the index of the operand it is about."""

    outcome: str
    cell: int | None = None
    value: float = 0.0
    display: str = ""
    format_code: str = ""
    operands: tuple[str, ...] = ()


def verdict(store: Store, person_ref: str, item_id: str, revision: str) -> str:
    """VISIBLE, NOT_VISIBLE, STALE or AHEAD.

    Custody first: off the team rung the item might as well not be there, whoever holds a grant. Then the person. The
    revision last, compared with the item's own log.
    """
    item = store.on_team(item_id)
    if item is None or person_ref not in store.people or person_ref in item.removed:
        return "NOT_VISIBLE"
    if revision == item.current.id:
        return "VISIBLE"
    return "STALE" if any(revision == known.id for known in item.log) else "AHEAD"


def aggregate(store: Store, person_ref: str, function: str, cells: Sequence[CellAt]) -> Computed:
    """The function over the cells. One that may not be read hides what the others are."""
    verdicts = [verdict(store, person_ref, cell.item_id, cell.revision) for cell in cells]
    if "NOT_VISIBLE" in verdicts:
        return Computed("NOT_VISIBLE")
    for index, said in enumerate(verdicts):
        if said != "VISIBLE":
            return Computed(said, index)
    tabs = [store.items[cell.item_id].current.tabs.get(cell.tab) for cell in cells]
    if None in tabs:
        return Computed("NOT_VISIBLE")  # there is no such tab
    operands = []
    for index, cell in enumerate(cells):
        at = (tabs[index] or {}).get((cell.row, cell.column), {})
        if "value" not in at:
            return Computed("NON_NUMERIC", index)
        operands.append((float(at["value"]), str(at.get("format", "General"))))
    value = float(FUNCTIONS[function]([number for number, _ in operands]))
    code = "0" if function == "COUNT" else operands[0][1]  # a count is of cells, not of euros
    return Computed("VALUE", None, value, display(value, code), code, tuple(code for _, code in operands))
