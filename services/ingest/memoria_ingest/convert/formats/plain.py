"""Markdown and plain text, taken as they are."""

import re

from memoria_ingest.chunk.blocks import BlockKind, read_blocks
from memoria_ingest.convert.decode import decode
from memoria_ingest.convert.result import Converted, Refused

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)

_BINARY = (
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"PK\x03\x04",
    b"%PDF-",
    b"\x7fELF",
    b"\xd0\xcf\x11\xe0",
    b"\x1f\x8b\x08",
    b"7z\xbc\xaf",
)
"""How pictures, archives and programs begin. A single NUL is no such sign: some logs hold them."""


def convert(data: bytes, kind: str) -> Converted:
    """The text. A Markdown file's title is its front matter's, or its first heading of level 1."""
    for signature in _BINARY:
        if data.startswith(signature):
            raise Refused("This file is called a text but is not one.")
    text, warnings = decode(data)
    title = ""
    if kind == "markdown":
        front = _FRONT_MATTER.match(text)
        if front:
            named = _FRONT_TITLE.search(front.group(1))
            title = named.group(1).strip("\"'") if named else ""
        title = title or first_heading(text)
    return Converted(text, title, warnings=tuple(warnings))


def first_heading(text: str) -> str:
    """The first level-1 heading outside a fence, looked for in the first 200 lines."""
    for block in read_blocks(text.split("\n", 200)[:200]):
        if block.kind is BlockKind.HEADING and block.level == 1:
            return block.title
    return ""
