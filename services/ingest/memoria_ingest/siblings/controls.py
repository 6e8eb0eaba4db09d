"""What an owner does with a source: have it read now or announced anew, pause it, resume it, remove it."""

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import replace
from typing import Any, TypeVar

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_chain, wait_fixed

from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc import deadline
from memoria_ingest.index_client import IndexClient
from memoria_ingest.siblings.puller import Puller
from memoria_ingest.siblings.rounds import Rounds
from memoria_ingest.siblings.state import SourceState, SourceStore, Stop

T = TypeVar("T")

_LOOKS = 5
_WAITS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Seconds between the tries to finish a removal: search may still be waking when ingest starts."""


class Controls:
    """The owner's buttons. Each raises NOT_FOUND for an app that is not configured.

    A stop is durable before the pull under way is ended, so no pull can begin between the two; and what an owner began
    runs on when their own request's time is over.
    """

    def __init__(self, pullers: Iterable[Puller], store: SourceStore, index: IndexClient, rounds: Rounds) -> None:
        self._pullers = {puller.app: puller for puller in pullers}
        self._turns = {app: asyncio.Lock() for app in self._pullers}
        self._store = store
        self._index = index
        self._rounds = rounds
        self._under_way: set[asyncio.Task[Any]] = set()

    async def sync(self, app: str, *, reannounce: bool) -> None:
        """Have a source pulled behind this. Raises PRECONDITION where it is paused."""
        await self._whole(self._sync(self._puller(app), reannounce=reannounce))

    async def pause(self, app: str, *, paused: bool) -> None:
        """Pause or resume. When a pause returns, nothing of the source is on its way to search any more."""
        puller = self._puller(app)
        await self._whole(self._pause(puller) if paused else self._resume(puller))

    async def remove(self, app: str) -> int:
        """Pause, and retire everything held; how many items. The next start finishes one that was cut short."""
        return await self._whole(self._remove(self._puller(app)))

    def go_on(self) -> None:
        """Finish, behind this, the removals that the end of a process cut short. Returns at once."""
        for puller in self._pullers.values():
            self._begin(self._go_on(puller))

    async def _go_on(self, puller: Puller) -> None:
        again = AsyncRetrying(
            retry=retry_if_exception_type(ServiceError),
            wait=wait_chain(*map(wait_fixed, _WAITS)),
            stop=stop_after_attempt(len(_WAITS) + 1),
            reraise=True,
        )
        await again(self._remove, puller, only_begun=True)

    async def _sync(self, puller: Puller, *, reannounce: bool) -> None:
        async with self._turns[puller.app]:
            if await self._store.stop(puller.app):
                raise ServiceError(Kind.PRECONDITION, "This source is paused; resume it first.")
            if reannounce:
                async with puller.calls.interrupted():
                    await self._stand(puller, SourceState.RECONCILING)
            self._rounds.nudge_one(puller)

    async def _pause(self, puller: Puller) -> None:
        async with self._turns[puller.app]:
            if not await self._store.stop(puller.app):
                await self._halt(puller, Stop.PAUSED)

    async def _resume(self, puller: Puller) -> None:
        async with self._turns[puller.app]:
            if await self._store.stop(puller.app) is Stop.REMOVING:
                # Part of it is gone, and the feed does not repeat what lies before the cursor: an announce does.
                await self._stand(puller, SourceState.RECONCILING)
            await self._store.put_stop(puller.app, None)
            self._rounds.nudge_one(puller)

    async def _remove(self, puller: Puller, *, only_begun: bool = False) -> int:
        async with self._turns[puller.app]:
            if only_begun and await self._store.stop(puller.app) is not Stop.REMOVING:
                return 0
            await self._halt(puller, Stop.REMOVING)
            retired = await self._retire_all(puller)
            # The cursor goes last: it is what says, until then, that this was no first contact.
            await self._store.forget(puller.app)
            await puller.tell(await self._store.get(puller.app))
            return retired

    async def _halt(self, puller: Puller, stop: Stop) -> None:
        await self._store.put_stop(puller.app, stop)
        async with puller.calls.interrupted():
            source = await self._store.get(puller.app)
            # What was restored at the sibling stays out of the ranking, paused or not.
            await self._stand(puller, source.state if source.state is SourceState.RECONCILING else SourceState.AS_OF)

    async def _stand(self, puller: Puller, state: SourceState) -> None:
        source = replace(await self._store.get(puller.app), state=state)
        await self._store.put(source)
        await puller.tell(source)

    async def _retire_all(self, puller: Puller) -> int:
        """Retire until nothing is held: a write that search had accepted before may end after the first look."""
        retired = 0
        for _ in range(_LOOKS):
            held = await self._index.held(puller.app)
            if not held:
                return retired
            await puller.retire([pair.item_id for pair in held])
            retired += len(held)
        raise ServiceError(Kind.UNAVAILABLE, "Some items are still held; remove the source again.")

    def _puller(self, app: str) -> Puller:
        puller = self._pullers.get(app)
        if puller is None:
            raise ServiceError(Kind.NOT_FOUND, "There is no such source.")
        return puller

    async def _whole(self, work: Coroutine[Any, Any, T]) -> T:
        """To the end, whoever stops waiting for it."""
        return await asyncio.shield(self._begin(work))

    def _begin(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        async def run() -> T:
            deadline.forget()
            return await work

        task = asyncio.create_task(run())
        self._under_way.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._under_way.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:  # also where nobody waits for it any more
            kind = error.kind if isinstance(error, ServiceError) else Kind.INTERNAL
            log.get_logger().warning("what an owner asked for was not done", kind=kind.value)

    async def close(self) -> None:
        """Stop what is under way; a removal goes on at the next start."""
        for task in list(self._under_way):
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
