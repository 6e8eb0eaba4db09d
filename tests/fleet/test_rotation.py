"""The tokens of a running fleet are rotated under its searches, with the command killed on the way (CON-17, G12)."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from harness import own_environment

from memoria_chassis.rpc.allow import TOKEN_KEY

pytestmark = [pytest.mark.fleet, pytest.mark.slow]

KILLS = 3


def command(fleet: Any, *words: str) -> "subprocess.Popen[str]":
    """`memoria tokens rotate`, under way."""
    line = [
        str(Path(sys.executable).parent / "memoria"),
        "tokens",
        "rotate",
        "--data",
        str(fleet.data),
        "--json",
        *words,
    ]
    return subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=own_environment(), start_new_session=True)


def tokens(fleet: Any) -> dict[str, str]:
    """What memoria's files hold."""
    return {
        path.name: path.read_text().strip()
        for path in (fleet.data / "tokens").glob("*.*")
        if path.suffix[1:] in ("pull", "ask")
    }


def callers(fleet: Any) -> dict[str, str]:
    """The tokens that memoria's services know one another by."""
    return {path.stem: path.read_text().strip() for path in (fleet.run_dir / "callers").glob("*.caller")}


def knows(fleet: Any, token: str) -> bool:
    """Whether search takes a token for a caller's: it says whether the RPC is another's, which no stranger hears."""
    with grpc.insecure_channel(f"unix:{fleet.run_dir / 'search.sock'}") as channel:
        call = channel.unary_unary("/memoria.index.v1.IndexService/GetLineage")
        try:
            call(b"", metadata=((TOKEN_KEY, token),), timeout=5)
        except grpc.RpcError as error:
            return error.code() is not grpc.StatusCode.UNAUTHENTICATED
    return True


def refused(fleet: Any, name: str, token: str) -> bool:
    """Whether a demo app takes a token no longer."""
    app, scope = name.split(".")
    method = "Authorize" if scope == "ask" else "ListChanges"
    reply = httpx.post(
        f"http://127.0.0.1:{fleet.app_port(app)}/memoria.sibling.v1.SiblingService/{method}",
        json={},
        headers={"Authorization": f"Bearer {token}", "Connect-Protocol-Version": "1"},
    )
    return reply.status_code == 401


def test_no_search_loses_an_app_while_tokens_are_rotated(fleet: Any) -> None:
    """Searches run throughout; the command is killed at random moments and run again to its end. Afterwards every token
    is another one, our own services' as well, the old ones are refused, and a restart of everything brings none back.

    Broken to see it red: a service that reads its token once; a demo app that takes its first token again.
    """
    ann = fleet.person("you@localhost")
    old = tokens(fleet)
    assert len(old) == 6
    own = callers(fleet)
    assert set(own) == {"gateway", "search", "ingest"}
    assert [knows(fleet, token) for token in own.values()] == [True] * 3
    assert not [name for name, token in old.items() if refused(fleet, name, token)]
    over, notices = threading.Event(), []

    def search() -> None:
        while not over.is_set():
            notices.extend(ann.search("overtime rota")["notices"])

    searching = threading.Thread(target=search)
    searching.start()
    try:
        draw = random.Random(7)
        for _ in range(KILLS):
            running = command(fleet)
            time.sleep(draw.uniform(0.4, 1.2))  # importing takes the first part of it
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
        for _ in range(2):  # the first may only finish the one that was under way
            ended = command(fleet)
            said = json.loads(ended.communicate(timeout=60)[0])
            assert ended.returncode == 0, said
            assert {each["phase"] for each in said["tokens"]} == {3}
    finally:
        over.set()
        searching.join()
    assert [notice["kind"] + " " + notice["app"] for notice in notices] == []
    new = tokens(fleet)
    assert not set(new.values()) & set(old.values())
    assert [knows(fleet, token) for token in own.values()] == [False] * 3
    assert [knows(fleet, token) for token in callers(fleet).values()] == [True] * 3
    assert not list((fleet.data / "tokens").glob("*.next"))
    for _ in range(2):
        assert [name for name, token in old.items() if refused(fleet, name, token)] == list(old)
        assert not [name for name, token in new.items() if refused(fleet, name, token)]
        fleet.restart()
    assert fleet.person("you@localhost").search("overtime rota")["notices"] == []


def test_an_app_that_is_down_is_named_and_gone_on_with(fleet: Any) -> None:
    """Its port refuses: the others are done, the command fails and says why, and a later run rotates that one alone."""
    ports = fleet.data / "demo" / "ports.json"
    known = json.loads(ports.read_text())
    ports.write_text(json.dumps(known | {"docs": 1}))
    ended = command(fleet)
    found = {each["token"]: each for each in json.loads(ended.communicate(timeout=60)[0])["tokens"]}
    assert ended.returncode == 1
    assert {name for name, each in found.items() if each["phase"] != 3} == {"docs.pull", "docs.ask"}
    assert found["docs.ask"]["reason"] == "the demo app could not be reached"
    ports.write_text(json.dumps(known))
    again = command(fleet)
    assert {each["token"] for each in json.loads(again.communicate(timeout=60)[0])["tokens"]} == {
        "docs.pull",
        "docs.ask",
    }
    assert again.returncode == 0
