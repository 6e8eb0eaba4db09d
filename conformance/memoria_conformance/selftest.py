"""Proves the suite: conforming siblings pass it, mutants do not, and no MUST case is idle."""

import asyncio
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from memoria_conformance.kit.hook_client import UrlHook
from memoria_conformance.kit.http_client import NetworkChannel, NoReply, Request
from memoria_conformance.kit.report import Exit, Level, Report, Status
from memoria_conformance.kit.runner import Runner
from memoria_conformance.kit.suite import Case, packaged_cases
from memoria_conformance.kit.target import Target
from memoria_conformance.kit.verdict import exit_code, last_line
from memoria_conformance.mutants import BY_CALL, MUTANTS
from memoria_conformance.mutants.build import Mutant

NODE_FOLDER = Path(__file__).resolve().parents[1] / "siblings/node"
_READY_SECONDS = 20.0
_PYTHON = sys.executable


@dataclass(frozen=True, slots=True)
class Reference:
    """A conforming sibling as a process; `{port}` and `{folder}` are filled in."""

    name: str
    command: tuple[str, ...]
    host: str = "localhost"


REFERENCES = (
    Reference(
        "memoria-sheets",
        (_PYTHON, "-m", "memoria_conformance.sibling", "--app=sheets", "--port={port}", "--db={folder}/s.sqlite"),
        "demo.sheets.localhost",
    ),
    Reference(
        "memoria-docs",
        (
            *(_PYTHON, "-m", "memoria_conformance.sibling", "--app=docs", "--port={port}", "--db={folder}/d.sqlite"),
            *("--revisions=ulid", "--subject-kind=person_ref"),
        ),
        "demo.docs.localhost",
    ),
    Reference(
        "python-connectrpc",
        (_PYTHON, "-m", "memoria_conformance.references.connectrpc_sibling", "--port={port}"),
    ),
    Reference("node-connectrpc", ("node", str(NODE_FOLDER / "server.mjs"), "--port={port}")),
)
"""Ours twice (by hash and by ULID, for the mutants count), and two that stand on other people's libraries."""


