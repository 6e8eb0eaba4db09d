"""The feed (S1) and content (S3): what comes in, what goes, and what a failure leaves alone."""

from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from starlette.responses import Response

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_chassis import log
from memoria_chassis.errors import Kind
from memoria_contract.limits import PAGE_ROWS, SHEET_CELLS, SHEET_TABS
from memoria_contract.types import Author
from memoria_ingest.orders_client import FetchCounts
from memoria_ingest.siblings.state import SourceState

PROTO = "application/proto"
ALL = {"body-one", "body-two", "body-three", "body-four", "body-five"}


def reply(message: Any) -> Response:
    """A message as the sibling would send it."""
    return Response(message.SerializeToString(), media_type=PROTO)


def page(*rows: tuple[str, str, bool], cursor: str, more: bool = False) -> Response:
    """A page of S1."""
    return reply(
        pb.ListChangesResponse(
            rows=[pb.ChangeRow(item_id=i, revision=r, gone=g) for i, r, g in rows], next_cursor=cursor, has_more=more
        )
    )


# --- failures delete nothing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["status", "garbage", "redirect", "close"])
async def test_a_failed_feed_deletes_nothing_and_is_said(rig: Any, fault: str) -> None:
    """G07, ING-07, RUL-11: 503, garbage, a redirect, a cut: all is kept, the source is AS_OF and says so.

    Broken on 2026-11-30 to see red: the failure let through instead of written to the source; `as_of` moved on.
    """
    await rig.pull()
    before = await rig.source()
    assert rig.search.bodies() == ALL
    rig.do("edit", item="one", body="newer")
    rig.do("delete", item="two")
    rig.do("fault", kind=fault, call="ListChanges")
    rig.puller._clock.advance(60)  # or `as_of` could not be seen to move
    await rig.pull()
    after = await rig.source()
    assert rig.search.bodies() == ALL
    assert rig.search.retired == []
    assert (after.state, after.cursor, after.as_of) == (SourceState.AS_OF, before.cursor, before.as_of)
    assert after.failure in {"unavailable", "deadline_exceeded"}
    rig.do("fault", kind="none")
    await rig.pull()
    assert rig.search.bodies() == ALL - {"body-one", "body-two"} | {"newer"}
    assert ((await rig.source()).state, (await rig.source()).failure) == (SourceState.CURRENT, "")


async def test_a_true_empty_is_recognised(rig: Any) -> None:
    """G07's other half: a page without rows is a success, and moves `as_of`."""
    await rig.pull()
    rig.puller._clock.advance(60)
    await rig.pull()
    assert (await rig.source()).state is SourceState.CURRENT
    assert (await rig.source()).as_of == rig.puller._clock.now()
    assert rig.search.bodies() == ALL


async def test_an_s3_404_is_no_deletion(rig: Any) -> None:
    """An item that S3 does not show is kept as it was, and nothing is owed for it; the fetch breaker hears of it."""
    await rig.pull()
    assert rig.puller.fetches == FetchCounts(fetched=len(ALL))
    rig.do("edit", item="one", body="newer")
    rig.answer = lambda method, count: (
        Response(b'{"code":"not_found"}', 404, media_type="application/json") if method == "GetContent" else None
    )
    await rig.pull()
    assert rig.search.bodies() == ALL
    assert await rig.owed() == 0
    assert (await rig.source()).state is SourceState.CURRENT
    assert rig.puller.fetches == FetchCounts(fetched=len(ALL), not_found=1)


async def test_an_s3_failure_is_owed_and_fetched_the_next_time(rig: Any) -> None:
    """One item's S3 fails: the others come, the feed goes on, the item counts as missed and comes with the next pull.

    Broken on 2026-11-30 to see red: `owe` left out.
    """
    bad = rig.id("one")
    rig.answer = lambda method, count: (
        Response(b"", 500) if method == "GetContent" and bad.encode() in rig.seen[-1][1] else None
    )
    await rig.pull()
    assert rig.search.bodies() == ALL - {"body-one"}
    assert await rig.owed() == 1
    assert rig.puller.fetches == FetchCounts(fetched=len(ALL) - 1)  # what is no answer is counted nowhere (RET-12)
    rig.answer = lambda method, count: None
    await rig.pull()
    assert rig.search.bodies() == ALL
    assert await rig.owed() == 0


