"""Many at once, and none left running."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def every(work: Iterable[Awaitable[T]]) -> list[T]:
    """Every result. At the first failure the others are ended before it is raised: nothing uploads any more."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
