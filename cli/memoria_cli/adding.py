"""`memoria add`: files and folders, one after the other on two connections, a line for each."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from memoria_chassis.errors import ServiceError
from memoria_cli.session import Session
from memoria_contract.limits import FILE_TOO_LARGE, MAX_FILE

_AT_ONCE = 2


def add(session: Session, paths: list[Path], *, quiet: bool) -> dict[str, Any]:
    """Upload everything named. Returns one entry a file, in order; a refusal does not keep the others out."""
    wanted = [found for path in paths for found in files_under(path)]
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    columns = (TextColumn("adding"), BarColumn(), MofNCompleteColumn())
    entries: list[dict[str, Any]] = []
    with Progress(*columns, console=console, disable=quiet or not console.is_terminal) as progress:
        task = progress.add_task("adding", total=len(wanted))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for entry in pool.map(lambda item: _add_one(session, *item), wanted):
                entries.append(entry)
                progress.advance(task)
                if not quiet:
                    progress.console.print(_line(entry), markup=False)
    refused = sum(1 for entry in entries if entry["error"])
    if not quiet:
        console.print(f"{len(entries) - refused} added, {refused} refused", markup=False)
    return {"added": len(entries) - refused, "refused": refused, "files": entries}


def files_under(path: Path) -> Iterator[tuple[Path, str]]:
    """(file, name to send) for a file or a folder's files, sorted; hidden ones and links that lead away are left."""
    if path.is_file():
        yield path, path.name
        return
    root = path.resolve()
    for found in sorted(path.rglob("*")):
        relative = found.relative_to(path)
        if any(part.startswith(".") for part in relative.parts) or not found.is_file():
            continue
        if found.resolve().is_relative_to(root):
            yield found, (Path(root.name) / relative).as_posix()


def _add_one(session: Session, file: Path, name: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"path": _readable(str(file)), "documents": [], "warnings": [], "error": None}
    try:
        if file.stat().st_size > MAX_FILE:
            # Said here, in the instance's words, rather than after sending it all.
            return entry | {"error": {"kind": "out_of_range", "message": FILE_TOO_LARGE}}
        return entry | session.post_file("/api/v1/documents", _readable(name), file)
    except ServiceError as error:
        return entry | {"error": {"kind": error.kind.value, "message": error.message}}
    except OSError:
        return entry | {"error": {"kind": "not_found", "message": "This file cannot be read here."}}


def _readable(name: str) -> str:
    """A name that can be sent and printed: a file's name is bytes, and may be none of UTF-8 (F19)."""
    return os.fsencode(name).decode("utf-8", "replace")


def _line(entry: dict[str, Any]) -> str:
    if entry["error"]:
        return f"refused  {entry['path']}: {entry['error']['message']}"
    warnings = "".join(f" ({warning})" for warning in entry["warnings"])
    return f"added    {entry['path']}{warnings}"
