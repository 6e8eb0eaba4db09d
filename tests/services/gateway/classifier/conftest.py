"""A network of the test's own: what the DNS says, who answers at an address, and a list of everything asked."""

import asyncio
from asyncio import StreamReader

import pytest

from memoria_gateway.classifier.classify import Classifier

PUBLIC = "93.184.216.34"


class Transport:
    """As much of one as is aborted."""

    def __init__(self) -> None:
        self.aborted = False

    def abort(self) -> None:
        self.aborted = True


class Writer:
    """Keeps what is sent."""

    def __init__(self) -> None:
        self.sent = b""
        self.transport = Transport()

    def write(self, data: bytes) -> None:
        self.sent += data

    async def drain(self) -> None:
        return


class Net:
    """The resolver and the connector that the classifier is given."""

    def __init__(self) -> None:
        self.records = [b"host=vouch.example.org"]
        self.answers = [[PUBLIC]]  # one for each time it is asked; the last one stays
        self.reply = b"HTTP/1.1 200 OK\r\n\r\n"
        self.drip = 0.0
        self.error: Exception | None = None
        self.looked: list[str] = []
        self.resolved: list[str] = []
        self.dialled: list[tuple[str, str]] = []
        self.writer = Writer()
        self.classifier = Classifier(self.text_records, self.addresses, self.dial, deadline=0.3)

    async def text_records(self, name: str) -> list[bytes]:
        self.looked.append(name)
        return self.records

    async def addresses(self, host: str) -> list[str]:
        self.resolved.append(host)
        return self.answers[min(len(self.resolved), len(self.answers)) - 1]

    async def dial(self, address: str, host: str) -> tuple[StreamReader, Writer]:
        self.dialled.append((address, host))
        if self.error:
            raise self.error
        reader = StreamReader(limit=16 * 1024)
        if self.drip:
            self.task = asyncio.create_task(self._drip(reader))
        else:
            reader.feed_data(self.reply)
            reader.feed_eof()
        return reader, self.writer

    async def _drip(self, reader: StreamReader) -> None:
        for byte in self.reply:
            reader.feed_data(bytes([byte]))
            await asyncio.sleep(self.drip)
        reader.feed_eof()


@pytest.fixture
def net() -> Net:
    """A domain that vouches, with everything in order, until the test says otherwise."""
    return Net()
