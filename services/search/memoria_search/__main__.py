"""The recipe of search: config, store, index, authz, server."""

import asyncio
from datetime import timedelta
from typing import Any

from memoria.index.v1 import index_pb2
from memoria.index.v1.index_pb2_grpc import add_IndexServiceServicer_to_server
from memoria_chassis.bucket import open_bucket
from memoria_chassis.process import Process, run_service
from memoria_chassis.sqlite import Database
from memoria_search.assembly import assemble
from memoria_search.attendant import Attendant, Habits
from memoria_search.authz_client import AuthzClient
from memoria_search.corpus.schema import MIGRATIONS
from memoria_search.gate import Gate
from memoria_search.index.analysis import ANALYSER_VERSION, warm
from memoria_search.index.scratch import directory_for, must_be_ram
from memoria_search.report import report
from memoria_search.retrieve.candidates import Retriever
from memoria_search.search import Searcher
from memoria_search.server import IndexServer


async def build(process: Process) -> None:
    """Put the service together. The index is built before anything is served."""
    settings = process.settings
    bucket = open_bucket(settings.bucket.url or (settings.data.dir / "bucket").absolute().as_uri())
    await bucket.probe()  # one that could not fence two pods from each other is refused (AMD-10)
    must_be_ram(settings.data.scratch_dir, on_disk=settings.data.scratch_on_disk)

    database = Database.open(process.database_path(), MIGRATIONS)
    process.on_close(database.close)
    library = await assemble(
        database,
        bucket,
        process.key(),
        clock=process.clock,
        kept=timedelta(days=settings.bucket.backup_retention_days),
        scratch=directory_for(settings.data.scratch_dir, process.database_path()),
        on_failure=process.stopping.set,
    )
    process.on_close(library.close)
    words = asyncio.create_task(asyncio.to_thread(warm))  # or the first search would load them, out of its own second
    await library.open()
    await words
    attendant = Attendant(library, Habits(settings.index.snapshot_quiet_seconds, settings.index.idle_seconds))
    process.on_close(attendant.close)
    attendant.start()

    arbiter = AuthzClient(process.peer("authz"))
    gate = Gate(arbiter, library.store, library.catalogue, library.sources, lambda: library.damaged)
    retriever = Retriever([library], library.catalogue, library.sources)
    searcher = Searcher(lambda: library.handle.analyser, retriever, gate)

    server = process.serve_grpc("memoria_search", index_pb2.DESCRIPTOR.services_by_name.values())
    add_IndexServiceServicer_to_server(IndexServer(library, gate, searcher), server)

    async def ready() -> bool:
        return library.ready

    async def status() -> dict[str, Any]:
        return {"analyser": ANALYSER_VERSION, **report(library)}

    process.check_ready(ready)
    process.report(status)


if __name__ == "__main__":
    run_service("search", build)
