"""The demo apps as processes, asked by memoria's own client."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memoria.home.v1 import home_pb2
from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.connect_client import ConnectClient

pytestmark = pytest.mark.slow


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(*args: str, **env: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "MEMORIA_LIFELINE": "1", **env},
    )


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("it did not start")


async def test_an_app_serves_and_ends_with_its_parent(tmp_path: Path) -> None:
    """Our client reads the feed and content of the packaged world; the end of stdin ends the process; no word is
    logged. A reply that breaks off and a sleep are what the client says they are."""
    port = free_port()
    tokens = {f"MEMORIA_SIBLING_{scope}_TOKEN": scope.lower() for scope in ("PULL", "ASK", "STATE")}
    args = ("--app", "docs", "--port", str(port), "--db", str(tmp_path / "docs.sqlite"))
    process = start("memoria_conformance.sibling", *args, **tokens)
    try:
        wait_for(port)
        url = f"http://demo.docs.localhost:{port}"
        async with ConnectClient(url, "pull", team="demo", zone="localhost", app="docs") as client:
            service = "memoria.sibling.v1.SiblingService"
            page = await client.call(f"{service}/ListChanges", pb.ListChangesRequest(), pb.ListChangesResponse, 10)
            request = pb.GetContentRequest(item_id=page.rows[0].item_id)
            content = await client.call(f"{service}/GetContent", request, pb.GetContentResponse, 10)
            assert content.title == "Welcome aboard"
            assert client.origin.owns(content.link)
            for fault, kind in (("close", Kind.UNAVAILABLE), ("redirect", Kind.UNAVAILABLE), ("sleep", Kind.DEADLINE)):
                await set_fault(url, fault)
                with pytest.raises(ServiceError) as caught:
                    await client.call(f"{service}/GetContent", request, pb.GetContentResponse, 0.5)
                assert caught.value.kind is kind
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(10) == 0
        assert process.stdout is not None
        output = process.stdout.read()
        assert b"Welcome" not in output
        assert b"GetContent" not in output
    finally:
        process.kill()
        process.wait()


async def set_fault(url: str, kind: str) -> None:
    import httpx  # the hook is no part of the contract, so memoria's client does not speak it

    async with httpx.AsyncClient(trust_env=False) as http:
        body = {"state": "fault", "params": {"kind": kind, "seconds": 20, "call": "GetContent"}}
        target = url.replace("demo.docs.localhost", "127.0.0.1") + "/__state"
        reply = await http.post(target, json=body, headers={"authorization": "Bearer state"})
        assert reply.status_code == 200


async def test_the_home_serves_too() -> None:
    """The roster over a socket, by the same client under the home's label."""
    port = free_port()
    process = start("memoria_conformance.home", "--port", str(port), MEMORIA_HOME_TOKEN="h")
    try:
        wait_for(port)
        url = f"http://demo.home.localhost:{port}"
        async with ConnectClient(url, "h", team="demo", zone="localhost", app="home") as client:
            method = "memoria.home.v1.HomeService/GetRoster"
            roster = await client.call(method, home_pb2.GetRosterRequest(), home_pb2.GetRosterResponse, 10)
        assert len(roster.person_refs) == 6
    finally:
        process.kill()
        process.wait()
