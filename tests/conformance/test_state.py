"""The state hook and the faults of the demo apps, and what else they answer."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from memoria_chassis.errors import ServiceError
from memoria_conformance.faults import KINDS
from memoria_conformance.home import make_home
from memoria_conformance.sibling import Sibling, make_sibling
from memoria_conformance.world import World

ANN = "ann@example.test"


def http(app: Any, token: str = "st") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(
        transport=transport, base_url="http://demo.docs.localhost", headers={"authorization": f"Bearer {token}"}
    )


async def test_the_hook_is_guarded(docs: Sibling, sheets: Sibling) -> None:
    """Off where no token is set, closed to every other token, the consumers' included."""
    ask = {"state": "edit", "params": {"item": "doc.team", "body": "x"}}
    assert (await http(docs).post("/__state", json=ask)).status_code == 200
    for token in ("", "pull", "ask", "sT"):
        assert (await http(docs, token).post("/__state", json=ask)).status_code == 401
    assert (await http(sheets, "").post("/__state", json=ask)).status_code == 404
    assert (await http(docs).get("/__state")).status_code == 405


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b'{"state": "nothing"}', b'{"state": "edit"}', b'{"state": "fault", "params": {"kind": "x"}}'],
)
async def test_a_wrong_request_is_said_to_be_wrong(docs: Sibling, body: bytes) -> None:
    """400 with a code, and nothing changes."""
    reply = await http(docs).post("/__state", content=body)
    assert (reply.status_code, reply.json()["code"]) == (400, "invalid_argument")


async def test_setup_and_teardown(docs: Sibling, rule: Any, at: Any) -> None:
    """Aliases come back; a teardown puts items, rights and faults back as loaded."""
    before = at(docs, "doc.team")
    reply = await http(docs).post("/__state", json={"state": "delete", "params": {"item": "doc.team"}})
    assert "doc.team" not in reply.json()["aliases"]
    docs.state.apply("fault", {"kind": "status"})
    reply = await http(docs).post("/__state", json={"state": "delete", "action": "teardown"})
    assert reply.json()["aliases"]["doc.team"] == before[0]
    assert await rule(docs, ANN, before) == ["VISIBLE"]


async def test_a_prefix_keeps_runs_apart(docs: Sibling) -> None:
    """The same world under another prefix has other ids."""
    first = docs.state.apply("load_world")["aliases"]
    second = docs.state.apply("load_world", {"prefix": "run-2"})["aliases"]
    assert first.keys() == second.keys()
    assert not set(first.values()) & set(second.values())


@pytest.mark.parametrize("kind", ["short", "duplicate", "foreign", "sixth_value", "all_visible"])
async def test_faults_of_verdicts(docs: Sibling, call: Any, at: Any, kind: str) -> None:
    """Each makes the answer wrong in its own way, until `none`."""
    body = {
        "subject": {"kind": "SUBJECT_KIND_ADDRESS", "value": ANN},
        "items": [dict(zip(("itemId", "revision"), at(docs, a), strict=True)) for a in ("doc.team", "doc.private")],
    }
    right = await call(docs, "Authorize", body, "ask")
    docs.state.apply("fault", {"kind": kind, "call": "Authorize"})
    assert await call(docs, "Authorize", body, "ask") != right
    docs.state.apply("fault", {"kind": "none"})
    assert await call(docs, "Authorize", body, "ask") == right


async def test_faults_of_whole_replies(docs: Sibling, call: Any) -> None:
    """Garbage, a status, a redirect to another team, half a reply, a sleep; only on the call named."""
    path = "/memoria.sibling.v1.SiblingService/Describe"
    client = http(docs, "pull")
    replies = {}
    for kind in ("garbage", "status", "redirect", "sleep"):
        docs.state.apply("fault", {"kind": kind, "call": "Describe", "seconds": 0.01})
        replies[kind] = await client.post(path, json={})
        assert "rows" in await call(docs, "ListChanges")
    assert replies["garbage"].status_code == 200
    assert replies["status"].status_code == 503
    assert replies["redirect"].headers["location"].startswith("https://other-demo.docs.localhost/")
    assert replies["sleep"].json()["app"] == "docs"
    assert set(KINDS) >= {"close", "cut", "miscount"}


