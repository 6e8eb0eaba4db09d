"""What connectors push: keyed ids, the same again without effect, nothing lost, and tokens of a set of their own."""

import asyncio
import base64
import hashlib
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memoria_chassis.clock import FakeClock
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import ServiceKey, service_key_from
from memoria_chassis.sqlite import Database
from memoria_contract.limits import MAX_ITEM_TEXT
from memoria_ingest.connectors.pushes import Item, Outcome, Pushes
from memoria_ingest.connectors.store import MAX_CONNECTORS, ConnectorKey, ConnectorStore
from memoria_ingest.document import Document, Held, Stored, UploadOrigin
from memoria_ingest.siblings.state import MIGRATIONS

KEY = ServiceKey(b"k" * 32)
AWAY = ServiceError(Kind.UNAVAILABLE, "search cannot be reached")
ITEM = Item("wiki/zq-secret-id", "Tides", ("Papers",), "# Head\n\nThe tide turns.", None, "https://wiki.example/1")


class FakeIndex:
    """search, as far as pushes see it: parts by external id, numbers that go up, failures when told."""

    def __init__(self) -> None:
        self.parts: dict[bytes, dict[int, tuple[str, int, Document]]] = {}
        self.number = 0
        self.puts = 0
        self.fail_put_at = -1
        self.lost = False
        self.away: ServiceError | None = None
        self.entered, self.go = asyncio.Event(), asyncio.Event()
        self.go.set()

    async def put(self, document: Document) -> Stored:
        """Store a part."""
        self.entered.set()
        await self.go.wait()
        origin = document.origin
        assert isinstance(origin, UploadOrigin)
        if self.fail_put_at == origin.part and not self.lost:
            raise AWAY
        self.number += 1
        self.puts += 1
        held = self.parts.setdefault(origin.external_id, {})
        created = origin.part not in held
        id_ = hashlib.sha256(origin.external_id + bytes([origin.part])).hexdigest()[:26]
        held[origin.part] = (id_, self.number, document)
        for part in [part for part in held if part >= origin.parts]:
            del held[part]
        if self.fail_put_at == origin.part:
            raise AWAY  # it was carried out, and its answer was lost
        return Stored(id_, "1", created, self.number)

    async def uploads(self, external_ids: list[bytes], *, patient: bool = True) -> list[Held]:
        """What is held."""
        if self.away:
            raise self.away
        found = []
        for each in external_ids:
            held = self.parts.get(each)
            if not held:
                found.append(Held())
                continue
            id_, number, document = held[min(held)]
            assert isinstance(document.origin, UploadOrigin)
            found.append(Held(id_, number if len(held) == document.origin.parts else 0))
        return found

    async def delete(self, document_id: str) -> int:
        """Delete by the id of any part."""
        for each, held in self.parts.items():
            if document_id in {id_ for id_, *_ in held.values()}:
                del self.parts[each]
                return len(held)
        raise ServiceError(Kind.NOT_FOUND, "no such document")

    @property
    def texts(self) -> list[str]:
        """The text of everything held."""
        return [chunk.text for held in self.parts.values() for *_, d in held.values() for chunk in d.chunks]


class Ingest:
    """Pushes on a database of their own."""

    def __init__(self, path: Path, key: ServiceKey, index: FakeIndex) -> None:
        self.path = path
        self.clock = FakeClock()
        self.database = Database.open(path, MIGRATIONS)
        self.store = ConnectorStore(self.database, key, self.clock)
        self.index = index
        self.pushes = Pushes(self.store, index, key)  # type: ignore[arg-type] # a fake

    async def connector(self, name: str = "Wiki", *origins: str) -> ConnectorKey:
        """A new connector, and what its program shows."""
        return ConnectorKey(*await self.pushes.create(name, origins))


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Callable[..., Ingest]]:
    """Makes them; `again` on the same file, as after a restart."""
    made: list[Ingest] = []

    def build(*, again: bool = False, key: ServiceKey = KEY, index: FakeIndex | None = None) -> Ingest:
        path = made[-1].path if again else tmp_path / f"ingest{len(made)}.db"
        made.append(Ingest(path, key, index or (made[-1].index if again else FakeIndex())))
        return made[-1]

    yield build
    for each in made:
        each.database.close()


@pytest.fixture
def ingest(make: Any) -> Ingest:
    """One."""
    return make()


async def refused(pushes: Pushes, key: ConnectorKey, item: Item = ITEM) -> Kind:
    """How an item is refused, at the door or inside."""
    with pytest.raises(ServiceError) as caught:
        await pushes.push(key, item)
    return caught.value.kind


