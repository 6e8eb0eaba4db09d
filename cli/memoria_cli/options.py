"""What several commands take and give in the same way."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

Data = Annotated[Path, typer.Option("--data", help="The data directory.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def print_json(document: dict[str, Any]) -> None:
    """The one document of `--json`, on stdout."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
