"""One test for every kind of bucket, and the one that must not be used (AMD-10)."""

import asyncio
from pathlib import Path
from typing import Any

import obstore
import pytest
from obstore.exceptions import GenericError

from memoria_chassis import bucket as module
from memoria_chassis.bucket import Bucket, open_bucket
from memoria_chassis.errors import Kind, ServiceError


@pytest.fixture(params=["memory", "file"])
def bucket(request: pytest.FixtureRequest, tmp_path: Path) -> Bucket:
    return open_bucket("memory:///" if request.param == "memory" else f"file://{tmp_path}/bucket")


async def refused(awaitable: Any) -> Kind:
    """The kind of a refusal."""
    with pytest.raises(ServiceError) as caught:
        await awaitable
    assert "canary" not in caught.value.message
    return caught.value.kind


async def test_what_is_absent_is_not_found(bucket: Bucket) -> None:
    """Get and conditional replacement of nothing; deleting nothing is no error."""
    assert await refused(bucket.get("canary")) is Kind.NOT_FOUND
    await bucket.put("other", b"1")
    version = (await bucket.get("other")).version
    assert await refused(bucket.put_if_match("canary", b"x", version)) is Kind.CONFLICT
    await bucket.delete("canary")
    assert await bucket.names("") == ["other"]


async def test_create_only_once(bucket: Bucket) -> None:
    """The second is a conflict and changes nothing; after a deletion it may be created again."""
    await bucket.put_if_absent("a/canary", b"1")
    assert await refused(bucket.put_if_absent("a/canary", b"2")) is Kind.CONFLICT
    assert (await bucket.get("a/canary")).data == b"1"
    await bucket.delete("a/canary")
    await bucket.put_if_absent("a/canary", b"3")


async def test_replace_only_what_was_read(bucket: Bucket) -> None:
    """A version that moved on is a conflict, also where the object has the same length and the same bytes again."""
    await bucket.put("canary", b"1")
    first = (await bucket.get("canary")).version
    assert first
    await bucket.put_if_match("canary", b"2", first)
    assert await refused(bucket.put_if_match("canary", b"3", first)) is Kind.CONFLICT
    assert (await bucket.get("canary")).data == b"2"
    assert await refused(bucket.put_if_match("canary", b"3", {})) is Kind.PRECONDITION


async def test_of_many_writers_one_wins(bucket: Bucket) -> None:
    """Twenty at once over one version, twenty at once over an absence: one each, the others hear a conflict."""
    await bucket.put("canary", b"0")
    version = (await bucket.get("canary")).version
    for writes in (
        [bucket.put_if_match("canary", b"%d" % n, version) for n in range(20)],
        [bucket.put_if_absent("new", b"%d" % n) for n in range(20)],
    ):
        ended = await asyncio.gather(*writes, return_exceptions=True)
        assert sum(end is None for end in ended) == 1
        assert {end.kind for end in ended if isinstance(end, ServiceError)} == {Kind.CONFLICT}


async def test_names_are_sorted_and_by_folder(bucket: Bucket) -> None:
    """A prefix is a folder, not a beginning."""
    for name in ("b/2", "b/1", "bb/1", "a"):
        await bucket.put(name, b"")
    assert await bucket.names("b") == ["b/1", "b/2"]
    assert await bucket.names("nothing") == []


async def test_probing_leaves_nothing(bucket: Bucket) -> None:
    """What was there is there, and nothing else."""
    await bucket.put("kept", b"1")
    await bucket.probe()
    assert await bucket.names("") == ["kept"]


async def test_pods_that_probe_at_once_do_not_disturb_one_another() -> None:
    """Each cleans up its own object only."""
    bucket = open_bucket("memory:///")
    await asyncio.gather(*(bucket.probe() for _ in range(10)))
    assert await bucket.names("") == []


