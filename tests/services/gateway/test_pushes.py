"""The door of programs that push: JSON read strictly, refusals that repeat nothing, nothing lost half-way (AMD-06)."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.push_items import MAX_BODY, MAX_ITEMS, PushedItem, read_items

CONNECTOR, OTHER = "push-00112233445566aa", "push-ffeeddccbbaa9988"
OTHER_TOKEN = "memoria_con_" + "u" * 43
PATH = f"/connectors/{CONNECTOR}/items"
CANARY = "zq-secret-canary"
ITEM = {"external_id": "a", "title": "A", "text": "b"}
MIB = 1024 * 1024


@pytest.fixture
def program(pod: Any) -> Any:
    """A program with its connector's token."""
    return pod.browser(headers={"authorization": f"Bearer {pod.pushes.token}"})


async def test_items_arrive_as_they_were_meant(pod: Any, program: Any) -> None:
    """Every field, an item that is gone, one with nothing but what it needs; the reply is by place."""
    full = {
        "external_id": "1", "title": "Tides", "trail": ["Papers", "Harbour"], "text": "# Head\n\nwords",
        "date": "2026-05-01T12:30:00+02:00", "link": "https://wiki.example/1", "gone": False,
    }  # fmt: skip
    bare = {**ITEM, "trail": None, "date": None, "link": None, "gone": None}
    reply = await program.post(PATH, json={"items": [full, {"external_id": "2", "gone": True}, bare]})
    assert (reply.status_code, reply.headers["cache-control"]) == (200, "no-store")
    assert reply.json() == {"items": [{"index": i, "status": s} for i, s in enumerate(("stored", "deleted", "stored"))]}
    at = datetime(2026, 5, 1, 10, 30, tzinfo=UTC)
    assert pod.pushes.items == [
        PushedItem("1", "Tides", ("Papers", "Harbour"), "# Head\n\nwords", at, "https://wiki.example/1"),
        PushedItem("2", gone=True),
        PushedItem("a", "A", (), "b"),
    ]


