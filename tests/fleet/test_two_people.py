"""Two people differ: the owner of a passage decides, for each of them, at each search (G05, F01, F03, F05)."""

import re
import time

import pytest

from memoria_conformance.world import packaged_world

pytestmark = pytest.mark.fleet

SECRET = "peregrine lantern quorum"  # three words that stand in no other paper of the demo


@pytest.fixture(scope="module", autouse=True)
def paper(fleet) -> str:
    """A team document that both may see, pulled in."""
    made = fleet.sibling(
        "docs", "create", alias="doc.pair", title="Peregrine", body=f"# Peregrine\n\nThe {SECRET}.\n", rung="team"
    )
    ben = fleet.person("ben@localhost")
    deadline = time.monotonic() + 30
    while not ben.titles(SECRET) and time.monotonic() < deadline:
        time.sleep(0.2)  # each search nudges the pull that brings it
    return str(made["aliases"]["doc.pair"])


def stripped(body: str) -> str:
    """A reply without the one field that is a time, and without the query it echoes."""
    return re.sub(r'"took_ms":[0-9.]+', '"took_ms":0', body)


def test_one_is_removed_at_the_source_and_for_them_it_never_existed(fleet) -> None:
    """Removed there, gone here at once, byte for byte like an absence: page, API, document URL.

    Broken to see red: `ruling_for` returning SPEAK for NOT_VISIBLE; a WITHHOLD notice for OMIT.
    """
    ann, ben = fleet.person("you@localhost"), fleet.person("ben@localhost")
    assert ann.titles(SECRET) == ben.titles(SECRET) == ["Peregrine"]
    document = ben.search(SECRET)["results"][0]["document_id"]
    assert ben.browser.get(f"/documents/{document}").status_code == 200

    fleet.sibling("docs", "remove_person", item="doc.pair", person="ben")

    assert ann.titles(SECRET) == ["Peregrine"]
    absent = "peregrine lantern quorux"  # the same length, and analysed the same; its last word is nowhere
    hidden_page, hidden_api = ben.page("quorum"), ben.program.get("/api/v1/search", params={"q": "quorum"}).text
    absent_page, absent_api = ben.page("quorux"), ben.program.get("/api/v1/search", params={"q": "quorux"}).text
    assert hidden_page.replace("quorum", "quorux") == absent_page
    assert stripped(hidden_api).replace("quorum", "quorux") == stripped(absent_api)
    assert absent not in hidden_page
    never = "a" * len(document)
    for path in ("/documents/{}", "/documents/{}/delete"):
        hidden, unknown = ben.browser.get(path.format(document)), ben.browser.get(path.format(never))
        assert hidden.status_code == unknown.status_code == 404
        assert hidden.text.replace(document, never) == unknown.text
    hidden = ben.program.get(f"/api/v1/documents/{document}")
    unknown = ben.program.get(f"/api/v1/documents/{never}")
    assert (hidden.status_code, hidden.content) == (unknown.status_code, unknown.content)
    assert {k: v for k, v in hidden.headers.items() if k != "date"} == {
        k: v for k, v in unknown.headers.items() if k != "date"
    }

    fleet.sibling("docs", "remove_person", item="doc.pair", person="you")
    assert ann.titles(SECRET) == []
    fleet.sibling("docs", "restore_person", item="doc.pair", person="you")
    fleet.sibling("docs", "restore_person", item="doc.pair", person="ben")
    assert ann.titles(SECRET) == ben.titles(SECRET) == ["Peregrine"]


def test_narrowed_to_granted_is_gone_for_both_before_the_feed_says_so(fleet) -> None:
    """Custody: a grant does not reach into memoria (AUT-03). The feed is held back: only the live answer can know."""
    ann, ben = fleet.person("you@localhost"), fleet.person("ben@localhost")
    assert ann.titles(SECRET) == ben.titles(SECRET) == ["Peregrine"]
    with fleet.fault("docs", "status", call="ListChanges", status=503):
        fleet.sibling("docs", "grant", item="doc.pair", person="ben")
        fleet.sibling("docs", "move_rung", item="doc.pair", rung="granted")
        assert ann.titles(SECRET) == ben.titles(SECRET) == []
        kinds = {notice["kind"] for notice in ben.search(SECRET)["notices"]}
        assert kinds <= {"as_of"}  # the failing feed is said, the hidden document is not
    fleet.sibling("docs", "move_rung", item="doc.pair", rung="team")


