"""An authz beside a home that a test turns: members, epoch, generation, time to live, and silence."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memoria_authz.admission import LoneAdmission, SuiteAdmission
from memoria_authz.anomaly.counters import Counters
from memoria_authz.ask.bench import Bench
from memoria_authz.orders import WorkOrders
from memoria_authz.roster.keeper import Keeper
from memoria_authz.roster.model import Roster
from memoria_authz.roster.store import RosterStore
from memoria_authz.schema import MIGRATIONS
from memoria_authz.server import GateServer
from memoria_chassis.clock import FakeClock
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import ServiceKey
from memoria_chassis.rpc import deadline
from memoria_chassis.sqlite import Database
from memoria_contract.types import Pair, Subject, Verdict

OWNER = "ann@example.test"


class FakeHome:
    """In HomeClient's place."""

    def __init__(self) -> None:
        self.members = {"p-ben", "p-cas"}
        self.epoch, self.generation, self.ttl = 1, "first", 3600
        self.down: Kind | None = None
        self.asked = 0
        self.go = asyncio.Event()
        self.go.set()

    async def fetch(self) -> Roster:
        """The roster of now."""
        self.asked += 1
        await self.go.wait()
        if self.down:
            raise ServiceError(self.down, "down")
        return Roster(frozenset(self.members), f"e{self.epoch}", timedelta(seconds=self.ttl), self.generation)

    def change(self, *members: str) -> None:
        """Other members, and so another epoch."""
        self.members, self.epoch = set(members), self.epoch + 1


class Yes:
    """A sibling that lets everybody see everything, and counts."""

    def __init__(self) -> None:
        self.asked: list[Subject] = []

    async def ask(self, subject: Subject, pairs: list[Pair]) -> dict[Pair, Verdict]:
        """VISIBLE for all."""
        self.asked.append(subject)
        return dict.fromkeys(pairs, Verdict.VISIBLE)


class Suite:
    """One authz in the suite shape, restartable."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "authz.db"
        self.key = ServiceKey(b"a" * 32)
        self.clock, self.home, self.docs = FakeClock(), FakeHome(), Yes()

    async def start(self) -> None:
        """Wake."""
        self.database = Database.open(self.path, MIGRATIONS)
        self.keeper = Keeper(self.home, RosterStore(self.database, self.key), self.clock)
        await self.keeper.wake()
        self.admission = SuiteAdmission(LoneAdmission([OWNER]), self.keeper)
        orders = WorkOrders(self.database, self.key)
        self.counters = Counters(self.database, self.key, self.clock, ["docs"])
        self.bench = Bench(self.admission, {"docs": self.docs}, orders, self.counters)
        self.server = GateServer(self.admission, self.bench, orders, self.counters, self.keeper)

    async def stop(self) -> None:
        """End."""
        await self.keeper.close()
        await self.counters.close()
        self.database.close()

    async def settled(self) -> None:
        """A pull that was begun has ended."""
        if self.keeper._pulling is not None:
            await asyncio.wait([self.keeper._pulling])


@pytest.fixture
async def suite(tmp_path: Path) -> AsyncIterator[Any]:
    """A running one."""
    deadline.forget()
    made = Suite(tmp_path)
    await made.start()
    yield made
    await made.stop()
