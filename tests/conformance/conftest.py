"""A small world of one item on each footing, and a client that speaks JSON to a demo app in this process."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from memoria_conformance.sibling import Sibling, make_sibling
from memoria_conformance.world import World, load_world

WORLD = """
company: Test
people:
  ann: {person_ref: p-ann, address: ann@example.test, name: Ann}
  bob: {person_ref: p-bob, address: bob@example.test, name: Bob}
docs:
  - {alias: doc.team, title: Team title, trail: [A, B], date: 2026-01-02, body: "# Head\\n\\ncanary-team"}
  - {alias: doc.other, title: Other, date: 2026-01-03, body: other, author: machine}
  - {alias: doc.barred, title: Barred, date: 2026-01-03, body: canary-barred, removed: [bob]}
  - {alias: doc.granted, title: Granted, date: 2026-01-03, body: canary-granted, rung: granted, granted: [ann, bob]}
  - {alias: doc.private, title: Private, date: 2026-01-03, body: canary-private, rung: private}
sheets:
  - alias: sheet.team
    title: Sheet
    date: 2026-01-02
    tabs:
      - name: P&L
        format: "€#,##0"
        columns: [Line, Jan 2026, Feb 2026, {name: Mar 2026, format: "k€#,##0"}]
        rows: [[Revenue, 1000, 2500, 3], [Note, text, null, 4]]
  - alias: sheet.barred
    title: Barred
    date: 2026-01-02
    removed: [bob]
    tabs: [{name: T, columns: [A], rows: [[1]]}]
  - alias: sheet.granted
    title: Granted
    date: 2026-01-02
    rung: granted
    granted: [ann]
    tabs: [{name: T, columns: [A], rows: [[1]]}]
calendar: []
"""

Call = Callable[..., Awaitable[Any]]


@pytest.fixture
def world() -> World:
    return load_world(WORLD)


@pytest.fixture
def docs(world: World) -> Sibling:
    return make_sibling("docs", world=world, state_token="st", page_rows=2)


@pytest.fixture
def sheets(world: World) -> Sibling:
    return make_sibling("sheets", world=world)


@pytest.fixture
def call() -> Call:
    """`await call(sibling, "Authorize", {...}, token="ask")` → the JSON reply, or (status, code)."""

    async def ask(sibling: Sibling, method: str, body: dict[str, Any] | None = None, token: str = "pull") -> Any:
        transport = httpx.ASGITransport(sibling, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://demo.docs.localhost") as http:
            reply = await http.post(
                f"/memoria.sibling.v1.SiblingService/{method}",
                json=body or {},
                headers={"authorization": f"Bearer {token}"},
            )
        return reply.json() if reply.status_code == 200 else (reply.status_code, reply.json()["code"])

    return ask


@pytest.fixture
def rule(call: Call) -> Call:
    """`await rule(sibling, person, (item_id, revision), …)` → the verdicts' names."""

    async def ask(sibling: Sibling, value: str, *pairs: tuple[str, str], kind: str = "ADDRESS") -> Any:
        body = {
            "subject": {"kind": f"SUBJECT_KIND_{kind}", "value": value},
            "items": [{"itemId": item_id, "revision": revision} for item_id, revision in pairs],
        }
        reply = await call(sibling, "Authorize", body, token="ask")
        if isinstance(reply, tuple):
            return reply
        return [entry["verdict"].removeprefix("VERDICT_") for entry in reply.get("verdicts", [])]

    return ask


@pytest.fixture
def at() -> Callable[[Sibling, str], tuple[str, str]]:
    """(item id, current revision) of an alias."""

    def find(sibling: Sibling, alias: str) -> tuple[str, str]:
        return sibling.store.query("select item_id, revision from items where alias = ?", alias)[0]

    return find
