"""A search service without its wire: a store in a temporary folder, an index, an arbiter that rules as it is told."""

import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from watched_bucket import WatchedBucket, as_it_is

from memoria_chassis.bucket import open_bucket
from memoria_chassis.clock import FakeClock
from memoria_chassis.keys import ServiceKey
from memoria_chassis.sqlite import Database
from memoria_contract.types import ItemId, Revision, Subject, SubjectKind
from memoria_search.assembly import assemble
from memoria_search.corpus.model import (
    Chunk,
    DocumentRef,
    Metadata,
    NewDocument,
    SiblingOrigin,
    Source,
    SourceState,
    UploadOrigin,
)
from memoria_search.corpus.schema import MIGRATIONS
from memoria_search.gate import Gate, SpokenDocument
from memoria_search.index.vectors.space import Embedder
from memoria_search.notices import Notice
from memoria_search.retrieve.candidates import Retriever
from memoria_search.retrieve.dense import Dense
from memoria_search.ruling import SPEAK, Claim, OwnedClaim, ProbeClaim, Ruling, SiblingClaim
from memoria_search.search import Found, Searcher

ANN = Subject(SubjectKind.ADDRESS, "ann@example.test")


class FakeArbiter:
    """Rules as told, by item id or document id; what it was not told about it speaks."""

    def __init__(self) -> None:
        self.rulings: dict[str, Ruling] = {}
        self.asked: list[list[Claim]] = []
        self.subjects: list[Subject] = []
        self.spoil: Callable[[list[Ruling]], Sequence[Ruling]] = lambda rulings: rulings

    async def rule(self, subject: Subject, claims: Sequence[Claim]) -> Sequence[Ruling]:
        """One round."""
        self.subjects.append(subject)
        self.asked.append(list(claims))
        return self.spoil([self.rulings.get(self._name(claim), SPEAK) for claim in claims])

    @staticmethod
    def _name(claim: Claim) -> str:
        match claim:
            case SiblingClaim(_, item_id, _):
                return item_id
            case OwnedClaim(document_id, _):
                return document_id
            case ProbeClaim(app):
                return f"/{app}"


class House:
    """Everything of one instance, restartable."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "data" / "search.db"
        self.arbiter = FakeArbiter()
        self.key = ServiceKey(b"k" * 32)
        self.clock = FakeClock()
        self.kept = timedelta(days=30)
        self.unfit = 0
        self.scratch = "scratch"
        self.embedder: Embedder | None = None

    def open_bucket(self) -> WatchedBucket:
        """The bucket, which lies beside the database; a new one at each start, without faults."""
        return WatchedBucket(open_bucket((self.folder / "bucket").as_uri()))

    def stored(self, prefix: str = "snapshot/") -> set[str]:
        """The names of the objects in the bucket that begin so."""
        root = self.folder / "bucket"
        names = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
        return {name for name in names if name.startswith(prefix)}

    def backup(self, name: str = "backup.db") -> Path:
        """A copy of the database as a replica would hold it now."""
        copy = self.folder / name
        copy.parent.mkdir(exist_ok=True)
        with sqlite3.connect(self.path) as source, sqlite3.connect(copy) as target:
            source.backup(target)
        return copy

    def put_back(self, copy: Path) -> None:
        """Put an older database in place of the one there. The house must be stopped."""
        for path in self.path.parent.glob(f"{self.path.name}*"):
            path.unlink()
        shutil.copy(copy, self.path)

    async def saved(self) -> Path:
        """A copy of the database as of a stop; the house goes on after it."""
        await self.stop()
        copy = self.backup()
        await self.start()
        return copy

    async def go_back(self, copy: Path) -> None:
        """Stop, and start from an older database."""
        await self.stop()
        self.put_back(copy)
        await self.start()

    def another(self, name: str = "other") -> "House":
        """A second instance, not started: on this one's bucket and clock, with a copy of the database of now."""
        other = House(self.folder)
        other.path, other.scratch = self.backup(f"{name}/search.db"), f"scratch-{name}"
        other.clock, other.kept = self.clock, self.kept
        return other

    async def killed(self) -> None:
        """Stop without a last generation."""
        self.library.checkpoints.changed = 0
        await self.stop()

    async def start(self) -> None:
        """Open the store and wake the index."""
        self.database = Database.open(self.path, MIGRATIONS)
        try:
            self.bucket = self.open_bucket()
            self.library = await assemble(
                self.database,
                self.bucket,
                self.key,
                clock=self.clock,
                kept=self.kept,
                scratch=self.folder / self.scratch,
                on_failure=self._unfit,
                embedder=self.embedder,
            )
            self.store, self.sources = self.library.store, self.library.sources
            self.snapshots = self.library.keeper.snapshots
            await self.library.open()
        except BaseException:
            self.database.close()
            raise
        self.gate = Gate(self.arbiter, self.store, self.library.catalogue, self.sources)
        dense, vectors = None, self.library.vectors
        if self.embedder and vectors:
            dense = Dense(self.embedder, lambda: vectors.index, lambda: self.library.handle.index.chunks)
        retriever = Retriever([self.library], self.library.catalogue, self.sources, dense)
        self.searcher = Searcher(lambda: self.library.handle.analyser, retriever, self.gate)

    def _unfit(self) -> None:
        self.unfit += 1

    async def stop(self) -> None:
        """Close everything."""
        self.bucket.around = as_it_is
        await self.library.close()
        self.database.close()

    async def restart(self) -> None:
        """Stop and start."""
        await self.stop()
        await self.start()

    async def item(
        self, item: str, text: str = "the budget", *, app: str = "docs", revision: str = "1", title: str = "A title"
    ) -> DocumentRef:
        """Store a sibling's item of one chunk per paragraph."""
        origin = SiblingOrigin(app, ItemId(item), Revision(revision))
        ref, _ = await self.library.put(NewDocument(origin, Metadata(title=title, trail=("Folder",)), chunks(text)))
        return ref

    async def upload(self, body: str, part: int = 0, parts: int = 1, *, title: str = "A file") -> DocumentRef:
        """Store an upload; the same first paragraph is the same body."""
        origin = UploadOrigin(body.partition("\n\n")[0].encode().ljust(32, b"\0")[:32], part, parts)
        ref, _ = await self.library.put(NewDocument(origin, Metadata(title=title), chunks(body)))
        return ref

    async def source(self, app: str, state: SourceState) -> None:
        """State how a source stands."""
        await self.sources.put(Source(app, state, None))

    async def search(self, query: str, page: int = 1, size: int = 50, subject: Subject = ANN) -> Found:
        """One search."""
        async with self.library.awake():
            return await self.searcher.search(subject, query, page, size)

    async def ids(self, query: str, page: int = 1, size: int = 50) -> list[str]:
        """The ids of the documents of one page."""
        return [row.passage.document_id for row in (await self.search(query, page, size)).rows]

    async def document(self, document_id: str) -> SpokenDocument | Notice:
        """One document, through the gate."""
        async with self.library.awake():
            return await self.gate.document(ANN, document_id)


def chunks(text: str) -> tuple[Chunk, ...]:
    """A chunk for each paragraph."""
    return tuple(Chunk(("Heading",), part) for part in text.split("\n\n"))


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """A running house."""
    made = House(tmp_path)
    await made.start()
    yield made
    await made.stop()
