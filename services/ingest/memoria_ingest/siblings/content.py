"""A sibling's content as a document: text through the chunker, a sheet's tabs as tables under their names."""

from collections.abc import Iterator
from itertools import groupby

from memoria_chassis import log
from memoria_contract.types import ItemId, Pair, Revision
from memoria_ingest.chunk import Chunk, chunk_text
from memoria_ingest.document import Document, SiblingOrigin, plain_line, plain_trail, without_title
from memoria_ingest.siblings.sibling_client import Content, Tab

MAX_TEXT = 4 * 1024 * 1024
"""Characters of one item that are indexed; the reply's cap of 8 MiB bounds them already for most scripts."""

_MAX_BYTES = 12 * 1024 * 1024  # a message between our services is 16 MiB at most
_MAX_CHUNKS = 4_000
MAX_LINES = 100_000
_MAX_LINK = 2048
_MAX_GAP = 200
_MAX_EMPTY = 200_000


def document_from(app: str, item_id: ItemId, content: Content, *, with_body: bool) -> Document:
    """The document, at the revision the content says it is of.

    Without its body, an item is known by title, trail and date alone: that is how calendars come in unless their
    owner chose otherwise (TRU-09).
    """
    text = ""
    if with_body:
        parts = [content.body, *("\n".join(_lines(tab)) for tab in content.tabs)]
        text = "\n\n".join(part for part in parts if part)[:MAX_TEXT].replace("\r\n", "\n").replace("\r", "\n")
        text = _first_lines(text)
    title = plain_line(content.title)
    chunks = _within_budget(without_title(chunk_text(text), title)) or [Chunk((), "")]
    return Document(
        SiblingOrigin(app, Pair(item_id, Revision(content.revision))),
        title,
        plain_trail(content.trail),
        tuple(chunks),
        content.author,
        content.date,
        content.link if len(content.link) <= _MAX_LINK else "",
    )


def _first_lines(text: str) -> str:
    """The text up to MAX_LINES: each may become a chunk, and making a million to keep a few thousand takes seconds."""
    end = -1
    for _ in range(MAX_LINES):
        end = text.find("\n", end + 1)
        if end < 0:
            return text
    log.get_logger().warning("an item is too long and was cut", count=text.count("\n", end), size=len(text))
    return text[:end]


def _within_budget(chunks: list[Chunk]) -> list[Chunk]:
    """The chunks that fit one message: headings are repeated with each, and their number is the sibling's to choose."""
    size = 0
    for at, chunk in enumerate(chunks):
        size += sum(len(part.encode("utf-8", "replace")) + 8 for part in (*chunk.trail, chunk.text))
        if size > _MAX_BYTES or at == _MAX_CHUNKS:
            log.get_logger().warning("an item is too long and was cut", count=len(chunks) - at, size=size)
            return chunks[:at]
    return chunks


def _lines(tab: Tab) -> Iterator[str]:
    """A tab as a heading and a table. Columns stay where they are: an empty cell before a filled one is kept."""
    yield f"## {plain_line(tab.name) or 'Sheet'}"
    yield ""
    width = 0
    room = _MAX_EMPTY
    for _, row in groupby(sorted(tab.cells, key=lambda cell: cell[:2]), key=lambda cell: cell[0]):
        cells: list[str] = []
        for _, column, display in row:
            # A column number is the sibling's word; it is not let to ask for a million empty cells.
            gap = max(0, min(column - 1 - len(cells), _MAX_GAP, room))
            room -= gap
            cells += [""] * gap
            cells.append(_cell(display))
        yield "| " + " | ".join(cells) + " |"
        if not width:
            width = len(cells)
            yield "|" + " --- |" * width


def _cell(display: str) -> str:
    return display.replace("|", "\\|").replace("\r\n", " ").replace("\n", " ").replace("\r", " ")
