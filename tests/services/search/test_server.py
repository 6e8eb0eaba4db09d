"""The service as it is called: real sockets, the generated stubs, a fake authz, the shipped allow-list."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from memoria.gate.v1 import gate_pb2 as gate
from memoria.gate.v1.gate_pb2_grpc import GateServiceServicer, add_GateServiceServicer_to_server
from memoria.index.v1 import index_pb2 as pb
from memoria.index.v1.index_pb2_grpc import IndexServiceStub
from memoria.sibling.v1 import sibling_pb2 as sibling
from memoria_chassis.config import load_settings
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import encode_key
from memoria_chassis.process import Process
from memoria_chassis.rpc.allow import token_hash
from memoria_chassis.rpc.client import Peer
from memoria_search.__main__ import build

ANN = sibling.Subject(kind=sibling.SUBJECT_KIND_ADDRESS, value="ann@example.test")
SPEAK = gate.Ruling(disposition=gate.DISPOSITION_SPEAK)


class FakeAuthz(GateServiceServicer):
    """Answers with `ruling` for every claim, unless `omitted` names its item; late by `delay` seconds."""

    def __init__(self) -> None:
        self.ruling = SPEAK
        self.omitted: set[str] = set()
        self.delay = 0.0
        self.requests: list[gate.AuthorizeRequest] = []

    async def Authorize(self, request: gate.AuthorizeRequest, context: Any) -> gate.AuthorizeResponse:
        """One round."""
        self.requests.append(request)
        await asyncio.sleep(self.delay)
        omit = gate.Ruling(disposition=gate.DISPOSITION_OMIT)
        return gate.AuthorizeResponse(
            rulings=[
                omit
                if claim.sibling.item_id in self.omitted or (claim.HasField("owned") and not claim.owned.present)
                else self.ruling
                for claim in request.claims
            ]
        )


class Fleet:
    """search behind its socket, and who calls it."""

    def __init__(self, process: Process, authz: FakeAuthz, address: str) -> None:
        self.process = process
        self.authz = authz
        self._peers = {name: Peer("search", address, f"{name}-token", None) for name in ("gateway", "ingest", "nobody")}

    async def call(self, caller: str, method: str, request: Any, timeout: float = 5) -> Any:
        """Call search as somebody."""
        peer = self._peers[caller]
        return await peer.call(getattr(IndexServiceStub(peer.channel), method), request, timeout=timeout)

    async def put(self, item: str, text: str, app: str = "docs") -> str:
        """Store one item of one chunk."""
        request = pb.PutDocumentRequest(
            sibling=pb.SiblingOrigin(app=app, item_id=item, revision="r1"),
            title="Plan",
            trail=["Folder"],
            author=sibling.AUTHOR_KIND_HUMAN,
            date=Timestamp(seconds=1_780_000_000),
            link="http://demo.docs.localhost/x",
            chunks=[pb.Chunk(trail=["Heading"], text=text)],
        )
        return (await self.call("ingest", "PutDocument", request)).document_id

    async def search(self, query: str, **over: Any) -> pb.SearchResponse:
        """Search as Ann."""
        return await self.call("gateway", "Search", pb.SearchRequest(subject=ANN, query=query, **{"page": 1, **over}))

    async def close(self) -> None:
        """Close the channels."""
        for peer in self._peers.values():
            await peer.close()


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Fleet]:
    """A served search."""
    settings = load_settings(
        {
            "MEMORIA_DATA_DIR": str(tmp_path / "data"),
            "MEMORIA_DATA_RUN_DIR": str(tmp_path),
            "MEMORIA_DATA_SCRATCH_DIR": str(tmp_path / "scratch"),
            "MEMORIA_DATA_SCRATCH_ON_DISK": "true",
            "MEMORIA_SERVICE_KEY": encode_key(b"k" * 32),
            "MEMORIA_RPC_CALLER_TOKEN": "search-token",
            "MEMORIA_RPC_CALLERS": json.dumps(
                {name: token_hash(f"{name}-token") for name in ("gateway", "ingest", "authz")}
            ),
        }
    )
    authz, authz_server = FakeAuthz(), grpc.aio.server()
    add_GateServiceServicer_to_server(authz, authz_server)
    authz_server.add_insecure_port(settings.address_of("authz"))
    await authz_server.start()
    process = Process("search", settings)
    warmed: list[bool] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memoria_search.__main__.warm", lambda: warmed.append(True))
        await build(process)
    assert warmed, "the first search would load the language model, out of its own second"
    serving = asyncio.create_task(process.serve())
    address = settings.address_of("search")
    await Peer("search", address, "", None).channel.channel_ready()
    fleet = Fleet(process, authz, address)
    yield fleet
    await fleet.close()
    process.stopping.set()
    await serving
    await process.close()
    await authz_server.stop(None)


@pytest.mark.parametrize(
    ("caller", "method", "request_"),
    [
        ("ingest", "Search", pb.SearchRequest(subject=ANN, query="x", page=1)),
        ("ingest", "GetDocument", pb.GetDocumentRequest(subject=ANN, document_id="x")),
        ("gateway", "PutDocument", pb.PutDocumentRequest()),
        ("gateway", "DeleteDocument", pb.DeleteDocumentRequest(document_id="x")),
        ("gateway", "RetireItems", pb.RetireItemsRequest(app="docs")),
        ("gateway", "ListItems", pb.ListItemsRequest(app="docs")),
        ("gateway", "CountItems", pb.CountItemsRequest(app="docs")),
        ("gateway", "FindUploads", pb.FindUploadsRequest(external_ids=[b"x" * 32])),
        ("gateway", "PutSource", pb.PutSourceRequest(app="docs", state=pb.SOURCE_STATE_CURRENT)),
    ],
)
async def test_each_rpc_has_its_caller(fleet: Fleet, caller: str, method: str, request_: Any) -> None:
    """The gateway reads, ingest writes; the other way round is refused, an unknown caller too."""
    with pytest.raises(ServiceError) as refused:
        await fleet.call(caller, method, request_)
    assert refused.value.kind is Kind.REFUSED
    with pytest.raises(ServiceError) as refused:
        await fleet.call("nobody", method, request_)
    assert refused.value.kind is Kind.UNAVAILABLE


@pytest.mark.parametrize(
    ("method", "request_"),
    [
        ("Search", pb.SearchRequest(query="x", page=1)),
        ("Search", pb.SearchRequest(subject=sibling.Subject(value="ann@example.test"), query="x", page=1)),
        ("Search", pb.SearchRequest(subject=sibling.Subject(kind=2, value="Ann@Example.test"), query="x", page=1)),
        ("Search", pb.SearchRequest(subject=ANN, query="x", page=0)),
        ("Search", pb.SearchRequest(subject=ANN, query="x", page=1, page_size=51)),
        ("Search", pb.SearchRequest(subject=ANN, query="x" * 1025, page=1)),
        ("Search", pb.SearchRequest(subject=ANN, query="語" * 342, page=1)),
        ("GetDocument", pb.GetDocumentRequest(document_id="x")),
        ("PutDocument", pb.PutDocumentRequest(title="x")),
        ("PutDocument", pb.PutDocumentRequest(sibling=pb.SiblingOrigin(app="docs", item_id="a"))),
        ("PutDocument", pb.PutDocumentRequest(sibling=pb.SiblingOrigin(app="docs", revision="1"))),
        ("PutDocument", pb.PutDocumentRequest(sibling=pb.SiblingOrigin(app="files", item_id="a", revision="1"))),
        ("PutDocument", pb.PutDocumentRequest(upload=pb.UploadOrigin(external_id=b"short", parts=1))),
        ("PutDocument", pb.PutDocumentRequest(upload=pb.UploadOrigin(external_id=b"x" * 32, part=1, parts=1))),
        ("RetireItems", pb.RetireItemsRequest(item_ids=["a"])),
        ("ListItems", pb.ListItemsRequest(app="files")),
        ("CountItems", pb.CountItemsRequest(app="")),
        ("FindUploads", pb.FindUploadsRequest(external_ids=[b"x" * 32, b"short"])),
        ("FindUploads", pb.FindUploadsRequest(external_ids=[b"x" * 32] * 10_001)),
        ("PutSource", pb.PutSourceRequest(app="docs")),
        ("PutSource", pb.PutSourceRequest(app="docs", state=9)),
        ("PutSource", pb.PutSourceRequest(app="docs", state=1, as_of=Timestamp(seconds=10**15))),
    ],
)
async def test_a_request_that_makes_no_sense_is_refused(fleet: Fleet, method: str, request_: Any) -> None:
    """Nobody as subject, pages out of range, a query over 1 KiB of UTF-8, owners and sources that are none (SRF-02)."""
    reader = "gateway" if method in ("Search", "GetDocument") else "ingest"
    with pytest.raises(ServiceError) as refused:
        await fleet.call(reader, method, request_)
    assert refused.value.kind is Kind.INVALID
    assert fleet.authz.requests == []


@pytest.mark.parametrize(
    "ruling",
    [
        gate.Ruling(),
        gate.Ruling(disposition=9),
        gate.Ruling(disposition=gate.DISPOSITION_WITHHOLD),
        gate.Ruling(disposition=gate.DISPOSITION_WITHHOLD, cause=9),
        gate.Ruling(disposition=gate.DISPOSITION_SPEAK, cause=gate.CAUSE_STALE),
        gate.Ruling(disposition=gate.DISPOSITION_OMIT, cause=gate.CAUSE_NO_ANSWER),
    ],
)
async def test_a_ruling_that_is_none_withholds_everything(fleet: Fleet, ruling: gate.Ruling) -> None:
    """Unspecified, unknown or contradictory: withheld loudly, also what was omitted beside it.

    Broken to see it red: an unspecified disposition read as OMIT.
    """
    await fleet.put("a", "budget")
    await fleet.put("b", "budget")
    assert len((await fleet.search("budget")).results) == 2
    fleet.authz.ruling, fleet.authz.omitted = ruling, {"b"}
    reply = await fleet.search("budget")
    assert list(reply.results) == []
    assert [(line.app, line.kind, line.count) for line in reply.notices] == [("docs", pb.NOTICE_KIND_NO_ANSWER, 2)]


async def test_a_late_authz_is_named_in_time(fleet: Fleet) -> None:
    """authz sleeps past the deadline: the reply comes within it, withholds, and does not say nothing matched (F29)."""
    await fleet.put("a", "budget")
    assert len((await fleet.search("budget")).results) == 1
    fleet.authz.delay = 5
    request = pb.SearchRequest(subject=ANN, query="budget", page=1)
    reply = await fleet.call("gateway", "Search", request, timeout=1.2)
    assert [(line.app, line.kind, line.count) for line in reply.notices] == [("docs", pb.NOTICE_KIND_NO_ANSWER, 1)]


async def test_hidden_and_absent_are_the_same_bytes(fleet: Fleet) -> None:
    """The search reply as bytes, and the refusal of the document, whether the item is hidden or was retired (F03)."""
    await fleet.put("open", "budget for all")
    document_id = await fleet.put("secret", "budget of one", app="sheets")
    assert len((await fleet.search("budget")).results) == 2

    async def replies() -> tuple[bytes, Kind, str]:
        reply = await fleet.search("budget")
        with pytest.raises(ServiceError) as refused:
            await fleet.call("gateway", "GetDocument", pb.GetDocumentRequest(subject=ANN, document_id=document_id))
        return reply.SerializeToString(deterministic=True), refused.value.kind, refused.value.message

    fleet.authz.omitted = {"secret"}
    hidden = await replies()
    await fleet.call("ingest", "RetireItems", pb.RetireItemsRequest(app="sheets", item_ids=["secret"]))
    assert await replies() == hidden


async def test_a_row_and_a_document_say_all_there_is(fleet: Fleet) -> None:
    """Every field of a spoken row and of a spoken document arrives as it was put."""
    document_id = await fleet.put("a", "The budget is here.")
    [row] = (await fleet.search("budgets")).results
    assert (row.rank, row.app, row.title, list(row.trail)) == (1, "docs", "Plan", ["Folder", "Heading"])
    assert [(part.text, part.marked) for part in row.snippet] == [
        ("The ", False),
        ("budget", True),
        (" is here.", False),
    ]
    assert (row.date.seconds, row.author, row.ordinal) == (1_780_000_000, sibling.AUTHOR_KIND_HUMAN, 0)
    assert (row.document_id, row.link) == (document_id, "http://demo.docs.localhost/x")
    assert row.state == pb.RESULT_STATE_SPOKEN
    request = pb.GetDocumentRequest(subject=ANN, document_id=document_id)
    document = (await fleet.call("gateway", "GetDocument", request)).document
    assert [(chunk.ordinal, list(chunk.trail), chunk.text) for chunk in document.chunks] == [
        (0, ["Heading"], "The budget is here.")
    ]
    assert (document.title, document.revision, document.owned) == ("Plan", "r1", False)
    assert fleet.authz.requests[-1].subject == ANN


async def test_uploads_are_put_again_listed_not_and_deleted_once(fleet: Fleet) -> None:
    """CREATED, then REPLACED with a new revision; deletable once; siblings' items are listed and counted, uploads are
    not."""
    request = pb.PutDocumentRequest(
        upload=pb.UploadOrigin(external_id=b"x" * 32, parts=1), title="F", chunks=[pb.Chunk(text="zqx81")]
    )
    puts = [await fleet.call("ingest", "PutDocument", request) for _ in range(2)]
    assert [(put.outcome, put.revision) for put in puts] == [
        (pb.PUT_OUTCOME_CREATED, "1"),
        (pb.PUT_OUTCOME_REPLACED, "2"),
    ]
    await fleet.put("a", "other")
    listed = await fleet.call("ingest", "ListItems", pb.ListItemsRequest(app="docs"))
    assert [(item.item_id, item.revision) for item in listed.items] == [("a", "r1")]
    for app, held in (("docs", 1), ("sheets", 0)):
        assert (await fleet.call("ingest", "CountItems", pb.CountItemsRequest(app=app))).held == held
    delete = pb.DeleteDocumentRequest(document_id=puts[0].document_id)
    assert (await fleet.call("ingest", "DeleteDocument", delete)).deleted == 1
    with pytest.raises(ServiceError) as refused:
        await fleet.call("ingest", "DeleteDocument", delete)
    assert refused.value.kind is Kind.NOT_FOUND
    assert list((await fleet.search("zqx81")).results) == []


async def test_a_source_that_is_behind_is_said_with_its_time(fleet: Fleet) -> None:
    """AS_OF with and without a time; CURRENT says nothing (RET-05)."""
    for as_of in (Timestamp(seconds=1_780_000_000), None):
        put = pb.PutSourceRequest(app="docs", state=pb.SOURCE_STATE_AS_OF, as_of=as_of)
        await fleet.call("ingest", "PutSource", put)
        [line] = (await fleet.search("anything")).notices
        assert (line.app, line.kind, line.count) == ("docs", pb.NOTICE_KIND_AS_OF, 0)
        assert line.HasField("as_of") == (as_of is not None)
    await fleet.call("ingest", "PutSource", pb.PutSourceRequest(app="docs", state=pb.SOURCE_STATE_CURRENT))
    assert list((await fleet.search("anything")).notices) == []


async def test_status_counts_and_readiness(fleet: Fleet) -> None:
    """`/status` has the counts; ready while built."""
    await fleet.put("a", "one")
    status = await fleet.process.status()
    assert (status["documents"], status["chunks"], status["generation"], status["ready"]) == (1, 1, 0, True)
    assert status["index_bytes"] > 0


async def test_logs_hold_no_word_of_a_search(fleet: Fleet, capfd: pytest.CaptureFixture[str]) -> None:
    """A hundred searches, refusals and failures included: the canary is in a reply and in no log line (G04, TRU-06)."""
    document_id = await fleet.put("canary-item", "canary8812 text")
    assert (await fleet.search("canary8812")).results[0].snippet[0].text == "canary8812"
    for at in range(100):
        fleet.authz.ruling = gate.Ruling() if at % 2 else SPEAK
        await fleet.search("canary8812")
    with pytest.raises(ServiceError):
        await fleet.search("canary8812" * 200)
    await fleet.call("gateway", "GetDocument", pb.GetDocumentRequest(subject=ANN, document_id=document_id))
    written = "".join(capfd.readouterr())
    assert "no rulings" in written
    assert "canary" not in written
    assert "ann@example.test" not in written


async def test_uploads_are_found_by_their_external_id(fleet: Fleet) -> None:
    """Nothing held, half of it, all of it, another revision, deleted: told in order; its link is spoken with it.

    Broken to see it red: half an upload told with a number.
    """
    absent, pushed = b"a" * 32, b"p" * 32

    async def find() -> list[tuple[str, int]]:
        reply = await fleet.call("ingest", "FindUploads", pb.FindUploadsRequest(external_ids=[absent, pushed]))
        return [(each.document_id, each.number) for each in reply.uploads]

    async def put(part: int, parts: int) -> pb.PutDocumentResponse:
        request = pb.PutDocumentRequest(
            upload=pb.UploadOrigin(external_id=pushed, part=part, parts=parts),
            title="Pushed",
            link="https://wiki.example/1",
            chunks=[pb.Chunk(text=f"part {part}")],
        )
        return await fleet.call("ingest", "PutDocument", request)

    assert await find() == [("", 0), ("", 0)]
    one = await put(0, 2)
    assert await find() == [("", 0), (one.document_id, 0)]
    await put(1, 2)
    assert await find() == [("", 0), (one.document_id, one.number)]
    again = await put(0, 1)
    assert await find() == [("", 0), (one.document_id, again.number)]
    assert again.number > one.number
    (row,) = (await fleet.search("pushed")).results
    assert (row.app, row.link) == ("files", "https://wiki.example/1")
    assert (await fleet.call("ingest", "DeleteDocument", pb.DeleteDocumentRequest(document_id=row.document_id))).deleted
    assert await find() == [("", 0), ("", 0)]
