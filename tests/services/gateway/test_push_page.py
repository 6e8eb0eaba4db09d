"""Push connectors on the owner's page: made, shown once, listed in words, removed after a question (AUT-12, TRU-07)."""

import re
from dataclasses import replace
from html import unescape
from typing import Any

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.push_client import PushConnector

ANN, BOB = "ann@example.test", "bob@example.test"
CONNECTOR = "push-00112233445566aa"
MADE, TOKEN = "push-ffeeddccbbaa9988", "memoria_con_" + "u" * 43


@pytest.fixture
def pod(pod: Any) -> Any:
    """Ann owns the team, Bob is a member."""
    pod.gate.owners = {ANN}
    return pod


def row(page: str, name: str) -> str:
    """A cell of the connectors' part of the page."""
    found = re.search(rf'<th scope="row">{name}</th><td>(.*?)</td>', page.split('id="push-connectors"')[1])
    assert found, name
    return unescape(re.sub(r"<[^>]+>", "", found.group(1)))


async def test_a_token_is_shown_once_and_stands_in_no_address(pod: Any, logs: Any) -> None:
    """In the reply to the form, with the address that it is for; not on the page afterwards, and in no log.

    Broken to see it red: a redirect with the token in its address.
    """
    ann = await pod.signed_in()
    fields = {
        "csrf": await ann.form("/connectors"),
        "name": " Wiki ",
        "origins": "https://A.example/, http://b.example:81",
    }
    reply = await ann.post("/connectors", data=fields)
    assert (reply.status_code, reply.headers["cache-control"]) == (200, "no-store")
    assert reply.text.count(TOKEN) == 1
    assert f"http://localhost:8080/connectors/{MADE}/items" in reply.text
    assert pod.pushes.made == [("Wiki", ("https://a.example", "http://b.example:81"))]
    assert TOKEN not in (await ann.get("/connectors")).text + logs()
    assert "Wiki" not in logs()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "1 to 60 characters"),
        ({"name": "  "}, "1 to 60 characters"),
        ({"name": "n" * 61}, "1 to 60 characters"),
        ({"name": "\u202e"}, "that can be seen"),
        ({"name": "a\u2060b"}, "that can be seen"),
        ({"name": "a\x1bb"}, "that can be seen"),
        ({"name": "n", "origins": "app.example"}, "An origin is a scheme and a host"),
        ({"name": "n", "origins": "https://app.example/path"}, "An origin is a scheme and a host"),
        ({"name": "n", "origins": "null"}, "An origin is a scheme and a host"),
        ({"name": "n", "origins": "https://*"}, "An origin is a scheme and a host"),
        ({"name": "n", "origins": "https://" + "a" * 200}, "at most 200 characters"),
        ({"name": "n", "origins": "https://app.example:443"}, "An origin is a scheme and a host"),
        ({"name": "n", "origins": "https://app.example:99999"}, "An origin is a scheme and a host"),
        ({"name": "n", "origins": " ".join(f"https://a{i}.example" for i in range(11))}, "at most 10 origins"),
    ],
)
async def test_a_form_that_makes_no_sense_makes_nothing(pod: Any, fields: dict[str, str], said: str) -> None:
    """A sentence of what to change."""
    ann = await pod.signed_in()
    reply = await ann.post("/connectors", data={"csrf": await ann.form("/"), **fields})
    assert reply.status_code == 400
    assert said in reply.text
    assert pod.pushes.made == []


