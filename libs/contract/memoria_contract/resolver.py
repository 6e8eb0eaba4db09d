"""Names under `.localhost` are the loopback, and DNS is not asked (RFC 6761)."""

import socket

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from memoria_contract.hosts import is_localhost


class LoopbackResolver(AbstractResolver):
    """Answers 127.0.0.1 for `localhost` and `*.localhost` by itself; every other name goes to the system.

    A system resolver may hand `demo.docs.localhost` to a name server, whose answer could then be anywhere while we
    speak cleartext to it.
    """

    def __init__(self) -> None:
        self._system: ThreadedResolver | None = None

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """One loopback address, or what the system says. Raises OSError as the system resolver does."""
        if is_localhost(host):
            return [
                ResolveResult(
                    hostname=host,
                    host="127.0.0.1",
                    port=port,
                    family=socket.AF_INET,
                    proto=0,
                    flags=socket.AI_NUMERICHOST,
                )
            ]
        if self._system is None:
            self._system = ThreadedResolver()
        return await self._system.resolve(host, port, family)

    async def close(self) -> None:
        """Let go of the system resolver."""
        if self._system is not None:
            await self._system.close()
