"""Ten thousand malformed requests at every door: no 500, no traceback, no process lost, nothing forgotten.

Half are whole requests with a few bytes broken, which is what gets furthest; the others are what nobody's client sends.
"""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from memoria.extract.v1 import extract_pb2
from memoria.gate.v1 import gate_pb2
from memoria.index.v1 import index_pb2
from memoria.intake.v1 import intake_pb2
from memoria_chassis.rpc.allow import TOKEN_KEY
from memoria_chassis.settings import SERVICES

pytestmark = [pytest.mark.fleet, pytest.mark.slow]

PAGES, INTERNAL, CALLS, FRAMES = 6_500, 300, 500, 100  # in all; then for each service
AT_ONCE = 16
WORD = "bittern"  # in no other paper of the demo
RPCS = {
    "authz": gate_pb2.DESCRIPTOR.services_by_name["GateService"],
    "search": index_pb2.DESCRIPTOR.services_by_name["IndexService"],
    "ingest": intake_pb2.DESCRIPTOR.services_by_name["IntakeService"],
    "extract": extract_pb2.DESCRIPTOR.services_by_name["ExtractService"],
}
_STATUS = re.compile(rb"^HTTP/1\.[01] (\d{3})")
_BYTES = (
    b"\0",
    b"\r",
    b"\n",
    b"\r\n",
    b"\r\n\r\n",
    b"\xff",
    b"\xc0\x80",
    b" ",
    b":",
    b"%",
    b"\t",
    b"\x7f",
    b"\xe2\x80\xae",
)


def whole(cookie: str, token: str, form: str) -> list[bytes]:
    """Requests as browsers and programs send them, with a session and a personal token that are good."""
    host = b"Host: localhost\r\n"
    signed = host + f"Cookie: memoria_session={cookie}\r\n".encode()
    bearer = host + f"Authorization: Bearer {token}\r\n".encode()
    fields = f"csrf={form}&name=a&scope=read&days=30&theme=dark&address=a%40example.test&next=%2F".encode()
    typed = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n" % len(fields) + fields
    parts = (
        b'--b\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n' + form.encode() + b"\r\n"
        b'--b\r\nContent-Disposition: form-data; name="f"; filename="a.md"\r\n\r\n# A heron\r\n--b--\r\n'
    )
    upload = b"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: %d\r\n\r\n" % len(parts) + parts
    chunked = b"Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunked += b"%x\r\n" % len(parts) + parts + b"\r\n0\r\n\r\n"
    return [
        *(
            b"GET %s HTTP/1.1\r\n" % path + signed + b"\r\n"
            for path in (b"/?q=ferry", b"/search?q=crew&page=2", b"/connectors")
        ),
        *(b"GET %s HTTP/1.1\r\n" % path + host + b"\r\n" for path in (b"/signin", b"/static/memoria.css", b"/readyz")),
        b"GET /api/v1/search?q=ferry&limit=5 HTTP/1.1\r\n" + bearer + b"\r\n",
        b"GET /api/v1/documents/abc HTTP/1.1\r\n" + bearer + b"\r\n",
        *(
            b"POST %s HTTP/1.1\r\n" % path + signed + typed
            for path in (b"/account/tokens", b"/auth/begin", b"/appearance")
        ),
        b"POST /documents HTTP/1.1\r\n" + signed + upload,
        b"POST /api/v1/documents HTTP/1.1\r\n" + bearer + upload,
        b"POST /api/v1/documents HTTP/1.1\r\n" + bearer + chunked,
    ]


