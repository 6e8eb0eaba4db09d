"""Links, sessions and the standing behind them, asked anew each time (AUT-14, AUT-19 … AUT-21, AUT-26, AMD-07, G21)."""

import asyncio

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway import desk, ticks
from memoria_gateway.limits import PER_ADDRESS

ANN, BOB, STRANGER = "ann@example.test", "bob@example.test", "eve@example.test"


async def test_a_link_sent_as_owner_is_refused_under_another_list(pod) -> None:
    """Sent while on the list, followed after it changed: 403 and no cookie; back on the list: a session (G21, AUT-20).

    Broken to see red: the `admit` in `verify` taken out.
    """
    browser = pod.browser()
    await pod.ask_link(browser, ANN)
    address, link = pod.mailer.sent[-1]
    assert address == ANN
    pod.gate.admitted.discard(ANN)
    refused = await browser.get(link)
    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers
    pod.gate.admitted.add(ANN)
    reply = await browser.get(link)
    assert (reply.status_code, reply.headers["location"]) == (303, "/auth/landed?next=%2F")
    assert ANN in (await browser.get("/")).text


async def test_somebody_taken_off_the_list_loses_the_session_and_the_token(pod) -> None:
    """Every request asks again: page, document, tokens, API (AUT-26). Broken to see red: `person` returning unasked."""
    browser, program = await pod.signed_in(), await pod.program()
    paths = ["/", "/search?q=x", "/account/tokens", "/auth/landed"]
    assert [(await browser.get(path)).status_code for path in paths] == [200, 200, 200, 303]
    assert (await program.get("/api/v1/search?q=x")).status_code == 200
    pod.gate.admitted.discard(ANN)
    assert [(await browser.get(path)).status_code for path in paths] == [403] * 4
    assert (await browser.get("/documents/abc")).status_code == 403
    assert (await program.get("/api/v1/search?q=x")).status_code == 403
    pod.gate.admitted.add(ANN)
    assert (await browser.get("/")).status_code == 200


async def test_a_stranger_gets_the_same_bytes_and_no_mail(pod) -> None:
    """Owner, stranger and nonsense: one reply, byte for byte, headers too; only the owner gets a link (AUT-21).

    Broken to see red: `_send_link` mailing whoever asks.
    """
    replies = []
    for address in (ANN, STRANGER, "not an address", "", "eve@", "é@\0"):
        browser = pod.browser()
        reply = await pod.ask_link(browser, address)
        replies.append((reply.status_code, reply.content, dict(reply.headers)))
    assert replies[0][2]["location"] == "/signin?sent=1"
    assert all(reply == replies[0] for reply in replies)
    assert [address for address, _ in pod.mailer.sent] == [ANN]
    assert pod.gate.asked == [ANN, STRANGER]  # what is no address is not even asked about


async def test_of_a_stranger_only_the_length_of_the_address_is_kept(pod) -> None:
    """The row that stands for a stranger's link is nobody's, and its link lets nobody in.

    Broken to see red: the typed address sealed into it.
    """
    kept = []
    make = pod.store.new_link

    async def watched(address: str, next_path: str) -> str:
        kept.append((address, await make(address, next_path)))
        return kept[-1][1]

    pod.store.new_link = watched
    await pod.ask_link(pod.browser(), STRANGER)
    [(address, token)] = kept
    assert address == "-" * len(STRANGER)
    assert (await pod.browser().get("/auth/verify", params={"token": token})).status_code == 403


