"""Reading a generation back: manifest, then lexical files, then, behind the first searches, vectors."""

import asyncio
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from memoria_chassis.aead import Sealer, SealError
from memoria_chassis.bucket import Bucket
from memoria_chassis.errors import Kind, ServiceError
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
            found = decode(await asyncio.to_thread(self._sealer.open, sealed, manifest_context(generation)))
        except SealError as error:
            raise DamagedError("manifest does not open") from error
        except ServiceError as error:
            raise DamagedError("manifest of another version") from error
        if found.generation != generation:
            raise DamagedError("manifest of another generation")
        return found

    async def files(self, files: Iterable[File], directory: Path) -> int:
        """Write `files` into `directory`; their bytes. Raises DamagedError, and then the directory is of no use."""
        slots = asyncio.Semaphore(_AT_ONCE)
        sizes = await every(self._file(file, directory / file.name, slots) for file in files)
        return sum(sizes)

    async def lexical(self, manifest: Manifest, directory: Path) -> int:
        """Write the engine's files so that it can open `directory`; their bytes. Raises DamagedError."""
        size = await self.files(manifest.lexical, directory)
        names = [file.name for file in manifest.lexical]
        # The engine collects only files that it manages; unlisted ones would stay in RAM after their merge.
        (directory / ".managed.json").write_text(json.dumps([*names, "meta.json"]))
        (directory / "meta.json").write_text(manifest.meta)
        return size

    async def content(self, file: File) -> bytes:
        """A small file's content, never written anywhere. Raises DamagedError."""
        slots = asyncio.Semaphore(1)
        return b"".join([await self._open(file, position, slots) for position in range(len(file.pieces))])

    async def _file(self, file: File, path: Path, slots: asyncio.Semaphore) -> int:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            await every(self._piece(file, position, handle, slots) for position in range(len(file.pieces)))
        finally:
            os.close(handle)
        return file.size

    async def _piece(self, file: File, position: int, handle: int, slots: asyncio.Semaphore) -> None:
        body = await self._open(file, position, slots)
        await asyncio.to_thread(os.pwrite, handle, body, position * PIECE_BYTES)

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

            return await asyncio.to_thread(body)

    async def _object(self, name: str, missing: str) -> bytes:
        try:
            return (await self._bucket.get(name)).data
        except ServiceError as error:
            if error.kind is Kind.NOT_FOUND:
                raise DamagedError(missing) from error
            raise