BAD: list[tuple[Any, int, str]] = [
    ([], 400, "The body is an object"),
    ({}, 400, "The body is an object"),
    ({"items": [ITEM], CANARY: 1}, 400, "The body is an object"),
    ({"items": {"0": ITEM}}, 400, "The body is an object"),
    ({"items": []}, 400, "items is empty"),
    ({"items": [ITEM] * (MAX_ITEMS + 1)}, 413, "more than 100 items"),
    ({"items": [ITEM, CANARY]}, 400, "items[1] is no object"),
    ({"items": [{**ITEM, CANARY: 1}]}, 400, "items[0] has a field that is none of"),
    ({"items": [{"title": "A", "text": "b"}]}, 400, "items[0].external_id is missing"),
    ({"items": [{**ITEM, "external_id": 7}]}, 400, "items[0].external_id is no string"),
    ({"items": [{**ITEM, "external_id": ""}]}, 400, "items[0].external_id has 1 to"),
    ({"items": [{**ITEM, "external_id": CANARY * 100}]}, 400, "items[0].external_id has 1 to"),
    ({"items": [{**ITEM, "external_id": CANARY + "\0"}]}, 400, "items[0].external_id has 1 to"),
    ({"items": [{**ITEM, "external_id": CANARY + "\ud800"}]}, 400, "items[0].external_id has half a character"),
    ({"items": [ITEM, {"external_id": "b", "text": CANARY}]}, 400, "items[1].title is missing"),
    ({"items": [{**ITEM, "title": " \n"}]}, 400, "items[0].title has 1 to 300"),
    ({"items": [{**ITEM, "title": CANARY * 30}]}, 400, "items[0].title has 1 to 300"),
    ({"items": [{"external_id": "b", "title": CANARY}]}, 400, "items[0].text is missing"),
    ({"items": [{**ITEM, "text": [CANARY]}]}, 400, "items[0].text is no string"),
    ({"items": [{**ITEM, "text": "\t"}]}, 400, "items[0].text is blank"),
    ({"items": [{**ITEM, "text": CANARY + "\udfff"}]}, 400, "items[0].text has half a character"),
    ({"items": [ITEM, {**ITEM, "text": "é" * (MIB // 2 + 1)}]}, 413, "items[1].text is larger than 1 MiB"),
    ({"items": [{**ITEM, "trail": CANARY}]}, 400, "items[0].trail is a list"),
    ({"items": [{**ITEM, "trail": [CANARY] * 9}]}, 400, "items[0].trail is a list"),
    ({"items": [{**ITEM, "trail": ["a", {CANARY: 1}]}]}, 400, "items[0].trail[1] is no string"),
    ({"items": [{**ITEM, "date": CANARY}]}, 400, "items[0].date is no date"),
    ({"items": [{**ITEM, "date": 1_700_000_000}]}, 400, "items[0].date is no string"),
    ({"items": [{**ITEM, "date": "0001-01-01"}]}, 400, "items[0].date is outside"),
    ({"items": [{**ITEM, "link": f"javascript:{CANARY}"}]}, 400, "items[0].link is no address"),
    ({"items": [{**ITEM, "link": f"https://a/{CANARY} b"}]}, 400, "items[0].link is no address"),
    ({"items": [{**ITEM, "link": f"/{CANARY}"}]}, 400, "items[0].link is no address"),
    ({"items": [{**ITEM, "link": "https://a/" + "x" * 2000}]}, 400, "items[0].link is no address"),
    ({"items": [{**ITEM, "gone": CANARY}]}, 400, "items[0].gone is true or false"),
    ({"items": [{**ITEM, "gone": 1}]}, 400, "items[0].gone is true or false"),
]


@pytest.mark.parametrize(("body", "status", "said"), BAD)
async def test_a_refusal_names_field_and_place_and_repeats_nothing(
    pod: Any, program: Any, logs: Any, body: Any, status: int, said: str
) -> None:
    """One item that is wrong keeps the whole request out, and neither reply nor log has a word of it.

    Broken to see it red: the value put into the sentence; `True` taken for 1; the link's scheme not looked at.
    """
    reply = await program.post(PATH, content=json.dumps(body), headers={"content-type": "application/json"})
    assert reply.status_code == status
    assert said in reply.json()["error"]["message"]
    assert CANARY not in reply.text + logs()
    assert pod.pushes.items == []


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b'{"items": [{"external_id": "zq-secret-canary', b"\xff\xfe", b"\x00", b"null", b"[" * 100_000,
        b'{"items": ' * 50_000, b"1" * 6000, b'{"items": NaN}', b'{"items": [], "items": []}', b'"\xed\xa0\x80"',
        b'{"items": [{"external_id": "a", "external_id": "zq-secret-canary", "title": "A", "text": "b"}]}',
    ],
)  # fmt: skip
async def test_what_is_no_json_is_said_to_be_so(pod: Any, program: Any, logs: Any, body: bytes) -> None:
    """Empty, truncated, no UTF-8, nested beyond reading, names twice: 400, and nothing of it in reply or log.

    Broken to see it red: RecursionError let through; the body put into the sentence.
    """
    reply = await program.post(PATH, content=body, headers={"content-type": "application/json"})
    assert reply.status_code == 400
    assert reply.json()["error"]["kind"] == "invalid_argument"
    assert CANARY not in reply.text + logs()
    assert pod.pushes.items == []


async def test_a_body_is_bounded_while_it_arrives(pod: Any, program: Any) -> None:
    """The largest text fits with every character escaped; a body over 8 MiB is refused where it passes that.

    Broken to see it red: the body read whole first.
    """
    text = "\\u0061" * MIB
    largest = f'{{"items": [{{"external_id": "a", "title": "A", "text": "{text}"}}]}}'
    reply = await program.post(PATH, content=largest, headers={"content-type": "application/json"})
    assert reply.status_code == 200
    assert len(pod.pushes.items[0].text) == MIB
    sent = 0

    async def endless() -> Any:
        nonlocal sent
        while sent < 100 * MIB:
            sent += MIB
            yield b" " * MIB

    reply = await program.post(PATH, content=endless(), headers={"content-type": "application/json"})
    assert (reply.status_code, reply.json()["error"]["kind"]) == (413, "out_of_range")
    assert "8 MiB" in reply.json()["error"]["message"]
    assert sent <= MAX_BODY + 2 * MIB


async def test_a_connector_whose_bodies_drip_in_holds_no_other_up(pod: Any) -> None:
    """Twenty requests of one that never end: two are taken, the others refused, and another's is answered; those
    that are cut off leave nothing behind.

    Broken to see it red, each in turn: no bound for each connector; what was cut off counted on.
    """
    own = {"authorization": f"Bearer {pod.pushes.token}", "content-type": "application/json"}
    never = asyncio.Event()

    async def drip() -> AsyncIterator[bytes]:
        yield b"{"
        await never.wait()

    slow = [asyncio.create_task(pod.browser(headers=own).post(PATH, content=drip())) for _ in range(20)]
    await asyncio.sleep(0.05)
    pod.pushes.others[OTHER] = OTHER_TOKEN
    other = {"authorization": f"Bearer {OTHER_TOKEN}"}
    reply = await asyncio.wait_for(
        pod.browser(headers=other).post(PATH.replace(CONNECTOR, OTHER), json={"items": [ITEM]}), 10
    )
    assert reply.status_code == 200
    assert len(pod.pushes.items) == 1
    refused = [task.result() for task in slow if task.done()]
    assert [reply.status_code for reply in refused] == [429] * 18
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)
    assert (await pod.browser(headers=own).post(PATH, json={"items": [ITEM]})).status_code == 200


async def test_nothing_is_read_for_a_token_that_is_not_taken(pod: Any) -> None:
    """The door is asked before the body. Broken to see it red: the body read first."""
    sent = 0

    async def counted() -> Any:
        nonlocal sent
        for _ in range(4):
            sent += 1
            yield b" " * MIB

    stranger = pod.browser(headers={"authorization": "Bearer memoria_con_" + "x" * 43})
    reply = await stranger.post(PATH, content=counted(), headers={"content-type": "application/json"})
    assert (reply.status_code, sent) == (401, 0)


async def test_a_form_is_no_push(pod: Any, program: Any) -> None:
    """What a form of another site can send without asking is not taken, whatever it holds."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        reply = await program.post(PATH, content=json.dumps({"items": [ITEM]}), headers={"content-type": kind})
        assert reply.status_code == 400, kind
    assert pod.pushes.items == []


async def test_a_batch_that_fails_half_way_says_what_was_taken(pod: Any, program: Any) -> None:
    """Those before it stay taken and are named; the same request again is safe, and then all are.

    Broken to see it red: the reply of a failure without `items`.
    """
    items = [{**ITEM, "external_id": name} for name in "abc"]
    for error, status in (
        (ServiceError(Kind.UNAVAILABLE, "search cannot be reached"), 503),
        (ServiceError(Kind.UNAUTHENTICATED, "This connector's own token is needed."), 401),
        (ServiceError(Kind.DEADLINE, "ingest did not answer in time"), 504),
        (ServiceError(Kind.INVALID, "There is no text in this file."), 400),
    ):
        pod.pushes.items.clear()
        pod.pushes.refused = {"b": error}
        reply = await program.post(PATH, json={"items": items})
        assert reply.status_code == status
        assert reply.json()["items"] == [{"index": 0, "status": "stored"}]
        assert reply.json()["error"]["kind"] == error.kind.value
        assert reply.json()["error"]["message"].startswith("items[1] was not taken, nor were those behind it.")
        assert [item.external_id for item in pod.pushes.items] == ["a"]
    pod.pushes.refused = {}
    reply = await program.post(PATH, json={"items": items})
    assert (reply.status_code, len(reply.json()["items"])) == (200, 3)


async def test_the_origin_of_a_page_is_handed_on(pod: Any, program: Any) -> None:
    """A page of another origin is told so; a program of no page says none.

    Broken to see it red: the header not handed on.
    """
    pod.pushes.allowed = {"https://app.example"}
    for origin, status in (("https://app.example", 200), ("https://evil.example", 403), ("null", 403), (None, 200)):
        headers = {} if origin is None else {"origin": origin}
        assert (await program.post(PATH, json={"items": [ITEM]}, headers=headers)).status_code == status, origin


async def test_ingest_that_is_away_is_a_503(pod: Any, program: Any) -> None:
    """As JSON, for programs."""
    pod.pushes.down = ServiceError(Kind.UNAVAILABLE, "ingest cannot be reached")
    reply = await program.post(PATH, json={"items": [ITEM]})
    assert (reply.status_code, reply.json()["error"]["kind"]) == (503, "unavailable")


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["a", "2026-05-01", "https://a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*PushedItem.__dataclass_fields__, "items", "x"]), inner, max_size=8)
    ),
    max_leaves=20,
)
ITEMS = st.fixed_dictionaries(
    {"items": st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(PushedItem.__dataclass_fields__, VALUES)))}
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary() | (VALUES | ITEMS).map(lambda value: json.dumps(value).encode()))
async def test_no_garbage_is_a_fault_of_ours(pod: Any, body: bytes) -> None:
    """Whatever comes: taken or refused, never 5xx. Broken to see it red: the year of a date not bounded."""
    program = pod.browser(headers={"authorization": f"Bearer {pod.pushes.token}"})
    reply = await program.post(PATH, content=body, headers={"content-type": "application/json"})
    assert reply.status_code in {200, 400, 413}


@settings(max_examples=100)
@given(st.datetimes(timezones=st.none() | st.timezones()))
def test_any_date_is_one_that_a_message_carries(moment: datetime) -> None:
    """Or it is refused."""
    body = json.dumps({"items": [{**ITEM, "date": moment.isoformat()}]}).encode()
    try:
        (item,) = read_items(body)
    except ServiceError as error:
        assert error.kind is Kind.INVALID  # noqa: PT017 - either is right
    else:
        assert item.date is not None
        assert item.date.utcoffset() == UTC.utcoffset(None)
