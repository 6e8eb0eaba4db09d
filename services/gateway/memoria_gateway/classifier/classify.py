"""The classes of an admitted address: `keymail` where its domain names a public host that answers, `mail` otherwise."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from memoria_chassis import metrics
from memoria_gateway.classifier import fetch, lookup
from memoria_gateway.classifier.public import host_name, is_public
from memoria_gateway.classifier.record import LABEL, named_host

DEADLINE_SECONDS = 3.0

MAIL, KEYMAIL = "mail", "keymail"

_THREAD = ThreadPoolExecutor(1, "classifier")
"""One, with an event loop of its own: only owners' addresses come here, and a TLS handshake on the loop of the pages
would be felt by whoever asks for one."""


class Classifier:
    """Classes addresses. Whoever calls it has had them admitted: before that nothing about them may leave (AUT-21)."""

    def __init__(
        self,
        text_records: Callable[[str], Awaitable[Sequence[bytes]]] = lookup.text_records,
        addresses: Callable[[str], Awaitable[Sequence[str]]] = lookup.addresses,
        dial: Callable[[str, str], Awaitable[tuple[StreamReader, StreamWriter]]] = fetch.dial,
        deadline: float = DEADLINE_SECONDS,
    ) -> None:
        self._text_records = text_records
        self._addresses = addresses
        self._dial = dial
        self._deadline = deadline

    async def classify(self, address: str) -> str:
        """The class, counted. One look at the domain's record and at most one fetch, in three seconds together."""
        found = await asyncio.get_running_loop().run_in_executor(_THREAD, lambda: asyncio.run(self._look(address)))
        metrics.observe_sign_in_class(found)
        return found

    async def _look(self, address: str) -> str:
        domain = host_name(address.rpartition("@")[2])
        if domain is None:
            return MAIL
        try:
            async with asyncio.timeout(self._deadline):
                return KEYMAIL if await self._vouches(domain) else MAIL
        except (OSError, TimeoutError):  # nobody there, or no certificate, or too slow
            return MAIL

    async def _vouches(self, domain: str) -> bool:
        host = named_host(await self._text_records(f"{LABEL}.{domain}"))
        if host is None:
            return False
        found = await self._addresses(host)  # once: what was looked at is what is dialled
        if not found or not all(is_public(address) for address in found):
            return False
        reader, writer = await self._dial(min(found, key=lambda each: ":" in each), host)  # IPv4 where there is one
        return await fetch.status_of(reader, writer, host) == 200
