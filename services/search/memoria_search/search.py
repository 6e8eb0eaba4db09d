"""One search: analyse, rank, rule, open, mark."""

from collections.abc import Callable
from dataclasses import dataclass

from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.types import Subject
from memoria_search.gate import Gate, Page, Passage, window
from memoria_search.highlight import Highlighter, SnippetPart
from memoria_search.index.analysis import Analyser
from memoria_search.retrieve.candidates import Retriever

MAX_QUERY_BYTES = 1024  # SRF-02
MAX_PAGE_SIZE = 50  # RET-03


@dataclass(frozen=True, slots=True)
class Row:
    """A passage and what to show of it."""

    passage: Passage
    snippet: tuple[SnippetPart, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A page with its snippets."""

    page: Page
    rows: tuple[Row, ...]


class Searcher:
    """Answers searches."""

    def __init__(self, analyser: Callable[[], Analyser], retriever: Retriever, gate: Gate) -> None:
        self._analyser = analyser
        self._retriever = retriever
        self._gate = gate

    async def search(self, subject: Subject, query: str, page: int, size: int) -> Found:
        """Page `page` (from 1) of `size` rows (1 to 50). Raises INVALID; a query without words finds nothing."""
        if len(query.encode("utf-8", "surrogatepass")) > MAX_QUERY_BYTES:
            raise ServiceError(Kind.INVALID, f"a query has at most {MAX_QUERY_BYTES} bytes")
        if not 1 <= size <= MAX_PAGE_SIZE:
            raise ServiceError(Kind.INVALID, f"a page has 1 to {MAX_PAGE_SIZE} rows")
        if page < 1:
            raise ServiceError(Kind.INVALID, "pages are counted from 1")
        analyser = self._analyser()
        terms = analyser.query(query)
        depth = window(page, size)
        ranking = await self._retriever.ranking(terms, query, depth) if depth and not terms.empty else None
        ruled = await self._gate.page(subject, ranking, page, size)
        highlighter = Highlighter(analyser, terms)
        return Found(ruled, tuple(Row(passage, highlighter.snippet(passage.text)) for passage in ruled.passages))
