"""The commands that only look: the cases, the world, the proto file, and the suite's test of itself."""

import asyncio
import json
from importlib import resources
from typing import Annotated

import typer
import yaml

from memoria_conformance.kit.model import world_params
from memoria_conformance.kit.report import Exit
from memoria_conformance.kit.suite import packaged_cases


def list_cases(as_json: Annotated[bool, typer.Option("--json")] = False) -> None:
    """Every case: id, level, the sentence it checks."""
    cases = packaged_cases()
    if as_json:
        rows = [
            {"id": c.id, "call": c.call, "level": c.level, "section": c.data.section, "rule": c.data.rule}
            for c in cases
        ]
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    for case in cases:
        typer.echo(f"{case.id:8} {case.level:6}  {case.data.rule}")


def show(case_id: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """One case, whole, as it stands in the suite."""
    for case in packaged_cases():
        if case.id.lower() == case_id.lower():
            typer.echo(case.text, nl=False)
            typer.echo(f"# the rule: docs/siblings/contract.md#{case.data.section}")
            typer.echo("# the words: docs/siblings/command.md#the-words-of-a-case")
            return
    typer.echo("there is no case of this id; `list` shows them all", err=True)
    raise typer.Exit(Exit.USAGE.value)


def export_world(
    prefix: Annotated[str, typer.Option(help="as passed to the run with --prefix")] = "fixed",
    sheets: Annotated[bool, typer.Option(help="with the sheets that S6 needs")] = True,
    as_yaml: Annotated[bool, typer.Option("--yaml")] = False,
) -> None:
    """The params of `load_world`, to load by hand for --state-file or to read."""
    params = world_params(prefix, sheets=sheets)
    if as_yaml:
        typer.echo(yaml.safe_dump(params, sort_keys=False, allow_unicode=True, width=110), nl=False)
    else:
        typer.echo(json.dumps(params, ensure_ascii=False, indent=2))


def export_proto(binary: Annotated[bool, typer.Option(help="the descriptor set instead of the text")] = False) -> None:
    """The contract's sibling.proto, or its descriptor set, to generate or load a client from."""
    name = "sibling.binpb" if binary else "sibling.proto"
    typer.echo(resources.files("memoria_conformance").joinpath(f"contract/{name}").read_bytes(), nl=False)


def self_test(as_json: Annotated[bool, typer.Option("--json")] = False) -> None:
    """Prove the suite: every reference sibling passes, and every mutant is caught."""
    try:
        from memoria_conformance.selftest import prove, render
    except ImportError:
        typer.echo("the self-test needs the extra `siblings`: run it in a checkout after `make setup`", err=True)
        raise typer.Exit(Exit.USAGE.value) from None
    outcome = asyncio.run(prove())
    typer.echo(json.dumps(outcome.as_dict(), ensure_ascii=False, indent=2) if as_json else render(outcome))
    raise typer.Exit(0 if outcome.proved else 1)
