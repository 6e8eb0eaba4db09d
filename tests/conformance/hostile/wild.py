"""A sibling on a bare socket that answers each question as it is told to, and counts what it managed to send."""

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_contract.connect_client import ConnectClient

SHORT = 0.3
"""Seconds a client has for a question to a hostile sibling."""

PROTO = "Content-Type: application/proto"
REDIRECTED = "http://elsewhere.docs.localhost"

ITEMS = {"a": "1", "b": "2", "c": "3"}
"""What an honest sibling has on the team rung: item id → revision."""

Act = Callable[["Wire", str, bytes], Awaitable[bool]]
"""(connection, method, request body) → whether the connection goes on."""


def http(status: str = "200 OK", *headers: str, body: bytes = b"", length: int | None = None) -> bytes:
    """A reply; `length` is what its Content-Length says."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body) if length is None else length}", "", ""]
    return "\r\n".join(lines).encode() + body


def proto(message: Message) -> bytes:
    """A message as a whole reply."""
    return http("200 OK", PROTO, body=message.SerializeToString())


def honest_message(method: str, body: bytes) -> Message:
    """What a sibling that keeps to the contract answers: everything VISIBLE, a feed of one page, an announce of two."""
    if method == "Authorize":
        asked = pb.AuthorizeRequest.FromString(body)
        rows = [pb.ItemVerdict(item_id=i.item_id, revision=i.revision, verdict=pb.VERDICT_VISIBLE) for i in asked.items]
        return pb.AuthorizeResponse(verdicts=rows)
    if method == "ListChanges":
        news = [] if pb.ListChangesRequest.FromString(body).cursor else ITEMS.items()
        return pb.ListChangesResponse(rows=[pb.ChangeRow(item_id=i, revision=r) for i, r in news], next_cursor="c1")
    if method == "Announce":
        page = pb.AnnounceResponse(announce_id="n1")
        if not pb.AnnounceRequest.FromString(body).page_token:
            page.opening.announce_id, page.next_page_token = "n1", "p2"
            page.items.add(item_id="a", revision=ITEMS["a"])
        else:
            page.items.extend(pb.AnnouncedItem(item_id=i, revision=r) for i, r in ITEMS.items() if i != "a")
            page.closing.item_count, page.closing.cursor = len(ITEMS), "c1"
        return page
    asked_for = pb.GetContentRequest.FromString(body).item_id
    return pb.GetContentResponse(revision=ITEMS.get(asked_for, "1"), title="Title", body=f"text-{asked_for}")


async def honest(wire: "Wire", method: str, body: bytes) -> bool:
    """Keeps to the contract."""
    await wire.say(proto(honest_message(method, body)))
    return True


class Wire:
    """One connection."""

    def __init__(self, wild: "Wild", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.wild, self.reader, self.writer = wild, reader, writer

    async def question(self) -> tuple[str, bytes]:
        """The next request, whole: its method and body. Raises IncompleteReadError where none comes."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        path = head.split(" ", 2)[1].rpartition("/")[2]
        method = next(name for name in METHODS if name.lower() == path)
        return method, await self.reader.readexactly(length)

    async def say(self, data: bytes) -> None:
        """Send, as fast as the other end takes it. Raises ConnectionError where it has hung up."""
        self.writer.write(data)
        await self.writer.drain()
        self.wild.sent += len(data)

    async def for_ever(self, data: bytes) -> bool:
        """Send the same again and again, until the other end hangs up or 128 MB are through."""
        for _ in range((128 << 20) // len(data)):
            await self.say(data)
        return False

    async def drip(self, data: bytes) -> bool:
        """A byte every 20 ms, for as long as the other end holds on, at most 30 seconds."""
        for number in range(1_500):
            await self.say(data[number : number + 1] or b"x")
            await asyncio.sleep(0.02)
        return False

    async def left_alone(self) -> bool:
        """Say nothing more, until the other end hangs up."""
        await self.reader.read()
        return False

    def reset(self) -> None:
        """End it with a RST in place of a FIN."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(1, 13, struct.pack("ii", 1, 0))  # SOL_SOCKET, SO_LINGER: on, no time
        self.writer.transport.abort()


METHODS = ("Authorize", "ListChanges", "Announce", "GetContent")


@dataclass
class Wild:
    """A server. `acts` says what to do, by method; a method without an act is answered honestly."""

    acts: dict[str, Act] = field(default_factory=dict)
    greeting: bytes = b""  # said to each connection before anything is asked
    connections: int = 0
    sent: int = 0
    asked: list[str] = field(default_factory=list)
    port: int = 0
    _busy: set[Wire] = field(default_factory=set)
    _idle: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._idle.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, to its end."""
        self.connections += 1
        wire, goes_on = Wire(self, reader, writer), True
        try:
            if self.greeting:
                await wire.say(self.greeting)
            while goes_on:
                method, body = await wire.question()
                self.asked.append(method)
                self._busy.add(wire)
                self._idle.clear()
                goes_on = await self.acts.get(method, honest)(wire, method, body)
                self._end(wire)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client hung up
        finally:
            self._end(wire)
            writer.close()

    def _end(self, wire: Wire) -> None:
        self._busy.discard(wire)
        if not self._busy:
            self._idle.set()

    async def let_go(self) -> None:
        """Wait until the client holds no connection on which it is still being answered."""
        await self._idle.wait()

    def all(self, act: Act) -> None:
        """Answer every method so."""
        self.acts = dict.fromkeys(METHODS, act)


@asynccontextmanager
async def running(wild: Wild) -> AsyncIterator[Wild]:
    """A server on a free port of the loopback."""
    server = await asyncio.start_server(wild.serve, "127.0.0.1", 0, limit=1 << 22)
    wild.port = server.sockets[0].getsockname()[1]
    try:
        yield wild
    finally:
        server.close()


class Timed(ConnectClient):
    """The production client, with the time for each call that a test gives it in place of its callers'."""

    seconds = SHORT

    async def call(self, service_method: str, request: Message, response_type: Any, timeout: float, **more: Any) -> Any:
        """As the production client."""
        return await super().call(service_method, request, response_type, self.seconds, **more)


def client_of(wild: Wild, app: str = "docs", *, seconds: float = SHORT, encoding: str = "proto") -> Timed:
    """A client of a wild sibling."""
    url = f"http://demo.{app}.localhost:{wild.port}"
    client = Timed(url, "tok", team="demo", zone="localhost", app=app, encoding=encoding)
    client.seconds = seconds
    return client
