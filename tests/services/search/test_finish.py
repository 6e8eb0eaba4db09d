"""Work that a cancelled caller must not leave running: it has ended, or it is known that it has not."""

import asyncio
import gc

import pytest

from memoria_search.finish import finish


@pytest.mark.parametrize("cancels", [1, 3])
async def test_a_caller_is_cancelled_only_once_its_work_has_ended(cancels: int) -> None:
    """However often: a client that goes away and a server that stops cancel the same handler twice.

    Broken to see it red: waiting for the work once.
    """
    go, ended = asyncio.Event(), []

    async def work() -> None:
        await go.wait()
        ended.append(True)

    caller = asyncio.create_task(finish(work()))
    for _ in range(cancels):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        caller.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not caller.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended == [True]


async def test_a_cancelled_caller_does_not_leave_a_failure_unlooked_at() -> None:
    """The caller hears that it was cancelled, and the loop has nothing to complain of.

    Broken to see it red: not looking at the exception.
    """
    complaints = []
    asyncio.get_running_loop().set_exception_handler(lambda _, about: complaints.append(about))
    go = asyncio.Event()

    async def work() -> None:
        await go.wait()
        raise ValueError

    caller = asyncio.create_task(finish(work()))
    await asyncio.sleep(0)
    caller.cancel()
    await asyncio.sleep(0)
    go.set()
    await asyncio.wait([caller])
    assert caller.cancelled()
    del caller
    gc.collect()  # the loop complains of a failure when nobody can look at it any more
    assert complaints == []


async def test_work_gives_its_result_or_its_failure() -> None:
    """To a caller that stays."""

    async def work(fails: bool) -> int:
        await asyncio.sleep(0)
        if fails:
            raise ValueError("it failed")
        return 7

    assert await finish(work(False)) == 7
    with pytest.raises(ValueError, match="it failed"):
        await finish(work(True))
