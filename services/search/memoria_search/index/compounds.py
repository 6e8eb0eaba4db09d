"""German compounds in their parts: "Krankenversicherung" is found by "Versicherung", and finds it after itself.

The parts come from a list that ships with the program (`german_parts.txt`; `docs/search.md` tells how it was made), so
a word is cut the same way whatever else the index holds. A word is cut only where parts cover all of it: a list of
6,000 words would otherwise find its short ones everywhere.
"""

from functools import lru_cache
from pathlib import Path

SHORTEST = 7  # letters of a word that is tried: "Haustür"
_LEAST, _MOST = 3, 15  # letters of a part
_MOST_PARTS = 5
_LINKS = ("", "s", "es", "n", "en", "er", "e", "ns", "ens")  # what may stand between two parts
_ENDINGS = ("", "en", "n", "e", "s")  # what a last part may have more than the list's form of it


@lru_cache(maxsize=1)
def _parts() -> frozenset[str]:
    return frozenset((Path(__file__).parent / "german_parts.txt").read_text("ascii").split())


def load() -> None:
    """Read the list now: the first text would wait for it."""
    _parts()


def split(word: str) -> tuple[tuple[int, int], ...]:
    """The parts of a folded, respelled word, where they stand in it; empty for one that is no compound of known parts.

    Fewest parts win, then the longest last one: the last names what the thing is.
    """
    if len(word) < SHORTEST or not (word.isascii() and word.isalpha()):
        return ()
    for ending in _ENDINGS:
        if word.endswith(ending):
            found = _cover(word, len(word) - len(ending), len(word), _MOST_PARTS)
            if len(found) > 1:
                return found
    return ()


def _cover(word: str, end: int, whole: int, most: int) -> tuple[tuple[int, int], ...]:
    """Parts that cover the first `end` letters; from the last to the first, for most words have no known ending."""
    known = _parts()
    best: tuple[tuple[int, int], ...] = ()
    if most == 0:
        return best
    for start in range(max(0, end - _MOST), end - _LEAST + 1):
        if end - start == whole or word[start:end] not in known:
            continue
        if start == 0:
            return ((0, end),)
        for link in _LINKS:
            before = start - len(link)
            if before >= _LEAST and word.startswith(link, before):
                rest = _cover(word, before, whole, min(most, len(best) or most) - 1)
                if rest and (not best or len(rest) + 1 < len(best)):
                    best = (*rest, (start, end))
    return best
