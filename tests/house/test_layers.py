"""Imports run downward only, and generated messages stay at the edges."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path
    for folder in ("libs", "services", "conformance", "cli")
    for path in (ROOT / folder).rglob("*.py")
    if "libs/contract/memoria/" not in path.as_posix()
)


def test_import_contracts_hold() -> None:
    """Broken to see red: `import memoria_search` in a file of memoria_gateway."""
    linter = Path(sys.executable).parent / "lint-imports"
    ended = subprocess.run([str(linter)], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout


def imported(path: Path) -> set[str]:
    """The modules a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def may_know_the_wire(path: Path) -> bool:
    """Files whose name says that they stand at an edge."""
    stem = path.stem
    if path.parent.name in {"kit", "steps", "mutants"} and "memoria_conformance" in path.parts:
        return True  # a conformance suite, and what it must catch, are about the wire: nothing is behind that edge
    return stem in {"wire", "__main__"} or stem.endswith(("server", "client")) or stem.startswith("connect_")


def test_generated_messages_are_imported_at_the_edges_only() -> None:
    """Rankers, gates and recognisers know plain types. Broken to see red: index_pb2 imported in gate.py."""
    at_edges = [path for path in SOURCES if any(name.startswith("memoria.") for name in imported(path))]
    assert at_edges  # the test sees such imports at all
    assert [str(path.relative_to(ROOT)) for path in at_edges if not may_know_the_wire(path)] == []


def test_only_one_file_touches_aesgcm() -> None:
    """Sealing has one place to review."""
    users = [path.relative_to(ROOT).as_posix() for path in SOURCES if "AESGCM" in path.read_text()]
    assert users == ["libs/chassis/memoria_chassis/aead.py"]


_DIALERS = {
    "libs/chassis/memoria_chassis/bucket.py",  # the configured bucket
    "libs/chassis/memoria_chassis/rpc/client.py",  # our own services
    "libs/contract/memoria_contract/connect_client.py",  # siblings and the home, by the host rule
    "libs/contract/memoria_contract/resolver.py",  # and how their names resolve
    "services/gateway/memoria_gateway/mail.py",  # the configured mail server
    "services/gateway/memoria_gateway/classifier/fetch.py",  # an admitted address's domain, where that is switched on
    "services/gateway/memoria_gateway/classifier/lookup.py",
    "conformance/memoria_conformance/kit/http_client.py",  # the sibling under test, at the URL its developer gave
    "conformance/memoria_conformance/kit/hook_client.py",  # and its state hook
    "cli/memoria_cli/app.py",  # the person's own instance
    "cli/memoria_cli/door.py",
    "cli/memoria_cli/session.py",
    "cli/memoria_cli/status_view.py",
    "cli/memoria_cli/tokens/rows.py",  # the demo apps
    "cli/memoria_cli/up/demo.py",
    "cli/memoria_cli/up/supervisor.py",
}
_DIALLING = {"aiohttp", "httpx", "requests", "urllib.request", "urllib3", "http.client", "websockets", "obstore"}
_DIALLING |= {"aiosmtplib", "smtplib", "ftplib", "socket", "dns"}


def test_only_the_listed_files_can_dial() -> None:
    """Every way out is on one list (EGR-10). Broken to see red: `import httpx` in a renderer."""
    found = {
        path.relative_to(ROOT).as_posix()
        for path in SOURCES
        if any(name.partition(".")[0] in _DIALLING or name in _DIALLING for name in imported(path))
        or re.search(r"open_connection|create_connection|secure_channel\(", path.read_text())
    }
    assert found == _DIALERS


@pytest.mark.parametrize("service", ["gateway", "search", "authz", "ingest", "extract"])
def test_a_recipe_stays_a_recipe(service: str) -> None:
    """An entry point is config, dependencies, server, serve: under 120 lines, one `build`."""
    source = (ROOT / "services" / service / f"memoria_{service}" / "__main__.py").read_text()
    assert len(source.splitlines()) < 120
    assert source.count("async def build(") == 1
