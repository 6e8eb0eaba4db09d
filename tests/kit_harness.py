"""Siblings to run the contract kit against: right or with one fault, in this process or as a process of their own."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from harness import free_port, wait_for

from memoria_conformance.kit import Report, Runner, Target, matching, packaged_cases
from memoria_conformance.mutants import MUTANTS
from memoria_conformance.sibling import Sibling, make_sibling
from memoria_conformance.world import World

PULL, ASK, STATE = "pull-token-of-the-test", "ask-token-of-the-test", "state-token-of-the-test"
ORIGIN = "https://demo.sheets.localhost"
Hook = Callable[[dict[str, Any]], dict[str, Any]]


def hook_of(sibling: Sibling) -> Hook:
    """A sibling's state hook as a function."""
    return lambda request: sibling.state.apply(request["state"], request["params"], request["action"])


def empty_sibling(app: str = "sheets", **options: Any) -> Sibling:
    """A conforming app that holds nothing of its own."""
    return make_sibling(app, world=World("", (), ()), pull_tokens=[PULL], ask_tokens=[ASK], **options)


def target_of(sibling: Sibling, state: Hook | None = None) -> Target:
    """In this process."""
    origin = sibling.server.base_url
    return Target.asgi(sibling, pull_token=PULL, ask_token=ASK, origin=origin, state=state or hook_of(sibling))


def mutant(name: str) -> Target:
    """A sibling with one fault."""
    return next(m for m in MUTANTS if m.name == name).target()


def run(target: Target, *ids: str, prefix: str | None = None) -> Report:
    """The report on these cases, or on all."""
    return asyncio.run(Runner(target, prefix).run(matching(packaged_cases(), ids=ids)))


@contextmanager
def served(db: Path) -> Iterator[str]:
    """The URL of a demo sheets app as a process, with its state hook."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "memoria_conformance.sibling", "--app=sheets", f"--port={port}", f"--db={db}"],
        stdin=subprocess.PIPE,
        env={
            **os.environ,
            "MEMORIA_LIFELINE": "1",
            "MEMORIA_SIBLING_PULL_TOKEN": PULL,
            "MEMORIA_SIBLING_ASK_TOKEN": ASK,
            "MEMORIA_SIBLING_STATE_TOKEN": STATE,
        },
    )

    def answers() -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    try:
        wait_for(answers, what="the sibling")
        yield f"http://demo.sheets.localhost:{port}"
    finally:
        process.terminate()
        process.wait()


async def serve_once(status: int, body: bytes) -> tuple[asyncio.Server, str]:
    """A server of one answer."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    return server, f"http://localhost:{server.sockets[0].getsockname()[1]}/hook?of=mine"
