"""docs/siblings cannot lie: its code is in the files, its commands are there, and they end as it says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
SIBLINGS = ROOT / "conformance/siblings"
PYTHON, NODE = ((ROOT / "docs/siblings" / name).read_text() for name in ("README.md", "node.md"))
TOKENS = {"MEMORIA_PULL_TOKEN": "pull", "MEMORIA_ASK_TOKEN": "ask", "MEMORIA_STATE_TOKEN": "state"}


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("page", "language", "pattern"), [(PYTHON, "python", "*.py"), (NODE, "js", "*.mjs")])
def test_what_the_pages_show_is_in_the_files(page: str, language: str, pattern: str) -> None:
    """Word for word. Broken on 2026-11-30 to see red: an argument of `rule` renamed in tiny.py."""
    files = [path.read_text() for folder in ("python", "node") for path in (SIBLINGS / folder).glob(pattern)]
    shown = blocks(page, language)
    assert shown
    for block in shown:
        assert any(block in text for text in files), block


@pytest.mark.parametrize("page", [PYTHON, NODE])
def test_every_file_that_a_page_names_is_there(page: str) -> None:
    """Of the siblings and of the libraries to install."""
    for name in re.findall(r"`([\w-]+\.(?:py|mjs|binpb|json))`", page):
        assert any((SIBLINGS / folder / name).is_file() for folder in ("python", "node")), name
    for path in re.findall(r"\./((?:libs/)?\w+)", page):
        assert (ROOT / path / "pyproject.toml").is_file(), path


def last_line_said(page: str) -> str:
    """What the page says the run ends with."""
    (block,) = blocks(page, "text")
    return block.strip()


@pytest.mark.slow
def test_the_runs_end_as_the_pages_say(sibling: Any) -> None:
    """The command of the tutorial against each tiny sibling: exit 0, and the very last line."""
    pages = {"python-tiny": PYTHON, "tiny-dev.mjs": NODE}
    assert sibling.name in {*pages, "connectrpc", "server.mjs"}, "a sibling that this test has never heard of"
    if sibling.name not in pages:
        pytest.skip("no page is about it")
    page = pages[sibling.name]
    (command, *_) = re.findall(r"^memoria-conformance (.*)$", page, re.MULTILINE)
    url = str(sibling.http.base_url).rstrip("/")
    ended = subprocess.run(
        [sys.executable, "-m", "memoria_conformance.kit", *command.replace("http://localhost:9000", url).split()],
        env=os.environ | {name: f"{value}-1" for name, value in TOKENS.items()},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr
    assert ended.stdout.strip().splitlines()[-1] == last_line_said(page)


@pytest.mark.slow
def test_the_suite_runs_inside_pytest(tmp_path: Path) -> None:
    """`From your own tests`, in a folder of its own: the plugin runs every case in process and none fails."""
    for path in (SIBLINGS / "python").glob("*.py"):
        shutil.copy(path, tmp_path)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "test_contract.py"]
    ended = subprocess.run(command, cwd=tmp_path, env=os.environ | TOKENS, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr
    passed = re.search(r"(\d+) passed", ended.stdout)
    assert passed
    assert int(passed[1]) > 80
    assert "failed" not in ended.stdout
