"""A service as a process: it refuses in one line, serves health, drains, and does not outlive whoever started it."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memoria_chassis.rpc.allow import token_hash

pytestmark = pytest.mark.slow  # each starts a process

SERVICE = """
import asyncio, os
from pathlib import Path
from memoria.intake.v1 import intake_pb2 as pb, intake_pb2_grpc
from memoria_chassis.process import run_service
folder = Path(os.environ["RUN"])

class Slow(intake_pb2_grpc.IntakeServiceServicer):
    async def Nudge(self, request, context):
        (folder / "started").touch()
        await asyncio.sleep(1)
        return pb.NudgeResponse()

async def build(process):
    (folder / "allow.toml").write_text('[allow]\\n"memoria.intake.v1.IntakeService/Nudge" = ["gateway"]')
    async def ready():
        if (folder / "broken").exists():
            raise ZeroDivisionError("canary")
        return not (folder / "unready").exists()
    async def status():
        return {"documents": 3}
    process.check_ready(ready)
    process.report(status)
    process.on_close(lambda: (folder / "closed-1").touch())
    def fails():
        raise OSError("canary")
    process.on_close(fails)
    server = process.serve_grpc("memoria_ingest", [pb.DESCRIPTOR.services_by_name["IntakeService"]])
    intake_pb2_grpc.add_IntakeServiceServicer_to_server(Slow(), server)
    EXTRA

