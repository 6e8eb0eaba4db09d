"""The recipe of search: config, store, index, authz, server."""

from typing import Any

from memoria.index.v1 import index_pb2
from memoria.index.v1.index_pb2_grpc import add_IndexServiceServicer_to_server
from memoria_chassis.bucket import open_bucket
from memoria_chassis.process import Process, run_service
from memoria_chassis.sqlite import Database
from memoria_search.authz_client import AuthzClient
from memoria_search.corpus.schema import MIGRATIONS
from memoria_search.corpus.sources import Sources
from memoria_search.corpus.store import Store
from memoria_search.corpus.vault import Vault
from memoria_search.gate import Gate
from memoria_search.index.analysis import ANALYSER_VERSION
from memoria_search.index.scratch import directory_for
from memoria_search.library import Library
from memoria_search.retrieve.candidates import Retriever
from memoria_search.search import Searcher
from memoria_search.server import IndexServer


async def build(process: Process) -> None:
    """Put the service together. The index is built before anything is served."""
    # Nothing is kept in the bucket yet; one that could not fence two pods from each other is refused all the same,
    # before a corpus grows beside it (AMD-10).
    settings = process.settings
    await open_bucket(settings.bucket.url or (settings.data.dir / "bucket").absolute().as_uri()).probe()

    database = Database.open(process.database_path(), MIGRATIONS)
    process.on_close(database.close)
    store, sources = Store(database, Vault(process.key()), process.clock), Sources(database)

    scratch = directory_for(process.settings.data.scratch_dir, process.database_path())
    library = Library(store, sources, scratch, on_failure=process.stopping.set)
    process.on_close(library.close)
    await library.build()

    gate = Gate(AuthzClient(process.peer("authz")), store, library.catalogue, sources, lambda: library.damaged)
    retriever = Retriever([library.index], library.catalogue, sources)
    searcher = Searcher(library.analyser, retriever, gate)

    server = process.serve_grpc("memoria_search", index_pb2.DESCRIPTOR.services_by_name.values())
    add_IndexServiceServicer_to_server(IndexServer(library, gate, searcher), server)

    async def ready() -> bool:
        return library.ready

    async def status() -> dict[str, Any]:
        return {
            "documents": len(library.catalogue),
            "chunks": library.index.chunks,
            "index_bytes": library.index.size,
            "generation": 0,
            "damaged_rows": library.damaged,
            "analyser": ANALYSER_VERSION,
        }

    process.check_ready(ready)
    process.report(status)


if __name__ == "__main__":
    run_service("search", build)
