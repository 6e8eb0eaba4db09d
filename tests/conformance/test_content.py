"""S3, S6 and Describe of the demo apps (CON-12, G25, NUM-10 … -13)."""

from typing import Any

import pytest

from memoria_conformance.sibling import Sibling


@pytest.mark.parametrize("alias", ["doc.granted", "doc.private", "unknown"])
async def test_content_off_the_team_rung_is_not_found(docs: Sibling, call: Any, at: Any, alias: str) -> None:
    """404 and never 403, also when a person is smuggled into the request (G25)."""
    assert "body" in await call(docs, "GetContent", {"itemId": at(docs, "doc.team")[0]})
    item_id = "f" * 20 if alias == "unknown" else at(docs, alias)[0]
    for body in ({"itemId": item_id}, {"itemId": item_id, "subject": {"value": "ann@example.test"}}):
        assert await call(docs, "GetContent", body) == (404, "not_found")


async def test_content_follows_the_item(docs: Sibling, call: Any, at: Any) -> None:
    """The current revision by name or by none; an old or unknown revision, a narrowed and a deleted item are gone."""
    item_id, first = at(docs, "doc.team")
    assert await call(docs, "GetContent", {"itemId": item_id, "revision": "x"}) == (404, "not_found")
    content = await call(docs, "GetContent", {"itemId": item_id, "revision": first})
    assert content == await call(docs, "GetContent", {"itemId": item_id})
    assert content == {
        "revision": first,
        "title": "Team title",
        "trail": ["A", "B"],
        "body": "# Head\n\ncanary-team",
        "author": "AUTHOR_KIND_HUMAN",
        "date": "2026-01-02T00:00:00Z",
        "link": f"https://demo.docs.localhost/items/{item_id}",
    }
    second = docs.state.apply("edit", {"item": item_id, "title": "New", "body": "new"})["revision"]
    assert await call(docs, "GetContent", {"itemId": item_id, "revision": first}) == (404, "not_found")
    assert (await call(docs, "GetContent", {"itemId": item_id, "revision": second}))["title"] == "New"
    docs.state.apply("move_rung", {"item": "doc.team", "rung": "private"})
    assert await call(docs, "GetContent", {"itemId": item_id}) == (404, "not_found")


async def test_sheets_carry_displays_and_formats(sheets: Sibling, call: Any, at: Any) -> None:
    """Cells by row and column with what the spreadsheet shows; no body."""
    content = await call(sheets, "GetContent", {"itemId": at(sheets, "sheet.team")[0]})
    cells = {(c["row"], c["column"]): (c["display"], c["formatCode"]) for c in content["tabs"][0]["cells"]}
    assert "body" not in content
    assert cells[2, 1] == ("Revenue", "General")
    assert cells[2, 3] == ("€2,500", "€#,##0")
    assert cells[2, 4] == ("k€3", "k€#,##0")
    assert (3, 3) not in cells


async def test_describe(docs: Sibling, sheets: Sibling, call: Any) -> None:
    """Docs serves four calls, sheets five; both key on addresses; either token may ask."""
    assert len((await call(docs, "Describe"))["calls"]) == 4
    described = await call(sheets, "Describe", token="ask")
    assert (described["app"], described["calls"][-1]) == ("sheets", "CALL_AGGREGATE")
    assert described["subjectKinds"] == ["SUBJECT_KIND_ADDRESS"]


def question(
    pair: tuple[str, str], *cells: tuple[int, int], fn: str = "SUM", tab: str = "P&L", **subject: str
) -> dict[str, Any]:
    return {
        "subject": {"kind": "SUBJECT_KIND_ADDRESS", "value": "bob@example.test", **subject},
        "function": f"AGGREGATE_FUNCTION_{fn}",
        "cells": [
            {"itemId": pair[0], "revision": pair[1], "tab": tab, "row": row, "column": column} for row, column in cells
        ],
    }


@pytest.mark.parametrize(
    ("fn", "value", "display"),
    [
        ("SUM", 3500, "€3,500"),
        ("AVERAGE", 1750, "€1,750"),
        ("MIN", 1000, "€1,000"),
        ("MAX", 2500, "€2,500"),
        ("COUNT", 2, "2"),
    ],
)
async def test_aggregates(sheets: Sibling, call: Any, at: Any, fn: str, value: float, display: str) -> None:
    """Each function over two cells, shown in the first one's format, with both formats beside."""
    reply = await call(sheets, "Aggregate", question(at(sheets, "sheet.team"), (2, 2), (2, 3), fn=fn), "ask")
    assert reply["outcome"] == "AGGREGATE_OUTCOME_VALUE"
    assert (reply["value"], reply["display"]) == (value, display)
    assert reply["operandFormatCodes"] == ["€#,##0", "€#,##0"]


async def test_aggregate_refusals(sheets: Sibling, docs: Sibling, call: Any, at: Any) -> None:
    """What may not be read hides everything else; then STALE, AHEAD, NON_NUMERIC name their cell."""
    pair, barred, granted = at(sheets, "sheet.team"), at(sheets, "sheet.barred"), at(sheets, "sheet.granted")

    async def outcome(body: dict[str, Any]) -> tuple[str, Any]:
        reply = await call(sheets, "Aggregate", body, "ask")
        assert not {"value", "display", "formatCode", "operandFormatCodes"} & set(reply)
        return reply["outcome"].removeprefix("AGGREGATE_OUTCOME_"), reply.get("cell", {}).get("row")

    good, text, empty = question(pair, (2, 2)), question(pair, (2, 2), (3, 2)), question(pair, (2, 2), (3, 3))
    assert (await call(sheets, "Aggregate", good, "ask"))["value"] == 1000
    assert await outcome(text) == ("NON_NUMERIC", 3)
    assert await outcome(empty) == ("NON_NUMERIC", 3)
    assert await outcome(question(pair, (2, 2), tab="None")) == ("NOT_VISIBLE", None)
    for hidden in (barred, granted, ("absent", "r")):
        mixed = question(pair, (3, 2))
        mixed["cells"] += question(hidden, (2, 1), tab="T")["cells"]
        assert await outcome(mixed) == ("NOT_VISIBLE", None)
    assert await outcome(question(pair, (2, 2), kind="SUBJECT_KIND_PERSON_REF")) == ("UNKNOWN", None)
    assert await outcome(question((pair[0], "later"), (2, 2))) == ("AHEAD", 2)
    sheets.state.apply("edit", {"item": "sheet.team", "cells": [["P&L", 2, 2, 5]]})
    assert await outcome(good) == ("STALE", 2)
    assert (await call(sheets, "Aggregate", question(at(sheets, "sheet.team"), (2, 2)), "ask"))["display"] == "€5"
    for bad in (question(pair), question(pair, *[(2, 2)] * 65), question(pair, (2, 2), fn="UNSPECIFIED")):
        assert await call(sheets, "Aggregate", bad, "ask") == (400, "invalid_argument")
    assert await call(sheets, "Aggregate", good | {"function": 77}, "ask") == (400, "invalid_argument")
    assert await call(docs, "Aggregate", good, "ask") == (501, "unimplemented")
