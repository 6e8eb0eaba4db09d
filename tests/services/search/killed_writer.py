"""A writer that is killed: puts, replaces, deletes, saves, retires and drops as fast as it can, and tells what was
acknowledged. Run in a process of its own by test_kill.py, over the service's own parts."""

import asyncio
import os
import random
from datetime import timedelta
from pathlib import Path

from memoria_chassis.bucket import open_bucket
from memoria_chassis.clock import SystemClock
from memoria_chassis.keys import ServiceKey
from memoria_chassis.sqlite import Database
from memoria_search.assembly import assemble
from memoria_search.attendant import Attendant, Habits
from memoria_search.corpus.model import Chunk, Metadata, NewDocument, UploadOrigin
from memoria_search.corpus.schema import MIGRATIONS
from memoria_search.library import Library

KEY = ServiceKey(b"k" * 32)
WORDS = [f"{a}{b}" for a in ("ba", "de", "fi", "go", "ku", "la", "me", "no", "pi", "ru") for b in ("ran", "tel", "sim")]


async def open_library(folder: Path) -> tuple[Library, Database]:
    """A library, awake, over the database and the bucket in `folder`; superseded generations go at once."""
    database = Database.open(folder / "data" / "search.db", MIGRATIONS)
    library = await assemble(
        database,
        open_bucket((folder / "bucket").as_uri()),
        KEY,
        clock=SystemClock(),
        kept=timedelta(0),
        scratch=folder / "scratch",
        on_failure=lambda: os._exit(7),
    )
    await library.open()
    return library, database


def body_of(name: str, version: int) -> tuple[str, ...]:
    """The chunks of a document: words that others share, and two that only this version has."""
    draw = random.Random(f"{name}/{version}")
    shared = [" ".join(draw.choices(WORDS, k=draw.randint(5, 40))) for _ in range(draw.randint(1, 3))]
    return (f"{name} {name}v{version} {shared[0]}", *shared[1:])


def document_of(name: str, version: int) -> NewDocument:
    """A version of a document."""
    chunks = tuple(Chunk(("Heading",), text) for text in body_of(name, version))
    return NewDocument(UploadOrigin(name.encode().ljust(32, b"\0"), 0, 1), Metadata(title=f"About {name}"), chunks)


async def _write(folder: Path, told: Path, seed: int, known: dict[str, str]) -> None:
    told_to = os.open(told, os.O_WRONLY | os.O_APPEND)
    library, _ = await open_library(folder)
    attendant = Attendant(library, Habits(quiet=0.02, idle=0.4))
    attendant.start()
    draw, ids, version = random.Random(seed), dict(known), 0

    def tell(*line: object) -> None:
        os.write(told_to, (" ".join(map(str, line)) + "\n").encode())

    async def one(worker: int) -> None:
        nonlocal version
        while True:
            version += 1
            mine = [name for name in ids if int(name[3:]) % 3 == worker]
            if mine and draw.random() < 0.25:
                name = draw.choice(mine)
                document_id = ids.pop(name)
                tell("deleting", name)
                await library.delete(document_id)
                tell("deleted", name)
            else:
                name = draw.choice(mine) if mine and draw.random() < 0.4 else f"doc{draw.randrange(10**6) * 3 + worker}"
                number = seed * 10_000 + version
                tell("putting", name, number)
                ref, _ = await library.put(document_of(name, number))
                ids[name] = ref.document_id
                tell("put", name, number, ref.document_id)
            if draw.random() < 0.1:
                await asyncio.sleep(0.03)  # lets the attendant come to it
            if draw.random() < 0.02:
                await library.snapshot()

    await asyncio.gather(*(one(worker) for worker in range(3)))


def write(folder: str, told: str, seed: int, known: dict[str, str]) -> None:
    """Write until killed. `told`: the file that acknowledgements go to. `known`: name to id of what is there."""
    asyncio.run(_write(Path(folder), Path(told), seed, known))
