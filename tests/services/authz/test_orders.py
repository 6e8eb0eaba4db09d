"""Work orders: what STALE and AHEAD call for, kept until it is done (AUT-04, AUT-05)."""

import sqlite3

import pytest

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_authz.claims import Ruling
from memoria_authz.orders import OrderKind


async def test_stale_asks_for_a_refetch_and_ahead_for_a_reannounce(house, ann, claim) -> None:
    """One order an item, one a source, oldest first; VISIBLE, NOT_VISIBLE and UNKNOWN call for nothing.

    Broken to see red: REANNOUNCE recorded for a stale item.
    """
    for verdict in (pb.VERDICT_VISIBLE, pb.VERDICT_NOT_VISIBLE, pb.VERDICT_UNKNOWN):
        house.siblings["docs"].verdict = verdict
        await house.bench.rule(ann, [claim("docs", "1")])
    assert await house.orders.open() == []
    house.siblings["docs"].verdict = pb.VERDICT_STALE
    house.siblings["sheets"].verdict = pb.VERDICT_AHEAD
    await house.bench.rule(ann, [claim("docs", "1"), claim("docs", "2"), claim("sheets", "8"), claim("sheets", "9")])
    orders = await house.orders.open()
    assert {(order.kind, order.app, order.item_id) for order in orders} == {
        (OrderKind.REFETCH, "docs", "1"),
        (OrderKind.REFETCH, "docs", "2"),
        (OrderKind.REANNOUNCE, "sheets", ""),
    }


async def test_the_same_request_is_one_order_until_it_is_done(house) -> None:
    """Asked a hundred times it stands once; completed, it can be asked for again; completing twice is no error."""
    for _ in range(3):
        await house.orders.record({("docs", "1")}, {"docs"})
    first = await house.orders.open()
    assert len(first) == await house.orders.count() == 2
    await house.orders.complete([order.order_id for order in first] + ["none"])
    await house.orders.complete([order.order_id for order in first])
    assert await house.orders.open() == []
    await house.orders.record({("docs", "1")}, ())
    assert len(await house.orders.open()) == 1


async def test_orders_outlive_a_restart(house) -> None:
    """They are on disk before the answer leaves."""
    await house.orders.record({("docs", "1")}, ())
    assert [order.item_id for order in await house.reopen().open()] == ["1"]


async def test_an_item_id_is_sealed(house) -> None:
    """A sibling's id is content (TRU-02): in no byte of the file or its WAL. Broken to see red: stored as it is."""
    await house.orders.record({("docs", "canary-item")}, ())
    assert [order.item_id for order in await house.orders.open()] == ["canary-item"]
    for path in house.path.parent.iterdir():
        assert b"canary-item" not in path.read_bytes(), path.name


async def test_a_row_that_does_not_open_keeps_nobody_up(house, ann, claim) -> None:
    """Swapped seals do not open; such rows are dropped, the others handed out, and asked for anew (G01).

    Broken to see red: the row's id left out of the associated data.
    """
    await house.orders.record({("docs", "1"), ("docs", "2")}, ())
    await house.orders.record({("docs", "3")}, ())

    def swap(connection: sqlite3.Connection) -> None:
        rows = connection.execute("SELECT id, sealed_item FROM orders ORDER BY seq LIMIT 2").fetchall()
        for (id_, _), (_, sealed) in zip(rows, reversed(rows), strict=True):
            connection.execute("UPDATE orders SET sealed_item = ? WHERE id = ?", (sealed, id_))

    await house.database.write(swap)
    assert [order.item_id for order in await house.orders.open()] == ["3"]
    await house.orders.record({("docs", "1")}, ())
    assert {order.item_id for order in await house.orders.open()} == {"1", "3"}


async def test_a_store_that_fails_leaves_the_ruling_be(house, ann, claim, monkeypatch: pytest.MonkeyPatch) -> None:
    """The passage is withheld as it should be; the next ruling repeats the order. Broken to see red: no `except`."""

    async def broken(_: object) -> None:
        raise sqlite3.OperationalError("disk full")

    house.siblings["docs"].verdict = pb.VERDICT_STALE
    with monkeypatch.context() as patched:
        patched.setattr(house.database, "write", broken)
        assert await house.bench.rule(ann, [claim()]) == [Ruling.WITHHOLD_STALE]
    assert await house.orders.open() == []
    await house.bench.rule(ann, [claim()])
    assert len(await house.orders.open()) == 1
