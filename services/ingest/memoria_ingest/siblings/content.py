"""A sibling's content as a document: text through the chunker, a sheet's tabs as tables under their names."""

from collections.abc import Iterator
from itertools import groupby

from memoria_contract.types import ItemId, Pair, Revision
from memoria_ingest.chunk import Chunk, chunk_text
from memoria_ingest.document import Document, SiblingOrigin, without_title
from memoria_ingest.siblings.sibling_client import Content, Tab

MAX_TEXT = 4 * 1024 * 1024
"""Characters of one item that are indexed; the reply's cap of 8 MiB bounds them already for most scripts."""


def document_from(app: str, item_id: ItemId, content: Content, *, with_body: bool) -> Document:
    """The document, at the revision the content says it is of.

    Without its body, an item is known by title, trail and date alone: that is how calendars come in unless their
    owner chose otherwise (TRU-09).
    """
    text = ""
    if with_body:
        parts = [content.body, *("\n".join(_lines(tab)) for tab in content.tabs)]
        text = "\n\n".join(part for part in parts if part)[:MAX_TEXT]
    chunks = without_title(chunk_text(text), content.title) or [Chunk((), "")]
    return Document(
        SiblingOrigin(app, Pair(item_id, Revision(content.revision))),
        content.title,
        content.trail,
        tuple(chunks),
        content.author,
        content.date,
        content.link,
    )


def _lines(tab: Tab) -> Iterator[str]:
    """A tab as a heading and a table. Columns stay where they are: an empty cell before a filled one is kept."""
    yield f"## {tab.name}"
    yield ""
    width = 0
    for _, row in groupby(sorted(tab.cells), key=lambda cell: cell[0]):
        cells: list[str] = []
        for _, column, display in row:
            # A column number is the sibling's word; it is not let to ask for a million empty cells.
            cells += [""] * min(column - 1 - len(cells), 200)
            cells.append(display.replace("|", "\\|").replace("\n", " "))
        yield "| " + " | ".join(cells) + " |"
        if not width:
            width = len(cells)
            yield "|" + " --- |" * width