async def test_the_cursor_does_not_pass_a_page_of_which_nothing_came(rig: Any) -> None:
    """S3 is down: the cursor stays before the page, the source says so, the next pull has it all.

    Broken on 2026-11-30 to see red: the raise left out of `_fetch_or_owe`.
    """
    rig.do("fault", kind="status", call="GetContent")
    await rig.pull()
    assert (await rig.source()).cursor == ""
    assert (await rig.source()).failure == "unavailable"
    rig.do("fault", kind="none")
    await rig.pull()
    assert rig.search.bodies() == ALL


async def test_a_page_that_never_comes_is_passed_at_the_third_try(rig: Any) -> None:
    """F12's kind: two items whose S3 is broken for good do not keep the three behind them from us."""
    bad = [rig.id(alias).encode() for alias in ("one", "two")]
    rig.answer = lambda method, count: (
        Response(b"", 500) if method == "GetContent" and any(item in rig.seen[-1][1] for item in bad) else None
    )
    await rig.pull()
    await rig.pull()
    assert rig.search.bodies() == set()
    await rig.pull()
    assert rig.search.bodies() == ALL - {"body-one", "body-two"}
    assert await rig.owed() == 2
    rig.do("edit", item="five", body="newer")
    await rig.pull()  # and what is owed does not stop the feed
    assert "newer" in rig.search.bodies()
    assert (await rig.source()).state is SourceState.PARTIAL  # and said: a search runs with less than there is


async def test_search_away_loses_nothing(rig: Any) -> None:
    """Search cannot be reached: no cursor moves, nothing is raised, and the next pull has it all."""
    rig.search.away = True
    await rig.pull()
    assert (await rig.source()).cursor == ""
    rig.search.away = False
    await rig.pull()
    assert rig.search.bodies() == ALL


