"""PPTX: one heading a slide, its text frames, tables and notes."""

import io
import re
from collections.abc import Iterator
from typing import Any

from pptx import Presentation
from pptx.util import Emu

from memoria_ingest.convert.formats.docx import core_title
from memoria_ingest.convert.result import Converted

_BARE = re.compile(r"## Slide \d+")
_DEEP = 20  # groups within groups


def convert(data: bytes, kind: str) -> Converted:
    """The slides' text in order."""
    deck = Presentation(io.BytesIO(data))
    lines: list[str] = []
    for number, slide in enumerate(deck.slides, start=1):
        title = slide.shapes.title
        name = _flat(title.text_frame.text) if title is not None else ""
        lines += ["", f"## Slide {number}" + (f": {name}" if name else ""), ""]
        shapes = [shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id]
        for shape in sorted(shapes, key=lambda shape: (shape.top or Emu(0), shape.left or Emu(0))):
            lines += _shape(shape, 0)
        if slide.has_notes_slide:
            notes = slide.notes_slide.notes_text_frame
            if notes is not None and notes.text.strip():
                lines += ["", "Notes: " + notes.text.replace("\v", "\n").strip().replace("\n#", "\n\\#")]
    text = "\n".join(lines).strip("\n")
    bare = all(_BARE.fullmatch(line) for line in lines if line)  # slides with pictures only
    return Converted("" if bare else text, core_title(data))


def _shape(shape: Any, depth: int) -> Iterator[str]:
    if getattr(shape, "shapes", None) is not None and depth < _DEEP:
        for inner in shape.shapes:
            yield from _shape(inner, depth + 1)
    elif getattr(shape, "has_table", False):
        yield ""
        for number, row in enumerate(shape.table.rows):
            cells = [_flat(cell.text).replace("|", "\\|") for cell in row.cells]
            yield "| " + " | ".join(cells) + " |"
            if number == 0:
                yield "|" + " --- |" * len(cells)
    elif shape.has_text_frame and shape.text_frame.text.strip():
        yield ""
        for paragraph in shape.text_frame.paragraphs:
            words = _flat(paragraph.text)
            if words:
                yield ("- " if paragraph.level else "") + ("\\" if words.startswith("#") else "") + words


def _flat(text: str) -> str:
    """One line: a break within a paragraph (`\\v`) parts words."""
    return text.replace("\n", " ").replace("\v", " ").strip()
