"""Sign-in mail: over SMTP where a server is configured, otherwise into the outbox of a development instance."""

import asyncio
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from email.message import EmailMessage
from email.utils import localtime, make_msgid
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

import aiosmtplib

from memoria_chassis.errors import Kind, ServiceError

_TEXT = """Follow this link to sign in to memoria. It works once, for fifteen minutes:

{link}

If you did not ask for it, do nothing: without the link nobody gets in.
"""

_MOST_SECONDS = 20  # for the whole of a delivery too: a server that drips must not hold one of the two threads

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


_SENDERS = ThreadPoolExecutor(2, "mail")
"""Mail is spoken here and not on the event loop, where a TLS handshake would be felt by whoever asks for a page."""


async def _in_thread(work: Callable[..., Any], *values: str) -> None:
    await asyncio.get_running_loop().run_in_executor(_SENDERS, work, *values)


class Mailer(Protocol):
    """Delivers a sign-in link."""

    async def send(self, address: str, link: str) -> None:
        """Deliver `link` to `address`. Raises UNAVAILABLE; the address is in no message of ours."""
        ...

    async def rehearse(self, address: str, link: str) -> None:
        """Do all of that but the delivery, so that the time of one is not missed where the other is due."""
        ...


def _message(sender: str, address: str, link: str) -> EmailMessage:
    message = EmailMessage()
    message["From"] = sender
    message["To"] = address
    message["Subject"] = "Your sign-in link"
    message["Date"] = localtime()  # without these two a mail is malformed, and looks like spam
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2].strip(" >") or "localhost")
    message.set_content(_TEXT.format(link=link), cte="7bit")  # unwrapped, so that the link survives any reader
    return message


class SmtpMailer:
    """Sends through the configured server: `smtp://` by STARTTLS, `smtps://` in TLS from the start.

    Only a server on the loopback is spoken to in clear: a STARTTLS that somebody on the wire takes out of the server's
    offer would otherwise hand over the password and links that are good for signing in.
    """

    def __init__(self, url: str, sender: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
            raise ServiceError(Kind.INVALID, "mail.url must be smtp://host[:port] or smtps://host[:port]")
        self._sender = sender
        self._options: dict[str, Any] = {
            "hostname": parts.hostname,
            "port": parts.port or (465 if parts.scheme == "smtps" else 587),
            "use_tls": parts.scheme == "smtps",
            "start_tls": None if parts.scheme == "smtps" or parts.hostname in _LOOPBACK else True,
            "username": unquote(parts.username) if parts.username else None,
            "password": unquote(parts.password) if parts.password else None,
            "timeout": _MOST_SECONDS,
        }

    async def send(self, address: str, link: str) -> None:
        """Deliver through the server."""
        await _in_thread(self._deliver, address, link)

    async def rehearse(self, address: str, link: str) -> None:
        """Write the mail and keep it."""
        await _in_thread(_message, self._sender, address, link)

    def _deliver(self, address: str, link: str) -> None:
        try:
            mail = aiosmtplib.send(_message(self._sender, address, link), **self._options)
            asyncio.run(asyncio.wait_for(mail, _MOST_SECONDS))
        except (aiosmtplib.SMTPException, OSError) as error:
            raise ServiceError(Kind.UNAVAILABLE, "the mail server did not take a sign-in mail") from error


class Outbox:
    """Writes mails to files. Only for development: whoever reads the data directory can sign in as anyone admitted."""

    def __init__(self, directory: Path, sender: str, now_ns: Callable[[], int]) -> None:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._directory = directory
        self._sender = sender
        self._now_ns = now_ns

    async def send(self, address: str, link: str) -> None:
        """Write one mail, whole or not at all."""
        await _in_thread(self._write, address, link)

    async def rehearse(self, address: str, link: str) -> None:
        """Write it to nowhere."""
        await _in_thread(lambda: bytes(_message(self._sender, address, link)))

    def _write(self, address: str, link: str) -> None:
        name = f"{self._now_ns():020d}-{secrets.token_hex(4)}.eml"
        partial = self._directory / f"{name}.part"  # `*.eml` finds whole mails only
        partial.write_bytes(bytes(_message(self._sender, address, link)))
        partial.rename(self._directory / name)
