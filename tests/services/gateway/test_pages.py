"""The pages: any query at all, withheld loudly, denied silently (RET-06, SRF-02, F29)."""

import re
from datetime import UTC, datetime
from html import unescape

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoria_chassis.config import load_settings
from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.views import Notice, Page, Part, app_name
from memoria_search.resident import OPENING

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("notice", "text"),
    [
        (Notice("sheets", "no_answer", 7), "Sheets did not answer; 7 results withheld."),
        (Notice("sheets", "no_answer", 1), "Sheets did not answer; 1 result withheld."),
        (Notice("docs", "stale", 2), "Docs has newer versions; 2 results withheld while memoria refetches."),
        (Notice("docs", "stale", 1), "Docs has newer versions; 1 result withheld while memoria refetches."),
        (Notice("sheets", "reconciling", 0), "Sheets is reconciling after a restore and is left out of this search."),
        (Notice("docs", "as_of", 0, datetime(2026, 1, 1, 14, 5, tzinfo=UTC)), "Docs: current as of 14:05 UTC."),
        (
            Notice("docs", "as_of", 0, datetime(2025, 12, 31, 23, 59, tzinfo=UTC)),
            "Docs: current as of 2025-12-31 23:59 UTC.",
        ),
        (Notice("docs", "as_of", 0, None), "Docs: not read yet."),
    ],
)
async def test_notices_are_to_the_letter(pod, notice: Notice, text: str) -> None:
    """RET-06's sentences, above the results, on the page and in the API."""
    assert notice.text(NOW) == text
    pod.index.page = Page((), (notice,), False, False)
    page = (await (await pod.signed_in()).get("/?q=x")).text
    assert f'<p class="notice" role="status">{text}</p>' in page
    assert (await (await pod.program()).get("/api/v1/search?q=x")).json()["notices"][0]["text"] == text


async def test_nothing_matched_is_said_only_when_that_is_so(pod, a_result) -> None:
    """Withheld, failed, past the last page, not asked: each has words of its own, and none are those (F29, RUL-11)."""
    browser = await pod.signed_in()
    nothing = "Nothing matched"
    assert nothing in (await browser.get("/?q=x")).text
    assert nothing not in (await browser.get("/")).text
    assert nothing not in (await browser.get("/?q=+")).text
    assert "No more results." in (await browser.get("/?q=x&page=2")).text
    pod.index.page = Page((), (Notice("docs", "no_answer", 3),), False, False)
    page = (await browser.get("/?q=x")).text
    assert nothing not in page
    assert "withheld for the reasons above" in page
    for kind in ("reconciling", "as_of", "degraded"):  # left out or behind: what is missing may well match (G27)
        pod.index.page = Page((), (Notice("docs", kind, 0),), False, False)
        page = (await browser.get("/?q=x")).text
        assert nothing not in page
        assert "Nothing was found in what could be searched" in page
    pod.index.page = Page((a_result(),), (), False, False)
    assert nothing not in (await browser.get("/?q=x")).text
    for kind in (Kind.UNAVAILABLE, Kind.DEADLINE, Kind.INTERNAL, Kind.EXHAUSTED):
        pod.index.down = ServiceError(kind, "search cannot be reached")
        for path in ("/?q=x", "/search?q=x"):
            reply = await browser.get(path)
            assert reply.status_code >= 429
            assert "Search cannot be reached." in reply.text
            assert nothing not in reply.text


async def test_an_index_that_is_being_opened_is_said_in_one_sentence(pod) -> None:
    """Whole page and fragment tell the reader what it is and what to do, and do not say that something is broken.

    Broken to see it red: the heading of a service that does not answer; the words as services say them to each other.
    """
    browser = await pod.signed_in()
    pod.index.down = ServiceError(Kind.UNAVAILABLE, OPENING)
    for path in ("/?q=x", "/search?q=x", "/documents/abc"):
        reply = await browser.get(path)
        assert reply.status_code == 503
        said = [unescape(text) for text in re.findall(r"<(?:h1|p)>([^<]+)</(?:h1|p)>", reply.text)]
        assert said[:2] == [
            "Not available right now",
            "Your team's index is being opened; ask again in a few seconds.",
        ]


