"""Start authz."""

from typing import Any

from memoria.gate.v1 import gate_pb2, gate_pb2_grpc
from memoria_authz.admission import LoneAdmission, SuiteAdmission
from memoria_authz.anomaly.counters import Counters
from memoria_authz.ask.bench import Asker, Bench
from memoria_authz.ask.report import UnprovedAsker, proved
from memoria_authz.ask.sibling_client import SiblingAsker
from memoria_authz.orders import WorkOrders
from memoria_authz.roster.home_client import HomeClient
from memoria_authz.roster.keeper import Keeper
from memoria_authz.roster.store import RosterStore
from memoria_authz.schema import MIGRATIONS
from memoria_authz.server import GateServer
from memoria_chassis import log
from memoria_chassis.process import Process, run_service
from memoria_chassis.secret import token_print
from memoria_chassis.sqlite import Database
from memoria_contract.connect_client import ConnectClient

SERVICE = gate_pb2.DESCRIPTOR.services_by_name["GateService"]


async def build(process: Process) -> None:
    """Config, dependencies, server."""
    settings = process.settings
    owners = LoneAdmission(settings.team.owners)
    database = Database.open(process.database_path(), MIGRATIONS)
    process.on_close(database.close)
    roster = await _roster(process, database)
    admission = SuiteAdmission(owners, roster) if roster else owners
    orders = WorkOrders(database, process.key())
    askers: dict[str, Asker] = {}
    clients: dict[str, ConnectClient] = {}
    for sibling in settings.sibling:
        client = ConnectClient(
            sibling.url,
            sibling.live("ask_token"),
            team=settings.team.label,
            zone=settings.team.zone,
            app=sibling.app,
        )
        process.on_close(client.close)
        if proved(sibling, settings.team.zone):
            clients[sibling.app] = client
            askers[sibling.app] = SiblingAsker(sibling.app, client)
        else:
            log.get_logger().warning("no report shows that this app passed S2: it is not asked", app=sibling.app)
            askers[sibling.app] = UnprovedAsker()
    counters = Counters(database, process.key(), process.clock, sorted(askers))
    await counters.open()
    process.on_close(counters.close)
    server = process.serve_grpc("memoria_authz", [SERVICE])
    gate_pb2_grpc.add_GateServiceServicer_to_server(
        GateServer(admission, Bench(admission, askers, orders, counters), orders, counters, roster), server
    )

    async def status() -> dict[str, Any]:
        return {
            "siblings": len(askers),
            "unproved": sorted(set(askers) - set(clients)),
            "owners": len(settings.team.owners),
            "open_orders": await orders.count(),
            "tokens": {app: token_print(client.accepted) for app, client in clients.items() if client.accepted},
        }

    process.report(status)


async def _roster(process: Process, database: Database) -> Keeper | None:
    """The roster, pulled once before the first question; None without a home (AUT-15)."""
    home, team = process.settings.roster_home, process.settings.team
    if home is None:
        return None
    client = ConnectClient(home.url, home.live("token"), team=team.label, zone=team.zone, app="home")
    process.on_close(client.close)
    keeper = Keeper(HomeClient(client), RosterStore(database, process.key()), process.clock)
    process.on_close(keeper.close)
    await keeper.wake()
    return keeper


if __name__ == "__main__":
    run_service("authz", build)
