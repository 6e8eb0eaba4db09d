"""A demo app's own state on SQLite: items, their revisions, rights and the event log behind S1."""

import hashlib
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from typing import Any

from memoria_chassis.errors import Kind, ServiceError
from memoria_conformance.revisions import REVISIONS, freeze, thaw
from memoria_conformance.world import Content, Item, Person, World

Snapshot = dict[str, list[tuple[Any, ...]]]
"""Table → rows."""

_ITEMS = "select item_id from items where substr(alias, 1, ?1) = ?2"
_OF = {
    "items": "select * from items where substr(alias, 1, ?1) = ?2",
    **{
        table: f"select * from {table} where item_id in ({_ITEMS})"  # noqa: S608 — these four
        for table in ("revisions", "grants", "removed", "events")
    },
}
"""What belongs to the items of one prefix."""


class Store:
    """One app's database, `:memory:` or a file. Every public method is one transaction, safe from any thread."""

    def __init__(
        self, path: str = ":memory:", *, revisions: str = "hash", now: Callable[[], float] = time.time
    ) -> None:
        self.now = now
        self._next_revision = REVISIONS[revisions]
        self._lock = threading.RLock()
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=10)
        self._db.execute("pragma journal_mode=wal")
        self._db.execute("pragma synchronous=normal")
        with self.transaction() as db:
            if not db.execute("select 1 from sqlite_master where name = 'meta'").fetchone():
                for statement in _schema():
                    db.execute(statement)
                db.execute("insert into meta values ('signing', ?)", (secrets.token_bytes(32),))
            self.signing_key: bytes = db.execute("select value from meta where key = 'signing'").fetchone()[0]

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The connection, inside BEGIN IMMEDIATE … COMMIT; rolled back on any exception."""
        with self._lock:
            self._db.execute("begin immediate")
            try:
                yield self._db
            except BaseException:
                self._db.execute("rollback")
                raise
            self._db.execute("commit")

    def query(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of one reading statement."""
        with self._lock:
            return self._db.execute(sql, values).fetchall()

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._db.close()

    def checkpoint(self) -> bytes:
        """The whole database as bytes, for `restore`: what an operator's backup holds."""
        with self._lock:
            return self._db.serialize()

    def restore(self, backup: bytes) -> None:
        """Put a backup in the place of everything, as an operator would; consumers are not told."""
        with self._lock:
            source = sqlite3.connect(":memory:")
            # A WAL header cannot be opened in memory: bytes 18 and 19 say which journal wrote the file.
            source.deserialize(backup[:18] + b"\x01\x01" + backup[20:])
            source.backup(self._db)
            source.close()

    def snapshot(self, prefix: str) -> Snapshot:
        """The rows of the items whose alias begins with `prefix`, for `put_back`."""
        with self.transaction() as db:
            return {table: db.execute(_OF[table], (len(prefix), prefix)).fetchall() for table in _OF}

    def put_back(self, prefix: str, snapshot: Snapshot) -> None:
        """Restore these items and what the feed's log says of them, as a backup would; consumers are not told.

        Other prefixes stay as they are, and a place in the log that is taken back is never given again.
        """
        now = self.snapshot(prefix)
        with self.transaction() as db:
            # Also the log of items that are deleted by now: their alias is gone, and their id is in the snapshot.
            ids = sorted({row[0] for row in (*now["items"], *snapshot["items"])})
            for table in _OF:
                db.executemany(f"delete from {table} where item_id = ?", [(item_id,) for item_id in ids])  # noqa: S608 — one of _OF
            for table, rows in snapshot.items():
                marks = ", ".join("?" * len(rows[0])) if rows else ""
                if rows:
                    db.executemany(f"insert into {table} values ({marks})", rows)  # noqa: S608 — one of _OF

    # --- what people do in the app -----------------------------------------------------------------------------

    def load(self, world: World, app: str, prefix: str = "") -> None:
        """Forget all items and people and take those of `world`. Cursors of before are void; tokens stay."""
        with self.transaction() as db:
            for table in ("items", "revisions", "grants", "removed", "events", "people", "announces"):
                db.execute(f"delete from {table}")  # noqa: S608 — the names are these seven
            db.execute("update consumers set epoch = epoch + 1, cursor_seq = null")
            db.executemany(
                "insert into people values (?, ?, ?)", [(p.alias, p.person_ref, p.address) for p in world.people]
            )
            for item in world.of(app):
                self._create(db, item, prefix)

    def load_beside(self, people: Sequence[Person], items: Sequence[Item]) -> dict[str, tuple[str, str]]:
        """More people and items beside those that are there; alias → (item id, revision)."""
        with self.transaction() as db:
            db.executemany("insert into people values (?, ?, ?)", [(p.alias, p.person_ref, p.address) for p in people])
            ids = {item.alias: self._create(db, item, "") for item in items}
            return {alias: (item_id, self._row(db, item_id)[2]) for alias, item_id in ids.items()}

    def unload(self, prefix: str) -> None:
        """Delete the items and people whose alias begins with `prefix`, items as a person would."""
        rows = self.query("select item_id from items where substr(alias, 1, ?1) = ?2", len(prefix), prefix)
        for (item_id,) in rows:
            self.delete(item_id)
        with self.transaction() as db:
            db.execute("delete from people where substr(alias, 1, ?1) = ?2", (len(prefix), prefix))

    def create(self, item: Item, prefix: str = "") -> str:
        """A new item; returns its id."""
        with self.transaction() as db:
            return self._create(db, item, prefix)

    def edit(self, item_id: str, content: Content) -> str:
        """New content; returns its revision."""
        with self.transaction() as db:
            _, rung, _ = self._row(db, item_id)
            revision = self._append(db, item_id, content)
            db.execute("update items set revision = ? where item_id = ?", (revision, item_id))
            if rung == "team":
                self._tell(db, item_id, revision, gone=False)
            return revision

    def move_rung(self, item_id: str, rung: str) -> None:
        """Move an item; leaving the team rung is `gone` in the feed, arriving there is a row (ING-01)."""
        with self.transaction() as db:
            _, before, revision = self._row(db, item_id)
            db.execute("update items set rung = ? where item_id = ?", (rung, item_id))
            if "team" in (before, rung) and before != rung:
                self._tell(db, item_id, revision, gone=before == "team")

    def set_right(self, table: str, item_id: str, person: str, present: bool) -> None:
        """Add or take a row of `grants` or `removed`. Rights are never told in the feed."""
        statement = {
            ("grants", True): "insert or ignore into grants values (?, ?)",
            ("grants", False): "delete from grants where item_id = ? and person = ?",
            ("removed", True): "insert or ignore into removed values (?, ?)",
            ("removed", False): "delete from removed where item_id = ? and person = ?",
        }[table, present]
        with self.transaction() as db:
            self._row(db, item_id)
            db.execute(statement, (item_id, person))

    def delete(self, item_id: str, *, silently: bool = False) -> None:
        """Delete an item: a tombstone in the feed if it stood on the team rung, unless a restore lost it `silently`."""
        with self.transaction() as db:
            _, rung, revision = self._row(db, item_id)
            for table in ("items", "revisions", "grants", "removed"):
                db.execute(f"delete from {table} where item_id = ?", (item_id,))  # noqa: S608 — one of these four
            if rung == "team" and not silently:
                self._tell(db, item_id, revision, gone=True)

    def rewind(self, item_id: str, steps: int = 1) -> str:
        """A partial restore: the last `steps` revisions never were, the feed silent (AUT-05). The revision now."""
        with self.transaction() as db:
            self._row(db, item_id)
            log = db.execute("select revision from revisions where item_id = ? order by n desc", (item_id,)).fetchall()
            if len(log) <= steps:
                raise ServiceError(Kind.PRECONDITION, "the item has no revision that far back")
            for (revision,) in log[:steps]:
                db.execute("delete from revisions where item_id = ? and revision = ?", (item_id, revision))
                db.execute("delete from events where item_id = ? and revision = ?", (item_id, revision))
            db.execute("update items set revision = ? where item_id = ?", (log[steps][0], item_id))
            return str(log[steps][0])

    # --- look-ups ----------------------------------------------------------------------------------------------

    def aliases(self) -> dict[str, str]:
        """Alias → item id."""
        return dict(self.query("select alias, item_id from items"))

    def team_content(self, item_id: str) -> tuple[str, Content] | None:
        """(revision, content) of an item on the team rung now; None for anything else (S3)."""
        rows = self.query(
            "select i.revision, r.content from items i join revisions r using (item_id, revision)"
            " where i.item_id = ? and i.rung = 'team'",
            item_id,
        )
        return (rows[0][0], thaw(rows[0][1])) if rows else None

    def content(self, item_id: str) -> Content:
        """The current content whatever the rung; for the app's own use, never for a consumer."""
        rows = self.query(
            "select r.content from items i join revisions r using (item_id, revision) where i.item_id = ?", item_id
        )
        if not rows:
            raise ServiceError(Kind.NOT_FOUND, "no such item")
        return thaw(rows[0][0])

    # --- inside a transaction ----------------------------------------------------------------------------------

    def _create(self, db: sqlite3.Connection, item: Item, prefix: str) -> str:
        item_id = hashlib.sha256(f"{prefix}\0{item.app}\0{item.alias}".encode()).hexdigest()[:20]
        revision = self._append(db, item_id, item.content)
        db.execute("insert into items values (?, ?, ?, ?)", (item_id, item.alias, item.rung, revision))
        db.executemany("insert into grants values (?, ?)", [(item_id, person) for person in item.granted])
        db.executemany("insert into removed values (?, ?)", [(item_id, person) for person in item.removed])
        if item.rung == "team":
            self._tell(db, item_id, revision, gone=False)
        return item_id

    def _append(self, db: sqlite3.Connection, item_id: str, content: Content) -> str:
        text = freeze(content)
        (n,) = db.execute("select coalesce(max(n) + 1, 0) from revisions where item_id = ?", (item_id,)).fetchone()
        revision = self._next_revision(item_id, n, text)
        db.execute("insert into revisions values (?, ?, ?, ?)", (item_id, revision, n, text))
        return revision

    def _tell(self, db: sqlite3.Connection, item_id: str, revision: str, *, gone: bool) -> None:
        db.execute(
            "insert into events (item_id, revision, gone, touched_at) values (?, ?, ?, ?)",
            (item_id, revision, gone, self.now()),
        )

    @staticmethod
    def _row(db: sqlite3.Connection, item_id: str) -> tuple[str, str, str]:
        row = db.execute("select alias, rung, revision from items where item_id = ?", (item_id,)).fetchone()
        if row is None:
            raise ServiceError(Kind.NOT_FOUND, "no such item")
        return row


def _schema() -> list[str]:
    text = resources.files("memoria_conformance").joinpath("schema.sql").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    return [statement for statement in "\n".join(lines).split(";") if statement.strip()]
