"""The sibling's state hook, in its four forms: a URL, a program, a file, a function (docs/siblings/state-hook.md)."""

import asyncio
import inspect
import json
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import httpx

from memoria_conformance.kit.http_client import NetworkChannel, NoReply, Request

Json = dict[str, Any]
HookFunction = Callable[[Json], Json | Awaitable[Json]]
"""Takes `{"state", "params", "action"}` and answers as the hook would; raise NotImplementedError for no such verb."""


ANSWER_LIMIT = 16 * 1024 * 1024
"""Bytes of a hook's answer that are read."""


class HookBroke(Exception):
    """The hook failed: nothing can be said about the sibling (exit 3). Its text holds no parameter."""


class Unsupported(Exception):
    """The hook has no such verb."""


class Hook(Protocol):
    """A way to change the sibling's state."""

    fixed: bool

    async def ask(self, verb: str, params: Json, action: str = "setup") -> Json:
        """The hook's answer. Raises Unsupported or HookBroke."""
        ...


class UrlHook:
    """`POST` to a URL."""

    fixed = False

    def __init__(self, url: str, token: str | None, timeout: float = 60.0) -> None:
        self.secret = token or ""
        parsed = httpx.URL(url)
        self._path = parsed.raw_path.decode()
        self._channel = NetworkChannel(str(parsed.copy_with(raw_path=b"/")), timeout)
        credentials = (("Authorization", f"Bearer {token}"),) if token else ()
        self._headers = (("Content-Type", "application/json"), *credentials)

    async def ask(self, verb: str, params: Json, action: str = "setup") -> Json:
        """The hook's answer. Raises Unsupported or HookBroke."""
        body = json.dumps({"state": verb, "params": params, "action": action}).encode()
        try:
            reply = await self._channel.send(Request(self._path, self._headers, body))
        except NoReply as error:
            raise HookBroke(f"the state hook did not answer {verb}: {error}") from None
        if reply.status == 501:
            raise Unsupported(verb)
        if reply.status != 200:
            raise HookBroke(f"the state hook answered {verb} with status {reply.status}")
        return _answer(verb, reply.body)


class CommandHook:
    """A program: the request on stdin, the answer on stdout."""

    fixed = False

    def __init__(self, command: str, timeout: float = 60.0) -> None:
        self._command, self._timeout = command, timeout

    async def ask(self, verb: str, params: Json, action: str = "setup") -> Json:
        """The hook's answer. Raises Unsupported or HookBroke."""
        body = json.dumps({"state": verb, "params": params, "action": action}).encode()
        process = await asyncio.create_subprocess_shell(
            self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # so that what the shell started can be ended with it
        )
        try:
            async with asyncio.timeout(self._timeout):
                out = await _talk(process, body)
        except TimeoutError:
            raise HookBroke(f"the state command did not end within {self._timeout:g} s on {verb}") from None
        except _TooMuch:
            raise HookBroke(f"the state command's answer to {verb} is too large") from None
        finally:
            _end(process)
            # Left to the collector, its pipes would be closed in a loop that is closed by then.
            process._transport.close()  # type: ignore[attr-defined] # asyncio offers no other way
        if process.returncode != 0:
            raise HookBroke(f"the state command ended with {process.returncode} on {verb}")
        return _answer(verb, out)


class _TooMuch(Exception):
    """More than ANSWER_LIMIT."""


async def _talk(process: asyncio.subprocess.Process, body: bytes) -> bytes:
    """The request in, the answer out, and the end of the program."""
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the program was started without pipes")

    async def tell(stdin: asyncio.StreamWriter) -> None:
        try:
            stdin.write(body)
            await stdin.drain()
            stdin.close()
        except ConnectionError:
            pass  # it does not want to know, which is its business

    telling = asyncio.create_task(tell(process.stdin))
    try:
        out = bytearray()
        while part := await process.stdout.read(64 * 1024):
            out += part
            if len(out) > ANSWER_LIMIT:
                raise _TooMuch
        await process.wait()
    finally:
        telling.cancel()
    return bytes(out)


def _end(process: asyncio.subprocess.Process) -> None:
    """End the program with all that it started; nothing where it has ended by itself."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # all of it is gone already


class FunctionHook:
    """A function of this process, plain or async."""

    fixed = False

    def __init__(self, function: HookFunction) -> None:
        self._function = function

    async def ask(self, verb: str, params: Json, action: str = "setup") -> Json:
        """The hook's answer. Raises Unsupported or HookBroke."""
        try:
            answer = self._function({"state": verb, "params": params, "action": action})
            answer = await answer if inspect.isawaitable(answer) else answer
        except NotImplementedError:
            raise Unsupported(verb) from None
        except Exception as error:
            raise HookBroke(f"the state function raised {type(error).__name__} on {verb}") from error
        return _checked(verb, answer)


class FileHook:
    """What somebody loaded by hand: the answer of `load_world` is in a file, and nothing can be changed."""

    fixed = True

    def __init__(self, path: Path) -> None:
        """HookBroke where the file is not what `load_world` would have answered."""
        try:
            self.answer = _answer("load_world", path.read_bytes())
        except OSError:
            raise HookBroke("the state file cannot be read") from None
        if not isinstance(self.answer.get("aliases"), dict):
            raise HookBroke("the state file has no `aliases`")

    async def ask(self, verb: str, params: Json, action: str = "setup") -> Json:
        """The file for load_world, nothing for teardown, Unsupported for every change."""
        if verb == "load_world":
            return self.answer
        if verb == "teardown":
            return {}
        raise Unsupported(verb)


def _answer(verb: str, body: bytes) -> Json:
    try:
        return _checked(verb, json.loads(body or b"{}"))
    except (ValueError, RecursionError):
        raise HookBroke(f"the state hook's answer to {verb} is not JSON") from None


def _checked(verb: str, answer: Any) -> Json:
    if not isinstance(answer, dict):
        raise HookBroke(f"the state hook's answer to {verb} is not a JSON object")
    if answer.get("unsupported"):
        raise Unsupported(verb)
    return answer
