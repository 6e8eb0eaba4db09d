"""The reference siblings driven by hand, before the suite that they are to vouch for is believed."""

import gzip
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ANN, BEN = "asker.ann", "asker.ben"
LISTING = "/memoria.sibling.v1.SiblingService/ListChanges"
GOOD = [("Authorization", "Bearer pull-1"), ("Content-Type", "application/json")]


def code(reply: Any) -> tuple[int, str]:
    """Status and code of an error."""
    return reply.status_code, reply.json()["code"]


# --- refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        ([], b"{}", (401, "unauthenticated")),
        ([("Authorization", "Bearer wrong")], b"{}", (401, "unauthenticated")),
        ([("Authorization", "Bearer ask-1")], b"{}", (403, "permission_denied")),
        ([("Authorization", "Bearer pull-1"), ("Authorization", "Bearer wrong")], b"{}", (400, "invalid_argument")),
        ([("Authorization", "Bearer wrong"), ("Authorization", "Bearer pull-1")], b"{}", (400, "invalid_argument")),
        ([*GOOD[:1], ("Content-Encoding", "gzip")], gzip.compress(b" " * 2_000_000), (501, "unimplemented")),
        (GOOD[:1], b'{"cursor": "' + b"x" * 1_100_000 + b'"}', (429, "resource_exhausted")),
        (GOOD[:1], b'{"cursor": ', (400, "invalid_argument")),
        (GOOD[:1], b"[]", (400, "invalid_argument")),
    ],
    ids=["no-token", "wrong-token", "other-scope", "two-tokens", "two-tokens-2", "gzip", "large", "cut", "list"],
)
def test_what_is_refused(sibling: Any, headers: Any, body: bytes, expected: tuple[int, str]) -> None:
    """Each with the code of the contract, after the same call was answered without the fault."""
    assert sibling.http.post(LISTING, content=b'{"later": [1]}', headers=GOOD).status_code == 200
    reply = sibling.http.post(LISTING, content=body, headers=[*headers, ("Content-Type", "application/json")])
    assert code(reply) == expected


def test_only_post_and_only_two_content_types(sibling: Any) -> None:
    """GET is 405, also with a message in the URL; plain text and gRPC are 415."""
    assert sibling.http.get(LISTING, params={"encoding": "json", "message": "{}"}, headers=GOOD).status_code == 405
    for kind in ("text/plain", "application/grpc+proto", "application/connect+json", "json", ""):
        headers = [GOOD[0], ("Content-Type", kind)]
        assert sibling.http.post(LISTING, content=b"{}", headers=headers).status_code == 415, kind
    binary = [GOOD[0], ("Content-Type", "application/proto")]
    assert sibling.http.post(LISTING, content=b"", headers=binary).headers["content-type"] == "application/proto"
    assert code(sibling.http.post(LISTING, content=b"\xff" * 64, headers=binary)) == (400, "invalid_argument")


def test_the_hook_is_closed_without_its_token(sibling: Any) -> None:
    """The consumers' tokens do not open it."""
    for token in ("pull-1", "ask-1", "wrong"):
        reply = sibling.http.post("/__state", json={}, headers={"Authorization": f"Bearer {token}"})
        assert reply.status_code == 401


def test_caps(sibling: Any) -> None:
    """257 pairs and one pair twice are refused; 256 and none are answered."""
    sibling.load("doc.a")
    many = [(f"x{n}", "1") for n in range(257)]
    for pairs in (many, [many[0], many[0]]):
        items = [{"itemId": item_id, "revision": revision} for item_id, revision in pairs]
        body = {"subject": sibling.subject(ANN), "items": items}
        assert code(sibling.call("Authorize", body)) == (400, "invalid_argument")
    assert sibling.ask(ANN, *many[:256]) == ["NOT_VISIBLE"] * 256
    assert sibling.call("Authorize", {"subject": sibling.subject(ANN)}).json().get("verdicts", []) == []


# --- S2 ------------------------------------------------------------------------------------------------------


