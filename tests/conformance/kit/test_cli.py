"""The command, as a sibling's developer runs it: options, exit codes, and the files it writes."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import junitparser
import pytest
from harness import free_port
from kit_harness import ASK, PULL, STATE, serve_once
from typer.testing import CliRunner, Result

from memoria_authz.ask.report import proved
from memoria_chassis.settings import Sibling
from memoria_conformance.kit.cli import app
from memoria_conformance.kit.hook_client import UrlHook
from memoria_conformance.kit.model import world_params
from memoria_conformance.kit.suite import packaged_cases

pytestmark = pytest.mark.slow
TOKENS = {"MEMORIA_PULL_TOKEN": PULL, "MEMORIA_ASK_TOKEN": ASK, "MEMORIA_STATE_TOKEN": STATE}


def command(*words: Any, env: dict[str, str] | None = None) -> Result:
    """The command with its tokens in the environment."""
    return CliRunner().invoke(app, [str(word) for word in words], env=TOKENS if env is None else env)


def against(url: str, *words: Any) -> Result:
    """The command with the sibling's own hook."""
    return command("--url", url, "--state-url", f"{url}/__state", "--allow-mutate", *words)


@contextmanager
def fault(url: str, kind: str, call: str) -> Iterator[None]:
    """The sibling commits this fault meanwhile."""
    hook = f"{url}/__state"
    asyncio.run(UrlHook(hook, STATE).ask("fault", {"kind": kind, "call": call}))
    try:
        yield
    finally:
        asyncio.run(UrlHook(hook, STATE).ask("fault", {"kind": "none"}))


def test_a_conforming_sibling_exits_0(url: str, tmp_path: Path) -> None:
    """The last line is the verdict; over a network every case runs; authz takes the report (CON-07)."""
    written = tmp_path / "report.json"
    ended = against(url, "--json", written)
    assert ended.exit_code == 0, ended.output
    assert ended.stdout.splitlines()[-1] == "conformant: Describe transport S1 S1a S2 S3 S6"
    assert "SKIP" not in ended.stdout
    assert proved(Sibling(app="sheets", url=url, report_file=written), "suite.test")


def test_a_wrong_sibling_exits_1_and_every_report_says_so(url: str, tmp_path: Path) -> None:
    """JUnit read back by a JUnit reader: a failure is a failure, a skip a skip. Broken to see red: failures written as
    passed test cases."""
    files = {name: tmp_path / f"report.{name}" for name in ("junit", "json", "html", "badge")}
    sibling = Sibling(app="sheets", url=url, report_file=files["json"])
    with fault(url, "all_visible", "Authorize"):
        ended = against(url, "--call", "S2", "--case", "S2-0*", *[w for n, p in files.items() for w in (f"--{n}", p)])
    assert ended.exit_code == 1
    last = ended.stdout.splitlines()[-1]
    assert last.startswith("partial: S2 (")
    assert not proved(sibling, "localhost")
    xml = junitparser.JUnitXml.fromfile(str(files["junit"]))
    cases = {case.name: case for suite in xml for case in suite}
    failed = {name for name, case in cases.items() if any(isinstance(r, junitparser.Failure) for r in case.result)}
    report = json.loads(files["json"].read_text())
    assert {name.partition(" ")[0] for name in failed} == {r["id"] for r in report["results"] if r["status"] == "fail"}
    assert xml.failures == len(failed) > 3
    assert "S2-04" in files["html"].read_text()
    assert files["badge"].read_text().lstrip().startswith("<svg")


def test_nobody_there_exits_2() -> None:
    """A dead port is not a failing sibling."""
    ended = command("--url", f"http://localhost:{free_port()}")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "nobody listens" in ended.stderr


