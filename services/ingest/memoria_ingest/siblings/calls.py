"""Calls to a sibling that an owner can end: a pull under way gives them up, and nothing else of what it does."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from memoria_chassis.errors import Kind, ServiceError

T = TypeVar("T")


class Interrupted(ServiceError):
    """An owner wants the source still: the pull ends here and says nothing of how the source stands."""

    def __init__(self) -> None:
        super().__init__(Kind.UNAVAILABLE, "the pull was interrupted by an owner")


class Calls:
    """One pull at a time of one source, and a way to end it.

    Only calls to the sibling are cancelled. A write to search or to our own file runs to its end: one whose caller has
    gone is carried out all the same, after what was meant to undo it.
    """

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._under_way: set[asyncio.Future[Any]] = set()
        self._interrupters = 0

    @asynccontextmanager
    async def pulling(self) -> AsyncIterator[None]:
        """Held for one pull."""
        async with self._turn:
            yield

    @asynccontextmanager
    async def interrupted(self) -> AsyncIterator[None]:
        """Held without a pull: the one under way has ended, and the next waits."""
        self._interrupters += 1
        try:
            for call in list(self._under_way):
                call.cancel()
            await self._turn.acquire()
        finally:
            self._interrupters -= 1
        try:
            yield
        finally:
            self._turn.release()

    def check(self) -> None:
        """Raises Interrupted where an owner waits for the pull to end."""
        if self._interrupters:
            raise Interrupted

    async def ask(self, call: Coroutine[Any, Any, T]) -> T:
        """What the sibling answers. Raises Interrupted, and what the call raises."""
        if self._interrupters:
            call.close()
            raise Interrupted
        asked = asyncio.ensure_future(call)
        self._under_way.add(asked)
        try:
            return await asked
        except asyncio.CancelledError:
            if self._interrupters and asked.cancelled():
                raise Interrupted from None
            raise
        finally:
            self._under_way.discard(asked)
            asked.cancel()  # the pull itself was cancelled, at the end of the process
