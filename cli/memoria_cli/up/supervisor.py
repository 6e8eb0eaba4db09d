"""Starts the fleet in order, keeps it up, says what crashed, and leaves no process behind."""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import httpx

from memoria_chassis.config import Settings
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.settings import SERVICES
from memoria_cli.door import follow_free, read_mail, request_link
from memoria_cli.place import Place, Running, locked
from memoria_cli.up import demo
from memoria_cli.up.child import Child, Ready, Say
from memoria_cli.up.provision import FIRST_OWNER, Environments, make_run_dir, read_settings

DEFAULT_PORT = 8080
_CLAIM_SECONDS = 1.5
_MAX_LOG = 10 * 1024 * 1024


class Supervisor:
    """One `memoria up`, from start to Ctrl-C."""

    def __init__(self, place: Place, port: int | None, demo_choice: bool | None, say: Say) -> None:
        self._place = place
        self._port = port
        self._demo_choice = demo_choice
        self._say = say
        self._children: list[Child] = []
        self._seen: set[str] = set()

    async def run(self) -> None:
        """Run until told to stop. Raises ServiceError for what keeps it from starting."""
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        with locked(self._place.data / "up.lock", "memoria is already running on this data directory"):
            settings, environment = read_settings(self._place)
            run_dir = make_run_dir(self._place, settings.team.zone, self._say)
            try:
                await self._until(stop, self._start(settings, environment, run_dir))
                if not stop.is_set():
                    await self._until(stop, self._keep(settings))
            finally:
                await self._stop()
                self._place.clear_note()
                shutil.rmtree(run_dir, ignore_errors=True)

    async def _until(self, stop: asyncio.Event, job: object) -> None:
        assert asyncio.iscoroutine(job)
        task, waiter = asyncio.create_task(job), asyncio.create_task(stop.wait())
        try:
            await asyncio.wait([task, waiter], return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                await task
        finally:
            for pending in (task, waiter):
                pending.cancel()
                with contextlib.suppress(asyncio.CancelledError, ServiceError):
                    await pending

    async def _start(self, settings: Settings, environment: dict[str, str], run_dir: Path) -> None:
        place = self._place
        with_demo = demo.wanted(place, self._demo_choice, configured=bool(settings.sibling))
        port = self._choose_port(settings, environment)
        environments = Environments(place, settings, environment, run_dir, port)
        mailed = settings.mail.url is not None or settings.mail.url_file is not None
        if not settings.team.owners and settings.team.zone == "localhost":
            environments.owners = demo.people() if with_demo else [FIRST_OWNER]
        owners = environments.owners or settings.team.owners
        self._outbox_seen()
        if with_demo:
            place.demo.mkdir(parents=True, exist_ok=True, mode=0o700)
            helpers = demo.helpers(place, settings.team.label, settings.team.zone)
            for helper in helpers:
                self._add(helper.name, helper.command, helper.env, _listens(helper.port))
                if helper.name in demo.APPS:
                    url = f"http://{settings.team.label}.{helper.name}.{settings.team.zone}:{helper.port}"
                    environments.add_sibling(
                        helper.name, url, place.tokens / f"{helper.name}.pull", place.tokens / f"{helper.name}.ask"
                    )
        for service in SERVICES:
            command = [sys.executable, "-m", f"memoria_{service}"]
            self._add(service, command, environments.of(service), _serves(run_dir, service))
        self._say("starting memoria …")
        # All at once: who calls whom waits for it, and imports take most of the time on two cores.
        await asyncio.gather(*(child.start() for child in self._children))
        url = settings.gateway.origin.rstrip("/") or f"http://localhost:{port}"
        place.note(Running(os.getpid(), url, str(run_dir), owners[0] if owners else "", not mailed))
        self._say(f"memoria is up: {url}")
        if with_demo:
            self._say(f"the demo's people: {', '.join(owners)}")
        if not mailed and owners:
            await self._offer_sign_in(f"http://127.0.0.1:{port}", owners[0])
        self._say("Ctrl-C stops it")

    def _add(self, name: str, command: list[str], env: dict[str, str], ready: Ready) -> None:
        log = self._place.logs / f"{name}.log"
        if log.exists() and log.stat().st_size > _MAX_LOG:
            log.replace(log.with_suffix(".log.1"))
        self._children.append(Child(name, command, env, log, ready, self._say))

    def _choose_port(self, settings: Settings, environment: dict[str, str]) -> int:
        asked = self._port
        if asked is None and ("MEMORIA_GATEWAY_PORT" in environment or settings.gateway.port != DEFAULT_PORT):
            asked = settings.gateway.port
        if asked is not None:
            if not demo.is_free(asked):
                raise ServiceError(Kind.PRECONDITION, f"port {asked} is in use; choose another with --port")
            return asked
        return next(port for port in range(DEFAULT_PORT, DEFAULT_PORT + 200) if demo.is_free(port))

    async def _offer_sign_in(self, base: str, owner: str) -> None:
        with httpx.Client(base_url=base, timeout=5, trust_env=False) as client:  # no proxy to ourselves
            await asyncio.to_thread(request_link, client, owner)
        link = await asyncio.to_thread(follow_free, self._place, owner, self._seen)
        if link:
            self._say(f"sign in as {owner}: {link}")

    def _outbox_seen(self) -> None:
        if self._place.outbox.is_dir():
            self._seen = {path.name for path in self._place.outbox.glob("*.eml")}

    async def _keep(self, settings: Settings) -> None:
        jobs = [asyncio.create_task(child.supervise()) for child in self._children]
        if settings.mail.url is None and settings.mail.url_file is None:
            jobs.append(asyncio.create_task(self._watch_outbox()))
        try:
            await asyncio.gather(*jobs)
        finally:
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)

    async def _watch_outbox(self) -> None:
        """Print links as they are asked for: in development the terminal is the mailbox."""
        while True:
            await asyncio.sleep(0.5)
            for path in sorted(self._place.outbox.glob("*.eml")) if self._place.outbox.is_dir() else []:
                if path.name in self._seen:
                    continue
                with contextlib.suppress(OSError):
                    if time.time() - path.stat().st_mtime < _CLAIM_SECONDS:
                        continue  # perhaps the command's own: it takes its mails out as it follows their links
                    self._seen.add(path.name)
                    recipient, link = read_mail(path)
                    if link:
                        self._say(f"sign in as {recipient}: {link}")

    async def _stop(self) -> None:
        if any(child.pid for child in self._children):
            self._say("stopping …")
        # From the browser's side inwards, so that nothing is cut off below a request that is still being answered.
        for child in reversed(self._children):
            await child.stop()


def _listens(port: int) -> Ready:
    async def ready() -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            return False
        writer.close()
        return True

    return ready


def _serves(run_dir: Path, service: str) -> Ready:
    note = run_dir / f"{service}.port"

    async def ready() -> bool:
        try:
            port = int(note.read_text())
            async with httpx.AsyncClient(timeout=2, trust_env=False) as client:  # no proxy to ourselves
                return (await client.get(f"http://127.0.0.1:{port}/readyz")).status_code == 200
        except (OSError, ValueError, httpx.HTTPError):
            return False

    return ready