def strange(cookie: str, token: str) -> Iterator[bytes]:
    """What nobody's client sends, signed in and not."""
    host = b"Host: localhost\r\n"
    yield from (
        b"",
        b"\0",
        b"\r\n\r\n",
        b"GET",
        b"GET /\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
    )
    yield b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"
    yield b"GET " + b"/" * 100_000 + b" HTTP/1.1\r\n" + host + b"\r\n"
    yield b"GET / HTTP/1.1\r\n" + host + b"X: " + b"a" * 200_000 + b"\r\n\r\n"
    yield b"GET / HTTP/1.1\r\n" + host + b"".join(b"X%d: a\r\n" % n for n in range(5_000)) + b"\r\n"
    yield b"GET http://evil.example/ HTTP/1.1\r\n" + host + b"\r\n"
    yield b"CONNECT evil.example:443 HTTP/1.1\r\n" + host + b"\r\n"
    yield b"GET / HTTP/1.1\r\n\r\n"
    yield b"DELETE /signin HTTP/1.1\r\n" + host + b"\r\n"
    yield b"GET / HTTP/1.1\r\n" + host + b"Host: evil.example\r\n\r\n"
    smuggled = b"GET /connectors HTTP/1.1\r\n" + host + b"\r\n"
    post = b"POST /auth/begin HTTP/1.1\r\n" + host
    yield post + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled
    yield post + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + smuggled
    yield post + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + smuggled
    yield post + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"
    for length in (b"-1", b"+1", b"0x10", b"99999999999999999999", b"1e3", b" ", b"\xd9\xa1"):
        yield post + b"Content-Length: " + length + b"\r\n\r\nabc"
    for size in (b"g", b"-1", b"ffffffffffffffffff", b"", b"5;x=" + b"y" * 70_000):
        yield post + b"Transfer-Encoding: chunked\r\n\r\n" + size + b"\r\nabcde\r\n0\r\n\r\n"
    for path in (
        b"/%",
        b"/%zz",
        b"/%00",
        b"/%ff",
        b"/..%2f..%2fetc",
        b"//evil.example/",
        b"/\xff",
        b"/?q=%",
        b"/?q=%ff%fe",
        b"/*",
    ):
        yield b"GET " + path + b" HTTP/1.1\r\n" + host + b"\r\n"
    for kind in (
        b"",
        b"x",
        b"multipart/form-data",
        b"multipart/form-data; boundary=",
        b"application/json; charset=\xff",
    ):
        yield post + b"Content-Type: " + kind + b"\r\nContent-Length: 3\r\n\r\n{[\0"
    yield smuggled * 50
    signed = host + f"Cookie: memoria_session={cookie}\r\n".encode()
    bearer = host + f"Authorization: Bearer {token}\r\n".encode()
    numbers = (b"x", b"-1", b"0", b"1e3", b"%D9%A1", b"9" * 5_000, b"1_0", b"%00", b"", b"1.0", b"%2B1", b"0x1")
    for number in numbers:
        yield b"GET /?q=crew&page=" + number + b" HTTP/1.1\r\n" + signed + b"\r\n"
        yield b"GET /api/v1/search?q=crew&page=" + number + b"&limit=" + number + b" HTTP/1.1\r\n" + bearer + b"\r\n"
    for field in (b"csrf=%C3%A9", b"csrf=%ED%A0%80", b"csrf", b"csrf=a&csrf=b", b"=", b"&&&;", b"csrf=%", b"%00=%00"):
        form = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n" % len(field) + field
        for path in (
            b"/account/tokens",
            b"/appearance",
            b"/auth/begin",
            b"/connectors/docs/sync",
            b"/documents/x/delete",
        ):
            yield b"POST " + path + b" HTTP/1.1\r\n" + signed + form
    yield b"GET / HTTP/1.1\r\n" + host + b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n"
    yield b"GET / HTTP/1.1\r\n" + host + b"Cookie: " + b"memoria_session=\xff\xfe; \0=\r\n\r\n"
    yield b"GET /api/v1/search?q=a HTTP/1.1\r\n" + host + b"Authorization: Bearer \xff" + b"a" * 9_000 + b"\r\n\r\n"


def broken(draw: random.Random, request: bytes) -> bytes:
    """A request with a few bytes taken, put in, changed or repeated, or its end cut off."""
    data = bytearray(request)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(data) + 1)
        match draw.randrange(6):
            case 0:
                del data[at : at + draw.randint(1, 8)]
            case 1:
                data[at:at] = draw.choice(_BYTES)
            case 2 if at < len(data):
                data[at] = draw.randrange(256)
            case 3:
                data[at:at] = data[at : at + draw.randint(1, 40)]
            case 4:
                del data[at:]
            case _:
                data[at:at] = draw.randbytes(draw.randint(1, 20))
        if not data:
            return b"\0"
    return bytes(data)


class Doors:
    """Sends, some at a time, and counts how each ended."""

    def __init__(self) -> None:
        self.ended: Counter[str] = Counter()
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def raw(self, opened: Callable[[], Any], data: bytes) -> None:
        """Bytes on a connection, and whatever comes back; its first status, if there is one."""
        async with self._slots:
            try:
                reader, writer = await opened()
                try:
                    async with asyncio.timeout(5):
                        writer.write(data)
                        await writer.drain()
                        if writer.can_write_eof():
                            writer.write_eof()
                        said = await reader.read(65_536)
                finally:
                    writer.close()
            except TimeoutError:
                self.ended["held"] += 1
                return
            except OSError:
                self.ended["closed"] += 1
                return
        found = _STATUS.match(said)
        self.ended[found.group(1).decode() if found else "closed"] += 1

    async def call(self, channel: grpc.aio.Channel, path: str, token: str, data: bytes) -> None:
        """A gRPC call with these bytes for its message."""
        method = channel.unary_unary(path, request_serializer=bytes, response_deserializer=bytes)
        async with self._slots:
            try:
                await method(data, metadata=((TOKEN_KEY, token),) if token else None, timeout=5)
                self.ended["OK"] += 1
            except grpc.aio.AioRpcError as error:
                self.ended[error.code().name] += 1