@pytest.mark.parametrize("words", [["--case", "S9-*"], ["--call", "S2", "--case", "S1-*"], ["--call", "S7"]])
def test_no_case_exits_2(url: str, words: list[str]) -> None:
    """A filter that leaves nothing must not look like a success."""
    assert against(url, *words).exit_code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--url is missing"),
        (["--url", "http://localhost:1", "--state-url", "http://localhost:1"], "--allow-mutate"),
        (["--url", "http://localhost:1", "--state-cmd", "true"], "--allow-mutate"),
        (["--url", "http://localhost:1", "--state-cmd", "x", "--state-url", "y", "--allow-mutate"], "pass one of them"),
        (["--url", "ftp://x"], "scheme://host"),
        (["--url", "localhost:9000"], "scheme://host"),
        (["--url", "http://localhost:1/path"], "scheme://host"),
        (["--url", "http://127.0.0.1:99999"], "scheme://host"),
        (["--url", "http://localhost:1", "--pull-token", "é"], "printable ASCII"),
        (["--url", "http://localhost:1", "--known-failures", "/nowhere"], "cannot be read"),
        (["--url", "http://localhost:1", "--no-such-option"], "No such option"),
        (["--url", "http://localhost:1", "--timeout", "0"], "timeout"),
    ],
)
def test_wrong_usage_exits_2_with_a_sentence(words: list[str], said: str) -> None:
    """Before anything is asked of anybody."""
    ended = command(*words)
    assert ended.exit_code == 2, ended.output
    assert said in ended.stderr


def test_no_token_exits_2() -> None:
    """And the sentence names the variables."""
    ended = command("--url", "http://localhost:1", env={})
    assert ended.exit_code == 2
    assert "MEMORIA_PULL_TOKEN" in ended.stderr


def test_a_hook_that_answers_500_exits_3(url: str) -> None:
    """What is wrong is the hook, not the sibling."""

    async def go() -> Result:
        server, hook = await serve_once(500, b"{}")
        async with server:
            words = ("--url", url, "--state-url", hook, "--allow-mutate", "--case", "S2-0*")
            return await asyncio.to_thread(command, *words)

    ended = asyncio.run(go())
    assert ended.exit_code == 3
    assert "status 500" in ended.stdout


def test_a_broken_state_file_exits_3(tmp_path: Path) -> None:
    """It is the harness that is wrong."""
    (tmp_path / "state.json").write_text("{")
    assert command("--url", "http://localhost:1", "--state-file", tmp_path / "state.json").exit_code == 3


def test_a_state_command(url: str, tmp_path: Path) -> None:
    """The same JSON on stdin and stdout, here passed on to the endpoint."""
    program = tmp_path / "hook.py"
    program.write_text(
        "import sys, urllib.request\n"
        f"url = {url.replace('demo.sheets.localhost', '127.0.0.1')!r} + '/__state'\n"
        f"request = urllib.request.Request(url, sys.stdin.buffer.read(), {{'Authorization': 'Bearer {STATE}'}})\n"
        "sys.stdout.buffer.write(urllib.request.urlopen(request).read())\n"
    )
    words = ("--state-cmd", f"{sys.executable} {program}", "--allow-mutate", "--case", "S2-04")
    ended = command("--url", url, *words)
    assert (ended.exit_code, ended.stdout.splitlines()[-1]) == (
        0,
        f"conformant: S2 · not run: {len(packaged_cases()) - 1} cases",
    )


def test_a_state_file(url: str, tmp_path: Path) -> None:
    """What only looks is shown; what cannot be tried keeps conformance from being claimed, unless that is accepted."""
    world = world_params("by-hand", sheets=True)
    answer = asyncio.run(UrlHook(f"{url}/__state", STATE).ask("load_world", world))
    (tmp_path / "state.json").write_text(json.dumps(answer))
    words = ("--url", url, "--state-file", tmp_path / "state.json", "--prefix", "by-hand", "--call", "S2")
    ended = command(*words)
    assert ended.exit_code == 1
    assert "a state file cannot change anything" in ended.stdout
    assert ended.stdout.splitlines()[-1].startswith("partial: S2 (")
    assert command(*words, "--allow-skipped").exit_code == 0


