"""G08: the refusal and the fetch breaker, with their exact predicates.

Broken to see them red: (i) "zero V in the window" without a baseline; (ii) the absence of V in place of N; (iii) the
baseline moved to d-6 … d; (iv) a missing account told as "no anomaly".
"""

import pytest

from memoria_authz.anomaly.breakers import State
from memoria_authz.orders import WorkOrders

from .conftest import KEY, Counted

THREE = ("ann", "bob", "cem")


async def test_three_who_were_shown_something_a_week_ago_and_are_only_refused_today_fire_it(grown: Counted) -> None:
    """The baseline's grants stand on its first day alone; a neighbour is not touched, and a restart forgets nothing."""
    for who in THREE:
        grown.answers(who, visible=1)
    grown.days(7)
    assert (await grown.of()).refusal.state is State.QUIET
    for who in THREE:
        grown.answers(who, refused=2)
    assert (await grown.of()).refusal.state is State.FIRED
    assert (await grown.of("docs")).refusal.state is State.QUIET
    await grown.restart()
    assert (await grown.of()).refusal.state is State.FIRED


async def test_a_grant_of_eight_days_ago_is_no_baseline(grown: Counted) -> None:
    """The window has seven days before it, and no more."""
    for who in THREE:
        grown.answers(who, visible=1)
    grown.days(8)
    for who in THREE:
        grown.answers(who, refused=2)
    assert (await grown.of()).refusal.state is State.QUIET


@pytest.mark.parametrize("silent", ["two askers", "outage", "outage and one of another app", "one is still shown"])
async def test_it_stays_silent(grown: Counted, silent: str) -> None:
    """Below three askers, in an outage, for members who never had the app, while somebody is shown something."""
    for who in THREE:
        grown.answers(who, visible=3)
    grown.days(1)
    match silent:
        case "two askers":
            for who in THREE[:2]:
                grown.answers(who, refused=5)
        case "outage":
            for who in THREE:
                grown.answers(who, unknown=200)
        case "outage and one of another app":
            for who in THREE:
                grown.answers(who, unknown=200)
            grown.answers("dee", refused=1)
        case _:
            for who in THREE:
                grown.answers(who, refused=5)
            grown.answers("cem", visible=1)
    assert (await grown.of()).refusal.state is State.QUIET


async def test_members_of_another_app_alone_never_fire_it(grown: Counted) -> None:
    """Three who were never shown anything there are refused over 200 pairs while the one who is has a day off."""
    grown.answers("ann", visible=10)
    grown.days(1)
    for who in ("bob", "cem", "dee"):
        grown.answers(who, refused=200)
    assert (await grown.of()).refusal.state is State.QUIET


@pytest.mark.parametrize(
    ("before", "today", "state"),
    [
        ({"fetched": 1}, {"not_found": 20}, State.FIRED),
        ({"fetched": 1}, {"not_found": 19}, State.QUIET),
        ({"fetched": 1}, {"not_found": 20, "fetched": 1}, State.QUIET),
        ({"not_found": 1}, {"not_found": 20}, State.QUIET),
    ],
)
async def test_the_fetch_breaker(grown: Counted, before: dict, today: dict, state: State) -> None:
    """Twenty that are not found and none that is, where one was within the seven days before."""
    grown.fetches(**before)
    grown.days(7)
    grown.fetches(**today)
    assert (await grown.of()).fetch.state is state
    await grown.restart()
    assert (await grown.of()).fetch.state is state


async def test_one_ahead_fires_the_restore_breaker_and_begins_the_count_anew(grown: Counted) -> None:
    """No baseline and no floor; what was counted before a restore is no baseline for what comes after it."""
    assert (await grown.of()).restore.state is State.QUIET
    grown.counters.restored("sheets")
    found = await grown.of()
    assert (found.restore.state, found.restore.at) == (State.FIRED, int(grown.clock.now().timestamp()))
    assert found.refusal.state is State.CANNOT_DETERMINE
    assert (await grown.of("docs")).restore.state is State.QUIET
    await grown.restart()
    assert (await grown.of()).restore.state is State.FIRED


async def test_breakers_that_fire_purge_nothing(grown: Counted) -> None:
    """All three at once: nothing is ordered of ingest, which is what removes things (RET-16)."""
    orders = WorkOrders(grown.database, KEY)
    for who in THREE:
        grown.answers(who, visible=1)
    grown.fetches(fetched=1)
    grown.days(7)
    for who in THREE:
        grown.answers(who, refused=2)
    grown.fetches(not_found=20)
    found = await grown.of()
    assert (found.refusal.state, found.fetch.state) == (State.FIRED, State.FIRED)
    grown.counters.restored("sheets")
    assert (await grown.of()).restore.state is State.FIRED
    assert await orders.open() == []
