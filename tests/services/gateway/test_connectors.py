"""The owner's page of sources: owners alone, everything in words, and buttons that act (RET-14, RET-15, G08)."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.connectors import Finding, Findings, Roster, Source
from memoria_gateway.views import Notice, Page

ANN, BOB = "ann@example.test", "bob@example.test"
QUIET, FIRED = Finding("quiet"), Finding("fired")
AT = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)
PATHS = [("GET", "/connectors"), ("POST", "/connectors/docs/sync"), ("POST", "/connectors/docs/delete")]
BREAKERS = ("Refusals", "refused", "Fetches", "Restore:", "noticed", "nothing unusual", "cannot be determined")


def text_of(page: str) -> str:
    """What a page says, without its tags."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def row(page: str, name: str) -> str:
    """A cell by its row's name."""
    found = re.search(rf'<th scope="row">{name}</th><td>([^<]*)</td>', page)
    assert found, name
    return unescape(found.group(1))


@pytest.fixture
def pod(pod: Any) -> Any:
    """Ann owns the team, Bob is a member; docs and sheets are read, and everything there is to notice has been."""
    pod.gate.owners = {ANN}
    pod.intake.listed = [Source("docs", "current", AT, AT, held=12, missed=3), Source("sheets", "as_of")]
    pod.gate.breakers = [
        Findings("docs", FIRED, FIRED, Finding("fired", at=AT)),
        Findings("sheets", QUIET, QUIET, QUIET),
    ]
    return pod


@pytest.mark.parametrize(("method", "path"), PATHS)
async def test_a_member_who_is_no_owner_is_told_so_and_a_stranger_signs_in(pod: Any, method: str, path: str) -> None:
    """403 with a sentence, nothing shown and nothing done; without a session the way to sign in (SRF-01).

    Broken to see it red, each in turn: any member let in to the page, to sync, to delete.
    """
    bob = await pod.signed_in(BOB)
    fields = {"csrf": await bob.form("/"), "what": "pause", "confirm": "yes"}
    reply = await bob.request(method, path, data=fields if method == "POST" else None)
    assert reply.status_code == 403
    assert "Only the owners of this team may see and change its sources." in reply.text
    assert not [word for word in BREAKERS if word in reply.text]
    stranger = await pod.browser().request(method, path)
    assert stranger.status_code == 303
    assert stranger.headers["location"].startswith("/signin")
    program = await (await pod.program(ANN, "write")).request(method, path)
    assert program.headers["location"].startswith("/signin")  # a token is no session, not even an owner's
    pod.gate.admitted.discard(BOB)
    assert (await bob.request(method, path)).status_code == 403
    assert pod.intake.wishes == []


async def test_no_page_of_a_reader_speaks_of_breakers(pod: Any, a_result: Any, a_document: Any) -> None:
    """RET-15: with every breaker fired, neither a search, a document, an error, the API nor an owner's own search page
    has a word or a count of it, and only owners have the link. The reconciling line alone shows to readers.

    Broken to see it red: a breaker in a line above the results; the link for everybody.
    """
    pod.index.page = Page((a_result(),), (Notice("docs", "reconciling", 0),), False, False)
    pod.index.documents["abc"] = a_document()
    for address in (ANN, BOB):
        browser, program = await pod.signed_in(address), await pod.program(address)
        for path in ("/", "/?q=x", "/search?q=x", "/documents/abc", "/documents/none", "/account/tokens", "/nope"):
            page = (await browser.get(path)).text
            assert not [word for word in BREAKERS if word in page], path
            if path in {"/", "/?q=x", "/documents/abc", "/account/tokens"}:
                assert ('href="/connectors"' in page) is (address == ANN), path
        for path in ("/api/v1/search?q=x", "/api/v1/documents/abc", "/readyz", "/healthz", "/idle"):
            reply = (await program.get(path)).text
            assert not [word for word in BREAKERS if word in reply], path
    assert "Docs is reconciling after a restore" in (await browser.get("/?q=x")).text


