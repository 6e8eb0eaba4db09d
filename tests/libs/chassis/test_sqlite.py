"""SQLite: all or nothing, one writer, migrations once, and what was acknowledged survives a kill."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.sqlite import Database

ONE = "CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT) STRICT"


async def count(database: Database) -> int:
    """Rows of `t`."""
    return await database.read(lambda c: c.execute("SELECT count(*) FROM t").fetchone()[0])


async def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """Half a transaction is none, the error is the one that happened, and the next write goes through."""
    database = Database.open(tmp_path / "a.db", [ONE])

    def half(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO t VALUES (1, 'x')")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.write(half)
    with pytest.raises(sqlite3.IntegrityError):
        await database.write(lambda c: c.executemany("INSERT INTO t VALUES (?, 'x')", [(1,), (1,)]))
    assert await count(database) == 0
    await database.write(lambda c: c.execute("INSERT INTO t VALUES (1, 'x')"))
    assert await count(database) == 1
    database.close()


async def test_a_transaction_that_the_engine_ended_says_its_own_error(tmp_path: Path) -> None:
    """A full disk rolls back by itself; "no transaction is active" is not what the caller should hear."""
    database = Database.open(tmp_path / "a.db", [ONE])

    def ended(connection: sqlite3.Connection) -> None:
        connection.execute("ROLLBACK")
        raise sqlite3.OperationalError("database or disk is full")

    with pytest.raises(sqlite3.OperationalError, match="full"):
        await database.write(ended)
    database.close()


async def test_migrations_run_once_and_in_order(tmp_path: Path) -> None:
    """Opened again, and opened with one more; with fewer, the file is of a newer version and is refused."""
    path = tmp_path / "deep" / "a.db"
    Database.open(path, [ONE]).close()
    database = Database.open(path, [ONE, "ALTER TABLE t ADD COLUMN more TEXT; INSERT INTO t VALUES (1, 'a', 'b')"])
    assert await count(database) == 1
    database.close()
    with pytest.raises(ServiceError) as caught:
        Database.open(path, [ONE])
    assert caught.value.kind is Kind.PRECONDITION
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


async def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    """Its first statement is undone with its second, and the file can be opened as before."""
    path = tmp_path / "a.db"
    Database.open(path, [ONE]).close()
    with pytest.raises(sqlite3.OperationalError):
        Database.open(path, [ONE, "CREATE TABLE u (n INTEGER); CREATE TABLE t (n INTEGER)"])
    database = Database.open(path, [ONE])
    tables = await database.read(lambda c: c.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall())
    assert tables == [("t",)]
    database.close()


async def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    """Garbage in its place is an error, not an empty database."""
    (tmp_path / "a.db").write_bytes(b"garbage" * 1000)
    with pytest.raises(sqlite3.DatabaseError):
        Database.open(tmp_path / "a.db", [ONE])


async def test_writes_at_once_are_one_after_the_other(tmp_path: Path) -> None:
    """A hundred read-then-write counters count to a hundred, beside readers that never see half."""
    database = Database.open(tmp_path / "a.db", [ONE])
    await database.write(lambda c: c.execute("INSERT INTO t VALUES (0, '')"))

    def up(connection: sqlite3.Connection) -> None:
        (n,) = connection.execute("SELECT max(n) FROM t").fetchone()
        connection.execute("UPDATE t SET n = ?", (n + 1,))
        connection.execute("INSERT INTO t VALUES (-1, '')")
        connection.execute("DELETE FROM t WHERE n = -1")

    counts = await asyncio.gather(*(database.write(up) for _ in range(100)), *(count(database) for _ in range(100)))
    assert set(counts[100:]) == {1}
    assert await database.read(lambda c: c.execute("SELECT n FROM t").fetchall()) == [(100,)]
    database.close()


async def test_settings_that_durability_rests_on(tmp_path: Path) -> None:
    """WAL, FULL, foreign keys and overwriting, on readers and the writer."""
    database = Database.open(tmp_path / "a.db", [ONE])
    for run in (database.read, database.write):
        for pragma, value in (("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1), ("secure_delete", 1)):
            assert await run(lambda c, p=pragma: c.execute(f"PRAGMA {p}").fetchone()[0]) == value
    database.close()


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    """F33: kill -9 in the middle of writing: every number that was printed is in the file, and no half of a pair."""
    script = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom memoria_chassis.sqlite import Database\n"
        "async def main():\n"
        f"    d = Database.open(Path({str(tmp_path / 'a.db')!r}), [{ONE!r}])\n"
        "    n = 0\n"
        "    while True:\n"
        "        def pair(c):\n"
        "            for m in (n, n + 1): c.execute('INSERT INTO t VALUES (?, ?)', (m, 'x'))\n"
        "        await d.write(pair)\n"
        "        print(n, flush=True)\n"
        "        n += 2\n"
        "asyncio.run(main())\n"
    )
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    said = [int(child.stdout.readline()) for _ in range(50)]
    child.send_signal(signal.SIGKILL)
    said += [int(line) for line in child.stdout.read().split("\n") if line]
    child.wait()
    child.stdout.close()
    connection = sqlite3.connect(tmp_path / "a.db")
    held = {n for (n,) in connection.execute("SELECT n FROM t")}
    connection.close()
    assert set(said) <= held
    assert len(held) % 2 == 0
    assert len(held) <= 2 * (len(said) + 1)
