"""A bucket for tests of what fails, comes late or is counted."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from memoria_chassis.bucket import Bucket, Stored
from memoria_chassis.errors import Kind, ServiceError

Around = Callable[[str, str, Callable[[], Awaitable[Any]]], Awaitable[Any]]
"""Given what is asked of the bucket, of which object, and the call, which it makes or does not."""


async def as_it_is(_what: str, _name: str, call: Callable[[], Awaitable[Any]]) -> Any:
    """No fault."""
    return await call()


class WatchedBucket(Bucket):
    """A bucket each of whose calls passes by a test: it may fail, wait, or be counted."""

    def __init__(self, inner: Bucket) -> None:
        super().__init__(inner._store, inner._directory)
        self._inner = inner  # asked in place of super(), so that one call is one call
        self.around: Around = as_it_is

    async def get(self, name: str) -> Stored:
        """Read."""
        return await self.around("get", name, lambda: self._inner.get(name))

    async def put(self, name: str, data: bytes) -> None:
        """Write."""
        await self.around("put", name, lambda: self._inner.put(name, data))

    async def put_if_absent(self, name: str, data: bytes) -> None:
        """Create."""
        await self.around("put_if_absent", name, lambda: self._inner.put_if_absent(name, data))

    async def put_if_match(self, name: str, data: bytes, version: dict[str, Any]) -> None:
        """Replace."""
        await self.around("put_if_match", name, lambda: self._inner.put_if_match(name, data, version))

    async def delete(self, name: str) -> None:
        """Remove."""
        await self.around("delete", name, lambda: self._inner.delete(name))

    async def names(self, prefix: str, after: str | None = None) -> list[str]:
        """List."""
        return await self.around("names", prefix, lambda: self._inner.names(prefix, after))

    def fail(self, what: str, kind: Kind = Kind.UNAVAILABLE, *, after: bool = False, prefix: str = "") -> None:
        """The next call of `what` on such a name fails, before or after it took place."""

        async def around(asked: str, name: str, call: Callable[[], Awaitable[Any]]) -> Any:
            if asked != what or not name.startswith(prefix):
                return await call()
            self.around = as_it_is
            if after:
                await call()
            raise ServiceError(kind, "the bucket did not do what was asked")

        self.around = around

    def hold(self, what: str, prefix: str) -> "Held":
        """The next call of `what` on such a name waits until it is let go."""
        held = Held(asyncio.Event(), asyncio.Event())

        async def around(asked: str, name: str, call: Callable[[], Awaitable[Any]]) -> Any:
            if asked == what and name.startswith(prefix) and not held.reached.is_set():
                held.reached.set()
                await held.go.wait()
            return await call()

        self.around = around
        return held


@dataclass(frozen=True)
class Held:
    """A call that waits: `reached` once it does, until `go`."""

    reached: asyncio.Event
    go: asyncio.Event