@dataclass(frozen=True, slots=True)
class Killed:
    """A mutant and the cases that failed it."""

    name: str
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the self-test saw."""

    references: dict[str, int]
    lines: dict[str, str]  # reference → its last line, or why it could not be run
    mutants: tuple[Killed, ...]
    cases: int
    idle: tuple[str, ...]  # MUST cases that fail no mutant and do not say why
    contradicted: tuple[str, ...]  # cases that say no mutant can fail them, and one does

    @property
    def proved(self) -> bool:
        """Whether every reference passes, every mutant is killed, and no case is idle."""
        passes = all(code == 0 for code in self.references.values())
        return passes and all(mutant.by for mutant in self.mutants) and not self.idle and not self.contradicted

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "references": self.references,
            "mutants": [{"name": m.name, "killed": bool(m.by), "by": list(m.by)} for m in self.mutants],
            "cases": self.cases,
            "idle": list(self.idle),
            "contradicted": list(self.contradicted),
        }


async def prove() -> Outcome:
    """Run every reference, then every mutant, two at a time."""
    references: dict[str, int] = {}
    lines: dict[str, str] = {}
    for reference in REFERENCES:
        try:
            report = await run_reference(reference)
        except ReferenceBroke as broke:
            references[reference.name], lines[reference.name] = Exit.HARNESS.value, str(broke)
            continue
        references[reference.name], lines[reference.name] = exit_code(report).value, last_line(report)
    with ProcessPoolExecutor(max_workers=max(2, min(4, os.cpu_count() or 2))) as pool:
        loop = asyncio.get_running_loop()
        mutants = await asyncio.gather(*(loop.run_in_executor(pool, kill, mutant.name) for mutant in MUTANTS))
    return weigh(references, lines, mutants)


def weigh(references: dict[str, int], lines: dict[str, str], mutants: Sequence[Killed]) -> Outcome:
    """What follows from the runs."""
    useful = {case for mutant in mutants for case in mutant.by}
    cases = packaged_cases()
    idle = [c.id for c in cases if c.level is Level.MUST and not c.data.unkillable and c.id not in useful]
    contradicted = [c.id for c in cases if c.data.unkillable and c.id in useful]
    return Outcome(references, lines, tuple(mutants), len(cases), tuple(idle), tuple(contradicted))


def kill(name: str) -> Killed:
    """The cases that fail the mutant of this name and pass the app it was made from.

    The cases of the calls it is wrong about are tried first, and the others only where those let it live: most faults
    are caught where they belong, and all of them by all of the cases would take four times as long.
    RuntimeError where the suite itself broke over it.
    """
    calls, mutant = next((calls, mutant) for calls, mutants in BY_CALL for mutant in mutants if mutant.name == name)
    near = [case for case in packaged_cases() if case.call in calls]
    far = [case for case in packaged_cases() if case.call not in calls]
    return Killed(name, _failed(mutant, near) or _failed(mutant, far))


def _failed(mutant: Mutant, cases: Sequence[Case]) -> tuple[str, ...]:
    report = asyncio.run(Runner(mutant.target()).run(cases))
    broken = [result for result in report.results if result.status is Status.ERROR]
    if broken:
        raise RuntimeError(f"{mutant.name}: {broken[0].id}: {broken[0].message}")
    before = _before(mutant.revisions) if mutant.name else ()
    return tuple(r.id for r in report.results if r.status is Status.FAIL and r.id not in before)


@cache
def _before(revisions: str) -> tuple[str, ...]:
    """What fails the right app in this style of revisions: a SHOULD, where they count."""
    return _failed(Mutant("", "Right in all things.", revisions=revisions), packaged_cases())


class ReferenceBroke(Exception):
    """A reference sibling could not be run here; the text says why."""


async def run_reference(reference: Reference) -> Report:
    """The report on one reference, served as a process of its own. Raises ReferenceBroke."""
    if reference.command[0] == "node":
        if shutil.which("node") is None:
            raise ReferenceBroke("Node.js is not installed, and this sibling is written for it")
        if not (NODE_FOLDER / "node_modules").is_dir():
            raise ReferenceBroke("its packages are missing; in a checkout `make node` fetches them")
    async with serve_reference(reference) as target:
        return await Runner(target).run()


@asynccontextmanager
async def serve_reference(reference: Reference) -> AsyncIterator[Target]:
    """A reference as a process of its own. Raises ReferenceBroke where it does not come up."""
    tokens = {name: secrets.token_urlsafe(24) for name in ("PULL", "ASK", "STATE")}
    with tempfile.TemporaryDirectory() as folder:
        port = await _free_port()
        environment = {f"MEMORIA_SIBLING_{name}_TOKEN": token for name, token in tokens.items()}
        process = await asyncio.create_subprocess_exec(
            *(word.format(port=port, folder=folder) for word in reference.command),
            env={**os.environ, **environment, "MEMORIA_LIFELINE": "1"},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
        )
        try:
            url = f"http://{reference.host}:{port}"
            await _answers(url, process)
            hook = UrlHook(f"{url}/__state", tokens["STATE"])
            yield Target.network(url, pull_token=tokens["PULL"], ask_token=tokens["ASK"], hook=hook)
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


async def _answers(url: str, process: asyncio.subprocess.Process) -> None:
    channel = NetworkChannel(url, 1.0)
    try:
        async with asyncio.timeout(_READY_SECONDS):
            while True:
                if process.returncode is not None:
                    raise ReferenceBroke(f"it ended with {process.returncode} before it answered")
                try:
                    await channel.send(Request("/", (), verb="GET"))
                    return
                except NoReply as no:
                    if no.connected:
                        return
                    await asyncio.sleep(0.05)
    except TimeoutError:
        raise ReferenceBroke("it did not answer in time") from None
    finally:
        await channel.close()


async def _free_port() -> int:
    """A port that nobody listened on just now."""
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port: int = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return port


def render(outcome: Outcome) -> str:
    """As text."""
    lines = [f"{name:20} exit {code}  {outcome.lines[name]}" for name, code in outcome.references.items()]
    lines += [f"{m.name:28} {'killed by ' + ' '.join(m.by) if m.by else 'ALIVE'}" for m in outcome.mutants]
    killed = sum(bool(mutant.by) for mutant in outcome.mutants)
    lines.append(f"{outcome.cases} cases · {killed}/{len(outcome.mutants)} mutants killed")
    if outcome.idle:
        lines.append(f"idle: {' '.join(outcome.idle)}")
    if outcome.contradicted:
        lines.append(f"said to be unkillable, and killed: {' '.join(outcome.contradicted)}")
    return "\n".join(lines)
