"""Resolve every project's dependencies into requirements/locked.txt, with hashes and without addresses.

Run as `make lock`. The workspace's own projects are left out: `make setup` installs them from their folders.
"""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLAGS = [
    "--quiet",
    "--universal",
    "--python-version=3.11",
    "--generate-hashes",
    "--no-emit-index-url",
    "--no-annotate",
    "--no-header",
]


def wanted() -> list[str]:
    """Every third-party requirement named in a pyproject.toml of the workspace, extras included."""
    found: set[str] = set()
    for path in ROOT.glob("*/**/pyproject.toml"):
        if ".venv" in path.parts:
            continue
        project = tomllib.loads(path.read_text())["project"]
        for group in [project["dependencies"], *project.get("optional-dependencies", {}).values()]:
            found.update(name for name in group if not name.startswith("memoria-"))
    return sorted(found)


def resolve(source: Path, target: Path) -> None:
    """Resolve `source` into `target` with the uv of the running environment."""
    subprocess.run([sys.executable, "-m", "uv", "pip", "compile", *FLAGS, str(source), "-o", str(target)], check=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        merged = Path(scratch) / "all.in"
        merged.write_text((ROOT / "requirements/dev.in").read_text() + "\n".join(wanted()) + "\n")
        resolve(merged, ROOT / "requirements/locked.txt")
    resolve(ROOT / "requirements/uv.in", ROOT / "requirements/uv.txt")
