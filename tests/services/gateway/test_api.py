"""The API's shapes, to the key, as docs/api.md gives them (AMD-08)."""

from datetime import UTC, datetime

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.views import Notice, Page, Part

RESULT_KEYS = [
    *("rank", "app", "title", "trail", "snippet", "date", "author", "document_id", "ordinal", "link", "state"),
]


async def test_one_search_has_every_key(pod, a_result) -> None:
    """The whole document, key by key; a field that does not apply is null or empty, never absent."""
    bare = a_result(2, app="files", trail=(), snippet=(), date=None, source_link="", available=False)
    notices = (Notice("docs", "no_answer", 7), Notice("sheets", "as_of", 0, datetime(2026, 1, 1, 9, 5, tzinfo=UTC)))
    pod.index.page = Page((a_result(), bare), notices, more=True, refine=False)
    found = (await (await pod.program()).get("/api/v1/search", params={"q": "tide", "page": 2, "limit": 2})).json()
    assert isinstance(found.pop("took_ms"), float)
    assert [list(result) for result in found["results"]] == [RESULT_KEYS, RESULT_KEYS]
    assert found == {
        "query": "tide",
        "page": 2,
        "more": True,
        "results": [
            {
                "rank": 1,
                "app": "docs",
                "title": "Tides",
                "trail": ["Papers", "Harbour"],
                "snippet": "the <mark>tide</mark> turns",
                "date": "2026-05-01",
                "author": "human",
                "document_id": "abc",
                "ordinal": 3,
                "link": "http://demo.docs.localhost:9101/d/1",
                "state": "spoken",
            },
            {
                "rank": 2,
                "app": "files",
                "title": "Tides",
                "trail": [],
                "snippet": "",
                "date": None,
                "author": "human",
                "document_id": "abc",
                "ordinal": 3,
                "link": "http://localhost:8080/documents/abc#p3",
                "state": "unavailable",
            },
        ],
        "notices": [
            {"app": "docs", "kind": "no_answer", "count": 7, "text": "Docs did not answer; 7 results withheld."},
            {"app": "sheets", "kind": "as_of", "count": 0, "text": "Sheets: current as of 09:05 UTC."},
        ],
        "facts": [],
        "number": None,
        "answer": None,
    }
    subject, query, page, size = pod.index.searched[-1]
    assert (subject.value, query, page, size) == ("ann@example.test", "tide", 2, 2)


async def test_a_snippet_is_escaped_apart_from_mark(pod, a_result) -> None:
    """What stands in a document stays text. Broken to see red: `escape` taken out of either branch."""
    parts = (Part("<img src=x>&", False), Part("</mark><script>", True), Part("\"'", False))
    pod.index.page = Page((a_result(snippet=parts),), (), False, False)
    snippet = (await (await pod.program()).get("/api/v1/search?q=x")).json()["results"][0]["snippet"]
    assert snippet == "&lt;img src=x&gt;&amp;<mark>&lt;/mark&gt;&lt;script&gt;</mark>&quot;&#x27;"


async def test_a_document_has_every_key(pod, a_document) -> None:
    """One document, whole."""
    pod.index.documents["abc"] = a_document(part_ids=("abc", "abd"))
    assert (await (await pod.program()).get("/api/v1/documents/abc")).json() == {
        "document_id": "abc",
        "app": "files",
        "title": "Tides",
        "trail": ["Papers"],
        "date": None,
        "author": "unknown",
        "link": "http://localhost:8080/documents/abc",
        "revision": "4",
        "owned": True,
        "parts": ["abc", "abd"],
        "chunks": [
            {"ordinal": 0, "trail": ["Head"], "text": "first"},
            {"ordinal": 1, "trail": [], "text": "second"},
        ],
    }


async def test_a_refusal_and_an_absence_are_one_answer(pod) -> None:
    """404 with the same bytes whether search says not_found or that an id is none; a withheld one is said to be."""
    program = await pod.program()
    absent = await program.get("/api/v1/documents/none")
    pod.index.down = ServiceError(Kind.INVALID, "an id is 16 hex digits")
    odd = await program.get("/api/v1/documents/%00")
    assert (absent.status_code, absent.content) == (odd.status_code, odd.content)
    assert absent.json()["error"]["kind"] == "not_found"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("no_answer", "Docs did not answer whether you may see this document"),
        ("stale", "Docs has a newer version"),
        ("reconciling", "Docs is reconciling after a restore"),
    ],
)
async def test_a_withheld_document_names_the_app(pod, kind: str, words: str) -> None:
    """503 with the reason, on the page and in the API, and ingest is nudged."""
    pod.index.documents["abc"] = Notice("docs", kind, 1)
    page = await (await pod.signed_in()).get("/documents/abc")
    api = await (await pod.program()).get("/api/v1/documents/abc")
    assert page.status_code == api.status_code == 503
    assert words in page.text
    assert words in api.json()["error"]["message"]
    await pod.desk.settle()
    assert pod.intake.nudges == 2


async def test_an_upload_reports_each_file_in_order(pod) -> None:
    """201 where all were taken, 207 where some was refused; every key in either case."""
    program = await pod.program(scope="write")
    good = [("f", ("a.md", b"alpha")), ("f", ("b.md", b"beta"))]
    reply = await program.post("/api/v1/documents", files=good)
    assert reply.status_code == 201
    entry = {"document_id": "d1", "title": "Title of a.md", "revision": "1", "chunks": 2, "outcome": "created"}
    first = {"documents": [entry | {"link": "/documents/d1"}], "warnings": ["One warning."], "error": None}
    assert reply.json()["files"][0] == first
    assert pod.intake.files == [("a.md", b"alpha"), ("b.md", b"beta")]
    pod.intake.refused["b.md"] = ServiceError(Kind.UNIMPLEMENTED, "This kind of file is not read.")
    reply = await program.post("/api/v1/documents", files=[good[1], good[0]])
    assert reply.status_code == 207
    error = {"kind": "unimplemented", "message": "This kind of file is not read."}
    assert reply.json()["files"][0] == {"documents": [], "warnings": [], "error": error}
    assert reply.json()["files"][1]["error"] is None


@pytest.mark.parametrize("limit", ["0", "51", "-1", "x", "1.5", "٣", "0001999999", "9" * 5000, " 5"])
async def test_a_limit_is_a_number_from_1_to_50(pod, limit: str) -> None:
    """400 in the API's shape, never a crash."""
    reply = await (await pod.program()).get("/api/v1/search", params={"q": "x", "limit": limit})
    assert reply.status_code == 400
    assert reply.json()["error"] == {"kind": "invalid_argument", "message": "A limit is a number from 1 to 50."}
