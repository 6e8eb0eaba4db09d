"""Scratch for plaintext index files: RAM-backed, this process's own, wiped before and after (TRU-03)."""

import hashlib
import os
import re
import shutil
from pathlib import Path

from memoria_chassis import log
from memoria_chassis.errors import Kind, ServiceError


def wipe(directory: Path) -> None:
    """Remove a scratch directory and what is in it."""
    shutil.rmtree(directory, ignore_errors=True)


def fresh(directory: Path) -> Path:
    """Make `directory` anew: empty, 0700, ours. Raises PRECONDITION where that cannot be had.

    A process that was killed leaves its postings behind; they go here, before the next index is built.
    """
    wipe(directory)
    try:
        directory.mkdir(mode=0o700, parents=True)
    except OSError as error:
        raise ServiceError(Kind.PRECONDITION, "the scratch directory cannot be made anew") from error
    found = directory.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise ServiceError(Kind.PRECONDITION, "the scratch directory is open to others")
    return directory


def directory_for(root: Path, database: Path) -> Path:
    """This instance's own folder in `root`: the same at every start, so that what a killed process left is wiped."""
    name = hashlib.sha256(str(database.resolve()).encode()).hexdigest()[:16]
    return root / f"memoria-search-{os.getuid()}-{name}"


_IN_RAM = frozenset({"tmpfs", "ramfs"})


def must_be_ram(root: Path, *, on_disk: bool) -> None:
    """Refuse a place for plaintext that is not RAM: PRECONDITION, unless `on_disk` says that this is a development
    machine, and then it is said in the log."""
    kind = _file_system(root)
    if kind in _IN_RAM:
        return
    if not on_disk:
        raise ServiceError(
            Kind.PRECONDITION,
            "data.scratch_dir is not in RAM (tmpfs), and the readable index must not reach a disk; "
            "for development only, data.scratch_on_disk = true allows it",
        )
    log.get_logger().warning("the readable index lies on a disk: data.scratch_on_disk is for development only")


def _file_system(path: Path) -> str:
    """The type of the file system that `path` is or will be on; empty where the system does not tell."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return ""
    where, best, kind = path.resolve(), -1, ""
    for line in mounts:
        before, _, after = line.partition(" - ")
        point = Path(_unescape(before.split()[4]))
        # >=: of two mounts on one point the later one is seen.
        if where.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), after.split()[0]
    return kind


def _unescape(point: str) -> str:
    """A mount point as the kernel writes it, with octal escapes for white space and backslashes."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), point)