async def test_the_budget_stands_before_admission_and_is_the_same_for_all(pod) -> None:
    """The eleventh request within a quarter of an hour is refused alike for owner and stranger (AMD-07).

    Broken to see red: admission asked ahead of the limiter; only what looks like an address counted.
    """
    seen = {}
    for address in (ANN, STRANGER, "not an address"):
        browser = pod.browser()
        replies = [await pod.ask_link(browser, address) for _ in range(PER_ADDRESS + 2)]
        seen[address] = [(r.status_code, r.content, dict(r.headers)) for r in replies]
    assert seen[ANN] == seen[STRANGER] == seen["not an address"]
    assert [reply[2]["location"] for reply in seen[ANN]][-3:] == [
        "/signin?sent=1",
        "/signin?err=rate",
        "/signin?err=rate",
    ]
    assert len(pod.mailer.sent) == PER_ADDRESS
    assert pod.gate.asked.count(STRANGER) == PER_ADDRESS  # past the budget nobody is asked about anybody
    pod.clock.advance(15 * 60 + 1)
    assert (await pod.ask_link(pod.browser(), ANN)).headers["location"] == "/signin?sent=1"


async def test_a_link_works_once(pod) -> None:
    """The second browser, and a second time in the first, get nothing; two at once: exactly one."""
    browser = pod.browser()
    await pod.ask_link(browser, ANN)
    link = pod.mailer.sent[-1][1]
    both = await asyncio.gather(pod.browser().get(link), pod.browser().get(link))
    assert sorted(reply.status_code for reply in both) == [303, 400]
    again = await browser.get(link)
    assert again.status_code == 400
    assert "set-cookie" not in again.headers


async def test_a_look_by_head_uses_nothing_up(pod) -> None:
    """A mail scanner's HEAD leaves the link good. Broken to see red: the HEAD branch taken out."""
    browser = pod.browser()
    await pod.ask_link(browser, ANN)
    link = pod.mailer.sent[-1][1]
    assert (await browser.head(link)).status_code == 200
    assert (await browser.get(link)).status_code == 303


async def test_a_link_expires_and_so_does_a_session(pod) -> None:
    """Fifteen minutes and thirty days, by the clock, whatever the cookie says."""
    browser = pod.browser()
    await pod.ask_link(browser, ANN)
    pod.clock.advance(15 * 60)
    assert (await browser.get(pod.mailer.sent[-1][1])).status_code == 400
    browser = await pod.signed_in()
    pod.clock.advance(30 * 86400 - 1)
    assert (await browser.get("/")).status_code == 200
    pod.clock.advance(1)
    assert (await browser.get("/")).headers["location"] == "/signin"


async def test_an_outage_of_authz_costs_nobody_their_link(pod) -> None:
    """Followed while authz is away: said, and good again afterwards."""
    browser = pod.browser()
    await pod.ask_link(browser, ANN)
    link = pod.mailer.sent[-1][1]
    pod.gate.down = ServiceError(Kind.UNAVAILABLE, "authz cannot be reached")
    assert (await browser.get(link)).status_code == 503
    pod.gate.down = None
    assert (await browser.get(link)).status_code == 303


async def test_an_unreachable_authz_lets_nobody_in(pod) -> None:
    """No answer is not a yes: an open session gets an error page, and the mail job ends without a mail."""
    browser = await pod.signed_in()
    pod.gate.down = ServiceError(Kind.DEADLINE, "authz did not answer in time")
    reply = await browser.get("/?q=x")
    assert reply.status_code == 504
    assert "Authz did not answer in time." in reply.text
    assert pod.index.searched == []
    before = len(pod.mailer.sent)
    await pod.ask_link(pod.browser(), BOB)
    assert len(pod.mailer.sent) == before


async def test_signing_out_ends_the_session_and_not_only_the_cookie(pod) -> None:
    """A copy of the cookie is worth nothing afterwards."""
    browser = await pod.signed_in()
    stolen = pod.browser(cookies=dict(browser.cookies))
    assert (await stolen.get("/")).status_code == 200
    reply = await browser.post("/signout", data={"csrf": await browser.form("/")})
    assert reply.headers["location"] == "/signed-out"
    assert (await stolen.get("/")).headers["location"] == "/signin"
    assert (await browser.get("/signed-out")).status_code == 200