def test_known_failures(url: str, tmp_path: Path) -> None:
    """Agreed failures do not fail the run; one that passes, or whose day is over, does."""
    known = tmp_path / "known.yaml"
    with fault(url, "miscount", "Announce"):
        failing = against(url, "--call", "S1a", "--json", "-")
        assert failing.exit_code == 1
        ids = [r["id"] for r in json.loads(failing.stdout)["results"] if r["status"] == "fail"]
        known.write_text("".join(f"- {{case: {i}, reason: counting is being mended}}\n" for i in ids))
        assert against(url, "--call", "S1a", "--known-failures", known).exit_code == 0
        known.write_text(known.read_text().replace("mended}", "mended, until: 2020-01-01}"))
        assert against(url, "--call", "S1a", "--known-failures", known).exit_code == 1
    known.write_text(f"- {{case: {ids[0]}, reason: it was so once}}\n")
    ended = against(url, "--call", "S1a", "--known-failures", known)
    assert ended.exit_code == 1
    assert "stale" in ended.stdout.lower()
    known.write_text(f"- {{case: {ids[0]}}}\n")
    assert against(url, "--call", "S1a", "--known-failures", known).exit_code == 2


def test_looking_needs_no_sibling() -> None:
    """list, show, export-world, export-proto."""
    listed = json.loads(command("list", "--json").stdout)
    assert [case["id"] for case in listed] == [case.id for case in packaged_cases()]
    assert len(command("list").stdout.splitlines()) == len(listed)
    assert command("show", "S2-04").stdout.startswith("id: S2-04\n")
    assert command("show", "S2-99").exit_code == 2
    world = json.loads(command("export-world", "--prefix", "mine").stdout)
    assert world == world_params("mine", sheets=True)
    assert "message AuthorizeRequest" in command("export-proto").stdout
    assert b"memoria.sibling.v1" in command("export-proto", "--binary").stdout_bytes


def test_stopping_at_a_failure_leaves_its_state_for_the_curl(url: str) -> None:
    """With --stop the state of the failure stands, so that the command printed shows it again. Broken to see red: the
    teardown at the end of such a run."""
    with fault(url, "all_visible", "Authorize"):
        ended = against(url, "--call", "S2", "--stop")
    assert ended.exit_code == 1
    assert "the state it failed in stands" in ended.stdout
    assert ended.stdout.count("FAIL") == 2  # in the list, and in full
    assert " · not run: " in ended.stdout.splitlines()[-1]
    held = asyncio.run(UrlHook(f"{url}/__state", STATE).ask("load_world", world_params("look", sheets=False)))
    assert held["aliases"]


@pytest.mark.parametrize("name", ["MEMORIA_PULL_TOKEN", "MEMORIA_ASK_TOKEN"])
def test_a_token_that_is_not_accepted_exits_2(url: str, name: str) -> None:
    """One sentence, and not a failure of every case."""
    words = ("--url", url, "--state-url", f"{url}/__state", "--allow-mutate")
    ended = command(*words, env={**TOKENS, name: "wrong-token"})
    assert ended.exit_code == 2
    assert f"does not accept the {'pull' if 'PULL' in name else 'ask'} token" in ended.stderr


def test_an_app_that_never_answers_exits_2() -> None:
    """It takes the connection and says nothing: that is no verdict either, and takes one time-out and not a hundred."""

    async def go() -> Result:
        async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await asyncio.to_thread(command, "--url", f"http://localhost:{port}", "--timeout", "0.3")

    ended = asyncio.run(go())
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "no answer from" in ended.stderr


def test_a_report_that_cannot_be_written_is_said_after_the_verdict(url: str, tmp_path: Path) -> None:
    """What the run found is not lost with the file."""
    ended = against(url, "--case", "S2-01", "--junit", tmp_path / "no such folder" / "x.xml")
    assert ended.exit_code == 2
    assert "conformant: S2" in ended.stdout
    assert "cannot be written" in ended.stderr