def test_narrowing_ends_what_a_grant_does_not_bring_back(sibling: Any) -> None:
    """Ask, narrow, ask again: custody wins over a grant, and the answer is that for an item that never was (CON-06)."""
    sibling.load(sibling.item("doc.a", granted=[BEN]), sibling.item("doc.barred", removed=[BEN]))
    pair = (sibling.aliases["doc.a"], sibling.revision("doc.a"))
    barred = (sibling.aliases["doc.barred"], sibling.revision("doc.barred"))
    assert sibling.ask(BEN, pair, barred) == ["VISIBLE", "NOT_VISIBLE"]
    assert sibling.ask(ANN, pair, barred) == ["VISIBLE", "VISIBLE"]
    sibling.hook("move_rung", item="doc.a", rung="granted")
    assert sibling.ask(BEN, pair, ("never", "1")) == ["NOT_VISIBLE"] * 2
    sibling.hook("move_rung", item="doc.a", rung="team")
    assert sibling.ask(BEN, pair) == ["VISIBLE"]
    sibling.hook("remove_person", item="doc.a", person=BEN)
    assert sibling.ask(BEN, pair) == ["NOT_VISIBLE"]
    sibling.hook("restore_person", item="doc.a", person=BEN)
    assert sibling.ask(BEN, pair) == ["VISIBLE"]


def test_revisions_are_compared_with_the_log(sibling: Any) -> None:
    """Overtaken is STALE, never had is AHEAD, and what a restore took back is AHEAD; a lost row is NOT_VISIBLE."""
    sibling.load("doc.a")
    item_id, first = sibling.aliases["doc.a"], sibling.revision("doc.a")
    second = sibling.hook("edit", item="doc.a", body="two")["revision"]
    pairs = [(item_id, revision) for revision in (first, second, "later")]
    assert sibling.ask(ANN, *pairs) == ["STALE", "VISIBLE", "AHEAD"]
    before = sibling.read()
    sibling.hook("partial_restore", item="doc.a", steps=1)
    assert sibling.ask(ANN, *pairs) == ["VISIBLE", "AHEAD", "AHEAD"]
    assert sibling.read(before[1])[0] == []  # nobody is told
    third = sibling.hook("edit", item="doc.a", body="three")["revision"]
    assert third not in (first, second)  # a revision that was taken back never comes to mean another text
    sibling.hook("partial_restore", item="doc.a", lose=True)
    assert sibling.ask(ANN, *pairs) == ["NOT_VISIBLE"] * 3


def test_the_other_kind_of_subject_is_unknown(sibling: Any) -> None:
    """For every pair, of what is there and of what is not (CON-02)."""
    sibling.load("doc.a")
    other = "person_ref" if sibling.kind == "address" else "address"
    pairs = [(sibling.aliases["doc.a"], sibling.revision("doc.a")), ("never", "1")]
    assert sibling.ask(ANN, *pairs) == ["VISIBLE", "NOT_VISIBLE"]
    assert sibling.ask(ANN, *pairs, kind=other) == ["UNKNOWN"] * 2


# --- S1, S1a, S3 ---------------------------------------------------------------------------------------------


def test_the_feed_says_how_items_stand(sibling: Any) -> None:
    """One row an item, at its latest place, as it is now; private items never; a deletion is `gone`."""
    sibling.load("doc.a", "doc.b", "doc.c", "doc.d", sibling.item("doc.p", "private"))
    ids = sibling.aliases
    told, cursor = sibling.read()
    assert [row for row in told if row[0] in ids.values()] == [(ids[f"doc.{x}"], False) for x in "abcd"]
    sibling.hook("edit", item="doc.b", body="more")
    sibling.hook("edit", item="doc.p", body="more")
    sibling.hook("move_rung", item="doc.a", rung="private")
    sibling.hook("edit", item="doc.b", body="again")
    sibling.hook("delete", item="doc.c")
    expected = [(ids["doc.a"], True), (ids["doc.b"], False), (ids["doc.c"], True)]
    assert sibling.read(cursor)[0] == expected
    assert sibling.read(cursor)[0] == expected  # reading moves nothing
    assert sibling.read(sibling.read(cursor)[1])[0] == []


