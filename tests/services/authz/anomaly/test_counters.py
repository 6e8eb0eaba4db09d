"""What is counted, how long it is kept, and that what is missing is never told as "no anomaly" (RET-09, -10, -14)."""

import asyncio
import contextlib
import sqlite3
from typing import Any

import pytest

from memoria_authz.anomaly.breakers import Lack, State
from memoria_authz.anomaly.ledger import Ledger
from memoria_chassis.aead import Sealer

from .conftest import DAY, KEY, Counted


@pytest.mark.parametrize(
    ("damage", "lacking"),
    [
        ("DELETE FROM count_accounts WHERE app = 'sheets'", (Lack.WINDOW, Lack.BASELINE)),
        ("UPDATE count_accounts SET sealed = x'00' WHERE app = 'sheets'", (Lack.WINDOW, Lack.BASELINE)),
        ("DELETE FROM answer_counts WHERE day = (SELECT max(day) FROM answer_counts)", (Lack.WINDOW,)),
        ("DELETE FROM answer_counts WHERE day = (SELECT min(day) FROM answer_counts)", (Lack.BASELINE,)),
        ("UPDATE answer_counts SET sealed = zeroblob(60)", (Lack.WINDOW, Lack.BASELINE)),
        ("DELETE FROM fetch_counts", (Lack.WINDOW,)),
    ],
)
async def test_counters_that_are_gone_or_do_not_open_are_named(
    grown: Counted, damage: str, lacking: tuple[Lack, ...]
) -> None:
    """Each by what it takes away; the neighbour can still be told.

    Broken to see it red: an account without the number of a day's rows, and a missing one told as "no anomaly".
    """
    grown.answers("ann", visible=1)
    grown.days(1)
    grown.answers("ann", refused=1)
    grown.fetches(fetched=1)
    assert (await grown.of()).refusal.state is State.QUIET
    await grown.broken(damage)
    found = await grown.of()
    assert (found.refusal.state, found.refusal.lacking) == (State.CANNOT_DETERMINE, lacking)
    assert (found.fetch.state, found.fetch.lacking) == (State.CANNOT_DETERMINE, lacking)
    assert (await grown.of("docs")).refusal.state is State.QUIET


@pytest.mark.parametrize(
    ("days", "state"), [(0, State.CANNOT_DETERMINE), (6, State.CANNOT_DETERMINE), (7, State.QUIET)]
)
async def test_a_count_that_is_younger_than_its_baseline_cannot_tell(counted: Counted, days: int, state: State) -> None:
    """Days without a row count too: a pod that slept through them has missed nothing that was asked."""
    counted.days(days)
    found = (await counted.of()).refusal
    assert (found.state, found.lacking) == (state, (Lack.BASELINE,) if days < 7 else ())


async def test_our_own_restore_begins_the_count_anew(grown: Counted) -> None:
    """Days may be missing that no row tells of. It is known by search's database, which is put back with ours.

    Broken to see it red: `belong` without the new beginning, and with one for the first history ever named.
    """
    await grown.counters.belong("first")
    await grown.counters.belong("first")
    assert (await grown.of()).refusal.state is State.QUIET
    await grown.counters.belong("second")
    for app in ("sheets", "docs"):
        assert (await grown.of(app)).refusal.lacking == (Lack.BASELINE,)
    assert (await grown.of()).restore.state is State.QUIET


