"""Work orders: what rulings ask of ingest, kept until ingest says it is done.

They keep the arrows one-way: authz never calls ingest. An item id is content, so it is sealed, and recognised again
by a keyed fingerprint.
"""

import secrets
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from memoria_chassis import log
from memoria_chassis.aead import SealContext, Sealer, SealError
from memoria_chassis.keys import ServiceKey, fingerprint
from memoria_chassis.sqlite import Database

MIGRATION = """
    CREATE TABLE orders (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        app TEXT NOT NULL,
        subject BLOB NOT NULL UNIQUE,
        sealed_item BLOB NOT NULL
    ) STRICT
"""

_BATCH = 1000


class OrderKind(Enum):
    """What is asked."""

    REFETCH = "refetch"
    REANNOUNCE = "reannounce"


@dataclass(frozen=True, slots=True)
class Order:
    """An open order. `item_id` is empty for REANNOUNCE."""

    order_id: str
    kind: OrderKind
    app: str
    item_id: str


class WorkOrders:
    """The open orders, durable. The same request made twice is one order."""

    def __init__(self, database: Database, key: ServiceKey) -> None:
        self._database = database
        self._sealer = Sealer(key)
        self._none = False  # known to be empty: every question asks, and hardly ever is there an order
        self._writes = 0
        self._fingerprints = key.purpose("work-order-fingerprint")

    async def record(self, refetch: Iterable[tuple[str, str]], reannounce: Iterable[str]) -> None:
        """Write down what a ruling calls for. A failure is logged and leaves the ruling be: the next one repeats it."""
        wanted = [(OrderKind.REFETCH, app, item) for app, item in refetch]
        wanted += [(OrderKind.REANNOUNCE, app, "") for app in reannounce]
        if not wanted:
            return
        rows = [self._row(kind, app, item) for kind, app, item in wanted]
        # Before the write and after it, however it ends: a read that began in between may have seen none, and that must
        # not be what is remembered.
        self._none = False
        try:
            await self._database.write(
                lambda connection: connection.executemany(
                    "INSERT INTO orders (id, kind, app, subject, sealed_item) VALUES (?, ?, ?, ?, ?)"
                    " ON CONFLICT (subject) DO NOTHING",
                    rows,
                )
            )
        except sqlite3.Error as error:
            log.get_logger().error("work orders could not be written", count=len(rows), exc_info=error)
        finally:
            self._none, self._writes = False, self._writes + 1

    async def open(self) -> list[Order]:
        """The open orders, oldest first, at most 1,000."""
        if self._none:
            return []
        writes = self._writes
        rows = await self._database.read(
            lambda connection: connection.execute(
                "SELECT id, kind, app, sealed_item FROM orders ORDER BY seq LIMIT ?", (_BATCH,)
            ).fetchall()
        )
        self._none = not rows and writes == self._writes
        orders, broken = [], []
        for id_, kind, app, sealed in rows:
            try:
                orders.append(Order(id_, OrderKind(kind), app, self._sealer.open(sealed, _context(id_)).decode()))
            except SealError as error:
                broken.append(id_)
                log.get_logger().error("a work order did not open and is dropped", app=app, reason=error.reason)
        if broken:
            # Kept, it would stand before the others for ever, and its fingerprint would keep a fresh one out.
            await self.complete(broken)
        return orders

    async def complete(self, order_ids: Iterable[str]) -> None:
        """Forget orders that were carried out."""
        ids = [(order_id,) for order_id in order_ids]
        await self._database.write(lambda connection: connection.executemany("DELETE FROM orders WHERE id = ?", ids))

    async def count(self) -> int:
        """How many are open."""
        return await self._database.read(lambda c: int(c.execute("SELECT count(*) FROM orders").fetchone()[0]))

    def _row(self, kind: OrderKind, app: str, item_id: str) -> tuple[str, str, str, bytes, bytes]:
        order_id = secrets.token_hex(8)
        subject = fingerprint(self._fingerprints, "\0".join((kind.value, app, item_id)).encode())
        return order_id, kind.value, app, subject, self._sealer.seal(item_id.encode(), _context(order_id))


def _context(order_id: str) -> SealContext:
    return SealContext("work-order", "orders", order_id, "sealed_item")
