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

_WORD = re.compile(r"\S+")


def words(text: str) -> int:
    """The size of `text`: words separated by white space, or a tenth of its characters where that is more."""
    return max(len(text.split()), len(text) // _CHARS_PER_WORD)


def cut_line(line: str, limit: int) -> list[str]:
    """A line cut into pieces of at most `limit` words, at white space where there is any. Joined they are the line."""
    if words(line) <= limit:
        return [line]
    most = limit * _CHARS_PER_WORD
    pieces: list[str] = []
    start = count = 0
    for match in _WORD.finditer(line):
        if match.start() > start and (count == limit or match.end() - start > most):
            pieces.append(line[start : match.start()])
            start, count = match.start(), 0
        count += 1
        while match.end() - start > most:  # a single run longer than the ceiling
            pieces.append(line[start : start + most])
            start += most
    pieces.append(line[start:])
    return [piece for piece in pieces if piece]
