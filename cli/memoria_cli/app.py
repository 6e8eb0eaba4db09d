"""The `memoria` command. `--json` prints one document on stdout; exit codes are 0 ok, 1 failed, 2 usage."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import httpx
import typer
from rich.console import Console

from memoria_chassis.errors import ServiceError
from memoria_chassis.keys import decode_key, encode_key, new_key, service_key_from
from memoria_chassis.settings import SERVICES
from memoria_cli import adding, evaluation, searching, status_view
from memoria_cli.door import request_link, token_from_link
from memoria_cli.options import AsJson, Data, print_json
from memoria_cli.place import DEFAULT_DATA, Place, write_private
from memoria_cli.session import Session, keep_user_token
from memoria_cli.tokens.command import app as tokens_app
from memoria_cli.up.supervisor import Supervisor

app = typer.Typer(no_args_is_help=True, add_completion=False, help="One team's memory.", pretty_exceptions_enable=False)
keys = typer.Typer(no_args_is_help=True, help="Key material for provisioning.")
app.add_typer(keys, name="keys")
app.add_typer(tokens_app, name="tokens")

Url = Annotated[str | None, typer.Option("--url", help="An instance elsewhere; sign in to it with `memoria login`.")]
As = Annotated[str | None, typer.Option("--as", metavar="ADDRESS", help="On a development instance: as whom.")]


@app.command()
def up(
    data: Data = DEFAULT_DATA,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="The page's port.")] = None,
    demo: Annotated[bool | None, typer.Option("--demo/--no-demo", help="Demo apps and papers.")] = None,
) -> None:
    """Start memoria and keep it up until Ctrl-C."""
    console = Console(highlight=False, soft_wrap=True)

    def say(text: str) -> None:
        console.print(text, markup=False)

    asyncio.run(Supervisor(Place(data), port, demo, say).run())


@app.command()
def status(data: Data = DEFAULT_DATA, as_json: AsJson = False) -> None:
    """Health of each service, the sources' freshness, the index."""
    found = status_view.read(Place(data))
    if as_json:
        print_json(found)
    else:
        status_view.show(Console(highlight=False), found)
    if not found["ready"]:
        raise typer.Exit(1)


@app.command()
def add(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.", exists=True)],
    data: Data = DEFAULT_DATA,
    url: Url = None,
    address: As = None,
    as_json: AsJson = False,
) -> None:
    """Upload files and folders."""
    report = adding.add(Session(Place(data), url, address), paths, quiet=as_json)
    if as_json:
        print_json(report)
    if report["refused"] or not report["files"]:
        if not report["files"]:
            print("memoria: there is no file in what was named", file=sys.stderr)  # noqa: T201 - the command's voice
        raise typer.Exit(1)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="The words to look for.")],
    data: Data = DEFAULT_DATA,
    limit: Annotated[int, typer.Option(min=1, max=50, help="Rows.")] = 10,
    page: Annotated[int, typer.Option(min=1, max=1024, help="Page, from 1.")] = 1,
    url: Url = None,
    address: As = None,
    as_json: AsJson = False,
) -> None:
    """Search, through the same gate as the page."""
    found = Session(Place(data), url, address).get("/api/v1/search", {"q": query, "limit": limit, "page": page})
    if as_json:
        print_json(found)
    else:
        searching.show(Console(highlight=False), found)


@app.command("eval")
def eval_(
    collection: Annotated[Path, typer.Argument(help="A judged collection, FILE.json.gz.", exists=True, dir_okay=False)],
    as_json: AsJson = False,
) -> None:
    """Measure how well search finds what people judged to be relevant, in a throw-away instance."""
    found = evaluation.evaluate(collection, quiet=as_json)
    if as_json:
        print_json(found)
    else:
        evaluation.show(Console(highlight=False), found)


@app.command()
def login(
    url: Annotated[str, typer.Option("--url", help="The instance.", prompt="URL of the instance")],
    address: Annotated[str, typer.Option("--as", metavar="ADDRESS", prompt="Your e-mail address")],
) -> None:
    """Sign in to an instance elsewhere: follow the link it mails you."""
    with httpx.Client(base_url=url.rstrip("/"), timeout=20) as client:
        request_link(client, address)
        link = typer.prompt("If your address is on the list, a link was mailed to you. Paste it here")
        keep_user_token(url, token_from_link(client, link.strip()))
    typer.echo("signed in")


@keys.command("new")
def keys_new(
    out: Annotated[Path | None, typer.Option(help="Write `dek` and `instance_key` into this folder.")] = None,
) -> None:
    """Make a fresh DEK and instance key."""
    made = {"dek": encode_key(new_key()), "instance_key": encode_key(new_key())}
    if out is None:
        for name, value in made.items():
            typer.echo(f"MEMORIA_{name.upper()}={value}")
        return
    for name in made:  # before either is written: half a pair of keys would be worse than none
        if (out / name).exists():
            raise typer.BadParameter(f"there is a key in {out / name} already; a lost key loses everything it sealed")
    for name, value in made.items():
        write_private(out / name, value + "\n")


@keys.command("derive")
def keys_derive(
    service: Annotated[str, typer.Argument(help=f"One of {', '.join(SERVICES)}.")],
    root: Annotated[
        Path,
        typer.Argument(help="File with the DEK; for the gateway, the instance key.", exists=True, dir_okay=False),
    ],
) -> None:
    """Derive one service's own key, which is all that service is given."""
    if service not in SERVICES:
        raise typer.BadParameter(f"a service is one of {', '.join(SERVICES)}")
    typer.echo(encode_key(service_key_from(decode_key(root.read_text(errors="replace")), service).key))


def main() -> None:
    """Run the command; a failure is one line."""
    try:
        app()
    except ServiceError as error:
        _refuse(error.message)
    except httpx.InvalidURL:
        _refuse("that is no URL")
    except httpx.HTTPError:
        _refuse("the instance cannot be reached")


def _refuse(sentence: str) -> NoReturn:
    print(f"memoria: {sentence}", file=sys.stderr)  # noqa: T201 - the command's own voice
    sys.exit(1)


if __name__ == "__main__":
    main()
