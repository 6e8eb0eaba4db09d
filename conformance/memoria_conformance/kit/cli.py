"""`memoria-conformance`: one command against a dev server, and what it found."""

import asyncio
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from memoria_conformance.kit import look
from memoria_conformance.kit.hook_client import CommandHook, FileHook, Hook, HookBroke, UrlHook
from memoria_conformance.kit.known import KnownFailure, KnownFileError, apply_known, load_known
from memoria_conformance.kit.render.badge import render_badge
from memoria_conformance.kit.render.html import render_html
from memoria_conformance.kit.render.json import render_json
from memoria_conformance.kit.render.junit import render_junit
from memoria_conformance.kit.render.table import render_table
from memoria_conformance.kit.report import CALLS, CaseResult, Exit, Report
from memoria_conformance.kit.runner import Runner, matching
from memoria_conformance.kit.stage import TokenRefused, Unreachable
from memoria_conformance.kit.suite import Case, packaged_cases
from memoria_conformance.kit.target import Target
from memoria_conformance.kit.verdict import exit_code

_KNOWN_BYTES = 1_000_000

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command("list")(look.list_cases)
app.command("show")(look.show)
app.command("export-world")(look.export_world)
app.command("export-proto")(look.export_proto)
app.command("self-test")(look.self_test)


@app.callback(invoke_without_command=True)
def run(
    context: typer.Context,
    url: Annotated[str, typer.Option(help="the sibling, scheme://host[:port]")] = "",
    token: Annotated[str, typer.Option(envvar="MEMORIA_TOKEN", help="one token for every call")] = "",
    pull_token: Annotated[str, typer.Option(envvar="MEMORIA_PULL_TOKEN", help="for S1, S1a, S3")] = "",
    ask_token: Annotated[str, typer.Option(envvar="MEMORIA_ASK_TOKEN", help="for S2, S6")] = "",
    state_url: Annotated[str, typer.Option(help="the state hook: POST {state, params, action}")] = "",
    state_token: Annotated[str, typer.Option(envvar="MEMORIA_STATE_TOKEN", help="the state hook's bearer token")] = "",
    state_cmd: Annotated[str, typer.Option(help="the state hook: a program, JSON on stdin and stdout")] = "",
    state_file: Annotated[Path | None, typer.Option(help="what load_world would answer, loaded by hand")] = None,
    allow_mutate: Annotated[bool, typer.Option("--allow-mutate", help="let the hook change data")] = False,
    prefix: Annotated[str, typer.Option(help="keeps this run apart; made up by default")] = "",
    call: Annotated[list[str] | None, typer.Option(help="only these: Describe transport S1 S1a S2 S3 S6")] = None,
    case: Annotated[list[str] | None, typer.Option(help="only these ids; `S2-*` works")] = None,
    stop: Annotated[bool, typer.Option("--stop", help="end at the first failure and leave its state standing")] = False,
    timeout: Annotated[float, typer.Option(min=0.1, max=600, help="seconds for one request")] = 10.0,
    known_failures: Annotated[Path | None, typer.Option(help="YAML: case, reason, until")] = None,
    allow_skipped: Annotated[bool, typer.Option("--allow-skipped", help="MUST cases not shown do not fail")] = False,
    junit: Annotated[Path | None, typer.Option(help="write JUnit XML")] = None,
    json_: Annotated[str, typer.Option("--json", help="write JSON; - for standard output")] = "",
    html: Annotated[Path | None, typer.Option(help="write a page that stands alone")] = None,
    badge: Annotated[Path | None, typer.Option(help="write an SVG badge")] = None,
) -> None:
    """Ask a sibling every question of the contract and say what it got wrong.

    Exit 0 conformant; 1 not, or the known-failure file is stale; 2 wrong usage, nobody answers, or no case ran; 3 the
    state hook or the suite itself broke. Tokens are best given in the environment.
    """
    if context.invoked_subcommand is not None:
        return
    if not url:
        _usage("--url is missing; try --help, or `list` for the cases")
    pull, ask = pull_token or token, ask_token or token
    if not pull or not ask:
        _usage("a pull token and an ask token are needed: MEMORIA_PULL_TOKEN and MEMORIA_ASK_TOKEN, or MEMORIA_TOKEN")
    hook = _hook(state_url, state_token, state_cmd, state_file, allow_mutate)
    unknown = {name for name in call or () if name.lower() not in {known.lower() for known in CALLS}}
    if unknown:
        _usage(f"--call knows {' '.join(CALLS)}")
    known = _known(known_failures)
    chosen = matching(packaged_cases(), calls=call or (), ids=case or ())
    if not chosen:
        _usage("no case fits --call and --case")
    report = _run(_target(url, pull, ask, hook, timeout), chosen, prefix, stop=stop, quiet=json_ == "-")
    report = replace(report, results=apply_known(report.results, known, datetime.now(UTC).date()))
    if json_ == "-":
        typer.echo(render_json(report, allow_skipped=allow_skipped), nl=False)
    else:
        typer.echo(render_table(report, isatty=sys.stdout.isatty()), nl=False)
    _write(junit, render_junit(report))
    _write(html, render_html(report))
    _write(badge, render_badge(report))
    if json_ and json_ != "-":
        _write(Path(json_), render_json(report, allow_skipped=allow_skipped))
    raise typer.Exit(exit_code(report, allow_skipped=allow_skipped).value)


