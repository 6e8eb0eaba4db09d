"""An authz in this process: the real admission, bench, asker and orders, over siblings that are functions."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_authz.admission import LoneAdmission
from memoria_authz.anomaly.counters import Counters
from memoria_authz.ask.bench import Bench
from memoria_authz.ask.sibling_client import SiblingAsker
from memoria_authz.claims import SiblingClaim
from memoria_authz.orders import WorkOrders
from memoria_authz.schema import MIGRATIONS
from memoria_authz.server import GateServer
from memoria_chassis.clock import FakeClock
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import ServiceKey
from memoria_chassis.rpc import deadline
from memoria_chassis.sqlite import Database
from memoria_contract.types import ItemId, Pair, Revision, Subject, SubjectKind

ANN = Subject(SubjectKind.ADDRESS, "ann@example.test")
Answer = Callable[[pb.AuthorizeRequest], Awaitable[pb.AuthorizeResponse]]


def verdicts(request: pb.AuthorizeRequest, verdict: int = pb.VERDICT_VISIBLE) -> pb.AuthorizeResponse:
    """The same verdict for every pair."""
    rows = [pb.ItemVerdict(item_id=i.item_id, revision=i.revision, verdict=verdict) for i in request.items]
    return pb.AuthorizeResponse(verdicts=rows)


class FakeSibling:
    """In a ConnectClient's place: keeps to the time-out it is given, answers by `say`, remembers the requests."""

    def __init__(self) -> None:
        self.asked: list[pb.AuthorizeRequest] = []
        self.timeouts: list[float] = []
        self.seconds = 0.0
        self.running = self.at_once = 0
        self.verdict: int = pb.VERDICT_VISIBLE
        self.say: Callable[[pb.AuthorizeRequest], pb.AuthorizeResponse] = lambda request: verdicts(
            request, self.verdict
        )

    async def call(self, method: str, request: pb.AuthorizeRequest, reply: Any, timeout: float, *, limit: int) -> Any:
        assert method == "memoria.sibling.v1.SiblingService/Authorize"
        self.asked.append(request)
        self.timeouts.append(timeout)
        self.running += 1
        self.at_once = max(self.at_once, self.running)
        try:
            async with asyncio.timeout(timeout):
                await asyncio.sleep(self.seconds)
        except TimeoutError:
            raise ServiceError(Kind.DEADLINE, "the app did not answer in time") from None
        finally:
            self.running -= 1
        return self.say(request)

    async def close(self) -> None:
        return


class House:
    """One authz."""

    def __init__(self, folder: Path, owners: list[str], apps: tuple[str, ...]) -> None:
        self.path = folder / "authz.db"
        self.key = ServiceKey(b"a" * 32)
        self.database = Database.open(self.path, MIGRATIONS)
        self.orders = WorkOrders(self.database, self.key)
        self.siblings = {app: FakeSibling() for app in apps}
        clients: dict[str, Any] = dict(self.siblings)
        self.admission = LoneAdmission(owners)
        self.counters = Counters(self.database, self.key, FakeClock(), apps)
        askers = {app: SiblingAsker(app, clients[app]) for app in apps}
        self.bench = Bench(self.admission, askers, self.orders, self.counters)
        self.server = GateServer(self.admission, self.bench, self.orders, self.counters)

    def reopen(self) -> WorkOrders:
        """The orders as a restarted process finds them."""
        self.database.close()
        self.database = Database.open(self.path, MIGRATIONS)
        self.orders = WorkOrders(self.database, self.key)
        return self.orders


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """An authz with three siblings, admitting Ann and Bob."""
    made = House(tmp_path, ["ann@example.test", "Bob@Example.test"], ("calendar", "docs", "sheets"))
    deadline.forget()
    yield made
    made.database.close()


@pytest.fixture
def ann() -> Subject:
    """Somebody admitted."""
    return ANN


@pytest.fixture
def claim() -> Callable[..., SiblingClaim]:
    """`claim(app, item, revision)`."""

    def make(app: str = "docs", item: str = "1", revision: str = "7") -> SiblingClaim:
        return SiblingClaim(app, Pair(ItemId(item), Revision(revision)))

    return make
