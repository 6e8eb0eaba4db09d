"""Well-formed lies: verdicts about other pairs, announces that do not add up, feeds without end, content of another."""

import asyncio
from typing import Any

import pytest
from conformance.hostile.misdeeds import ENDLESS, SILENT
from conformance.hostile.wild import ITEMS, Act, Wild, Wire, client_of, honest, honest_message, http, running

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_authz.ask.sibling_client import SiblingAsker
from memoria_contract.types import MAX_PAIRS, ItemId, Pair, Revision, Subject, SubjectKind, Verdict
from memoria_ingest.siblings import announce, puller
from memoria_ingest.siblings.rounds import Rounds
from memoria_ingest.siblings.state import History, SourceState

ANN = Subject(SubjectKind.ADDRESS, "ann@example.test")


def telling(make: Any) -> Act:
    """A sibling that answers with the message, or the bytes of one, that `make(request body)` returns."""

    async def act(wire: Wire, method: str, body: bytes) -> bool:
        told = make(body)
        raw = told if isinstance(told, bytes) else told.SerializeToString()
        await wire.say(http("200 OK", "Content-Type: application/proto", body=raw))
        return True

    return act


# --- S2 -------------------------------------------------------------------------------------------------------------

PAIRS = [Pair(ItemId(item), Revision(revision)) for item, revision in (("é", "7"), ("B", "07"), ("c", "x y"))]


def row(item: str, revision: str, verdict: int = pb.VERDICT_VISIBLE) -> bytes:
    """One verdict, as it stands in a reply; `verdict` may be any number."""
    inner = pb.ItemVerdict(item_id=item, revision=revision).SerializeToString()
    number = verdict & (1 << 64) - 1
    varint = bytearray()
    while number > 127:
        varint.append(number & 127 | 128)
        number >>= 7
    inner += b"\x18" + bytes(varint) + bytes([number])
    return b"\x0a" + bytes([len(inner)]) + inner


FIRST, SECOND, THIRD = (row(pair.item_id, pair.revision) for pair in PAIRS)

VERDICT_LIES = {
    "nothing": b"",
    "one short": FIRST + SECOND,
    "one doubled": FIRST + SECOND + THIRD + FIRST,
    "one doubled, one short": FIRST + SECOND + SECOND,
    "one doubled with another verdict": FIRST + SECOND + THIRD + row("é", "7", pb.VERDICT_NOT_VISIBLE),
    "one foreign besides": FIRST + SECOND + THIRD + row("d", "7"),
    "one foreign in its place": FIRST + SECOND + row("d", "x y"),
    "another revision": FIRST + SECOND + row("c", "8"),
    "no revision": FIRST + SECOND + row("c", ""),
    "a revision that is the same number": FIRST + row("B", "7") + THIRD,
    "a revision with a space behind it": FIRST + SECOND + row("c", "x y "),
    "an id that looks the same": row("e\u0301", "7") + SECOND + THIRD,
    "an id in lower case": FIRST + row("b", "07") + THIRD,
    "an id with a NUL behind it": FIRST + SECOND + row("c\0", "x y"),
    "id and revision swapped": FIRST + row("07", "B") + THIRD,
    "a sixth verdict": FIRST + SECOND + row("c", "x y", 6),
    "a verdict below nought": FIRST + SECOND + row("c", "x y", -1),
    "a verdict that is one modulo 2^32": FIRST + SECOND + row("c", "x y", (1 << 32) + 6),
    "the unspecified verdict": FIRST + SECOND + row("c", "x y", 0),
    "no verdict": FIRST
    + SECOND
    + pb.AuthorizeResponse(verdicts=[{"item_id": "c", "revision": "x y"}]).SerializeToString(),
    "a verdict as text": FIRST + SECOND + b"\x0a\x0d\x0a\x01c\x12\x03x y\x1a\x031\x00\x00",
}


@pytest.mark.parametrize("answer", VERDICT_LIES.values(), ids=VERDICT_LIES.keys())
async def test_one_wrong_verdict_makes_the_whole_call_unknown(answer: bytes) -> None:
    """G06, CON-08, over the wire: nothing of a reply that is wrong about one pair is believed about the others.

    Broken to see red: a doubled pair let through; the revision left out of what is compared; a verdict that is not
    known left out.
    """
    async with (
        running(Wild({"Authorize": telling(lambda body: answer)})) as wild,
        client_of(wild, seconds=10) as client,
    ):
        asker = SiblingAsker("docs", client)
        assert await asker.ask(ANN, PAIRS) == dict.fromkeys(PAIRS, Verdict.UNKNOWN)
        wild.acts["Authorize"] = telling(lambda body: THIRD + b"\xfa\x3f\x01x" + FIRST + SECOND)
        assert await asker.ask(ANN, PAIRS) == dict.fromkeys(PAIRS, Verdict.VISIBLE)  # any order, unknown fields and all