async def test_announce_faults(docs: Sibling, call: Any) -> None:
    """A cut announce has no closing marker, a miscounted one a wrong count."""
    token = (await call(docs, "Announce"))["nextPageToken"]
    assert (await call(docs, "Announce", {"pageToken": token}))["closing"]["itemCount"] == 3
    docs.state.apply("fault", {"kind": "miscount"})
    assert (await call(docs, "Announce", {"pageToken": token}))["closing"]["itemCount"] == 4
    docs.state.apply("fault", {"kind": "none"})
    docs.state.apply("fault", {"kind": "cut"})
    assert "closing" not in await call(docs, "Announce", {"pageToken": token})


async def test_item_pages_are_alike_for_every_id(docs: Sibling, at: Any) -> None:
    """The page says what the app is and nothing of the item, whether there is one or not."""
    pages = {(await http(docs).get(f"/items/{i}")).content for i in (at(docs, "doc.team")[0], "absent")}
    assert len(pages) == 1
    assert b"canary" not in pages.pop()
    assert (await http(docs).get("/memoria.sibling.v1.SiblingService/Describe")).status_code == 405
    assert (await http(docs).get("/items/")).status_code == 404


async def test_a_file_keeps_its_state(world: World, tmp_path: Path, call: Any) -> None:
    """A second start finds what the first one left, cursors included."""
    path = str(tmp_path / "docs.sqlite")
    first = make_sibling("docs", db=path, world=world)
    first.state.apply("edit", {"item": "doc.team", "title": "Edited"})
    cursor = (await call(first, "ListChanges"))["nextCursor"]
    first.store.close()
    second = make_sibling("docs", db=path, world=world)
    item_id = second.store.aliases()["doc.team"]
    assert (await call(second, "GetContent", {"itemId": item_id}))["title"] == "Edited"
    assert "rows" not in await call(second, "ListChanges", {"cursor": cursor})
    second.store.close()


def test_another_app_is_refused(world: World) -> None:
    """Three apps there are."""
    with pytest.raises(ValueError):
        make_sibling("mail", world=world)
    with pytest.raises(ServiceError):
        make_sibling("docs", world=world, team="De.mo")


async def test_the_home_gives_its_roster_for_a_token() -> None:
    """Call 8 without its token is refused; a change of members moves the epoch and keeps the generation."""
    path = "/memoria.home.v1.HomeService/GetRoster"
    home = make_home(token="h", state_token="st")
    assert (await http(home, "x").post(path, json={})).status_code == 401
    before = (await http(home, "h").post(path, json={})).json()
    assert len(before["personRefs"]) == 6
    asked = {"state": "set_members", "params": {"members": ["p-1"]}}
    assert (await http(home, "h").post("/__state", json=asked)).status_code == 401
    assert (await http(home).post("/__state", json=asked)).status_code == 200
    after = (await http(home, "h").post(path, json={})).json()
    assert (after["personRefs"], after["generation"]) == (["p-1"], before["generation"])
    assert after["epoch"] != before["epoch"]


def test_many_threads_at_once(docs: Sibling) -> None:
    """Edits and questions from several threads leave one whole history: no revision is lost and none is made twice."""
    item_id = docs.store.aliases()["doc.team"]

    def work(n: int) -> None:
        for step in range(20):
            docs.state.apply("edit", {"item": item_id, "body": f"{n}-{step}"})
            assert docs.server.feed.changes(f"c-{n}", "") is not None
            assert docs.store.team_content(item_id) is not None

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert docs.store.query("select count(*), max(n) from revisions where item_id = ?", item_id) == [(161, 160)]
    assert docs.store.query("select count(*) from consumers") == [(8,)]