def _run(target: Target, cases: list[Case], prefix: str, *, stop: bool, quiet: bool) -> Report:
    def progress(result: CaseResult) -> None:
        sys.stderr.write(f"\r{result.id:8}")
        sys.stderr.flush()

    watched = not quiet and sys.stderr.isatty()
    try:
        return asyncio.run(Runner(target, prefix or None, stop=stop).run(cases, progress if watched else None))
    except (Unreachable, TokenRefused) as error:
        _usage(str(error))
    finally:
        if watched:
            sys.stderr.write("\r        \r")


def _target(url: str, pull: str, ask: str, hook: Hook | None, timeout: float) -> Target:
    try:
        return Target.network(url, pull_token=pull, ask_token=ask, hook=hook, timeout=timeout)
    except ValueError as error:
        _usage(str(error))


def _hook(url: str, token: str, command: str, file: Path | None, allow_mutate: bool) -> Hook | None:
    if sum(bool(given) for given in (url, command, file)) > 1:
        _usage("--state-url, --state-cmd and --state-file are three ways to say one thing: pass one of them")
    if (url or command) and not allow_mutate:
        _usage("the state hook makes, changes and deletes items at the sibling: pass --allow-mutate to allow that")
    try:
        if url:
            return UrlHook(url, token or None)
        if command:
            return CommandHook(command)
        return FileHook(file) if file else None
    except HookBroke as broke:
        typer.echo(str(broke), err=True)
        raise typer.Exit(Exit.HARNESS.value) from None
    except ValueError as error:
        _usage(str(error))


def _known(path: Path | None) -> tuple[KnownFailure, ...]:
    if path is None:
        return ()
    try:
        if path.stat().st_size > _KNOWN_BYTES:
            _usage("the known-failure file is larger than 1 MB, which is no list of cases")
        return load_known(path.read_text("utf-8"), [case.id for case in packaged_cases()])
    except (OSError, UnicodeDecodeError):
        _usage("the known-failure file cannot be read")
    except KnownFileError as error:
        _usage(f"the known-failure file: {error}")


def _write(path: Path | None, text: str) -> None:
    if path is None:
        return
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        _usage(f"{path} cannot be written: {error.strerror}")


def _usage(message: str) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(Exit.USAGE.value)


def main() -> None:
    """The command."""
    app()


if __name__ == "__main__":
    main()
