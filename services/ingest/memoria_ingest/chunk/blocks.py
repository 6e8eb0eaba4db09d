"""Reads lines into blocks: headings, fences, tables, paragraphs. Lines are kept verbatim, U+00A0 included."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")


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
    match = _HEADING.match(line)
    if match is None or not (match.group(2) or "").strip():
        return None
    return len(match.group(1)), match.group(2).strip()


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
        fence = _FENCE.match(line)
        if fence and not (fence.group(1)[0] == "`" and "`" in fence.group(2)):
            yield from flush()
            block, at = _fence(lines, at, fence.group(1))
            yield block
        elif found := heading(line):
            yield from flush()
            yield Block(BlockKind.HEADING, [line], *found)
            at += 1
        elif "|" in line and at + 1 < len(lines) and "|" in lines[at + 1] and _DELIMITER.match(lines[at + 1]):
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


def _fence(lines: list[str], start: int, marker: str) -> tuple[Block, int]:
    closing = re.compile(r" {0,3}" + re.escape(marker[0]) + "{" + str(len(marker)) + r",}[ \t]*$")
    end = start + 1
    while end < len(lines) and not closing.match(lines[end]):
        end += 1
    closed = end < len(lines)
    taken = lines[start : end + 1] if closed else lines[start:]
    if not closed:
        taken = [*taken, marker]  # a fence the author never closed is closed, so that every chunk is balanced
    return Block(BlockKind.FENCE, taken, repeat=[lines[start]], closing=marker), end + 1


def _table(lines: list[str], start: int) -> tuple[Block, int]:
    end = start + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    return Block(BlockKind.TABLE, lines[start:end], repeat=lines[start : start + 2]), end
