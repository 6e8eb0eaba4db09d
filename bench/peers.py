"""The peers: SQLite FTS5, and Postgres' full-text search where its programs are on this machine."""

import os
import pwd
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_WORD = re.compile(r"\w+")


class Fts5:
    """A contentless table with porter stems, ranked by bm25(), as the spec had it before tantivy (IDX-02, AMD-03)."""

    name = "FTS5"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = sqlite3.connect(path)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("PRAGMA cache_size = -1000000")
        self._db.execute("CREATE VIRTUAL TABLE t USING fts5(body, content='', tokenize='porter unicode61')")
        self.seconds = 0.0

    def fill(self, texts: Sequence[str]) -> None:
        """Take the texts in, one transaction, then merge to one segment, which is the best it can be asked in."""
        began = time.perf_counter()
        self._db.executemany("INSERT INTO t (rowid, body) VALUES (?, ?)", enumerate(texts, start=1))
        self._db.commit()
        self.seconds = time.perf_counter() - began
        self._db.execute("INSERT INTO t (t) VALUES ('optimize')")
        self._db.commit()

    @property
    def size(self) -> int:
        """Bytes of its file."""
        return self._path.stat().st_size

    def search(self, query: str, limit: int = 50) -> list[tuple]:
        """The best `limit` rows that hold any of the words."""
        match = " OR ".join(f'"{word}"' for word in _WORD.findall(query))
        return self._db.execute(
            "SELECT rowid FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT ?", (match, limit)
        ).fetchall()

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def postgres_programs() -> Path | None:
    """Where initdb and postgres are, if they are."""
    found = [Path(path).parent for path in [shutil.which("initdb")] if path]
    found += sorted(path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1] if found else None


@contextmanager
def postgres(texts: Sequence[str]) -> Iterator["Postgres"]:
    """A server of its own on a socket in a temporary folder, filled, and stopped at the end."""
    programs = postgres_programs()
    if programs is None:
        raise FileNotFoundError("initdb")
    with tempfile.TemporaryDirectory(prefix="memoria-bench-pg-") as folder:
        user = None
        if os.getuid() == 0:  # it refuses to run as root
            user = "postgres" if _is_user("postgres") else "nobody"
            shutil.chown(folder, user)
        server = Postgres(programs, Path(folder), user)
        server.start()
        try:
            server.fill(texts)
            yield server
        finally:
            server.stop()


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


class Postgres:
    """A generated tsvector column under a GIN index, ranked by ts_rank; one psql session, which times itself."""

    name = "Postgres FTS"

    def __init__(self, programs: Path, folder: Path, user: str | None) -> None:
        self._programs, self._folder, self._user = programs, folder, user
        self.seconds = 0.0

    def _run(self, *command: str, text: str | None = None) -> str:
        program = str(self._programs / command[0])
        ended = subprocess.run(
            [program, *command[1:]], input=text, capture_output=True, text=True, user=self._user, cwd=self._folder
        )
        if ended.returncode:
            raise RuntimeError(ended.stderr[-2000:])
        return ended.stdout

    def start(self) -> None:
        """Make the cluster and start it; as much memory as it can use, no log to wait for."""
        self._run("initdb", "-D", "data", "-U", "bench", "--auth=trust", "--no-sync", "-E", "UTF8")
        options = f"-k {self._folder} -h '' -c fsync=off -c jit=off"
        options += " -c shared_buffers=1GB -c maintenance_work_mem=1GB"
        # To a file: pg_ctl waits for whoever holds its standard output, and the server would.
        command = [str(self._programs / "pg_ctl"), "-D", "data", "-w", "-l", "log", "-o", options, "start"]
        subprocess.run(command, check=True, user=self._user, cwd=self._folder, stdout=subprocess.DEVNULL)

    def _sql(self, text: str) -> str:
        return self._run("psql", "-h", str(self._folder), "-U", "bench", "-d", "postgres", "-qAt", text=text)

    def fill(self, texts: Sequence[str]) -> None:
        """Take the texts in and index them."""
        began = time.perf_counter()
        rows = "\n".join(f"{at}\t{_copied(text)}" for at, text in enumerate(texts, start=1))
        self._sql(
            "CREATE UNLOGGED TABLE t (id int PRIMARY KEY, body text,"
            " words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED);\n"
            f"COPY t (id, body) FROM STDIN;\n{rows}\n\\.\nCREATE INDEX ON t USING gin (words);\n"
        )
        self._sql("VACUUM ANALYZE t")
        self.seconds = time.perf_counter() - began

    def times(self, queries: Sequence[str], limit: int = 50) -> list[float]:
        """Seconds of each query, as psql measures them around the server's answer; two rounds, the second counts."""
        asked = []
        for query in queries:
            words = " | ".join(_WORD.findall(query))
            asked.append(
                f"WITH q AS (SELECT to_tsquery('english', '{words}') AS q) SELECT id FROM t, q WHERE words @@ q"
                f" ORDER BY ts_rank(words, q) DESC, id LIMIT {limit};"
            )
        printed = self._sql("\\timing on\n\\o /dev/null\n" + "\n".join(asked * 2))
        taken = [float(found) / 1000 for found in re.findall(r"^Time: ([\d.]+) ms", printed, re.MULTILINE)]
        if len(taken) != 2 * len(queries):
            raise RuntimeError("psql did not time every query")
        return taken[len(queries) :]

    def stop(self) -> None:
        """End the server."""
        self._run("pg_ctl", "-D", "data", "-m", "immediate", "stop")


def _copied(text: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"), ("\0", "")):
        text = text.replace(plain, escaped)
    return text
