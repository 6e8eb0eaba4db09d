"""The server half of the Connect codec: what it refuses, and how it answers."""

import asyncio
import gzip
import json

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.datastructures import Headers

from memoria.home.v1 import home_pb2
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.codec import status_of
from memoria_contract.connect_server import connect_app

PATH = "/memoria.home.v1.HomeService/GetRoster"
JSON = {"content-type": "application/json", "authorization": "Bearer t"}


class Home:
    """Answers, or raises what it was given."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.calls = 0

    async def get_roster(self, request: home_pb2.GetRosterRequest, caller: str) -> home_pb2.GetRosterResponse:
        self.calls += 1
        if self.error:
            raise self.error
        return home_pb2.GetRosterResponse(person_refs=[caller], ttl_seconds=60)


def authenticate(headers: Headers, method: str) -> str:
    assert method == "GetRoster"
    if headers.get("authorization") != "Bearer t":
        raise ServiceError(Kind.UNAUTHENTICATED, "a token is needed")
    return "p-1"


def client(home: Home, **options: int) -> httpx.AsyncClient:
    app = connect_app(home_pb2.DESCRIPTOR.services_by_name["HomeService"], home, authenticate=authenticate, **options)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://demo.home.localhost")


def code(reply: httpx.Response) -> str:
    assert reply.headers["content-type"] == "application/json"
    assert set(reply.json()) == {"code", "message"}
    return reply.json()["code"]


@pytest.mark.parametrize("verb", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"])
async def test_only_post_is_answered(verb: str) -> None:
    """Any other verb is 405 and says so, so that no question ends up in a URL."""
    reply = await client(home := Home()).request(verb, PATH, headers=JSON)
    assert (reply.status_code, reply.headers["allow"], home.calls) == (405, "POST", 0)


@pytest.mark.parametrize("path", ["/", PATH + "/", PATH.lower(), "/memoria.home.v1.HomeService/Nothing", "//x"])
async def test_unknown_method_is_unimplemented_and_never_a_redirect(path: str) -> None:
    """A path that is no method, one slash too many included, is 404 `unimplemented`."""
    reply = await client(Home()).post(path, headers=JSON, content=b"{}")
    assert (reply.status_code, code(reply)) == (404, "unimplemented")


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer x"}, {"authorization": "Basic t"}])
async def test_no_token_no_answer(headers: dict[str, str]) -> None:
    """The caller is established before the body is looked at."""
    reply = await client(home := Home()).post(
        PATH, headers={"content-type": "application/json", **headers}, content=b"garbage"
    )
    assert (reply.status_code, code(reply), home.calls) == (401, "unauthenticated", 0)


@pytest.mark.parametrize("kind", ["", "text/plain", "application/grpc", "application/json; charset=latin-1"])
async def test_other_content_types_are_refused(kind: str) -> None:
    """Only application/json and application/proto are read."""
    reply = await client(home := Home()).post(PATH, headers={**JSON, "content-type": kind}, content=b"{}")
    assert (reply.status_code, home.calls) == (415, 0)


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "gzip, identity", "x"])
async def test_compressed_bodies_are_refused_unread(encoding: str) -> None:
    """Nothing is unpacked, so nothing can unpack into a bomb."""
    body = gzip.compress(b" " * 1_000_000)
    reply = await client(home := Home()).post(PATH, headers={**JSON, "content-encoding": encoding}, content=body)
    assert (reply.status_code, code(reply), home.calls) == (501, "unimplemented", 0)


async def test_too_large_by_its_own_word() -> None:
    """A Content-Length over the limit is refused without reading."""
    reply = await client(home := Home(), limit=100).post(PATH, headers=JSON, content=b" " * 101)
    assert (reply.status_code, code(reply), home.calls) == (429, "resource_exhausted", 0)


async def test_too_large_by_count() -> None:
    """An endless chunked body is cut off at the limit.

    Broken on 2026-11-30 to see red: the count in `_read` removed.
    """
    sent = 0

    async def endless():
        nonlocal sent
        while sent < 10_000_000:
            sent += 1000
            yield b" " * 1000

    reply = await client(home := Home(), limit=5000).post(PATH, headers=JSON, content=endless())
    assert (code(reply), home.calls) == ("resource_exhausted", 0)
    assert sent <= 10_000


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'"x"', b"[" * 50_000, b'{"a":' * 50_000, b'{"x": NaN', b"\x00"],
)
async def test_malformed_json_is_invalid(body: bytes) -> None:
    """Whatever is not the message is `invalid_argument`, and its bytes are not echoed."""
    reply = await client(home := Home()).post(PATH, headers=JSON, content=body)
    assert (reply.status_code, code(reply), home.calls) == (400, "invalid_argument", 0)


async def test_malformed_proto_is_invalid() -> None:
    """A truncated binary message is `invalid_argument`."""
    headers = {**JSON, "content-type": "application/proto"}
    reply = await client(Home()).post(PATH, headers=headers, content=b"\x0a\xff")
    assert (reply.status_code, code(reply)) == (400, "invalid_argument")


@pytest.mark.parametrize(
    "extra",
    [
        [("authorization", "Bearer t")],
        [("content-type", "application/proto")],
        [("connect-protocol-version", "2")],
        [("connect-timeout-ms", "soon")],
        [("connect-timeout-ms", "-1")],
        [("connect-timeout-ms", "99999999999")],
    ],
)
async def test_odd_headers_are_refused(extra: list[tuple[str, str]]) -> None:
    """A header twice, another protocol version, a time-out that is no number."""
    reply = await client(home := Home()).post(PATH, headers=[*JSON.items(), *extra], content=b"{}")
    assert (reply.status_code, code(reply), home.calls) == (400, "invalid_argument", 0)


@pytest.mark.parametrize("kind", list(Kind))
async def test_errors_carry_their_code_and_status(kind: Kind) -> None:
    """A ServiceError is its Connect code, its status and its sentence."""
    home = Home()
    home.error = ServiceError(kind, "a fixed sentence")
    reply = await client(home).post(PATH, headers=JSON, content=b"{}")
    assert (reply.status_code, reply.json()) == (status_of(kind), {"code": kind.value, "message": "a fixed sentence"})


async def test_any_other_exception_leaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """What an implementation raises by accident reaches neither the reply nor the log (TRU-06)."""
    home = Home()
    home.error = RuntimeError("canary-7731")
    reply = await client(home).post(PATH, headers=JSON, content=b"{}")
    assert (reply.status_code, code(reply)) == (500, "internal")
    assert "RuntimeError" in caplog.text
    assert "canary" not in reply.text + caplog.text


async def test_time_allowed_by_the_caller_is_kept() -> None:
    """Connect-Timeout-Ms ends the call with `deadline_exceeded`."""

    class Slow:
        async def get_roster(self, request: object, caller: str) -> home_pb2.GetRosterResponse:
            await asyncio.sleep(30)
            raise AssertionError

    app = connect_app(home_pb2.DESCRIPTOR.services_by_name["HomeService"], Slow(), authenticate=authenticate)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as http:
        reply = await http.post(PATH, headers={**JSON, "connect-timeout-ms": "20"}, content=b"{}")
    assert (reply.status_code, code(reply)) == (504, "deadline_exceeded")


async def test_both_encodings_and_unknown_fields() -> None:
    """JSON with a field we do not know is answered in JSON, binary in binary; neither may be cached."""
    http = client(Home())
    reply = await http.post(PATH, headers=JSON, content=json.dumps({"later": {"x": 1}}).encode())
    assert reply.json() == {"personRefs": ["p-1"], "ttlSeconds": 60}
    assert (reply.headers["content-type"], reply.headers["cache-control"]) == ("application/json", "no-store")
    reply = await http.post(PATH, headers={**JSON, "content-type": "application/proto"}, content=b"\x9a\x06\x01x")
    assert home_pb2.GetRosterResponse.FromString(reply.content).person_refs == ["p-1"]
    assert reply.headers["content-type"] == "application/proto"


@settings(max_examples=50, deadline=None)
@given(body=st.binary(max_size=300), kind=st.sampled_from(["application/json", "application/proto"]))
def test_any_body_gets_an_answer(body: bytes, kind: str) -> None:
    """Whatever bytes arrive, the answer is 200 or 400, never a failure of ours."""

    async def ask() -> int:
        async with client(Home()) as http:
            return (await http.post(PATH, headers={**JSON, "content-type": kind}, content=body)).status_code

    assert asyncio.run(ask()) in (200, 400)
