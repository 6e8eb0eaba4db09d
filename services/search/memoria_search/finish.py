"""Work that a cancelled caller must not leave running: a thread that writes to a file, a step that is half done."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


async def finish(work: Awaitable[T]) -> T:
    """The result of `work`. A caller that is cancelled meanwhile, however often, is so only once it has ended."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return task.result()
    if not task.cancelled():
        task.exception()  # looked at, or it would be reported as never retrieved
    raise cancelled


async def in_thread(call: Callable[..., T], *args: Any) -> T:
    """`call` in a thread, which has ended when this has: it holds no file and no index that others close."""
    return await finish(asyncio.get_running_loop().run_in_executor(None, partial(call, *args)))