run_service("probe", build)
"""


class Running:
    """One process."""

    def __init__(self, folder: Path, script: str, **env: str) -> None:
        self.folder = folder
        self.child = subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                "PATH": os.environ["PATH"],
                "RUN": str(folder),
                "MEMORIA_DATA_DIR": str(folder),
                "MEMORIA_DATA_RUN_DIR": str(folder),
                "MEMORIA_RPC_ALLOW_FILE": str(folder / "allow.toml"),
                "MEMORIA_RPC_CALLERS": json.dumps({"gateway": "0" * 64}),
                **env,
            },
        )

    def wait_for(self, name: str) -> str:
        """A file that the process writes."""
        end = time.monotonic() + 15
        while time.monotonic() < end:
            path = self.folder / name
            if path.exists() and (name != "probe.port" or path.read_text()):
                return path.read_text()
            if self.child.poll() is not None:
                raise AssertionError(self.child.communicate()[1])
            time.sleep(0.02)
        raise AssertionError(f"{name} never came")

    def get(self, path: str) -> tuple[int, str]:
        """(status, body) of the internal port."""
        url = f"http://127.0.0.1:{self.wait_for('probe.port')}{path}"
        try:
            with urllib.request.urlopen(url, timeout=5) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def end(self, timeout: float = 15) -> tuple[int, str]:
        """(exit code, standard error) of a process that is ending."""
        _, said = self.child.communicate(timeout=timeout)
        return self.child.returncode, said


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    started: list[Running] = []

    def start(extra: str = "", **env: str) -> Running:
        started.append(Running(tmp_path, SERVICE.replace("EXTRA", extra or "pass"), **env))
        return started[-1]

    yield start
    for running in started:
        if running.child.poll() is None:
            running.child.kill()
            running.child.communicate()


@pytest.mark.parametrize(
    ("extra", "env", "line"),
    [
        ("", {"MEMORIA_TEAM_LABLE": "canary"}, "probe: MEMORIA_TEAM_LABLE is not a setting"),
        ("", {"MEMORIA_CONFIG": "/canary"}, "probe: the file that MEMORIA_CONFIG names cannot be read"),
        ("process.key()", {}, "probe: service_key is not set, neither by value nor by service_key_file"),
        ("raise OSError('canary')", {}, "probe: stopped by an error, OSError; its trace is in the log"),
        ("", {"MEMORIA_RPC_ADDRESSES": '{"probe":"127.0.0.1:0"}'}, "probe: calls over TCP need rpc.tls_cert_file"),
        ("", {"MEMORIA_RPC_ADDRESSES": '{"probe":"unix:/nowhere/x"}'}, "probe: cannot listen at the address of"),
    ],
)  # fmt: skip
def test_a_refusal_to_start_is_one_line_and_exit_1(run: Any, extra: str, env: dict[str, str], line: str) -> None:
    """The first line says it; nothing of a value, and no traceback."""
    code, said = run(extra, **env).end()
    assert code == 1
    assert any(said_line.startswith(line) for said_line in said.split("\n"))
    assert "canary" not in said
    assert "Traceback" not in said


def test_a_port_that_is_taken_is_one_line(run: Any) -> None:
    """The second process on one internal port says so and ends; it does not hang."""
    first = run()
    code, said = run(MEMORIA_INTERNAL_PORT=first.wait_for("probe.port")).end()
    assert code == 1
    assert "probe: cannot listen on an HTTP port: it is taken, or not ours" in said.split("\n")
    assert "Traceback" not in said
    assert first.get("/healthz")[0] == 200


def test_health_readiness_idleness_status_and_metrics(run: Any) -> None:
    """Ready only while its checks say so; a check that breaks is not ready; nothing else is served there."""
    running = run()
    assert running.get("/healthz") == (200, "ok\n")
    assert running.get("/readyz") == (200, "ready\n")
    (running.folder / "unready").touch()
    assert running.get("/readyz")[0] == 503
    (running.folder / "unready").unlink()
    (running.folder / "broken").touch()
    assert running.get("/readyz") == (503, "not ready\n")
    (running.folder / "broken").unlink()
    idle = json.loads(running.get("/idle")[1])
    assert (idle["in_flight"], idle["safe_to_stop"]) == (0, True)
    assert json.loads(running.get("/status")[1]) == {
        "service": "probe", "pid": running.child.pid, "ready": True, "documents": 3, "callers": {},
    }  # fmt: skip
    assert "memoria_rpc_requests" in running.get("/metrics")[1]
    assert running.get("/anything")[0] == 404
    running.child.terminate()
    assert running.end()[0] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_lets_requests_end_and_closes_everything(run: Any, number: int) -> None:
    """A request under way is answered after the stop was asked for; closers run in reverse, one failing or not."""
    running = run(MEMORIA_RPC_CALLERS=json.dumps({"gateway": token_hash("t")}))
    running.wait_for("probe.port")
    assert (running.folder / "probe.sock").stat().st_mode & 0o077 == 0
    call = (
        "import asyncio\nfrom memoria.intake.v1 import intake_pb2 as pb, intake_pb2_grpc\n"
        "from memoria_chassis.rpc.client import Peer\n"
        "async def main():\n"
        f"    p = Peer('probe', 'unix:{running.folder}/probe.sock', 't', None)\n"
        "    await p.call(intake_pb2_grpc.IntakeServiceStub(p.channel).Nudge, pb.NudgeRequest(), timeout=10)\n"
        "    print('answered')\n"
        "    await p.close()\n"
        "asyncio.run(main())\n"
    )
    caller = subprocess.Popen([sys.executable, "-c", call], stdout=subprocess.PIPE, text=True)
    running.wait_for("started")
    running.child.send_signal(number)
    assert caller.communicate(timeout=15)[0] == "answered\n"
    code, said = running.end()
    assert code == 0
    assert (running.folder / "closed-1").exists()
    assert "canary" not in said


def test_the_end_of_its_lifeline_stops_it(run: Any) -> None:
    """`memoria up` holds the other end of its standard input; without the variable the end of it means nothing."""
    running = run(MEMORIA_LIFELINE="1")
    running.wait_for("probe.port")
    code, _ = running.end()  # communicate closes standard input
    assert code == 0
    assert (running.folder / "closed-1").exists()


def test_without_a_lifeline_the_end_of_input_means_nothing(run: Any) -> None:
    """Started by hand, with nothing on its standard input."""
    running = run()
    running.wait_for("probe.port")
    running.child.stdin.close()
    running.child.stdin = None
    time.sleep(0.3)
    assert running.get("/healthz")[0] == 200
    running.child.terminate()
    assert running.end()[0] == 0
