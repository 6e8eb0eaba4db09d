"""Scratch for plaintext index files: RAM-backed, this process's own, wiped before and after (TRU-03)."""

import hashlib
import os
import shutil
from pathlib import Path

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
