"""When the roster is pulled, what is held meanwhile, and what an owner decides (AUT-15, AUT-17, AUT-18, RUL-10)."""

import asyncio
from datetime import timedelta
from typing import Any
from unittest.mock import AsyncMock

import pytest

from memoria.gate.v1 import gate_pb2 as pb
from memoria_authz.roster.model import LONGEST_TTL, State, generation_id
from memoria_chassis.errors import Kind, ServiceError

FIRST, SECOND = {"p-ben", "p-cas"}, {"p-eve"}


async def test_it_is_pulled_on_waking_and_by_questions_and_by_nothing_else(suite: Any) -> None:
    """Once at the start; not by a question in its first half; behind one in its second; never by time alone.

    Broken to see it red: no pull on waking; a pull for each question.
    """
    assert suite.home.asked == 1
    suite.clock.advance(1799)
    await suite.keeper.refresh()
    assert suite.home.asked == 1
    suite.clock.advance(1)
    suite.home.go.clear()
    await suite.keeper.refresh()  # does not wait
    suite.home.go.set()
    await suite.settled()
    assert suite.home.asked == 2
    assert suite.keeper.report().until == suite.clock.now() + timedelta(seconds=3600)


async def test_many_questions_make_one_pull(suite: Any) -> None:
    """All at once, past its time. Broken to see it red: one for each."""
    suite.clock.advance(3600)
    await asyncio.gather(*(suite.keeper.refresh() for _ in range(20)))
    assert suite.home.asked == 2
    assert suite.keeper.members == FIRST


async def test_a_home_that_is_down_is_not_asked_by_every_question(suite: Any) -> None:
    """For five seconds after a failure nobody waits for it; then one does.

    Broken to see it red: no pause.
    """
    suite.home.down = Kind.UNAVAILABLE
    for already, later in ((1, 1800), (2, 1800)):  # in its second half, behind the question; past its time, before it
        suite.clock.advance(later)
        for _ in range(5):
            await suite.keeper.refresh()
            await suite.settled()
        assert suite.home.asked == already + 1
    suite.clock.advance(5)
    await suite.keeper.refresh()
    assert suite.home.asked == 4
    assert suite.keeper.report().failure == "unavailable"


@pytest.mark.parametrize("why", ["no time at all", "another generation waits"])
async def test_a_home_that_answers_nothing_to_go_by_is_not_asked_by_every_question(suite: Any, why: str) -> None:
    """What it says does not count, and saying it again would not either. Broken to see it red: a pause after failures
    alone."""
    suite.home.ttl, suite.home.generation = (0, "first") if why == "no time at all" else (3600, "second")
    suite.clock.advance(3600)
    for _ in range(5):
        await suite.keeper.refresh()
    assert suite.keeper.members is None
    assert suite.home.asked == 2


async def test_a_newer_epoch_is_not_answered_by_a_pull_that_began_before_it(suite: Any) -> None:
    """The home had answered that one already. Broken to see it red: whatever pull is under way waited for, and that is
    all."""
    suite.clock.advance(1800)
    suite.home.go.clear()
    old = suite.home.fetch

    async def early() -> Any:
        roster = await old()
        suite.home.fetch = old
        suite.home.change("p-ben")
        return roster

    suite.home.fetch = early
    await suite.keeper.refresh()  # begins one behind it
    waiting = asyncio.create_task(suite.keeper.refresh("e2"))
    await asyncio.sleep(0)
    suite.home.go.set()
    await waiting
    assert suite.keeper.members == {"p-ben"}


@pytest.mark.parametrize("down", [None, Kind.UNAVAILABLE])
async def test_an_epoch_that_the_home_does_not_come_to_is_pulled_for_once(suite: Any, down: Kind | None) -> None:
    """One of long ago, or of a home that is down: the first question that shows it has the list pulled, to be sure
    twice; the next ones only after the pause. Broken to see it red: no memory of what did not come.
    """
    suite.home.down = down
    for _ in range(5):
        await suite.keeper.refresh("e0")
    assert suite.home.asked == 3
    suite.clock.advance(5)
    await suite.keeper.refresh("e0")
    assert suite.home.asked == 5
    suite.home.down = None
    suite.home.change("p-ben")
    await suite.keeper.refresh("e2")
    assert suite.keeper.members == {"p-ben"}


