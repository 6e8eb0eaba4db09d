"""Reads lines into blocks: headings, fences, tables, paragraphs. Lines are kept verbatim, U+00A0 included.

Everything here is plain string work in one pass: the lines are somebody else's, and a pattern that backtracks over a
hundred thousand blanks would hold up every other upload.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

_BLANK = " \t\r"
_TAB = 4
_INDENTED = 4
"""From here on a line's indentation says that it belongs to a list item, or is code."""

_LONGEST_MARKER = 100  # a longer run is a drawn line, and would be repeated with every part of a fence

MAX_TITLE = 300
"""Characters of a heading that become a trail; a trail is repeated with every chunk under it."""


class BlockKind(Enum):
    """What a run of lines is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    FENCE = "fence"
    TABLE = "table"


@dataclass(slots=True)
class Block:
    """A run of lines. `repeat` are the lines each part of a split block starts with, `closing` the one it ends with."""

    kind: BlockKind
    lines: list[str]
    level: int = 0
    title: str = ""
    repeat: list[str] = field(default_factory=list)
    closing: str = ""


def heading(line: str) -> tuple[int, str] | None:
    """(level, title) of an ATX heading, or None. A heading without words is none: it would name nothing."""
    if _indent(line) >= _INDENTED:
        return None
    text = line.strip(_BLANK)
    rest = text.lstrip("#")
    level = len(text) - len(rest)
    if not 1 <= level <= 6 or not rest.startswith((" ", "\t")):
        return None
    bare = rest.rstrip("#")
    if bare != rest and bare.endswith((" ", "\t")):  # `# Title #`; but in `# C#` the sign is the title's
        rest = bare
    title = rest.strip()
    if not title:
        return None
    return level, title if len(title) <= MAX_TITLE else title[:MAX_TITLE] + "…"


def read_blocks(lines: list[str]) -> Iterator[Block]:
    """The blocks of a Markdown-like text. Blank lines separate paragraphs and belong to none."""
    paragraph: list[str] = []
    at = 0

    def flush() -> Iterator[Block]:
        if paragraph:
            yield Block(BlockKind.PARAGRAPH, paragraph.copy())
            paragraph.clear()

    while at < len(lines):
        line = lines[at]
        if marker := _fence_marker(line):
            yield from flush()
            block, at = _fence(lines, at, marker)
            yield block
        elif found := heading(line):
            yield from flush()
            yield Block(BlockKind.HEADING, [line], *found)
            at += 1
            if found[1] not in line:  # too long for a trail: said in full as text
                paragraph.append(line.strip(_BLANK).lstrip("#").strip(_BLANK))
        elif "|" in line and at + 1 < len(lines) and _is_delimiter(lines[at + 1]):
            yield from flush()
            block, at = _table(lines, at)
            yield block
        elif line.strip():
            paragraph.append(line)
            at += 1
        else:
            yield from flush()
            at += 1
    yield from flush()


def _indent(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(_TAB))


def _fence_marker(line: str) -> str:
    """The run of backticks or tildes that opens a fence, or ""."""
    text = line.lstrip(" \t")
    if not text.startswith(("```", "~~~")):
        return ""
    rest = text.lstrip(text[0])
    if text[0] == "`" and "`" in rest:
        return ""  # code within a line
    marker = text[: len(text) - len(rest)]
    return marker if len(marker) <= _LONGEST_MARKER else ""


def _fence(lines: list[str], start: int, marker: str) -> tuple[Block, int]:
    """A fence, to its closing line or the end of the text. One within a list item ends where the item does."""
    indent = _indent(lines[start])
    end = start + 1
    closed = False
    while end < len(lines) and not closed:
        line = lines[end]
        if indent >= _INDENTED and line.strip() and not _indent(line):
            break
        run = line.strip(_BLANK)
        closes = run.startswith(marker) and not run.strip(marker[0]) and len(run) <= _LONGEST_MARKER
        closed = closes and _indent(line) < indent + _INDENTED
        end += 1
    taken = lines[start:end]
    if not closed:
        # A fence the author never closed is closed, so that every chunk is balanced.
        taken.append(lines[start][: len(lines[start]) - len(lines[start].lstrip())] + marker)
    return Block(BlockKind.FENCE, taken, repeat=[lines[start]], closing=taken[-1]), end


def _is_delimiter(line: str) -> bool:
    """Whether a line is the `| --- | :-: |` under a table's header."""
    if "|" not in line or "-" not in line or line.strip("|:- \t\r"):
        return False
    cells = line.strip(_BLANK).strip("|").split("|")
    return all("-" in cell and not cell.strip(_BLANK).strip(":").strip("-") for cell in cells)


def _table(lines: list[str], start: int) -> tuple[Block, int]:
    end = start + 2
    while end < len(lines) and "|" in lines[end] and not _fence_marker(lines[end]) and not heading(lines[end]):
        end += 1
    return Block(BlockKind.TABLE, lines[start:end], repeat=lines[start : start + 2]), end