async def test_the_answer_to_one_part_is_none_to_the_other() -> None:
    """Over 256 pairs there are two calls at once: an answer to both in each is foreign in each, and so UNKNOWN.

    Broken to see red: what is foreign left out instead of spoiling the call.
    """
    pairs = [Pair(ItemId(f"i{number}"), Revision("1")) for number in range(MAX_PAIRS + 1)]
    everything = b"".join(row(pair.item_id, pair.revision) for pair in pairs)
    async with running(Wild({"Authorize": telling(lambda body: everything)})) as wild:
        async with client_of(wild, seconds=10) as client:
            assert set((await SiblingAsker("docs", client).ask(ANN, pairs)).values()) == {Verdict.UNKNOWN}
            assert len(wild.asked) == 2


# --- S1a ------------------------------------------------------------------------------------------------------------


def page(*items: str, opens: bool = False, name: str = "n1", closes: int | None = None, token: str = "") -> Any:
    """One page of an announce; `closes` is its count."""
    made = pb.AnnounceResponse(announce_id=name, next_page_token=token)
    made.items.extend(pb.AnnouncedItem(item_id=item, revision="1") for item in items)
    if opens:
        made.opening.announce_id = name
    if closes is not None:
        made.closing.item_count, made.closing.cursor = closes, "lie"
    return made


def closing_with(cursor: str) -> Any:
    """A last page that is in order but for its cursor."""
    made = page(closes=0, opens=True)
    made.closing.cursor = cursor
    return made


def steps(*pages: Any) -> Any:
    """The pages by their number, the token of page n being its number; the last again and again."""
    return lambda body: pages[min(int(pb.AnnounceRequest.FromString(body).page_token or 0), len(pages) - 1)]


def counting(body: bytes) -> Any:
    """Pages without end, each with a token of its own and nothing on it."""
    number = int(pb.AnnounceRequest.FromString(body).page_token or 0)
    return page(opens=not number, token=str(number + 1))


def filling(body: bytes) -> Any:
    """Pages without end, each full of new items."""
    number = int(pb.AnnounceRequest.FromString(body).page_token or 0)
    return page(*(f"{number}-{row}" for row in range(500)), opens=not number, token=str(number + 1))


ANNOUNCE_LIES = {
    "pages in a circle": steps(page("a", opens=True, token="1"), page(token="2"), page(token="1")),
    "back to the first page": steps(page("a", opens=True, token="1"), page(token="0"), page()),
    "empty pages without end": counting,
    "full pages without end": filling,
    "a count of 2^32 - 1": steps(page("a", opens=True, closes=2**32 - 1)),
    "a count of nought": steps(page("a", opens=True, closes=0)),
    "closed on the first page, with more behind": steps(page(opens=True, closes=0, token="1"), page("b", closes=1)),
    "closed and no items, by one who never opened": steps(page(closes=0)),
    "opened without a name": steps(page(opens=True, name="", closes=0)),
    "opened under one name, closed under none": steps(page("a", opens=True, token="1"), page(name="", closes=1)),
    "opened under one name, closed in its upper case": steps(page(opens=True, token="1"), page(name="N1", closes=0)),
    "opened again on the last page": steps(page("a", opens=True, token="1"), page(opens=True, closes=1)),
    "two announces, page by page": steps(page("a", opens=True, token="1"), page("b", name="n2", closes=2)),
    "the same item on every page": steps(page("a", opens=True, token="1"), page("a", token="2"), page("a", closes=3)),
    "one page twice, counted once": steps(page("a", opens=True, token="1"), page("a", closes=1)),
    "an id of a megabyte": steps(page("a" * 1_000_000, opens=True, closes=1)),
    "a token of a megabyte": steps(page(opens=True, token="1" * 1_000_000)),
    "a cursor of a megabyte": steps(closing_with("c" * 1_000_000)),
    "no cursor": steps(closing_with("")),
    "a million empty items": lambda body: page(opens=True).SerializeToString() + b"\x1a\x00" * 1_000_000,
}


MOST_PAGES = {"full pages without end": 5, "a token of a megabyte": 1, "pages in a circle": 3}


