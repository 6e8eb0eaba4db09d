"""`memoria status`: what each service's internal port says."""

from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

from memoria_chassis.settings import SERVICES
from memoria_cli.place import Place

_SNAPSHOT = (
    "asleep",
    "rebuilt",
    "restored",
    "snapshot_bytes",
    "unsaved_documents",
    "superseded_generations",
    "unrecorded_deletions",
    "incomplete_deletions",
)


def read(place: Place) -> dict[str, Any]:
    """The running instance as one document. Raises UNAVAILABLE where none runs."""
    running = place.running()
    services = {service: ask(Path(running.run_dir), service) for service in SERVICES}
    search, ingest = services["search"], services["ingest"]
    return {
        "url": running.url,
        "ready": all(found["ready"] for found in services.values()),
        "services": {name: {"ready": found["ready"], "pid": found.get("pid")} for name, found in services.items()},
        "sources": ingest.get("sources", []),
        "unproved": services["authz"].get("unproved", []),
        "index": {
            "documents": search.get("documents"),
            "chunks": search.get("chunks"),
            "bytes": search.get("index_bytes"),
            "generation": search.get("generation"),
            **{name: search.get(name) for name in _SNAPSHOT},
        },
        "assistant": "off",
    }


def ask(run_dir: Path, service: str) -> dict[str, Any]:
    """A service's own status, as its internal port has it; only that it is not ready where it cannot be had."""
    try:
        port = int((run_dir / f"{service}.port").read_text())
        found = httpx.get(f"http://127.0.0.1:{port}/status", timeout=5, trust_env=False).json()
        return dict(found)
    except (OSError, ValueError, TypeError, httpx.HTTPError):
        return {"ready": False}


def show(console: Console, found: dict[str, Any]) -> None:
    """For a terminal."""
    console.print(found["url"], markup=False)
    services = Table("service", "ready", "pid", box=None)
    for name, service in found["services"].items():
        services.add_row(name, "yes" if service["ready"] else "NO", str(service["pid"] or "–"))
    console.print(services)
    sources = Table("source", "state", "as of", "last failure", "owed", box=None)
    for source in found["sources"]:
        sources.add_row(
            source["app"],
            "paused" if source["paused"] else source["state"],
            source["as_of"] or "–",
            source["failure"] or "–",
            str(source["owed"]),
        )
    if found["sources"]:
        console.print(sources)
    for app in found["unproved"]:
        console.print(f"{app} is not asked: no report shows that it passed the conformance suite", markup=False)
    for line in _lines(found["index"]):
        console.print(line, markup=False)


def _lines(index: dict[str, Any]) -> list[str]:
    """What is to be said of the index: how much of it there is, and whatever is not as it should be."""
    held = f"{index['documents']} documents, {index['chunks']} chunks, {index['bytes']} bytes in RAM"
    lines = [f"index: {'asleep until somebody asks' if index['asleep'] else held}, generation {index['generation']}"]
    if index["rebuilt"]:
        lines.append(f"the index was made anew from sealed chunks: {index['rebuilt']}")
    if index["restored"]:
        lines.append("the database was put back from a backup: every app is read anew")
    if index["unrecorded_deletions"]:
        lines.append(f"{_deletions(index['unrecorded_deletions'])} not reached the bucket yet")
    if index["incomplete_deletions"]:
        lines.append(f"{_deletions(index['incomplete_deletions'])} not left every snapshot in the bucket yet")
    return lines


def _deletions(count: int) -> str:
    return f"{count} deletion has" if count == 1 else f"{count} deletions have"
