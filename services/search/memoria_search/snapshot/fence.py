"""The fence: one object in the bucket that only the instance awake last can move.

The head holds the epoch and the generation that counts. Whoever starts raises the epoch by a conditional put; from then
on the conditional puts of an instance that was awake before fail, and it stops. So of two awake pods only the later
one writes, and neither needs to know of the other.
"""

import json
import secrets
from dataclasses import dataclass

from memoria_chassis.aead import Sealer, SealError
from memoria_chassis.bucket import Bucket, Stored
from memoria_chassis.errors import Kind, ServiceError
from memoria_search.snapshot.names import HEAD, MANIFESTS, head_context, number

_FAR = 1 << 32
_ATTEMPTS = 5  # of instances that start in the same moment


class FencedError(ServiceError):
    """Another instance has the bucket now. Not to be retried: this process stops."""

    def __init__(self) -> None:
        super().__init__(Kind.PRECONDITION, "another instance has taken over this bucket; this one stops writing")


@dataclass(frozen=True, slots=True)
class Head:
    """What counts: the epoch of whoever may write, a name drawn for it, and the last generation (0: none)."""

    epoch: int
    holder: str
    generation: int

    def encode(self) -> bytes:
        """As it is sealed."""
        return json.dumps([self.epoch, self.holder, self.generation]).encode()


class Fence:
    """This instance's hold on the bucket."""

    def __init__(self, bucket: Bucket, sealer: Sealer) -> None:
        self._bucket = bucket
        self._sealer = sealer
        self._held: tuple[Head, dict] | None = None
        self._meant: Head | None = None  # a move whose outcome never reached us
        self.damaged = False
        """The head that was found did not open: no generation can be trusted, all is made anew."""

    @property
    def head(self) -> Head:
        """The head as this instance last wrote it."""
        assert self._held is not None  # acquire() is the first thing a start does
        return self._held[0]

    async def acquire(self) -> None:
        """Raise the epoch. Raises PRECONDITION where the head was sealed under another key, CONFLICT if outrun."""
        for _ in range(_ATTEMPTS):
            found = await self._bucket.get_or_none(HEAD)
            names = [] if found else await self._bucket.names(MANIFESTS)
            # A head is written before any manifest: one that is missing beside them was lost.
            before = self._open(found) if found else None if names else Head(0, "", 0)
            if before is None:
                # Nothing is known of it, not even its epoch: go on above what can have been.
                self.damaged = True
                names = names or await self._bucket.names(MANIFESTS)
                before = Head(_FAR, "", number(names[-1]) if names else 0)
            head = Head(before.epoch + 1, secrets.token_hex(8), before.generation)
            try:
                await self._write(head, found)
                return
            except ServiceError as error:
                if error.kind is not Kind.CONFLICT:
                    raise
        raise ServiceError(Kind.CONFLICT, "other instances keep taking this bucket")

    async def check(self) -> None:
        """Raises FencedError where another instance has taken over since."""
        found = await self._bucket.get_or_none(HEAD)
        head = self._open(found) if found else None
        if head is None or head.holder != self.head.holder:
            raise FencedError
        assert found is not None
        self._held = (head, found.version)

    async def settle(self) -> None:
        """Find out which generation counts, and that no earlier move of ours can still change it.

        A move whose answer never came may have happened, or may yet: it is on its way somewhere. Writing the head once
        more changes its version, on which that move was conditional. Raises FencedError; UNAVAILABLE or CONFLICT where
        it could not be settled, and then the next call tries again.
        """
        await self.check()
        if self._meant is not None and self.head != self._meant:
            head, version = self._held or (self.head, {})
            await self._bucket.put_if_match(HEAD, self._sealed(head), version)
            await self.check()
        self._meant = None

    async def advance(self, generation: int) -> None:
        """Make `generation` the one that counts. Raises FencedError, or UNAVAILABLE where the outcome is not known."""
        if self._meant is not None:
            await self.settle()
        head, version = self._held or (self.head, {})
        moved = Head(head.epoch, head.holder, generation)
        self._meant = moved
        try:
            await self._bucket.put_if_match(HEAD, self._sealed(moved), version)
        except ServiceError as error:
            if error.kind is not Kind.CONFLICT:
                raise
            await self.check()  # raises unless it was our own move, whose answer got lost
            if self.head != moved:
                raise
        await self.check()
        self._meant = None

    def _sealed(self, head: Head) -> bytes:
        return self._sealer.seal(head.encode(), head_context())

    def _open(self, found: Stored) -> Head | None:
        """None where it is damaged. Another key is no damage: it is refused."""
        try:
            epoch, holder, generation = json.loads(self._sealer.open(found.data, head_context()))
        except SealError as error:
            if error.reason == "unknown key":
                raise ServiceError(Kind.PRECONDITION, "the bucket was sealed under another key") from error
            return None
        return Head(int(epoch), str(holder), int(generation))

    async def _write(self, head: Head, found: Stored | None) -> None:
        if found is None:
            await self._bucket.put_if_absent(HEAD, self._sealed(head))
        else:
            await self._bucket.put_if_match(HEAD, self._sealed(head), found.version)
        self._held = (head, {})
        await self.check()
