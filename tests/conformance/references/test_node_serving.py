"""The parts of the Node sibling that others take over: what they tell of an error, and what they can be given."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

NODE = Path(__file__).resolve().parents[3] / "conformance/siblings/node"
pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not (NODE / "node_modules").is_dir(),
    reason="needs node, and `npm ci` in its folder",
)

SERVER = """
import { ConnectError, Code } from "@connectrpc/connect";
import { siblingServer } from "./serving.mjs";
import { Tokens } from "./tokens.mjs";
const tokens = new Tokens();
tokens.add("first", "pull", "pull-1");
const service = {
  getContent({ itemId }) {
    if (itemId === "shape") return { revision: 7 };
    if (itemId === "none") throw new ConnectError("no such content", Code.NotFound);
    return null.body; // quillwort
  },
};
const state = async ({ state }) => (state === "known" ? {} : state === "none" ? null : null.page);
const told = [];
async function ask(path, body, token = "pull-1") {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const reply = await fetch(`http://127.0.0.1:${server.address().port}${path}`, { method: "POST", headers, body });
  return [reply.status, await reply.text()];
}
const content = (itemId) => ask("/memoria.sibling.v1.SiblingService/GetContent", JSON.stringify({ itemId }));
const hook = (body) => ask("/__state", body, "state-1");
let server;
async function served(options, calls) {
  server = siblingServer({ service, tokens, state, stateToken: "state-1", ...options });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const said = await calls();
  server.close();
  server.closeAllConnections();
  return said;
}
"""


def run(script: str, **environment: str) -> tuple[Any, str]:
    """What a script in the sibling's folder prints, as JSON, and its stderr."""
    ended = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        cwd=NODE,
        env={name: value for name, value in os.environ.items() if name != "NODE_ENV"} | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return json.loads(ended.stdout or "null"), ended.stderr


FAILING = SERVER + "console.log(JSON.stringify(await served({}, async () => [await content('x'), await hook('{}')])));"


def test_an_error_is_told_on_stderr_and_not_in_the_reply() -> None:
    """With its stack, of a call and of the hook; the reply has no word of it. Broken on 2026-11-30 to see red: the
    interceptor left out; the hook's errors not handed on."""
    replies, told = run(FAILING)
    assert replies[0] == [500, '{"code":"internal","message":"internal error"}']
    assert replies[1] == [500, '{"code":"internal","message":"the hook failed (TypeError)"}']
    assert "GetContent failed: TypeError: Cannot read properties of null (reading 'body')\n    at " in told
    assert "hook's undefined failed: TypeError: Cannot read properties of null (reading 'page')\n    at " in told


def test_in_production_the_words_of_an_error_are_not_logged() -> None:
    """They may quote a page: the class is enough to look further."""
    replies, told = run(FAILING, NODE_ENV="production")
    assert [status for status, _ in replies] == [500, 500]
    assert "GetContent failed (TypeError)\n" in told
    assert "Cannot read" not in told
    assert "    at " not in told


def test_on_error_takes_the_place_of_stderr() -> None:
    """It is told of what a function throws and of a reply that cannot be written, not of an answer that is an error,
    nor of what no hook was asked."""
    script = """
    const calls = async () => [
      await content("none"), await content("x"), await content("shape"),
      await hook('{"state": "known"}'), await hook('{"state": "none"}'), await hook("{"), await hook('{"state": "x"}'),
    ];
    const replies = await served({ onError: (error, what) => told.push([error.constructor.name, what]) }, calls);
    console.log(JSON.stringify({ statuses: replies.map(([status]) => status), told }));
    """
    said, stderr = run(SERVER + script)
    assert stderr == ""
    assert said["statuses"] == [404, 500, 500, 200, 501, 400, 500]
    assert [what for _, what in said["told"]] == ["GetContent", "GetContent", "the state hook's x"]
    assert said["told"][0][0] == "TypeError"


def test_other_paths_are_the_apps_own() -> None:
    """404 without a handler for them, whatever they are called; the contract's paths never reach it."""
    script = """
    const paths = ["/items/7", "/", "/memoria.sibling.v1.SiblingService/Nothing"];
    const calls = () => Promise.all(paths.map((path) => ask(path, "{}")));
    const other = (req, res) => res.writeHead(200).end(`own ${req.url}`);
    console.log(JSON.stringify([await served({}, calls), await served({ other }, calls)]));
    """
    alone, with_site = run(SERVER + script)[0]
    assert [status for status, _ in alone] == [404, 404, 404]
    assert with_site[:2] == [[200, "own /items/7"], [200, "own /"]]
    assert with_site[2][0] == 404


def test_the_cursor_key_is_the_apps_own() -> None:
    """Another process with the same key opens the cursor, one with another key does not; a short key is refused."""
    script = """
    import { Cursors } from "./cursors.mjs";
    const refused = [undefined, Buffer.alloc(15), "0123456789abcdef"].map((key) => {
      try { new Cursors(key); return ""; } catch (error) { return error.constructor.name; }
    });
    const cursor = new Cursors(Buffer.alloc(32, 1)).make("cursor", "first", "e7");
    const opened = [1, 2].map((fill) => new Cursors(Buffer.alloc(32, fill)).open("cursor", "first", cursor));
    console.log(JSON.stringify({ refused, opened }));
    """
    assert run(script)[0] == {"refused": ["RangeError"] * 3, "opened": ["e7", None]}


def test_tokens_are_stored_as_hashes_and_loaded_again() -> None:
    """Through JSON; what was never stored by `hashes` is refused."""
    script = """
    import { Tokens } from "./tokens.mjs";
    const refused = [{}, { consumer: "first", scope: "all", sha256: "0".repeat(64) },
                     { consumer: "first", scope: "pull", sha256: "pull-1" }].map((hash) => {
      try { new Tokens([hash]); return ""; } catch (error) { return error.constructor.name; }
    });
    const tokens = new Tokens();
    tokens.add("first", "pull", "pull-1");
    tokens.add("first", "pull", "pull-2");
    const text = JSON.stringify(tokens.hashes);
    const again = new Tokens(JSON.parse(text));
    again.retire("first", "pull", "pull-2");
    const admitted = ["pull-1", "pull-2"].map((token) => again.admit(`Bearer ${token}`, "Announce").consumer);
    console.log(JSON.stringify({ refused, plain: text.includes("pull-"), admitted, left: again.hashes.length }));
    """
    assert run(script)[0] == {"refused": ["RangeError"] * 3, "plain": False, "admitted": [None, "first"], "left": 1}


@pytest.mark.parametrize("missing", ["MEMORIA_PULL_TOKEN", "MEMORIA_ASK_TOKEN", "MEMORIA_STATE_TOKEN"])
def test_a_missing_token_is_called_by_its_variable(missing: str) -> None:
    """At start, before anything listens."""
    tokens = {f"MEMORIA_{name}_TOKEN": name for name in ("PULL", "ASK", "STATE")} | {missing: ""}
    said, stderr = run('await import("./tiny-dev.mjs");', **tokens)
    assert said is None
    assert f"Error: {missing} is not set" in stderr
