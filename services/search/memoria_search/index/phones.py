"""Telephone numbers: what of a text is one, and the terms under which all its spellings meet.

Countries group digits as they please and a text may leave out the country or the area, so a number is known by its
last digits: nine hold area and subscriber in most plans, seven and six what is dialled locally.
"""

import re
from collections.abc import Iterator

PREFIX = "tel:"
_ENDS = (9, 7, 6)
_FEWEST, _MOST = 6, 15  # digits; fifteen is the most that E.164 allows

_BETWEEN = r"[\d \u00a0\u202f().\-/\u2010-\u2013]"
# The digit comes first, or the engine would try each character of a text: 100 µs a chunk against 15.
_CANDIDATE = re.compile(rf"\d{_BETWEEN}{{4,22}}\d(?!\w)")
_NUMBER = re.compile(
    rf"\+\d{_BETWEEN}{{5,22}}\d"  # +49 30 1234567
    rf"|00[1-9]{_BETWEEN}{{5,22}}\d"  # 0049301234567
    rf"|\(\d{{2,5}}\){_BETWEEN}{{4,16}}\d"  # (030) 123-45 67
    rf"|0\d{{1,5}}[^\d.()]{_BETWEEN}{{4,14}}\d"  # 030 / 123 45 67
    r"|0[1-9]\d{6,12}"  # 0301234567
    r"|\d{3}([ .\-])\d{3}\1\d{4}"  # 212-555-0187
)
_LOCAL = re.compile(r"\d[\d \u00a0\u202f\-/]{4,12}\d")  # 123 45 67, where the word before it says what it is
_SAYS_SO = re.compile(
    r"(?:tel|telefon|telephone|phone|fon|fax|mobil|mobile|handy|call|cell)[.:]{0,2}\s{0,2}$", re.IGNORECASE
)
_ALONE = re.compile(r"[+(]?\d[\d \u00a0\u202f()\-/\u2010-\u2013]{4,22}\d$")
_TRUNK = re.compile(r"\(0\)")


def phones(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """(start, end, terms) of each number in `text`, offsets in characters."""
    for candidate in _CANDIDATE.finditer(text):
        start = candidate.start()
        before = text[start - 1] if start else " "
        if before in "+(":
            start -= 1
            before = text[start - 1] if start else " "
        if before.isalnum() or before in "_.,/-":
            continue
        match = _NUMBER.match(text, start, candidate.end())
        if match is None and _SAYS_SO.search(text, max(0, start - 12), start):
            match = _LOCAL.match(text, start, candidate.end())
        if match and (found := _terms(match.group())):
            yield start, match.end(), found


def phone_query(text: str) -> tuple[str, ...]:
    """The terms of a query that is nothing but a number, however short and without a prefix."""
    words = text.strip()
    return _terms(words) if _ALONE.match(words) else ()


def _terms(number: str) -> tuple[str, ...]:
    digits = re.sub(r"\D", "", _TRUNK.sub("", number)).lstrip("0")
    if not digits.isascii() or not _FEWEST <= len(digits) <= _MOST:
        return ()
    return tuple(dict.fromkeys(PREFIX + digits[-size:] for size in _ENDS if len(digits) >= size))