async def storm(
    fleet: Any, run_dir: Path, requests: list[bytes], odd: list[bytes], tokens: list[str]
) -> tuple[Counter[str], Counter[str]]:
    """All of it; how the pages ended and how the calls did."""
    draw, pages, calls = random.Random(11), Doors(), Doors()
    jobs = [pages.raw(lambda: asyncio.open_connection("127.0.0.1", fleet.port), each) for each in odd]
    for _ in range(PAGES):
        data = broken(draw, draw.choice(requests)) if draw.random() < 0.9 else draw.randbytes(draw.randint(1, 400))
        jobs.append(pages.raw(lambda: asyncio.open_connection("127.0.0.1", fleet.port), data))
    channels = []
    for service in SERVICES:
        port = int((run_dir / f"{service}.port").read_text())
        for _ in range(INTERNAL):
            data = broken(draw, b"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")
            jobs.append(pages.raw(lambda port=port: asyncio.open_connection("127.0.0.1", port), data))
        if service not in RPCS:
            continue
        socket = str(run_dir / f"{service}.sock")
        for _ in range(FRAMES):
            data = draw.choice((b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")) + draw.randbytes(draw.randint(1, 200))
            jobs.append(calls.raw(lambda socket=socket: asyncio.open_unix_connection(socket), data))
        channel = grpc.aio.insecure_channel(f"unix:{socket}")
        channels.append(channel)
        names = [f"/{RPCS[service].full_name}/{method.name}" for method in RPCS[service].methods]
        names = [name for name in names if "Delete" not in name and "Retire" not in name and "Remove" not in name]
        for _ in range(CALLS):
            path = draw.choice([*names, "/x/y", "/", f"/{RPCS[service].full_name}/"])
            data = draw.randbytes(draw.choice((0, 1, 7, 60, 5_000)))
            jobs.append(calls.call(channel, path, draw.choice([*tokens, "", "made-up"]), data))
    draw.shuffle(jobs)
    await asyncio.gather(*jobs)
    for channel in channels:
        await channel.close()
    return pages.ended, calls.ended


def test_ten_thousand_malformed_requests(new_fleet: Callable[..., Any]) -> None:
    """Afterwards the same processes are ready, have logged no failure of their own, and find what they found before.

    Broken to see it red: a page number read by `int`; a form's token compared as text; a host taken for granted; a
    call's bytes parsed by the library (as they were, until this found it).
    """
    fleet = new_fleet()
    fleet.settled()
    person = fleet.person("you@localhost")
    made = person.program.post("/api/v1/documents", files=[("f", ("bittern.md", f"# Reeds\n\nThe {WORD}.\n"))])
    assert made.status_code == 201
    before = [row["document_id"] for row in person.search(WORD)["results"]]
    ferry = sorted(row["document_id"] for row in person.search("ferry")["results"])
    assert len(before) == 1
    pids = fleet.pids()
    run_dir = fleet.run_dir
    token = person.program.headers["Authorization"].removeprefix("Bearer ")
    cookie = person.browser.cookies["memoria_session"]
    requests, odd = whole(cookie, token, person.csrf()), list(strange(cookie, token))

    pages, calls = asyncio.run(
        storm(
            fleet, run_dir, requests, odd, [path.read_text().strip() for path in (run_dir / "callers").glob("*.caller")]
        )
    )

    assert sum(pages.values()) + sum(calls.values()) >= 10_000
    assert {"200", "303", "400", "401", "404", "405"} <= set(pages), pages  # some got far
    assert {"OK", "INVALID_ARGUMENT", "UNAUTHENTICATED", "PERMISSION_DENIED"} <= set(calls), calls
    assert not [status for status in pages if status.startswith("5") or status == "held"], pages
    assert not {"UNKNOWN", "INTERNAL"} & set(calls), calls
    assert fleet.pids() == pids
    assert fleet.status()["ready"]
    for service in SERVICES:
        log = (fleet.data / "logs" / f"{service}.log").read_text()
        assert '"level": "error"' not in log, (service, [line for line in log.splitlines() if '"error"' in line][:3])
        assert "Traceback" not in log
    assert [row["document_id"] for row in person.search(WORD)["results"]] == before
    assert sorted(row["document_id"] for row in person.search("ferry")["results"]) == ferry