async def test_an_unexpected_error_is_said_and_does_not_stick(rig: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug in one item's path costs that item only; one elsewhere leaves the source AS_OF, not the pull dead."""

    def trip(document: Any) -> None:
        if document.title == "Title one":
            raise ZeroDivisionError("canary")

    rig.search.put_hook = trip
    with pytest.raises(ZeroDivisionError):
        trip(type("D", (), {"title": "Title one"}))
    logged: list[dict[str, Any]] = []

    class Logger:
        def warning(self, event: str, **fields: Any) -> None:
            logged.append(log._allow(None, "warning", {"event": event, **fields}))  # type: ignore[arg-type] # a dict

    with monkeypatch.context() as patched:
        patched.setattr(log, "get_logger", Logger)
        await rig.pull()
    assert (await rig.source()).failure == "internal"
    assert [line.get("exception") for line in logged] == ["ZeroDivisionError"]
    assert "canary" not in str(logged)  # type and place, never the message (TRU-06). Broken to see red: `str(error)`
    rig.search.put_hook = lambda document: None
    await rig.pull()
    assert rig.search.bodies() == ALL


# --- what comes and goes ----------------------------------------------------------------------------------------


async def test_first_contact_reads_everything_on_the_team_rung(rig: Any) -> None:
    """ING-01, CON-12: the five team items with their facts; the granted one never, and S3 refuses it when asked."""
    await rig.pull()
    assert rig.search.bodies() == ALL
    document = rig.search.documents[rig.id("one")]
    assert (document.title, document.trail, document.author) == ("Title one", ("A", "B"), Author.HUMAN)
    assert document.chunks[0].trail == ("Head",)
    assert document.link.startswith("http://demo.docs.localhost:")
    assert rig.search.documents[rig.id("two")].author is Author.MACHINE
    done = await rig.pull()
    assert done == []
    granted = rig.id("granted")
    assert granted not in rig.search.documents


async def test_a_granted_item_asked_for_by_name_never_enters(rig: Any, order: Any) -> None:
    """G25: a refetch order for an item that is only granted: 404, nothing stored, the order done."""
    await rig.pull()
    wanted = order(rig, rig.id("granted"))
    assert await rig.pull(wanted) == [wanted]
    assert rig.search.bodies() == ALL


async def test_gone_deletes(rig: Any) -> None:
    """ING-02: deleted, or moved off the team rung: retired, not downgraded.

    Broken on 2026-11-30 to see red: `gone` rows skipped.
    """
    await rig.pull()
    gone = {rig.id("one"), rig.id("two")}
    rig.do("delete", item="one")
    rig.do("move_rung", item="two", rung="granted")
    await rig.pull()
    assert set(rig.search.retired) == gone
    assert rig.search.bodies() == ALL - {"body-one", "body-two"}
    rig.do("move_rung", item="two", rung="team")
    await rig.pull()
    assert "body-two" in rig.search.bodies()


async def test_gone_also_settles_what_was_owed(rig: Any) -> None:
    """An item owed and then deleted is not asked for for ever."""
    bad = rig.id("one")
    rig.answer = lambda method, count: (
        Response(b"", 500) if method == "GetContent" and bad.encode() in rig.seen[-1][1] else None
    )
    await rig.pull()
    assert await rig.owed() == 1
    rig.do("delete", item="one")
    await rig.pull()
    assert await rig.owed() == 0


async def test_revisions_replace_whatever_their_order(rig: Any) -> None:
    """CON-04: "9" then "10" then "5": each replaces the one before, for they are compared for equality only.

    Broken on 2026-11-30 to see red: a row skipped whose revision sorts before the held one.
    """
    held = []
    for number, revision in enumerate(("9", "10", "5")):
        content = pb.GetContentResponse(revision=revision, title="T", body=f"body {revision}")
        rig.answer = lambda method, count, n=number, r=revision, c=content: (
            page(("item", r, False), cursor=f"c{n}") if method == "ListChanges" else reply(c)
        )
        await rig.pull()
        held.append((rig.search.revision("item"), rig.search.bodies()))
    assert held == [("9", {"body 9"}), ("10", {"body 10"}), ("5", {"body 5"})]


async def test_the_last_row_of_an_item_in_a_page_counts(rig: Any) -> None:
    """Created, gone, and there again in one page: fetched; the other way round: retired."""
    content = pb.GetContentResponse(revision="2", title="T", body="back")
    rows = (("a", "1", False), ("a", "1", True), ("a", "2", False), ("b", "1", False), ("b", "1", True))
    rig.answer = lambda method, count: page(*rows, cursor="c") if method == "ListChanges" else reply(content)
    await rig.pull()
    assert set(rig.search.documents) == {"a"}
    assert rig.search.retired == ["b"]


async def test_a_page_of_nothing_usable_advances_the_cursor(rig: Any) -> None:
    """F12: no rows, or only rows with unusable ids, and `has_more`: the pull goes on behind it.

    Broken on 2026-11-30 to see red: stopping at a page without rows; refusing a page for one bad row.
    """
    content = pb.GetContentResponse(revision="1", title="T", body="found")
    pages = [
        page(cursor="c1", more=True),
        page(("", "1", False), ("x\0y", "1", False), ("z" * 5000, "1", True), cursor="c2", more=True),
        page(("item", "1", False), cursor="c3"),
    ]
    rig.answer = lambda method, count: pages[count] if method == "ListChanges" else reply(content)
    await rig.pull()
    assert rig.search.bodies() == {"found"}
    assert (await rig.source()).cursor == "c3"
    cursors = [pb.ListChangesRequest.FromString(body).cursor for path, body, _ in rig.seen if path.endswith("Changes")]
    assert cursors == ["", "c1", "c2"]


@pytest.mark.parametrize("cursors", [["c1", "c1"], ["c1", "c2", "c1"]])
async def test_a_feed_that_goes_in_circles_is_stopped_and_said(rig: Any, cursors: list[str]) -> None:
    """A cursor seen before, with more said to come: one failure, not ten thousand pages."""
    rig.answer = lambda method, count: page(cursor=cursors[min(count, len(cursors) - 1)], more=True)
    await rig.pull()
    assert rig.calls("ListChanges") == len(cursors)
    assert (await rig.source()).failure == "unavailable"


async def test_a_crash_between_page_and_cursor_applies_the_page_again(
    rig: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F33: killed after the documents, before the cursor: everything comes again and nothing twice."""
    real = rig.store.put

    async def dies(source: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(rig.store, "put", dies)
    with pytest.raises(KeyboardInterrupt):
        await rig.pull()
    assert rig.search.bodies()
    monkeypatch.setattr(rig.store, "put", real)
    assert (await rig.source()).cursor == ""
    await rig.pull()
    assert rig.search.bodies() == ALL
    assert len(rig.search.documents) == 5


async def test_a_refetch_order_brings_the_current_revision(rig: Any, order: Any) -> None:
    """AUT-04: STALE: the item is fetched and its order done; one that cannot be fetched stays open."""
    await rig.pull()
    rig.do("edit", item="one", body="newer")
    rig.answer = lambda method, count: page(cursor="same") if method == "ListChanges" else None
    good = order(rig, rig.id("one"))
    assert await rig.pull(good) == [good]
    assert "newer" in rig.search.bodies()
    rig.do("fault", kind="status", call="GetContent")
    orders = [order(rig, rig.id(alias), alias) for alias in ("one", "two")]
    assert await rig.pull(*orders) == []
    assert (await rig.source()).state is SourceState.CURRENT  # the feed itself went through


async def test_calendar_bodies_stay_out_unless_chosen(make_rig: Any) -> None:
    """TRU-09: by default a calendar gives titles, places and dates; with bodies chosen, its texts too."""
    rig = await make_rig("calendar", with_bodies=False)
    await rig.pull()
    (document,) = rig.search.documents.values()
    assert document.title == "Review"
    assert document.date is not None
    assert [chunk.text for chunk in document.chunks] == [""]


async def test_a_sheet_comes_in_as_tables_under_its_tabs(make_rig: Any) -> None:
    """Display strings, as rows under the tab's name."""
    rig = await make_rig("sheets")
    await rig.pull()
    (document,) = rig.search.documents.values()
    assert document.chunks[0].trail == ("P&L",)
    assert "| Revenue | 1000 |" in document.chunks[0].text


async def test_no_request_names_a_person(rig: Any, order: Any) -> None:
    """CON-12, G25: no request has a field for one, and none is on the wire, neither in a body nor in a header.

    Broken on 2026-11-30 to see red: a header `X-On-Behalf-Of` with an address added to the client.
    """
    await rig.pull(order(rig), order(rig, rig.id("one")))
    assert {path.rpartition("/")[2] for path, _, _ in rig.seen} == {"ListChanges", "Announce", "GetContent"}
    types = {"ListChanges": pb.ListChangesRequest, "Announce": pb.AnnounceRequest, "GetContent": pb.GetContentRequest}
    allowed = {"cursor", "page_token", "item_id", "revision"}
    known = {b"host", b"authorization", b"connect-protocol-version", b"content-type", b"accept-encoding", b"user-agent"}
    for path, body, headers in rig.seen:
        message = types[path.rpartition("/")[2]].FromString(body)
        assert {field.name for field in message.DESCRIPTOR.fields} <= allowed
        assert message.SerializeToString(deterministic=True) == body  # no unknown field rides along
        for person in (b"ann", b"p-ann", b"example.test", b"@"):
            assert person not in body
            assert all(person not in name + value for name, value in headers if name != b"host")
        assert {name for name, _ in headers} <= known | {b"connect-timeout-ms", b"accept", b"content-length"}


# --- a sibling that sends nonsense ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stamp",
    [
        Timestamp(seconds=253402300800),
        Timestamp(seconds=-62135596801),
        Timestamp(seconds=2**62),
        Timestamp(nanos=-5),
        Timestamp(nanos=2**31 - 1),
        Timestamp(seconds=253402300799),
    ],
)
async def test_a_date_that_is_none_does_not_cost_the_item(rig: Any, stamp: Timestamp) -> None:
    """Year 10000, the year before 1, nanoseconds by the billion."""
    content = pb.GetContentResponse(revision="1", title="T", body="text", date=stamp)
    rig.answer = lambda method, count: (
        page(("i", "1", False), cursor="c") if method == "ListChanges" else reply(content)
    )
    await rig.pull()
    assert rig.search.documents["i"].date is None
    assert (await rig.source()).state is SourceState.CURRENT


async def test_titles_trails_links_and_line_ends_are_bounded(rig: Any) -> None:
    """A title of 1 MB, a trail of 5,000 steps, a link to another host, direction marks, CRLF."""
    content = pb.GetContentResponse(
        revision="1",
        title="a\u202eb\0c\n" + "t" * 1_000_000,
        trail=[f"step {number}" for number in range(5000)],
        body="# Head\r\n\r\ntext\r\n```\r\n# x\r\n```\r\n",
        link="http://evil.docs.localhost/steal",
        author=17,  # type: ignore[arg-type] # an enum value that does not exist
    )
    rig.answer = lambda method, count: (
        page(("i", "1", False), cursor="c") if method == "ListChanges" else reply(content)
    )
    await rig.pull()
    document = rig.search.documents["i"]
    assert document.title.startswith("abc t")
    assert len(document.title) <= 300
    assert document.trail == tuple(f"step {number}" for number in range(4992, 5000))
    assert document.link == ""
    assert document.author is Author.UNKNOWN
    assert [(chunk.trail, chunk.text) for chunk in document.chunks] == [(("Head",), "text\n\n```\n# x\n```")]


async def test_a_sheet_at_the_edge_of_the_grid_is_small(rig: Any) -> None:
    """Cells in column four billion, doubled cells, tabs without names, pipes and line ends: read, and bounded."""
    tab = pb.SheetTab(name="a\n# b", cells=[pb.Cell(row=r, column=2**32 - 1, display="far") for r in range(1, 50_000)])
    odd = pb.SheetTab(cells=[pb.Cell(row=0, column=0, display="x|y\r\nz"), pb.Cell(row=0, column=0, display="again")])
    content = pb.GetContentResponse(revision="1", title="T", tabs=[tab, odd])
    rig.answer = lambda method, count: (
        page(("i", "1", False), cursor="c") if method == "ListChanges" else reply(content)
    )
    await rig.pull()
    document = rig.search.documents["i"]
    assert sum(len(chunk.text) for chunk in document.chunks) < 6_000_000
    assert document.chunks[0].trail == ("a # b",)
    assert document.chunks[-1].text.startswith("| x\\|y z | again |")


async def test_a_document_of_nothing_but_headings_fits_a_message(rig: Any) -> None:
    """Deep trails repeated with 30,000 tiny sections would be 45 MB on the way to search."""
    deep = "".join(f"{'#' * level} {'h' * 300}\n" for level in range(1, 6))
    content = pb.GetContentResponse(revision="1", title="T", body=deep + "###### x\ny\n" * 30_000)
    rig.answer = lambda method, count: (
        page(("i", "1", False), cursor="c") if method == "ListChanges" else reply(content)
    )
    await rig.pull()
    chunks = rig.search.documents["i"].chunks
    assert 0 < sum(len("".join((*chunk.trail, chunk.text))) for chunk in chunks) < 13 * 1024 * 1024


async def test_what_is_tiny_on_the_wire_and_huge_here_is_refused_by_its_count(rig: Any) -> None:
    """Hundreds of thousands of empty cells, tabs or rows are a few bytes each: counted before anything is made of them.

    Broken to see red: the counts taken out of `content` and `changes`.
    """
    cells = pb.GetContentResponse(revision="1", title="T", tabs=[pb.SheetTab(cells=[pb.Cell()] * (SHEET_CELLS + 1))])
    tabs = pb.GetContentResponse(revision="1", title="T", tabs=[pb.SheetTab()] * (SHEET_TABS + 1))
    for content in (cells, tabs):
        rig.answer = lambda method, count, c=content: (
            page(("i", "1", False), cursor="c") if method == "ListChanges" else reply(c)
        )
        await rig.pull()
        assert rig.search.documents == {}
    rows = pb.ListChangesResponse(rows=[pb.ChangeRow()] * (PAGE_ROWS + 1), next_cursor="d")
    rig.answer = lambda method, count: reply(rows) if method == "ListChanges" else None
    await rig.pull()
    assert (await rig.source()).failure == Kind.UNAVAILABLE.value


async def test_a_text_of_a_million_lines_is_cut_before_it_is_chunked(rig: Any) -> None:
    """Its beginning is kept. Broken to see red: the lines not counted, which took seconds for each such item."""
    content = pb.GetContentResponse(revision="1", title="T", body="first\n" + "# a\n" * 1_000_000)
    rig.answer = lambda method, count: (
        page(("i", "1", False), cursor="c") if method == "ListChanges" else reply(content)
    )
    await rig.pull()
    assert rig.search.documents["i"].chunks[0].text == "first"
    assert len(rig.search.documents["i"].chunks) <= 4_000


async def test_content_without_a_usable_revision_is_owed(rig: Any) -> None:
    """No revision, or one with a NUL: nothing is stored under it."""
    for revision in ("", "a\0b", "x" * 5000):
        content = pb.GetContentResponse(revision=revision, title="T", body="text")
        rig.answer = lambda method, count, c=content: (
            page(("i", "1", False), cursor="c") if method == "ListChanges" else reply(c)
        )
        await rig.pull()
    assert rig.search.documents == {}
    assert await rig.owed() == 1
