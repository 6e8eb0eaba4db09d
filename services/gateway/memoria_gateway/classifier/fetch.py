"""One GET of a host's front page, of which only the status line is read: no redirect, no proxy, no cookie, no body."""

import asyncio
import functools
import re
import ssl
from asyncio import StreamReader, StreamWriter

PORT = 443

_LIMIT = 16 * 1024
_STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3})(?: [^\r\n]*)?\r\n")


@functools.cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()  # reads every root certificate: once is enough


async def dial(
    address: str, host: str, port: int = PORT, trust: ssl.SSLContext | None = None
) -> tuple[StreamReader, StreamWriter]:
    """TLS to `address`, an IP address already looked at, with a certificate for `host`. Raises OSError.

    The address is given as such and `host` only names the certificate, so nothing is resolved a second time.
    """
    trust = trust or _trust()
    return await asyncio.open_connection(address, port, ssl=trust, server_hostname=host, limit=_LIMIT)


async def status_of(reader: StreamReader, writer: StreamWriter, host: str) -> int | None:
    """Ask for `/` and read the status; None where the reply is not HTTP. Says nothing but the host and who asks.

    Sixteen KiB without an end of line are no reply; what follows the line is left unread. The caller's deadline bounds
    the time, however slowly the line drips in.
    """
    try:
        writer.write(f"GET / HTTP/1.1\r\nHost: {host}\r\nUser-Agent: memoria\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        found = _STATUS.fullmatch(await reader.readuntil(b"\r\n"))
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    finally:
        writer.transport.abort()  # a polite end would wait for the other side
    return int(found.group(1)) if found else None