def test_cursors_are_of_one_consumer_and_end(sibling: Any) -> None:
    """Forged, another consumer's and expired cursors mean an announce; nobody else's are touched (CON-10, CON-18)."""
    sibling.load("doc.a")
    sibling.hook("add_token", consumer="second", scope="pull", token="other")
    mine, theirs = sibling.read()[1], sibling.read(token="other")[1]
    for forged in (mine[:-1], mine + "x", mine[:-1] + ("0" if mine[-1] != "0" else "1"), "1", "0", "\u00e4"):
        assert sibling.read(forged) is None, forged
    assert sibling.read(mine, token="other") is None
    sibling.hook("expire_cursor", consumer="second")
    assert sibling.read(theirs, token="other") is None
    assert sibling.read(mine) is not None
    sibling.hook("retire_tokens", consumer="second", scope="pull", keep="")
    assert code(sibling.call("ListChanges", {}, "other")) == (401, "unauthenticated")


def test_a_restore_voids_cursors_even_when_the_log_is_as_long_again(sibling: Any) -> None:
    """A place in a log that was put back is not found by its number alone.

    Broken on 2026-11-30 to see red: the nonce of an event not compared in feed.mjs.
    """
    sibling.load("doc.a")
    before = sibling.read()[1]
    second = sibling.hook("edit", item="doc.a", body="two")["revision"]
    cursor = sibling.read()[1]
    sibling.hook("restore_to", point="loaded")
    assert sibling.read(cursor) is None
    sibling.hook("edit", item="doc.a", body="another")
    assert sibling.read(cursor) is None
    assert sibling.read(before)[0] == [(sibling.aliases["doc.a"], False)]
    assert sibling.ask(ANN, (sibling.aliases["doc.a"], second)) == ["AHEAD"]


def test_an_announce_is_of_one_moment(sibling: Any) -> None:
    """Markers at its ends, every page of it once and the same when read again, and the feed goes on from it."""
    aliases = [f"doc.{n}" for n in range(120)]
    sibling.load(*aliases, sibling.item("doc.p", "private"))
    page = first = sibling.call("Announce").json()
    assert first["opening"]["announceId"] == first["announceId"]
    sibling.hook("delete", item="doc.119")
    seen = list(first["items"])
    while "closing" not in page:
        token = page["nextPageToken"]
        page = sibling.call("Announce", {"pageToken": token}).json()
        assert page == sibling.call("Announce", {"pageToken": token}).json()
        assert "opening" not in page
        seen += page["items"]
    assert len(sibling.read()[0]) >= 120
    assert len(seen) == page["closing"]["itemCount"] == 120
    assert {entry["itemId"] for entry in seen} == {sibling.aliases[alias] for alias in aliases}
    assert "nextPageToken" not in page
    assert sibling.read(page["closing"]["cursor"])[0] == [(sibling.aliases["doc.119"], True)]
    assert code(sibling.call("Announce", {"pageToken": token + "x"})) == (400, "failed_precondition")


def test_content_is_of_the_team_rung_only(sibling: Any) -> None:
    """Private, granted, deleted, unknown and overtaken are one and the same `not_found`."""
    granted = sibling.item("doc.g", "granted", granted=[ANN])
    sibling.load("doc.a", "doc.b", sibling.item("doc.p", "private"), granted)
    old = sibling.revision("doc.b")
    sibling.hook("edit", item="doc.b", body="new text")
    reply = sibling.call("GetContent", {"itemId": sibling.aliases["doc.b"]}).json()
    assert (reply["title"], reply["body"]) == ("doc.b", "new text")
    assert reply["link"].startswith("http://")
    sibling.hook("delete", item="doc.a")
    asked = [{"itemId": sibling.aliases[alias]} for alias in ("doc.a", "doc.p", "doc.g")]
    asked += [{"itemId": "never"}, {"itemId": sibling.aliases["doc.b"], "revision": old}]
    replies = [sibling.call("GetContent", body) for body in asked]
    assert {(reply.status_code, reply.content) for reply in replies} == {(404, replies[0].content)}
    assert code(replies[0]) == (404, "not_found")


# --- S6 and runs side by side --------------------------------------------------------------------------------


