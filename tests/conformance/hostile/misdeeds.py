"""What a hostile sibling does on the wire, whatever it was asked, as a table from a name to an act."""

import gzip
import zlib

from conformance.hostile.wild import PROTO, REDIRECTED, Act, Wire, honest_message, http

CHUNKED = f"HTTP/1.1 200 OK\r\n{PROTO}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
OK = f"HTTP/1.1 200 OK\r\n{PROTO}\r\n".encode()
DEEP = b"[" * 100_000


def raw(data: bytes) -> Act:
    """These bytes, then a FIN."""

    async def act(wire: Wire, method: str, body: bytes) -> bool:
        await wire.say(data)
        return False

    return act


def body(data: bytes) -> Act:
    """A proper reply around a body that is none."""
    return raw(http("200 OK", PROTO, body=data))


def around(before: bytes, after: bytes = b"", *, cut: int = 0) -> Act:
    """The honest body, less its last `cut` bytes, between other bytes."""

    async def act(wire: Wire, method: str, request: bytes) -> bool:
        message = honest_message(method, request).SerializeToString()
        head = before.replace(b"LENGTH", str(len(message)).encode()).replace(b"HEX", f"{len(message):x}".encode())
        await wire.say(head + message[: len(message) - cut] + after)
        return False

    return act


def stays(data: bytes) -> Act:
    """These bytes, and then nothing until the client has enough."""

    async def act(wire: Wire, method: str, body: bytes) -> bool:
        await wire.say(data)
        return await wire.left_alone()

    return act


def endless(before: bytes, again: bytes) -> Act:
    """A beginning and then the same for ever."""

    async def act(wire: Wire, method: str, body: bytes) -> bool:
        await wire.say(before)
        return await wire.for_ever(again)

    return act


def dripping(before: bytes, data: bytes = b"") -> Act:
    """A beginning and then a byte now and then."""

    async def act(wire: Wire, method: str, body: bytes) -> bool:
        await wire.say(before)
        return await wire.drip(data)

    return act


async def _half_closed(wire: Wire, method: str, body: bytes) -> bool:
    wire.writer.write_eof()
    return await wire.left_alone()


async def _half_closed_in_the_body(wire: Wire, method: str, body: bytes) -> bool:
    await wire.say(http("200 OK", PROTO, body=b"\x0a\x01", length=50))
    wire.writer.write_eof()
    return await wire.left_alone()


async def _reset(wire: Wire, method: str, body: bytes) -> bool:
    wire.reset()
    return False


async def _reset_in_the_body(wire: Wire, method: str, body: bytes) -> bool:
    await wire.say(http("200 OK", PROTO, body=b"\x0a\x01", length=50))
    wire.reset()
    return False