async def test_an_item_lives_through_its_statuses(ingest: Ingest) -> None:
    """Stored, unchanged, replaced, deleted, absent, stored again; every field counts as content.

    Broken to see it red: the content's fingerprint without the link; a deletion that keeps the row.
    """
    key = await ingest.connector()
    push = ingest.pushes.push
    assert await push(key, ITEM) is Outcome.STORED
    (held,) = ingest.index.parts.values()
    document = held[0][2]
    assert (document.title, document.trail, document.link) == ("Tides", ("Papers",), "https://wiki.example/1")
    assert [(chunk.trail, chunk.text) for chunk in document.chunks] == [(("Head",), "The tide turns.")]
    assert await push(key, ITEM) is Outcome.UNCHANGED
    assert ingest.index.puts == 1
    changes = {
        "title": "Ebb", "trail": (), "text": "Another.", "date": datetime(2026, 5, 1, tzinfo=UTC), "link": "http://a/2"
    }  # fmt: skip
    for name, value in changes.items():
        assert await push(key, replace(ITEM, **{name: value})) is Outcome.REPLACED, name
        assert await push(key, ITEM) is Outcome.REPLACED, name
    assert len(ingest.index.parts) == 1
    assert await push(key, replace(ITEM, gone=True)) is Outcome.DELETED
    assert ingest.index.parts == {}
    assert await push(key, replace(ITEM, gone=True)) is Outcome.ABSENT
    assert await push(key, Item("never", gone=True)) is Outcome.ABSENT
    assert await ingest.store.items(key.connector_id) == []
    assert await push(key, ITEM) is Outcome.STORED


async def test_an_id_is_kept_keyed_and_is_its_connectors_own(make: Any) -> None:
    """G26, TRU-05: the same id twice is one document, at another connector or under another DEK another one; it stands
    nowhere, nor does a plain hash of it, nor a token, a name or an origin.

    Broken to see it red: a bare SHA-256; the connector left out of what is hashed; the name unsealed.
    """
    one = make(key=service_key_from(b"d" * 32, "ingest"))
    first, second = await one.connector("zq-secret-name", "https://zq-secret.example"), await one.connector()
    for key in (first, first, second):
        await one.pushes.push(key, ITEM)
    assert len(one.index.parts) == 2
    other = make(key=service_key_from(b"e" * 32, "ingest"))
    await other.pushes.push(await other.connector(), ITEM)
    assert not set(one.index.parts) & set(other.index.parts)
    stored = (
        one.path.read_bytes() + one.path.with_name(one.path.name + "-wal").read_bytes() + repr(one.index.parts).encode()
    )
    for secret in (ITEM.external_id, first.token, f"{first.connector_id}\0{ITEM.external_id}"):
        digest = hashlib.sha256(secret.encode())
        for needle in (
            secret.encode(),
            digest.digest(),
            digest.hexdigest().encode(),
            base64.b64encode(digest.digest()),
        ):
            assert needle not in stored
    assert b"zq-secret" not in stored
    assert "zq-secret" not in repr([await one.store.all(), first, ITEM])
    assert first.token not in repr(first)


async def test_a_token_opens_its_own_connector_and_nothing_else(ingest: Ingest) -> None:
    """CON-14: every other credential there is, and the token elsewhere, changed, or of a connector that is gone.

    Broken to see it red: the id left out of the query; any token with the prefix taken.
    """
    key, other = await ingest.connector(), await ingest.connector("Other")
    wrong = [
        replace(key, token=token)
        for token in (
            "", other.token, "memoria_con_", "memoria_con_" + "x" * 43, "memoria_pat_" + key.token[12:], key.token[12:],
            key.token + "x", key.token[:-1], key.token.upper(), " " + key.token, "s" * 43, "\0", "x" * 100_000,
        )
    ]  # fmt: skip
    wrong += [replace(key, connector_id=id_) for id_ in ("", other.connector_id, "docs", "push-0000000000000000", "\0")]
    for each in wrong:
        with pytest.raises(ServiceError) as caught:
            await ingest.pushes.check(each)
        assert caught.value.kind is Kind.UNAUTHENTICATED
        assert caught.value.message == "This connector's own token is needed."
        assert await refused(ingest.pushes, each) is Kind.UNAUTHENTICATED
    assert ingest.index.parts == {}
    assert [each.used_at for each in await ingest.pushes.connectors()] == [None, None]
    await ingest.pushes.check(key)
    assert await ingest.pushes.push(key, ITEM) is Outcome.STORED


