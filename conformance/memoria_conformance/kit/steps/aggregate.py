"""S6: one number over named cells, computed by the spreadsheet."""

import math

from memoria.conformance.v1 import suite_pb2 as pb
from memoria.sibling.v1 import sibling_pb2 as sibling
from memoria_conformance.kit.model import Aggregate, AskedCell, Outcome
from memoria_conformance.kit.scene import CallRefused, CheckFailed, Scene
from memoria_conformance.kit.steps.refusal import must_refuse, unexpected


async def run(step: pb.Aggregate, scene: Scene) -> None:
    """One call; an outcome that the case does not state is the model's."""
    subject = scene.fill_subject(step.subject) if step.HasField("subject") else scene.subject(step.asker)
    cells = [
        AskedCell(cell.item, scene.revision(cell.item, cell.revision), (cell.tab, row, cell.column))
        for cell in step.cells
        for row in range(cell.row, max(cell.row, cell.through_row) + 1)
    ]
    request = sibling.AggregateRequest(subject=subject, function=step.function)
    for cell in cells:
        tab, row, column = cell.place
        request.cells.add(item_id=scene.item_id(cell.alias), tab=tab, row=row, column=column, revision=cell.revision)
    call = scene.call("Aggregate", request, sibling.AggregateResponse)
    if step.HasField("refused"):
        await must_refuse(call, step.refused, f"Aggregate of {len(cells)} cells")
        return
    try:
        reply, _ = await call
    except CallRefused as error:
        raise unexpected(error, f"Aggregate of {len(cells)} cells") from None
    if step.outcome:
        outcome, names = sibling.AggregateOutcome.Name(step.outcome).removeprefix("AGGREGATE_OUTCOME_"), step.names
        _check_outcome(reply, outcome)
        _check_named(reply, request, names - 1 if names else None)
        return
    function = sibling.AggregateFunction.Name(step.function).removeprefix("AGGREGATE_FUNCTION_")
    expected = scene.model.aggregate(step.asker or None, function, cells)
    _check_outcome(reply, expected.outcome.value)
    _check_named(reply, request, expected.names)
    if expected.outcome is Outcome.VALUE:
        _check_value(reply, expected)


def _check_outcome(reply: sibling.AggregateResponse, expected: str) -> None:
    known = {value: name.removeprefix("AGGREGATE_OUTCOME_") for name, value in sibling.AggregateOutcome.items()}
    came = known.get(reply.outcome, str(reply.outcome))
    if came != expected:
        raise CheckFailed(f"expected {expected}, got {came}")
    if expected != "VALUE" and (reply.value or reply.display or reply.format_code or reply.operand_format_codes):
        raise CheckFailed(f"{expected} must come without a number, a display and formats")


def _check_named(reply: sibling.AggregateResponse, request: sibling.AggregateRequest, names: int | None) -> None:
    if names is None:
        if reply.HasField("cell"):
            raise CheckFailed("no cell may be named here")
    elif reply.cell != request.cells[names]:
        raise CheckFailed(f"the outcome must name cell {names + 1} of those asked, as asked")


def _check_value(reply: sibling.AggregateResponse, expected: Aggregate) -> None:
    if not math.isclose(reply.value, expected.value, rel_tol=1e-9, abs_tol=1e-12):
        raise CheckFailed(f"expected the value {expected.value!r}, got {reply.value!r}")
    if not reply.display or not reply.format_code:
        raise CheckFailed("a value comes with its display and the format it was made with")
    if tuple(reply.operand_format_codes) != expected.formats:
        raise CheckFailed(f"operand formats must be {list(expected.formats)}, in the order asked")
