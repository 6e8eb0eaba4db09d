"""Work that a reply must not be seen to cause: it waits for the next tick of a clock that no visitor moves."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from memoria_chassis import log

TICK_SECONDS = 0.25
"""Long enough that a request sent right behind a reply is over before the work begins; a mail takes longer anyway."""

MOST = 2_000  # a flood of submissions must not become a flood of memory

Job = Callable[[], Awaitable[None]]


class Ticks:
    """One worker, one job at a time, beginning at multiples of a quarter of a second of the loop's clock.

    Were the work begun by the reply, the same client's next request would meet it on the event loop, and what an
    owner's submission costs more would be measured there. There is no timer while nothing waits.
    """

    def __init__(self, run: Callable[[Awaitable[None]], Awaitable[None]], seconds: float = TICK_SECONDS) -> None:
        self._run = run
        self._seconds = seconds
        self._waiting: deque[Job] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._full = False

    def put(self, job: Job) -> bool:
        """Have `job` run at the next tick. False where 2,000 wait already, whoever it is for."""
        if len(self._waiting) >= MOST:
            if not self._full:  # once: a flood of submissions must not become a flood of lines either
                log.get_logger().warning("too much waits behind replies; none is taken")
            self._full = True
            return False
        self._full = False
        self._waiting.append(job)
        if self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(self._work())
        return True

    async def settle(self) -> None:
        """Run what waits now, without waiting for a tick, as far as a moment reaches."""
        if self._worker is not None:
            self._hurry.set()
            worker = self._worker
            if not (await asyncio.wait({worker}, timeout=5))[0]:
                worker.cancel()
                await asyncio.wait({worker})

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                try:
                    await asyncio.wait_for(self._hurry.wait(), self._seconds - loop.time() % self._seconds)
                except TimeoutError:
                    pass  # the tick
                for _ in range(len(self._waiting)):
                    await self._run(self._waiting.popleft()())
        finally:
            self._worker = None
            self._hurry.clear()
