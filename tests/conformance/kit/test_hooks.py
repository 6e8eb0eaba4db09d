"""The state hook's forms: what each takes for an answer, and what it takes for a broken hook."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit_harness import serve_once

from memoria_conformance.kit.hook_client import (
    CommandHook,
    FileHook,
    FunctionHook,
    HookBroke,
    Unsupported,
    UrlHook,
    _answer,
)

ANSWERS: list[tuple[int, bytes, type[Exception] | None]] = [
    (200, b"", None),
    (200, b"{}", None),
    (200, b'{"aliases": {}}', None),
    (200, b"[]", HookBroke),
    (200, b"nonsense", HookBroke),
    (200, b"\xff\xfe", HookBroke),
    (200, b"[" * 100_000, HookBroke),
    (200, b'{"unsupported": true}', Unsupported),
    (501, b"", Unsupported),
    (500, b"{}", HookBroke),
    (404, b"{}", HookBroke),
    (302, b"{}", HookBroke),
]


@pytest.mark.parametrize(("status", "body", "error"), ANSWERS)
async def test_an_endpoint(status: int, body: bytes, error: type[Exception] | None) -> None:
    """200 and a JSON object, or 501; anything else is broken. Broken to see red: the status check."""
    server, url = await serve_once(status, body)
    async with server:
        hook = UrlHook(url, "token")
        if error is None:
            assert isinstance(await hook.ask("edit", {}), dict)
        else:
            with pytest.raises(error):
                await hook.ask("edit", {})


async def test_an_endpoint_that_does_not_answer() -> None:
    """Nobody there, and nobody who ends."""
    server, url = await serve_once(200, b"{}")
    server.close()
    await server.wait_closed()
    with pytest.raises(HookBroke, match="did not answer edit"):
        await UrlHook(url, None).ask("edit", {})


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import sys, json; asked = json.load(sys.stdin); print(json.dumps({'got': asked}))", None),
        ("print('{')", HookBroke),
        ("import sys; sys.exit(3)", HookBroke),
        ("print('{\"unsupported\": true}')", Unsupported),
        ("import time; time.sleep(60)", HookBroke),
        ("while True: print('{' * 10_000)", HookBroke),
        ("import os, time\nif os.fork(): print('{}')\nelse: time.sleep(60)", HookBroke),
    ],
)
async def test_a_program(code: str, error: type[Exception] | None, tmp_path: Path) -> None:
    """The same JSON on stdin and stdout; its exit code and its time count."""
    (tmp_path / "hook.py").write_text(code)
    hook = CommandHook(f"{sys.executable} {tmp_path / 'hook.py'}", timeout=1.0 if "sleep" in code else 30.0)
    if error is None:
        got = (await hook.ask("edit", {"item": "x"}, "setup"))["got"]
        assert got == {"state": "edit", "params": {"item": "x"}, "action": "setup"}
    else:
        with pytest.raises(error):
            await hook.ask("edit", {})


async def test_a_function() -> None:
    """Plain or async; NotImplementedError is no such verb, anything else is broken, and its text is not repeated."""

    def raising(error: Exception) -> Callable[[dict[str, Any]], dict[str, Any]]:
        def function(request: dict[str, Any]) -> dict[str, Any]:
            raise error

        return function

    async def later(request: dict[str, Any]) -> dict[str, Any]:
        return {"got": request["state"]}

    assert await FunctionHook(later).ask("edit", {}) == {"got": "edit"}
    with pytest.raises(Unsupported):
        await FunctionHook(raising(NotImplementedError())).ask("edit", {})
    with pytest.raises(HookBroke) as broke:
        await FunctionHook(raising(RuntimeError("ann@example.test"))).ask("edit", {})
    assert "ann@" not in str(broke.value)
    with pytest.raises(HookBroke):
        await FunctionHook(lambda request: "text").ask("edit", {})  # type: ignore[arg-type, return-value]  # on purpose


@pytest.mark.parametrize("text", [None, "", "[]", "{", '{"aliases": 3}', "{}"])
def test_a_file_that_is_none(text: str | None, tmp_path: Path) -> None:
    """Said when the command starts, before anything is asked."""
    path = tmp_path / "state.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(HookBroke):
        FileHook(path)


async def test_a_file_changes_nothing(tmp_path: Path) -> None:
    """It answers load_world and teardown."""
    (tmp_path / "state.json").write_text(json.dumps({"aliases": {"doc.alpha": "1"}}))
    hook = FileHook(tmp_path / "state.json")
    assert (await hook.ask("load_world", {}))["aliases"] == {"doc.alpha": "1"}
    assert await hook.ask("teardown", {}, "teardown") == {}
    with pytest.raises(Unsupported):
        await hook.ask("edit", {})


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=60)
    | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps).map(str.encode)
)
def test_any_answer_is_an_object_or_broken(body: bytes) -> None:
    """No third thing comes out of a hook's bytes."""
    try:
        assert isinstance(_answer("edit", body), dict)
    except (HookBroke, Unsupported):
        pass
