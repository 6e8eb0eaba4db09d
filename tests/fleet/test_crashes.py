"""kill -9 in the middle of an import (F33): restarted, said, finished or named, and nothing found twice."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.fleet, pytest.mark.slow]

FILES = 200
SERVICES = ("gateway", "ingest", "search", "authz", "extract")


def word(number: int) -> str:
    """A word for each file that stands in no other; its last letter keeps the stemmer from shortening it."""
    return "qz" + "".join(chr(ord("a") + int(digit)) for digit in f"{number:04d}") + "x"


def test_kill_each_service_during_an_import(new_fleet, tmp_path: Path) -> None:
    """Every file that was acknowledged is found once; every other was named as refused.

    Broken to see red: the CLI's retry taken out (files are refused, and said so, which this test reports); the external
    id replaced by a random one (files are found twice).
    """
    fleet = new_fleet("--no-demo")
    folder = tmp_path / "papers"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number:04d}.md").write_text(f"# Paper {number}\n\nIt says {word(number)} and no more.\n")
    you = fleet.person("you@localhost")
    done = threading.Event()
    report: list[subprocess.CompletedProcess[str]] = []

    def load() -> None:
        report.append(fleet.cli("add", "--json", str(folder)))
        done.set()

    loader = threading.Thread(target=load)
    loader.start()
    chance = random.Random(33)
    for service in SERVICES:
        time.sleep(chance.uniform(0.4, 1.2))
        pid = fleet.pids().get(service)
        if pid and not done.is_set():
            os.kill(pid, signal.SIGKILL)
    loader.join(280)
    assert done.is_set(), "the import did not end"
    outcome = json.loads(report[0].stdout)
    refused = {Path(entry["path"]).name for entry in outcome["files"] if entry["error"]}
    assert len(outcome["files"]) == FILES
    assert all(entry["error"]["message"] for entry in outcome["files"] if entry["error"])
    said = fleet.said()
    killed = [service for service in SERVICES if f"{service} was killed (SIGKILL); restarting it" in said]
    assert len(killed) >= 3, said  # a fast import may be over before the last is reached

    for attempt in range(2):
        if attempt:
            fleet.restart()  # what was acknowledged outlives a restart of everything, too
            you = fleet.person("you@localhost")
        for number in range(FILES):
            found = you.titles(word(number))
            if f"{number:04d}.md" in refused:
                assert len(found) <= 1
            else:
                assert found == [f"Paper {number}"], (number, found)


def test_kill_9_of_up_leaves_no_process(new_fleet) -> None:
    """Every child hangs on a lifeline that the kernel cuts when `memoria up` dies, however it dies."""
    fleet = new_fleet()
    pids = fleet.pids()
    fleet.process.kill()
    fleet.process.wait(10)
    deadline = time.monotonic() + 20
    while any(_alive(pid) for pid in pids.values()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [name for name, pid in pids.items() if _alive(pid)]
    mine = f"{fleet.data}"
    listing = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert not [line for line in listing.splitlines() if mine in line and sys.executable in line]


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