@given(st.text(max_size=600))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_text_is_a_query(pod, text: str) -> None:
    """Whatever is typed comes to search as it is, and back in the box as text."""
    if not await pod.store.tokens_of("ann@example.test"):
        pod.reader = await pod.program()
    reply = await pod.reader.get("/api/v1/search", params={"q": text})
    assert reply.status_code == (400 if len(text.encode()) > 1024 else 200)
    if reply.status_code == 200:
        assert reply.json()["query"] == text


@pytest.mark.parametrize(
    "raw",
    [
        *(
            "%00",
            "%ed%a0%80",
            "%ff%fe",
            "%",
            "%zz",
            "%F0%9F%9A%A2",
            "a%00b",
            "%0d%0aSet-Cookie:x=1",
            "\\",
            "'\"><b>",
            "%e2%80%ae",
        ),
        *("IN", "AND", "(", "a" * 1024, "%20" * 50 + "a", "&q=b", "x" * 5 + "&page=1024", "x&page="),
    ],
)
async def test_odd_queries_are_pages(pod, a_result, raw: str) -> None:
    """NUL, surrogates, bytes that are no UTF-8, operators, exactly 1 KiB: 200, no header of theirs, escaped."""
    pod.index.page = Page((a_result(),), (), True, True)
    browser = await pod.signed_in()
    for path in ("/", "/search"):
        reply = await browser.get(f"{path}?q={raw}")
        assert reply.status_code == 200
        assert "set-cookie" not in reply.headers
        assert "<b>" not in reply.text


@pytest.mark.parametrize("query", ["a" * 1025, "é" * 513, "🚢" * 257, "x" * 8192, "x" * 60_000])
async def test_a_query_has_1_kib(pod, query: str) -> None:
    """Of UTF-8, not of characters; beyond it search is not even asked (SRF-02)."""
    browser, program = await pod.signed_in(), await pod.program()
    for client, path in ((browser, "/"), (browser, "/search"), (program, "/api/v1/search")):
        reply = await client.get(path, params={"q": query})
        assert reply.status_code == 400
        assert "A query may have 1024 bytes." in reply.text
    assert pod.index.searched == []
    assert (await browser.get("/", params={"q": "🚢" * 256})).status_code == 200


@pytest.mark.parametrize("page", ["0", "-1", "1025", "10000", "0001099999", "9" * 5000, "1e3", "٣", "x", "1.0", " 1"])
async def test_a_page_is_a_number_within_bounds(pod, page: str) -> None:
    """400 with a sentence, never a crash. Broken to see red: `int(text[:5])` checked and `int(text)` returned."""
    browser = await pod.signed_in()
    reply = await browser.get("/", params={"q": "x", "page": page})
    assert reply.status_code == 400
    assert "A page is a number from 1 to 1024." in reply.text
    assert pod.index.searched == []
    assert (await browser.get("/?q=x&page=1024")).status_code == 200


async def test_a_result_has_everything_it_should(pod, a_result) -> None:
    """App, title, trail, locator, author, date, snippet, our page, its own page (RET-02); HTML in any of it is text."""
    hostile = a_result(
        2, title="<script>", trail=("<b>",), snippet=(Part("<i>", True),), document_id="d2", source_link=""
    )
    pod.index.page = Page((a_result(), hostile), (), True, False)
    page = (await (await pod.signed_in()).get("/?q=tide&page=2")).text
    for piece in (
        '<a href="/documents/abc#p3" dir="auto">Tides</a>',
        '<span class="app">Docs</span>',
        "Papers › Harbour",
        '<time datetime="2026-05-01">2026-05-01</time>',
        "👨",
        "#p3",
        "the <mark>tide</mark> turns",
        '<a href="http://demo.docs.localhost:9101/d/1" rel="noreferrer">Open in Docs</a>',
        '<a rel="prev" href="/?q=tide">',
        '<a rel="next" href="/?q=tide&amp;page=3">',
        "&lt;script&gt;",
        "<mark>&lt;i&gt;</mark>",
    ):
        assert piece in page, piece
    assert "<script>" not in page.replace('<script src="/static/memoria.js" defer></script>', "")
    assert not re.search(r"\d+ results", page)  # no total is ever shown (AMD-05, F05)


