"""What `/status` says of search: counts and states, nothing that says what is held."""

from typing import Any

from memoria_search.library import Library


def report(library: Library) -> dict[str, Any]:
    """As JSON. An index that sleeps has no chunks to count."""
    snapshots, waiting = library.keeper.snapshots, library.keeper.tombstones.waiting
    manifest = snapshots.manifest
    return {
        "asleep": library.asleep,
        "documents": None if library.asleep else len(library.catalogue),
        "chunks": None if library.asleep else library.handle.index.chunks,
        "index_bytes": 0 if library.asleep else library.handle.index.size,
        "damaged_rows": library.damaged,
        "rebuilt": library.rebuilt,
        "restored": library.keeper.restored,
        "generation": manifest.generation if manifest else 0,
        "snapshot_bytes": sum(file.size for file in manifest.files) if manifest else 0,
        "uploaded_bytes": snapshots.uploaded,
        "unsaved_documents": library.checkpoints.changed,
        "superseded_generations": len(snapshots.superseded),
        "unrecorded_deletions": waiting,
        "incomplete_deletions": max(0, library.keeper.deletions - snapshots.completed),
    }
