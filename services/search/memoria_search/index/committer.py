"""Group commit: changes that wait at the same time become searchable in one commit."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError
from memoria_search.index.lexical import LexicalIndex
from memoria_search.index.schema import IndexedChunk

T = TypeVar("T")

_UNFIT = "the index cannot be written; it is rebuilt at the next start"


@dataclass(slots=True)
class _Batch:
    steps: list[tuple[tuple[int, ...], Iterable[IndexedChunk]]] = field(default_factory=list)
    waiting: list[asyncio.Future[None]] = field(default_factory=list)
    looks: list[tuple[Callable[[], Any], asyncio.Future[Any]]] = field(default_factory=list)


class Committer:
    """Feeds one index. Changes are applied in the order they were submitted in."""

    def __init__(self, index: LexicalIndex, on_failure: Callable[[], None]) -> None:
        self._index = index
        self._on_failure = on_failure
        self._batch = _Batch()
        self._running: asyncio.Task[None] | None = None
        self.failed = False

    def submit(self, removed: tuple[int, ...], added: Iterable[IndexedChunk]) -> asyncio.Future[None]:
        """Take `removed` out and `added` in. The future ends once searches see it, or in UNAVAILABLE.

        Not a coroutine: the place in the order is taken when this is called, not when somebody awaits it.
        """
        if self.failed:
            raise ServiceError(Kind.UNAVAILABLE, _UNFIT)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._batch.steps.append((removed, added))
        self._batch.waiting.append(done)
        self._start()
        return done

    def between(self, look: Callable[[], T]) -> asyncio.Future[T]:
        """Call `look` in the writer's thread once all that was submitted is committed and before what comes later is
        begun; its result or its error."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        if self.failed:
            done.set_exception(ServiceError(Kind.UNAVAILABLE, _UNFIT))
            return done
        self._batch.looks.append((look, done))
        self._start()
        return done

    def _start(self) -> None:
        if self._running is None:
            self._running = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while self._batch.steps or self._batch.looks:
            batch, self._batch = self._batch, _Batch()
            try:
                await asyncio.to_thread(self._apply, batch)
            except Exception as error:
                # The store has the change and the index has not: only a rebuild makes them one again.
                self.failed = True
                log.get_logger().error("index commit failed", exc_info=error)
                looks = [done for _, done in [*batch.looks, *self._batch.looks]]
                for done in [*batch.waiting, *self._batch.waiting, *looks]:
                    if not done.done():
                        done.set_exception(ServiceError(Kind.UNAVAILABLE, _UNFIT))
                self._batch = _Batch()
                self._on_failure()
                break
            for done in batch.waiting:
                if not done.done():  # a writer that gave up waiting
                    done.set_result(None)
            for look, seen in batch.looks:
                await self._look(look, seen)
        self._running = None

    @staticmethod
    async def _look(look: Callable[[], Any], seen: asyncio.Future[Any]) -> None:
        try:
            result = await asyncio.to_thread(look)
        except Exception as error:
            if not seen.done():
                seen.set_exception(error)
            return
        if not seen.done():
            seen.set_result(result)

    def _apply(self, batch: _Batch) -> None:
        if not batch.steps:
            return
        for removed, added in batch.steps:
            self._index.remove(removed)
            self._index.add(added)
        self._index.commit()

    async def drain(self) -> None:
        """Wait until nothing is being committed."""
        while self._running is not None:
            await asyncio.wait([self._running])
