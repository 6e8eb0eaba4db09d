"""Publishing a generation: new pieces, its manifest, what it supersedes, then the head.

A kill in between leaves the last one counting.
"""

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from memoria_chassis.aead import SealContext, Sealer
from memoria_chassis.bucket import Bucket
from memoria_chassis.errors import Kind, ServiceError
from memoria_search.snapshot.every import every
from memoria_search.snapshot.fence import Fence
from memoria_search.snapshot.manifest import File, Manifest, Piece
from memoria_search.snapshot.names import manifest_context, manifest_name, piece_context, piece_name
from memoria_search.snapshot.packing import pack
from memoria_search.snapshot.superseded import Superseded

PIECE_BYTES = 4 << 20
"""Plaintext of one piece: small enough to hold a few in memory, large enough that a round trip does not show."""

_AT_ONCE = 4  # pieces under way, so at most 32 MiB
_ATTEMPTS = 16  # generations whose manifest somebody wrote and whose head nobody moved to


class Origin(Protocol):
    """Where a file of a generation comes from."""

    @property
    def size(self) -> int:
        """Its bytes."""
        ...

    def read(self, start: int, length: int) -> bytes:
        """Up to `length` of its bytes from `start`; called in a thread."""
        ...


@dataclass(frozen=True, slots=True)
class Scratch:
    """A file that lies in scratch."""

    path: Path

    @property
    def size(self) -> int:
        """Its bytes."""
        return os.stat(self.path).st_size

    def read(self, start: int, length: int) -> bytes:
        """Up to `length` of its bytes from `start`."""
        handle = os.open(self.path, os.O_RDONLY)
        try:
            return os.pread(handle, length, start)
        finally:
            os.close(handle)


@dataclass(frozen=True, slots=True)
class Content:
    """What goes into a generation. `lexical` and `vectors`: a file's name and where it comes from. `clean`: no word of
    anything deleted is left in them."""

    analyser: int
    deletions: int
    clean: bool
    last_number: int
    numbers: frozenset[int]
    meta: str
    lexical: Mapping[str, Origin]
    vectors: Mapping[str, Origin]


@dataclass(frozen=True, slots=True)
class Published:
    """A generation, the record of the one before, None where nothing was, and the sealed bytes uploaded for both."""

    manifest: Manifest
    superseded: Superseded | None
    uploaded: int


class Publisher:
    """Writes generations. One at a time."""

    def __init__(self, bucket: Bucket, sealer: Sealer, fence: Fence) -> None:
        self._bucket = bucket
        self._sealer = sealer
        self._fence = fence
        self._uploaded = 0
        self._passed: list[str] = []
        self.tried: list[str] = []
        """What the last attempt uploaded or may yet, if it came to nothing: ending a put does not call it back."""
        self.attempted: Manifest | None = None
        """What the head was last asked to move to, whether or not it has."""

    async def publish(
        self,
        content: Content,
        generation: int,
        previous: Manifest | None,
        reuse: Mapping[str, File],
        left: Collection[str],
        now: int,
        record: Callable[[Manifest | None], Superseded],
        intend: Callable[[int], Awaitable[None]],
    ) -> Published:
        """Write `content` as `generation`, or the next that is free, after `previous`. `now`: seconds since 1970.

        `reuse`: files that are in the bucket already, by name. `left`: other objects that go when `previous` does.
        `record` names the record of what is superseded. `intend` is told the generation before it can count. Raises
        FencedError; UNAVAILABLE where the bucket fails, and then the last generation stands, unless it was the head's
        answer that got lost.
        """
        self._uploaded, self._passed, self.tried = 0, [], []
        slots = asyncio.Semaphore(_AT_ONCE)
        lexical = await self._files(content.lexical, reuse, generation, slots)
        vectors = await self._files(content.vectors, reuse, generation, slots)
        manifest = Manifest(
            generation=generation,
            epoch=self._fence.head.epoch,
            created_at=now,
            analyser=content.analyser,
            deletions=content.deletions,
            purged=content.deletions if content.clean else (previous.purged if previous else 0),
            unpurged_since=0 if content.clean else (previous and previous.unpurged_since) or now,
            last_number=content.last_number,
            numbers=content.numbers,
            meta=content.meta,
            lexical=lexical,
            vectors=vectors,
        )
        manifest = await self._manifest(manifest)
        superseded = await self._supersede(manifest, previous, left, record)
        await intend(manifest.generation)
        self.attempted = manifest
        await self._fence.advance(manifest.generation)
        self.tried = []
        return Published(manifest, superseded, self._uploaded)

    async def _supersede(
        self,
        manifest: Manifest,
        previous: Manifest | None,
        left: Collection[str],
        record: Callable[[Manifest | None], Superseded],
    ) -> Superseded | None:
        """Write down what goes when no backup can name the generation before any more."""
        only = {*(previous.objects - manifest.objects if previous else ()), *left, *self._passed}
        if previous is None and not only:
            return None
        superseded = record(previous)
        sealed = superseded.seal(self._sealer, only)
        await self._bucket.put(superseded.name, sealed)
        self._uploaded += len(sealed)
        return superseded

    async def _files(
        self, wanted: Mapping[str, Origin], known: Mapping[str, File], generation: int, slots: asyncio.Semaphore
    ) -> tuple[File, ...]:
        async def one(name: str, origin: Origin) -> File:
            held = known.get(name)
            if held and held.size == origin.size:
                return held
            return await self._file(name, origin, generation, slots)

        return tuple(await every(one(name, wanted[name]) for name in sorted(wanted)))

    async def _file(self, name: str, origin: Origin, generation: int, slots: asyncio.Semaphore) -> File:
        count = max(1, -(-origin.size // PIECE_BYTES))

        async def one(position: int) -> Piece:
            async with slots:
                body = await asyncio.to_thread(origin.read, position * PIECE_BYTES, PIECE_BYTES)
                context = piece_context(generation, name, position, count)
                sealed, digest = await asyncio.to_thread(self._sealed, body, context)
                place = piece_name(generation, self._fence.head.epoch)
                self.tried.append(place)
                await self._bucket.put(place, sealed)
                self._uploaded += len(sealed)
                return Piece(place, len(body), digest)

        return File(name, generation, tuple(await every(one(position) for position in range(count))))

    def _sealed(self, body: bytes, context: SealContext) -> tuple[bytes, str]:
        sealed = self._sealer.seal(pack(body), context)
        return sealed, hashlib.sha256(sealed).hexdigest()

    async def _manifest(self, manifest: Manifest) -> Manifest:
        """Write it under the first free number: one that is taken was written by somebody who never moved the head."""
        for _ in range(_ATTEMPTS):
            sealed = self._sealer.seal(manifest.encode(), manifest_context(manifest.generation))
            self.tried.append(manifest_name(manifest.generation))
            try:
                await self._bucket.put_if_absent(manifest_name(manifest.generation), sealed)
            except ServiceError as error:
                if error.kind is not Kind.CONFLICT:
                    raise
                self._passed.append(manifest_name(manifest.generation))
                manifest = replace(manifest, generation=manifest.generation + 1)
                continue
            self._uploaded += len(sealed)
            return manifest
        raise ServiceError(Kind.UNAVAILABLE, "the bucket holds manifests that nothing points at")
