"""Twenty searches a second from six people, while three siblings answer in 50 ms and one in five seconds."""

import asyncio
import itertools
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import httpx

from bench.fleet import Running, running_fleet
from bench.measure import Quantity, Row, figure
from bench.plan import say
from memoria_conformance.world import packaged_world

SECONDS = 60
RATE = 20
SLOW = "wiki"
_APPS = {"docs": ("docs", 0.05), "sheets": ("sheets", 0.05), "calendar": ("calendar", 0.05), SLOW: ("docs", 5.0)}
"""Label: the demo app behind it, and the seconds that it takes to rule."""
_WARM_SECONDS = 10
_QUERIES = (
    "ferry winter crew",
    "overtime and the rota",
    "annual leave of the deck crew",
    "the harbour master",
    "lifeboat pager",
    "refund of a cancelled sailing",
    "lifejacket from stores",
    "skipper decides sailing",
)


@dataclass(slots=True)
class _Seen:
    """What came back."""

    seconds: list[float] = field(default_factory=list)
    replies: Counter[str] = field(default_factory=Counter)
    unnamed: int = 0


def run() -> Iterator[Row]:
    """Latency, what was not answered, pages that do not name the slow one, memory before and after."""
    people = [person.address for person in packaged_world().people]
    with ExitStack() as stack:
        settings = "\n".join([f"[team]\nowners = {json.dumps(people)}\n", *stack.enter_context(_siblings())])
        fleet = stack.enter_context(running_fleet(settings, people))
        asyncio.run(_ask(fleet, _WARM_SECONDS))
        before = _memory(fleet)
        seen = asyncio.run(_ask(fleet, SECONDS))
        after = _memory(fleet)
    say(f"replies: {dict(seen.replies)}")
    yield figure(f"{RATE} searches a second for {SECONDS} s, {SLOW} in 5 s", seen.seconds), None
    yield Quantity("of them not answered with 200", sum(seen.replies.values()) - seen.replies["200"], ""), None
    yield Quantity(f"pages that do not name {SLOW}", seen.unnamed, ""), None
    for name, mib in after.items():
        yield Quantity(f"memory of {name}", mib, "MiB"), Quantity("a minute before", before[name], "MiB")


async def _ask(fleet: Running, seconds: int) -> _Seen:
    """An open loop: a search begins when it is due, whether the others have ended or not."""
    seen, begun = _Seen(), []
    people, queries = itertools.cycle(fleet.tokens.values()), itertools.cycle(_QUERIES)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        start = time.perf_counter()
        for number in range(seconds * RATE):
            await asyncio.sleep(max(0.0, start + number / RATE - time.perf_counter()))
            begun.append(asyncio.create_task(_one(session, fleet.url, next(people), next(queries), seen)))
        await asyncio.gather(*begun)
    return seen


async def _one(session: aiohttp.ClientSession, url: str, token: str, query: str, seen: _Seen) -> None:
    began = time.perf_counter()
    headers = {"Authorization": f"Bearer {token}"}
    try:
        async with session.get(f"{url}/api/v1/search", params={"q": query}, headers=headers) as reply:
            found = await reply.json()
            seen.replies[str(reply.status)] += 1
    except (aiohttp.ClientError, ValueError) as error:
        seen.replies[type(error).__name__] += 1
        return
    seen.seconds.append(time.perf_counter() - began)
    if reply.status == 200:
        seen.unnamed += not [each for each in found["notices"] if each["app"] == SLOW and each["kind"] == "no_answer"]


@contextmanager
def _siblings() -> Iterator[list[str]]:
    """The four apps as processes; what the settings say of each."""
    with tempfile.TemporaryDirectory() as folder:
        made, said = [], []
        try:
            for label, (app, seconds) in _APPS.items():
                port, tokens = _free_port(), {kind: secrets.token_urlsafe(24) for kind in ("pull", "ask", "state")}
                lines = [
                    f"[[sibling]]\napp = {json.dumps(label)}\nurl = {json.dumps(f'http://demo.{label}.localhost:{port}')}"
                ]
                for kind in ("pull", "ask"):
                    path = Path(folder) / f"{label}.{kind}"
                    path.write_text(tokens[kind])
                    lines.append(f"{kind}_token_file = {json.dumps(str(path))}")
                command = [sys.executable, "-m", "memoria_conformance.sibling", "--app", app, "--port", str(port)]
                command += ["--db", str(Path(folder) / f"{label}.sqlite")]
                env = {f"MEMORIA_SIBLING_{kind.upper()}_TOKEN": value for kind, value in tokens.items()}
                made.append(subprocess.Popen(command, env=dict(os.environ) | env, stderr=subprocess.DEVNULL))
                _be_slow(port, tokens["state"], seconds)
                said.append("\n".join(lines) + "\n")
            yield said
        finally:
            for process in made:
                process.terminate()
                process.wait(20)


def _be_slow(port: int, token: str, seconds: float) -> None:
    asked = {"state": "fault", "params": {"kind": "sleep", "seconds": seconds, "call": "Authorize"}}
    deadline = time.monotonic() + 30
    while True:
        try:
            reply = httpx.post(
                f"http://127.0.0.1:{port}/__state", json=asked, headers={"Authorization": f"Bearer {token}"}
            )
            reply.raise_for_status()
            return
        except httpx.TransportError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _memory(fleet: Running) -> dict[str, float]:
    """MiB of each service that no file stands behind."""
    command = [str(Path(sys.executable).parent / "memoria"), "status", "--data", str(fleet.data), "--json"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["services"]
    return {name: _resident(service["pid"]) for name, service in found.items()}


def _resident(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    return 0.0
