"""Jobs that wait for a tick: in order, one at a time, none lost to another's failure, and not without end."""

import asyncio

import pytest

from memoria_gateway import ticks
from memoria_gateway.ticks import Ticks


async def test_a_job_begins_at_a_tick_and_not_before() -> None:
    """However often the loop turns until then; settling runs it at once. Broken to see red: no wait for the tick."""
    ran: list[int] = []

    async def job() -> None:
        ran.append(1)

    slow = Ticks(asyncio.ensure_future, seconds=3600)
    slow.put(job)
    for _ in range(100):
        await asyncio.sleep(0)
    assert ran == []
    await slow.settle()
    assert ran == [1]
    quick = Ticks(asyncio.ensure_future, seconds=0.001)
    quick.put(job)
    while len(ran) < 2:  # noqa: ASYNC110 - the point is that nobody settles it
        await asyncio.sleep(0.001)


async def test_jobs_run_in_order_and_one_at_a_time() -> None:
    """One that waits holds up the next."""
    seen: list[str] = []

    async def job(name: str) -> None:
        seen.append(f"{name} begins")
        await asyncio.sleep(0)
        seen.append(f"{name} ends")

    worker = Ticks(asyncio.ensure_future)
    worker.put(lambda: job("one"))
    worker.put(lambda: job("two"))
    await worker.settle()
    assert seen == ["one begins", "one ends", "two begins", "two ends"]


async def test_a_flood_is_dropped_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound nothing is taken; afterwards there is room again. Broken to see red: the bound taken out."""
    monkeypatch.setattr(ticks, "MOST", 3)
    ran: list[int] = []

    async def job() -> None:
        ran.append(1)

    worker = Ticks(asyncio.ensure_future)
    assert [worker.put(job) for _ in range(5)] == [True] * 3 + [False] * 2
    await worker.settle()
    assert len(ran) == 3
    worker.put(job)
    await worker.settle()
    assert len(ran) == 4
