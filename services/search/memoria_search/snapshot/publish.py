"""Publishing a generation: pieces that are new, then the manifest, then the head. A kill in between leaves the last."""

import asyncio
import hashlib
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from memoria_chassis.aead import SealContext, Sealer
from memoria_chassis.bucket import Bucket
from memoria_chassis.errors import Kind, ServiceError
from memoria_search.snapshot.every import every
from memoria_search.snapshot.fence import Fence
from memoria_search.snapshot.manifest import File, Manifest, Piece, Retired
from memoria_search.snapshot.names import PIECES, manifest_context, manifest_name, piece_context
from memoria_search.snapshot.packing import pack

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
    """What goes into a generation. `lexical` and `vectors`: a file's name and where it comes from."""

    analyser: int
    deletions: int
    last_number: int
    numbers: frozenset[int]
    meta: str
    lexical: Mapping[str, Origin]
    vectors: Mapping[str, Origin]


@dataclass(frozen=True, slots=True)
class Published:
    """A generation, and what it cost: sealed bytes that were uploaded for it, manifest included."""

    manifest: Manifest
    uploaded: int


class Publisher:
    """Writes generations. One at a time."""

    def __init__(self, bucket: Bucket, sealer: Sealer, fence: Fence) -> None:
        self._bucket = bucket
        self._sealer = sealer
        self._fence = fence
        self._uploaded = 0

    async def publish(
        self,
        content: Content,
        previous: Manifest | None,
        reuse: Mapping[str, File],
        history: tuple[Retired, ...],
        now: int,
        intend: Callable[[int], Awaitable[None]],
    ) -> Published:
        """Write `content` as the next generation after `previous`. `now`: seconds since 1970.

        `reuse`: files that are in the bucket already, by name. `history`: generations superseded earlier. `intend` is
        told the generation before it can count. Raises FencedError; UNAVAILABLE where the bucket fails, and then the
        last generation stands.
        """
        self._uploaded = 0
        generation = self._fence.head.generation + 1
        slots = asyncio.Semaphore(_AT_ONCE)
        lexical = await self._files(content.lexical, reuse, generation, slots)
        vectors = await self._files(content.vectors, reuse, generation, slots)
        manifest = Manifest(
            generation=generation,
            epoch=self._fence.head.epoch,
            created_at=now,
            analyser=content.analyser,
            deletions=content.deletions,
            last_number=content.last_number,
            numbers=content.numbers,
            meta=content.meta,
            lexical=lexical,
            vectors=vectors,
        )
        manifest = await self._manifest(_with_history(manifest, previous, history))
        await intend(manifest.generation)
        await self._fence.advance(manifest.generation)
        return Published(manifest, self._uploaded)

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
                place = f"{PIECES}{generation:016d}-{secrets.token_hex(8)}"
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
            try:
                await self._bucket.put_if_absent(manifest_name(manifest.generation), sealed)
            except ServiceError as error:
                if error.kind is not Kind.CONFLICT:
                    raise
                manifest = replace(manifest, generation=manifest.generation + 1)
                continue
            self._uploaded += len(sealed)
            return manifest
        raise ServiceError(Kind.UNAVAILABLE, "the bucket holds manifests that nothing points at")


def _with_history(manifest: Manifest, previous: Manifest | None, history: tuple[Retired, ...]) -> Manifest:
    """The manifest with every generation that may still be restored from, and the pieces that only those use."""
    if previous is None:
        return replace(manifest, retired=history)
    only = tuple(sorted(previous.objects - manifest.objects))
    superseded = Retired(previous.generation, manifest.created_at, previous.deletions, only)
    return replace(manifest, retired=(*history, superseded))