@pytest.mark.parametrize("lie", ANNOUNCE_LIES)
async def test_an_announce_that_does_not_add_up_retires_nothing(
    make_rig: Any, monkeypatch: pytest.MonkeyPatch, lie: str
) -> None:
    """G27, CON-11: nothing retired, nothing stored, the cursor as it was, and the source out of the ranking until an
    announce is whole. What does not end is given up soon.

    Broken to see red: the tokens seen not kept (ten thousand pages were asked for); the count not compared; the bounds
    of a cursor and of all items taken out.
    """
    monkeypatch.setattr(announce, "_MAX_PAGES", 20)
    monkeypatch.setattr(announce, "_MAX_ITEMS", 2_000)
    rig = await make_rig()
    await rig.pull()
    cursor, asked = (await rig.source()).cursor, len(rig.wild.asked)
    rig.wild.acts["Announce"] = telling(ANNOUNCE_LIES[lie])
    async with asyncio.timeout(30):
        await rig.pull(reannounce=True)
    assert rig.search.revisions() == ITEMS
    assert rig.search.retired == []
    source = await rig.source()
    assert (source.state, source.failure, source.cursor) == (SourceState.RECONCILING, "unavailable", cursor)
    assert set(rig.wild.asked[asked:]) == {"Announce"}
    assert len(rig.wild.asked) - asked <= MOST_PAGES.get(lie, 20)
    rig.wild.acts.clear()
    await rig.pull()
    assert ((await rig.source()).state, rig.search.revisions()) == (SourceState.CURRENT, ITEMS)


# --- S1 -------------------------------------------------------------------------------------------------------------


def rows(*pairs: tuple[str, str], cursor: str = "c2", more: bool = False, gone: bool = False) -> Any:
    """One page of the feed."""
    changes = [pb.ChangeRow(item_id=item, revision=revision, gone=gone) for item, revision in pairs]
    return pb.ListChangesResponse(rows=changes, next_cursor=cursor, has_more=more)


FEED_LIES = {
    "more behind the same cursor": lambda body: rows(cursor="c1", more=True),
    "more behind an older cursor": lambda body: rows(
        cursor={"c1": "x", "x": "c1"}[pb.ListChangesRequest.FromString(body).cursor], more=True
    ),
    "more behind no cursor": lambda body: rows(cursor="", more=True),
    "new cursors without end": lambda body: rows(cursor=pb.ListChangesRequest.FromString(body).cursor + "x", more=True),
    "a cursor of a megabyte": lambda body: rows(cursor="c" * 1_000_000),
    "a million empty rows": lambda body: rows().SerializeToString() + b"\x0a\x00" * 1_000_000,
    "twenty thousand rows and one": lambda body: rows(*[("a", "1")] * 20_001),
}


MOST_ROUNDS = {"more behind the same cursor": 1, "more behind an older cursor": 2}


@pytest.mark.parametrize("lie", FEED_LIES)
async def test_a_feed_without_end_or_sense_is_given_up(
    make_rig: Any, monkeypatch: pytest.MonkeyPatch, lie: str
) -> None:
    """ING-07: given up after its bound, said, and nothing that is held touched.

    Broken to see red: the cursors seen not kept; `_MAX_PAGES` and `MAX_ROWS` taken out.
    """
    monkeypatch.setattr(puller, "_MAX_PAGES", 20)
    rig = await make_rig()
    await rig.pull()
    before = len(rig.wild.asked)
    rig.wild.acts["ListChanges"] = telling(FEED_LIES[lie])
    async with asyncio.timeout(30):
        await rig.pull()
    assert (await rig.source()).failure == "unavailable"
    assert len(rig.wild.asked) - before <= MOST_ROUNDS.get(lie, 20)
    assert (rig.search.revisions(), rig.search.retired) == (ITEMS, [])
    rig.wild.acts.clear()
    await rig.pull()
    assert (await rig.source()).state is SourceState.CURRENT


async def test_rows_of_nothing_hide_no_row_behind_them(make_rig: Any) -> None:
    """Ids that are empty, gigantic or have a NUL, revisions likewise, between two that are in order.

    Broken to see red: `_usable` made to raise.
    """
    odd = [("", "1"), ("x" * 1_000_000, "1"), ("a\0b", "1"), ("a", "1\0"), ("b", "r" * 2_000), ("", "")]
    rig = await make_rig()
    await rig.pull()
    rig.wild.acts["ListChanges"] = telling(lambda body: rows(("d", "1"), *odd, ("e", "1")))
    await rig.pull()
    assert set(rig.search.revisions()) == {*ITEMS, "d", "e"}
    rig.wild.acts["ListChanges"] = telling(lambda body: rows(("d", "1"), *odd, ("e", "1"), cursor="c3", gone=True))
    await rig.pull()
    assert rig.search.revisions() == ITEMS
    assert (await rig.source()).state is SourceState.CURRENT


# --- S3 -------------------------------------------------------------------------------------------------------------

CONTENT_LIES = {
    "no revision": {"revision": ""},
    "a revision of a megabyte": {"revision": "r" * 1_000_000},
    "a revision with a NUL": {"revision": "1\0"},
    "a hundred thousand tabs": {"revision": "2", "tabs": [pb.SheetTab()] * 100_000},
    "a million empty cells": {"revision": "2", "tabs": [pb.SheetTab(cells=[pb.Cell()] * 1_000_000)]},
}


