"""The re-announce (S1a): what a restore of the sibling does to what we hold, and what a failed announce must not do."""

import dataclasses
from typing import Any

import pytest
from starlette.responses import Response

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_ingest.siblings.state import History, SourceState

ALL = {"body-one", "body-two", "body-three", "body-four", "body-five"}


def reply(message: Any) -> Response:
    """A message as the sibling would send it."""
    return Response(message.SerializeToString(), media_type="application/proto")


def announce(
    *items: str, opening: bool = False, name: str = "a1", count: int | None = None, cursor: str = "cur", token: str = ""
) -> Response:
    """One page of S1a."""
    message = pb.AnnounceResponse(announce_id=name, next_page_token=token)
    message.items.extend(pb.AnnouncedItem(item_id=item, revision="1") for item in items)
    if opening:
        message.opening.announce_id = name
    if count is not None:
        message.closing.item_count, message.closing.cursor = count, cursor
    return reply(message)


LOGIN = Response(b"<html>please sign in</html>", media_type="text/html")
DOUBLED = pb.AnnounceResponse(announce_id="a1", closing={"item_count": 2, "cursor": "c"})
DOUBLED.items.extend([pb.AnnouncedItem(item_id="x", revision="1"), pb.AnnouncedItem(item_id="x", revision="2")])

CUT = {
    "page 2 answers 503": [announce("x", opening=True, token="t"), Response(b"", 503)],
    "page 2 answers a login page with 200": [announce("x", opening=True, token="t"), LOGIN],
    "page 2 is garbage": [announce("x", opening=True, token="t"), Response(b"\xff", media_type="application/proto")],
    "the count is too high": [announce("x", opening=True, count=2)],
    "the count is too low": [announce("x", "y", opening=True, count=1)],
    "the stream ends without a closing marker": [announce("x", opening=True)],
    "page 2 repeats page 1": [announce("x", opening=True, token="t"), announce("x", count=2)],
    "page 2 is of another announce": [announce("x", opening=True, token="t"), announce("y", name="a2", count=2)],
    "page 2 opens again": [announce("x", opening=True, token="t"), announce("y", opening=True, count=2)],
    "there is no opening marker": [announce("x", count=1)],
    "there is no cursor": [announce("x", opening=True, count=1, cursor="")],
    "it goes on behind its end": [announce("x", opening=True, count=1, token="t"), announce("y", count=2)],
    "the token does not advance": [announce("x", opening=True, token="t"), announce("y", token="t")],
    "an item is named twice": [announce(opening=True, token="t"), reply(DOUBLED)],
    "an item id is empty": [announce("", opening=True, count=1)],
    "an item id has a NUL": [announce("a\0b", opening=True, count=1)],
}


@pytest.mark.parametrize("pages", CUT.values(), ids=CUT.keys())
async def test_a_failed_announce_retires_nothing(rig: Any, order: Any, pages: list[Response]) -> None:
    """F08, CON-11, G07, G27: nothing retired, the cursor not stored, the source says so and stays out of the ranking.

    Broken on 2026-11-30 to see red: an announce accepted at the stream's end; the count not compared.
    """
    await rig.pull()
    before = await rig.source()
    assert rig.search.bodies() == ALL
    rig.answer = lambda method, count: pages[min(count, len(pages) - 1)] if method == "Announce" else None
    assert await rig.pull(order(rig)) == []
    after = await rig.source()
    assert rig.search.bodies() == ALL
    assert rig.search.retired == []
    assert after.cursor == before.cursor
    assert (after.state, after.failure) == (SourceState.RECONCILING, "unavailable")
    assert rig.search.sources[-1].state is SourceState.RECONCILING
    # And it is tried again without another order, until it is whole.
    rig.answer = lambda method, count: None
    await rig.pull()
    assert (await rig.source()).state is SourceState.CURRENT
    assert rig.search.bodies() == ALL


async def test_a_complete_announce_settles_a_restore(rig: Any, order: Any) -> None:
    """G27, AUT-05 to AUT-09: out of the ranking first; a lost item retired; a rewound one taken at its older revision;
    then back in the ranking.

    Broken on 2026-11-30 to see red: omitted items not retired; only new items fetched (the larger revision kept);
    the source not marked before the announce.
    """
    await rig.pull()
    rig.do("edit", item="one", body="newer")
    await rig.pull()
    assert "newer" in rig.search.bodies()
    lost = rig.id("two")
    rig.do("partial_restore", item="one")
    rig.do("partial_restore", item="two", lose=True)
    rig.search.sources.clear()
    wanted = order(rig)
    assert await rig.pull(wanted) == [wanted]
    assert rig.search.retired == [lost]
    assert rig.search.bodies() == ALL - {"body-two"}
    assert rig.search.revision(rig.id("one")) == rig.sibling.store.team_content(rig.id("one"))[0]
    assert [source.state for source in rig.search.sources] == [SourceState.RECONCILING, SourceState.CURRENT]
    calls = rig.calls("GetContent")
    await rig.pull(order(rig))
    assert rig.calls("GetContent") == calls  # what agrees is not fetched again


