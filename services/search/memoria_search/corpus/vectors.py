"""Vectors at rest: one sealed row a chunk and space, written only for chunks that are there."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoria_chassis.aead import SealError
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.sqlite import Database
from memoria_search.corpus import rows, vector_rows
from memoria_search.corpus.model import Metadata
from memoria_search.corpus.schema import key_range
from memoria_search.corpus.vault import Vault
from memoria_search.corpus.vector_rows import Place, text_of
from memoria_search.index.schema import ORDINAL_BITS
from memoria_search.index.vectors.quantise import Quantised, check_unit
from memoria_search.index.vectors.space import Space


@dataclass(frozen=True, slots=True)
class Pending:
    """A chunk without a vector, and the text to make one of. No text: the chunk does not open."""

    place: Place
    text: str | None


@dataclass(frozen=True, slots=True)
class Loaded:
    """Vectors as they were stored, by key."""

    places: list[Place]
    made: Quantised


class VectorStore:
    """The vectors of one space."""

    def __init__(self, database: Database, vault: Vault, space: Space, number: int) -> None:
        self._database = database
        self._vault = vault
        self.space = space
        self._number = number

    @classmethod
    async def open(cls, database: Database, vault: Vault, space: Space) -> "VectorStore":
        """The store of `space`, entered if it is new. Raises PRECONDITION where vectors were sealed under another key:
        what does not open later is then damage, and may be deleted."""

        def enter(db: sqlite3.Connection) -> int:
            for number, held in vector_rows.spaces(db, vault).items():
                if held == space:
                    return number
            [number] = db.execute("SELECT coalesce(max(id), 0) + 1 FROM spaces").fetchone()
            sealed = vault.seal_text("vector space", "spaces", str(number), "description", space.description)
            db.execute("INSERT INTO spaces (id, description, width) VALUES (?, ?, ?)", (number, sealed, space.width))
            return number

        return cls(database, vault, space, await database.write(enter))

    async def insert(self, places: Sequence[Place], made: Quantised) -> list[int]:
        """Store vectors, all or none; the positions of those whose chunk is still there, which are the ones stored.

        Raises INVALID for what is not a unit vector of this space (IDX-05).
        """
        check_unit(made, self.space.width)
        if len(places) != len(made):
            raise ServiceError(Kind.INVALID, "each vector is of one chunk")

        def change(db: sqlite3.Connection) -> list[int]:
            there = [at for at, place in enumerate(places) if vector_rows.is_there(db, place)]
            db.executemany(
                "INSERT INTO vectors (space, key, sealed) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET"
                " sealed = excluded.sealed",
                (
                    (
                        self._number,
                        places[at].key,
                        vector_rows.seal(self._vault, self.space, places[at], made.rows[at], made.scales[at]),
                    )
                    for at in there
                ),
            )
            return there

        return await self._database.write(change)

    async def load_document(self, number: int) -> Loaded:
        """All vectors of one document."""
        return await self._load("v.key BETWEEN ? AND ? ORDER BY v.key", key_range(number))

    async def load_keys(self, keys: Sequence[int]) -> Loaded:
        """The vectors of these keys that are there; at most 10,000 keys."""
        marks = ", ".join("?" * len(keys))
        return await self._load(f"v.key IN ({marks}) ORDER BY v.key", tuple(keys))

    async def _load(self, where: str, values: tuple[int, ...]) -> Loaded:
        """A row that does not open is deleted, so that the backfill makes it anew. `where` is this module's own."""
        select = (
            "SELECT v.key, d.id, d.app, v.sealed FROM vectors v JOIN documents d"  # noqa: S608 - see above
            f" ON d.number = v.key >> {ORDINAL_BITS} WHERE v.space = ? AND {where}"
        )
        loaded, damaged = await self._database.read(lambda db: self._open(db.execute(select, (self._number, *values))))
        if damaged:
            await self._database.write(
                lambda db: db.executemany(
                    "DELETE FROM vectors WHERE space = ? AND key = ?", ((self._number, key) for key in damaged)
                )
            )
        return loaded

    def _open(self, found: Iterable[tuple]) -> tuple[Loaded, list[int]]:
        places: list[Place] = []
        damaged: list[int] = []
        packed: list[bytes] = []
        for key, document_id, app, sealed in found:
            place = Place(key, document_id, app)
            try:
                plain = vector_rows.unseal(self._vault, self.space, place, sealed)
            except SealError:
                damaged.append(key)
                continue
            places.append(place)
            packed.append(plain)
        return Loaded(places, vector_rows.unpack(packed, self.space.width)), damaged

    async def keys(self) -> NDArray[np.int64]:
        """Every key that has a vector, ascending: int64 [n]."""

        def read(db: sqlite3.Connection) -> NDArray[np.int64]:
            found = db.execute("SELECT key FROM vectors WHERE space = ? ORDER BY key", (self._number,))
            return np.fromiter((key for (key,) in found), np.int64)

        return await self._database.read(read)

    async def missing(self, limit: int, after: int = -1) -> list[Pending]:
        """The next chunks without a vector, by key, above `after`. Newer revisions have higher keys, so one walk
        upwards meets everything that was there when it began, and what came in since."""

        def read(db: sqlite3.Connection) -> list[Pending]:
            found = db.execute(
                f"SELECT c.key, d.id, d.app, c.trail, c.text FROM chunks c JOIN documents d"  # noqa: S608 - constant
                f" ON d.number = c.key >> {ORDINAL_BITS} LEFT JOIN vectors v ON v.space = ? AND v.key = c.key"
                " WHERE c.key > ? AND v.key IS NULL ORDER BY c.key LIMIT ?",
                (self._number, after, limit),
            ).fetchall()
            about: dict[int, Metadata | None] = {}
            return [self._pending(db, about, Place(*named), trail, text) for *named, trail, text in found]

        return await self._database.read(read)

    def _pending(
        self, db: sqlite3.Connection, about: dict[int, Metadata | None], place: Place, trail: bytes, text: bytes
    ) -> Pending:
        number = place.key >> ORDINAL_BITS
        if number not in about:
            about[number] = vector_rows.or_none(
                lambda: vector_rows.metadata(db, self._vault, place.document_id, number)
            )
        chunk = vector_rows.or_none(lambda: rows.open_chunk(self._vault, place.row, trail, text))
        told = about[number]
        return Pending(place, None if chunk is None or told is None else text_of(told, chunk))
