"""Group commit: changes that wait at the same time become searchable in one commit."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError
from memoria_search.index.lexical import LexicalIndex
from memoria_search.index.schema import IndexedChunk

_UNFIT = "the index cannot be written; it is rebuilt at the next start"


@dataclass(slots=True)
class _Batch:
    steps: list[tuple[tuple[int, ...], Iterable[IndexedChunk]]] = field(default_factory=list)
    waiting: list[asyncio.Future[None]] = field(default_factory=list)


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
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return done

    async def _run(self) -> None:
        while self._batch.steps:
            batch, self._batch = self._batch, _Batch()
            try:
                await asyncio.to_thread(self._apply, batch)
            except Exception as error:
                # The store has the change and the index has not: only a rebuild makes them one again.
                self.failed = True
                log.get_logger().error("index commit failed", exc_info=error)
                for done in [*batch.waiting, *self._batch.waiting]:
                    if not done.done():
                        done.set_exception(ServiceError(Kind.UNAVAILABLE, _UNFIT))
                self._batch = _Batch()
                self._on_failure()
                break
            for done in batch.waiting:
                if not done.done():  # a writer that gave up waiting
                    done.set_result(None)
        self._running = None

    def _apply(self, batch: _Batch) -> None:
        for removed, added in batch.steps:
            self._index.remove(removed)
            self._index.add(added)
        self._index.commit()

    async def drain(self) -> None:
        """Wait until nothing is being committed."""
        while self._running is not None:
            await asyncio.wait([self._running])
