"""The ledger tells the truth: every named test exists, and nothing is marked implemented without one."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "docs/requirements").glob("*.yaml"))
ENTRIES = [(path.name, entry) for path in FILES for entry in yaml.safe_load(path.read_text())]
STATUSES = {"implemented", "partial"}
_KEY = re.compile(r"(RUL|TRU|CON|AUT|ING|IDX|RET|EGR|ANS|NUM|FBX|MOD|SRF|DEP|TST|CNF|AMD)-\d\d[a-z]?|G\d\d")


@cache
def named_in(path: Path) -> frozenset[str]:
    """The test functions of a file, those in classes included."""
    tree = ast.parse(path.read_text())
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    )


def test_the_ledger_has_entries() -> None:
    """Presence first."""
    assert len(ENTRIES) > 50


@pytest.mark.parametrize(("file", "entry"), ENTRIES, ids=[entry["key"] for _, entry in ENTRIES])
def test_an_entry_is_whole_and_its_tests_exist(file: str, entry: dict[str, Any]) -> None:
    """Key, one sentence of our own, status, tests; what is partial says what is missing."""
    assert _KEY.fullmatch(entry["key"]), entry["key"]
    assert entry["status"] in STATUSES
    assert entry["says"].strip().endswith(".")
    assert entry["tests"], "nothing shows it"
    if entry["status"] == "partial":
        assert entry["missing"].strip().endswith(".")
    for named in entry["tests"]:
        path, _, name = named.partition("::")
        assert (ROOT / path).is_file(), named
        assert name in named_in(ROOT / path), named


def test_no_key_stands_twice() -> None:
    """One key, one entry."""
    keys = [entry["key"] for _, entry in ENTRIES]
    assert len(keys) == len(set(keys)), sorted(key for key in keys if keys.count(key) > 1)