def test_an_aggregate(sibling: Any) -> None:
    """A sum with its formats; text, an overtaken sheet and a person taken off it have no number."""
    if sibling.tiny:
        assert "CALL_AGGREGATE" not in sibling.call("Describe").json()["calls"]
        return
    cells = [
        {"row": 1, "column": 1, "text": "Line"},
        {"row": 1, "column": 2, "value": 1200.5, "format": "€#,##0.00"},
        {"row": 1, "column": 3, "value": 2, "format": "General"},
    ]
    sibling.load(sibling.item("sheet.a", removed=[BEN], tabs=[{"name": "P&L", "cells": cells}]))
    at = {"itemId": sibling.aliases["sheet.a"], "tab": "P&L", "row": 1, "revision": sibling.revision("sheet.a")}
    shown = sibling.call("GetContent", {"itemId": at["itemId"]}).json()["tabs"][0]["cells"]
    assert [(cell["display"], cell["formatCode"]) for cell in shown][1:] == [
        ("€1,200.50", "€#,##0.00"),
        ("2", "General"),
    ]

    def compute(*columns: int, person: str = ANN, function: str = "SUM") -> Any:
        operands = [{**at, "column": column} for column in columns]
        body = {"subject": sibling.subject(person), "function": f"AGGREGATE_FUNCTION_{function}", "cells": operands}
        return sibling.call("Aggregate", body)

    assert compute(2, 3).json() == {
        "outcome": "AGGREGATE_OUTCOME_VALUE",
        "value": 1202.5,
        "display": "€1,202.50",
        "formatCode": "€#,##0.00",
        "operandFormatCodes": ["€#,##0.00", "General"],
    }
    assert compute(2, 3, function="AVERAGE").json()["value"] == 601.25
    assert compute(2, 3, function="COUNT").json()["display"] == "2"
    assert compute(2, person=BEN).json() == {"outcome": "AGGREGATE_OUTCOME_NOT_VISIBLE"}
    assert compute(2, 1).json() == {"outcome": "AGGREGATE_OUTCOME_NON_NUMERIC", "cell": {**at, "column": 1}}
    assert code(compute()) == code(compute(*[2] * 65)) == (400, "invalid_argument")
    assert code(compute(2, function="MEDIAN")) == code(compute(2, function="UNSPECIFIED")) == (400, "invalid_argument")
    change = {"tab": "P&L", "row": 1, "column": 3, "value": 5}
    newer = sibling.hook("edit", item="sheet.a", cells=[change])["revision"]
    assert compute(2).json() == {"outcome": "AGGREGATE_OUTCOME_STALE", "cell": {**at, "column": 2}}
    at["revision"] = newer
    assert compute(2, 3).json()["value"] == 1205.5
    sibling.hook("partial_restore", item="sheet.a", steps=1)
    assert compute(3).json() == {"outcome": "AGGREGATE_OUTCOME_AHEAD", "cell": {**at, "column": 3}}


def test_runs_do_not_touch_one_another(sibling: Any) -> None:
    """What stands under another prefix stays, through a load, a restore and a teardown; a cursor that has seen what a
    restore took back is void, also where another run's event is the one it stands behind."""
    sibling.load("doc.a", prefix="other")
    theirs = sibling.aliases["doc.a"]
    sibling.load("doc.a")
    cursor = sibling.read()[1]
    sibling.hook("edit", item="doc.a", body="mine")
    sibling.hook("edit", item="doc.a", body="theirs", prefix="other")
    later = sibling.read(cursor)[1]
    assert sibling.read(later)[0] == []
    sibling.hook("restore_to", point="loaded")
    assert sibling.read(later) is None
    body = {"itemId": theirs}
    assert sibling.call("GetContent", body).json()["body"] == "theirs"
    assert sibling.read(cursor)[0] == [(theirs, False)]
    sibling.hook("teardown")
    assert sibling.call("GetContent", body).json()["body"] == "theirs"
    assert sibling.aliases["doc.a"] not in str(sibling.call("Announce").json())
    sibling.hook("teardown", prefix="other")
    assert sibling.call("Announce").json()["closing"].get("itemCount", 0) == 0