async def test_signing_in_again_ends_the_session_it_replaces(pod) -> None:
    """No session is left behind in the store that nobody holds a cookie of."""
    browser = await pod.signed_in()
    old = pod.browser(cookies=dict(browser.cookies))
    await pod.ask_link(browser, BOB)
    assert (await browser.get(pod.mailer.sent[-1][1])).status_code == 303
    assert BOB in (await browser.get("/")).text
    assert (await old.get("/")).headers["location"] == "/signin"


@pytest.mark.parametrize(
    "next_path",
    ["//evil.example/", "https://evil.example/", "/\\evil.example", "/\t/evil.example", "evil", "", "/a b", "/" * 5000],
)
async def test_sign_in_never_ends_on_somebody_elses_page(pod, next_path: str) -> None:
    """`next` stays on this origin, at the form and at landing. Broken to see red: `local_path` returning its input."""
    browser = pod.browser()
    await pod.ask_link(browser, ANN, next_path)
    assert (await browser.get(pod.mailer.sent[-1][1])).headers["location"] == "/auth/landed?next=%2F"
    landed = await browser.get("/auth/landed", params={"next": next_path})
    assert landed.headers["location"] == "/"
    assert 'name="next" value="/"' in (await pod.browser().get("/signin", params={"next": next_path})).text


async def test_sign_in_leads_back_to_where_it_began(pod) -> None:
    """A page without a session comes back after signing in, its query with it."""
    browser = pod.browser()
    away = await browser.get("/?q=tide+tables&page=2")
    assert away.status_code == 303
    form = await browser.get(away.headers["location"])
    assert 'name="next" value="/?q=tide+tables&amp;page=2"' in form.text
    await pod.ask_link(browser, ANN, "/?q=tide+tables&page=2")
    landing = (await browser.get(pod.mailer.sent[-1][1])).headers["location"]
    assert (await browser.get(landing)).headers["location"] == "/?q=tide+tables&page=2"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/search"),
        ("GET", "/documents/abc"),
        ("GET", "/documents/abc/delete"),
        ("POST", "/documents/abc/delete"),
        ("POST", "/documents"),
        ("GET", "/account/tokens"),
        ("POST", "/account/tokens"),
        ("POST", "/account/tokens/abc/revoke"),
        ("GET", "/auth/landed"),
    ],
)
async def test_nothing_behind_the_door_opens_without_a_session(pod, a_document, method: str, path: str) -> None:
    """No cookie, and a made-up one: the way to the sign-in page; no peer is asked anything."""
    pod.index.documents["abc"] = a_document()
    for cookies in ({}, {"memoria_session": "x" * 43}, {"memoria_session": "é"}):
        headers = {"cookie": "; ".join(f"{k}={v}" for k, v in cookies.items()).encode()} if cookies else {}
        reply = await pod.browser().request(method, path, headers=headers)
        assert reply.status_code == 303
        assert reply.headers["location"].startswith("/signin")
    assert pod.gate.asked == pod.index.searched == pod.intake.files == pod.intake.deleted == []


@pytest.mark.parametrize("where", [ticks, desk])
async def test_where_too_much_waits_nobody_is_told_that_a_link_was_sent(pod, monkeypatch, where) -> None:
    """For a tick, or for a mail server: owner and stranger alike get the answer of a spent budget, and a moment later
    there is room again.

    Broken to see it red: `sent=1` whatever became of the job; the mails that wait not looked at.
    """
    monkeypatch.setattr(where, "MOST", 0)
    browser = pod.browser()
    said = set()
    for address in (ANN, "stranger@example.test"):
        reply = await browser.post("/auth/begin", data={"csrf": await browser.form(), "address": address})
        said.add(reply.headers["location"])
    assert said == {"/signin?err=rate"}
    await pod.desk.settle()
    assert pod.mailer.sent == []
    monkeypatch.undo()
    assert (await pod.ask_link(browser, ANN)).headers["location"] == "/signin?sent=1"
    assert len(pod.mailer.sent) == 1
