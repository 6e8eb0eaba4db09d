"""Docs that cannot lie: every RPC, setting, route, error kind, command and decision stands in docs/."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from memoria.extract.v1 import extract_pb2
from memoria.gate.v1 import gate_pb2
from memoria.home.v1 import home_pb2
from memoria.index.v1 import index_pb2
from memoria.intake.v1 import intake_pb2
from memoria.sibling.v1 import sibling_pb2
from memoria_chassis.config import SHORT, Settings
from memoria_chassis.errors import Kind
from memoria_gateway.app import make_app
from memoria_gateway.route_table import TABLE, mounted

ROOT = Path(__file__).resolve().parents[2]
DOCS = {path.relative_to(ROOT / "docs").as_posix(): path.read_text() for path in (ROOT / "docs").rglob("*.md")}


def test_every_rpc_is_described() -> None:
    """docs/contract.md names each call by its full name."""
    for module in (sibling_pb2, home_pb2, gate_pb2, index_pb2, intake_pb2, extract_pb2):
        for service in module.DESCRIPTOR.services_by_name.values():
            for method in service.methods:
                assert f"`{service.name}/{method.name}`" in DOCS["contract.md"], method.full_name


def keys_of_settings() -> list[str]:
    """Each setting as it stands in the file: section.key."""
    found = []
    for section, field in Settings.model_fields.items():
        kinds = [field.annotation, *getattr(field.annotation, "__args__", ())]
        model = next(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel))
        found += [f"{section}.{key}" for key in model.model_fields]
    return found


def test_every_setting_is_described() -> None:
    """docs/configuration.md names each key and each short variable, and none that does not exist."""
    text = DOCS["configuration.md"]
    keys = keys_of_settings()
    for key in keys:
        assert f"`{key}`" in text, key
    for variable in SHORT:
        assert f"`{variable}`" in text, variable
    sections = "|".join(Settings.model_fields)
    named = set(re.findall(rf"`((?:{sections})\.[a-z0-9_]+)`", text))
    assert named == set(keys)


def test_every_error_kind_is_described() -> None:
    """docs/api.md says what each kind means and which status it comes with."""
    for kind in Kind:
        assert f"`{kind.value}`" in DOCS["api.md"], kind


def test_every_route_is_described() -> None:
    """docs/routes.md lists method, path and gates of what is really mounted, and nothing else (SRF-01)."""
    desk: Any = SimpleNamespace(origin="http://localhost:8080", renderer=None)
    process: Any = SimpleNamespace(settings=Settings(), activity=None)
    told = re.findall(r"^\| ([A-Z]+) \| `([^`]+)` \| ([^|]+) \|$", DOCS["routes.md"], re.MULTILINE)
    assert {(method, path) for method, path, _ in told} == set(mounted(make_app(desk, process).routes))
    assert set(told) == {(row.method, row.path, ", ".join(row.gates)) for row in TABLE}


def test_every_decision_is_listed() -> None:
    """docs/adr/README.md lists each record once."""
    records = {name.removeprefix("adr/") for name in DOCS if re.match(r"adr/\d{4}-", name)}
    assert records
    assert set(re.findall(r"\]\((\d{4}-[a-z0-9-]+\.md)\)", DOCS["adr/README.md"])) == records


@pytest.mark.parametrize("name", ["README.md", *(f"docs/{name}" for name in DOCS)])
def test_links_between_pages_lead_somewhere(name: str) -> None:
    """A relative link names a file that exists."""
    path = ROOT / name
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text()):
        if not re.match(r"[a-z]+:", target):
            assert (path.parent / target).exists(), target


def test_the_readme_says_first_what_leaves() -> None:
    """TRU-14: the claims of the shipped build stand in the README's first paragraphs."""
    opening = " ".join((ROOT / "README.md").read_text().split("\n## ")[0].split())
    for claim in ("sealed", "every app's", "no document leaves", "asked", "as trustworthy as", "until someone deletes"):
        assert claim in opening, claim
    assert "nothing leaves" not in opening.lower()
