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
from memoria_gateway.push_client import Presented, PushClient, PushConnector
from memoria_gateway.push_items import PushedItem

ANN = Subject(SubjectKind.ADDRESS, "ann@example.test")
WIRE = sibling.Subject(kind=sibling.SUBJECT_KIND_ADDRESS, value=ANN.value)
ADMITTED = gate.AdmitResponse(admission=gate.ADMISSION_ADMITTED, owner=True, subject=WIRE)


class Wire:
    """A peer that gives the replies it was told, one a call."""

    def __init__(self, *replies: Any) -> None:
        self.channel = grpc.aio.insecure_channel("unix:/nowhere")
        self.replies = list(replies)
        self.timeouts: list[float] = []
        self.requests: list[Any] = []

    async def call(self, method: Any, request: Any, *, timeout: float) -> Any:
        """The next reply."""
        self.timeouts.append(timeout)
        self.requests.append(request)
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


async def test_an_item_goes_down_whole_and_only_a_known_outcome_counts() -> None:
    """Every field of it and the key; an outcome that nobody knows is an error, never "stored".

    Broken to see it red: an unknown outcome as "stored"; the origin left out of the key; the link left out of the item.
    """
    wire = Wire(*(intake.PushItemResponse(outcome=number) for number in (1, 2, 3, 4, 5, 0, 9)))  # type: ignore[arg-type]  # 9 is none
    client = PushClient(wire)  # type: ignore[arg-type]  # a fake
    shown = Presented("push-1", "memoria_con_t", "https://a.example")
    item = PushedItem("id", "Title", ("a", "b"), "text", datetime(2026, 5, 1, tzinfo=UTC), "https://a/1")
    said = [await client.push(shown, item) for _ in range(5)]
    assert said == ["stored", "unchanged", "replaced", "deleted", "absent"]
    for _ in range(2):
        with pytest.raises(ServiceError) as caught:
            await client.push(shown, PushedItem("id", gone=True))
        assert caught.value.kind is Kind.INTERNAL
    sent, gone = wire.requests[0], wire.requests[-1]
    assert (sent.key.connector_id, sent.key.token, sent.key.origin) == ("push-1", "memoria_con_t", "https://a.example")
    assert (sent.external_id, sent.title, list(sent.trail), sent.text) == ("id", "Title", ["a", "b"], "text")
    assert (sent.date.ToDatetime(UTC), sent.link, sent.gone) == (item.date, "https://a/1", False)
    assert (gone.external_id, gone.gone, gone.HasField("date")) == ("id", True, False)


async def test_connectors_are_read_for_what_was_said() -> None:
    """A missing count is none and no zero, a missing use none and no 1970.

    Broken to see it red: `held` read without asking whether it is there; `used_at` likewise.
    """
    at = datetime(2026, 5, 1, tzinfo=UTC)
    used = intake.Connector(connector_id="push-1", name="Wiki", origins=["https://a.example"], held=0)
    used.created_at.FromDatetime(at)
    used.used_at.FromDatetime(at)
    fresh = intake.Connector(connector_id="push-2", name="Other")
    fresh.created_at.FromDatetime(at)
    wire = Wire(intake.ListConnectorsResponse(connectors=[used, fresh]))
    assert await PushClient(wire).connectors() == [  # type: ignore[arg-type]  # a fake
        PushConnector("push-1", "Wiki", ("https://a.example",), at, at, 0),
        PushConnector("push-2", "Other", (), at),
    ]
    assert wire.requests[0].count