@pytest.mark.parametrize("lie", CONTENT_LIES.values(), ids=CONTENT_LIES.keys())
async def test_content_without_sense_is_owed_and_not_stored(make_rig: Any, lie: dict[str, Any]) -> None:
    """What is held of the item stays until the sibling makes sense again. Broken to see red: each bound taken out."""
    rig = await make_rig()
    await rig.pull()
    rig.wild.acts["ListChanges"] = telling(lambda body: rows(("a", "2")))
    rig.wild.acts["GetContent"] = telling(lambda body: pb.GetContentResponse(title="lie", body="lie", **lie))
    async with asyncio.timeout(30):
        await rig.pull()
    assert (rig.search.revisions(), await rig.owed()) == (ITEMS, 1)
    assert "lie" not in rig.search.texts()
    del rig.wild.acts["GetContent"]
    await rig.pull()
    assert await rig.owed() == 0


async def test_content_of_another_revision_is_held_under_that_revision(make_rig: Any) -> None:
    """Asked for 2, told 9: S2 will be asked about 9, which is what we hold. Broken to see red: held under 2."""
    rig = await make_rig()
    await rig.pull()
    rig.wild.acts["ListChanges"] = telling(lambda body: rows(("a", "2")))
    rig.wild.acts["GetContent"] = telling(lambda body: pb.GetContentResponse(revision="9", body="nine"))
    await rig.pull()
    assert rig.search.revisions()["a"] == "9"
    rig.wild.acts["Announce"] = telling(lambda body: honest_message("Announce", body))  # which says 1
    rig.wild.acts["GetContent"] = honest
    await rig.pull(reannounce=True)
    assert rig.search.revisions() == ITEMS


async def test_a_link_or_a_date_that_is_none_costs_nothing_but_itself(make_rig: Any) -> None:
    """Links that only look like our app's, dates outside all calendars: the text comes in without them.

    Broken to see red: `owns` made a test of how the link begins with the host.
    """
    rig = await make_rig()
    home = f"http://demo.docs.localhost:{rig.wild.port}"
    links = [
        *("http://demo.evil.localhost/", "//demo.docs.localhost/", "/x", "javascript:alert(1)", "data:text/html,x"),
        *(f"{home}@evil.example/", f"{home}.evil.example/", f"{home}0/", f"{home}\\@evil.example", f" {home}/"),
        *(home.replace("http", "https") + "/", home.replace("demo", "other") + "/", home.upper() + "/", f"{home}/\n"),
    ]
    for number, link in enumerate(links):
        told = pb.GetContentResponse(revision=f"r{number}", body=f"body-{number}", link=link)
        told.date.seconds, told.date.nanos = 1 << 62, -1
        rig.wild.acts["ListChanges"] = telling(
            lambda body, number=number: rows(("a", f"r{number}"), cursor=f"c{number + 5}")
        )
        rig.wild.acts["GetContent"] = telling(lambda body, told=told: told)
        await rig.pull()
        document = rig.search.documents[ItemId("a")]
        assert (document.link, document.date, rig.search.revisions()["a"]) == ("", None, f"r{number}")


# --- a round --------------------------------------------------------------------------------------------------------


class Orders:
    """No orders."""

    async def take(self) -> list[Any]:
        """None."""
        return []

    async def complete(self, orders: list[Any]) -> None:
        """Nothing to complete."""

    async def report(self, app: str, counts: Any, lineage: str) -> None:
        """Nobody counts."""


ROUND = {
    name: act for name, act in (SILENT | ENDLESS).items() if name in {"silence", "dripping body", "an endless body"}
}


@pytest.mark.parametrize("misdeed", ROUND.values(), ids=ROUND.keys())
async def test_in_one_round_the_others_are_read_to_the_end(make_rig: Any, misdeed: Act) -> None:
    """One of three apps holds on to its pull: the two others are current meanwhile, and so is it, once it is honest.

    Broken to see red: one lock around all pulls.
    """
    rigs = {app: await make_rig(app) for app in ("docs", "calendar", "sheets")}
    rigs["docs"].wild.all(misdeed)
    rigs["docs"].client.seconds = 60
    orders: Any = Orders()

    async def history() -> History:
        return History("a", 1)

    rounds = Rounds([rig.puller for rig in rigs.values()], orders, history, after=0)
    async with asyncio.timeout(20):
        rounds.nudge()
        await asyncio.gather(rigs["calendar"].search.current.wait(), rigs["sheets"].search.current.wait())
        await rounds.close()
        assert [rig.search.revisions() for rig in rigs.values()] == [{}, ITEMS, ITEMS]
        rigs["docs"].wild.acts.clear()
        await rigs["docs"].pull()
        assert rigs["docs"].search.revisions() == ITEMS
