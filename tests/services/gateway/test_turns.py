"""One person's flood does not become everybody's outage."""

import asyncio

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.turns import AT_ONCE, WAITING, Turns


async def test_a_person_has_a_few_searches_at_once_and_some_in_line() -> None:
    """Four run, sixteen wait, the next is refused; another person is not held up; nothing is left behind.

    Broken to see red: the line shared by everybody; the refusal taken out.
    """
    turns, go = Turns(), asyncio.Event()
    under_way = most = 0

    async def search(person: str) -> None:
        nonlocal under_way, most
        async with turns.take(person):
            under_way += 1
            most = max(most, under_way)
            await go.wait()
            under_way -= 1

    ann = [asyncio.create_task(search("ann")) for _ in range(AT_ONCE + WAITING)]
    await asyncio.sleep(0)
    with pytest.raises(ServiceError) as refused:
        await search("ann")
    assert refused.value.kind is Kind.EXHAUSTED
    assert most == AT_ONCE
    ben = asyncio.create_task(search("ben"))
    await asyncio.sleep(0)
    assert under_way == AT_ONCE + 1
    go.set()
    await asyncio.gather(*ann, ben)
    assert turns._lines == {}


async def test_who_leaves_the_line_gives_up_the_place() -> None:
    """A closed connection cancels; the place is free again."""
    turns = Turns()
    hold = asyncio.Event()

    async def search() -> None:
        async with turns.take("ann"):
            await hold.wait()

    tasks = [asyncio.create_task(search()) for _ in range(AT_ONCE + WAITING)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert turns._lines == {}