async def test_a_page_pushes_from_an_origin_that_is_allowed(ingest: Ingest) -> None:
    """Where origins are named and a browser says one; a program says none.

    Broken to see it red: the origin compared with a prefix.
    """
    key, free = await ingest.connector("Wiki", "https://a.example"), await ingest.connector()
    for origin in ("", "https://a.example", "https://A.example"):
        await ingest.pushes.check(replace(key, origin=origin))
    for origin in ("https://a.example.evil", "http://a.example", "https://a.example:8443", "null", "https://a.exampl"):
        with pytest.raises(ServiceError) as caught:
            await ingest.pushes.check(replace(key, origin=origin))
        assert caught.value.kind is Kind.REFUSED
        assert await refused(ingest.pushes, replace(key, origin=origin)) is Kind.REFUSED
        await ingest.pushes.check(replace(free, origin=origin))


async def test_a_new_token_replaces_the_old_one_and_finds_its_items(ingest: Ingest) -> None:
    """The old one is refused at once, another connector's is left alone, and what was brought is known again (ING-13).

    Broken to see it red: the old token left beside the new one; every connector's token replaced.
    """
    key, other = await ingest.connector(), await ingest.connector()
    assert await ingest.pushes.push(key, ITEM) is Outcome.STORED
    token = await ingest.pushes.renew(key.connector_id)
    assert token.startswith("memoria_con_")
    assert token.encode() not in ingest.path.read_bytes()
    assert await refused(ingest.pushes, key, ITEM) is Kind.UNAUTHENTICATED
    assert await ingest.pushes.push(replace(key, token=token), ITEM) is Outcome.UNCHANGED
    assert await ingest.pushes.push(other, ITEM) is Outcome.STORED
    assert await refused(ingest.pushes, replace(other, token=token), ITEM) is Kind.UNAUTHENTICATED
    with pytest.raises(ServiceError) as caught:
        await ingest.pushes.renew("push-0000000000000000")
    assert caught.value.kind is Kind.NOT_FOUND


@pytest.mark.parametrize("how", ["renew", "remove"])
async def test_a_token_in_wrong_hands_is_refused_at_once(ingest: Ingest, how: str) -> None:
    """While an item under way waits for search, which may be long: the owner's button does not wait for that.

    Broken to see it red, each in turn: the new token in the item's turn; the old one good until the removal is whole.
    """
    key = await ingest.connector()
    ingest.index.go.clear()
    under_way = asyncio.create_task(ingest.pushes.push(key, ITEM))
    await ingest.index.entered.wait()
    wish = asyncio.create_task(getattr(ingest.pushes, how)(key.connector_id))
    await asyncio.sleep(0.1)
    with pytest.raises(ServiceError) as caught:
        await ingest.pushes.check(key)
    assert caught.value.kind is Kind.UNAUTHENTICATED
    ingest.index.go.set()
    assert await under_way is Outcome.STORED
    await wish


async def test_a_removed_connector_brings_nothing_and_what_it_brought_stays(ingest: Ingest) -> None:
    """AUT-12. Its token is refused from then on, an item under way ends before that, and a second removal is NOT_FOUND.

    Broken to see it red: the removal that does not wait; what is held deleted with it (G18).
    """
    key = await ingest.connector()
    ingest.index.go.clear()
    under_way = asyncio.create_task(ingest.pushes.push(key, ITEM))
    await ingest.index.entered.wait()
    removing = asyncio.create_task(ingest.pushes.remove(key.connector_id))
    waiting = asyncio.create_task(ingest.pushes.push(key, Item("late", "Late", text="late")))
    await asyncio.sleep(0.1)
    assert not removing.done()
    ingest.index.go.set()
    assert await under_way is Outcome.STORED
    await removing
    with pytest.raises(ServiceError):
        await waiting
    assert ingest.index.texts == ["The tide turns."]
    for item in (ITEM, replace(ITEM, gone=True)):
        assert await refused(ingest.pushes, key, item) is Kind.UNAUTHENTICATED
    assert await ingest.pushes.connectors() == []
    with pytest.raises(ServiceError) as caught:
        await ingest.pushes.remove(key.connector_id)
    assert caught.value.kind is Kind.NOT_FOUND
    assert sqlite3.connect(ingest.path).execute("SELECT count(*) FROM connector_items").fetchone() == (0,)


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("part", [0, 1])
async def test_a_push_that_failed_is_safe_to_try_again(make: Any, part: int, lost: bool) -> None:
    """Before or after search had carried it out, in any part, and over a restart: the next try brings all of it, a try
    for the old content as well; and a deletion finds what a failed push left behind.

    Broken to see it red: the fingerprint written before the put; an upload of which a part is missing taken for whole.
    """
    ingest = make()
    key = await ingest.connector()
    long = replace(ITEM, text="\n\n".join(f"# H{n}\n\nwords {n}" for n in range(4_100)))
    for old in (None, ITEM):
        if old:
            await ingest.pushes.push(key, old)
        ingest.index.fail_put_at, ingest.index.lost = part, lost
        assert await refused(ingest.pushes, key, long) is Kind.UNAVAILABLE
        ingest.index.fail_put_at = -1
        ingest = make(again=True)
        if old:
            with_old = await ingest.pushes.push(key, old)
            assert with_old is (Outcome.UNCHANGED if (part, lost) == (0, False) else Outcome.REPLACED)
            assert ingest.index.texts == ["The tide turns."]
        assert await ingest.pushes.push(key, long) in {Outcome.STORED, Outcome.REPLACED}
        assert len(ingest.index.texts) == 4_100
        assert await ingest.pushes.push(key, long) is Outcome.UNCHANGED
        ingest.index.fail_put_at, ingest.index.lost = part, lost
        with suppress(ServiceError):
            await ingest.pushes.push(key, replace(long, title="Another"))
        ingest.index.fail_put_at = -1
        assert await ingest.pushes.push(key, replace(ITEM, gone=True)) is Outcome.DELETED
        assert ingest.index.parts == {}


