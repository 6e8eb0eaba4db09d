"""Runs conversions in child processes that have nothing to steal and nothing to spend."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Sequence

from memoria_chassis import log
from memoria_chassis.errors import Kind
from memoria_ingest.convert.result import BROKEN, OUT_OF_MEMORY, TOO_MUCH, Converted, Refused, from_bytes

WALL_SECONDS = 60.0
MAX_OUTPUT = 96 * 1024 * 1024
"""32 MiB of text as JSON, escapes included."""

_AT_ONCE = 2  # one a core
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
"""All a child is told: none of our keys, tokens or settings."""


class Sandbox:
    """Converts files, two at a time, each in a child of its own that is killed at its limits."""

    def __init__(
        self,
        wall_seconds: float = WALL_SECONDS,
        max_output: int = MAX_OUTPUT,
        program: Sequence[str] = ("-m", "memoria_ingest.convert.child"),
    ) -> None:
        self._program = program
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._wall_seconds = wall_seconds
        self._max_output = max_output

    async def probe(self) -> dict[str, bool]:
        """Which of a child's kernel-given bounds hold on this machine; said in the log where one does not."""
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-IB",
            *self._program,
            "--probe",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=_ENVIRONMENT,
            cwd="/",
        )
        output, _ = await child.communicate()
        try:
            held = {name: json.loads(output)[name] is True for name in ("network", "files")}
        except (ValueError, KeyError, TypeError):
            held = {"network": False, "files": False}
        for name, holds in held.items():
            if not holds:
                log.get_logger().warning("the kernel does not bound conversion children", kind=name)
        return held

    async def convert(self, name: str, data: bytes) -> Converted:
        """`data` as text. Raises Refused with the sentence for the file's owner."""
        async with self._slots:
            child = await asyncio.create_subprocess_exec(
                sys.executable,
                "-IB",  # isolated from variables and the current folder; no byte code written
                *self._program,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=_ENVIRONMENT,
                cwd="/",
                start_new_session=True,
            )
            try:
                async with asyncio.timeout(self._wall_seconds):
                    output = await self._exchange(child, name, data)
                    code = await child.wait()
            except TimeoutError:
                raise Refused(TOO_MUCH, Kind.EXHAUSTED) from None
            finally:
                await _end(child)
        # In a thread: a long answer takes a while to take apart, and whatever else runs here goes on meanwhile.
        return await asyncio.to_thread(_read, output, code)

    async def _exchange(self, child: asyncio.subprocess.Process, name: str, data: bytes) -> bytes:
        assert child.stdin is not None
        assert child.stdout is not None
        feed = asyncio.create_task(_feed(child.stdin, name, data))
        output = bytearray()
        try:
            while part := await child.stdout.read(1 << 20):
                output += part
                if len(output) > self._max_output:
                    raise Refused(TOO_MUCH, Kind.EXHAUSTED)
        finally:
            feed.cancel()
            await asyncio.gather(feed, return_exceptions=True)
        return bytes(output)


async def _feed(stdin: asyncio.StreamWriter, name: str, data: bytes) -> None:
    header = name.encode("utf-8", "replace")[-255:]
    try:
        stdin.write(len(header).to_bytes(2, "big") + header)
        stdin.write(data)
        await stdin.drain()
        stdin.close()
    except (OSError, RuntimeError):
        pass  # the child ended early; its exit code says why. uvloop raises RuntimeError for a pipe that is closed


async def _end(child: asyncio.subprocess.Process) -> None:
    """Kill the child and whatever it started: the session is its own, and may outlive it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    # Without this `wait` never returns for a child whose output was not read to its end: it waits for the pipe to be
    # closed, and nothing reads it any more. There is no public way to say so.
    child._transport.close()  # type: ignore[attr-defined] # asyncio and uvloop both have it
    await child.wait()


def _read(output: bytes, code: int) -> Converted:
    if code != 0:
        log.get_logger().warning("a conversion child ended badly", code=code)
        if code in (-signal.SIGKILL, -signal.SIGXCPU, -signal.SIGXFSZ, OUT_OF_MEMORY):
            raise Refused(TOO_MUCH, Kind.EXHAUSTED)
        raise Refused(BROKEN)
    try:
        return from_bytes(output)
    except Refused:
        raise
    except (ValueError, KeyError, TypeError):
        log.get_logger().warning("a conversion child said nothing sensible", size=len(output))
        raise Refused(BROKEN) from None