async def test_the_page_says_how_every_source_stands(pod: Any) -> None:
    """State, times, failure, held and missed items, paused, each in words; what is not known is not a zero.

    Broken to see it red: `held` of None shown as 0; the failure's kind shown as it is.
    """
    ann = await pod.signed_in()
    page = (await ann.get("/connectors")).text
    docs, sheets, *_ = page.split("<section")[1:]
    assert row(docs, "State") == "Up to date."
    assert row(docs, "Current as of") == row(docs, "Last tried") == "2026-05-01 12:30 UTC"
    assert row(docs, "Last failure") == "none: the last try went through"
    assert (row(docs, "Held items"), row(docs, "Missed items"), row(docs, "Paused")) == ("12", "3", "no")
    assert (row(sheets, "Current as of"), row(sheets, "Last tried")) == ("not read yet", "never")
    assert row(sheets, "Held items") == "cannot be told right now"
    assert "No app is configured" not in page
    pod.intake.listed = []
    pod.gate.breakers = []
    assert "No app is configured" in (await ann.get("/connectors")).text


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (Source("docs", "as_of", failure="unavailable"), "Behind: the last try failed"),
        (Source("docs", "partial"), "items that could not be fetched yet"),
        (Source("docs", "reconciling"), "Left out of every search"),
        (Source("docs", "reconciling", paused=True), "Paused. Left out of every search"),
        (Source("docs", "as_of", paused=True), "Paused: nothing new is read"),
        (Source("docs", "as_of", paused=True, removing=True), "has not come to its end"),
        (Source("docs", "as_of"), "Waits to be read again."),
        (Source("docs", "what is this"), "Waits to be read again."),
    ],
)
async def test_each_state_is_a_sentence(pod: Any, source: Source, said: str) -> None:
    """Also a pause of a source that was restored: it stays out of the ranking."""
    pod.intake.listed = [source]
    assert said in row((await (await pod.signed_in()).get("/connectors")).text, "State")


async def test_each_failure_is_a_sentence_of_ours(pod: Any) -> None:
    """By its kind, and none of them the kind's own word; one that nobody foresaw too."""
    ann = await pod.signed_in()
    for kind in [*(kind.value for kind in Kind), "<b>canary</b>"]:
        pod.intake.listed = [Source("docs", "as_of", failure=kind)]
        said = row((await ann.get("/connectors")).text, "Last failure")
        assert said.endswith(".")
        assert kind not in said
        assert "canary" not in said


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (
            Findings("docs", QUIET, QUIET, QUIET),
            ("Refusals: nothing unusual.", "Fetches: nothing unusual.", "Restore: none noticed."),
        ),
        (
            Findings("docs", FIRED, FIRED, Finding("fired", at=AT)),
            (
                "Refusals: at least three people who could see something last week are refused everything today."
                " Nothing was deleted; ask the owner of the app.",
                "Fetches: at least twenty items that memoria asked for today were not found and none came; some"
                " did last week. Nothing was deleted; ask the owner of the app.",
                "Restore: noticed on 2026-05-01 12:30 UTC; the app was put back to an earlier state, and memoria has"
                " it list all its items anew. Nothing was deleted; ask the owner of the app.",
            ),
        ),
        (
            Findings("docs", Finding("unknown", ("baseline",)), Finding("unknown", ("window", "baseline")), QUIET),
            (
                "Refusals: cannot be determined: the baseline of seven days is not complete.",
                "Fetches: cannot be determined: the window of today is not complete and the baseline of seven days is"
                " not complete.",
            ),
        ),
        (
            Findings("docs", Finding("unknown"), Finding("unknown", ("moon",)), Finding("unknown", ("window",))),
            (
                "Refusals: cannot be determined: it was not said why.",
                "Fetches: cannot be determined: it was not said why.",
                "Restore: cannot be determined: the window of today is not complete.",
            ),
        ),
    ],
    ids=["quiet", "fired", "lacking", "unsaid"],
)
async def test_each_breaker_is_a_sentence(pod: Any, found: Findings, lines: tuple[str, ...]) -> None:
    """Fired, quiet, or cannot be determined with the name of what is lacking, never a blank (RET-14).

    Broken to see it red: what cannot be determined said to be nothing unusual; window and baseline swapped.
    """
    pod.gate.breakers = [found]
    page = (await (await pod.signed_in()).get("/connectors")).text
    for line in lines:
        assert line in text_of(page)
    fired = sum(finding.state == "fired" for finding in (found.refusal, found.fetch, found.restore))
    assert page.count('class="fired"') == fired