SILENT: dict[str, Act] = {
    "silence": stays(b""),
    "half-closed without a word": _half_closed,
    "silent in the status line": stays(b"HTTP/1.1 2"),
    "silent in a header": stays(OK + b"X: "),
    "silent in the body": stays(OK + b"Content-Length: 50\r\n\r\n\x0a"),
    "silent behind a chunk": stays(CHUNKED + b"1\r\n\x0a\r\n"),
    "silent behind an interim reply": stays(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
    "dripping from the first byte": dripping(b"", b"HTTP/1.1 200 OK\r\nX: "),
    "dripping headers": dripping(OK, b"X: y\r\n" * 20),
    "dripping body": dripping(OK + b"Content-Length: 100000\r\n\r\n"),
    "dripping chunks": dripping(CHUNKED, b"1\r\nx\r\n" * 300),
    "dripping interim replies": dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
}
"""Ends only at the deadline."""

ENDLESS: dict[str, Act] = {
    "endless headers": endless(OK, b"X: y\r\n" * 5_000),
    "an endless header": endless(OK + b"X: ", b"x" * 65_536),
    "an endless header name": endless(OK, b"X" * 65_536),
    "an endless reason": endless(b"HTTP/1.1 200 ", b"o" * 65_536),
    "blank lines before the status line": endless(b"", b"\r\n" * 32_768),
    "an endless body": endless(OK + b"\r\n", b"\x0a\x00" * 32_768),
    "an endless body of empty messages in chunks": endless(CHUNKED, b"2\r\n\x0a\x00\r\n" * 8_192),
    "an endless chunk extension": endless(CHUNKED + b"1;", b"x" * 65_536),
    "an endless chunk size": endless(CHUNKED, b"0" * 65_536),
    "endless trailers": endless(CHUNKED + b"0\r\n", b"X: y\r\n" * 5_000),
    "an endless error": endless(b"HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\n\r\n", b" " * 65_536),
    "an endless redirect": endless(f"HTTP/1.1 302 F\r\nLocation: {REDIRECTED}\r\n\r\n".encode(), b" " * 65_536),
    "interim replies for ever": endless(b"", b"HTTP/1.1 102 Processing\r\n\r\n" * 2_000),
    "another protocol for ever": endless(
        b"HTTP/1.1 101 S\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n", b"x" * 65_536
    ),
}
"""Never ends by itself."""

BROKEN: dict[str, Act] = {
    "closed at once": raw(b""),
    "reset at once": _reset,
    "reset in the body": _reset_in_the_body,
    "half-closed in the body": _half_closed_in_the_body,
    "closed in the status line": raw(b"HTTP/1.1 20"),
    "closed in a header": raw(OK + b"Content-Le"),
    "closed behind the headers": raw(OK + b"Content-Length: 50\r\n\r\n"),
    "random bytes": raw(bytes(range(256)) * 40),
    "a TLS alert": raw(b"\x15\x03\x01\x00\x02\x02\x46"),
    "an HTTP/2 preface": raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"),
    "a request": raw(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"),
    "another version": raw(OK.replace(b"1.1", b"9.9") + b"Content-Length: 0\r\n\r\n"),
    "no version": raw(b"200 OK\r\n\r\n"),
    "letters for a status": around(OK.replace(b"200", b"2OO") + b"Content-Length: LENGTH\r\n\r\n"),
    "a long status": around(OK.replace(b"200", b"20000") + b"Content-Length: LENGTH\r\n\r\n"),
    "a negative status": around(OK.replace(b"200", b"-200") + b"Content-Length: LENGTH\r\n\r\n"),
    "no status": raw(b"HTTP/1.1\r\n\r\n"),
    "206": around(OK.replace(b"200 OK", b"206 Partial") + b"Content-Length: LENGTH\r\n\r\n"),
    "101": raw(b"HTTP/1.1 101 S\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n"),
    "five interim replies and an answer": around(
        b"HTTP/1.1 100 Continue\r\n\r\n" * 5 + OK + b"Content-Length: LENGTH\r\n\r\n"
    ),
    "a header without a colon": around(OK + b"hello\r\nContent-Length: LENGTH\r\n\r\n"),
    "a NUL in a header": around(OK + b"X: a\0b\r\nContent-Length: LENGTH\r\n\r\n"),
    "two lengths": around(OK + b"Content-Length: LENGTH\r\nContent-Length: 1\r\n\r\n"),
    "two lengths in one": around(OK + b"Content-Length: LENGTH, 1\r\n\r\n"),
    "a length and chunks": around(OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"),
    "a length below nought": around(OK + b"Content-Length: -1\r\n\r\n"),
    "a length in hex": around(OK + b"Content-Length: 0x4\r\n\r\n"),
    "a length past any": around(OK + b"Content-Length: 99999999999999999999999\r\n\r\n"),
    "a length too high": around(OK + b"Content-Length: 1LENGTH\r\n\r\n"),
    "a length too low": around(OK + b"Content-Length: 3\r\n\r\n"),
    "a body cut at its length": around(OK + b"Content-Length: LENGTH\r\n\r\n", cut=1),
    "a chunk too long": around(CHUNKED + b"1HEX\r\n", b"\r\n0\r\n\r\n"),
    "a chunk too short": around(CHUNKED + b"1\r\n", b"\r\n0\r\n\r\n"),
    "a chunk of no size": around(CHUNKED + b"zz\r\n", b"\r\n0\r\n\r\n"),
    "a chunk below nought": around(CHUNKED + b"-1\r\n", b"\r\n0\r\n\r\n"),
    "a chunk past any": around(CHUNKED + b"FFFFFFFFFFFFFFFFFF\r\n", b"\r\n0\r\n\r\n"),
    "no last chunk": around(CHUNKED + b"HEX\r\n", b"\r\n"),
    "gzip in transfer": around(CHUNKED.replace(b"chunked", b"gzip, chunked") + b"1\r\n", b"\r\n0\r\n\r\n"),
    "no content type": around(b"HTTP/1.1 200 OK\r\nContent-Length: LENGTH\r\n\r\n"),
    "a strange charset": around(OK.replace(b"proto\r", b"proto; charset=utf-16\r") + b"Content-Length: LENGTH\r\n\r\n"),
    "two encodings": around(OK + b"Content-Encoding: identity, gzip\r\nContent-Length: LENGTH\r\n\r\n"),
    "an unheard-of encoding": around(OK + b"Content-Encoding: zstd\r\nContent-Length: LENGTH\r\n\r\n"),
    "a bomb": raw(http("200 OK", PROTO, "Content-Encoding: GZIP", body=gzip.compress(bytes(50_000_000)))),
    "a bomb in place of an error": raw(
        http("500 O", "Content-Type: application/json", "Content-Encoding: deflate", body=zlib.compress(DEEP * 100))
    ),
    "a deep error": raw(http("400 B", "Content-Type: application/json", body=b'{"code":' + DEEP[:60_000])),
    "a page to sign in": raw(http("200 OK", "Content-Type: text/html; charset=utf-8", body=b"<html>sign in")),
    "half a tag": body(b"\x8a"),
    "a tag of field nought": body(b"\x00\x01"),
    "a tag of a wire type that is none": body(b"\x0f\x01"),
    "a varint without end": body(b"\x08" + b"\xff" * 64),
    "a length of two gigabytes": body(b"\x0a\xff\xff\xff\xff\x07" + b"x" * 100),
    "a length of 2^63": body(b"\x0a" + b"\xff" * 9 + b"\x01"),
    "a group that never ends": body(b"\x7b"),
    "groups in groups": body(b"\x7b" * 100_000),
    "half of two characters": body(b"\x0a\x04\x0a\x02\xc3\x28\x1a\x04\x0a\x02\xc3\x28\x0a\x02\xc3\x28\x12\x02\xc3\x28"),
    "the type of the other encoding": raw(http("200 OK", "Content-Type: application/json", body=b"{}")),
    **{
        f"{status} to {where}": raw(http(f"{status} R", f"Location: {place}", PROTO))
        for status in (301, 302, 303, 307, 308)
        for where, place in {"another team": REDIRECTED, "the metadata address": "http://169.254.169.254/"}.items()
    },
    "201 with a place to go": raw(http("201 C", f"Location: {REDIRECTED}", PROTO)),
    "300 with a choice": raw(http("300 M", f"Location: {REDIRECTED}", f"Refresh: 0; url={REDIRECTED}", PROTO)),
}
"""Ends, and is no answer."""

MISDEEDS = SILENT | ENDLESS | BROKEN