async def test_a_day_is_kept_for_seven_more_and_then_erased(counted: Counted) -> None:
    """Eight dates in all (RET-10), and their erasure is no loss to be told."""
    for _ in range(12):
        counted.answers("ann", visible=1)
        counted.fetches(fetched=1)
        await counted.of()
        counted.days(1)
    assert (await counted.of()).refusal.state is State.QUIET
    with sqlite3.connect(counted.path) as connection:
        for table in ("answer_counts", "fetch_counts"):
            days = [day for (day,) in connection.execute(f"SELECT DISTINCT day FROM {table} ORDER BY day")]
            today = int(counted.clock.now().timestamp() // DAY)
            assert days == list(range(today - 7, today))
    connection.close()


async def test_neither_who_asked_nor_what_was_answered_can_be_read(grown: Counted) -> None:
    """Addresses are fingerprints and counts are sealed: the same counts twice are different bytes."""
    grown.answers("ann", visible=7)
    grown.answers("bob", visible=7)
    await grown.of()
    with sqlite3.connect(grown.path) as connection:
        rows = connection.execute("SELECT asker, sealed FROM answer_counts").fetchall()
    connection.close()
    assert len(rows) == len({sealed for _, sealed in rows}) == 2
    assert not any(b"ann" in asker or (7).to_bytes(8, "big") in sealed for asker, sealed in rows)
    await grown.close()
    assert b"example.test" not in grown.path.read_bytes()
    await grown.open()


async def test_a_write_that_fails_loses_no_count(grown: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is written with the next one, once. Broken to see it red: without `_put_back`, and with it twice."""
    grown.fetches(fetched=1)
    await grown.of()
    grown.days(1)
    real = grown.database.write

    async def full(_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(grown.database, "write", full)
    grown.fetches(not_found=10)
    await asyncio.sleep(0.05)
    grown.fetches(not_found=9)
    monkeypatch.setattr(grown.database, "write", real)
    assert (await grown.of()).fetch.state is State.QUIET
    grown.fetches(not_found=1)
    assert (await grown.of()).fetch.state is State.FIRED


async def test_what_is_counted_while_a_write_fails_is_not_lost_to_it(
    grown: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It came after what is put back, for the same day and the same person: both are written with the next try.

    Broken to see it red: `_put_back` putting the old counts in the place of the new ones (found by another's mutation).
    """
    real = grown.database.write

    async def full(_: object) -> None:
        grown.answers("ann", visible=2, refused=1)
        grown.fetches(not_found=3)
        monkeypatch.setattr(grown.database, "write", real)
        raise sqlite3.OperationalError("database or disk is full")

    grown.answers("ann", visible=1)
    grown.fetches(fetched=1)
    monkeypatch.setattr(grown.database, "write", full)
    with contextlib.suppress(sqlite3.OperationalError):
        await grown.of()
    await grown.of()
    today = int(grown.clock.now().timestamp() // DAY)
    tally = await grown.database.read(lambda db: Ledger(db, Sealer(KEY)).tally("sheets", today))
    assert [(a.visible, a.refused) for a in tally.answers[today].values()] == [(3, 1)]
    assert (tally.fetches[today].fetched, tally.fetches[today].not_found) == (1, 3)


async def test_counts_of_many_at_once_add_up(grown: Counted) -> None:
    """Two hundred askers, each counted while the ones before are being written."""
    for turn in range(200):
        grown.answers(f"person{turn % 20}", visible=1)
        grown.fetches(not_found=1)
        await asyncio.sleep(0)
    await grown.of()
    today = int(grown.clock.now().timestamp() // DAY)
    tally = await grown.database.read(lambda db: Ledger(db, Sealer(KEY)).tally("sheets", today))
    assert [answers.visible for answers in tally.answers[today].values()] == [10] * 20
    assert tally.fetches[today].not_found == 200


async def test_a_restore_that_could_not_be_written_is_written_with_the_next_try(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else need be counted for it. Broken to see it red: another try only where counts were put back."""
    monkeypatch.setattr("memoria_authz.anomaly.counters._RETRY_SECONDS", 0.01)
    real, fails = counted.database.write, [True]

    async def write(change: Any) -> Any:
        if fails:
            fails.clear()
            raise sqlite3.OperationalError("database or disk is full")
        return await real(change)

    monkeypatch.setattr(counted.database, "write", write)
    counted.counters.restored("sheets")
    async with asyncio.timeout(10):
        while counted.counters._restored or fails:  # noqa: ASYNC110 - production code has nobody who waits for it
            await asyncio.sleep(0.01)
    assert (await counted.of()).restore.state is State.FIRED


async def test_a_restore_is_told_for_as_long_as_a_day_is_kept(counted: Counted) -> None:
    """And no longer: it says nothing of today."""
    counted.counters.restored("sheets")
    for _ in range(7):
        assert (await counted.of()).restore.state is State.FIRED
        counted.days(1)
    counted.days(2)
    await counted.restart()
    assert (await counted.of()).restore.state is State.QUIET


async def test_tables_that_cannot_be_read_are_no_error(grown: Counted) -> None:
    """Nothing can be determined then, and the page says so."""
    with sqlite3.connect(grown.path) as connection:
        connection.execute("DROP TABLE answer_counts")
    connection.close()
    assert (await grown.of()).refusal.lacking == (Lack.WINDOW, Lack.BASELINE)


async def test_a_clock_that_was_ahead_leaves_no_quiet_over_days_that_are_gone(grown: Counted) -> None:
    """It erased them. Broken to see it red: counting since before what was erased."""
    grown.answers("ann", visible=1)
    assert (await grown.of()).refusal.state is State.QUIET
    grown.days(30)
    await grown.of()
    grown.days(-30)
    assert (await grown.of()).refusal.state is State.CANNOT_DETERMINE
