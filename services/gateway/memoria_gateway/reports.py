"""The API's shapes, as architecture.md gives them. A field that does not apply is null or empty, never absent."""

from html import escape
from typing import Any

from memoria_gateway.views import Document, Notice, Page, Result, UploadReport


def search_json(query: str, number: int, found: Page, took_ms: float, origin: str, now: Any) -> dict[str, Any]:
    """One search."""
    return {
        "query": query,
        "page": number,
        "more": found.more,
        "took_ms": round(took_ms, 1),
        "results": [_result(result, origin) for result in found.results],
        "notices": [_notice(notice, now) for notice in found.notices],
        "facts": [],
        "number": None,
        "answer": None,
    }


def _result(result: Result, origin: str) -> dict[str, Any]:
    marked = [f"<mark>{escape(part.text)}</mark>" if part.marked else escape(part.text) for part in result.snippet]
    return {
        "rank": result.rank,
        "app": result.app,
        "title": result.title,
        "trail": list(result.trail),
        "snippet": "".join(marked),
        "date": f"{result.date:%Y-%m-%d}" if result.date else None,
        "author": result.author.value,
        "document_id": result.document_id,
        "ordinal": result.ordinal,
        "link": result.source_link or origin + result.citation,
        "state": "spoken" if result.available else "unavailable",
    }


def _notice(notice: Notice, now: Any) -> dict[str, Any]:
    return {"app": notice.app, "kind": notice.kind, "count": notice.count, "text": notice.text(now)}


def document_json(document: Document, origin: str) -> dict[str, Any]:
    """One document."""
    return {
        "document_id": document.document_id,
        "app": document.app,
        "title": document.title,
        "trail": list(document.trail),
        "date": f"{document.date:%Y-%m-%d}" if document.date else None,
        "author": document.author.value,
        "link": document.source_link or f"{origin}/documents/{document.document_id}",
        "revision": document.revision,
        "owned": document.owned,
        "parts": list(document.part_ids),
        "chunks": [
            {"ordinal": chunk.ordinal, "trail": list(chunk.trail), "text": chunk.text} for chunk in document.chunks
        ],
    }


def report_json(report: UploadReport) -> dict[str, Any]:
    """What became of one file."""
    return {
        "documents": [
            {
                "document_id": document.document_id,
                "title": document.title,
                "revision": document.revision,
                "chunks": document.chunks,
                "outcome": "created" if document.created else "replaced",
                "link": f"/documents/{document.document_id}",
            }
            for document in report.documents
        ],
        "warnings": list(report.warnings),
        "error": {"kind": report.error_kind, "message": report.error} if report.error else None,
    }