@pytest.mark.parametrize("ignored", ["create", "match"])
async def test_a_bucket_that_ignores_conditions_is_refused(monkeypatch: pytest.MonkeyPatch, ignored: str) -> None:
    """AMD-10: a store that takes `If-None-Match`, or `If-Match`, and writes anyway.

    Broken on 2026-11-30 to see red: `_must_conflict` content with a write that went through.
    """
    real = obstore.put_async

    async def careless(store: Any, name: str, data: bytes, *, mode: Any = None) -> Any:
        drop = mode == "create" if ignored == "create" else isinstance(mode, dict)
        return await (real(store, name, data) if drop or mode is None else real(store, name, data, mode=mode))

    bucket = open_bucket("memory:///")
    await bucket.probe()
    monkeypatch.setattr(module.obstore, "put_async", careless)
    assert await refused(bucket.probe()) is Kind.PRECONDITION


async def test_a_failing_store_is_unavailable_and_names_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the library says quotes names and replies; what we say does not (TRU-06)."""

    async def fails(*_: Any, **__: Any) -> Any:
        raise GenericError("canary-name said <html>canary</html>")

    bucket = open_bucket("memory:///")
    monkeypatch.setattr(module.obstore, "put_async", fails)
    monkeypatch.setattr(module.obstore, "get_async", fails)
    assert await refused(bucket.put("canary", b"x")) is Kind.UNAVAILABLE
    assert await refused(bucket.get("canary")) is Kind.UNAVAILABLE
    assert await refused(bucket.put_if_absent("canary", b"x")) is Kind.UNAVAILABLE


async def test_a_name_that_cannot_be_is_refused(bucket: Bucket) -> None:
    """Nothing leaves the folder."""
    for name in ("../canary", "a/../../canary", "a//b"):
        with pytest.raises(ServiceError):
            await bucket.put(name, b"x")
    assert await bucket.names("") == []


def test_addresses_of_buckets(tmp_path: Path) -> None:
    """Anything but the five schemes is refused; a local one is its owner's alone."""
    for url in ("", "http://x", "/data", "ftp://x/y", "file"):
        with pytest.raises(ServiceError) as caught:
            open_bucket(url)
        assert caught.value.kind is Kind.INVALID
    open_bucket(f"file://{tmp_path}/deep/er")
    assert (tmp_path / "deep" / "er").stat().st_mode & 0o777 == 0o700


async def test_none_is_only_what_is_absent(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """An object that is there comes as it is; a bucket that fails is no absence.

    Broken to see it red: every refusal taken for an absence.
    """
    assert await bucket.get_or_none("canary") is None
    await bucket.put("canary", b"1")
    assert await bucket.get_or_none("canary") == await bucket.get("canary")

    async def fails(*_: Any, **__: Any) -> Any:
        raise GenericError("canary")

    monkeypatch.setattr(module.obstore, "get_async", fails)
    assert await refused(bucket.get_or_none("canary")) is Kind.UNAVAILABLE


async def test_what_killed_puts_left_is_dropped_where_nobody_writes(tmp_path: Path) -> None:
    """Files that the store counts as unfinished, in one folder, of objects that are said to be abandoned; no object, no
    other file, nothing of another folder. A bucket elsewhere leaves none.

    Broken to see it red: what is said of the object not asked; any name with a # in it dropped.
    """
    bucket, folder = open_bucket(tmp_path.as_uri()), tmp_path / "a"
    await bucket.put("a/kept", b"1")
    for name in ("kept#1", "dead#1", "dead#12", "live#1", "odd#x"):
        (folder / name).write_bytes(b"half")
    (tmp_path / "dead#1").write_bytes(b"half")
    assert "a/dead#1" not in await bucket.names("a"), "unfinished, as the store sees it"
    assert await bucket.drop_unfinished("a/", lambda name: name != "a/live") == 3
    assert {path.name for path in folder.iterdir()} == {"kept", "live#1", "odd#x"}
    assert (tmp_path / "dead#1").exists()
    assert await bucket.drop_unfinished("nothing/", lambda _: True) == 0
    await bucket.put("a/live", b"2")
    assert (await bucket.get("a/live")).data == b"2"
    elsewhere = open_bucket("memory:///")
    await elsewhere.put("a/b", b"1")
    assert await elsewhere.drop_unfinished("a/", lambda _: True) == 0
