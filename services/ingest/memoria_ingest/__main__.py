"""Start ingest."""

import os
from typing import Any

from memoria.intake.v1 import intake_pb2, intake_pb2_grpc
from memoria_chassis.process import Process, run_service
from memoria_chassis.secret import token_print
from memoria_chassis.sqlite import Database
from memoria_contract.connect_client import ConnectClient
from memoria_ingest.connectors.pushes import Pushes
from memoria_ingest.connectors.store import ConnectorStore
from memoria_ingest.convert.sandbox import Sandbox
from memoria_ingest.index_client import IndexClient
from memoria_ingest.orders_client import OrdersClient
from memoria_ingest.server import IntakeServer
from memoria_ingest.siblings.controls import Controls
from memoria_ingest.siblings.puller import Puller
from memoria_ingest.siblings.rounds import Rounds
from memoria_ingest.siblings.sibling_client import SiblingClient
from memoria_ingest.siblings.state import MIGRATIONS, SourceStore
from memoria_ingest.uploads import Uploads

_NICE = 5
_PATIENCE = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Seconds: search is up within one, mostly."""

SERVICE = intake_pb2.DESCRIPTOR.services_by_name["IntakeService"]


async def build(process: Process) -> None:
    """Config, dependencies, server; then wake: the first pull is due before anybody has searched (ING-03)."""
    # A page that somebody waits for goes before a pull or a conversion that nobody does; children inherit it.
    os.nice(_NICE)
    settings = process.settings
    database = Database.open(process.database_path(), MIGRATIONS)
    process.on_close(database.close)
    index = IndexClient(process.peer("search"))
    orders = OrdersClient(process.peer("authz"))
    store = SourceStore(database, process.key())
    pullers: list[Puller] = []
    clients: dict[str, ConnectClient] = {}
    for sibling in settings.sibling:
        client = ConnectClient(
            sibling.url,
            sibling.live("pull_token"),
            team=settings.team.label,
            zone=settings.team.zone,
            app=sibling.app,
        )
        process.on_close(client.close)
        clients[sibling.app] = client
        with_bodies = sibling.bodies if sibling.bodies is not None else sibling.app != "calendar"
        pullers.append(Puller(SiblingClient(sibling.app, client), index, store, process.clock, with_bodies=with_bodies))
    rounds = Rounds(pullers, orders, index.history, patience=_PATIENCE)
    process.on_close(rounds.close)
    server = process.serve_grpc("memoria_ingest", [SERVICE])
    sandbox = Sandbox()
    bounds = await sandbox.probe()
    uploads = Uploads(sandbox, index, process.key())
    controls = Controls(pullers, store, index, rounds)
    process.on_close(controls.close)
    pushes = Pushes(ConnectorStore(database, process.key(), process.clock), index, process.key())
    servicer = IntakeServer(uploads, index, rounds, pullers, controls, pushes)
    intake_pb2_grpc.add_IntakeServiceServicer_to_server(servicer, server)
    rounds.nudge()
    controls.go_on()

    async def status() -> dict[str, Any]:
        standing = [await puller.source() for puller in pullers]
        return {
            "sandbox": bounds,
            "tokens": {app: token_print(client.accepted) for app, client in clients.items() if client.accepted},
            "sources": [
                {
                    "app": source.app,
                    "state": source.state.value,
                    "as_of": source.as_of.isoformat() if source.as_of else None,
                    "tried_at": source.tried_at.isoformat() if source.tried_at else None,
                    "failure": source.failure or None,
                    "owed": owed,
                    "paused": stop is not None,
                }
                for source, owed, stop in standing
            ],
        }

    process.report(status)


if __name__ == "__main__":
    run_service("ingest", build)
