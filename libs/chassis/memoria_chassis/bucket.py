"""The bucket: sealed objects under names, with conditional writes, over obstore.

`file://`, `memory://`, `s3://`, `gs://` and `az://` all serve. A bucket that ignores a condition cannot fence two awake
pods from each other, so one is refused at start (AMD-10).
"""

import asyncio
import fcntl
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    InvalidPathError,
    NotFoundError,
    NotSupportedError,
    PreconditionError,
)
from obstore.store import LocalStore, MemoryStore, from_url

from memoria_chassis.errors import Kind, ServiceError

_ANSWERS = (NotFoundError, FileNotFoundError, AlreadyExistsError, PreconditionError, NotSupportedError)
"""Errors that are an answer to what was asked; every other one is a failure."""


@dataclass(frozen=True, slots=True)
class Stored:
    """An object as read: its bytes and the version a conditional replacement names."""

    data: bytes
    version: dict[str, Any]


class Bucket:
    """Named objects. Every failure is a ServiceError that names no object."""

    def __init__(self, store: Any, directory: Path | None = None) -> None:
        self._store = store
        # A local directory has create-if-absent (O_EXCL) but no compare-and-swap; there a lock on the directory
        # itself stands in for it. The kernel lets go of the lock when its holder dies.
        self._directory = directory

    async def get(self, name: str) -> Stored:
        """The object called `name`. Raises NOT_FOUND."""
        try:
            with _failures():
                result = await obstore.get_async(self._store, name)
                data = bytes(await result.bytes_async())
        except (NotFoundError, FileNotFoundError):
            raise ServiceError(Kind.NOT_FOUND, "no such object in the bucket") from None
        meta = result.meta
        return Stored(data, {key: meta[key] for key in ("e_tag", "version") if meta.get(key) is not None})

    async def get_or_none(self, name: str) -> Stored | None:
        """The object called `name`; None where there is none."""
        try:
            return await self.get(name)
        except ServiceError as error:
            if error.kind is Kind.NOT_FOUND:
                return None
            raise

    async def put(self, name: str, data: bytes) -> None:
        """Write `name`, whatever was there."""
        with _failures():
            await obstore.put_async(self._store, name, data)

    async def put_if_absent(self, name: str, data: bytes) -> None:
        """Write `name` unless it exists. Raises CONFLICT if it does."""
        try:
            with _failures():
                await obstore.put_async(self._store, name, data, mode="create")
        except AlreadyExistsError:
            raise ServiceError(Kind.CONFLICT, "the object is already in the bucket") from None

    async def put_if_match(self, name: str, data: bytes, version: dict[str, Any]) -> None:
        """Replace `name` only if it is still at `version`. Raises CONFLICT if it moved on."""
        if not version:
            raise ServiceError(Kind.PRECONDITION, "the bucket names no versions: it cannot compare them")
        if self._directory:
            with self._locked(self._directory):
                held = await self.get_or_none(name)
                if held is None or held.version != version:
                    raise ServiceError(Kind.CONFLICT, "the object in the bucket has moved on")
                await self.put(name, data)
            return
        try:
            with _failures():
                await obstore.put_async(self._store, name, data, mode=cast(Any, version))
        except (PreconditionError, NotFoundError, FileNotFoundError):
            raise ServiceError(Kind.CONFLICT, "the object in the bucket has moved on") from None

    @staticmethod
    @contextmanager
    def _locked(directory: Path) -> Iterator[None]:
        handle = os.open(directory, os.O_RDONLY)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ServiceError(Kind.CONFLICT, "the bucket is being written by somebody else") from error
            yield
        finally:
            os.close(handle)

    async def delete(self, name: str) -> None:
        """Remove `name`. Removing what is absent is no error."""
        try:
            with _failures():
                await obstore.delete_async(self._store, name)
        except (NotFoundError, FileNotFoundError):
            pass  # already gone, which is what was asked for

    async def names(self, prefix: str, after: str | None = None) -> list[str]:
        """The names under `prefix`, sorted; with `after` only those that sort behind it."""
        found: list[str] = []
        with _failures():
            async for page in obstore.list(self._store, prefix=prefix, offset=after):
                found.extend(meta["path"] for meta in page)
        return sorted(name for name in found if after is None or name > after)

    async def drop_unfinished(self, prefix: str, abandoned: Callable[[str], bool]) -> int:
        """Remove what puts under the folder `prefix` left that were killed half-way; how many.

        Only a local directory has any: a put is written beside its object, as `name#1`, and renamed. Whether somebody
        still writes there cannot be seen, so `abandoned` is asked about each object's name and must know that nobody
        does. One that is written nevertheless fails as UNAVAILABLE.
        """
        if not self._directory:
            return 0
        return await asyncio.to_thread(_drop_unfinished, self._directory / prefix, prefix, abandoned)

    async def probe(self) -> None:
        """Refuse a bucket that ignores conditional writes. Raises PRECONDITION."""
        name = f"probe/{secrets.token_hex(8)}"
        try:
            await self.put_if_absent(name, b"1")
            await self._must_conflict(self.put_if_absent(name, b"2"), "If-None-Match")
            first = (await self.get(name)).version
            await self.put_if_match(name, b"three", first)
            await self._must_conflict(self.put_if_match(name, b"4", first), "If-Match")
        except (NotSupportedError, NotImplementedError) as error:
            raise ServiceError(Kind.PRECONDITION, "the bucket does not support conditional writes") from error
        finally:
            await self.delete(name)  # only ours: another pod may be probing

    @staticmethod
    async def _must_conflict(write: Any, header: str) -> None:
        try:
            await write
        except ServiceError as error:
            if error.kind is Kind.CONFLICT:
                return
            raise
        raise ServiceError(Kind.PRECONDITION, f"the bucket ignores {header}: two pods could both write")


@contextmanager
def _failures() -> Iterator[None]:
    """The library's errors name the object and quote the store's reply; ours do neither."""
    try:
        yield
    except _ANSWERS:
        raise
    except (InvalidPathError, ValueError):
        raise ServiceError(Kind.INVALID, "this cannot be an object's name") from None
    except (BaseError, OSError):
        raise ServiceError(Kind.UNAVAILABLE, "the bucket did not do what was asked") from None


def _drop_unfinished(folder: Path, prefix: str, abandoned: Callable[[str], bool]) -> int:
    dropped = 0
    with _failures():
        for path in folder.glob("*#*"):
            name, _, count = path.name.rpartition("#")
            if count.isdigit() and abandoned(prefix + name):
                path.unlink(missing_ok=True)
                dropped += 1
    return dropped


def open_bucket(url: str) -> Bucket:
    """Open the bucket at `url`. A local directory is made if absent, readable by its owner only."""
    parts = urlsplit(url)
    if parts.scheme == "memory":
        return Bucket(MemoryStore())
    if parts.scheme == "file":
        directory = Path(unquote(parts.path))
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.chmod(directory, 0o700)
        return Bucket(LocalStore(directory), directory)
    if parts.scheme in {"s3", "gs", "az"}:
        return Bucket(from_url(url))
    raise ServiceError(Kind.INVALID, "a bucket is file://, memory://, s3://, gs:// or az://")
