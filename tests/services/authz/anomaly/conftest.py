"""Counters over a real database and a clock that tests move, one call a day's worth of answers."""

import sqlite3
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memoria_authz.anomaly.breakers import Findings
from memoria_authz.anomaly.counters import Counters
from memoria_authz.anomaly.tally import Fetches
from memoria_authz.schema import MIGRATIONS
from memoria_chassis.clock import FakeClock
from memoria_chassis.keys import ServiceKey
from memoria_chassis.sqlite import Database
from memoria_contract.types import Subject, SubjectKind, Verdict

DAY = 86_400.0
KEY = ServiceKey(b"k" * 32)


class Counted:
    """Two siblings that are counted, `sheets` and `docs`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = FakeClock(datetime(2026, 3, 1, 12, tzinfo=UTC))

    async def open(self) -> "Counted":
        self.database = Database.open(self.path, MIGRATIONS)
        self.counters = Counters(self.database, KEY, self.clock, ("sheets", "docs"))
        await self.counters.open()
        return self

    async def close(self) -> None:
        await self.counters.close()
        self.database.close()

    async def restart(self) -> None:
        await self.close()
        await self.open()

    def days(self, days: float) -> None:
        """Let time pass."""
        self.clock.advance(days * DAY)

    def answers(self, who: str, app: str = "sheets", *, visible: int = 0, refused: int = 0, unknown: int = 0) -> None:
        """Answers to one asker, today."""
        said = [Verdict.VISIBLE] * visible + [Verdict.NOT_VISIBLE] * refused + [Verdict.UNKNOWN] * unknown
        self.counters.answered(app, Subject(SubjectKind.ADDRESS, f"{who}@example.test"), said)

    def fetches(self, *, fetched: int = 0, not_found: int = 0) -> None:
        """Answers of sheets to fetches, today."""
        self.counters.fetched("sheets", Fetches(fetched, not_found))

    async def of(self, app: str = "sheets") -> Findings:
        """What the breakers say of one sibling."""
        return (await self.counters.findings())[app]

    async def broken(self, statement: str) -> None:
        """Damage the database behind the counters' back."""
        await self.counters.findings()  # what is counted is written
        with sqlite3.connect(self.path) as connection:
            assert connection.execute(statement).rowcount > 0
        connection.close()


@pytest.fixture
async def counted(tmp_path: Path) -> AsyncIterator[Counted]:
    """Counting since just now."""
    made = await Counted(tmp_path / "authz.db").open()
    yield made
    await made.close()


@pytest.fixture
async def grown(counted: Counted) -> Counted:
    """The same, eight days later: a full baseline, in which nobody asked anything."""
    counted.days(8)
    return counted
