"""The demo: three sibling apps and a home over one written world, and the people in it."""

import json
import os
import socket
import sys
from dataclasses import dataclass

from memoria_cli.place import Place, write_private
from memoria_cli.up.provision import token
from memoria_conformance.world import packaged_world

APPS = ("calendar", "docs", "sheets")
_FIRST_PORT = 9101


@dataclass(frozen=True, slots=True)
class Helper:
    """A process of the demo, and how to reach it."""

    name: str
    port: int
    command: list[str]
    env: dict[str, str]


def wanted(place: Place, choice: bool | None, *, configured: bool) -> bool:
    """Whether the demo runs: as asked, otherwise on a data directory that is new or had it before, unless siblings are
    configured."""
    if choice is not None:
        return choice
    return not configured and (place.is_new() or (place.demo / "ports.json").exists())


def people() -> list[str]:
    """The addresses of the world's people, the first owner first."""
    return [person.address for person in packaged_world().people]


def helpers(place: Place, team: str, zone: str) -> list[Helper]:
    """The demo's processes, on the ports they had before where those are still free."""
    ports = _ports(place)
    made = []
    for app in APPS:
        env = {
            "MEMORIA_SIBLING_PULL_TOKEN": token(place, f"{app}.pull"),
            "MEMORIA_SIBLING_ASK_TOKEN": token(place, f"{app}.ask"),
            "MEMORIA_SIBLING_STATE_TOKEN": token(place, f"{app}.state"),
        }
        command = [sys.executable, "-m", "memoria_conformance.sibling", "--app", app, "--port", str(ports[app])]
        command += ["--db", str(place.demo / f"{app}.sqlite"), "--team", team, "--zone", zone]
        made.append(Helper(app, ports[app], command, _environment(env)))
    home = [sys.executable, "-m", "memoria_conformance.home", "--port", str(ports["home"])]
    made.append(Helper("home", ports["home"], home, _environment({"MEMORIA_HOME_TOKEN": token(place, "home")})))
    return made


def _environment(secrets: dict[str, str]) -> dict[str, str]:
    base = {name: value for name, value in os.environ.items() if not name.startswith("MEMORIA_")}
    return base | secrets | {"MEMORIA_LIFELINE": "1", "PYTHONUNBUFFERED": "1"}


def _ports(place: Place) -> dict[str, int]:
    path = place.demo / "ports.json"
    try:
        ports = {str(name): int(port) for name, port in json.loads(path.read_text()).items()}
    except (OSError, ValueError, AttributeError):
        ports = {}
    taken = {port for name, port in ports.items() if is_free(port)}
    candidate = _FIRST_PORT
    for name in (*APPS, "home"):
        if ports.get(name) in taken:
            continue
        while candidate in taken or not is_free(candidate):
            candidate += 1
        ports[name] = candidate
        taken.add(candidate)
    write_private(path, json.dumps(ports))
    return ports


def is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