async def test_an_owner_who_leaves_takes_nobodys_pull_along(suite: Any) -> None:
    """Their request is cancelled while the home thinks; the pull that questions wait for goes on.

    Broken to see it red: the pull awaited without a shield.
    """
    suite.home.go.clear()
    suite.home.change("p-ben")
    owner = asyncio.create_task(suite.keeper.pull())
    await asyncio.sleep(0)
    owner.cancel()
    await asyncio.gather(owner, return_exceptions=True)
    suite.home.go.set()
    await suite.settled()
    assert suite.keeper.members == {"p-ben"}


async def test_a_database_that_fails_is_a_failed_pull(suite: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be kept does not count: after a restart it would be gone. Broken to see it red: taken first."""
    keep = AsyncMock(side_effect=OSError("full"))
    monkeypatch.setattr(suite.keeper._store, "keep", keep)
    suite.home.change("p-eve")
    await suite.keeper.pull()
    assert suite.keeper.members == FIRST
    assert suite.keeper.report().failure == "internal"


async def test_a_clock_that_was_set_back_lengthens_no_copys_time(suite: Any) -> None:
    """By a few seconds it counts on; by an hour nobody can say how old it is, and it is read anew.

    Broken to see it red: only its end looked at; the pause counted from a moment that is still to come.
    """
    suite.home.down = Kind.UNAVAILABLE
    suite.clock.advance(-30)
    assert suite.keeper.members == FIRST
    suite.clock.advance(-3600)
    assert suite.keeper.members is None
    suite.home.down = None
    await suite.keeper.refresh()
    assert suite.keeper.members == FIRST


async def test_a_home_that_hangs_holds_up_a_question_for_half_a_second_at_most(suite: Any) -> None:
    """And its answer counts when it comes. Broken to see it red: waited for to its end."""
    suite.home.go.clear()
    suite.clock.advance(3600)
    async with asyncio.timeout(30):  # there to fail, not to measure
        await suite.keeper.refresh()
    assert suite.keeper.members is None
    suite.home.go.set()
    await suite.settled()
    suite.home.go.clear()
    async with asyncio.timeout(30):
        await suite.keeper.refresh("e2")
    suite.home.go.set()
    await suite.settled()
    assert suite.keeper.members == FIRST


@pytest.mark.parametrize(("ttl", "lasts"), [(0, 0), (1, 1), (86_400, 86_400), (2**32 - 1, 86_400)])
async def test_its_time_is_the_homes_and_a_day_at_most(suite: Any, ttl: int, lasts: int) -> None:
    """Whoever leaves is off it within a day, whatever the home says. Broken to see it red: no bound."""
    suite.home.ttl = ttl
    await suite.keeper.pull()
    suite.home.down = Kind.UNAVAILABLE
    assert timedelta(seconds=86_400) == LONGEST_TTL
    if lasts:
        suite.clock.advance(lasts - 0.5)
        assert suite.keeper.members is not None
        suite.clock.advance(0.5)
    assert suite.keeper.members is None


@pytest.mark.parametrize("later", [10, 3599, 3600])
async def test_a_restart_holds_what_was_held_with_its_time_running_on(suite: Any, later: int) -> None:
    """The home is down at the restart: the copy counts until its own time is over, and no second longer.

    Broken to see it red: the time begun anew at the start; the copy not kept.
    """
    await suite.stop()
    suite.home.down = Kind.UNAVAILABLE
    suite.clock.advance(later)
    await suite.start()
    assert suite.keeper.members == (FIRST if later < 3600 else None)
    assert suite.keeper.report().state is (State.FRESH if later < 3600 else State.STALE)


async def test_nothing_of_it_is_readable_at_rest(suite: Any) -> None:
    """Members, epoch and generation are sealed; a row that does not open is no roster, and it is pulled anew.

    Broken to see it red: the refs stored as they come.
    """
    raw = b"".join(path.read_bytes() for path in suite.path.parent.glob("authz.db*"))
    assert b"CREATE TABLE roster" in raw
    for word in (b"p-ben", b"p-cas", b"first"):
        assert word not in raw
    await suite.stop()
    suite.key = type(suite.key)(b"b" * 32)
    await suite.start()
    assert suite.home.asked == 2
    assert suite.keeper.members == FIRST


async def test_another_generation_waits_for_an_owner(suite: Any) -> None:
    """The held copy counts, its own time running on; then nobody but owners; then the owner confirms (AUT-18).

    Broken to see it red: the new one taken at once; the held one's time renewed by it; dropped by it.
    """
    suite.home.generation, suite.home.members = "second", SECOND
    until = suite.keeper.report().until
    await suite.keeper.pull()
    report = suite.keeper.report()
    assert suite.keeper.members == FIRST
    assert (report.state, report.waiting, report.until) == (State.FRESH, generation_id("second"), until)
    suite.clock.advance(3600)
    await suite.keeper.refresh()
    assert suite.keeper.members is None
    await suite.keeper.confirm(report.waiting)
    assert suite.keeper.members == SECOND
    assert suite.keeper.report().waiting == ""
    await suite.stop()
    await suite.start()
    assert suite.keeper.members == SECOND  # familiar from now on, after a restart too


async def test_an_owner_confirms_what_they_saw_and_nothing_else(suite: Any) -> None:
    """Another generation came while they looked, or the old one is back: refused, and the held one stays.

    Broken to see it red: whatever waits taken.
    """
    suite.home.generation, suite.home.members = "second", SECOND
    await suite.keeper.pull()
    seen = suite.keeper.report().waiting
    for generation in ("third", "first"):
        suite.home.generation = generation
        with pytest.raises(ServiceError) as refused:
            await suite.keeper.confirm(seen)
        assert refused.value.kind is Kind.PRECONDITION
        assert suite.keeper.report().waiting == (generation_id("third") if generation == "third" else "")
    for wrong in ("", "first", generation_id("first")):
        with pytest.raises(ServiceError):
            await suite.keeper.confirm(wrong)


async def test_what_is_confirmed_while_the_home_is_down_is_as_old_as_it_is(suite: Any) -> None:
    """Its time runs from when it was fetched. Broken to see it red: from when it was confirmed."""
    suite.home.generation = "second"
    await suite.keeper.pull()
    fetched = suite.clock.now()
    suite.home.down = Kind.UNAVAILABLE
    suite.clock.advance(600)
    await suite.keeper.confirm(generation_id("second"))
    assert suite.keeper.report().fetched_at == fetched


async def test_an_owner_is_told_counts_and_times_and_no_member(suite: Any) -> None:
    """By the calls that the sources page makes."""
    reply = await suite.server.DescribeRoster(pb.DescribeRosterRequest(), None)
    assert (reply.state, reply.members, reply.failure) == (pb.ROSTER_STATE_FRESH, 2, "")
    assert b"p-ben" not in reply.SerializeToString()
    suite.home.generation = "second"
    reply = await suite.server.DescribeRoster(pb.DescribeRosterRequest(pull=True), None)
    assert reply.waiting == generation_id("second")
    await suite.server.ConfirmRoster(pb.ConfirmRosterRequest(waiting=reply.waiting), None)
    assert (await suite.server.DescribeRoster(pb.DescribeRosterRequest(), None)).waiting == ""


async def test_alone_there_is_no_roster_to_speak_of(house: Any) -> None:
    """Nothing is described, and nothing can be confirmed."""
    assert await house.server.DescribeRoster(pb.DescribeRosterRequest(pull=True), None) == pb.DescribeRosterResponse()
    with pytest.raises(ServiceError, match="no home"):
        await house.server.ConfirmRoster(pb.ConfirmRosterRequest(waiting="x"), None)