async def test_the_part_that_does_not_answer_is_named_and_the_rest_is_shown(pod: Any, logs: Any) -> None:
    """authz or ingest away, or both: 200, said on the page and in the log, and never a claim about what was not asked.

    Broken to see it red: either error let through; no app configured said of an ingest that is silent; a log field that
    the log drops.
    """
    ann = await pod.signed_in()
    away = ServiceError(Kind.UNAVAILABLE, "it cannot be reached")
    pod.gate.silent = away
    page = text_of((await ann.get("/connectors")).text)
    assert "(authz) is not answering" in page
    assert "Up to date." in page
    assert "Refusals" not in page
    assert '"id": "authz"' in logs()
    pod.intake.down, pod.gate.silent = away, None
    page = text_of((await ann.get("/connectors")).text)
    assert "(ingest) is not answering" in page
    assert "Refusals: at least three people" in page
    assert "Held items" not in page
    pod.gate.silent = away
    reply = await ann.get("/connectors")
    page = text_of(reply.text)
    assert reply.status_code == 200
    assert "(authz)" in page
    assert "(ingest)" in page
    assert "No app is configured" not in page


@pytest.mark.parametrize(
    ("what", "wish", "said"),
    [
        ("feed", ("sync", "docs", False), "Docs is being read now"),
        ("announce", ("sync", "docs", True), "Docs is asked to list all its items anew"),
        ("pause", ("pause", "docs", True), "Docs is paused."),
        ("resume", ("pause", "docs", False), "Docs is read again from now on."),
    ],
)
async def test_the_buttons_act_and_lead_back(pod: Any, what: str, wish: tuple[str, str, bool], said: str) -> None:
    """Each its own wish, a 303, and the sentence on the page. One that takes longer is said to go on.

    Broken to see it red: `announce` sent as a mere pull; pause and resume swapped.
    """
    ann = await pod.signed_in()
    reply = await ann.post("/connectors/docs/sync", data={"csrf": await ann.form("/"), "what": what})
    assert (reply.status_code, pod.intake.wishes) == (303, [wish])
    assert said in text_of((await ann.get(reply.headers["location"])).text)
    pod.intake.late = ServiceError(Kind.DEADLINE, "ingest did not answer in time")
    reply = await ann.post("/connectors/docs/sync", data={"csrf": await ann.form("/"), "what": what})
    assert "goes on. Look again in a moment." in text_of((await ann.get(reply.headers["location"])).text)


async def test_a_paused_source_offers_a_resume_and_nothing_that_pulls(pod: Any) -> None:
    """And one that is not paused no resume."""
    ann = await pod.signed_in()
    pod.intake.listed = [replace(source, paused=source.app == "docs") for source in pod.intake.listed]
    docs, sheets, *_ = (await ann.get("/connectors")).text.split("<section")[1:]
    assert re.findall('name="what" value="([a-z]+)"', docs) == ["resume"]
    assert re.findall('name="what" value="([a-z]+)"', sheets) == ["feed", "announce", "pause"]
    pod.intake.late = ServiceError(Kind.PRECONDITION, "This source is paused; resume it first.")
    reply = await ann.post("/connectors/docs/sync", data={"csrf": await ann.form("/"), "what": "feed"})
    assert reply.status_code == 409
    assert "This source is paused; resume it first." in reply.text


async def test_a_removal_asks_first_and_says_how_much(pod: Any) -> None:
    """Anything but a plain yes is the question; then it is done, once.

    Broken to see it red: removed at the first press; any `confirm` taken.
    """
    ann = await pod.signed_in()
    form = {"csrf": await ann.form("/")}
    for fields in ({}, {"confirm": ""}, {"confirm": "no"}, {"confirm": "YES"}):
        page = await ann.post("/connectors/docs/delete", data=form | fields)
        assert page.status_code == 200
        assert "delete the 12 items it holds of Docs" in text_of(page.text)
    page = text_of((await ann.post("/connectors/sheets/delete", data=form)).text)
    assert "everything it holds of Sheets (how many items that are cannot be told right now)" in page
    assert pod.intake.wishes == []
    reply = await ann.post("/connectors/docs/delete", data=form | {"confirm": "yes"})
    assert (reply.status_code, pod.intake.wishes) == (303, [("remove", "docs", True)])
    assert "What memoria held of Docs is gone." in text_of((await ann.get(reply.headers["location"])).text)


@pytest.mark.parametrize("app", ["nope", "%3Cb%3E", "%ff", "%ed%a0%80", "a" * 300, "Docs%0d%0aX:y", "%00", ".."])
async def test_an_app_that_is_none_is_not_found(pod: Any, app: str) -> None:
    """Whatever stands in the address: 404, and nothing done."""
    ann = await pod.signed_in()
    form = {"csrf": await ann.form("/")}
    for path, fields in (
        (f"/connectors/{app}/sync", {"what": "pause"}),
        (f"/connectors/{app}/delete", {}),
        (f"/connectors/{app}/delete", {"confirm": "yes"}),
    ):
        assert (await ann.post(path, data=form | fields)).status_code == 404, path
    assert pod.intake.wishes == []


