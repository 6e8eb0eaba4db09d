"""The rows that counts are kept in: sealed, and accounted for, so that missing ones are noticed.

A day without rows and a day whose rows are gone look alike. So each sibling has one sealed account of what there is:
since when it is counted, and how many rows each day has.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field

from memoria_authz.anomaly.tally import BASELINE_DAYS, Answers, Fetches, Tally
from memoria_chassis.aead import SealContext, Sealer, SealError

MIGRATION = """
    CREATE TABLE answer_counts (
        app TEXT NOT NULL,
        day INTEGER NOT NULL,
        asker BLOB NOT NULL,
        sealed BLOB NOT NULL,
        PRIMARY KEY (app, day, asker)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE fetch_counts (
        app TEXT NOT NULL,
        day INTEGER NOT NULL,
        sealed BLOB NOT NULL,
        PRIMARY KEY (app, day)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE count_accounts (app TEXT PRIMARY KEY, sealed BLOB NOT NULL) STRICT, WITHOUT ROWID
"""
"""`asker` is a keyed fingerprint: whom a row is about is content, and so are the two integers sealed in it."""

DAY_SECONDS = 86_400
_PURPOSE = "anomaly-counts"


@dataclass(slots=True)
class _Account:
    since: int
    restored_at: int = 0
    lineage: str = ""  # of the database that search keeps
    answers: dict[int, int] = field(default_factory=dict)  # day to rows
    fetches: set[int] = field(default_factory=set)


class Ledger:
    """Reads and writes the rows of one open transaction."""

    def __init__(self, connection: sqlite3.Connection, sealer: Sealer) -> None:
        self._db = connection
        self._sealer = sealer

    def apps(self) -> list[str]:
        """The labels of all that is counted."""
        return [app for (app,) in self._db.execute("SELECT app FROM count_accounts ORDER BY app")]

    def begin(self, app: str, today: int) -> None:
        """Have an account of `app`; one that is missing or does not open begins today."""
        if self._account(app) is None:
            self._keep(app, _Account(today))

    def restored(self, app: str, today: int, at: int) -> None:
        """The sibling was restored at `at`: what it said before is no baseline for what it says now."""
        account = self._account(app) or _Account(today)
        account.since, account.restored_at = today, at
        self._keep(app, account)

    def belong(self, app: str, today: int, lineage: str) -> bool:
        """Count for this history of search's database; True where it was another, and counting began anew.

        Search's database and ours are put back from backups together, and days may then be missing of which no row
        tells. A restore that search itself cannot notice, because it wrote no generation since the backup, is not
        noticed here.
        """
        account = self._account(app) or _Account(today)
        if account.lineage == lineage:
            return False
        other = account.lineage != ""
        account.lineage = lineage
        if other:
            account.since = today
        self._keep(app, account)
        return other

    def add(self, app: str, today: int, answers: Mapping[bytes, Answers], fetches: Fetches) -> None:
        """Add to today's counts."""
        account = self._account(app) or _Account(today)
        for asker, more in answers.items():
            row = self._db.execute(
                "SELECT sealed FROM answer_counts WHERE app = ? AND day = ? AND asker = ?", (app, today, asker)
            ).fetchone()
            held = self._opened(row[0], _answer_context(app, today, asker)) if row else (0, 0)
            if held is None:
                continue  # stays as it is: replaced by a good one, nobody would know that something was lost
            if row is None:
                account.answers[today] = account.answers.get(today, 0) + 1
            total = Answers(*held) + more
            sealed = self._sealed((total.visible, total.refused), _answer_context(app, today, asker))
            self._db.execute("INSERT OR REPLACE INTO answer_counts VALUES (?, ?, ?, ?)", (app, today, asker, sealed))
        if fetches != Fetches():
            self._add_fetches(app, today, fetches, account)
        self._keep(app, account)

    def _add_fetches(self, app: str, today: int, more: Fetches, account: _Account) -> None:
        row = self._db.execute("SELECT sealed FROM fetch_counts WHERE app = ? AND day = ?", (app, today)).fetchone()
        held = self._opened(row[0], _fetch_context(app, today)) if row else (0, 0)
        if held is None:
            return
        account.fetches.add(today)
        total = Fetches(*held) + more
        sealed = self._sealed((total.fetched, total.not_found), _fetch_context(app, today))
        self._db.execute("INSERT OR REPLACE INTO fetch_counts VALUES (?, ?, ?)", (app, today, sealed))

    def erase_before(self, app: str, today: int) -> None:
        """Keep today and the days of its baseline (RET-10)."""
        first = today - BASELINE_DAYS
        gone = [
            self._db.execute(f"DELETE FROM {table} WHERE app = ? AND day < ?", (app, first)).rowcount  # noqa: S608 - one of two names
            for table in ("answer_counts", "fetch_counts")
        ]
        account = self._account(app)
        if account is None:
            return
        aged = 0 < account.restored_at < first * DAY_SECONDS
        if not any(gone) and not aged:
            return
        account.restored_at = 0 if aged else account.restored_at
        # A clock that was ahead for a while has erased days which are then today's baseline.
        account.since = max(account.since, first) if any(gone) else account.since
        account.answers = {day: rows for day, rows in account.answers.items() if day >= first}
        account.fetches = {day for day in account.fetches if day >= first}
        self._keep(app, account)

    def tally(self, app: str, today: int) -> Tally:
        """What is kept of `app`, and which days of it are lost."""
        account = self._account(app)
        if account is None:
            return Tally()
        answers: dict[int, dict[bytes, Answers]] = {}
        lost: set[int] = set()
        rows = self._db.execute("SELECT day, asker, sealed FROM answer_counts WHERE app = ?", (app,))
        for day, asker, sealed in rows:
            counts = self._opened(sealed, _answer_context(app, day, asker))
            if counts is None:
                lost.add(day)
            else:
                answers.setdefault(day, {})[asker] = Answers(*counts)
        fetches: dict[int, Fetches] = {}
        for day, sealed in self._db.execute("SELECT day, sealed FROM fetch_counts WHERE app = ?", (app,)):
            counts = self._opened(sealed, _fetch_context(app, day))
            if counts is None:
                lost.add(day)
            else:
                fetches[day] = Fetches(*counts)
        for day in range(today - BASELINE_DAYS, today + 1):
            if len(answers.get(day, ())) != account.answers.get(day, 0) or (day in account.fetches) != (day in fetches):
                lost.add(day)
        return Tally(account.since, answers, fetches, frozenset(lost), account.restored_at)

    def _account(self, app: str) -> _Account | None:
        row = self._db.execute("SELECT sealed FROM count_accounts WHERE app = ?", (app,)).fetchone()
        if row is None:
            return None
        try:
            tree = json.loads(self._sealer.open(row[0], _account_context(app)))
        except SealError:
            return None
        answers = {int(day): rows for day, rows in tree["answers"].items()}
        return _Account(tree["since"], tree["restored_at"], tree["lineage"], answers, set(tree["fetches"]))

    def _keep(self, app: str, account: _Account) -> None:
        tree = {
            "since": account.since,
            "restored_at": account.restored_at,
            "lineage": account.lineage,
            "answers": account.answers,
            "fetches": sorted(account.fetches),
        }
        sealed = self._sealer.seal(json.dumps(tree).encode(), _account_context(app))
        self._db.execute("INSERT OR REPLACE INTO count_accounts VALUES (?, ?)", (app, sealed))

    def _opened(self, sealed: bytes, context: SealContext) -> tuple[int, int] | None:
        try:
            counts = self._sealer.open(sealed, context)
        except SealError:
            return None
        return int.from_bytes(counts[:8], "big"), int.from_bytes(counts[8:], "big")

    def _sealed(self, counts: tuple[int, int], context: SealContext) -> bytes:
        return self._sealer.seal(b"".join(count.to_bytes(8, "big") for count in counts), context)


def _answer_context(app: str, day: int, asker: bytes) -> SealContext:
    return SealContext(_PURPOSE, "answer_counts", f"{app}/{day}/{asker.hex()}", "sealed")


def _fetch_context(app: str, day: int) -> SealContext:
    return SealContext(_PURPOSE, "fetch_counts", f"{app}/{day}", "sealed")


def _account_context(app: str) -> SealContext:
    return SealContext(_PURPOSE, "count_accounts", app, "sealed")
