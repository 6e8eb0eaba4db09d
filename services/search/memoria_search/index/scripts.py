"""Scripts written without spaces, found by overlapping pairs of characters (F21).

A dictionary would cut words, and would cut a query differently from the sentence it stands in. Pairs need no dictionary
and find every run that was written; a single character is found because single characters are terms too.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from memoria_search.index.fold import MARKS, fold

_SPACELESS = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b"  # iteration marks and numerals that stand inside words
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana, half-width forms included
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"  # Hangul: words have spaces, and particles grow on them
    "\U00020000-\U000323af"
)

RUN = re.compile(f"[{_SPACELESS}][{_SPACELESS}{MARKS}]*")
"""A run of characters of such scripts."""


@lru_cache(maxsize=16_384)
def _char(char: str) -> tuple[bool, str]:
    """Whether a character joins the one before it, and its folded form. Half-width voicing marks
    and the vowels of Hangul taken apart are letters."""
    return unicodedata.category(char)[0] == "M" or char in "\uff9e\uff9f" or "\u1160" <= char <= "\u11ff", fold(char)


def _units(run: str) -> list[tuple[int, int, str]]:
    """The run's characters with their marks: (start, end, folded)."""
    units: list[tuple[int, int, str]] = []
    start = 0
    for end in range(1, len(run) + 1):
        if end == len(run) or not _char(run[end])[0]:
            folded = _char(run[start])[1] if end == start + 1 else fold(run[start:end])
            if folded:
                units.append((start, end, folded))
            start = end
    return units


def pairs(run: str) -> Iterator[tuple[int, int, str]]:
    """Overlapping pairs of one run: (start, end, term). A run of one character yields itself."""
    units = _units(run)
    if len(units) == 1:
        yield units[0]
    for (start, _, left), (_, end, right) in pairwise(units):
        yield start, end, left + right


def singles(run: str) -> Iterator[tuple[int, int, str]]:
    """The characters of a run, so that a query of one character finds them: (start, end, term)."""
    yield from _units(run)
