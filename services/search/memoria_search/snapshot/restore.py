"""Reading a generation back: manifest, then lexical files, then, behind the first searches, vectors."""

import asyncio
import hashlib
import json
import os
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path

from memoria_chassis.aead import Sealer, SealError
from memoria_chassis.bucket import Bucket
from memoria_chassis.errors import Kind, ServiceError
from memoria_search.finish import in_thread
from memoria_search.snapshot.every import every
from memoria_search.snapshot.manifest import File, Manifest, decode
from memoria_search.snapshot.names import manifest_context, manifest_name, piece_context
from memoria_search.snapshot.packing import unpack
from memoria_search.snapshot.publish import PIECE_BYTES

_AT_ONCE = 8  # pieces under way: the network is busy while two are being opened


class DamagedError(ServiceError):
    """A generation cannot be used. `reason` is a fixed word for logs and status; the index is rebuilt from chunks."""

    def __init__(self, reason: str) -> None:
        super().__init__(Kind.UNAVAILABLE, "a snapshot generation is missing or damaged")
        self.reason = reason


class Restorer:
    """Reads generations."""

    def __init__(self, bucket: Bucket, sealer: Sealer) -> None:
        self._bucket = bucket
        self._sealer = sealer

    async def manifest(self, generation: int) -> Manifest:
        """The manifest of a generation. Raises DamagedError."""
        sealed = await self._object(manifest_name(generation), "manifest missing")
        try:
            found = decode(await in_thread(self._sealer.open, sealed, manifest_context(generation)))
        except SealError as error:
            raise DamagedError("manifest does not open") from error
        except ServiceError as error:
            raise DamagedError("manifest of another version") from error
        if found.generation != generation:
            raise DamagedError("manifest of another generation")
        return found

    async def files(self, files: Sequence[File], directory: Path) -> int:
        """Write `files` into `directory`; their bytes. Raises DamagedError, and then the directory is of no use.

        Nothing writes there any more once this has ended, however it ended.
        """
        if len({file.name for file in files}) < len(files):
            raise DamagedError("a file comes twice")
        slots = asyncio.Semaphore(_AT_ONCE)
        places = ((file, position) for file in files for position in range(len(file.pieces)))
        await every(self._piece(file, position, directory / file.name, slots) for file, position in places)
        return sum(file.size for file in files)

    async def lexical(self, manifest: Manifest, directory: Path) -> int:
        """Write the engine's files so that it can open `directory`; their bytes. Raises DamagedError."""
        size = await self.files(manifest.lexical, directory)
        names = [file.name for file in manifest.lexical]
        # The engine collects only files that it manages; unlisted ones would stay in RAM after their merge.
        (directory / ".managed.json").write_text(json.dumps([*names, "meta.json"]))
        (directory / "meta.json").write_text(manifest.meta)
        return size

    async def contents(self, files: Iterable[File]) -> AsyncIterator[tuple[str, bytes]]:
        """Small files by name, in order and a few ahead; never written anywhere. Raises DamagedError."""
        slots = asyncio.Semaphore(_AT_ONCE)
        ahead: deque[tuple[str, asyncio.Task[bytes]]] = deque()
        try:
            for file in files:
                ahead.append((file.name, asyncio.create_task(self.content(file, slots))))
                if len(ahead) == _AT_ONCE:
                    name, body = ahead.popleft()
                    yield name, await body
            while ahead:
                name, body = ahead.popleft()
                yield name, await body
        finally:
            for _, left in ahead:
                left.cancel()
            await asyncio.gather(*(left for _, left in ahead), return_exceptions=True)

    async def content(self, file: File, slots: asyncio.Semaphore | None = None) -> bytes:
        """One small file. Raises DamagedError."""
        slots = slots or asyncio.Semaphore(1)
        return b"".join([await self._open(file, position, slots) for position in range(len(file.pieces))])

    async def _piece(self, file: File, position: int, path: Path, slots: asyncio.Semaphore) -> None:
        body = await self._open(file, position, slots)
        await in_thread(_write, path, body, position * PIECE_BYTES)

    async def _open(self, file: File, position: int, slots: asyncio.Semaphore) -> bytes:
        piece = file.pieces[position]
        async with slots:
            sealed = await self._object(piece.object, "piece missing")
            context = piece_context(file.generation, file.name, position, len(file.pieces))

            def body() -> bytes:
                if hashlib.sha256(sealed).hexdigest() != piece.digest:
                    raise DamagedError("piece differs from its digest")
                try:
                    packed = self._sealer.open(sealed, context)
                except SealError as error:
                    raise DamagedError("piece does not open") from error
                try:
                    return unpack(packed, piece.size)
                except ServiceError as error:
                    raise DamagedError("piece of another size") from error

            return await in_thread(body)

    async def _object(self, name: str, missing: str) -> bytes:
        found = await self._bucket.get_or_none(name)
        if found is None:
            raise DamagedError(missing)
        return found.data


def _write(path: Path, body: bytes, start: int) -> None:
    """Opened and closed here, in one thread: a descriptor that others close may be somebody else's by the time it is
    written to. Raises OSError where there is no room."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        left = memoryview(body)
        while left:
            written = os.pwrite(handle, left, start)
            left, start = left[written:], start + written
    finally:
        os.close(handle)
