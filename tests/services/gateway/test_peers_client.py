"""What the gateway makes of its peers' answers, and that it keeps none of them (AUT-02, AUT-26, G23)."""

from datetime import UTC, datetime
from typing import Any

import grpc
import pytest

from memoria.gate.v1 import gate_pb2 as gate
from memoria.index.v1 import index_pb2 as index
from memoria.intake.v1 import intake_pb2 as intake
from memoria.sibling.v1 import sibling_pb2 as sibling
from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import Subject, SubjectKind
from memoria_gateway.connectors import Finding, Source
from memoria_gateway.peers_client import GateClient, IndexClient, IntakeClient

ANN = Subject(SubjectKind.ADDRESS, "ann@example.test")
WIRE = sibling.Subject(kind=sibling.SUBJECT_KIND_ADDRESS, value=ANN.value)
ADMITTED = gate.AdmitResponse(admission=gate.ADMISSION_ADMITTED, owner=True, subject=WIRE)


class Wire:
    """A peer that gives the replies it was told, one a call."""

    def __init__(self, *replies: Any) -> None:
        self.channel = grpc.aio.insecure_channel("unix:/nowhere")
        self.replies = list(replies)
        self.timeouts: list[float] = []

    async def call(self, method: Any, request: Any, *, timeout: float) -> Any:
        """The next reply."""
        self.timeouts.append(timeout)
        return self.replies.pop(0)


@pytest.mark.parametrize(
    "reply",
    [
        gate.AdmitResponse(),
        gate.AdmitResponse(subject=WIRE, owner=True),
        gate.AdmitResponse(admission=gate.ADMISSION_REFUSED, subject=WIRE, owner=True),
        gate.AdmitResponse(admission=9, subject=WIRE, owner=True),
        gate.AdmitResponse(admission=gate.ADMISSION_ADMITTED, owner=True),
        gate.AdmitResponse(admission=gate.ADMISSION_ADMITTED, subject=sibling.Subject(value=ANN.value)),
    ],
    ids=["nothing", "unspecified", "refused", "unknown", "nobody", "no kind"],
)
async def test_only_a_plain_yes_admits(reply: gate.AdmitResponse) -> None:
    """Everything but ADMITTED with a subject is a refusal (AUT-26). Broken to see red: only REFUSED refused."""
    client = GateClient(Wire(ADMITTED, reply))  # type: ignore[arg-type]  # a fake
    assert (await client.admit(ANN.value)).subject == ANN
    with pytest.raises(ServiceError) as refused:
        await client.admit(ANN.value)
    assert refused.value.kind is Kind.REFUSED


async def test_nothing_a_peer_said_is_kept() -> None:
    """The same question twice is two calls, and the second answer holds (AUT-02, F01).

    Broken to see red, each in turn: `admit`, `search` and `document` memoised by their request.
    """
    wire = Wire(ADMITTED, ADMITTED)
    client = GateClient(wire)  # type: ignore[arg-type]  # a fake
    assert [(await client.admit(ANN.value)).owner for _ in range(2)] == [True, True]
    assert wire.replies == []
    row = index.SearchResponse(results=[index.SearchResult(rank=1, app="docs", state=index.RESULT_STATE_SPOKEN)])
    searching = IndexClient(Wire(row, index.SearchResponse()))  # type: ignore[arg-type]  # a fake
    assert [len((await searching.search(ANN, "budget", 1, 50)).results) for _ in range(2)] == [1, 0]
    spoken = index.GetDocumentResponse(document=index.Document(document_id="d", title="before"))
    later = index.GetDocumentResponse(document=index.Document(document_id="d", title="after"))
    reading = IndexClient(Wire(spoken, later))  # type: ignore[arg-type]  # a fake
    assert [(await reading.document(ANN, "d")).title for _ in range(2)] == ["before", "after"]  # type: ignore[union-attr]  # or it fails


async def test_a_page_waits_for_the_slowest_sibling_and_is_there_in_time() -> None:
    """800 ms for siblings and 20 ms for each of three hops fit in, and the page in G23's 1.2 s.

    Broken to see red: 0.8 s.
    """
    wire = Wire(index.SearchResponse(), index.GetDocumentResponse(document=index.Document(document_id="d")))
    client = IndexClient(wire)  # type: ignore[arg-type]  # a fake
    await client.search(ANN, "budget", 1, 50)
    await client.document(ANN, "d")
    assert all(0.8 + 3 * 0.02 < timeout < 1.2 for timeout in wire.timeouts)


async def test_findings_and_sources_are_read_for_the_less_of_what_they_might_say() -> None:
    """A state nobody knows is "cannot be determined" and "waits", a missing count is none, and no zero.

    Broken to see it red: an unknown breaker state as quiet; `held` read without asking whether it is there.
    """
    found = gate.SiblingFindings(
        app="docs",
        refusal=gate.Finding(state=gate.BREAKER_STATE_CANNOT_DETERMINE, lacking=[9, gate.BREAKER_LACK_BASELINE]),
        restore=gate.Finding(state=gate.BREAKER_STATE_FIRED, at=1_780_000_000),
    )
    wire = Wire(gate.ListFindingsResponse(siblings=[found]))
    [read] = await GateClient(wire).findings()  # type: ignore[arg-type]  # a fake
    assert (read.app, read.refusal, read.fetch) == ("docs", Finding("unknown", ("baseline",)), Finding("unknown"))
    assert read.restore == Finding("fired", at=datetime.fromtimestamp(1_780_000_000, UTC))
    sources = [
        intake.Source(app="docs", state=9, held=0, missed=2, paused=True),
        intake.Source(app="sheets", state=index.SOURCE_STATE_PARTIAL, failure="unavailable", removing=True),
    ]
    wire = Wire(intake.ListSourcesResponse(sources=sources))
    assert await IntakeClient(wire).sources() == [  # type: ignore[arg-type]  # a fake
        Source("docs", "as_of", held=0, missed=2, paused=True),
        Source("sheets", "partial", failure="unavailable", removing=True),
    ]