@pytest.mark.parametrize("what", ["", "remove", "FEED", "feed feed", "\x00"])
async def test_only_what_is_offered_can_be_pressed(pod: Any, what: str) -> None:
    """400, and nothing done."""
    ann = await pod.signed_in()
    reply = await ann.post("/connectors/docs/sync", data={"csrf": await ann.form("/"), "what": what})
    assert reply.status_code == 400
    assert pod.intake.wishes == []


@pytest.mark.parametrize("query", ["said=x&app=docs", "said=pause&app=%3Cb%3E", "said=pause", "said=pause&app=a%20b"])
async def test_an_address_puts_no_words_on_the_page(pod: Any, query: str) -> None:
    """Only our sentences, and only of what may be an app's label. Broken to see it red: any `app` taken."""
    ann = await pod.signed_in()
    assert 'role="status"' not in (await ann.get(f"/connectors?{query}")).text


ROSTER = Roster("fresh", 12, AT, AT, waiting="")
SYNC = "/connectors/home/sync"


async def test_without_a_home_there_is_no_list_of_members(pod: Any) -> None:
    """No section, and no button that does anything."""
    ann = await pod.signed_in(ANN)
    assert "Members" not in text_of((await ann.get("/connectors")).text)
    for fields in ({"what": "feed"}, {"what": "confirm", "waiting": "abc"}, {"what": "confirm", "waiting": ""}):
        reply = await ann.post(SYNC, data={"csrf": await ann.form("/"), **fields})
        assert reply.status_code in {404, 409, 412}, reply.status_code
    assert "confirm" not in pod.gate.wishes


@pytest.mark.parametrize(
    ("roster", "said"),
    [
        (ROSTER, "Up to date."),
        (replace(ROSTER, state="stale", failure="unavailable"), "Out of date: nobody but the owners is let in"),
        (replace(ROSTER, state="stale", failure="unavailable"), "The home could not be reached"),
        (Roster("none", failure="unauthenticated"), "The home did not take memoria's token."),
        (Roster("none"), "not read yet"),
        (replace(ROSTER, failure="internal"), "The home's answer was an error."),
        (replace(ROSTER, waiting="abc"), "does not count until an owner says that it is this team's"),
    ],
)
async def test_how_the_list_of_members_stands_is_said_in_words(pod: Any, roster: Roster, said: str) -> None:
    """State, failure, and that another list waits; a button to take it only where one does (AUT-18)."""
    pod.gate.members = roster
    ann = await pod.signed_in(ANN)
    page = (await ann.get("/connectors")).text
    assert said in text_of(page)
    assert ("This is our team's list" in unescape(page)) is bool(roster.waiting)


async def test_an_owner_takes_the_list_that_they_saw(pod: Any) -> None:
    """The one on the page, and no other; a member who is no owner cannot, and nobody without the form's token.

    Broken to see it red: the id left out of the call; the button for every member.
    """
    pod.gate.members = replace(ROSTER, waiting="abc")
    bob = await pod.signed_in(BOB)
    fields = {"what": "confirm", "waiting": "abc"}
    assert (await bob.post(SYNC, data={"csrf": await bob.form("/"), **fields})).status_code == 403
    ann = await pod.signed_in(ANN)
    assert (await ann.post(SYNC, data={"csrf": "0" * 64, **fields})).status_code == 403
    other = await ann.post(SYNC, data={"csrf": await ann.form("/"), "what": "confirm", "waiting": "def"})
    assert other.status_code == 409
    assert "Another list waits now" in other.text
    assert "confirm" not in pod.gate.wishes
    taken = await ann.post(SYNC, data={"csrf": await ann.form("/"), **fields})
    assert (taken.status_code, pod.gate.wishes[-1]) == (303, "confirm")
    assert "The new list of members counts from now on." in (await ann.get(taken.headers["location"])).text
    read = await ann.post(SYNC, data={"csrf": await ann.form("/"), "what": "feed"})
    assert (read.status_code, "pull" in pod.gate.wishes) == (303, True)
    assert (await ann.post(SYNC, data={"csrf": await ann.form("/"), "what": "pause"})).status_code == 400
