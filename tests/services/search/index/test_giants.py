"""No text costs more than its length: giants of every kind of character, timed against giants of four times the size.

A ratio and no figure: what costs the square of its length takes 256 times as long where 16 are fair, on any machine.
"""

import gc
import time
from collections.abc import Callable

import pytest

from memoria_search.index.analysis import Analyser

SMALL, TIMES, ALLOWED = 4_000, 16, 90
FLOOR = 0.004  # seconds; below it a ratio says how busy the machine was

CHARACTERS = [*"-._/\\@+#',:&~^%|=*!()[]", "1", "a", "A", "é", "語", "계", "ก", "ع", "न", "😀", "\u00ad", "\u200d"]
MARKS = ["\u0301", "\u0301\u0323", "語\u0301", "\u3099", "\u0651\u064e", "\u094d", "\u05b0"]
MIXED = ["a-", "1.", "a_", "aA", "a/", "a1", "1,", "a.", "a@", "@a", "#a", "a+", "a'", "a&", "/.", "//a", "\\a", "a~",
         "1:", "a:", "0:a", "12:", "1/", "1-", "1 ", "0-", "+1", "A1", "l'", "語a", "語1", "계a", "न्", "a_b,", "A-1;",
         "ab/c,", "DE12", "12.", "a😀", "1\u202f", "1\u00a0", "a\u00ad", "ʼa", "\u1100\u1161", "\u1161"]  # fmt: skip
AROUND = [
    ("-", "", "</td>"), (".", "", "1/2"), ("A", "", "/"), ("-", "", "/a"), ("a", "x@", ""), ("a-", "x@", "@"),
    ("\u0301\u0323", "語", ""), ("\u0301\u0323", "a", ""), ("\u094d", "न", ""), ("\u0e48", "ก", ""), ("~", "", "/"),
    ("a", "/", ""), ("1", "DE", ""), ("a/", "C:", ""), ("\u1161", "\u1100", ""), ("a", "", "++x"), ("1:", "", "x"),
]  # fmt: skip
GIANTS = [*((unit, "", "") for unit in (*CHARACTERS, *MARKS, *MIXED)), *AROUND]


def fastest(work: Callable[[str], object], text: str) -> float:
    """The least processor time of three runs, the collector held: its rounds grow with what other tests left."""
    taken = []
    gc.disable()
    for _ in range(3):
        start = time.process_time()
        work(text)
        taken.append(time.process_time() - start)
    gc.enable()
    return min(taken)


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "before", "after"), GIANTS, ids=[ascii("".join((b, u, a))) for u, b, a in GIANTS])
def test_sixteen_times_the_text_costs_about_sixteen_times_the_time(unit: str, before: str, after: str) -> None:
    """Of every kind of character, as a document and as a query.

    Broken to see it red: the path pattern without a look-behind, folding before cutting (combining
    marks of two classes), folding a character anew with each of its marks, counting an identifier's pieces in a loop.
    """
    analyser = Analyser()
    small, large = (before + unit * (size // len(unit)) + after for size in (SMALL, TIMES * SMALL))
    for work in (analyser.terms, analyser.query):
        work(small)
        assert fastest(work, large) < ALLOWED * max(FLOOR, fastest(work, small))
