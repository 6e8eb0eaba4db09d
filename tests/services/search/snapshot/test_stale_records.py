"""Records of superseded generations that are not true: whatever one says, nothing that is in use is deleted."""

from datetime import timedelta

import pytest

from memoria_chassis.bucket import Bucket, open_bucket
from memoria_chassis.clock import FakeClock
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import ServiceKey
from memoria_search.snapshot.fence import FencedError
from memoria_search.snapshot.names import SUPERSEDED
from memoria_search.snapshot.publish import Content
from memoria_search.snapshot.snapshots import Snapshots

KEY = ServiceKey(b"k" * 32)


class Held:
    """Bytes as a file's origin."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    @property
    def size(self) -> int:
        """How many."""
        return len(self.body)

    def read(self, start: int, size: int) -> bytes:
        """Some of them."""
        return self.body[start : start + size]


def holding(**files: bytes) -> Content:
    """What a generation of these files consists of."""
    return Content(1, 0, True, 1, frozenset({1}), "meta", {name: Held(body) for name, body in files.items()}, {})


async def intend(_generation: int) -> None:
    """No database is beside these."""


async def opened(bucket: Bucket, clock: FakeClock, days: float) -> Snapshots:
    """A start on the bucket."""
    made = Snapshots(bucket, KEY, clock, timedelta(days=days))
    await made.open()
    return made


async def whole(bucket: Bucket, clock: FakeClock) -> None:
    """Raises DamagedError unless everything of the generation that counts is there."""
    snapshots = await opened(bucket, clock, 30)
    assert snapshots.manifest
    for file in snapshots.manifest.files:
        await snapshots.restorer.content(file)


async def test_an_instance_that_was_suspended_past_the_retention_takes_nothing_along() -> None:
    """Fenced meanwhile, it goes on: nothing of what it then does reaches the bucket.

    Broken to see it red: no look at the fence before an attempt, together with a list that is believed.
    """
    bucket, clock = open_bucket("memory://"), FakeClock()
    earlier = await opened(bucket, clock, 0)
    await earlier.publish(holding(x=b"long lived", y=b"short"), intend)
    later = await opened(bucket, clock, 0)
    await later.publish(holding(x=b"long lived", z=b"new"), intend)
    clock.advance(1)
    await later.publish(holding(x=b"long lived", z=b"new", w=b"newer"), intend)  # the first goes, and its record
    records = await bucket.names(SUPERSEDED)
    with pytest.raises(FencedError):
        await earlier.publish(holding(other=b"merged"), intend)
    assert await bucket.names(SUPERSEDED) == records
    clock.advance(1)
    await later.publish(holding(x=b"long lived", v=b"latest"), intend)
    await whole(bucket, clock)


async def test_two_attempts_within_a_second_write_two_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one's, which lacks what the second has again, lands last and takes nothing along.

    Broken to see it red: no number of the attempt in the name, together with a list that is believed.
    """
    bucket, clock = open_bucket("memory://"), FakeClock()
    snapshots = await opened(bucket, clock, 30)
    await snapshots.publish(holding(x=b"old", v=b"vectors"), intend)
    late: list[tuple[str, bytes]] = []
    put = bucket.put

    async def slow(name: str, data: bytes) -> None:
        if name.startswith(SUPERSEDED) and not late:
            late.append((name, data))
            raise ServiceError(Kind.UNAVAILABLE, "no answer")
        await put(name, data)

    monkeypatch.setattr(bucket, "put", slow)
    with pytest.raises(ServiceError):
        await snapshots.publish(holding(x=b"old"), intend)
    await snapshots.publish(holding(x=b"old", v=b"vectors", z=b"new"), intend)
    ((name, data),) = late
    await put(name, data)
    assert len(await bucket.names(SUPERSEDED)) == 2
    clock.advance(31 * 86_400)
    await snapshots.publish(holding(x=b"old", v=b"vectors", z=b"new", q=b"more"), intend)
    await whole(bucket, clock)
