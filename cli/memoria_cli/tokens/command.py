"""`memoria tokens`: rotate the tokens that apps know memoria by, and its services one another; see which are in use."""

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.secret import token_print
from memoria_cli.options import AsJson, Data, print_json
from memoria_cli.place import DEFAULT_DATA, Place, locked
from memoria_cli.tokens.callers import CALLING, SCOPE, CallerFiles
from memoria_cli.tokens.observe import accepted, observer
from memoria_cli.tokens.rotation import Credential, Outcome, Phase, Rotation, unfinished
from memoria_cli.tokens.rows import CommandRows, ConsumerRows, DemoRows, Row, RowsByScope
from memoria_cli.up.provision import read_settings
from memoria_contract.types import SCOPES

app = typer.Typer(
    no_args_is_help=True, help="The tokens that sibling apps know memoria by, and its services one another."
)

_SAID = {Phase.NOTHING: "not begun", Phase.ADDED: "accepted there", Phase.DELIVERED: "delivered", Phase.DONE: "done"}


@app.command()
def rotate(
    sibling: Annotated[list[str] | None, typer.Option(help="This app only; may be given several times.")] = None,
    own: Annotated[bool, typer.Option(help="Only those that memoria's own services know one another by.")] = False,
    via: Annotated[
        str, typer.Option(help="A program that writes an app's consumers row; see docs/tokens.md. The demo needs none.")
    ] = "",
    emergency: Annotated[
        bool, typer.Option(help="The old tokens are in wrong hands: retire them at once, and accept the outage.")
    ] = False,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait until a new token is seen in use.")] = 20.0,
    data: Data = DEFAULT_DATA,
    as_json: AsJson = False,
) -> None:
    """Replace the tokens in three phases. Run it again to go on with what could not be finished."""
    place = Place(data)
    with _alone(place):
        known = _credentials(place)
        chosen = _chosen(known, sibling or [], own=own)
        rotation = Rotation(_note(place), _rows(place, via), observer(place, wait))
        rotation.forget(known)
        outcomes = rotation.run(chosen, emergency=emergency)
    if as_json:
        print_json({"tokens": [_tree(each) for each in outcomes]})
    else:
        table = Table("token", "phase", "why no further", box=None)
        for each in outcomes:
            table.add_row(str(each.row), _SAID[each.phase], each.reason or "–")
        Console(highlight=False).print(table)
    if not all(each.phase is Phase.DONE for each in outcomes):
        raise typer.Exit(1)


@app.command()
def status(data: Data = DEFAULT_DATA, as_json: AsJson = False) -> None:
    """Which tokens memoria has and which were answered last, by prints that open nothing; and what a rotation left."""
    place = Place(data)
    left = unfinished(_note(place))
    found: list[dict[str, Any]] = []
    for each in _credentials(place):
        try:
            seen = accepted(place, each.row.scope, each.row.app)
        except ServiceError:
            seen = ""
        held = each.held
        found.append(
            {
                "token": str(each.row),
                "held": token_print(held) if held else None,
                "in_use": seen or None,
                "rotating": str(each.row) in left,
            }
        )
    if as_json:
        print_json({"tokens": found})
        return
    table = Table("token", "held", "in use", "rotating", box=None)
    for row in found:
        table.add_row(row["token"], row["held"] or "–", row["in_use"] or "–", "yes" if row["rotating"] else "no")
    Console(highlight=False).print(table)


def _tree(outcome: Outcome) -> dict[str, Any]:
    return {"token": str(outcome.row), "phase": int(outcome.phase), "reason": outcome.reason or None}


def _note(place: Place) -> Path:
    return place.tokens / "rotation.json"


def _rows(place: Place, via: str) -> ConsumerRows:
    apps = CommandRows(_words(via)) if via else DemoRows(place.demo / "ports.json", place.tokens)
    own = _own(place)
    return RowsByScope({SCOPE: own}, apps) if own else apps


def _words(via: str) -> list[str]:
    try:
        words = shlex.split(via)
    except ValueError:
        words = []
    if not words:
        raise ServiceError(Kind.INVALID, "--via is no command line: a program and its arguments, quotes closed")
    return words


def _own(place: Place) -> CallerFiles | None:
    """Those of our own services, while they run."""
    try:
        found = CallerFiles(Path(place.running().run_dir))
    except ServiceError:
        return None
    return found if found.hashes.exists() else None


def _credentials(place: Place) -> list[Credential]:
    """Every token there is. Raises PRECONDITION where one is in no file, or there is none."""
    own = _own(place)
    made = _apps(place) + ([Credential(Row(each, SCOPE), own.token(each)) for each in CALLING] if own else [])
    if not made:
        raise ServiceError(Kind.PRECONDITION, "no sibling app is configured here, and memoria is not running")
    return made


def _apps(place: Place) -> list[Credential]:
    """Those of every configured app, or of the demo's."""
    settings, _ = read_settings(place)
    if not settings.sibling and (place.demo / "ports.json").exists():
        apps = sorted(path.name.removesuffix(".ask") for path in place.tokens.glob("*.ask"))
        return [Credential(Row(each, scope), place.tokens / f"{each}.{scope}") for each in apps for scope in SCOPES]
    made = []
    for sibling in settings.sibling:
        for scope in SCOPES:
            file: Path | None = getattr(sibling, f"{scope}_token_file")
            if file is None or getattr(sibling, f"{scope}_token") is not None:
                name = f"{sibling.app}'s {scope}_token"
                raise ServiceError(Kind.PRECONDITION, f"{name} is set by value: only {scope}_token_file can be rotated")
            made.append(Credential(Row(sibling.app, scope), file))
    return made


def _chosen(credentials: Iterable[Credential], apps: list[str], *, own: bool) -> list[Credential]:
    if not apps and not own:
        return list(credentials)
    ours = [each for each in credentials if own and each.row.scope == SCOPE]
    theirs = [each for each in credentials if each.row.scope != SCOPE and each.row.app in apps]
    unknown = set(apps) - {each.row.app for each in theirs}
    if unknown:
        raise ServiceError(Kind.INVALID, f"no sibling app is called {', '.join(sorted(unknown))}")
    if not ours and not theirs:
        raise ServiceError(Kind.PRECONDITION, "memoria is not running: its services get new tokens at the next start")
    return theirs + ours


@contextmanager
def _alone(place: Place) -> Iterator[None]:
    if not place.data.is_dir():
        raise ServiceError(Kind.PRECONDITION, f"there is no data directory at {place.data}")
    with locked(place.tokens / "rotation.lock", "another rotation is under way"):
        yield
