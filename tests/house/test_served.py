"""Which processes listen, and with what: nothing that a sibling or the home could dial, and nothing unseen (G17)."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for folder in ("libs", "services", "cli")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "libs/contract/memoria/" not in path.as_posix()
}
_REGISTERED = re.compile(r"(?<!import )add_(\w+)Servicer_to_server")
_LISTENS = re.compile(
    r"grpc\.(?:aio\.)?server\(|add_generic_rpc_handlers|add_registered_method_handlers|Starlette\(|uvicorn\.(?:Server|Config|run)"
    r"|start_(?:unix_)?server\(|create_(?:unix_)?server\(|socketserver|http\.server|\.listen\("
)


def test_each_process_serves_one_grpc_service() -> None:
    """Whatever is registered anywhere; and none of it is for a sibling or for the home (CON-20).

    Broken to see it red: a second service registered in extract's start.
    """
    registered = {(name, service) for name, text in SOURCES.items() for service in _REGISTERED.findall(text)}
    assert registered == {
        ("services/authz/memoria_authz/__main__.py", "GateService"),
        ("services/extract/memoria_extract/__main__.py", "ExtractService"),
        ("services/ingest/memoria_ingest/__main__.py", "IntakeService"),
        ("services/search/memoria_search/__main__.py", "IndexService"),
    }


def test_servers_are_made_in_few_places() -> None:
    """The guarded gRPC server, the one HTTP server, and the two apps on it: the gateway's, and each pod's internal one.

    Broken to see it red: `asyncio.start_server` in a service.
    """
    assert {name for name, text in SOURCES.items() if _LISTENS.search(text)} == {
        "libs/chassis/memoria_chassis/internal.py",
        "libs/chassis/memoria_chassis/rpc/server.py",
        "services/gateway/memoria_gateway/app.py",
    }


def test_the_contract_with_siblings_is_only_called() -> None:
    """memoria dials siblings and the home and is dialled by none of them: only the conformance kit serves those calls.

    Broken to see it red: `connect_app` imported by a service.
    """
    assert [name for name, text in SOURCES.items() if name.startswith("services/") and "connect_server" in text] == []
