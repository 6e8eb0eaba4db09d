"""When pulls run: on waking, on each question, one at a time a source (RUL-10, ING-03, ING-04)."""

import asyncio
import time
from typing import Any

import pytest
import uvloop

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc import deadline
from memoria_ingest.orders_client import FetchCounts, Order
from memoria_ingest.siblings.rounds import Rounds
from memoria_ingest.siblings.state import History


class FakeOrders:
    """authz's orders."""

    def __init__(self, *orders: Order) -> None:
        self.open = list(orders)
        self.away = False
        self.heard: list[tuple[str, int, int, str]] = []

    async def take(self) -> list[Order]:
        """The open ones."""
        if self.away:
            raise ServiceError(Kind.UNAVAILABLE, "authz cannot be reached")
        return list(self.open)

    async def complete(self, orders: list[Order]) -> None:
        """End them."""
        if self.away:
            raise ServiceError(Kind.UNAVAILABLE, "authz cannot be reached")
        self.open = [order for order in self.open if order not in orders]

    async def report(self, app: str, counts: FetchCounts, lineage: str) -> None:
        """Hear what fetches came to."""
        if self.away:
            raise ServiceError(Kind.UNAVAILABLE, "authz cannot be reached")
        self.heard.append((app, counts.fetched, counts.not_found, lineage))
        counts.fetched = counts.not_found = 0


class FakePuller:
    """Counts pulls, and lets a test hold one up."""

    def __init__(self, app: str = "docs") -> None:
        self.app = app
        self.fetches = FetchCounts()
        self.pulls: list[list[Order]] = []
        self.histories: list[History | None] = []
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.go.set()
        self.fail: Exception | None = None
        self.left: list[float | None] = []

    async def pull(self, orders: list[Order], history: History | None = None) -> list[Order]:
        """One."""
        self.histories.append(history)
        self.pulls.append(orders)
        self.begun.set()
        await self.go.wait()
        self.left.append(deadline.remaining())
        if self.fail:
            raise self.fail
        return orders


async def under_way(puller: FakePuller) -> None:
    """Wait until its first pull runs."""
    await puller.begun.wait()


async def one_history() -> History:
    """A corpus that was never put back."""
    return History("a", 1)


def rounds(*pullers: Any, orders: Any = None, history: Any = one_history) -> Rounds:
    """Rounds over fakes."""
    return Rounds(list(pullers), orders or FakeOrders(), history, after=0)


async def test_waking_polls_every_sibling_within_three_seconds_without_a_query(make_rig: Any) -> None:
    """G24, ING-03: three siblings, one of them hanging; each has had an S1 poll in time, and nobody has searched.

    Broken on 2026-11-30 to see red: siblings pulled one after the other.
    """
    rigs = [await make_rig(app) for app in ("docs", "sheets", "calendar")]
    rigs[0].do("fault", kind="sleep", seconds=30)
    made = rounds(*(rig.puller for rig in rigs))
    began = time.monotonic()
    made.nudge()
    while not all(rig.calls("ListChanges") for rig in rigs):
        assert time.monotonic() - began < 3
        await asyncio.sleep(0.01)
    await made.close()


async def test_many_questions_are_one_pull_and_one_more() -> None:
    """A hundred nudges during a pull lead to one pull after it, however many they are.

    Broken on 2026-11-30 to see red: a task for each nudge.
    """
    puller = FakePuller()
    made = rounds(puller)
    puller.go.clear()
    made.nudge()
    await under_way(puller)
    for _ in range(99):
        made.nudge()
        await asyncio.sleep(0)
    puller.go.set()
    await made.settled()
    assert len(puller.pulls) == 2
    made.nudge()
    await made.settled()
    assert len(puller.pulls) == 3


async def test_a_slow_source_does_not_hold_up_another() -> None:
    """Each has its own line."""
    slow, quick = FakePuller("docs"), FakePuller("sheets")
    slow.go.clear()
    made = rounds(slow, quick)
    for _ in range(3):
        made.nudge()
        await asyncio.sleep(0.01)
    assert len(slow.pulls) == 1
    assert len(quick.pulls) == 3
    await made.close()


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_pull_outlives_the_deadline_of_the_nudge_that_started_it(loop: Any) -> None:
    """A nudge's deadline of 50 ms is not the pull's, which goes on long after the reply.

    Broken on 2026-11-30 to see red: `deadline.forget` left out; every call of the pull failed for want of time.
    """

    async def run() -> None:
        puller = FakePuller()
        puller.go.clear()
        made = rounds(puller)

        async def nudged() -> None:
            deadline.start(0.05)
            made.nudge()
            assert deadline.remaining() is not None

        await asyncio.create_task(nudged())
        await asyncio.sleep(0.1)
        puller.go.set()
        await made.settled()
        assert puller.left == [None]

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(run())


