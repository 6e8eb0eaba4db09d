"""What the pages and the API share: the doors, the peers, and the jobs that run behind a reply."""

import asyncio
from collections.abc import Awaitable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.classifier.classify import Classifier
from memoria_gateway.door import Door
from memoria_gateway.home.adapter import HomeAdapter
from memoria_gateway.limits import SignInLimits
from memoria_gateway.mail import Mailer
from memoria_gateway.peers_client import ExtractClient, GateClient, IndexClient, IntakeClient
from memoria_gateway.push_client import PushClient
from memoria_gateway.render import Renderer
from memoria_gateway.store import Store
from memoria_gateway.ticks import MOST, Job, Ticks
from memoria_gateway.turns import Turns
from memoria_gateway.views import OURSELVES, Notice, Page, Person

PAGE_SIZE = 50
MAX_QUERY = 1024  # bytes (SRF-02)
MAX_PAGE = 1024  # paging ends long before, at 1,024 candidates (AMD-05); this bounds the number alone


@dataclass
class Desk:
    """The dependencies of every handler."""

    store: Store
    door: Door
    gate: GateClient
    index: IndexClient
    intake: IntakeClient
    pushes: PushClient
    extract: ExtractClient
    mailer: Mailer
    limits: SignInLimits
    renderer: Renderer
    origin: str
    home: HomeAdapter | None = None
    trusted_proxies: frozenset[str] = frozenset()
    classifier: Classifier | None = None
    pull_failed: bool = False
    turns: Turns = field(default_factory=Turns)
    jobs: set["asyncio.Task[None]"] = field(default_factory=set)
    ticks: Ticks = field(init=False)

    def __post_init__(self) -> None:
        """Give the ticks the way in which a job behind a reply may fail."""
        self.ticks = Ticks(self._run)

    def nudge(self) -> None:
        """Have ingest pull, behind the reply."""
        self.behind(self._nudge())

    async def _nudge(self) -> None:
        """That it cannot be reached is remembered, and said on the pages until it can (RET-05)."""
        try:
            await self.intake.nudge()
            self.pull_failed = False
        except ServiceError:
            self.pull_failed = True
            raise

    def later(self, job: Job) -> bool:
        """Run `job` behind the reply, not before the next tick. False where too much waits: then nobody's is taken."""
        return len(self.jobs) < MOST and self.ticks.put(job)

    def behind(self, job: Coroutine[Any, Any, Any]) -> None:
        """Run `job` behind the reply. Its failure is logged by kind and changes nothing the reader sees."""
        task = asyncio.get_running_loop().create_task(self._run(job))
        self.jobs.add(task)
        task.add_done_callback(self.jobs.discard)

    async def _run(self, job: Awaitable[Any]) -> None:
        try:
            await job
        except ServiceError as error:
            log.get_logger().warning("a job behind a reply failed", kind=error.kind.value)
        except Exception as error:
            log.get_logger().error("a job behind a reply failed", exc_info=error)

    async def settle(self) -> None:
        """Let the jobs end, for a moment; then end them."""
        await self.ticks.settle()
        if self.jobs:
            _, late = await asyncio.wait(self.jobs, timeout=5)
            for job in late:
                job.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def search(self, person: Person, query: str, page: int, page_size: int = PAGE_SIZE) -> Page:
        """One search: the pull starts alongside it (ING-04) and is nudged again when a ruling left orders."""
        if len(query.encode(errors="replace")) > MAX_QUERY:
            raise ServiceError(Kind.INVALID, f"A query may have {MAX_QUERY} bytes.")
        if not query.strip():
            return Page((), (), False, False)
        self.nudge()
        async with self.turns.take(person.subject.value):
            found = await self.index.search(person.subject, query, page, page_size)
        if self.pull_failed:
            found = replace(found, notices=(*found.notices, Notice(OURSELVES, "degraded", 0)))
        if any(notice.kind in {"stale", "reconciling"} for notice in found.notices):
            self.nudge()
        return found


def page_number(text: str | None) -> int:
    """A page number from 1 to 1,024. Raises INVALID."""
    return bounded_number(text, 1, MAX_PAGE, f"A page is a number from 1 to {MAX_PAGE}.")


def bounded_number(text: str | None, absent: int, most: int, refusal: str) -> int:
    """A number from 1 to `most`, or `absent` where there is no text. Raises INVALID with `refusal`."""
    if text is None or text == "":
        return absent
    # Ten digits at most: Python refuses to read numbers of thousands of digits, with an exception of its own.
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and 1 <= int(text) <= most):
        raise ServiceError(Kind.INVALID, refusal)
    return int(text)
