"""`memoria up`: from an empty folder to an answer, and back to nothing."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from harness import own_environment

pytestmark = pytest.mark.fleet

MEMORIA = str(Path(sys.executable).parent / "memoria")


def test_an_empty_folder_becomes_an_answering_instance(new_fleet) -> None:
    """The printed URL is ready, the printed link signs in, the demo's papers are found, Ctrl-C leaves nothing."""
    fleet = new_fleet()
    said = fleet.said()
    assert f"memoria is up: {fleet.url}" in said
    assert httpx.get(f"{fleet.url}/readyz").status_code == 200
    link = next(line for line in said.splitlines() if line.startswith("sign in as you@localhost: ")).split()[-1]
    browser = httpx.Client(base_url=fleet.url)
    assert browser.get(link).headers["location"] == "/auth/landed?next=%2F"
    assert "you@localhost" in browser.get("/").text
    assert httpx.Client(base_url=fleet.url).get(link).status_code == 400  # once only
    fleet.settled()
    found = json.loads(fleet.cli("search", "--json", "jellyfish blocked the cooling intake").stdout)
    assert found["results"]
    assert found["results"][0]["app"] == "docs"
    pids = fleet.pids()
    run_dir = fleet.run_dir
    assert fleet.stop() == 0
    for pid in pids.values():
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert not run_dir.exists()  # the index was there, in RAM, readable
    assert not (fleet.data / "run.json").exists()
    assert "is not running" in fleet.cli("status").stderr


def test_a_second_up_on_the_same_data_is_refused(new_fleet) -> None:
    """Two would write the same files."""
    fleet = new_fleet("--no-demo")
    second = fleet.cli("up")
    assert second.returncode == 1
    assert "already running on this data directory" in second.stderr


def test_a_taken_port_is_said(new_fleet, tmp_path: Path) -> None:
    """One clear line, exit code 1."""
    fleet = new_fleet("--no-demo")
    command = [MEMORIA, "up", "--data", str(tmp_path / "other"), "--port", str(fleet.port)]
    second = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert second.returncode == 1
    assert f"port {fleet.port} is in use" in second.stderr


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ('[team]\nowner = ["a@b.test"]\n', "team.owner"),
        ('[keys]\ndek = "abc"\n', "a secret is given by dek_file"),
        ("[team\n", "not valid TOML"),
        ('[ai]\nposition = "local"\n', "extract did not start: extract: ai.position is not off"),
        ('[team]\nzone = "example.test"\n', "MEMORIA_DEK is not set"),
        ('[bucket]\nurl = "ftp://bucket.example"\n', "a bucket is file://"),
        ('[home]\nurl = "http://demo.home.localhost:1"\n', "authz: token is not set"),
        (
            '[[sibling]]\napp = "docs"\nurl = "http://other.docs.localhost:1"\n',
            "did not start",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused_at_start(tmp_path: Path, config: str, sentence: str) -> None:
    """A wrong or unfulfillable setting is one clear line, not a half-working instance (AUT-13, DEP-01)."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "memoria.toml").write_text(config)
    ended = subprocess.run(
        [MEMORIA, "up", "--data", str(data), "--no-demo"],
        capture_output=True,
        text=True,
        timeout=120,
        env=own_environment(),
    )
    assert ended.returncode == 1
    assert sentence in ended.stderr
    assert not _processes(data)


def test_ctrl_c_while_starting_leaves_nothing(tmp_path: Path) -> None:
    """Stopping is possible at any moment, and takes everything along."""
    data = tmp_path / "data"
    process = subprocess.Popen(
        [MEMORIA, "up", "--data", str(data)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=own_environment()
    )
    assert process.stdout is not None
    assert b"starting memoria" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=40)
    assert not _processes(data)


def _processes(data: Path) -> list[str]:
    """Processes of ours that were started for `data`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if f"MEMORIA_DATA_DIR={data}".encode() in (entry / "environ").read_bytes():
                    found.append(entry.name)
            except OSError:
                continue  # gone meanwhile, or not ours
    return found