def test_a_sleeping_sibling_is_named_with_what_is_withheld(fleet) -> None:
    """The page is there in under 1.2 s and says who did not answer; the others' passages are on it (F29, G23 A).

    The bound is the specification's own, literal. Broken to see red: the S2 timeout raised to 10 s.
    """
    ann = fleet.person("you@localhost")
    assert {result["app"] for result in ann.search("ferry crew winter")["results"]} > {"docs"}
    with fleet.fault("docs", "sleep", seconds=5, call="Authorize"):
        began = time.monotonic()
        page = ann.page("ferry crew winter")
        took = time.monotonic() - began
        found = ann.search("ferry crew winter")
    assert took < 1.2
    withheld = [notice for notice in found["notices"] if notice["app"] == "docs"]
    assert [notice["kind"] for notice in withheld] == ["no_answer"]
    assert withheld[0]["count"] > 0
    assert withheld[0]["text"] == f"Docs did not answer; {withheld[0]['count']} results withheld."
    assert withheld[0]["text"] in page
    assert "docs" not in {result["app"] for result in found["results"]}
    assert {result["app"] for result in found["results"]}
    assert "docs" in {result["app"] for result in ann.search("ferry crew winter")["results"]}


@pytest.mark.parametrize(
    "kind", ["garbage", "short", "duplicate", "foreign", "sixth_value", "status", "close", "redirect"]
)
def test_a_lying_sibling_is_withheld_loudly(fleet, kind: str) -> None:
    """Anything but one known value a pair makes the whole call UNKNOWN (G06, CON-08), a redirect too (G11).

    Broken to see red: `decode_verdicts` skipping an unrecognised value; `allow_redirects=True`.
    """
    ann = fleet.person("you@localhost")
    params = {"location": "http://other.docs.localhost:9/"} if kind == "redirect" else {}
    assert "docs" in {result["app"] for result in ann.search("ferry crew winter")["results"]}
    with fleet.fault("docs", kind, call="Authorize", **params):
        found = ann.search("ferry crew winter")
    assert "docs" not in {result["app"] for result in found["results"]}
    assert [n["kind"] for n in found["notices"] if n["app"] == "docs"] == ["no_answer"]


def test_words_of_private_and_granted_papers_are_nowhere(fleet) -> None:
    """Items off the team rung never entered memoria (ING-01), not even for those who may read them at the source.

    Broken to see red: the demo apps listing granted items in their feed.
    """
    away = [item for item in packaged_world().items if item.rung != "team"]
    ann = fleet.person("you@localhost")
    team = next(item for item in packaged_world().items if item.rung == "team" and not item.removed)
    assert team.content.title in ann.titles(team.content.title)  # a title is found, where it may be
    for words in ("salted compass", "marmalade lantern", "velvet anchor", "copper heron", "brass pelican"):
        assert any(words in item.content.body.lower() or words in str(item.content.tabs).lower() for item in away), (
            words
        )
        for result in ann.search(words)["results"]:
            assert words not in result["snippet"].replace("<mark>", "").replace("</mark>", "").lower()
    for item in away:
        assert item.content.title not in ann.titles(item.content.title), item.alias


def test_a_stranger_gets_no_link_and_the_same_words(fleet) -> None:
    """Sign-in answers an owner and a stranger alike, byte for byte; only the owner gets a mail (AUT-21, AMD-07)."""
    import httpx

    replies = {}
    for address in ("mara@localhost", "stranger@example.test"):
        client = httpx.Client(base_url=fleet.url)
        page = client.get("/signin")
        token = re.search(r'name="csrf" value="([0-9a-f]+)"', page.text)
        assert token
        reply = client.post("/auth/begin", data={"csrf": token.group(1), "address": address, "next": "/"})
        replies[address] = (reply.status_code, reply.content, reply.headers["location"])
    assert replies["mara@localhost"] == replies["stranger@example.test"]
    time.sleep(1)
    mails = [path.read_text() for path in fleet.outbox.glob("*.eml")]
    assert any("To: mara@localhost" in mail for mail in mails)
    assert not any("stranger@example.test" in mail for mail in mails)
