"""Starting authz: what it refuses, and who may call it once it serves (AUT-13, RUL-07, DEP-01)."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from memoria.gate.v1 import gate_pb2 as pb
from memoria.gate.v1 import gate_pb2_grpc
from memoria.sibling.v1 import sibling_pb2
from memoria_authz.__main__ import build
from memoria_chassis.config import load_settings
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import encode_key
from memoria_chassis.process import Process
from memoria_chassis.rpc.allow import token_hash
from memoria_chassis.rpc.client import Peer
from memoria_chassis.rpc.server import bind

CALLERS = ("gateway", "search", "ingest", "extract")


def environment(folder: Path, **changes: str | None) -> dict[str, str]:
    """What provisioning gives authz; a change of None leaves a variable out."""
    values: dict[str, str | None] = {
        "MEMORIA_OWNERS": "ann@example.test",
        "MEMORIA_SERVICE_KEY": encode_key(b"k" * 32),
        "MEMORIA_DATA_DIR": str(folder / "data"),
        "MEMORIA_DATA_RUN_DIR": str(folder),
        "MEMORIA_RPC_CALLERS": json.dumps({name: token_hash(f"token-{name}") for name in CALLERS}),
        "MEMORIA_SIBLING_DOCS_URL": "http://demo.docs.localhost:1",
        "MEMORIA_SIBLING_DOCS_ASK_TOKEN": "ask",
    }
    return {name: value for name, value in (values | changes).items() if value is not None}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"MEMORIA_OWNERS": None}, "team.owners"),
        ({"MEMORIA_OWNERS": " , "}, "team.owners"),
        ({"MEMORIA_OWNERS": "ann"}, "an owner is an e-mail address"),
        ({"MEMORIA_HOME_URL": "http://demo.home.localhost:1"}, "token is not set"),
        ({"MEMORIA_HOME_URL": "http://other.home.localhost:1", "MEMORIA_HOME_TOKEN": "t"}, "not <team>.<app>.<zone>"),
        ({"MEMORIA_HOME_URL": "http://demo.docs.localhost:1", "MEMORIA_HOME_TOKEN": "t"}, "not <team>.<app>.<zone>"),
        ({"MEMORIA_SERVICE_KEY": None}, "service_key is not set"),
        ({"MEMORIA_SERVICE_KEY": "short"}, "key"),
        ({"MEMORIA_SIBLING_DOCS_ASK_TOKEN": None}, "ask_token is not set"),
        ({"MEMORIA_SIBLING_DOCS_URL": "http://other.docs.localhost:1"}, "not <team>.<app>.<zone> of this team"),
        ({"MEMORIA_SIBLING_DOCS_URL": "http://demo.sheets.localhost:1"}, "not <team>.<app>.<zone> of this team"),
        ({"MEMORIA_SIBLING_DOCS_URL": "http://demo.docs.localhost.:1"}, "not <team>.<app>.<zone> of this team"),
        ({"MEMORIA_SIBLING_DOCS_URL": "http://x@demo.docs.localhost:1"}, "must be scheme://host"),
    ],
)
async def test_what_cannot_be_kept_is_refused_at_start(
    tmp_path: Path, changes: dict[str, str | None], words: str
) -> None:
    """One clear sentence, no server. Broken to see red: the host rule left out for the home."""

    async def start() -> None:
        process = Process("authz", load_settings(environment(tmp_path, **changes)))
        try:
            await build(process)
        finally:
            await process.close()

    with pytest.raises(ServiceError) as refused:
        await start()
    assert words in refused.value.message


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Path]:
    """authz as it serves, on its socket, from the real recipe."""
    process = Process("authz", load_settings(environment(tmp_path)))
    await build(process)
    server: Any = process._grpc
    bind(server, process.settings, "authz")
    await server.start()
    yield tmp_path / "authz.sock"
    await server.stop(0)
    await process.close()


SUBJECT = sibling_pb2.Subject(kind=sibling_pb2.SUBJECT_KIND_ADDRESS, value="ann@example.test")
CALLS: dict[str, tuple[Any, str]] = {
    "Admit": (pb.AdmitRequest(address="ann@example.test"), "gateway"),
    "Authorize": (pb.AuthorizeRequest(subject=SUBJECT), "search"),
    "Aggregate": (pb.AggregateRequest(), "search"),
    "TakeWorkOrders": (pb.TakeWorkOrdersRequest(), "ingest"),
    "CompleteWorkOrders": (pb.CompleteWorkOrdersRequest(), "ingest"),
    "ReportFetches": (pb.ReportFetchesRequest(), "ingest"),
    "ListFindings": (pb.ListFindingsRequest(), "gateway"),
    "DescribeRoster": (pb.DescribeRosterRequest(), "gateway"),
    "ConfirmRoster": (pb.ConfirmRosterRequest(), "gateway"),
}


@pytest.mark.parametrize("method", CALLS)
async def test_each_call_has_one_caller(served: Path, method: str) -> None:
    """Everybody else is refused, an unknown token too; the one gets an answer.

    Broken to see red: extract added to the list.
    """
    request, allowed = CALLS[method]
    outcomes = {}
    for caller in (*CALLERS, "nobody"):
        peer = Peer("authz", f"unix:{served}", f"token-{caller}", None)
        try:
            await peer.call(getattr(gate_pb2_grpc.GateServiceStub(peer.channel), method), request, timeout=5)
            outcomes[caller] = "answered"
        except ServiceError as error:
            outcomes[caller] = error.kind.value
        await peer.close()
    answer = {"Aggregate": "unimplemented", "ConfirmRoster": "failed_precondition"}.get(method, "answered")
    expected = dict.fromkeys(CALLERS, "permission_denied") | {allowed: answer, "nobody": "unavailable"}
    assert outcomes == expected


async def test_a_ruling_needs_a_whole_subject(served: Path) -> None:
    """No kind, an unknown kind, no value, an address not lower-cased: INVALID, nothing coerced (CON-01, CON-02)."""
    peer = Peer("authz", f"unix:{served}", "token-search", None)
    stub = gate_pb2_grpc.GateServiceStub(peer.channel)
    address = sibling_pb2.SUBJECT_KIND_ADDRESS
    for kind, value in ((0, "ann@example.test"), (9, "ann@example.test"), (address, ""), (address, "Ann@example.test")):
        request = pb.AuthorizeRequest(subject=sibling_pb2.Subject(kind=kind, value=value))  # type: ignore[arg-type]  # a number no enum has
        with pytest.raises(ServiceError) as refused:
            await peer.call(stub.Authorize, request, timeout=5)
        assert refused.value.kind is Kind.INVALID
    claims = [
        pb.Claim(owned=pb.OwnedClaim(document_id="d", present=True)),
        pb.Claim(owned=pb.OwnedClaim(document_id="e")),
        pb.Claim(),
        pb.Claim(sibling=pb.SiblingClaim(app="docs", item_id="1", revision="7")),
    ]
    reply = await peer.call(stub.Authorize, pb.AuthorizeRequest(subject=SUBJECT, claims=claims), timeout=5)
    assert [(ruling.disposition, ruling.cause) for ruling in reply.rulings] == [
        (pb.DISPOSITION_SPEAK, pb.CAUSE_UNSPECIFIED),
        (pb.DISPOSITION_OMIT, pb.CAUSE_UNSPECIFIED),
        (pb.DISPOSITION_WITHHOLD, pb.CAUSE_NO_ANSWER),
        (pb.DISPOSITION_WITHHOLD, pb.CAUSE_NO_ANSWER),  # nobody listens on port 1
    ]
    await peer.close()


async def test_an_unproved_app_is_not_asked_outside_localhost(tmp_path: Path) -> None:
    """It stands among the apps, withheld and named, and no client is there that could dial it (CON-07).

    Broken to see it red: every app given its asker.
    """
    zone = {"MEMORIA_ZONE": "suite.test", "MEMORIA_SIBLING_DOCS_URL": "https://demo.docs.suite.test"}
    process = Process("authz", load_settings(environment(tmp_path, **zone)))
    try:
        await build(process)
        said = await process.status()
    finally:
        await process.close()
    assert (said["siblings"], said["unproved"]) == (1, ["docs"])