async def test_a_pull_that_breaks_ends_alone_and_is_not_the_last() -> None:
    """An exception nobody foresaw: the nudge that came meanwhile is still served, and so is the next."""
    puller = FakePuller()
    puller.fail = ZeroDivisionError("canary")
    made = rounds(puller)
    puller.go.clear()
    made.nudge()
    await under_way(puller)
    made.nudge()
    puller.go.set()
    await made.settled()
    assert len(puller.pulls) == 2
    made.nudge()
    await made.settled()
    assert len(puller.pulls) == 3


async def test_orders_reach_their_source_and_end_when_carried_out() -> None:
    """Only an app's own orders, completed after the pull; those of an app that is not configured end unasked.

    With authz away the pull runs without them.
    """
    mine, others = Order("1", "docs", "item", False), Order("2", "sheets", "item", False)
    orders, puller = FakeOrders(mine, others), FakePuller()
    made = rounds(puller, orders=orders)
    made.nudge()
    await made.settled()
    assert puller.pulls == [[mine]]
    assert orders.open == []  # sheets is not configured here: nobody's to carry out, so it ends too
    orders.away = True
    made.nudge()
    await made.settled()
    assert puller.pulls == [[mine], []]


async def test_closing_stops_pulls_under_way() -> None:
    """Close returns with a source hanging, and a nudge behind it starts nothing."""
    puller = FakePuller()
    puller.go.clear()
    made = rounds(puller)
    made.nudge()
    await under_way(puller)
    await made.close()
    made.nudge()
    await asyncio.sleep(0)
    assert len(puller.pulls) == 1


async def test_orders_at_a_real_sibling(rig: Any) -> None:
    """AUT-05: an AHEAD's order leads to an announce and is completed; a STALE's to a fetch."""
    orders = FakeOrders(Order("1", "docs", "", True), Order("2", "docs", rig.id("one"), False))
    made = Rounds([rig.puller], orders, one_history)  # type: ignore[arg-type] # a fake
    made.nudge()
    await made.settled()
    assert orders.open == []
    assert rig.calls("Announce") > 0


async def test_the_first_pull_waits_for_search_to_name_its_corpus() -> None:
    """Search starts beside ingest: a first pull under no history is taken for one of a corpus that was put back since,
    and the first search on a new instance would be told that every app is reconciling.

    Broken to see it red: no second try; tries without end.
    """
    puller, asked = FakePuller("docs"), 0

    async def history() -> History:
        nonlocal asked
        asked += 1
        if asked < 3 or asked > 3:
            raise ServiceError(Kind.UNAVAILABLE, "not up yet")
        return History("a", 7)

    made = Rounds([puller], FakeOrders(), history, after=0, patience=(0.0, 0.0, 0.0))  # type: ignore[arg-type] # fakes
    for pulled in (1, 2):
        made.nudge()
        await made.settled()
        assert len(puller.histories) == pulled
    assert puller.histories == [History("a", 7), None]
    assert asked == 5  # the third try, the one that is left, and one that nothing follows


async def test_search_is_asked_once_a_nudge_for_its_history_and_may_not_answer() -> None:
    """ING-27: each nudge hands the pulls the history of search's corpus; one that cannot be had costs no pull.

    Broken to see it red: asking once a process; letting the error end the pull.
    """
    names = iter([History("a", 1), ServiceError(Kind.UNAVAILABLE, "away"), History("b", 2)])

    async def history() -> History:
        found = next(names)
        if isinstance(found, ServiceError):
            raise found
        return found

    puller = FakePuller("docs")
    made = rounds(puller, history=history)
    for _ in range(3):
        made.nudge()
        await made.settled()
    assert puller.histories == [History("a", 1), None, History("b", 2)]


async def test_what_fetches_came_to_is_told_after_each_pull_and_kept_while_authz_is_away() -> None:
    """Nothing is lost and nothing is told twice (RET-12). Broken to see it red: the counts dropped with the call."""
    puller, orders = FakePuller(), FakeOrders()
    made = rounds(puller, orders=orders)
    puller.fetches = FetchCounts(2, 1)
    orders.away = True
    made.nudge()
    await made.settled()
    assert orders.heard == []
    orders.away = False
    for _ in range(2):
        made.nudge()
        await made.settled()
    assert orders.heard == [("docs", 2, 1, "a"), ("docs", 0, 0, "a")]