async def test_the_page_lists_connectors_in_words(pod: Any) -> None:
    """Name, address, when used, how much is held; what cannot be told is no zero, and a name is no markup.

    Broken to see it red: `held` of None shown as 0; the name unescaped.
    """
    ann = await pod.signed_in()
    page = (await ann.get("/connectors")).text
    assert (row(page, "Address"), row(page, "Made")) == (f"/connectors/{CONNECTOR}/items", "2026-05-01 00:00 UTC")
    assert (row(page, "Last used"), row(page, "Held items"), row(page, "Allowed origins")) == ("never", "3", "any")
    assert "The documents that it brought stay until somebody deletes them here." in page
    made = pod.pushes.listed[0]
    pod.pushes.listed = [
        replace(made, name="<b>x</b>", origins=("https://a.example",), held=None, used_at=made.created_at)
    ]
    page = (await ann.get("/connectors")).text
    assert (row(page, "Held items"), row(page, "Allowed origins")) == ("cannot be told right now", "https://a.example")
    assert row(page, "Last used") == "2026-05-01 00:00 UTC"
    assert "<b>x</b>" not in page
    pod.pushes.down = ServiceError(Kind.UNAVAILABLE, "ingest cannot be reached")
    page = await ann.get("/connectors")
    assert (page.status_code, "Push connectors" in page.text) == (200, False)


async def test_a_removal_asks_first_and_says_what_stays(pod: Any) -> None:
    """Anything but a plain yes is the question (AUT-12 said on it); then it is done, once; one that is none is a 404.

    Broken to see it red: removed at the first press.
    """
    ann = await pod.signed_in()
    form = {"csrf": await ann.form("/")}
    path = f"/connectors/{CONNECTOR}/delete"
    for fields in ({}, {"confirm": "no"}):
        page = await ann.post(path, data=form | fields)
        assert page.status_code == 200
        assert "(3 items)" in page.text
        assert "until somebody deletes it here" in page.text
        assert pod.pushes.removed == []
    done = await ann.post(path, data=form | {"confirm": "yes"})
    assert done.status_code == 303
    assert "its token opens nothing any more" in (await ann.get(done.headers["location"])).text
    assert pod.pushes.removed == [CONNECTOR]
    assert pod.intake.wishes == []
    for fields in ({}, {"confirm": "yes"}):
        assert (await ann.post("/connectors/push-0000000000000000/delete", data=form | fields)).status_code == 404


async def test_a_new_token_is_shown_once_in_place_of_the_old_one(pod: Any, logs: Any) -> None:
    """On the page that answers the button, and nowhere else; another button of an app is none of a connector's.

    Broken to see it red: a redirect with the token in its address.
    """
    ann = await pod.signed_in()
    form = {"csrf": await ann.form("/")}
    path = f"/connectors/{CONNECTOR}/sync"
    for what in ("", "feed", "pause"):
        assert (await ann.post(path, data=form | {"what": what})).status_code == 400
    assert pod.pushes.token != TOKEN
    reply = await ann.post(path, data=form | {"what": "token"})
    assert (reply.status_code, reply.headers["cache-control"]) == (200, "no-store")
    assert reply.text.count(TOKEN) == 1
    assert f"/connectors/{CONNECTOR}/items</code>" in reply.text
    assert pod.pushes.token == TOKEN
    assert TOKEN not in (await ann.get("/connectors")).text + logs()
    none = await ann.post("/connectors/push-0000000000000000/sync", data=form | {"what": "token"})
    assert none.status_code == 404


async def test_a_member_makes_renews_and_removes_none(pod: Any) -> None:
    """403 for Bob, and he is shown none. Broken to see it red: any member let in."""
    bob = await pod.signed_in(BOB)
    form = {"csrf": await bob.form("/"), "name": "Wiki", "confirm": "yes", "what": "token"}
    before = pod.pushes.token
    for path in ("/connectors", f"/connectors/{CONNECTOR}/sync", f"/connectors/{CONNECTOR}/delete"):
        reply = await bob.post(path, data=form)
        assert reply.status_code == 403
        assert "Wiki" not in reply.text
    assert pod.pushes.made == pod.pushes.removed == []
    assert pod.pushes.token == before


def test_no_repr_has_a_name() -> None:
    """What is logged by accident says an id."""
    assert "Wiki" not in repr(PushConnector(CONNECTOR, "Wiki", ("https://a.example",)))