async def test_the_fragment_is_the_pages_region(pod, a_result) -> None:
    """One template, the same bytes (SRF-04)."""
    pod.index.page = Page((a_result(),), (Notice("docs", "stale", 1),), True, False)
    browser = await pod.signed_in()
    page, fragment = (await browser.get("/?q=x")).text, (await browser.get("/search?q=x")).text
    assert fragment.strip() in page
    assert "<html" not in fragment


async def test_a_siblings_document_is_not_deleted_here(pod, a_document) -> None:
    """403 with the app to go to; an owned one asks first, then goes. Broken to see red: `owned` not looked at."""
    browser = await pod.signed_in()
    pod.index.documents = {"s": a_document("s", owned=False, app="docs"), "o": a_document("o")}
    form = {"csrf": await browser.form("/")}
    assert (await browser.get("/documents/s/delete")).status_code == 403
    reply = await browser.post("/documents/s/delete", data=form)
    assert reply.status_code == 403
    assert "Docs owns this document" in reply.text
    assert (await browser.get("/documents/o/delete")).status_code == 200
    assert pod.intake.deleted == []
    assert (await browser.post("/documents/o/delete", data=form)).headers["location"] == "/?deleted=1"
    assert (await browser.post("/documents/none/delete", data=form)).status_code == 404
    assert pod.intake.deleted == ["o"]


async def test_a_question_nudges_the_pull_and_a_notice_nudges_again(pod) -> None:
    """On each question (ING-04), behind the reply; a stale or reconciling answer left orders to be fetched."""
    browser = await pod.signed_in()
    await browser.get("/?q=x")
    await pod.desk.settle()
    assert pod.intake.nudges == 1
    pod.index.page = Page((), (Notice("docs", "stale", 1),), False, False)
    await browser.get("/?q=x")
    await browser.get("/")
    await pod.desk.settle()
    assert pod.intake.nudges == 3


def test_an_app_is_named_by_its_label() -> None:
    """Capitalised, whatever it is."""
    assert [app_name(label) for label in ("docs", "x", "")] == ["Docs", "X", ""]


async def test_another_sites_link_opens_a_page(pod) -> None:
    """The home's row leads here by GET, with or without a redirect: the session comes along, and nothing is changed by
    it (SRF-08). Broken to see it red: `check_origin` asked of GET as well.
    """
    ann = await pod.signed_in()
    for headers in ({"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "cross-site", "origin": "null"}):
        for path in ("/", "/?q=tide"):
            reply = await ann.get(path, headers=headers | {"referer": "https://demo.home.example/"})
            assert reply.status_code == 200, (headers, path)


async def test_a_directory_of_apps_is_linked_in_either_shape(make_pod) -> None:
    """Beside a roster too, where nobody signs in by the home; without one there is no such link (AUT-22)."""
    environment = {
        "MEMORIA_HOME_URL": "https://demo.home.suite.test",
        "HOME_DIRECTORY_ORIGIN": "https://apps.suite.test",
    }
    suite = await make_pod(settings=load_settings(environment)).signed_in()
    page = (await suite.get("/")).text
    assert '<a href="https://apps.suite.test" rel="noreferrer">All apps</a>' in page
    assert "/account/home" not in page
    assert "consumer_id" not in page
