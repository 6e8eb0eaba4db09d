"""How big a piece of text is, in words, and how one that is too big is cut."""

import re

TARGET_WORDS = 400
"""A chunk is filled up to here."""

MAX_WORDS = 1000
"""The hard ceiling for a paragraph and for a chunk."""

RUNT_WORDS = 40
"""A chunk below this is folded into its neighbour under the same heading."""

_CHARS_PER_WORD = 10
"""Text without spaces (Japanese, base64, minified code) counts a word every ten characters, so it has a ceiling too."""

_JOIN = 2  # the blank line between two pieces

_WORD = re.compile(r"\S+")


def words(text: str) -> int:
    """The size of `text`: words separated by white space, or a tenth of its characters where that is more.

    Rounded up and with room for the line ends around it, so that the sizes of lines never add up to less than the
    size of the text they make: a ceiling kept line by line is kept by the chunk.
    """
    return max(len(text.split()), -(-(len(text) + _JOIN) // _CHARS_PER_WORD))


def cut_line(line: str, limit: int) -> list[str]:
    """A line cut into pieces of at most `limit` words, at white space where there is any. Joined they are the line."""
    if words(line) <= limit:
        return [line]
    most = limit * _CHARS_PER_WORD - _JOIN
    pieces: list[str] = []
    start = count = 0
    for match in _WORD.finditer(line):
        if match.start() > start and (count == limit or match.end() - start > most):
            pieces.extend(_runs(line, start, match.start(), most))
            start, count = match.start(), 0
        count += 1
    pieces.extend(_runs(line, start, len(line), most))
    return pieces


def _runs(line: str, start: int, end: int, most: int) -> list[str]:
    """A stretch in steps: a single run of letters, or of blanks, may be longer than the ceiling."""
    return [line[at : min(at + most, end)] for at in range(start, end, most)]
