"""Counts what siblings answer, durably and behind the rulings: nobody waits for a count.

What a kill can take is what was counted since the last write, which is under way whenever something is counted.
"""

import asyncio
import contextlib
import sqlite3
from collections.abc import Iterable, Mapping

from memoria_authz.anomaly.breakers import Findings, findings
from memoria_authz.anomaly.ledger import DAY_SECONDS, Ledger
from memoria_authz.anomaly.tally import Answers, Fetches, Tally
from memoria_chassis import log
from memoria_chassis.aead import Sealer
from memoria_chassis.clock import Clock
from memoria_chassis.keys import ServiceKey, fingerprint
from memoria_chassis.sqlite import Database
from memoria_contract.types import Subject, Verdict

_RETRY_SECONDS = 1.0

_Pending = dict[tuple[str, int], tuple[dict[bytes, Answers], Fetches]]


class Counters:
    """The counts of the configured siblings."""

    def __init__(self, database: Database, key: ServiceKey, clock: Clock, apps: Iterable[str]) -> None:
        self._database = database
        self._sealer = Sealer(key)
        self._askers = key.purpose("anomaly-asker")
        self._clock = clock
        self._apps = tuple(apps)
        self._pending: _Pending = {}
        self._lineage = ""
        self._erased = -1  # the day on which older ones were last erased
        self._restored: dict[str, int] = {}  # when, seconds since 1970
        self._something = asyncio.Event()
        self._writing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    async def open(self) -> None:
        """Begin to count every sibling that was not counted yet, and to write what is counted."""
        today = self._today()

        def begin(connection: sqlite3.Connection) -> None:
            ledger = Ledger(connection, self._sealer)
            for app in self._apps:
                ledger.begin(app, today)
                ledger.erase_before(app, today)

        await self._database.write(begin)
        self._task = asyncio.create_task(self._run())

    def answered(self, app: str, subject: Subject, verdicts: Iterable[Verdict]) -> None:
        """Count one sibling's answers to one asker."""
        said = list(verdicts)
        more = Answers(said.count(Verdict.VISIBLE), said.count(Verdict.NOT_VISIBLE))
        if more != Answers():
            asker = fingerprint(self._askers, f"{subject.kind.value}\0{subject.value}".encode())
            answers, _ = self._pending.setdefault((app, self._today()), ({}, Fetches()))
            answers[asker] = answers.get(asker, Answers()) + more
            self._something.set()

    def fetched(self, app: str, more: Fetches) -> None:
        """Count what one sibling answered to fetches."""
        if more != Fetches() and app in self._apps:
            key = app, self._today()
            answers, fetches = self._pending.get(key, ({}, Fetches()))
            self._pending[key] = answers, fetches + more
            self._something.set()

    def restored(self, app: str) -> None:
        """A sibling answered AHEAD: it was restored."""
        self._restored[app] = int(self._clock.now().timestamp())
        self._something.set()

    async def belong(self, lineage: str) -> None:
        """Count for this history of search's database."""
        if lineage == self._lineage:
            return
        today = self._today()

        def belong(connection: sqlite3.Connection) -> int:
            ledger = Ledger(connection, self._sealer)
            return sum(ledger.belong(app, today, lineage) for app in self._apps)

        if begun := await self._database.write(belong):
            log.get_logger().warning("counts begin anew: the databases were put back from a backup", count=begun)
        self._lineage = lineage

    async def findings(self) -> Mapping[str, Findings]:
        """What the breakers say of each sibling, now."""
        with contextlib.suppress(sqlite3.Error):
            await self._flush()
        today = self._today()

        def look(connection: sqlite3.Connection) -> dict[str, Findings]:
            ledger = Ledger(connection, self._sealer)
            return {app: findings(ledger.tally(app, today), today) for app in self._apps}

        try:
            return await self._database.read(look)
        except sqlite3.Error as error:
            log.get_logger().error("counts could not be read", exc_info=error)
            return {app: findings(Tally(), today) for app in self._apps}  # none can be determined (RET-14)

    async def close(self) -> None:
        """Write what is left."""
        self._closing = True
        self._something.set()
        if self._task is not None:
            await asyncio.wait([self._task])
        try:
            await self._flush()
        except sqlite3.Error as error:
            log.get_logger().error("the last counts could not be written", exc_info=error)

    async def _run(self) -> None:
        while not self._closing:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._day_left()):  # the day turns without anybody asking, too
                    await self._something.wait()
            try:
                await self._flush()
            except sqlite3.Error as error:
                log.get_logger().error("counts could not be written", exc_info=error)
                await asyncio.sleep(_RETRY_SECONDS)

    async def _flush(self) -> None:
        """Whoever waits may go: what is half written would be counted again."""
        await asyncio.shield(asyncio.create_task(self._flush_whole()))

    async def _flush_whole(self) -> None:
        async with self._writing:
            self._something.clear()
            taken, self._pending = self._pending, {}
            restored, self._restored = self._restored, {}
            today = self._today()
            try:
                await self._database.write(lambda connection: self._write(connection, taken, restored, today))
                self._erased = today
            except BaseException:
                self._put_back(taken)
                self._restored = restored | self._restored
                self._something.set()
                raise

    def _write(self, connection: sqlite3.Connection, taken: _Pending, restored: dict[str, int], today: int) -> None:
        ledger = Ledger(connection, self._sealer)
        for (app, day), (answers, fetches) in taken.items():
            ledger.add(app, day, answers, fetches)
        for app, at in restored.items():
            ledger.restored(app, today, at)
        if self._erased == today:
            return
        for app in ledger.apps():  # also of one that was taken out of the settings
            ledger.erase_before(app, today)

    def _put_back(self, taken: _Pending) -> None:
        for key, (answers, fetches) in taken.items():
            newer, more = self._pending.get(key, ({}, Fetches()))
            merged = {asker: answers.get(asker, Answers()) + newer.get(asker, Answers()) for asker in answers | newer}
            self._pending[key] = merged, fetches + more

    def _today(self) -> int:
        return int(self._clock.now().timestamp()) // DAY_SECONDS

    def _day_left(self) -> float:
        return DAY_SECONDS - self._clock.now().timestamp() % DAY_SECONDS + 1
