"""docs/openapi.json says what the API really takes and gives (AMD-08)."""

import json
from pathlib import Path
from typing import Any

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.push_items import PushedItem
from memoria_gateway.route_table import TABLE, Gate
from memoria_gateway.views import Notice, Page

DOCUMENT = json.loads((Path(__file__).resolve().parents[3] / "docs/openapi.json").read_text())
SCHEMAS = DOCUMENT["components"]["schemas"]


def fits(value: Any, schema: dict[str, Any]) -> None:
    """Checks a value against as much of JSON Schema as the document uses. Fails with what does not fit."""
    if "$ref" in schema:
        found: Any = DOCUMENT
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        return fits(value, found)
    if "anyOf" in schema:
        if value is None:
            assert {"type": "null"} in schema["anyOf"], value
            return None
        return fits(value, next(each for each in schema["anyOf"] if each.get("type") != "null"))
    match schema["type"]:
        case "object":
            assert set(value) == set(schema["properties"]) == set(schema["required"])
            assert schema["additionalProperties"] is False
            for name, each in value.items():
                fits(each, schema["properties"][name])
        case "array":
            assert isinstance(value, list)
            assert len(value) <= schema.get("maxItems", len(value))
            for each in value:
                fits(each, schema["items"])
        case kind:
            kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}
            assert isinstance(value, kinds[kind]), (value, schema)
            assert value in schema.get("enum", [value])
            assert value is None or value == "" or not isinstance(value, int) or value >= schema.get("minimum", value)
    return None


def test_every_call_of_the_api_is_there_and_no_other() -> None:
    """Compared with the table of routes, and so with what is mounted."""
    told = {(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods}
    programs = {Gate.READ_TOKEN, Gate.WRITE_TOKEN, Gate.CONNECTOR_TOKEN}
    assert told == {(row.method, row.path) for row in TABLE if programs & set(row.gates)}


def test_every_kind_of_error_is_there() -> None:
    """And every call may be refused for want of a token."""
    assert set(SCHEMAS["Error"]["properties"]["error"]["properties"]["kind"]["enum"]) == {kind.value for kind in Kind}
    for methods in DOCUMENT["paths"].values():
        for call in methods.values():
            assert {"401", "403", "429", "500", "503", "504"} <= set(call["responses"])


@pytest.mark.parametrize("spoken", [True, False])
async def test_replies_are_what_is_said(pod: Any, a_result: Any, a_document: Any, spoken: bool) -> None:
    """A search, a document, an upload with a file that is refused, and an error; with every field empty and full.

    Broken to see it red: a field added to a result; one left out of a document; a kind of notice that is not listed.
    """
    program = await pod.program(scope="write")
    results = (a_result(), a_result(available=False, date=None))
    notices = tuple(Notice("docs", kind, 2) for kind in ("no_answer", "stale", "reconciling", "as_of", "degraded"))
    pod.index.page = Page(results if spoken else (), notices, spoken, False)
    fits((await program.get("/api/v1/search?q=x")).json(), SCHEMAS["Search"])
    pod.index.documents = {"abc": a_document(part_ids=("abc", "def") if spoken else ())}
    fits((await program.get("/api/v1/documents/abc")).json(), SCHEMAS["Document"])
    pod.intake.refused = {} if spoken else {"b.bin": ServiceError(Kind.UNIMPLEMENTED, "This kind of file is not read.")}
    files = [("file", ("a.md", b"# A")), ("file", ("b.bin", b"\0"))]
    reply = await program.post("/api/v1/documents", files=files)
    assert reply.status_code == (201 if spoken else 207)
    fits(reply.json(), SCHEMAS["Upload"])
    fits((await program.get("/api/v1/documents/none")).json(), SCHEMAS["Error"])
    fits((await pod.browser().get("/api/v1/search")).json(), SCHEMAS["Error"])


async def test_a_push_is_answered_as_is_said(pod: Any) -> None:
    """Every status, a batch that fails half-way, and a refusal.

    Broken to see it red: a field added to a row of the reply; the error of a batch with another shape.
    """
    program = pod.browser(headers={"authorization": f"Bearer {pod.pushes.token}"})
    path = f"/connectors/{pod.pushes.listed[0].connector_id}/items"
    told = set(SCHEMAS["Item"]["properties"])
    assert told == set(PushedItem.__dataclass_fields__)
    item = {"external_id": "a", "title": "A", "text": "b", "trail": ["x"], "date": "2026-05-01", "link": "https://a/1"}
    body = {"items": [item, {"external_id": "b", "gone": True}]}
    reply = await program.post(path, json=body)
    assert reply.status_code == 200
    fits(reply.json(), SCHEMAS["Pushed"])
    pod.pushes.refused = {"b": ServiceError(Kind.UNAVAILABLE, "search cannot be reached")}
    fits((await program.post(path, json=body)).json(), SCHEMAS["PartlyPushed"])
    fits((await program.post(path, json={})).json(), SCHEMAS["Error"])
    fits((await pod.browser().post(path, json=body)).json(), SCHEMAS["Error"])
