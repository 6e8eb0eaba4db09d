"""One process under supervision: started with a lifeline, restarted when it ends by itself, stopped by letting go."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from memoria_chassis.errors import Kind, ServiceError

_STOP_SECONDS = 10.0
_START_SECONDS = 120.0
_QUICK_SECONDS = 30.0
_QUICK_DEATHS = 6
"""A process that dies this often, each time within half a minute, is not restarted a seventh time."""

Say = Callable[[str], None]
Ready = Callable[[], Awaitable[bool]]


class Child:
    """A supervised process. `ready` says when it serves; `say` tells the person at the terminal."""

    def __init__(
        self,
        name: str,
        command: list[str],
        env: dict[str, str],
        log: Path,
        ready: Callable[[], Awaitable[bool]],
        say: Say,
    ) -> None:
        self.name = name
        self._command = command
        self._env = env
        self._log = log
        self._ready = ready
        self._say = say
        self._process: asyncio.subprocess.Process | None = None
        self._herald: asyncio.Task[None] | None = None
        self._stopping = False
        self.restarts = 0

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return self._process.pid if self._process else None

    async def start(self) -> None:
        """Start and wait until it serves. Raises PRECONDITION with what it said if it refuses to."""
        await self._spawn()
        assert self._process is not None
        began = time.monotonic()
        while time.monotonic() - began < _START_SECONDS:
            if self._process.returncode is not None:
                raise ServiceError(Kind.PRECONDITION, f"{self.name} did not start: {self._last_words()}")
            if await self._ready():
                return
            await asyncio.sleep(0.05)
        raise ServiceError(Kind.DEADLINE, f"{self.name} was not ready after {_START_SECONDS:.0f} s")

    async def _spawn(self) -> None:
        self._log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._log.open("ab") as log:
            # The child's standard input is its lifeline: the kernel closes it however this process ends. A session of
            # its own keeps the terminal's Ctrl-C from reaching it before we have said goodbye in order.
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=self._env,
                start_new_session=True,
            )

    def _last_words(self) -> str:
        """The last line it printed itself, which is its refusal; log lines are JSON and say less."""
        with contextlib.suppress(OSError):
            lines = self._log.read_text(errors="replace").splitlines()[-40:]
            for line in reversed(lines):
                if line.strip() and not line.startswith("{"):
                    return line.strip()[:300]
        return f"see {self._log}"

    async def supervise(self) -> None:
        """Restart it as often as it ends by itself. Raises UNAVAILABLE when it keeps dying."""
        quick = 0
        while True:
            assert self._process is not None
            began = time.monotonic()
            code = await self._process.wait()
            if self._stopping:
                return
            quick = quick + 1 if time.monotonic() - began < _QUICK_SECONDS else 1
            if quick > _QUICK_DEATHS:
                raise ServiceError(Kind.UNAVAILABLE, f"{self.name} keeps crashing; its log is {self._log}")
            self._say(f"{self.name} {_ended(code)}; restarting it")
            await asyncio.sleep(min(0.1 * 2 ** (quick - 1), 3.0))
            if self._stopping:
                return
            await self._spawn()
            self.restarts += 1
            if self._herald:
                self._herald.cancel()
            self._herald = asyncio.get_running_loop().create_task(self._say_when_back(self._process))

    async def _say_when_back(self, process: asyncio.subprocess.Process | None) -> None:
        while process is self._process and process is not None and process.returncode is None and not self._stopping:
            if await self._ready():
                self._say(f"{self.name} is back")
                return
            await asyncio.sleep(0.1)

    async def stop(self) -> None:
        """Let go of the lifeline, wait for it to drain, then insist."""
        self._stopping = True
        if self._herald:
            self._herald.cancel()
        process = self._process
        if process is None or process.returncode is not None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), _STOP_SECONDS)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def _ended(code: int) -> str:
    if code < 0:
        return f"was killed ({signal.Signals(-code).name})"
    return f"ended with code {code}"
