"""What the gateway keeps, and what can be read of it by whoever has the file (G01, TRU-01, TRU-02)."""

import sqlite3

import pytest

from memoria_chassis.aead import SealError
from memoria_gateway.store import digest

ANN, BOB = "ann@canary.test", "bob@canary.test"


async def test_no_address_name_path_or_secret_is_readable_in_the_file(pod) -> None:
    """Session, link, token: neither in the database nor in its WAL, closed or open; presence: the store finds them.

    Broken to see red: the token's name written unsealed; the secret itself as the row's id.
    """
    session = await pod.store.new_session(ANN)
    link = await pod.store.new_link(ANN, "/?q=canary-query")
    token = await pod.store.new_token(ANN, "canary-name", "read", 7)
    assert (await pod.store.session(session)).holder == await pod.store.link_address(link) == ANN
    assert (await pod.store.token_bearer(token), (await pod.store.tokens_of(ANN))[0].name) == (
        (ANN, "read"),
        "canary-name",
    )
    files = list(pod.path.parent.glob("gateway.db*"))
    assert {path.name for path in files} >= {"gateway.db", "gateway.db-wal"}
    held = b"".join(path.read_bytes() for path in files)
    assert digest(token) in held  # presence: it is this file, and the hash is what is kept
    for needle in (
        b"canary",
        session.encode(),
        link.encode(),
        token.encode(),
        token.removeprefix("memoria_pat_").encode(),
    ):
        assert needle not in held
    assert await pod.store.take_link(link) == "/?q=canary-query"


@pytest.mark.parametrize(
    ("table", "column"), [("sessions", "address"), ("links", "address"), ("tokens", "address"), ("tokens", "name")]
)
async def test_swapped_rows_do_not_open(pod, table: str, column: str) -> None:
    """Whoever can write the file cannot hand one person's session, link or token to another.

    Broken to see red: the row left out of the associated data.
    """
    sessions = [await pod.store.new_session(address) for address in (ANN, BOB)]
    links = [await pod.store.new_link(address, "/") for address in (ANN, BOB)]
    tokens = [await pod.store.new_token(address, address, "read", 7) for address in (ANN, BOB)]

    def swap(connection: sqlite3.Connection) -> None:
        rows = connection.execute(f"SELECT id, {column} FROM {table}").fetchall()
        for (id_, _), (_, sealed) in zip(rows, reversed(rows), strict=True):
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE id = ?", (sealed, id_))

    await pod.database.write(swap)
    read = {
        ("sessions", "address"): lambda: pod.store.session(sessions[0]),
        ("links", "address"): lambda: pod.store.link_address(links[0]),
        ("tokens", "address"): lambda: pod.store.token_bearer(tokens[0]),
        ("tokens", "name"): lambda: pod.store.tokens_of(ANN),
    }
    with pytest.raises(SealError) as failed:
        await read[table, column]()
    assert failed.value.reason == "authentication failed"


async def test_what_expired_is_removed_by_the_next_of_its_kind(pod) -> None:
    """No timers (RUL-10): the rows go when another is written."""
    for _ in range(3):
        await pod.store.new_session(ANN)
        await pod.store.new_link(ANN, "/")
        await pod.store.new_token(ANN, "n", "read", 7)
    pod.clock.advance(31 * 86400)
    await pod.store.new_session(ANN)
    await pod.store.new_link(ANN, "/")
    await pod.store.new_token(ANN, "n", "read", 7)
    for table in ("sessions", "links", "tokens"):
        count = await pod.database.read(lambda c, table=table: c.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
        assert count == 1


async def test_secrets_are_long_and_never_the_same(pod) -> None:
    """256 random bits each."""
    made = [await pod.store.new_session(ANN) for _ in range(20)]
    assert len(set(made)) == 20
    assert all(len(secret) == 43 for secret in made)