async def test_what_a_person_deleted_or_a_backup_put_back_is_seen(ingest: Ingest) -> None:
    """`unchanged` is only said of what search holds: a document deleted in memoria comes back with the next push of it,
    and after a restore to an earlier revision the newer one is stored anew.

    Broken to see it red: search not asked; its number not compared.
    """
    key = await ingest.connector()
    await ingest.pushes.push(key, ITEM)
    earlier = {each: dict(held) for each, held in ingest.index.parts.items()}
    (held,) = ingest.index.parts.values()
    await ingest.index.delete(held[0][0])
    assert await ingest.pushes.push(key, ITEM) is Outcome.STORED
    await ingest.pushes.push(key, replace(ITEM, text="Newer."))
    ingest.index.parts = earlier
    assert await ingest.pushes.push(key, replace(ITEM, text="Newer.")) is Outcome.REPLACED
    assert ingest.index.texts == ["Newer."]


async def test_items_that_are_none_are_refused(ingest: Ingest) -> None:
    """Here too, whatever the gateway let through; nothing is stored of them.

    Broken to see it red: no limit of its own.
    """
    key = await ingest.connector()
    for changes, kind in (
        ({"external_id": ""}, Kind.INVALID),
        ({"text": "é" * (MAX_ITEM_TEXT // 2 + 1)}, Kind.TOO_LARGE),
        ({"text": ""}, Kind.INVALID),
        ({"link": "javascript:alert(1)"}, Kind.INVALID),
    ):
        assert await refused(ingest.pushes, key, replace(ITEM, **changes)) is kind, changes  # type: ignore[arg-type] # any
    assert ingest.index.parts == {}
    assert await ingest.pushes.push(key, replace(ITEM, text="e" * MAX_ITEM_TEXT, title="\u202e")) is Outcome.STORED
    ((_, _, document),) = (part for held in ingest.index.parts.values() for part in held.values())
    assert document.title == "Untitled"


async def test_connectors_are_listed_with_use_and_count(make: Any) -> None:
    """In the order they were made, over a restart; use to the minute; a count that search does not say is none.

    Broken to see it red: the count of rows instead of what search holds.
    """
    ingest = make()
    key = await ingest.connector("Wiki", "https://a.example")
    ingest.clock.advance(5)
    await ingest.connector("Other")
    for at, used in ((0, 0), (30, 0), (90, 120)):
        ingest.clock.advance(at)
        await ingest.pushes.check(key)
        (wiki, _) = await ingest.pushes.connectors()
        assert wiki.used_at == wiki.created_at + timedelta(seconds=5 + used)
    for number in range(3):
        await ingest.pushes.push(key, replace(ITEM, external_id=str(number)))
    await ingest.index.delete(next(iter(ingest.index.parts.values()))[0][0])
    ingest = make(again=True)
    wiki, other = await ingest.pushes.connectors()
    assert (wiki.name, wiki.origins, other.name, other.used_at) == ("Wiki", ("https://a.example",), "Other", None)
    assert (await ingest.pushes.held(wiki.connector_id), await ingest.pushes.held(other.connector_id)) == (2, 0)
    ingest.index.away = AWAY
    assert await ingest.pushes.held(wiki.connector_id) is None


async def test_a_team_has_so_many_connectors(ingest: Ingest) -> None:
    """And each a name and few origins; the limit is said."""
    for name, origins in (("", ()), ("n" * 61, ()), ("n", ["https://a"] * 11), ("n", ["a" * 201]), ("n", [""])):
        with pytest.raises(ServiceError) as caught:
            await ingest.pushes.create(name, origins)
        assert caught.value.kind is Kind.INVALID
    for _ in range(MAX_CONNECTORS):
        await ingest.connector()
    with pytest.raises(ServiceError, match="50 connectors") as caught:
        await ingest.connector()
    assert caught.value.kind is Kind.EXHAUSTED