async def test_an_announce_of_nothing_retires_everything(rig: Any, order: Any) -> None:
    """A true empty: opened, closed, counted nought."""
    await rig.pull()
    rig.do("load_world", world={"company": "Test", "people": {}, "docs": [], "sheets": [], "calendar": []})
    assert len(await rig.pull(order(rig))) == 1
    assert rig.search.documents == {}


@pytest.mark.parametrize("how", ["expired", "forged"])
async def test_a_cursor_that_is_not_known_leads_to_an_announce(rig: Any, how: str) -> None:
    """CON-10: past its TTL, rewound or forged: a full S1a in the same pull, and on from its cursor."""
    await rig.pull()
    if how == "expired":
        rig.do("expire_cursor")
    else:
        await rig.store.put(dataclasses.replace(await rig.source(), cursor="forged"))
    rig.do("edit", item="one", body="newer")
    await rig.pull()
    assert rig.calls("Announce") > 0
    assert "newer" in rig.search.bodies()
    assert rig.search.retired == []
    announced = rig.calls("Announce")
    rig.do("edit", item="two", body="newest")
    await rig.pull()
    assert rig.calls("Announce") == announced
    assert "newest" in rig.search.bodies()


async def test_a_first_contact_that_must_announce_is_not_reconciling(rig: Any) -> None:
    """A sibling without a feed from the start: read through S1a, and never taken out of a ranking it is not in."""
    rig.answer = lambda method, count: (
        reply(pb.ListChangesResponse(reannounce_required=True)) if method == "ListChanges" else None
    )
    await rig.pull()
    assert rig.search.bodies() == ALL
    # Said as never read before, then as current.
    assert [(s.state, s.as_of is None) for s in rig.search.sources] == [
        (SourceState.AS_OF, True),
        (SourceState.CURRENT, False),
    ]


async def test_nothing_that_could_be_fetched_keeps_the_source_out(rig: Any, order: Any) -> None:
    """S3 down during an announce: nothing retired, reconciling, and settled by a later pull."""
    await rig.pull()
    for alias in ("one", "two"):
        rig.do("edit", item=alias, body=f"newer {alias}")
    lost = rig.id("three")
    rig.do("partial_restore", item="three", lose=True)
    rig.do("fault", kind="status", call="GetContent")
    assert await rig.pull(order(rig)) == []
    assert rig.search.retired == []
    assert (await rig.source()).state is SourceState.RECONCILING
    rig.do("fault", kind="none")
    await rig.pull()
    assert rig.search.retired == [lost]
    assert (await rig.source()).state is SourceState.CURRENT


# --- our own restore ------------------------------------------------------------------------------------------------


FIRST, SECOND = History("first", 10), History("second", 10)


@pytest.mark.parametrize("other", [SECOND, History("first", 9)], ids=["another lineage", "a lower number"])
async def test_a_corpus_that_was_put_back_is_announced_anew(rig: Any, other: History) -> None:
    """ING-27: search lost two items to an old backup, the cursor stands at the end: another lineage, or a number below
    one that was acknowledged, brings them back.

    Broken to see it red: comparing no lineage; comparing no number; taking a failed announce for done.
    """
    rig.search.acknowledged = 10
    await rig.puller.pull([], FIRST)
    assert rig.search.bodies() == ALL
    for item_id in list(rig.search.documents)[:2]:
        del rig.search.documents[item_id]
    await rig.puller.pull([], FIRST)
    assert len(rig.search.bodies()) == 3, "the feed alone does not repeat what it said"
    rig.answer = lambda method, count: Response(b"", 503) if method == "Announce" else None
    rig.search.acknowledged = other.last_number
    await rig.puller.pull([], other)
    assert (await rig.source()).state is SourceState.RECONCILING
    rig.answer = lambda method, count: None
    await rig.puller.pull([], other)
    assert rig.search.bodies() == ALL
    source = await rig.source()
    assert (source.state, source.lineage, source.acknowledged) == (
        SourceState.CURRENT,
        other.lineage,
        other.last_number,
    )
    announces = rig.calls("Announce")
    await rig.puller.pull([], other)
    await rig.puller.pull([], None)
    assert rig.calls("Announce") == announces, "and once is enough, also where search does not say"


async def test_a_cursor_of_an_unknown_history_is_not_trusted(rig: Any) -> None:
    """Search could not say its history while the feed was read: what it says next may be that of an older corpus."""
    await rig.puller.pull([], None)
    assert (await rig.source()).cursor
    await rig.puller.pull([], FIRST)
    assert rig.calls("Announce") > 0
    announces = rig.calls("Announce")
    await rig.puller.pull([], FIRST)
    assert rig.calls("Announce") == announces
