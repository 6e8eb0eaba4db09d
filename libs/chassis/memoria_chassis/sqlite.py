"""SQLite, one file a service: WAL, one writer, every write one transaction."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self, TypeVar

from memoria_chassis.errors import Kind, ServiceError

T = TypeVar("T")

_READERS = 4  # more than the two cores we size for, so that one long read does not hold up short ones


class Database:
    """A database file. Functions given to `read` and `write` run in worker threads, never on the event loop."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._writer = ThreadPoolExecutor(1, "sqlite-write")
        self._readers = ThreadPoolExecutor(_READERS, "sqlite-read")

    @classmethod
    def open(cls, path: Path, migrations: Sequence[str]) -> Self:
        """Open `path`, made if absent and readable by its owner only, and run the migrations not yet run.

        `PRAGMA user_version` counts them, so a migration once released is never edited, only followed by another.
        """
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600, exist_ok=True)
        database = cls(path)
        connection = database._connection()
        done = connection.execute("PRAGMA user_version").fetchone()[0]
        try:
            if done > len(migrations):
                raise ServiceError(Kind.PRECONDITION, "the database was written by a newer version of this service")
            for number, script in enumerate(migrations[done:], start=done + 1):
                connection.executescript(f"BEGIN IMMEDIATE;\n{script};\nPRAGMA user_version = {number};\nCOMMIT;")
        except BaseException:
            database.close()  # which rolls back what a failed script began
            raise
        return database

    def _connection(self) -> sqlite3.Connection:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=10)
            connection.execute("PRAGMA journal_mode = WAL")
            # FULL: an acknowledged write survives a power cut, which is what "acknowledged" is taken to mean.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            # Deleted content is overwritten in the file at once, sealed though it is.
            connection.execute("PRAGMA secure_delete = ON")
            self._local.connection = connection
            with self._guard:
                self._connections.append(connection)
        return connection

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run `query` in a reader thread, all of it on one snapshot: two statements see no write between them."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._look, query)

    def _look(self, query: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._connection()
        connection.execute("BEGIN")
        try:
            return query(connection)
        finally:
            connection.execute("ROLLBACK")

    async def write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """Run `change` in the writer thread inside one transaction: all of it is durable on return, or none of it."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, self._transact, change)

    def _transact(self, change: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._connection()
        connection.execute("BEGIN IMMEDIATE")
        try:
            result = change(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # a full disk has ended it already, and its error is the one to hear
                connection.execute("ROLLBACK")
            raise
        return result

    def close(self) -> None:
        """Let running work end, then close every connection."""
        self._writer.shutdown()
        self._readers.shutdown()
        for connection in self._connections:
            connection.close()
