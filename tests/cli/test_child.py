"""Supervision of one process: refusals said, crashes restarted, given up on, stopped whatever it does."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_cli.up import child as children
from memoria_cli.up.child import Child

DRAINS = "import sys; open(sys.argv[1], 'w').close(); sys.stdin.read()"
DEAF = "import sys, time; open(sys.argv[1], 'w').close(); time.sleep(600)"
PARENT = f"import subprocess, sys; subprocess.Popen([sys.executable, '-S', '-c', {DEAF!r}, sys.argv[1]]).wait()"


@pytest.fixture
def make(tmp_path: Path) -> Callable[[str], tuple[Child, list[str]]]:
    """`make(program)`: a child that is ready once it has made its file, and what was said of it."""

    def made(program: str) -> tuple[Child, list[str]]:
        said: list[str] = []
        flag = tmp_path / "ready"

        async def ready() -> bool:
            return flag.exists()

        command = [sys.executable, "-S", "-c", program, str(flag)]
        return Child("search", command, dict(os.environ), tmp_path / "logs" / "search.log", ready, said.append), said

    return made


async def test_a_refusal_to_start_is_what_it_said_last(make) -> None:
    """Its own last line, not the JSON of its log; where it said nothing, where the log is."""
    child, _ = make("import sys; print('search: no key'); print('{\"event\": 1}'); sys.exit(1)")
    with pytest.raises(ServiceError) as refused:
        await child.start()
    assert refused.value.kind is Kind.PRECONDITION
    assert refused.value.message == "search did not start: search: no key"


async def test_a_crash_is_restarted_and_said(make) -> None:
    """Killed: said, restarted, back."""
    child, said = make(DRAINS)
    await child.start()
    job = asyncio.create_task(child.supervise())
    first = child.pid
    os.kill(first, signal.SIGKILL)
    await until(lambda: "search is back" in said)
    assert said == ["search was killed (SIGKILL); restarting it", "search is back"]
    assert child.pid != first
    assert child.restarts == 1
    await child.stop()
    await job


@pytest.mark.slow
async def test_what_keeps_crashing_is_given_up(make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six quick deaths are restarted, the seventh is the end, with one line that names the log."""
    monkeypatch.setattr(children, "_QUICK_DEATHS", 2)
    child, said = make("import sys, time; open(sys.argv[1], 'w').close(); time.sleep(0.3)")
    await child.start()
    with pytest.raises(ServiceError) as given_up:
        await asyncio.wait_for(child.supervise(), 30)
    assert given_up.value.kind is Kind.UNAVAILABLE
    assert given_up.value.message.startswith("search keeps crashing; its log is ")
    assert [line for line in said if "restarting" in line] == ["search ended with code 0; restarting it"] * 2
    await child.stop()


async def test_letting_go_of_the_lifeline_is_enough(make) -> None:
    """A child that reads it drains and ends by itself; stopping twice, and what never ran, is no error."""
    child, _ = make(DRAINS)
    await child.stop()
    child, said = make(DRAINS)
    await child.start()
    process = child._process
    await child.stop()
    await child.stop()
    assert process.returncode == 0
    assert said == []


async def test_a_child_that_ignores_its_lifeline_is_killed(make, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its time, and its own children with it. Broken to see red: `kill` of the one process."""
    monkeypatch.setattr(children, "_STOP_SECONDS", 0.2)
    child, _ = make(PARENT)
    await child.start()
    process = child._process
    group = process.pid
    await child.stop()
    assert process.returncode == -signal.SIGKILL
    await until(lambda: not _alive(group))


async def until(happened: Callable[[], bool]) -> None:
    """Poll; the limit is there to fail."""
    for _ in range(1000):
        if happened():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it did not happen within 20 s")


def _alive(group: int) -> bool:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] != "Z":
                return True
    return False
